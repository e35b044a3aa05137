/*
 * bpe_merges.c: the list of a model's merges. All models come down to one table of them:
 *   ranks    a merge for each way in which a token splits into two tokens; its rank is the token's place by id
 *   merges   the file's list; its rank is the place in the list
 *   scores   a merge for each way in which a token splits into two symbols; its rank is the place of its score
 * of which those that can never happen are left out (live_merges.h).
 */
#include <stdlib.h>

#include "base/status.h"
#include "bpe_internal.h"
#include "live_merges.h"
#include "tokenizer/unicode/unicode.h"

enum leat_status bpe_add_merge(struct bpe *m, uint32_t left, uint32_t right, uint32_t result, uint32_t rank,
                               struct leat_error *err)
{
    if (m->live && live_merges_offer(m->live, left, right, result, rank) == LIVE_DEAD)
        return LEAT_OK;
    if (m->list_count == m->list_room) {
        size_t room = m->list_room ? 2 * m->list_room : m->spec->token_count + (size_t)4096;
        struct merge *list = realloc(m->list, room * sizeof *list);

        if (!list)
            return status_no_memory(err, room * sizeof *list);
        m->list = list;
        m->list_room = room;
    }
    m->list[m->list_count++] = (struct merge) { left, right, result, rank };
    return LEAT_OK;
}

/*
 * Merges that never happen can be found if a product depends on its own text alone: not with a prefix or suffix for
 * parts of words, and not if tokens of single bytes or the unknown token, which stand for other text, can merge.
 * sentencepiece takes unused tokens apart by any of their merges. If different tokens have equal ranks, the order
 * depends on more than the text.
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

/* Merges that were late, for whose result another merge has been found since. */
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

/* Tokens are sorted by id, so places rank them. */
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

/* The same, faster, for a token of at most 8 bytes, whose parts are all in their keys. */
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

enum leat_status bpe_merges_of_ranks(struct bpe *m, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (uint32_t i = 0; s == LEAT_OK && i < m->spec->token_count; i++)
        s = m->spec->tokens[i].length <= TEXT_KEY_SHORT + 1 ? split_short(m, i, err) : split_long(m, i, err);
    return s;
}

/* The same where it is known which of the ways happens. */
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

/* Places in spec->tokens by id; NULL if ids are places, as they nearly always are. */
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

enum leat_status bpe_merges_of_list(struct bpe *m, struct leat_error *err)
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

/* Whether a part of a merge is a token that texts do not spell: of a byte, or the unknown one. */
static void find_odd_parts(struct bpe *m)
{
    for (uint32_t i = 0; i < m->spec->merge_count && !m->odd_parts; i++) {
        struct merge g = merge_of_list(m->spec, m->places, i);

        m->odd_parts =
            g.left == m->unknown || g.right == m->unknown || bpe_is_fallback(m, g.left) || bpe_is_fallback(m, g.right);
    }
}

enum leat_status bpe_merges_prepare(struct bpe *m, struct leat_error *err)
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

/* Makes each result its merge's rank, if that keeps the order: tables then need no way from a rank to its result.
 * Merges with the same rank, as equal scores have, must keep one rank, since the leftmost of them in a text comes
 * first. */
static void rank_by_results(struct bpe *m)
{
    for (size_t i = 1; i < m->list_count; i++)
        if (m->list[i].result <= m->list[i - 1].result || m->list[i].rank <= m->list[i - 1].rank)
            return;
    for (size_t i = 0; i < m->list_count; i++)
        m->list[i].rank = m->list[i].result;
}

enum leat_status bpe_make_list(struct bpe *m, struct leat_error *err)
{
    enum leat_status s = m->kind->prepare ? m->kind->prepare(m, err) : LEAT_OK;

    if (s == LEAT_OK)
        s = make_list(m, err);
    if (s == LEAT_OK)
        rank_by_results(m);
    return s;
}

void bpe_free_making(struct bpe *m)
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
