/*
 * model_make.c: making a model: its merges, its safe cuts, its bytes. All models come down to one merge table:
 *   ranks    a merge for each way in which a token splits into two tokens; its rank is the token's place by id
 *   merges   the file's list; its rank is the place in the list
 *   scores   a merge for each way in which a piece splits into two symbols; its rank is the place of its score
 */
#include "model_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "unicode.h"

/* ---- Merges ---- */

enum leat_status model_add_merge(struct model *m, uint32_t left, uint32_t right, uint32_t result, uint32_t rank,
                                 struct leat_error *err)
{
    if (m->list_count == m->list_room) {
        size_t room = m->list_room ? 2 * m->list_room : 4096;
        struct merge *list = realloc(m->list, room * sizeof *list);

        if (!list)
            return status_no_memory(err, room * sizeof *list);
        m->list = list;
        m->list_room = room;
    }
    m->list[m->list_count++] = (struct merge) { left, right, result, rank };
    return LEAT_OK;
}

/* tiktoken: the token at `place` from each two tokens that make it up. Tokens are sorted by id, so places rank them. */
static enum leat_status split_bytes(struct model *m, uint32_t place, struct leat_error *err)
{
    const struct spec_token *t = &m->spec->tokens[place];
    const uint8_t *text = spec_token_bytes(m->spec, t);

    for (uint32_t i = 1; i < t->length; i++) {
        uint32_t left = vocabulary_map_find(&m->map, text, i);
        uint32_t right = left == SPEC_NONE ? SPEC_NONE : vocabulary_map_find(&m->map, text + i, t->length - i);
        enum leat_status s;

        if (right != SPEC_NONE && (s = model_add_merge(m, left, right, place, place, err)) != LEAT_OK)
            return s;
    }
    return LEAT_OK;
}

static enum leat_status merges_of_list(struct model *m, struct leat_error *err)
{
    const struct tokenizer_spec *spec = m->spec;
    uint32_t *places = malloc(((size_t)spec->vocabulary_size + 1) * sizeof *places);
    enum leat_status s = places ? LEAT_OK : status_no_memory(err, spec->vocabulary_size);

    for (uint32_t i = 0; places && i < spec->token_count; i++)
        places[spec->tokens[i].id] = i;
    for (uint32_t i = 0; s == LEAT_OK && i < spec->merge_count; i++) {
        const struct spec_merge *g = &spec->merges[i];

        s = model_add_merge(m, places[g->left], places[g->right], places[g->result], i, err);
    }
    free(places);
    return s;
}

static enum leat_status make_merges(struct model *m, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    switch (m->spec->model) {
    case SPEC_RANKS:
        for (uint32_t i = 0; s == LEAT_OK && i < m->spec->token_count; i++)
            s = split_bytes(m, i, err);
        break;
    case SPEC_MERGES:
        s = merges_of_list(m, err);
        break;
    case SPEC_SCORES:
        s = model_scores_merges(m, err);
        break;
    case SPEC_BYTES:
        break;
    }
    return s == LEAT_OK ? merge_table_make(&m->merges, m->list, m->list_count, err) : s;
}

/* ---- Safe cuts ---- */

static void mark_pairs(struct model *m, const struct spec_token *t)
{
    const uint8_t *text = spec_token_bytes(m->spec, t);
    uint32_t before = 0;
    size_t length;

    for (size_t at = 0; at < t->length; at += length) {
        uint32_t c = unicode_decode(text + at, &length);
        uint64_t bit = model_pair_bit(before, c);

        if (at > 0)
            m->pairs[bit / 64] |= (uint64_t)1 << bit % 64;
        before = c;
    }
}

/*
 * Cuts are made only where characters are symbols: not with a prefix or suffix for parts of words, which depend on the
 * word's ends; not where tokens of single bytes can merge, whose products' texts do not show the characters.
 */
static enum leat_status make_cuts(struct model *m, struct leat_error *err)
{
    const struct tokenizer_spec *spec = m->spec;

    if (spec->byte_level || m->affixes)
        return LEAT_OK;
    for (size_t i = 0; i < m->list_count; i++)
        for (unsigned b = 0; b < 256; b++)
            if (m->fallback[b] != NO_SYMBOL &&
                (m->list[i].left == m->fallback[b] || m->list[i].right == m->fallback[b]))
                return LEAT_OK;
    m->pairs = calloc(((size_t)1 << MODEL_PAIR_BITS) / 64, sizeof *m->pairs);
    if (!m->pairs)
        return status_no_memory(err, ((size_t)1 << MODEL_PAIR_BITS) / 8);
    for (size_t i = 0; i < m->list_count; i++)
        if (i == 0 || m->list[i].result != m->list[i - 1].result)
            mark_pairs(m, &spec->tokens[m->list[i].result]);
    m->cuts = true;
    return LEAT_OK;
}

