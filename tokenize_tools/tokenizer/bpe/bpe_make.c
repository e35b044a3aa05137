/*
 * bpe_make.c: makes a model from a spec: its bytes, its merges, its orphans, its safe cuts.
 *
 * Everything that encoding asks per character or pair is worked out here once: the symbol of each byte and short
 * character, the table of merges, the cuts between characters that no merge can cross, and whether pretokens can go
 * through the vector kernels at all. A model never changes after that, so threads share it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/status.h"
#include "bpe_internal.h"
#include "tokenizer/unicode/unicode.h"

/* ---- Merges ------------------------------------------------------------------------------------------------------ */

/*
 * Makes the list of merges. All models come down to one table of merges:
 *     ranks   a merge for each way in which a token splits into two tokens; its rank is the token's place by id
 *     merges  the file's list; its rank is the place in the list
 *     scores  a merge for each way in which a token splits into two symbols; its rank is the place of its score
 * Merges that can never happen are left out (live_merges.h).
 */

/*
 * Returns true if merges that never happen can be found: a product must depend on its own text alone. It does not
 * with a prefix or suffix for parts of words, nor if tokens of single bytes or the unknown token, which stand for
 * other text, can merge. sentencepiece takes unused tokens apart by any of their merges. If different tokens have
 * equal ranks, the order depends on more than the text.
 */
static bool may_drop(const struct bpe *m)
{
    const struct tokenizer_spec *spec = m->spec;

    if (m->affixes || m->odd_parts || !m->kind->add_merges)
        return false;
    for (uint32_t i = 0; m->kind->scored && i < spec->token_count; i++)
        if (spec->tokens[i].type == SPEC_UNUSED)
            return false;
    return !m->kind->scored || bpe_scores_differ(m);
}

static bool is_character(const uint8_t *text, size_t bytes)
{
    size_t length = 0;

    if (bytes > 0 && bytes <= 4)
        unicode_decode(text, &length);
    return length == bytes && length > 0;
}

static void tell_leaves(const struct bpe *m)
{
    const struct tokenizer_spec *spec = m->spec;

    for (unsigned b = 0; spec->byte_level && b < 256; b++)
        if (m->bytes[b] != NO_SYMBOL)
            live_merges_leaf(m->live, m->bytes[b]);
    for (uint32_t i = 0; !spec->byte_level && i < spec->token_count; i++)
        if (is_character(spec_token_bytes(spec, &spec->tokens[i]), spec->tokens[i].length))
            live_merges_leaf(m->live, i);
    for (uint32_t i = 0; i < m->odd_count; i++)
        live_merges_leaf(m->live, spec->token_count + i);
}

/* Drops merges that were late, if another merge has been found since for their result. */
static void drop_late(struct bpe *m)
{
    const struct live_symbol *symbols = live_merges_symbols(m->live);
    size_t kept = 0;

    for (size_t i = 0; i < m->list_count; i++) {
        const struct live_symbol *s = &symbols[m->list[i].result];

        if (s->made == LIVE_NEVER || (s->left == m->list[i].left && s->right == m->list[i].right))
            m->list[kept++] = m->list[i];
    }
    m->list_count = kept;
}

/* Two tokens that make up another one. */
struct parts {
    uint32_t left, right;
};

static uint32_t later(struct parts p)
{
    return p.left > p.right ? p.left : p.right;
}

/* tiktoken: offers the ways in which a token splits into two. First comes the one whose parts exist earliest: nearly
 * always this one happens, and the others need not be looked at. */
static enum leat_status offer_parts(struct bpe *m, struct parts *parts, uint32_t count, uint32_t place,
                                    struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (uint32_t i = 1; i < count; i++)
        if (later(parts[i]) < later(parts[0])) {
            struct parts first = parts[i];

            parts[i] = parts[0];
            parts[0] = first;
        }
    for (uint32_t i = 0; s == LEAT_OK && i < count; i++)
        s = bpe_add_merge(m, parts[i].left, parts[i].right, place, place, err);
    return s;
}

/* Adds the merges of a long token. Tokens are sorted by id, so places rank them. */
static enum leat_status split_long(struct bpe *m, uint32_t place, struct leat_error *err)
{
    const struct spec_token *t = &m->spec->tokens[place];
    const uint8_t *text = spec_token_bytes(m->spec, t);
    struct parts *parts = malloc(t->length * sizeof *parts);
    enum leat_status s;
    uint32_t n = 0;

