/*
 * unigram.h: Unigram models: of all ways to write a text as tokens, the one whose scores have the greatest sum.
 *
 * The two references add differently, and leat follows both to the last bit, since sums that are nearly equal decide
 * which way is taken:
 *
 *   tokenizers      sums are doubles and begin at 0 in each pretoken. A run of unknown characters is looked up as one
 *                   text: it may be a token, or bytes if all of them have tokens, else it is one unknown token. An
 *                   error if an unknown character is met where the file names no unknown token
 *   sentencepiece   sums are floats over the whole text; one beyond 100000 on either side is subtracted from itself and
 *                   all that lie ahead of it. User-defined tokens of n bytes score (n - 1) / 10; unused ones do not
 *                   count. Unknown characters are bytes, or one unknown token for a run
 *
 * In both, an unknown character scores 10 less than the lowest token, and of equal sums that of the token that begins
 * first wins.
 *
 * A text is cut at each place that no token reaches across: all ways pass through it. What lies between two such places
 * is decided and written at once, so memory and delay are those of the longest stretch that cannot be cut.
 *
 * unigram.c reads and makes models, unigram_path.c takes the best way through a text as the references do, and
 * unigram_pieces.c does the same by pieces that a cache can hold, of which it looks up many at once.
 */
#ifndef LEAT_TOKENIZER_UNIGRAM_H
#define LEAT_TOKENIZER_UNIGRAM_H

#include <stdbool.h>

#include "lookup_batch.h"
#include "token_trie.h"
#include "tokenizer/spec/model.h"
#include "tokenizer/unicode/unicode.h"

/* Which bytes have tokens of their own to fall back to. */
enum unigram_fallback { FALLBACK_NONE, FALLBACK_SOME, FALLBACK_ALL };

struct unigram {
    struct model model;
    const struct tokenizer_spec *spec;
    struct token_trie trie; /* by place in spec->tokens, which is the id */
    double *scores;         /* by id, and that of `stand_in` */
    double unknown_score;
    uint32_t longest; /* bytes of the longest token */
    bool narrow;      /* sums are floats, over the whole text, and runs of unknown characters are not looked up */
    enum unigram_fallback fallback;
    uint32_t bytes[256]; /* ids to fall back to, or SPEC_NONE */
    struct byte_alphabet alphabet;

    /* By pieces, if scores are so small that this is exact: */
    bool by_pieces;
    double highest;    /* of all scores and the unknown one, without their signs */
    float *floats;     /* the scores, and that of `stand_in`, if `narrow` */
    uint32_t stand_in; /* an id that stands for an unknown character in a piece; TOKEN_NONE: such pieces are apart */
    struct class_cuts classes;
    struct char_cuts char_cuts;
};

static inline const struct unigram *unigram_of(const struct model *model)
{
    return (const struct unigram *)(const void *)model;
}

/* A place in a stretch of text, and the best way to it. */
struct unigram_node {
    double score;
    uint32_t token; /* the last token of the way, or TOKEN_NONE for an unknown character */
    uint32_t start; /* where it begins in the stretch; NOT_REACHED: no token ends here */
};
#define NOT_REACHED UINT32_MAX

struct unigram_scratch {
    struct bound *bound;
    struct unigram_node *nodes;
    size_t room;
    double sum;   /* of the pretoken so far */
    bool written; /* what stands for the run of unknown characters that the pretoken may be in has been written */
    struct lookup_batch *batch;
    struct unigram_search *search;
    struct unigram_group *group; /* if sums begin at 0 in each pretoken */
};

/* A text, or a chunk of it, on its way. */
struct unigram_walk {
    const struct unigram *m;
    struct unigram_scratch *s;
    const uint8_t *text;
    size_t bytes;
    bool last;
    struct id_list *out;
    struct leat_error *err;

    size_t cut;                /* where all ways met last; nodes count from there */
    size_t run_begin, run_end; /* unknown characters that have not been written yet */

    size_t safe, safe_count; /* the last cut without such; the ids that had been written there */
    double safe_sum;
    bool safe_written;
};

/* Sums of sentencepiece do not go further from 0 than this. */
#define UNIGRAM_SUM_MAX 100000.0f

/* ---- unigram_path.c ---- */

/* Functions of struct model_kind. */
enum leat_status unigram_encode(const struct model *model, void *scratch, const uint8_t *text, size_t bytes,
                                struct id_list *out, struct leat_error *err);
enum leat_status unigram_encode_batch(const struct model *model, void *scratch, const struct model_pretokens *p,
                                      struct id_list *out, struct leat_error *err);
enum leat_status unigram_encode_chunk(const struct model *model, void *scratch, const struct model_chunk *c,
                                      struct id_list *out, size_t *used, struct leat_error *err);

/* Encodes a pretoken from 0, not by pieces. */
enum leat_status unigram_encode_whole(const struct unigram *m, struct unigram_scratch *s, const uint8_t *text,
                                      size_t bytes, struct id_list *out, struct leat_error *err);

/* Encodes the text from `cut` on: to its end, or, if more follows (not `last`), as far as this is certain. */
enum leat_status unigram_walk(struct unigram_walk *w);

/* Notes that the text is done with up to `cut`, if it is not in a run of unknown characters. */
void unigram_walk_note(struct unigram_walk *w);

/* ---- unigram_pieces.c ---- */

/* As unigram_walk(), by pieces: the same ids, many times faster. */
enum leat_status unigram_walk_pieces(struct unigram_walk *w);

/* Finds where texts may be cut, and whether going by pieces is exact. */
enum leat_status unigram_make_pieces(struct unigram *m, struct leat_error *err);

enum leat_status unigram_group_make(struct unigram_group **out, struct leat_error *err);

/* Encodes pretokens, as unigram_encode_batch() does, if going by pieces is exact and sums begin at 0 in each. */
enum leat_status unigram_encode_groups(const struct unigram *m, struct unigram_scratch *s,
                                       const struct model_pretokens *p, struct id_list *out, struct leat_error *err);

/* A thread's memory for searches. */
struct unigram_search;
enum leat_status unigram_search_make(struct unigram_search **out, struct leat_error *err);

#endif
