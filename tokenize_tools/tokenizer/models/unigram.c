/*
 * unigram.c: reads and makes Unigram models (unigram.h), those of tokenizer.json and those of sentencepiece: two rows
 * of the table.
 */
#include "unigram.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/utf8.h"
#include "tokenizer/bpe/pretoken_batch.h"
#include "tokenizer/load/load_hf.h"
#include "tokenizer/notation/json_number.h"
#include "tokenizer/spec/fingerprint.h"

/* ---- The section in a tokenizer.json ----------------------------------------------------------------------------- */

/* Reads the vocabulary, a list of pairs of a text and a score; a token's place is its id. A text may be given twice:
 * then the later one counts. */

/* Checks that all elements are pairs of a text and a number. Sets *bytes to the size of all texts. */
static enum leat_status check_pairs(struct load_hf *h, uint32_t list, uint64_t *bytes)
{
    const struct jsontree_node *nodes = h->j->nodes;
    uint32_t id = 0;

    *bytes = 0;
    for (uint32_t k = list + 1; k < jsontree_next(h->j, list); k = jsontree_next(h->j, k), id++) {
        if (nodes[k].kind != JSONTREE_ARRAY || nodes[k].length != 2 || nodes[k + 1].kind != JSONTREE_STRING ||
            nodes[k + 2].kind != JSONTREE_NUMBER)
            return load_hf_wrong(h, k, "token %u of \"vocab\" must be an array of a string and a number", (unsigned)id);
        *bytes += nodes[k + 1].length;
    }
    return LEAT_OK;
}

#define BATCH 16u /* places in the map that are fetched together */

/* Returns the node of a pair's text. Each pair has three nodes and a bracket. */
static uint32_t text_of_pair(uint32_t list, uint32_t id)
{
    return list + 2 + 3 * id;
}

static enum leat_status read_batch(struct load_hf *h, uint32_t list, uint32_t first, uint32_t end, double *scores)
{
    uint64_t hashes[BATCH];

    for (uint32_t id = first; id < end; id++) {
        struct jsontree_text t = jsontree_string(h->j, text_of_pair(list, id));

        hashes[id - first] = string_map_hash(&h->vocab, t.bytes, t.length);
        string_map_prefetch(&h->vocab, hashes[id - first]);
    }
    for (uint32_t id = first; id < end; id++) {
        uint32_t text = text_of_pair(list, id);
        struct jsontree_text t = jsontree_string(h->j, text);
        bool found;

        h->vocab.entries[string_map_add(&h->vocab, hashes[id - first], t.bytes, t.length, &found)].value = id;
        load_hf_put_token(h, t, id);
        if (!json_number(h->j->text + h->j->nodes[text + 1].at, h->j->nodes[text + 1].length, &scores[id]))
            return load_hf_wrong(h, text + 1, "the score of token %u is out of range", (unsigned)id);
    }
    return LEAT_OK;
}

static enum leat_status read_pairs(struct load_hf *h, uint32_t list, double *scores)
{
    uint32_t count = h->j->nodes[list].length;
    enum leat_status s = LEAT_OK;

    for (uint32_t first = 0; s == LEAT_OK && first < count; first += BATCH)
        s = read_batch(h, list, first, count - first < BATCH ? count : first + BATCH, scores);
    return s;
}

static enum leat_status read_vocabulary(struct load_hf *h, uint32_t model)
{
    const struct jsontree_node *nodes = h->j->nodes;
    uint32_t list = jsontree_member(h->j, model, "vocab");
    struct spec_unigram *data = spec_alloc(h->spec, sizeof *data);
    uint64_t bytes;
    double *scores;
    enum leat_status s;

    if (list == JSONTREE_NONE || nodes[list].kind != JSONTREE_ARRAY)
        return load_hf_wrong(h, list == JSONTREE_NONE ? model : list, "\"vocab\" must be an array, but is %s",
                             jsontree_kind_name(h->j, list));
    if (nodes[list].length > SPEC_MAX_ID)
        return load_hf_refuse(h, list, "a vocabulary of more than %u tokens is not supported", (unsigned)SPEC_MAX_ID);
    s = check_pairs(h, list, &bytes);
    if (s != LEAT_OK)
        return s;
    scores = spec_alloc(h->spec, ((size_t)nodes[list].length + 1) * sizeof *scores);
    if (!data || !scores || !string_map_init(&h->vocab, nodes[list].length))
        return status_no_memory(h->err, (uint64_t)nodes[list].length * 40);
    data->scores = scores;
    h->spec->model_data = data;
    s = load_hf_token_room(h, nodes[list].length, bytes);
    return s == LEAT_OK ? read_pairs(h, list, scores) : s;
}

