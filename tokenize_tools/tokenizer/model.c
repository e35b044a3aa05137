/*
 * model.c: see model.h.
 *
 * Symbols are places in spec->tokens, then, from token_count on, characters that are no token of their own but part of
 * one (sentencepiece merges those too). All models come down to one merge table over symbols:
 *   ranks    a merge for each way in which a token splits into two tokens; its rank is the token's place by id
 *   merges   the file's list; its rank is the place in the list
 *   scores   a merge for each way in which a piece splits into two symbols; its rank is the place of its score
 *
 * Safe cuts. Between neighbouring characters that do not stand side by side in any product of a merge no merge can ever
 * reach across, so the two sides encode alone as they do together. Texts without a pre-tokenizer, whole documents that
 * are one piece, become words and syllables that way, which a cache can hold.
 */
#include "model.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "byte_alphabet.h"
#include "merge_blocks.h"
#include "unicode.h"
#include "utf8.h"
#include "vocabulary_map.h"

#define PAIR_BITS  22 /* the hashed set of character pairs inside products: 512 KiB */
#define NO_SYMBOL  UINT32_MAX
#define LONG_PIECE 15 /* longer ones are not kept in the cache */

/* The two symbols that a piece is merged from; NO_SYMBOL if it stays as it is. */
struct split {
    uint32_t left, right;
};

struct model {
    const struct tokenizer_spec *spec;
    struct vocabulary_map map;
    struct merge_table *merges;
    uint32_t bytes[256];    /* byte-level: the symbol of each byte, or NO_SYMBOL */
    uint32_t fallback[256]; /* of "<0xNN>", if characters without a token fall back to them; NO_SYMBOL */
    bool all_bytes;         /* every byte has a symbol */
    bool all_fall_back;     /* every byte has a fallback */
    bool affixes;           /* parts of words are written with a prefix or a suffix */
    struct byte_alphabet alphabet;
    bool whole;           /* a piece that is a token is taken as it stands */
    bool cuts;            /* safe cuts may be made */
    bool apart;           /* nothing merges: each byte is a token */
    uint32_t longest;     /* bytes of the longest token */
    uint64_t *pairs;      /* bits: character pairs that stand inside products */
    uint64_t *known;      /* bits: characters with a symbol; NULL: what has none becomes bytes, never unknown */
    uint32_t unknown;     /* symbol */
    struct split *splits; /* by place: of unused pieces, what they become again; NULL if there are none */
    uint32_t *odd;        /* characters that are symbols but no tokens, ascending; symbol token_count + i */
    uint32_t odd_count, odd_room;
    struct merge *list; /* while being made */
    size_t list_count, list_room;
};

/* ---- Lists ---- */

enum leat_status id_list_reserve(struct id_list *list, size_t more, struct leat_error *err)
{
    size_t need = list->count + more, room = list->room ? list->room : 1024;
    uint32_t *ids;

    if (more <= list->room - list->count)
        return LEAT_OK;
    if (more > SIZE_MAX / 8 - list->count)
        return status_no_memory(err, more);
    while (room < need)
        room += room / 2;
    if (!bound_take(list->bound, room * sizeof *ids)) {
        room = need; /* near the bound, without any reserve */
        if (!bound_take(list->bound, room * sizeof *ids))
            return bound_refuse(list->bound, need, err);
    }
    ids = realloc(list->ids, room * sizeof *ids);
    if (!ids) {
        bound_give(list->bound, room * sizeof *ids);
        return status_no_memory(err, room * sizeof *ids);
    }
    bound_give(list->bound, list->room * sizeof *ids);
    list->ids = ids;
    list->room = room;
    return LEAT_OK;
}

void id_list_free(struct id_list *list)
{
    bound_give(list->bound, list->room * sizeof *list->ids);
    free(list->ids);
    *list = (struct id_list) { .bound = list->bound };
}

/* ---- Making: merges ---- */

static enum leat_status add_merge(struct model *m, uint32_t left, uint32_t right, uint32_t result, uint32_t rank,
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

        if (right != SPEC_NONE && (s = add_merge(m, left, right, place, place, err)) != LEAT_OK)
            return s;
    }
    return LEAT_OK;
}

