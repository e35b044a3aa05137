/*
 * bpe_scores.c: models of sentencepiece, whose merges come from scores.
 *
 * Loading: tokens are put in the order of their scores; characters that occur in tokens but are not tokens themselves
 * get symbols of their own; and each way in which a token splits into two symbols is a merge whose rank is the place of
 * its score.
 * Encoding: a run of characters that all have symbols is merged as in other models; then unused tokens are taken apart
 * again, down to tokens that are in use, and what is still no token becomes bytes or the unknown token.
 */
#include "bpe_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/status.h"
#include "tokenizer/unicode/unicode.h"

/* ---- Making ---- */

static int compare_u32(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* Returns the symbol of a string that is a mergeable token or a single character of one. */
static uint32_t symbol_of(const struct bpe *m, const uint8_t *text, size_t bytes)
{
    uint32_t place = vocabulary_map_find(&m->map, text, bytes), c;
    const uint32_t *odd;
    size_t length;

    if (place != SPEC_NONE && bpe_mergeable(&m->spec->tokens[place]))
        return place;
    c = unicode_decode(text, &length);
    if (length != bytes || m->odd_count == 0)
        return NO_SYMBOL;
    odd = bsearch(&c, m->odd, m->odd_count, sizeof *m->odd, compare_u32);
    return odd ? m->spec->token_count + (uint32_t)(odd - m->odd) : NO_SYMBOL;
}

/* Finds the characters of tokens that are not tokens themselves. */
static enum leat_status find_odd_characters(struct bpe *m, struct leat_error *err)
{
    uint32_t kept = 0;
    enum leat_status s;

    for (uint32_t i = 0; i < m->spec->token_count; i++) {
        const struct spec_token *t = &m->spec->tokens[i];
        const uint8_t *text = spec_token_bytes(m->spec, t);
        size_t length;

        for (size_t at = 0; bpe_mergeable(t) && at < t->length; at += length) {
            uint32_t c = unicode_decode(text + at, &length), place = vocabulary_map_find(&m->map, text + at, length);

            if (place != SPEC_NONE && bpe_mergeable(&m->spec->tokens[place]))
                continue;
            s = GROW(m->odd, m->odd_count + UINT64_C(1), m->odd_room, err);
            if (s != LEAT_OK)
                return s;
            m->odd[m->odd_count++] = c;
        }
    }
    if (m->odd_count > 0)
        qsort(m->odd, m->odd_count, sizeof *m->odd, compare_u32);
    for (uint32_t i = 0; i < m->odd_count; i++)
        if (i == 0 || m->odd[i] != m->odd[kept - 1])
            m->odd[kept++] = m->odd[i];
    m->odd_count = kept;
    return LEAT_OK;
}

static int compare_scores(const void *a, const void *b)
{
    const struct bpe_scored *x = a, *y = b;

    return x->score != y->score ? (x->score < y->score) - (x->score > y->score)
                                : (x->place > y->place) - (x->place < y->place);
}

static enum leat_status split_characters(struct bpe *m, uint32_t place, uint32_t rank, struct leat_error *err)
{
    const struct spec_token *t = &m->spec->tokens[place];
    const uint8_t *text = spec_token_bytes(m->spec, t);
    size_t length;

    for (size_t at = 0; at < t->length; at += length) {
        uint32_t left, right;
        enum leat_status s;

        unicode_decode(text + at, &length);
        if (at == 0)
            continue;
        left = symbol_of(m, text, at);
        right = left == NO_SYMBOL ? NO_SYMBOL : symbol_of(m, text + at, t->length - at);
        if (right != NO_SYMBOL) {
            s = bpe_add_merge(m, left, right, place, rank, err);
            if (s != LEAT_OK)
                return s;
        }
    }
    return LEAT_OK;
}

enum leat_status bpe_scores_order(struct bpe *m, struct leat_error *err)
{
    const struct tokenizer_spec *spec = m->spec;
    uint32_t count = 0;

    m->order = malloc(((size_t)spec->token_count + 1) * sizeof *m->order);
    if (!m->order)
        return status_no_memory(err, ((size_t)spec->token_count + 1) * sizeof *m->order);
    for (uint32_t i = 0; i < spec->token_count; i++)
        if (bpe_mergeable(&spec->tokens[i]))
            m->order[count++] = (struct bpe_scored) { spec->scores[i], i };
    if (count > 0)
        qsort(m->order, count, sizeof *m->order, compare_scores);
    m->order_count = count;
    return find_odd_characters(m, err);
}

bool bpe_scores_differ(const struct bpe *m)
{
    for (uint32_t i = 1; i < m->order_count; i++)
        if (m->order[i].score == m->order[i - 1].score)
            return false;
    return true;
}

enum leat_status bpe_scores_merges(struct bpe *m, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    uint32_t rank = 0;

    for (uint32_t i = 0; s == LEAT_OK && i < m->order_count; i++) {
        rank += i > 0 && m->order[i].score != m->order[i - 1].score;
        s = split_characters(m, m->order[i].place, rank, err);
    }
    return s;
}

/* Length of the longest token that may be merged in two ways; longer ones are refused, because a file must not take
 * long to open. */
#define SPLIT_BYTES 100u

static enum leat_status two_ways(const struct bpe *m, uint32_t place, struct leat_error *err)
{
    const struct spec_token *t = &m->spec->tokens[place];

    return status_set(err, LEAT_E_UNSUPPORTED,
                      "the unused token \"%.*s\" can be merged in two ways and is longer than %u bytes, which is not "
                      "supported",
                      (int)(t->length < 60 ? t->length : 60), (const char *)spec_token_bytes(m->spec, t), SPLIT_BYTES);
}

static uint32_t token_between(const struct bpe *m, const uint8_t *text, uint32_t begin, uint32_t end)
{
    uint32_t place = vocabulary_map_find(&m->map, text + begin, end - begin);

    return place != SPEC_NONE && bpe_mergeable(&m->spec->tokens[place]) ? place : NO_SYMBOL;
}

/*
 * Returns the pair that a token is merged from, by merging its characters. It does not depend on the text around the
 * token: as long as none of its characters is merged with one beyond it, the best pair within goes first. So there is
 * one last pair, or the token is never made.
 */
static struct split last_merge(const struct bpe *m, const struct spec_token *t)
{
    const uint8_t *text = spec_token_bytes(m->spec, t);
    uint32_t begin[SPLIT_BYTES + 1], pair[SPLIT_BYTES], count = 0;

    for (size_t at = 0, length; at < t->length; at += length) {
        unicode_decode(text + at, &length);
        begin[count++] = (uint32_t)at;
    }
    begin[count] = t->length;
    for (uint32_t i = 0; i + 1 < count; i++)
        pair[i] = token_between(m, text, begin[i], begin[i + 2]);
    for (; count > 2; count--) {
        uint32_t best = NO_SYMBOL;

        for (uint32_t i = 0; i + 1 < count; i++)
            if (pair[i] != NO_SYMBOL && (best == NO_SYMBOL || m->spec->scores[pair[i]] > m->spec->scores[pair[best]]))
                best = i;
        if (best == NO_SYMBOL)
            return (struct split) { NO_SYMBOL, NO_SYMBOL };
        memmove(begin + best + 1, begin + best + 2, (count - best - 1) * sizeof *begin);
        memmove(pair + best, pair + best + 1, (count - best - 2) * sizeof *pair);
        if (best > 0)
            pair[best - 1] = token_between(m, text, begin[best - 1], begin[best + 1]);
        if (best + 2 < count)
            pair[best] = token_between(m, text, begin[best], begin[best + 2]);
    }
    return (struct split) { symbol_of(m, text, begin[1]), symbol_of(m, text + begin[1], t->length - begin[1]) };
}

enum leat_status bpe_scores_splits(struct bpe *m, struct leat_error *err)
{
    const struct tokenizer_spec *spec = m->spec;
    bool any = false;

    for (uint32_t i = 0; i < spec->token_count; i++)
        any = any || spec->tokens[i].type == SPEC_UNUSED;
    if (!any || !m->kind->scored)
        return LEAT_OK;
    m->splits = malloc(spec->token_count * sizeof *m->splits);
    if (!m->splits)
        return status_no_memory(err, spec->token_count * sizeof *m->splits);
    memset(m->splits, 0xff, spec->token_count * sizeof *m->splits);
    for (size_t i = 0; i < m->list_count; i++) {
        const struct merge *merge = &m->list[i];
        struct split *split = &m->splits[merge->result];

        if (spec->tokens[merge->result].type != SPEC_UNUSED)
            continue;
        if (split->left == NO_SYMBOL)
            *split = (struct split) { merge->left, merge->right };
        else if (spec->tokens[merge->result].length > SPLIT_BYTES)
            return two_ways(m, merge->result, err);
        else
            split->right = NO_SYMBOL; /* several: see below */
    }
    for (uint32_t i = 0; i < spec->token_count; i++)
        if (m->splits[i].left != NO_SYMBOL && m->splits[i].right == NO_SYMBOL)
            m->splits[i] = last_merge(m, &spec->tokens[i]);
    return LEAT_OK;
}

/* ---- Encoding ---- */

/* Appends bytes for a character without a token, or one unknown token per run of them, which every file of
 * sentencepiece has. */
static enum leat_status append_tokenless(const struct bpe *m, const uint8_t *text, size_t bytes, bool *after_unknown,
                                         struct id_list *out, struct leat_error *err)
{
    enum leat_status s = id_list_reserve(out, bytes, err);
    bool all = m->spec->byte_fallback;

    if (s != LEAT_OK)
        return s;
    for (size_t i = 0; i < bytes; i++)
        all = all && m->fallback[text[i]] != NO_SYMBOL;
    for (size_t i = 0; all && i < bytes; i++)
        out->ids[out->count++] = m->spec->tokens[m->fallback[text[i]]].id;
    if (all)
        return LEAT_OK;
    if (!*after_unknown)
        out->ids[out->count++] = m->spec->tokens[m->unknown].id;
    *after_unknown = true;
    return LEAT_OK;
}

/* Appends the symbol that begins at text[*at], and moves *at past it. */
static enum leat_status append_symbol(const struct bpe *m, const uint8_t *text, size_t *at, uint32_t symbol,
                                      bool *after_unknown, struct id_list *out, struct leat_error *err)
{
    size_t begin = *at, length = bpe_symbol_bytes(m, symbol);

    *at += length;
    if (symbol >= m->spec->token_count || m->spec->tokens[symbol].type == SPEC_UNUSED)
        return append_tokenless(m, text + begin, length, after_unknown, out, err);
    *after_unknown = false;
    return bpe_append(m, &symbol, 1, out, err);
}

/* Appends a symbol like append_symbol(), but takes an unused token apart, and looks each of its parts up anew. */
static enum leat_status append_whole_symbol(const struct bpe *m, const uint8_t *text, size_t *at, uint32_t symbol,
                                            bool *after_unknown, struct id_list *out, struct leat_error *err)
{
    size_t begin = *at, end = begin + bpe_symbol_bytes(m, symbol);
    enum leat_status s = LEAT_OK;

    while (s == LEAT_OK && *at < end) {
        size_t part_begin = begin;
        uint32_t part = symbol;

        while (m->splits && part < m->spec->token_count && m->splits[part].left != NO_SYMBOL) {
            size_t middle = part_begin + bpe_symbol_bytes(m, m->splits[part].left);

            if (*at >= middle)
                part_begin = middle;
            part = *at < middle ? m->splits[part].left : m->splits[part].right;
        }
        s = append_symbol(m, text, at, part, after_unknown, out, err);
    }
    return s;
}

static enum leat_status known_symbols(const struct bpe *m, uint32_t *symbols, const uint8_t *text, size_t bytes,
                                      size_t *count, struct leat_error *err)
{
    size_t length;

    (void)err;
    *count = 0;
    for (size_t i = 0; i < bytes; i += length) {
        unicode_decode(text + i, &length);
        symbols[(*count)++] = symbol_of(m, text + i, length);
    }
    return LEAT_OK;
}

/* Encodes a run of characters that all have symbols. */
static enum leat_status encode_known(const struct bpe *m, struct bpe_scratch *s, const uint8_t *text, size_t bytes,
                                     bool *after_unknown, struct id_list *out, struct leat_error *err)
{
    size_t count, at = 0;
    enum leat_status status = bpe_merge_text(m, s, known_symbols, text, bytes, &count, err);

    for (size_t i = 0; status == LEAT_OK && i < count; i++)
        status = append_whole_symbol(m, text, &at, s->symbols[i], after_unknown, out, err);
    return status;
}

enum leat_status bpe_scores_encode(const struct bpe *m, struct bpe_scratch *s, const uint8_t *text, size_t bytes,
                                   struct id_list *out, struct leat_error *err)
{
    bool after_unknown = false;
    enum leat_status status = LEAT_OK;
    size_t run = 0, length;

    for (size_t at = 0; status == LEAT_OK && at <= bytes; at += length) {
        bool known = false;

        length = 1;
        if (at < bytes) {
            unicode_decode(text + at, &length);
            known = symbol_of(m, text + at, length) != NO_SYMBOL;
        }
        if (known)
            continue;
        if (at > run)
            status = encode_known(m, s, text + run, at - run, &after_unknown, out, err);
        if (status == LEAT_OK && at < bytes)
            status = append_tokenless(m, text + at, length, &after_unknown, out, err);
        run = at + length;
    }
    return status;
}
