/*
 * bpe_make.c: makes a model from a spec: its bytes, its merges (bpe_merges.c lists them), its safe cuts.
 *
 * Everything that encoding asks per character or pair is worked out here once: the symbol of each byte and short
 * character, the table of merges, the cuts between characters that no merge can cross, and whether pretokens can go
 * through the vector kernels at all. A model never changes after that, so threads share it.
 */
#include "bpe_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "tokenizer/unicode/unicode.h"

/* ---- Safe cuts ---- */

/* Notes the last character of the left part and the first of the right one; pairs inside the parts were made by other
 * merges. */
static void mark_pair(struct bpe *m, struct cut_pairs *bytes, const struct merge *merge)
{
    const struct spec_token *t = &m->spec->tokens[merge->result];
    const uint8_t *text = spec_token_bytes(m->spec, t);
    uint32_t right = bpe_symbol_bytes(m, merge->right), before, after;
    size_t middle = t->length - right, begin;

    if (right == 0 || right >= t->length) /* an empty token: no text holds one */
        return;
    begin = utf8_before(text, middle);
    cut_pairs_add(bytes, text[middle - 1], text[middle]);
    before = byte_cuts_load(text + begin, (unsigned)(middle - begin), middle - begin);
    after = byte_cuts_load(text + middle, byte_cuts_length(text[middle]), right);
    byte_cuts_add(&m->byte_cuts, before, after);
}

/*
 * Cuts are made only if characters are symbols: not with a prefix or suffix for parts of words, which depends on where
 * the word ends; and not if tokens of single bytes can merge, because the texts of their products do not show the
 * characters.
 */
static enum leat_status make_cuts(struct bpe *m, struct leat_error *err)
{
    const struct tokenizer_spec *spec = m->spec;
    struct cut_pairs *bytes;
    enum leat_status s;

    if (spec->byte_level || m->affixes)
        return LEAT_OK;
    for (size_t i = 0; i < m->list_count; i++)
        if (bpe_is_fallback(m, m->list[i].left) || bpe_is_fallback(m, m->list[i].right))
            return LEAT_OK;
    s = byte_cuts_begin(&m->byte_cuts, err);
    if (s != LEAT_OK)
        return s;
    m->byte_cuts.long_only = true;
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

/* If unknown characters can become an unknown token, a run of them must stay in one part. */
static enum leat_status find_known(struct bpe *m, struct leat_error *err)
{
    if (!m->cuts || m->all_fall_back)
        return LEAT_OK;
    m->known = calloc(0x110000 / 64, sizeof *m->known);
    if (!m->known)
        return status_no_memory(err, 0x110000 / 8);
    for (uint32_t i = 0; i < m->spec->token_count; i++) {
        const struct spec_token *t = &m->spec->tokens[i];
        size_t length = 0;
        bool met = t->length > 0 && !t->foreign && bpe_mergeable(t) && t->type != SPEC_UNUSED;
        uint32_t c = met ? unicode_decode(spec_token_bytes(m->spec, t), &length) : 0;

        if (length > 0 && length == t->length)
            m->known[c / 64] |= (uint64_t)1 << c % 64;
    }
    return LEAT_OK;
}

/* ---- The whole ---- */

/* Whether a byte is a character with a token of its own, which never falls back. (Gemma has no <0x09>.) */
static bool is_letter(const struct bpe *m, uint8_t byte)
{
    uint32_t place = byte < 0x80 ? bpe_find_symbol(m, &byte, 1) : NO_SYMBOL;

    return place != NO_SYMBOL && bpe_mergeable(&m->spec->tokens[place]) && m->spec->tokens[place].type != SPEC_UNUSED;
}

static void find_bytes(struct bpe *m)
{
    m->all_bytes = m->all_fall_back = true;
    for (unsigned b = 0; b < 256; b++) {
        char name[8];
        uint8_t byte = (uint8_t)b;

        snprintf(name, sizeof name, "<0x%02X>", b);
        m->bytes[b] = m->spec->byte_level ? bpe_find_symbol(m, &byte, 1) : NO_SYMBOL;
        m->fallback[b] = m->spec->byte_fallback ? bpe_find_symbol(m, (const uint8_t *)name, 6) : NO_SYMBOL;
        m->all_bytes = m->all_bytes && m->bytes[b] != NO_SYMBOL;
        m->all_fall_back = m->all_fall_back && (m->fallback[b] != NO_SYMBOL || is_letter(m, byte));
        if (m->fallback[b] != NO_SYMBOL && m->fallback[b] >= m->fallback_end)
            m->fallback_end = m->fallback[b] + 1;
    }
}

/* Makes the symbols of characters, for kernels; those of one byte are m->bytes. */
static enum leat_status make_letters(struct bpe *m, struct leat_error *err)
{
    const struct tokenizer_spec *spec = m->spec;

