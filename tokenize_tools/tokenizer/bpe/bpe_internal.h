/*
 * bpe_internal.h: the structs of a model, and the functions that its files share: bpe.c (encoding a pretoken),
 * bpe_make.c (making a model: its list of merges, its tables), bpe_scores.c (sentencepiece), bpe_pretokens.c (many
 * pretokens at once). No other room includes it.
 *
 * A symbol is a place in spec->tokens or, from token_count on, a character that is no token itself but occurs in one
 * (sentencepiece merges those, too).
 */
#ifndef LEAT_TOKENIZER_BPE_INTERNAL_H
#define LEAT_TOKENIZER_BPE_INTERNAL_H

#include <stdbool.h>

#include "base/grow.h"
#include "base/utf8.h"
#include "bpe.h"
#include "char_cuts.h"
#include "class_cuts.h"
#include "live_merges.h"
#include "pretoken_batch.h"
#include "tokenizer/unicode/unicode.h"
#include "vocabulary_map.h"
#include "word_store.h"

#define NO_SYMBOL UINT32_MAX

/* The two symbols that a token is merged from; NO_SYMBOL if it is not taken apart. */
struct split {
    uint32_t left, right;
};

/* A token of sentencepiece that can be merged, in falling order of scores; equal scores share a rank. */
struct bpe_scored {
    float score;
    uint32_t place;
};

struct live_merges;
struct bpe;

/* The differences between kinds of byte-pair models. */
struct bpe_kind {
    bool apart;       /* true if nothing merges; every byte must be a token then */
    bool whole;       /* true if a pretoken that is a token is not merged */
    bool needs_bytes; /* true if a byte without a token is an error (tiktoken panics) */
    bool scored;      /* true for sentencepiece: symbols beyond tokens, unused tokens, scores that may be equal */
    enum leat_status (*prepare)(struct bpe *m, struct leat_error *err);    /* called before add_merges(); may be NULL */
    enum leat_status (*add_merges)(struct bpe *m, struct leat_error *err); /* calls bpe_add_merge(); may be NULL */
};

struct bpe {
    struct model model;
    const struct bpe_kind *kind;
    const struct tokenizer_spec *spec;
    struct vocabulary_map map;
    struct merge_table *merges;
    uint32_t bytes[256];    /* symbol of each byte, or NO_SYMBOL, if byte-level */
    uint32_t fallback[256]; /* symbol of each "<0xNN>" that characters without a token become, or NO_SYMBOL */
    uint32_t fallback_end;  /* the greatest fallback plus 1 */
    bool all_bytes;         /* true if every byte has a symbol */
    bool all_fall_back;     /* true if every byte that can need a fallback has one */
    bool affixes;           /* true if parts of words are written with a prefix or a suffix */
    struct byte_alphabet alphabet;
    bool whole;              /* true if a pretoken that is a token is not merged */
    bool has_orphans;        /* true if that makes a difference to some tokens */
    struct orphans *orphans; /* these tokens */
    bool cuts;               /* true if pretokens may be cut at safe places */
    bool apart;              /* true if nothing merges, because each byte is a token */
    uint32_t longest;        /* bytes of the longest token */
    bool cuts_by_bytes;      /* true if many safe places are found by the bytes around them */
    struct class_cuts classes;
    uint64_t *known;            /* bit set of characters with a symbol; NULL if other characters become bytes */
    uint32_t unknown;           /* symbol of the unknown token */
    struct split *splits;       /* parts of unused tokens, by place; NULL if there are none */
    struct merge_rules rules;   /* rules for the kernels; pairs is NULL if the kernels cannot do this model */
    uint32_t *first, *ids;      /* memory of rules */
    uint32_t *letters;          /* memory of rules */
    struct char_cuts char_cuts; /* safe places to cut pretokens */
    uint32_t *odd;              /* characters that are symbols but no tokens, ascending; symbol token_count + i */
    uint32_t odd_count;
    size_t odd_room;
    bool odd_parts; /* true if merges have parts that text does not spell: tokens of bytes, the unknown one */

    /* used while the model is made: */
    struct merge *list;
    size_t list_count, list_room;
    struct live_merges *live; /* NULL if all merges are kept */
    uint32_t *places;         /* places in spec->tokens by id, for SPEC_MERGES; NULL if ids are places */
    struct bpe_scored *order;
    uint32_t order_count;
};

struct bpe_scratch {
    void *memory; /* memory that the struct lies in */
    struct merge_scratch merge;
    struct bound *bound;
    uint32_t *symbols;
    size_t room; /* number of symbols that fit */
    struct word_cache words;
    const struct pretoken_kernels *kernels;
    const struct class_cuts_kernels *cutter;
    struct id_list fixed;   /* ids of parts that are tokens already */
    size_t fixed_used;      /* number of them that earlier batches have used */
    struct id_list *counts; /* gets the number of ids of each text, if fixed pretokens only end texts; else NULL */
    size_t text_begin;      /* index of the first id of the text that the last batch has not ended */
    struct id_list many;    /* ids of a batch that do not fit a word */
    uint32_t unknown_count;
    uint32_t unknown[BATCH_ROOM]; /* long pretokens of a batch that the store does not know */
    struct pretoken_batch batch;
};