static int compare_u32(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static bool mergeable(const struct spec_token *t)
{
    return t->type == SPEC_NORMAL || t->type == SPEC_USER_DEFINED || t->type == SPEC_UNUSED;
}

/* The symbol of a string that is a mergeable piece or a single character of one. */
static uint32_t symbol_of(const struct model *m, const uint8_t *text, size_t bytes)
{
    uint32_t place = vocabulary_map_find(&m->map, text, bytes), c;
    const uint32_t *odd;
    size_t length;

    if (place != SPEC_NONE && mergeable(&m->spec->tokens[place]))
        return place;
    c = unicode_decode(text, &length);
    if (length != bytes || m->odd_count == 0)
        return NO_SYMBOL;
    odd = bsearch(&c, m->odd, m->odd_count, sizeof *m->odd, compare_u32);
    return odd ? m->spec->token_count + (uint32_t)(odd - m->odd) : NO_SYMBOL;
}

/* Characters of pieces that are not pieces themselves. */
static enum leat_status find_odd_characters(struct model *m, struct leat_error *err)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < m->spec->token_count; i++) {
        const struct spec_token *t = &m->spec->tokens[i];
        const uint8_t *text = spec_token_bytes(m->spec, t);
        size_t length;

        for (size_t at = 0; mergeable(t) && at < t->length; at += length) {
            uint32_t c = unicode_decode(text + at, &length), place = vocabulary_map_find(&m->map, text + at, length);

            if (place != SPEC_NONE && mergeable(&m->spec->tokens[place]))
                continue;
            if (m->odd_count == m->odd_room) {
                uint32_t room = m->odd_room ? 2 * m->odd_room : 256;
                uint32_t *odd = realloc(m->odd, room * sizeof *odd);

                if (!odd)
                    return status_no_memory(err, room * sizeof *odd);
                m->odd = odd;
                m->odd_room = room;
            }
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

/* A piece and its place in falling order of scores; equal scores share a rank. */
struct scored {
    float score;
    uint32_t place;
};

static int compare_scores(const void *a, const void *b)
{
    const struct scored *x = a, *y = b;

    return x->score != y->score ? (x->score < y->score) - (x->score > y->score)
                                : (x->place > y->place) - (x->place < y->place);
}

static enum leat_status split_characters(struct model *m, uint32_t place, uint32_t rank, struct leat_error *err)
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
        if (right != NO_SYMBOL && (s = add_merge(m, left, right, place, rank, err)) != LEAT_OK)
            return s;
    }
    return LEAT_OK;
}

static enum leat_status merges_of_scores(struct model *m, struct leat_error *err)
{
    const struct tokenizer_spec *spec = m->spec;
    struct scored *order = malloc((spec->token_count + 1) * sizeof *order);
    enum leat_status s = order ? find_odd_characters(m, err) : status_no_memory(err, spec->token_count);
    uint32_t count = 0, rank = 0;

    for (uint32_t i = 0; s == LEAT_OK && i < spec->token_count; i++)
        if (mergeable(&spec->tokens[i]))
            order[count++] = (struct scored) { spec->scores[i], i };
    if (s == LEAT_OK && count > 0)
        qsort(order, count, sizeof *order, compare_scores);
    for (uint32_t i = 0; s == LEAT_OK && i < count; i++) {
        rank += i > 0 && order[i].score != order[i - 1].score;
        s = split_characters(m, order[i].place, rank, err);
    }
    free(order);
    return s;
}

static enum leat_status two_ways(const struct model *m, uint32_t place, struct leat_error *err)
{
    const struct spec_token *t = &m->spec->tokens[place];

    return status_set(err, LEAT_E_UNSUPPORTED,
                      "the unused piece \"%.*s\" can be merged in two ways, and which one counts depends on the whole "
                      "text: such a sentencepiece model is not supported",
                      (int)(t->length < 60 ? t->length : 60), (const char *)spec_token_bytes(m->spec, t));
}

/* sentencepiece merges unused pieces as it does others, and then takes them apart again. */
static enum leat_status find_splits(struct model *m, struct leat_error *err)
{
    const struct tokenizer_spec *spec = m->spec;
    bool any = false;