/* Reads "unk_id": the place of a token, or null. */
static enum leat_status read_unknown(struct load_hf *h, uint32_t model)
{
    uint32_t node = jsontree_member(h->j, model, "unk_id");
    uint64_t id;

    if (node == JSONTREE_NONE || h->j->nodes[node].kind == JSONTREE_NULL)
        return LEAT_OK;
    if (!jsontree_u64(h->j, node, &id) || id >= h->spec->token_count)
        return load_hf_wrong(h, node, "\"unk_id\" must be the place of a token in \"vocab\", or null");
    h->spec->unknown = (uint32_t)id;
    return LEAT_OK;
}

static enum leat_status read_unigram(struct load_hf *h, uint32_t node)
{
    enum leat_status s = read_vocabulary(h, node);

    if (s == LEAT_OK)
        s = read_unknown(h, node);
    return s == LEAT_OK ? load_hf_bool(h, node, "byte_fallback", LOAD_HF_DEFAULT, &h->spec->byte_fallback) : s;
}

/* How much lower than the lowest token an unknown character scores. */
#define UNKNOWN_PENALTY 10.0

/* ---- Scores ------------------------------------------------------------------------------------------------------ */

/* Returns the score of a token. sentencepiece computes everything with floats. */
static double score_of(const struct tokenizer_spec *spec, uint32_t i)
{
    const struct spec_unigram *data = spec->model_data;

    if (!spec->scores)
        return data->scores[i];
    return spec->tokens[i].type == SPEC_USER_DEFINED ? (float)(0.1 * (spec->tokens[i].length - 1)) : spec->scores[i];
}

/* Returns the lowest score; among sentencepiece's tokens, only normal ones count. */
static double lowest_score(const struct unigram *m)
{
    double lowest = m->narrow ? (double)FLT_MAX : HUGE_VAL;

    for (uint32_t i = 0; i < m->spec->token_count; i++)
        if (m->spec->tokens[i].type == SPEC_NORMAL && m->scores[i] < lowest)
            lowest = m->scores[i];
    return lowest;
}

static enum leat_status take_scores(struct unigram *m, struct leat_error *err)
{
    size_t bytes = ((size_t)m->spec->token_count + 1) * sizeof *m->scores;

    m->scores = malloc(bytes);
    if (!m->scores)
        return status_no_memory(err, bytes);
    for (uint32_t i = 0; i < m->spec->token_count; i++)
        m->scores[i] = score_of(m->spec, i);
    m->unknown_score = lowest_score(m) - UNKNOWN_PENALTY;
    if (m->narrow)
        m->unknown_score = (float)m->unknown_score;
    m->scores[m->spec->token_count] = m->unknown_score;
    return LEAT_OK;
}

/* ---- Tokens ------------------------------------------------------------------------------------------------------ */

/* Returns true if a text can become this token. */
static bool can_be_found(const struct spec_token *t)
{
    return !t->foreign && t->length > 0 && (t->type == SPEC_NORMAL || t->type == SPEC_USER_DEFINED);
}

/* Returns the token "<0xNN>", or SPEC_NONE. In sentencepiece these tokens have a type of their own. */
static uint32_t byte_token(const struct unigram *m, unsigned byte)
{
    char name[8];

    snprintf(name, sizeof name, "<0x%02X>", byte);
    return token_trie_find(&m->trie, (const uint8_t *)name, strlen(name));
}

static void find_byte_tokens(struct unigram *m)
{
    unsigned found = 0;

    for (unsigned b = 0; b < 256; b++)
        m->bytes[b] = m->spec->byte_fallback && !m->narrow ? byte_token(m, b) : SPEC_NONE;
    for (uint32_t i = 0; m->spec->byte_fallback && m->narrow && i < m->spec->token_count; i++)
        if (m->spec->tokens[i].type == SPEC_BYTE)
            m->bytes[spec_named_byte(spec_token_bytes(m->spec, &m->spec->tokens[i]), 6)] = i;
    for (unsigned b = 0; b < 256; b++)
        found += m->bytes[b] != SPEC_NONE;
    m->fallback = found == 256 ? FALLBACK_ALL : found > 0 ? FALLBACK_SOME : FALLBACK_NONE;
}

