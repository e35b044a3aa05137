/*
 * read_unigram.c: the section "model" of type Unigram in a tokenizer.json. Its vocabulary is a list of pairs, a text
 * and a score; a token's place is its id. A text may be given twice: then the later one counts.
 */
#include "read_unigram.h"

#include <math.h>
#include <string.h>

#include "tokenizer/lookup/unigram.h"
#include "tokenizer/notation/jsontree.h"

/* Whether all are pairs of a text and a number; *bytes is the size of all texts. */
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

/* All pairs are in the same form: three nodes and their bracket. */
static uint32_t text_of_pair(uint32_t list, uint32_t id)
{
    return list + 2 + 3 * id;
}

static bool read_score(const struct jsontree *j, uint32_t node, bool as_bits, double *score)
{
    uint64_t bits;

    if (!as_bits)
        return json_number(j->text + j->nodes[node].at, j->nodes[node].length, score);
    if (!jsontree_u64(j, node, &bits))
        return false;
    memcpy(score, &bits, sizeof *score);
    return isfinite(*score);
}

static enum leat_status read_batch(struct load_hf *h, uint32_t list, uint32_t first, uint32_t end, bool as_bits,
                                   double *scores)
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
        if (!read_score(h->j, text + 1, as_bits, &scores[id]))
            return load_hf_wrong(h, text + 1, "the score of token %u is out of range", (unsigned)id);
    }
    return LEAT_OK;
}

static enum leat_status read_pairs(struct load_hf *h, uint32_t list, bool as_bits, double *scores)
{
    uint32_t count = h->j->nodes[list].length;
    enum leat_status s = LEAT_OK;

    for (uint32_t first = 0; s == LEAT_OK && first < count; first += BATCH)
        s = read_batch(h, list, first, count - first < BATCH ? count : first + BATCH, as_bits, scores);
    return s;
}

static enum leat_status read_vocabulary(struct load_hf *h, uint32_t model)
{
    const struct jsontree_node *nodes = h->j->nodes;
    uint32_t list = jsontree_member(h->j, model, "vocab");
    struct unigram_data *data = spec_alloc(h->spec, sizeof *data);
    uint64_t bytes;
    bool as_bits = false;
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
    if (s == LEAT_OK)
        s = load_hf_bool(h, model, LOAD_HF_SCORE_BITS, LOAD_HF_DEFAULT, &as_bits);
    return s == LEAT_OK ? read_pairs(h, list, as_bits, scores) : s;
}

/* "unk_id": the place of a token, or null. */
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

enum leat_status read_unigram(struct load_hf *h, uint32_t node)
{
    enum leat_status s = read_vocabulary(h, node);

    if (s == LEAT_OK)
        s = read_unknown(h, node);
    return s == LEAT_OK ? load_hf_bool(h, node, "byte_fallback", LOAD_HF_DEFAULT, &h->spec->byte_fallback) : s;
}