    for (uint32_t i = 0; i < spec->token_count; i++)
        any = any || spec->tokens[i].type == SPEC_UNUSED;
    if (!any || spec->model != SPEC_SCORES)
        return LEAT_OK;
    m->splits = malloc(spec->token_count * sizeof *m->splits);
    if (!m->splits)
        return status_no_memory(err, spec->token_count * sizeof *m->splits);
    memset(m->splits, 0xff, spec->token_count * sizeof *m->splits);
    for (size_t i = 0; i < m->list_count; i++) {
        const struct merge *merge = &m->list[i];

        if (spec->tokens[merge->result].type != SPEC_UNUSED)
            continue;
        if (m->splits[merge->result].left != NO_SYMBOL)
            return two_ways(m, merge->result, err);
        m->splits[merge->result] = (struct split) { merge->left, merge->right };
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

        s = add_merge(m, places[g->left], places[g->right], places[g->result], i, err);
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
        s = merges_of_scores(m, err);
        break;
    case SPEC_BYTES:
        break;
    }
    return s == LEAT_OK ? merge_table_make(&m->merges, m->list, m->list_count, err) : s;
}

/* ---- Making: safe cuts ---- */

static uint64_t pair_bit(uint32_t before, uint32_t after)
{
    return (((uint64_t)before << 21 | after) * 0x9e3779b97f4a7c15u) >> (64 - PAIR_BITS);
}

static void mark_pairs(struct model *m, const struct spec_token *t)
{
    const uint8_t *text = spec_token_bytes(m->spec, t);
    uint32_t before = 0;
    size_t length;

    for (size_t at = 0; at < t->length; at += length) {
        uint32_t c = unicode_decode(text + at, &length);
        uint64_t bit = pair_bit(before, c);

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
    m->pairs = calloc(((size_t)1 << PAIR_BITS) / 64, sizeof *m->pairs);
    if (!m->pairs)
        return status_no_memory(err, ((size_t)1 << PAIR_BITS) / 8);
    for (size_t i = 0; i < m->list_count; i++)
        if (i == 0 || m->list[i].result != m->list[i - 1].result)
            mark_pairs(m, &spec->tokens[m->list[i].result]);
    m->cuts = true;
    return LEAT_OK;
}

int model_may_cut(const struct model *m, uint32_t before, uint32_t after)
{
    uint64_t bit = pair_bit(before, after);

    return m->cuts && !(m->pairs[bit / 64] >> bit % 64 & 1);
}

/* ---- Making: the whole ---- */

static uint32_t find_symbol(const struct model *m, const uint8_t *bytes, size_t count)
{
    uint32_t place = vocabulary_map_find(&m->map, bytes, count);

    return place == SPEC_NONE ? NO_SYMBOL : place;
}

static void find_bytes(struct model *m)
{
    m->all_bytes = m->all_fall_back = true;
    for (unsigned b = 0; b < 256; b++) {
        char name[8];
        uint8_t byte = (uint8_t)b;

        snprintf(name, sizeof name, "<0x%02X>", b);
        m->bytes[b] = m->spec->byte_level ? find_symbol(m, &byte, 1) : NO_SYMBOL;
        m->fallback[b] = m->spec->byte_fallback ? find_symbol(m, (const uint8_t *)name, 6) : NO_SYMBOL;
        m->all_bytes = m->all_bytes && m->bytes[b] != NO_SYMBOL;
        m->all_fall_back = m->all_fall_back && m->fallback[b] != NO_SYMBOL;
    }
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
        bool met = t->length > 0 && !t->foreign && mergeable(t) && t->type != SPEC_UNUSED;
        uint32_t c = met ? unicode_decode(spec_token_bytes(m->spec, t), &length) : 0;

        if (length > 0 && length == t->length)
            m->known[c / 64] |= (uint64_t)1 << c % 64;
    }
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
        s = find_splits(m, err);
    if (s == LEAT_OK)
        s = make_cuts(m, err);
    if (s == LEAT_OK)
        s = find_known(m, err);
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
    free(m->list);
    free(m);
}

/* ---- A thread's memory ---- */

#define CACHE_BITS   15
#define CACHE_IDS    6
#define MANY_SYMBOLS ((size_t)1 << 18) /* more are not kept: a piece so long is rare */

/* A short part and its ids. The key is its bytes, zero-padded, with the length in the last byte. */
struct cached {
    uint8_t key[LONG_PIECE + 1];
    uint32_t count; /* 0: free */
    uint32_t ids[CACHE_IDS];
};

struct model_scratch {
    struct merge_scratch merge;
    struct bound *bound;
    uint32_t *symbols;
    size_t room; /* of symbols */
    struct cached cache[(size_t)1 << CACHE_BITS];
};

