/* unigram.c: see unigram.h. Makes models and scratches; unigram_path.c encodes. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/utf8.h"
#include "token_order.h"
#include "unigram_short.h"

/* How much less than the lowest token an unknown character scores. */
#define UNKNOWN_PENALTY 10.0

/* ---- Scores ---- */

/* sentencepiece: a float, as everything that it computes. */
static double score_of(const struct tokenizer_spec *spec, uint32_t i)
{
    const struct unigram_data *data = spec->model_data;

    if (!spec->scores)
        return data->scores[i];
    return spec->tokens[i].type == SPEC_USER_DEFINED ? (float)(0.1 * (spec->tokens[i].length - 1)) : spec->scores[i];
}

/* The lowest score: of sentencepiece's tokens only that of normal ones. */
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

/* ---- Tokens ---- */

/* Whether a text can become this token. */
static bool can_be_found(const struct spec_token *t)
{
    return !t->foreign && t->length > 0 && (t->type == SPEC_NORMAL || t->type == SPEC_USER_DEFINED);
}

/* Of two with one text the later counts. */
static enum leat_status fill_trie(struct unigram *m, struct trie *trie, struct leat_error *err)
{
    uint32_t *order = NULL, count = 0, known;
    enum leat_status s = token_order_make(&order, &count, m->spec, can_be_found, true, err);

    for (uint32_t i = 0; s == LEAT_OK && i < count; i++) {
        const struct spec_token *t = &m->spec->tokens[order[i]];

        s = trie_add(trie, spec_token_bytes(m->spec, t), t->length, order[i], &known, err);
        m->longest = t->length > m->longest ? t->length : m->longest;
    }
    free(order);
    return s == LEAT_OK ? trie_seal(trie, err) : s;
}

static enum leat_status make_trie(struct unigram *m, struct leat_error *err)
{
    struct trie trie = { 0 };
    enum leat_status s = fill_trie(m, &trie, err);

    if (s == LEAT_OK)
        s = token_trie_make(&m->trie, &trie, err);
    trie_free(&trie);
    return s;
}

/* The token "<0xNN>", or SPEC_NONE. sentencepiece's have a type of their own. */
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
            m->bytes[strtoul((const char *)spec_token_bytes(m->spec, &m->spec->tokens[i]) + 3, NULL, 16)] = i;
    for (unsigned b = 0; b < 256; b++)
        found += m->bytes[b] != SPEC_NONE;
    m->fallback = found == 256 ? FALLBACK_ALL : found > 0 ? FALLBACK_SOME : FALLBACK_NONE;
}

/* ---- Models ---- */

enum leat_status unigram_make(struct unigram **out, const struct tokenizer_spec *spec, struct leat_error *err)
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
        s = make_trie(m, err);
    if (s == LEAT_OK)
        s = unigram_make_pieces(m, err);
    if (s != LEAT_OK) {
        unigram_free(m);
        return s;
    }
    find_byte_tokens(m);
    m->stand_in = m->by_pieces && m->fallback == FALLBACK_NONE ? spec->token_count : TOKEN_NONE;
    *out = m;
    return LEAT_OK;
}

void unigram_free(struct unigram *m)
{
    if (!m)
        return;
    token_trie_free(&m->trie);
    char_cuts_free(&m->char_cuts);
    free(m->floats);
    free(m->scores);
    free(m);
}

/* ---- A thread's memory ---- */

enum leat_status unigram_scratch_make(struct unigram_scratch **out, struct bound *bound, size_t cache_bytes,
                                      struct leat_error *err)
{
    struct unigram_scratch *s = calloc(1, sizeof *s);
    enum leat_status status;

    *out = NULL;
    if (!s)
        return status_no_memory(err, sizeof *s);
    s->bound = bound;
    status = lookup_batch_make(&s->batch, cache_bytes, err);
    if (status == LEAT_OK)
        status = unigram_search_make(&s->search, err);
    if (status == LEAT_OK)
        status = unigram_group_make(&s->group, err);
    if (status != LEAT_OK) {
        unigram_scratch_free(s);
        return status;
    }
    *out = s;
    return LEAT_OK;
}

void unigram_scratch_free(struct unigram_scratch *s)
{
    if (!s)
        return;
    bound_give(s->bound, s->room * sizeof *s->nodes);
    lookup_batch_free(s->batch);
    free(s->search);
    free(s->group);
    free(s->nodes);
    free(s);
}