/* Where unknown characters can come out as an unknown token, a run of them must stay in one part. */
static enum leat_status find_known(struct model *m, struct leat_error *err)
{
    if (!m->cuts || m->all_fall_back)
        return LEAT_OK;
    m->known = calloc(0x110000 / 64, sizeof *m->known);
    if (!m->known)
        return status_no_memory(err, 0x110000 / 8);
    for (uint32_t i = 0; i < m->spec->token_count; i++) {
        const struct spec_token *t = &m->spec->tokens[i];
        size_t length = 0;
        bool met = t->length > 0 && !t->foreign && model_mergeable(t) && t->type != SPEC_UNUSED;
        uint32_t c = met ? unicode_decode(spec_token_bytes(m->spec, t), &length) : 0;

        if (length > 0 && length == t->length)
            m->known[c / 64] |= (uint64_t)1 << c % 64;
    }
    return LEAT_OK;
}

/* ---- The whole ---- */

static void find_bytes(struct model *m)
{
    m->all_bytes = m->all_fall_back = true;
    for (unsigned b = 0; b < 256; b++) {
        char name[8];
        uint8_t byte = (uint8_t)b;

        snprintf(name, sizeof name, "<0x%02X>", b);
        m->bytes[b] = m->spec->byte_level ? model_find_symbol(m, &byte, 1) : NO_SYMBOL;
        m->fallback[b] = m->spec->byte_fallback ? model_find_symbol(m, (const uint8_t *)name, 6) : NO_SYMBOL;
        m->all_bytes = m->all_bytes && m->bytes[b] != NO_SYMBOL;
        m->all_fall_back = m->all_fall_back && m->fallback[b] != NO_SYMBOL;
    }
}

/* What kernels need to merge pieces of bytes, each of which is a symbol. A pair of bytes makes a token of two. */
static enum leat_status make_rules(struct model *m, struct leat_error *err)
{
    const struct tokenizer_spec *spec = m->spec;
    const struct pair_lines *pairs = merge_table_pairs(m->merges);
    bool own = true; /* all ids are places */
    enum leat_status s;

    if (!pairs || !spec->byte_level || !m->all_bytes || m->affixes || m->apart)
        return LEAT_OK;
    for (uint32_t i = 0; i < spec->token_count; i++)
        own = own && spec->tokens[i].id == i;
    m->first = malloc(0x10000 * sizeof *m->first);
    m->ids = own ? NULL : malloc(spec->token_count * sizeof *m->ids);
    if (!m->first || (!own && !m->ids))
        return status_no_memory(err, (0x10000 + (size_t)spec->token_count) * sizeof *m->ids);
    memset(m->first, 0xff, 0x10000 * sizeof *m->first);
    for (uint32_t i = 0; i < spec->token_count; i++) {
        const uint8_t *text = spec_token_bytes(spec, &spec->tokens[i]);

        if (!own)
            m->ids[i] = spec->tokens[i].id;
        if (spec->tokens[i].length == 2)
            m->first[text[0] << 8 | text[1]] = pair_rank(pairs, m->bytes[text[0]], m->bytes[text[1]]);
    }
    s = byte_cuts_make(&m->byte_cuts, spec, err);
    if (s != LEAT_OK)
        return s;
    m->rules = (struct merge_rules) { pairs, m->bytes, m->first, m->ids, m->whole ? &m->map : NULL };
    return LEAT_OK;
}

enum leat_status model_make(struct model **out, const struct tokenizer_spec *spec, struct leat_error *err)
{
    struct model *m = calloc(1, sizeof *m);
    enum leat_status s = m ? vocabulary_map_make(&m->map, spec, err) : status_no_memory(err, sizeof *m);

    *out = NULL;
    if (s == LEAT_OK) {
        m->spec = spec;
        m->affixes = spec->continuing_prefix.length > 0 || spec->word_suffix.length > 0;
        byte_alphabet_init(&m->alphabet);
        m->whole = spec->model == SPEC_RANKS || spec->ignore_merges;
        m->unknown = NO_SYMBOL;
        for (uint32_t i = 0; i < spec->token_count && spec->unknown != SPEC_NONE; i++)
            if (spec->tokens[i].id == spec->unknown && m->unknown == NO_SYMBOL)
                m->unknown = i;
        for (uint32_t i = 0; i < spec->token_count; i++)
            m->longest = spec->tokens[i].length > m->longest ? spec->tokens[i].length : m->longest;
        find_bytes(m);
        m->apart = spec->model == SPEC_BYTES && m->all_bytes;
        s = make_merges(m, err);
    }
    if (s == LEAT_OK)
        s = model_scores_splits(m, err);
    if (s == LEAT_OK)
        s = make_cuts(m, err);
    if (s == LEAT_OK)
        s = find_known(m, err);
    if (s == LEAT_OK)
        s = make_rules(m, err);
    if (s != LEAT_OK) {
        model_free(m);
        return s;
    }
    free(m->list);
    m->list = NULL;
    *out = m;
    return LEAT_OK;
}

void model_free(struct model *m)
{
    if (!m)
        return;
    vocabulary_map_free(&m->map);
    merge_table_free(m->merges);
    free(m->pairs);
    free(m->known);
    free(m->splits);
    free(m->odd);
    free(m->first);
    free(m->ids);
    byte_cuts_free(&m->byte_cuts);
    free(m->list);
    free(m);
}
