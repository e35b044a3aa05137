/*
 * bpe_internal.h: what a model consists of, and what the files that make it share: bpe.c (encoding a pretoken),
 * bpe_make.c (making a model: its list of merges, its tables), bpe_scores.c (sentencepiece), bpe_pretokens.c (many
 * pretokens at once). No other room includes it.
 *
 * Symbols are places in spec->tokens and, from token_count on, characters that are no token themselves but occur in one
 * (sentencepiece merges those too).
 */
#ifndef LEAT_TOKENIZER_BPE_INTERNAL_H
#define LEAT_TOKENIZER_BPE_INTERNAL_H

#include <stdbool.h>

#include "base/utf8.h"
#include "bpe.h"
#include "char_cuts.h"
#include "class_cuts.h"
#include "pretoken_batch.h"
#include "tokenizer/unicode/unicode.h"
#include "vocabulary_map.h"
#include "word_store.h"

#define NO_SYMBOL UINT32_MAX

/* The two symbols that a token is merged from; NO_SYMBOL if it stays as it is. */
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

/* What the kinds of byte-pair models differ in. */
struct bpe_kind {
    bool apart;       /* nothing merges, if every byte is a token */
    bool whole;       /* a pretoken that is a token is taken as it stands */
    bool needs_bytes; /* a byte without a token is an error (tiktoken panics) */
    bool scored;      /* sentencepiece: symbols beyond tokens, unused tokens, scores that may be equal */
    enum leat_status (*prepare)(struct bpe *m, struct leat_error *err);    /* before add_merges(); NULL: nothing */
    enum leat_status (*add_merges)(struct bpe *m, struct leat_error *err); /* bpe_add_merge() each; NULL: none */
};

struct bpe {
    struct model model;
    const struct bpe_kind *kind;
    const struct tokenizer_spec *spec;
    struct vocabulary_map map;
    struct merge_table *merges;
    uint32_t bytes[256];    /* byte-level: the symbol of each byte, or NO_SYMBOL */
    uint32_t fallback[256]; /* of "<0xNN>", if characters without a token fall back to them; NO_SYMBOL */
    uint32_t fallback_end;  /* all of these lie before */
    bool all_bytes;         /* every byte has a symbol */
    bool all_fall_back;     /* every byte that can need one has a fallback */
    bool affixes;           /* parts of words are written with a prefix or a suffix */
    struct byte_alphabet alphabet;
    bool whole;       /* a pretoken that is a token is taken as it stands */
    bool has_orphans; /* and that matters: */
    struct orphans *orphans;
    bool cuts;          /* safe cuts may be made */
    bool apart;         /* nothing merges: each byte is a token */
    uint32_t longest;   /* bytes of the longest token */
    bool cuts_by_bytes; /* and many of them found by the bytes around them: */
    struct class_cuts classes;
    uint64_t *known;            /* bits: characters with a symbol; NULL: what has none becomes bytes, never unknown */
    uint32_t unknown;           /* symbol */
    struct split *splits;       /* by place: what unused tokens become again; NULL if there are none */
    struct merge_rules rules;   /* for the kernels; pairs NULL: not for this model */
    uint32_t *first, *ids;      /* of rules */
    uint32_t *letters;          /* the same */
    struct char_cuts char_cuts; /* where pretokens are cut */
    uint32_t *odd;              /* characters that are symbols but no tokens, ascending; symbol token_count + i */
    uint32_t odd_count;
    size_t odd_room;
    bool odd_parts;     /* merges have parts that text does not spell: tokens of bytes, the unknown one */
    struct merge *list; /* while being made, as are the following */
    size_t list_count, list_room;
    struct live_merges *live; /* NULL: all merges are kept */
    uint32_t *places;         /* in spec->tokens by id, for SPEC_MERGES; NULL: ids are places */
    struct bpe_scored *order;
    uint32_t order_count;
};

struct bpe_scratch {
    void *memory; /* in which it lies */
    struct merge_scratch merge;
    struct bound *bound;
    uint32_t *symbols;
    size_t room; /* of symbols */
    struct word_cache words;
    const struct pretoken_kernels *kernels;
    const struct class_cuts_kernels *cutter;
    struct id_list fixed;   /* ids of parts that are tokens already */
    size_t fixed_used;      /* by the batches before */
    struct id_list *counts; /* where fixed pretokens only end texts: how many ids each has; else NULL */
    size_t text_begin;      /* where the ids of the text begin that the last batch has not ended */
    struct id_list many;    /* ids of a batch that do not fit a word */
    uint32_t unknown_count; /* long pretokens of a batch that the store does not know: */
    uint32_t unknown[BATCH_ROOM];
    struct pretoken_batch batch;
};