enum leat_status model_scratch_make(struct model_scratch **out, struct bound *bound, struct leat_error *err)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return status_no_memory(err, sizeof **out);
    (*out)->bound = (*out)->merge.bound = bound;
    return LEAT_OK;
}

static void free_symbols(struct model_scratch *s)
{
    bound_give(s->bound, s->room * sizeof *s->symbols);
    free(s->symbols);
    s->symbols = NULL;
    s->room = 0;
}

void model_scratch_free(struct model_scratch *s)
{
    if (s) {
        merge_scratch_free(&s->merge);
        free_symbols(s);
    }
    free(s);
}

/* ---- Encoding: symbols ---- */

/* What is there is not kept. */
static enum leat_status reserve_symbols(struct model_scratch *s, size_t count, size_t piece_bytes,
                                        struct leat_error *err)
{
    size_t room = count < MANY_SYMBOLS ? 2 * count : count;

    if (count <= s->room)
        return LEAT_OK;
    free_symbols(s);
    if (count > SIZE_MAX / 8)
        return status_no_memory(err, count);
    if (!bound_take(s->bound, room * sizeof *s->symbols))
        return bound_refuse(s->bound, piece_bytes, err);
    s->symbols = malloc(room * sizeof *s->symbols);
    if (!s->symbols) {
        bound_give(s->bound, room * sizeof *s->symbols);
        return status_no_memory(err, room * sizeof *s->symbols);
    }
    s->room = room;
    return LEAT_OK;
}

static enum leat_status no_unknown(const struct model *m, struct leat_error *err)
{
    return status_set(err, LEAT_E_TEXT,
                      "the text has a character that is not in the vocabulary, and its unknown token "
                      "'%.100s' is not either",
                      (const char *)m->spec->unknown_text.bytes);
}

/* Hugging Face's order, to the letter: a run of unknown characters is put down when a known one comes or the piece
 * ends, but not when a character falls back to bytes. */
struct pending {
    bool any;
};

static size_t put_pending(const struct model *m, uint32_t *symbols, size_t n, struct pending *p)
{
    if (p->any)
        symbols[n++] = m->unknown;
    p->any = false;
    return n;
}

/* A character, or byte of byte-level text, without a token where there is no unknown token. */
static enum leat_status refuse_unknown(const struct model *m, const uint8_t *character, struct leat_error *err)
{
    if (m->spec->model == SPEC_RANKS) /* tiktoken panics */
        return status_set(err, LEAT_E_TEXT, "the text has the byte 0x%02x, for which the vocabulary has no token",
                          *character);
    return m->spec->unknown_text.bytes ? no_unknown(m, err) : LEAT_OK; /* it vanishes */
}

static enum leat_status put_unknown(const struct model *m, const uint8_t *character, uint32_t *symbols, size_t *n,
                                    struct pending *p, struct leat_error *err)
{
    if (m->unknown == NO_SYMBOL)
        return refuse_unknown(m, character, err);
    if (!m->spec->fuse_unknown)
        *n = put_pending(m, symbols, *n, p);
    p->any = true;
    return LEAT_OK;
}

/* A character as the file spells it: with a prefix where it does not begin a word, and a suffix after the last one. */
struct spelled {
    uint8_t bytes[2 * SPEC_MAX_AFFIX + 4];
    size_t count;
};

static void append_spelled(struct spelled *out, const uint8_t *bytes, size_t count)
{
    memcpy(out->bytes + out->count, bytes, count);
    out->count += count;
}

static void spell(const struct model *m, const uint8_t *text, size_t length, bool first, bool last, struct spelled *out)
{
    const struct spec_string *prefix = &m->spec->continuing_prefix, *suffix = &m->spec->word_suffix;

    out->count = 0;
    if (!first && prefix->length > 0)
        append_spelled(out, prefix->bytes, prefix->length);
    append_spelled(out, text, length);
    if (last && suffix->length > 0)
        append_spelled(out, suffix->bytes, suffix->length);
}

/* The bytes that fallback goes by: a byte-level file's own way of writing, not what it stands for. */
static size_t written(const struct model *m, const uint8_t *text, size_t bytes, uint8_t *out)
{
    size_t n = 0;

    for (size_t i = 0; i < bytes; i++)
        if (m->spec->byte_level)
            n += utf8_encode(out + n, m->alphabet.code_of[text[i]]);
        else
            out[n++] = text[i];
    return n;
}