    m->letters = malloc(LANE_LETTERS * sizeof *m->letters);
    if (!m->letters)
        return status_no_memory(err, LANE_LETTERS * sizeof *m->letters);
    for (uint32_t c = 0; c < LANE_LETTERS; c++)
        m->letters[c] = LANE_NO_LETTER;
    for (uint32_t i = 0; i < spec->token_count; i++) {
        const struct spec_token *t = &spec->tokens[i];
        size_t length = 0;
        uint32_t c =
            t->foreign || t->length > 3 || !bpe_mergeable(t) ? 0 : unicode_decode(spec_token_bytes(spec, t), &length);

        if (length > 0 && length == t->length)
            m->letters[c] = i;
    }
    for (unsigned b = 0; b < 0x80; b++)
        m->bytes[b] = m->letters[b] == LANE_NO_LETTER ? m->fallback[b] : m->letters[b];
    return LEAT_OK;
}

/* Whether pretokens begin as bytes, or as characters that are never unknown, and the table of pairs can tell all these
 * symbols apart, merged or not. */
static bool have_rules(const struct bpe *m)
{
    if (m->affixes || m->apart || m->spec->token_count > PAIR_NOBODY)
        return false;
    if (m->spec->byte_level)
        return m->all_bytes;
    return m->cuts_by_bytes && !m->splits && m->odd_count == 0;
}

/* Makes the tables with which kernels merge several pretokens in turns. A pair of bytes that are symbols makes a token
 * of two. */
static enum leat_status make_rules(struct bpe *m, struct leat_error *err)
{
    const struct tokenizer_spec *spec = m->spec;
    const struct pair_table *pairs = merge_table_pairs(m->merges);
    enum leat_status s = LEAT_OK;
    bool own = true; /* all ids are places */

    if (!pairs || !have_rules(m))
        return LEAT_OK;
    for (uint32_t i = 0; i < spec->token_count; i++)
        own = own && spec->tokens[i].id == i;
    if (!spec->byte_level) {
        s = make_letters(m, err);
        if (s != LEAT_OK)
            return s;
    }
    m->first = malloc(0x10000 * sizeof *m->first);
    m->ids = own ? NULL : malloc(((size_t)spec->token_count + 1) * sizeof *m->ids);
    if (!m->first || (!own && !m->ids))
        return status_no_memory(err, (0x10000 + (size_t)spec->token_count) * sizeof *m->ids);
    memset(m->first, 0xff, 0x10000 * sizeof *m->first);
    for (uint32_t i = 0; i < spec->token_count; i++) {
        const uint8_t *text = spec_token_bytes(spec, &spec->tokens[i]);

        if (!own)
            m->ids[i] = spec->tokens[i].id;
        if (spec->tokens[i].length == 2 && (spec->byte_level || (text[0] | text[1]) < 0x80))
            m->first[text[0] << 8 | text[1]] = pair_rank(pairs, m->bytes[text[0]], m->bytes[text[1]]);
    }
    if (spec->byte_level)
        s = byte_cuts_make(&m->byte_cuts, spec, err);
    m->rules = (struct merge_rules) {
        pairs,      m->bytes,   m->first,   m->ids, m->has_orphans && spec->byte_level ? &m->map : NULL,
        m->orphans, m->letters, m->fallback
    };
    return s;
}

static void set_up(struct bpe *m, const struct tokenizer_spec *spec)
{
    m->spec = spec;
    m->kind = model_kind_of(spec)->variant;
    m->affixes = spec->continuing_prefix.length > 0 || spec->word_suffix.length > 0;
    byte_alphabet_init(&m->alphabet);
    m->whole = m->kind->whole || spec->ignore_merges;
    m->unknown = NO_SYMBOL;
    for (uint32_t i = 0; i < spec->token_count && spec->unknown != SPEC_NONE; i++)
        if (spec->tokens[i].id == spec->unknown && m->unknown == NO_SYMBOL)
            m->unknown = i;
    for (uint32_t i = 0; i < spec->token_count; i++)
        m->longest = spec->tokens[i].length > m->longest ? spec->tokens[i].length : m->longest;
    find_bytes(m);
    m->apart = m->kind->apart && m->all_bytes;
}

/* Makes the model up to its list of merges. */
static enum leat_status begin(struct bpe **out, const struct tokenizer_spec *spec, struct leat_error *err)
{
    struct bpe *m = *out = calloc(1, sizeof *m);
    enum leat_status s = m ? vocabulary_map_make(&m->map, spec, err) : status_no_memory(err, sizeof *m);

    if (s != LEAT_OK)
        return s;
    set_up(m, spec);
    return bpe_make_list(m, err);
}

enum leat_status bpe_list_merges(struct merge **list, size_t *count, const struct tokenizer_spec *spec,
                                 struct leat_error *err)
{
    struct bpe *m;
    enum leat_status s = begin(&m, spec, err);

    *list = NULL;
    if (s == LEAT_OK) {
        *list = m->list;
        *count = m->list_count;
        m->list = NULL;
    }
    bpe_free(m);
    return s;
}

enum leat_status bpe_make(struct bpe **out, const struct tokenizer_spec *spec, struct leat_error *err)
{
    struct bpe *m;
    enum leat_status s = begin(&m, spec, err);

    *out = NULL;
    if (s == LEAT_OK)
        s = merge_table_make(&m->merges, m->list, m->list_count, err);
    if (s == LEAT_OK)
        s = bpe_find_orphans(m, err);
    if (s == LEAT_OK)
        s = bpe_scores_splits(m, err);
    if (s == LEAT_OK)
        s = make_cuts(m, err);
    if (s == LEAT_OK)
        s = find_known(m, err);
    if (s == LEAT_OK)
        s = make_rules(m, err);
    if (s != LEAT_OK) {
        bpe_free(m);
        return s;
    }
    bpe_free_making(m);
    *out = m;
    return LEAT_OK;
}

void bpe_free(struct bpe *m)
{
    if (!m)
        return;
    vocabulary_map_free(&m->map);
    merge_table_free(m->merges);
    bpe_free_orphans(m);
    free(m->letters);
    free(m->known);
    free(m->splits);
    free(m->odd);
    free(m->first);
    free(m->ids);
    byte_cuts_free(&m->byte_cuts);
    bpe_free_making(m);
    free(m);
}