    if (!parts)
        return status_no_memory(err, t->length * sizeof *parts);
    for (uint32_t i = 1; i < t->length; i++) {
        parts[n].left = vocabulary_map_find(&m->map, text, i);
        parts[n].right = parts[n].left == SPEC_NONE ? SPEC_NONE : vocabulary_map_find(&m->map, text + i, t->length - i);
        n += parts[n].right != SPEC_NONE;
    }
    s = offer_parts(m, parts, n, place, err);
    free(parts);
    return s;
}

/* Adds the merges of a token of at most 8 bytes, whose parts are all in their keys: a faster split_token(). */
static enum leat_status split_short(struct bpe *m, uint32_t place, struct leat_error *err)
{
    const struct spec_token *t = &m->spec->tokens[place];
    uint64_t word = text_word(spec_token_bytes(m->spec, t), t->length);
    struct parts parts[TEXT_KEY_SHORT + 1];
    uint32_t n = 0;

    for (uint32_t i = 1; i < t->length; i++) {
        parts[n].left = vocabulary_map_find_short(&m->map, text_key_of_word(word, i));
        parts[n].right = vocabulary_map_find_short(&m->map, text_key_of_word(word >> 8 * i, t->length - i));
        n += parts[n].left != SPEC_NONE && parts[n].right != SPEC_NONE;
    }
    return offer_parts(m, parts, n, place, err);
}

/* Adds a merge for every way in which a token splits into two. */
static enum leat_status bpe_merges_of_ranks(struct bpe *m, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (uint32_t i = 0; s == LEAT_OK && i < m->spec->token_count; i++)
        s = m->spec->tokens[i].length <= TEXT_KEY_SHORT + 1 ? split_short(m, i, err) : split_long(m, i, err);
    return s;
}

/* Adds the merges of all tokens by spec->splits, which says how each token splits. */
static enum leat_status merges_of_splits(struct bpe *m, struct leat_error *err)
{
    const struct tokenizer_spec *spec = m->spec;
    enum leat_status s = LEAT_OK;

    for (uint32_t i = 0; s == LEAT_OK && i < spec->token_count; i++) {
        const struct spec_token *t = &spec->tokens[i];
        const uint8_t *text = spec_token_bytes(spec, t);
        uint32_t left, right;

        if (spec->splits[i] == SPEC_NO_SPLIT)
            continue;
        left = vocabulary_map_find(&m->map, text, spec->splits[i]);
        right = vocabulary_map_find(&m->map, text + spec->splits[i], t->length - spec->splits[i]);
        if (left != SPEC_NONE && right != SPEC_NONE)
            s = bpe_add_merge(m, left, right, i, i, err);
    }
    return s;
}

/* Sets *places to the places in spec->tokens by id; NULL if ids are places, as they nearly always are. */
static enum leat_status make_places(uint32_t **places, const struct tokenizer_spec *spec, struct leat_error *err)
{
    *places = NULL;
    if (spec->token_count == 0 || spec->tokens[spec->token_count - 1].id == spec->token_count - 1)
        return LEAT_OK;
    *places = malloc(((size_t)spec->vocabulary_size + 1) * sizeof **places);
    for (uint32_t i = 0; *places && i < spec->token_count; i++)
        (*places)[spec->tokens[i].id] = i;
    return *places ? LEAT_OK : status_no_memory(err, spec->vocabulary_size);
}

static struct merge merge_of_list(const struct tokenizer_spec *spec, const uint32_t *places, uint32_t number)
{
    const struct spec_merge *g = &spec->merges[number];

    if (places)
        return (struct merge) { places[g->left], places[g->right], places[g->result], number };
    return (struct merge) { g->left, g->right, g->result, number };
}

/* Memory is fetched for merges this far ahead of their turn: each is several cache misses. */
#define AHEAD 16u

static enum leat_status bpe_merges_of_list(struct bpe *m, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (uint32_t i = 0; s == LEAT_OK && i < m->spec->merge_count; i++) {
        struct merge g = merge_of_list(m->spec, m->places, i);

        if (m->live && i + AHEAD < m->spec->merge_count) {
            struct merge later = merge_of_list(m->spec, m->places, i + AHEAD);

            live_merges_prefetch(m->live, later.left, later.right);
        }
        s = bpe_add_merge(m, g.left, g.right, g.result, i, err);
    }
    return s;
}

/* Sets m->odd_parts if a part of a merge is a token that texts do not spell: of a byte, or the unknown one. */
static void find_odd_parts(struct bpe *m)
{
    for (uint32_t i = 0; i < m->spec->merge_count && !m->odd_parts; i++) {
        struct merge g = merge_of_list(m->spec, m->places, i);

        m->odd_parts =
            g.left == m->unknown || g.right == m->unknown || bpe_is_fallback(m, g.left) || bpe_is_fallback(m, g.right);
    }
}