/* The symbols of a spelled character's bytes; false, and none put down, if one of them has none. */
static bool put_fallback(const struct model *m, uint32_t *symbols, size_t *n, const uint8_t *text, size_t bytes)
{
    uint8_t out[2 * sizeof((struct spelled *)0)->bytes];
    size_t count = m->spec->byte_fallback ? written(m, text, bytes, out) : 0;

    for (size_t i = 0; i < count; i++)
        if (m->fallback[out[i]] == NO_SYMBOL)
            return false;
    for (size_t i = 0; i < count; i++)
        symbols[(*n)++] = m->fallback[out[i]];
    return count > 0;
}

/* One symbol a byte of byte-level text, or a character of other text. With affixes the part is a whole piece: it is
 * not cut then. */
static enum leat_status symbols_of_text(const struct model *m, uint32_t *symbols, const uint8_t *text, size_t bytes,
                                        size_t *count, struct leat_error *err)
{
    struct pending pending = { false };
    enum leat_status s = LEAT_OK;
    struct spelled spelled;
    size_t n = 0, length = 1;

    for (size_t at = 0; s == LEAT_OK && at < bytes; at += length) {
        const uint8_t *character = text + at;
        size_t size;
        uint32_t symbol;

        if (!m->spec->byte_level)
            unicode_decode(character, &length);
        size = length;
        if (m->affixes) {
            spell(m, character, length, at == 0, at + length == bytes, &spelled);
            character = spelled.bytes;
            size = spelled.count;
        }
        symbol = m->spec->byte_level && !m->affixes ? m->bytes[*character] : find_symbol(m, character, size);
        if (symbol != NO_SYMBOL) {
            n = put_pending(m, symbols, n, &pending);
            symbols[n++] = symbol;
        } else if (!put_fallback(m, symbols, &n, character, size)) {
            s = put_unknown(m, character, symbols, &n, &pending, err);
        }
    }
    *count = put_pending(m, symbols, n, &pending);
    return s;
}

/* How many symbols a part can begin with. */
static size_t most_symbols(const struct model *m, size_t bytes)
{
    size_t each = 1;

    if (m->spec->byte_fallback && (m->affixes || m->spec->byte_level))
        each = 2 * (1 + (size_t)m->spec->continuing_prefix.length + m->spec->word_suffix.length);
    return bytes < SIZE_MAX / 2 / each ? each * bytes + 1 : SIZE_MAX;
}

/* ---- Encoding: parts ---- */

static enum leat_status append_symbols(const struct model *m, const uint32_t *symbols, size_t count,
                                       struct id_list *out, struct leat_error *err)
{
    enum leat_status s = id_list_reserve(out, count, err);

    for (size_t i = 0; s == LEAT_OK && i < count; i++)
        out->ids[out->count++] = m->spec->tokens[symbols[i]].id;
    return s;
}

/* sentencepiece: what is left as a character without a piece becomes bytes, or one unknown token a run. */
static enum leat_status append_unpieced(const struct model *m, const uint8_t *text, size_t bytes, bool *after_unknown,
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
    if (m->unknown == NO_SYMBOL)
        return no_unknown(m, err);
    if (!*after_unknown)
        out->ids[out->count++] = m->spec->tokens[m->unknown].id;
    *after_unknown = true;
    return LEAT_OK;
}

/* How long its text is. */
static size_t symbol_bytes(const struct model *m, uint32_t symbol)
{
    uint32_t c;

    if (symbol < m->spec->token_count)
        return m->spec->tokens[symbol].length;
    c = m->odd[symbol - m->spec->token_count];
    return c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
}

/* A symbol that begins at text[*at], which moves behind it. */
static enum leat_status append_symbol(const struct model *m, const uint8_t *text, size_t *at, uint32_t symbol,
                                      bool *after_unknown, struct id_list *out, struct leat_error *err)
{
    size_t begin = *at, length = symbol_bytes(m, symbol);

    *at += length;
    if (symbol >= m->spec->token_count || m->spec->tokens[symbol].type == SPEC_UNUSED)
        return append_unpieced(m, text + begin, length, after_unknown, out, err);
    *after_unknown = false;
    return append_symbols(m, &symbol, 1, out, err);
}

