/*
 * model_parts.h: what a model is made of, and what the files that make it one share: model.c (the whole, and pieces by
 * way of the cache), model_make.c (its tables), model_merges.c (the list of its merges), model_symbols.c (the symbols
 * that a text begins with), model_orphans.c (tokens that no merge makes), model_scores.c (sentencepiece), model_cuts.c
 * (pieces that are cut further), model_pieces.c (many pieces at once). Nobody else looks in here.
 *
 * Symbols are places in spec->tokens, then, from token_count on, characters that are no token of their own but part of
 * one (sentencepiece merges those too).
 */
#ifndef LEAT_TOKENIZER_MODEL_PARTS_H
#define LEAT_TOKENIZER_MODEL_PARTS_H

#include <stdbool.h>

#include "base/utf8.h"
#include "byte_cuts.h"
#include "cut_classes.h"
#include "merge_lanes.h"
#include "model.h"
#include "orphans.h"
#include "piece_batch.h"
#include "tokenizer/unicode/byte_alphabet.h"
#include "vocabulary_map.h"

#define NO_SYMBOL UINT32_MAX

/* The two symbols that a piece is merged from; NO_SYMBOL if it stays as it is. */
struct split {
    uint32_t left, right;
};

/* A piece of sentencepiece that can be merged, in falling order of scores; equal scores share a rank. */
struct model_scored {
    float score;
    uint32_t place;
};

struct live_merges;

struct model {
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
    bool whole;       /* a piece that is a token is taken as it stands */
    bool has_orphans; /* and that matters: */
    struct orphans *orphans;
    bool cuts;          /* safe cuts may be made */
    bool apart;         /* nothing merges: each byte is a token */
    uint32_t longest;   /* bytes of the longest token */
    bool cuts_by_bytes; /* and many of them found by the bytes around them: */
    struct cut_classes classes;
    uint64_t *known;            /* bits: characters with a symbol; NULL: what has none becomes bytes, never unknown */
    uint32_t unknown;           /* symbol */
    struct split *splits;       /* by place: of unused pieces, what they become again; NULL if there are none */
    struct merge_rules rules;   /* for the kernels; pairs NULL: not for this model */
    uint32_t *first, *ids;      /* of rules */
    uint32_t *letters;          /* the same */
    struct byte_cuts byte_cuts; /* where pieces are cut */
    uint32_t *odd;              /* characters that are symbols but no tokens, ascending; symbol token_count + i */
    uint32_t odd_count, odd_room;
    bool odd_parts;     /* merges have parts that text does not spell: tokens of bytes, the unknown one */
    struct merge *list; /* while being made, as is `live` */
    size_t list_count, list_room;
    struct live_merges *live; /* NULL: all merges are kept */
    struct model_scored *order;
    uint32_t order_count;
};

struct model_scratch {
    void *memory; /* in which it lies */
    struct merge_scratch merge;
    struct bound *bound;
    uint32_t *symbols;
    size_t room; /* of symbols */
    struct piece_cache cache;
    size_t cache_bytes, seen_bytes; /* how large the cache may be; text since it was made */
    const struct piece_kernels *kernels;
    const struct cut_kernels *cutter;
    struct id_list fixed; /* ids of parts that are tokens already */
    size_t fixed_used;    /* by the batches before */
    struct id_list many;  /* ids of a batch that do not fit a word */
    struct piece_batch batch;
};

/* The symbol of a token's bytes. */
static inline uint32_t model_find_symbol(const struct model *m, const uint8_t *bytes, size_t count)
{
    uint32_t place = vocabulary_map_find(&m->map, bytes, count);

    return place == SPEC_NONE ? NO_SYMBOL : place;
}

/* Pieces of sentencepiece that text can become; all tokens of other models can. */
static inline bool model_mergeable(const struct spec_token *t)
{
    return t->type == SPEC_NORMAL || t->type == SPEC_USER_DEFINED || t->type == SPEC_UNUSED;
}

/* How long a symbol's text is. */
static inline uint32_t model_symbol_bytes(const struct model *m, uint32_t symbol)
{
    if (symbol < m->spec->token_count)
        return m->spec->tokens[symbol].length;
    return utf8_size(m->odd[symbol - m->spec->token_count]);
}