/* Makes the places by id, notes whether merges have odd parts, and reads the file's list. */
static enum leat_status bpe_merges_prepare(struct bpe *m, struct leat_error *err)
{
    enum leat_status s = make_places(&m->places, m->spec, err);

    if (s == LEAT_OK)
        find_odd_parts(m);
    return s;
}

static enum leat_status make_list(struct bpe *m, struct leat_error *err)
{
    uint32_t symbols = m->spec->token_count + m->odd_count;
    enum leat_status s = LEAT_OK;

    if (m->spec->splits)
        return merges_of_splits(m, err);
    if (may_drop(m))
        s = live_merges_make(&m->live, symbols, m->spec->merge_count + (size_t)symbols, err);
    if (s == LEAT_OK && m->live)
        tell_leaves(m);
    if (s == LEAT_OK && m->kind->add_merges)
        s = m->kind->add_merges(m, err);
    if (s == LEAT_OK && m->live)
        drop_late(m);
    return s;
}

/* Makes each result its merge's rank, if that keeps the order, so that tables need no results. Merges of one rank,
 * which equal scores have, must keep it, since the leftmost of them in a text comes first. */
static void rank_by_results(struct bpe *m)
{
    for (size_t i = 1; i < m->list_count; i++)
        if (m->list[i].result <= m->list[i - 1].result || m->list[i].rank <= m->list[i - 1].rank)
            return;
    for (size_t i = 0; i < m->list_count; i++)
        m->list[i].rank = m->list[i].result;
}

/* Makes m->list, sorted by rising rank. */
static enum leat_status bpe_make_list(struct bpe *m, struct leat_error *err)
{
    enum leat_status s = m->kind->prepare ? m->kind->prepare(m, err) : LEAT_OK;

    if (s == LEAT_OK)
        s = make_list(m, err);
    if (s == LEAT_OK)
        rank_by_results(m);
    return s;
}

static void bpe_free_making(struct bpe *m)
{
    free(m->list);
    m->list = NULL;
    live_merges_free(m->live);
    m->live = NULL;
    free(m->order);
    m->order = NULL;
    free(m->places);
    m->places = NULL;
}

/* ---- Kinds ------------------------------------------------------------------------------------------------------- */

/* The kinds of byte-pair models. */
const struct bpe_kind bpe_bytes = { .apart = true };
const struct bpe_kind bpe_ranks = { .whole = true, .needs_bytes = true, .add_merges = bpe_merges_of_ranks };
const struct bpe_kind bpe_merges = { .prepare = bpe_merges_prepare, .add_merges = bpe_merges_of_list };
const struct bpe_kind bpe_scores = { .scored = true, .prepare = bpe_scores_order, .add_merges = bpe_scores_merges };

/* ---- Orphans ----------------------------------------------------------------------------------------------------- */

/* Returns true if merging the token's own text certainly gives the token; never for a model that keeps all merges. */
static bool comes_about(const struct bpe *m, uint32_t place)
{
    const struct tokenizer_spec *spec = m->spec;
    const struct spec_token *t = &spec->tokens[place];

    if (t->foreign || t->length == 0 || !bpe_mergeable(t))
        return false;
    if (spec->splits)
        return t->length == 1 || spec->splits[place] != SPEC_NO_SPLIT;
    return m->live && live_merges_symbols(m->live)[place].made != LIVE_NEVER;
}

/* Finds the orphans, after the list was made, and before the notes on how each symbol is made are freed. */
static enum leat_status bpe_find_orphans(struct bpe *m, struct leat_error *err)
{
    const struct tokenizer_spec *spec = m->spec;
    struct orphans *o = calloc(1, sizeof *o);
    size_t count = 0;

    m->orphans = o;
    if (o)
        o->tokens = calloc((size_t)spec->token_count / 64 + 1, sizeof *o->tokens);
    if (!o || !o->tokens)
        return status_no_memory(err, sizeof *o + spec->token_count / 8);
    for (uint32_t i = 0; i < spec->token_count; i++) {
        const struct spec_token *t = &spec->tokens[i];
        uint32_t bit;

        if (comes_about(m, i))
            continue;
        o->tokens[i / 64] |= (uint64_t)1 << i % 64;
        if (t->foreign || t->length == 0)
            continue;
        bit = orphan_hash(spec_token_bytes(spec, t), t->length);
        o->maybe[bit / 32] |= (uint32_t)1 << bit % 32;
        count++;
    }
    m->has_orphans = m->whole && count > 0;
    return LEAT_OK;
}