/* The same; an unused piece is taken apart: each of its parts is looked for from the top. */
static enum leat_status append_whole_symbol(const struct model *m, const uint8_t *text, size_t *at, uint32_t symbol,
                                            bool *after_unknown, struct id_list *out, struct leat_error *err)
{
    size_t begin = *at, end = begin + symbol_bytes(m, symbol);
    enum leat_status s = LEAT_OK;

    while (s == LEAT_OK && *at < end) {
        size_t part_begin = begin;
        uint32_t part = symbol;

        while (m->splits && part < m->spec->token_count && m->splits[part].left != NO_SYMBOL) {
            size_t middle = part_begin + symbol_bytes(m, m->splits[part].left);

            if (*at >= middle)
                part_begin = middle;
            part = *at < middle ? m->splits[part].left : m->splits[part].right;
        }
        s = append_symbol(m, text, at, part, after_unknown, out, err);
    }
    return s;
}

/* Puts down the symbols of a text: of all its characters, or as symbols_of_text(). */
typedef enum leat_status make_symbols(const struct model *m, uint32_t *symbols, const uint8_t *text, size_t bytes,
                                      size_t *count, struct leat_error *err);

static enum leat_status known_symbols(const struct model *m, uint32_t *symbols, const uint8_t *text, size_t bytes,
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

/* The symbols of a text, merged, lie in the scratch. */
static enum leat_status merge_text(const struct model *m, struct model_scratch *s, make_symbols *make,
                                   const uint8_t *text, size_t bytes, size_t *count, struct leat_error *err)
{
    enum leat_status status = make(m, s->symbols, text, bytes, count, err);
    bool done = false;

    if (status == LEAT_OK && *count >= MERGE_LONG) {
        status = merge_blocks(m->merges, &s->merge, s->symbols, count, 0, &done, err);
        if (status == LEAT_OK && !done)
            status = make(m, s->symbols, text, bytes, count, err);
    }
    return status == LEAT_OK && !done ? merge_symbols(m->merges, &s->merge, s->symbols, count, err) : status;
}

/* A run of characters that all have symbols. */
static enum leat_status encode_known(const struct model *m, struct model_scratch *s, const uint8_t *text, size_t bytes,
                                     bool *after_unknown, struct id_list *out, struct leat_error *err)
{
    size_t count, at = 0;
    enum leat_status status = merge_text(m, s, known_symbols, text, bytes, &count, err);

    for (size_t i = 0; status == LEAT_OK && i < count; i++)
        status = append_whole_symbol(m, text, &at, s->symbols[i], after_unknown, out, err);
    return status;
}

static enum leat_status encode_scores(const struct model *m, struct model_scratch *s, const uint8_t *text, size_t bytes,
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
            status = append_unpieced(m, text + at, length, &after_unknown, out, err);
        run = at + length;
    }
    return status;
}

static enum leat_status encode_merges(const struct model *m, struct model_scratch *s, const uint8_t *text, size_t bytes,
                                      struct id_list *out, struct leat_error *err)
{
    size_t count;
    enum leat_status status = merge_text(m, s, symbols_of_text, text, bytes, &count, err);

    return status == LEAT_OK ? append_symbols(m, s->symbols, count, out, err) : status;
}

/* The piece's own token, where pieces are taken whole; false if it has none. */
static bool encode_whole(const struct model *m, const uint8_t *piece, size_t bytes, struct id_list *out,
                         enum leat_status *status, struct leat_error *err)
{
    uint32_t symbol = m->whole ? find_symbol(m, piece, bytes) : NO_SYMBOL;

    if (symbol == NO_SYMBOL)
        return false;
    *status = append_symbols(m, &symbol, 1, out, err);
    return true;
}

static enum leat_status encode_part(const struct model *m, struct model_scratch *s, const uint8_t *text, size_t bytes,
                                    struct id_list *out, struct leat_error *err)
{
    enum leat_status status;

    if (!m->cuts && encode_whole(m, text, bytes, out, &status, err))
        return status;
    status = reserve_symbols(s, most_symbols(m, bytes), bytes, err);
    if (status != LEAT_OK)
        return status;
    status = m->spec->model == SPEC_SCORES ? encode_scores(m, s, text, bytes, out, err)
                                           : encode_merges(m, s, text, bytes, out, err);
    if (s->room > MANY_SYMBOLS)
        free_symbols(s);
    return status;
}