static inline const struct bpe *bpe_of(const struct model *model)
{
    return (const struct bpe *)(const void *)model;
}

/* The symbol of a token's bytes. */
static inline uint32_t bpe_find_symbol(const struct bpe *m, const uint8_t *bytes, size_t count)
{
    uint32_t place = vocabulary_map_find(&m->map, bytes, count);

    return place == SPEC_NONE ? NO_SYMBOL : place;
}

/* Tokens of sentencepiece that text can become; all tokens of other models can. */
static inline bool bpe_mergeable(const struct spec_token *t)
{
    return t->type == SPEC_NORMAL || t->type == SPEC_USER_DEFINED || t->type == SPEC_UNUSED;
}

/* How long a symbol's text is. */
static inline uint32_t bpe_symbol_bytes(const struct bpe *m, uint32_t symbol)
{
    if (symbol < m->spec->token_count)
        return m->spec->tokens[symbol].length;
    return utf8_size(m->odd[symbol - m->spec->token_count]);
}

/* A token that a character without one falls back to. */
static inline bool bpe_is_fallback(const struct bpe *m, uint32_t symbol)
{
    if (symbol >= m->fallback_end || m->spec->tokens[symbol].length != 6)
        return false;
    for (unsigned b = 0; b < 256; b++)
        if (m->fallback[b] == symbol)
            return true;
    return false;
}

/* ---- bpe_make.c ---- */

/* A merge for the list; left out if it can never happen. By rising rank. */
enum leat_status bpe_add_merge(struct bpe *m, uint32_t left, uint32_t right, uint32_t result, uint32_t rank,
                               struct leat_error *err);

/* ---- bpe.c ---- */

/* How many symbols a part can begin with. */
size_t bpe_symbols_max(const struct bpe *m, size_t bytes);

/* Appends the ids of a part that is not cut, or of a whole pretoken if the model cuts none, without the cache. */
enum leat_status bpe_encode_whole(const struct bpe *m, struct bpe_scratch *s, const uint8_t *text, size_t bytes,
                                  struct id_list *out, struct leat_error *err);

/* The same without looking whether it is a token as it stands. */
enum leat_status bpe_encode_merges(const struct bpe *m, struct bpe_scratch *s, const uint8_t *text, size_t bytes,
                                   struct id_list *out, struct leat_error *err);

/* Writes the symbols that a text begins with. */
typedef enum leat_status bpe_make_symbols(const struct bpe *m, uint32_t *symbols, const uint8_t *text, size_t bytes,
                                          size_t *count, struct leat_error *err);

/* The symbols of a text, merged; they lie in s->symbols. */
enum leat_status bpe_merge_text(const struct bpe *m, struct bpe_scratch *s, bpe_make_symbols *make, const uint8_t *text,
                                size_t bytes, size_t *count, struct leat_error *err);

enum leat_status bpe_append(const struct bpe *m, const uint32_t *symbols, size_t count, struct id_list *out,
                            struct leat_error *err);

/* ---- bpe_pretokens.c ---- */

/* The end of a part that is a token already: its id is the next of bpe_scratch.fixed. */
#define BPE_FIXED MODEL_FIXED

/* Like bpe_encode_pretokens(), for parts of pretokens. */
enum leat_status bpe_encode_parts(const struct bpe *m, struct bpe_scratch *s, const struct model_pretokens *p,
                                  struct id_list *out, struct leat_error *err);

/* ---- bpe_scores.c ---- */

/* The tokens in their order, and the symbols that are not tokens: m->order, m->odd. */
enum leat_status bpe_scores_order(struct bpe *m, struct leat_error *err);

/* Whether no two tokens have the same score. */
bool bpe_scores_differ(const struct bpe *m);
enum leat_status bpe_scores_merges(struct bpe *m, struct leat_error *err);

/* sentencepiece merges unused tokens as it does others, and takes them apart afterwards. */
enum leat_status bpe_scores_splits(struct bpe *m, struct leat_error *err);
enum leat_status bpe_scores_encode(const struct bpe *m, struct bpe_scratch *s, const uint8_t *text, size_t bytes,
                                   struct id_list *out, struct leat_error *err);

#endif