/* ---- Safe cuts --------------------------------------------------------------------------------------------------- */

/* Notes the last character of the left part and the first of the right one; pairs inside the parts were made by other
 * merges. */
static void mark_pair(struct bpe *m, struct class_cuts_pairs *bytes, const struct merge *merge)
{
    const struct spec_token *t = &m->spec->tokens[merge->result];
    const uint8_t *text = spec_token_bytes(m->spec, t);
    uint32_t right = bpe_symbol_bytes(m, merge->right), before, after;
    size_t middle = t->length - right, begin;

    if (right == 0 || right >= t->length) /* an empty token: no text holds one */
        return;
    begin = utf8_before(text, middle);
    class_cuts_pairs_add(bytes, text[middle - 1], text[middle]);
    before = char_cuts_load(text + begin, (unsigned)(middle - begin), middle - begin);
    after = char_cuts_load(text + middle, char_cuts_length(text[middle]), right);
    char_cuts_add(&m->char_cuts, before, after);
}

/*
 * Makes the safe cuts. They are made only if characters are symbols: not with a prefix or suffix for parts of words,
 * which depends on where the word ends; and not if tokens of single bytes can merge, because the texts of their
 * products do not show the characters.
 */
static enum leat_status make_cuts(struct bpe *m, struct leat_error *err)
{
    const struct tokenizer_spec *spec = m->spec;
    struct class_cuts_pairs *bytes;
    enum leat_status s;

    if (spec->byte_level || m->affixes)
        return LEAT_OK;
    for (size_t i = 0; i < m->list_count; i++)
        if (bpe_is_fallback(m, m->list[i].left) || bpe_is_fallback(m, m->list[i].right))
            return LEAT_OK;
    s = char_cuts_begin(&m->char_cuts, err);
    if (s != LEAT_OK)
        return s;
    m->char_cuts.long_only = true;
    bytes = calloc(1, sizeof *bytes);
    if (!bytes)
        return status_no_memory(err, sizeof *bytes);
    for (size_t i = 0; i < m->list_count; i++)
        mark_pair(m, bytes, &m->list[i]);
    char_cuts_end(&m->char_cuts);
    class_cuts_make(&m->classes, bytes);
    free(bytes);
    m->cuts = true;
    m->cuts_by_bytes = m->all_fall_back; /* otherwise a run of unknown characters must stay together */
    return LEAT_OK;
}

/* Finds the characters with a symbol, if unknown characters can become an unknown token: a run of them must then
 * stay in one part. */
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

/* ---- The whole --------------------------------------------------------------------------------------------------- */

/* Returns true if a byte is a character with a token of its own, which needs no fallback. (Gemma has no <0x09>.) */
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

/* Makes the symbols of characters, for kernels; those of one-byte characters are m->bytes. */
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

/* Returns true if kernels can merge for the model: its symbols are bytes, or characters that are never unknown, and the
 * table of pairs has room for their numbers. */
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
    bool own = true; /* true if all ids are places */

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
        s = char_cuts_make(&m->char_cuts, spec, err);
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
static enum leat_status make_without_merges(struct bpe **out, const struct tokenizer_spec *spec, struct leat_error *err)
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
    enum leat_status s = make_without_merges(&m, spec, err);

    *list = NULL;
    if (s == LEAT_OK) {
        *list = m->list;
        *count = m->list_count;
        m->list = NULL;
    }
    bpe_free((struct model *)(void *)m);
    return s;
}

enum leat_status bpe_make(struct model **out, const struct tokenizer_spec *spec, struct leat_error *err)
{
    struct bpe *m;
    enum leat_status s = make_without_merges(&m, spec, err);

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
    if (s == LEAT_OK)
        s = word_store_make(&m->model.words, err);
    if (s != LEAT_OK) {
        bpe_free((struct model *)(void *)m);
        return s;
    }
    bpe_free_making(m);
    *out = &m->model;
    return LEAT_OK;
}

void bpe_free(struct model *model)
{
    struct bpe *m = (struct bpe *)(void *)model;

    if (!m)
        return;
    vocabulary_map_free(&m->map);
    merge_table_free(m->merges);
    if (m->orphans)
        free(m->orphans->tokens);
    free(m->orphans);
    word_store_free(m->model.words);
    free(m->letters);
    free(m->known);
    free(m->splits);
    free(m->odd);
    free(m->first);
    free(m->ids);
    char_cuts_free(&m->char_cuts);
    bpe_free_making(m);
    free(m);
}