/* A part by way of the cache. */
static enum leat_status encode_cached(const struct model *m, struct model_scratch *s, const uint8_t *text, size_t bytes,
                                      struct id_list *out, struct leat_error *err)
{
    uint8_t key[LONG_PIECE + 1] = { 0 };
    enum leat_status status;
    struct cached *c;
    uint64_t a, b;
    size_t before;

    if (bytes > LONG_PIECE)
        return encode_part(m, s, text, bytes, out, err);
    memcpy(key, text, bytes);
    key[LONG_PIECE] = (uint8_t)bytes;
    memcpy(&a, key, 8);
    memcpy(&b, key + 8, 8);
    c = &s->cache[(a * 0x9e3779b97f4a7c15u ^ b * 0xd6e8feb86659fd93u) * 0x9e3779b97f4a7c15u >> (64 - CACHE_BITS)];
    if (c->count > 0 && memcmp(c->key, key, sizeof key) == 0) {
        status = id_list_reserve(out, CACHE_IDS, err);
        if (status == LEAT_OK) {
            memcpy(out->ids + out->count, c->ids, sizeof c->ids);
            out->count += c->count;
        }
        return status;
    }
    before = out->count;
    status = encode_part(m, s, text, bytes, out, err);
    if (status == LEAT_OK && out->count > before && out->count - before <= CACHE_IDS) {
        memcpy(c->key, key, sizeof key);
        c->count = (uint32_t)(out->count - before);
        memcpy(c->ids, out->ids + before, c->count * sizeof *c->ids);
    }
    return status;
}

static bool is_known(const struct model *m, uint32_t c)
{
    return !m->known || (m->known[c / 64] >> c % 64 & 1);
}

/* Up to the last safe cut, or to the end if that is the piece's; *used is how far. */
static enum leat_status encode_cut(const struct model *m, struct model_scratch *s, const uint8_t *text, size_t bytes,
                                   bool last, struct id_list *out, size_t *used, struct leat_error *err)
{
    enum leat_status status = LEAT_OK;
    size_t begin = 0, length;
    uint32_t before = 0;

    for (size_t at = 0; status == LEAT_OK && at < bytes; at += length) {
        uint32_t c = unicode_decode(text + at, &length);

        if (at > begin && is_known(m, before) && is_known(m, c) && model_may_cut(m, before, c)) {
            status = encode_cached(m, s, text + begin, at - begin, out, err);
            begin = at;
        }
        before = c;
    }
    if (status == LEAT_OK && last && begin < bytes)
        status = encode_cached(m, s, text + begin, bytes - begin, out, err);
    *used = last ? bytes : begin;
    return status;
}

static enum leat_status encode_bytes(const struct model *m, const uint8_t *text, size_t bytes, struct id_list *out,
                                     struct leat_error *err)
{
    enum leat_status status = id_list_reserve(out, bytes, err);

    for (size_t i = 0; status == LEAT_OK && i < bytes; i++)
        out->ids[out->count++] = m->spec->tokens[m->bytes[text[i]]].id;
    return status;
}

enum leat_status model_encode(const struct model *m, struct model_scratch *s, const uint8_t *piece, size_t bytes,
                              struct id_list *out, struct leat_error *err)
{
    enum leat_status status;
    size_t used;

    if (m->apart)
        return encode_bytes(m, piece, bytes, out, err);
    if (!m->cuts)
        return encode_cached(m, s, piece, bytes, out, err);
    if (encode_whole(m, piece, bytes, out, &status, err))
        return status;
    return encode_cut(m, s, piece, bytes, true, out, &used, err);
}

enum leat_status model_encode_part(const struct model *m, struct model_scratch *s, const uint8_t *text, size_t bytes,
                                   bool begins, bool last, struct id_list *out, size_t *used, struct leat_error *err)
{
    *used = last ? bytes : 0;
    if (begins && last)
        return model_encode(m, s, text, bytes, out, err);
    if (m->apart) {
        *used = bytes;
        return encode_bytes(m, text, bytes, out, err);
    }
    /* the piece may yet turn out to be a token */
    if (!m->cuts || (begins && m->whole && bytes <= m->longest))
        return LEAT_OK;
    return encode_cut(m, s, text, bytes, last, out, used, err);
}