/* ---- Models ------------------------------------------------------------------------------------------------------ */

static void free_model(struct model *model)
{
    struct unigram *m = (struct unigram *)(void *)model;

    token_trie_free(&m->trie);
    char_cuts_free(&m->char_cuts);
    word_store_free(m->model.words);
    free(m->floats);
    free(m->scores);
    free(m);
}

static enum leat_status make_unigram(struct model **out, const struct tokenizer_spec *spec, struct leat_error *err)
{
    struct unigram *m = calloc(1, sizeof *m);
    enum leat_status s;

    *out = NULL;
    if (!m)
        return status_no_memory(err, sizeof *m);
    m->spec = spec;
    m->narrow = spec->reference == SPEC_SENTENCEPIECE;
    byte_alphabet_init(&m->alphabet);
    s = take_scores(m, err);
    if (s == LEAT_OK)
        s = token_trie_of_spec(&m->trie, spec, can_be_found, true, &m->longest,
                               err); /* of equal texts, the later one counts */
    if (s == LEAT_OK)
        s = unigram_make_pieces(m, err);
    if (s == LEAT_OK)
        s = word_store_make(&m->model.words, err);
    if (s != LEAT_OK) {
        free_model(&m->model);
        return s;
    }
    find_byte_tokens(m);
    m->stand_in = m->by_pieces && m->fallback == FALLBACK_NONE ? spec->token_count : TOKEN_NONE;
    *out = &m->model;
    return LEAT_OK;
}

/* ---- A thread's memory ------------------------------------------------------------------------------------------- */

static void scratch_free(void *scratch)
{
    struct unigram_scratch *s = scratch;

    if (!s)
        return;
    bound_give(s->bound, s->room * sizeof *s->nodes);
    lookup_batch_free(s->batch);
    free(s->search);
    free(s->group);
    free(s->nodes);
    free(s);
}

static enum leat_status scratch_make(void **out, struct bound *bound, size_t cache_bytes, struct leat_error *err)
{
    struct unigram_scratch *s = calloc(1, sizeof *s);
    enum leat_status status;

    *out = NULL;
    if (!s)
        return status_no_memory(err, sizeof *s);
    s->bound = bound;
    status = lookup_batch_make(&s->batch, bound, cache_bytes, err);
    if (status == LEAT_OK)
        status = unigram_search_make(&s->search, err);
    if (status == LEAT_OK)
        status = unigram_group_make(&s->group, err);
    if (status != LEAT_OK) {
        scratch_free(s);
        return status;
    }
    *out = s;
    return LEAT_OK;
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static void hash_doubles(struct fingerprint_hash *h, const struct tokenizer_spec *spec)
{
    const struct spec_unigram *data = spec->model_data;

    for (uint32_t i = 0; i < spec->token_count; i++) {
        uint64_t bits;

        memcpy(&bits, &data->scores[i], sizeof bits);
        fingerprint_number(h, (uint32_t)bits);
        fingerprint_number(h, (uint32_t)(bits >> 32));
    }
}

static void hash_floats(struct fingerprint_hash *h, const struct tokenizer_spec *spec)
{
    fingerprint_floats(h, spec->scores, spec->token_count);
}

#define UNIGRAM                                                                                                        \
    .make = make_unigram, .free = free_model, .scratch_make = scratch_make, .scratch_free = scratch_free,              \
    .cache_bytes = pretoken_cache_large, .share = word_store_share, .encode = unigram_encode,                          \
    .encode_batch = unigram_encode_batch, .encode_chunk = unigram_encode_chunk

const struct model_kind model_unigram = {
    .type = "Unigram", .member = "unk_id", .read = read_unigram, .hash = hash_doubles, .spaced_words = true, UNIGRAM
};
const struct model_kind model_sums = {
    .sentencepiece = 1, .hash = hash_floats, .finds_defined = true, .spaced_normalized = true, UNIGRAM
};
