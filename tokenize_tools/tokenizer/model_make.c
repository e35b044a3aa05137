/* model_make.c: making a model: its bytes, its merges (model_merges.c lists them), its safe cuts. */
#include "model_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "unicode.h"

/* ---- Safe cuts ---- */

/* The last character of the left part and the first of the right one: what stands inside of them other merges have
 * made. */
static void mark_pair(struct model *m, struct cut_pairs *bytes, const struct merge *merge)
{
    const struct spec_token *t = &m->spec->tokens[merge->result];
    const uint8_t *text = spec_token_bytes(m->spec, t);
    uint32_t right = model_symbol_bytes(m, merge->right), before, after;
    size_t middle = t->length - right, begin = middle, length;
    uint64_t bit;

    if (right == 0 || right >= t->length) /* an empty token: no text holds one */
        return;
    do
        begin--;
    while (begin > 0 && (text[begin] & 0xc0) == 0x80);
    cut_pairs_add(bytes, text[middle - 1], text[middle]);
    before = unicode_decode(text + begin, &length);
    after = unicode_decode(text + middle, &length);
    bit = model_pair_bit(before, after);
    m->pairs[bit / 64] |= (uint64_t)1 << bit % 64;
}

/*
 * Cuts are made only where characters are symbols: not with a prefix or suffix for parts of words, which depend on the
 * word's ends; not where tokens of single bytes can merge, whose products' texts do not show the characters.
 */
static enum leat_status make_cuts(struct model *m, struct leat_error *err)
{
    const struct tokenizer_spec *spec = m->spec;
    struct cut_pairs *bytes;

    if (spec->byte_level || m->affixes)
        return LEAT_OK;
    for (size_t i = 0; i < m->list_count; i++)
        if (model_is_fallback(m, m->list[i].left) || model_is_fallback(m, m->list[i].right))
            return LEAT_OK;
    m->pairs = calloc(((size_t)1 << MODEL_PAIR_BITS) / 64, sizeof *m->pairs);
    if (!m->pairs)
        return status_no_memory(err, ((size_t)1 << MODEL_PAIR_BITS) / 8);
    bytes = calloc(1, sizeof *bytes);
    if (!bytes)
        return status_no_memory(err, sizeof *bytes);
    for (size_t i = 0; i < m->list_count; i++)
        mark_pair(m, bytes, &m->list[i]);
    cut_classes_make(&m->classes, bytes);
    free(bytes);
    m->cuts = true;
    m->cuts_by_bytes = m->all_fall_back; /* else a run of unknown characters must stay together */
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

/* A byte that is a character with a token of its own, which needs nothing to fall back to. (Gemma has no <0x09>.) */
static bool is_letter(const struct model *m, uint8_t byte)
{
    uint32_t place = byte < 0x80 ? model_find_symbol(m, &byte, 1) : NO_SYMBOL;

    return place != NO_SYMBOL && model_mergeable(&m->spec->tokens[place]) && m->spec->tokens[place].type != SPEC_UNUSED;
}

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
        m->all_fall_back = m->all_fall_back && (m->fallback[b] != NO_SYMBOL || is_letter(m, byte));
        if (m->fallback[b] != NO_SYMBOL && m->fallback[b] >= m->fallback_end)
            m->fallback_end = m->fallback[b] + 1;
    }
}

/* What kernels need to merge pieces of bytes, each of which is a symbol. A pair of bytes makes a token of two. */
static enum leat_status make_rules(struct model *m, struct leat_error *err)
{
    const struct tokenizer_spec *spec = m->spec;
    const struct pair_lines *pairs = merge_table_pairs(m->merges);
    enum leat_status s;

    if (!pairs || !spec->byte_level || !m->all_bytes || m->affixes || m->apart)
        return LEAT_OK;
    m->first = malloc(0x10000 * sizeof *m->first);
    m->ids = malloc(((size_t)spec->token_count + 1) * sizeof *m->ids);
    if (!m->first || !m->ids)
        return status_no_memory(err, (0x10000 + (size_t)spec->token_count) * sizeof *m->ids);
    memset(m->first, 0xff, 0x10000 * sizeof *m->first);
    for (uint32_t i = 0; i < spec->token_count; i++) {
        const uint8_t *text = spec_token_bytes(spec, &spec->tokens[i]);

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

static void set_up(struct model *m, const struct tokenizer_spec *spec)
{
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
}

/* As far as the list of merges. */
static enum leat_status begin(struct model **out, const struct tokenizer_spec *spec, struct leat_error *err)
{
    struct model *m = *out = calloc(1, sizeof *m);
    enum leat_status s = m ? vocabulary_map_make(&m->map, spec, err) : status_no_memory(err, sizeof *m);

    if (s != LEAT_OK)
        return s;
    set_up(m, spec);
    return model_make_list(m, err);
}

enum leat_status model_list_merges(struct merge **list, size_t *count, const struct tokenizer_spec *spec,
                                   struct leat_error *err)
{
    struct model *m;
    enum leat_status s = begin(&m, spec, err);

    *list = NULL;
    if (s == LEAT_OK) {
        *list = m->list;
        *count = m->list_count;
        m->list = NULL;
    }
    model_free(m);
    return s;
}

enum leat_status model_make(struct model **out, const struct tokenizer_spec *spec, struct leat_error *err)
{
    struct model *m;
    enum leat_status s = begin(&m, spec, err);

    *out = NULL;
    if (s == LEAT_OK)
        s = merge_table_make(&m->merges, m->list, m->list_count, err);
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
    model_free_making(m);
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
    model_free_making(m);
    free(m);
}