static inline const struct bpe *bpe_of(const struct model *model)
{
    return (const struct bpe *)(const void *)model;
}

/* Returns the symbol of a token's bytes, or NO_SYMBOL. */
static inline uint32_t bpe_find_symbol(const struct bpe *m, const uint8_t *bytes, size_t count)
{
    uint32_t place = vocabulary_map_find(&m->map, bytes, count);

    return place == SPEC_NONE ? NO_SYMBOL : place;
}

/* Returns true if text can become this token of sentencepiece. */
static inline bool bpe_mergeable(const struct spec_token *t)
{
    return t->type == SPEC_NORMAL || t->type == SPEC_USER_DEFINED || t->type == SPEC_UNUSED;
}

/* Returns the length of a symbol's text in bytes. */
static inline uint32_t bpe_symbol_bytes(const struct bpe *m, uint32_t symbol)
{
    if (symbol < m->spec->token_count)
        return m->spec->tokens[symbol].length;
    return utf8_size(m->odd[symbol - m->spec->token_count]);
}

/* Returns true if the symbol is a token that characters without a token become. */
static inline bool bpe_is_fallback(const struct bpe *m, uint32_t symbol)
{
    if (symbol >= m->fallback_end || m->spec->tokens[symbol].length != 6)
        return false;
    for (unsigned b = 0; b < 256; b++)
        if (m->fallback[b] == symbol)
            return true;
    return false;
}

/* Adds a merge to the list, unless it can never happen. Ranks must rise. */
static inline enum leat_status bpe_add_merge(struct bpe *m, uint32_t left, uint32_t right, uint32_t result,
                                             uint32_t rank, struct leat_error *err)
{
    enum leat_status s;

    if (m->live && live_merges_offer(m->live, left, right, result, rank) == LIVE_DEAD)
        return LEAT_OK;
    s = GROW(m->list, m->list_count + 1, m->list_room, err);
    if (s == LEAT_OK)
        m->list[m->list_count++] = (struct merge) { left, right, result, rank };
    return s;
}

/* ---- bpe_part.c ---- */

/* Returns the most symbols that a part of this length can have before merging. */
size_t bpe_symbols_max(const struct bpe *m, size_t bytes);

/* Makes room in s->symbols for a part of this length. Their old contents are lost. */
enum leat_status bpe_symbols_reserve(const struct bpe *m, struct bpe_scratch *s, size_t bytes, struct leat_error *err);

/* Frees the symbols of a very long part. */
void bpe_symbols_trim(struct bpe_scratch *s);

/* Writes the symbols of a text before merging. */
typedef enum leat_status bpe_make_symbols(const struct bpe *m, uint32_t *symbols, const uint8_t *text, size_t bytes,
                                          size_t *count, struct leat_error *err);

/* Makes the symbols of a text, and merges them, in s->symbols. */
enum leat_status bpe_merge_text(const struct bpe *m, struct bpe_scratch *s, bpe_make_symbols *make, const uint8_t *text,
                                size_t bytes, size_t *count, struct leat_error *err);

enum leat_status bpe_append(const struct bpe *m, const uint32_t *symbols, size_t count, struct id_list *out,
                            struct leat_error *err);

/* Appends the ids of a part of a model without scores. */
enum leat_status bpe_symbols_encode(const struct bpe *m, struct bpe_scratch *s, const uint8_t *text, size_t bytes,
                                    struct id_list *out, struct leat_error *err);

/* ---- bpe_pretokens.c ---- */

/* The end of a part that is a token already: its id is the next of bpe_scratch.fixed. */
#define BPE_FIXED MODEL_FIXED

/* Appends the pretoken's own token, where pretokens are taken whole. Returns false if it has none. */
bool bpe_encode_token(const struct bpe *m, const uint8_t *pretoken, size_t bytes, struct id_list *out,
                      enum leat_status *status, struct leat_error *err);

/* Appends the ids of a part that is not cut, or of a whole pretoken if the model cuts none, without the cache. */
enum leat_status bpe_encode_whole(const struct bpe *m, struct bpe_scratch *s, const uint8_t *text, size_t bytes,
                                  struct id_list *out, struct leat_error *err);

/* Appends the ids of pretokens of a model that cuts none, or of parts of pretokens. */
enum leat_status bpe_encode_batches(const struct bpe *m, struct bpe_scratch *s, const struct model_pretokens *p,
                                    bool parts, struct id_list *out, struct leat_error *err);

/* ---- bpe_scores.c ---- */

/* Sorts the tokens by score into m->order, and lists the symbols that are not tokens in m->odd. */
enum leat_status bpe_scores_order(struct bpe *m, struct leat_error *err);

/* Returns true if all tokens have different scores. */
bool bpe_scores_differ(const struct bpe *m);
enum leat_status bpe_scores_merges(struct bpe *m, struct leat_error *err);

/* Sets m->splits: sentencepiece merges unused tokens like others, and takes them apart afterwards. */
enum leat_status bpe_scores_splits(struct bpe *m, struct leat_error *err);
enum leat_status bpe_scores_encode(const struct bpe *m, struct bpe_scratch *s, const uint8_t *text, size_t bytes,
                                   struct id_list *out, struct leat_error *err);

#endif