/* A token that a character without one falls back to. */
static inline bool model_is_fallback(const struct model *m, uint32_t symbol)
{
    if (symbol >= m->fallback_end || m->spec->tokens[symbol].length != 6)
        return false;
    for (unsigned b = 0; b < 256; b++)
        if (m->fallback[b] == symbol)
            return true;
    return false;
}

/* ---- model_merges.c ---- */

/* m->list, by rising rank. */
enum leat_status model_make_list(struct model *m, struct leat_error *err);
void model_free_making(struct model *m);

/* A merge for the list; left out if it can never happen. By rising rank. */
enum leat_status model_add_merge(struct model *m, uint32_t left, uint32_t right, uint32_t result, uint32_t rank,
                                 struct leat_error *err);

/* ---- model_orphans.c ---- */

/* After the list, before what making it has found out goes. */
enum leat_status model_find_orphans(struct model *m, struct leat_error *err);
void model_free_orphans(struct model *m);

/* ---- model.c ---- */

/* The ids of a part that nothing cuts: of the piece, where pieces are not cut. Not by way of the cache. */
enum leat_status model_encode_whole(const struct model *m, struct model_scratch *s, const uint8_t *text, size_t bytes,
                                    struct id_list *out, struct leat_error *err);

/* The same without a look whether it is a token as it stands. */
enum leat_status model_encode_merges(const struct model *m, struct model_scratch *s, const uint8_t *text, size_t bytes,
                                     struct id_list *out, struct leat_error *err);

/* Puts down the symbols that a text begins with. */
typedef enum leat_status model_make_symbols(const struct model *m, uint32_t *symbols, const uint8_t *text, size_t bytes,
                                            size_t *count, struct leat_error *err);

/* The symbols of a text, merged; they lie in s->symbols. */
enum leat_status model_merge_text(const struct model *m, struct model_scratch *s, model_make_symbols *make,
                                  const uint8_t *text, size_t bytes, size_t *count, struct leat_error *err);

enum leat_status model_append(const struct model *m, const uint32_t *symbols, size_t count, struct id_list *out,
                              struct leat_error *err);

/* A part by way of the cache. */
enum leat_status model_encode_cached(const struct model *m, struct model_scratch *s, const uint8_t *text, size_t bytes,
                                     struct id_list *out, struct leat_error *err);

/* ---- model_cuts.c ---- */

/* A piece up to the last safe cut, or to the end if that is the piece's; *used is how far. */
enum leat_status model_encode_cut(const struct model *m, struct model_scratch *s, const uint8_t *text, size_t bytes,
                                  bool last, struct id_list *out, size_t *used, struct leat_error *err);

/* ---- model_pieces.c ---- */

/* The end of a part that is a token already: its id is the next of model_scratch.fixed. */
#define MODEL_FIXED BATCH_FIXED

/* As model_encode_pieces(), of parts that are no pieces of their own. */
enum leat_status model_encode_parts(const struct model *m, struct model_scratch *s, const uint8_t *text, size_t bytes,
                                    uint32_t begin, const uint32_t *ends, size_t count, struct id_list *out,
                                    struct leat_error *err);

/* ---- model_symbols.c ---- */

/* One symbol a byte of byte-level text, or a character of other text. With affixes the part is a whole piece: it is
 * not cut then. */
enum leat_status model_symbols_of_text(const struct model *m, uint32_t *symbols, const uint8_t *text, size_t bytes,
                                       size_t *count, struct leat_error *err);

/* How many symbols a part can begin with. */
size_t model_symbols_most(const struct model *m, size_t bytes);

/* The vocabulary lacks the unknown token that the text needs. */
enum leat_status model_no_unknown(const struct model *m, struct leat_error *err);

/* ---- model_scores.c ---- */

/* The pieces in their order, and the symbols that are no pieces: m->order, m->odd. */
enum leat_status model_scores_order(struct model *m, struct leat_error *err);

/* Whether no two pieces have the same score. */
bool model_scores_differ(const struct model *m);
enum leat_status model_scores_merges(struct model *m, struct leat_error *err);

/* sentencepiece merges unused pieces as it does others, and then takes them apart again. */
enum leat_status model_scores_splits(struct model *m, struct leat_error *err);
enum leat_status model_scores_encode(const struct model *m, struct model_scratch *s, const uint8_t *text, size_t bytes,
                                     struct id_list *out, struct leat_error *err);

#endif
