/* unigram_internal.h: the members of a Unigram model, for the files that make it and encode with it. */
#ifndef LEAT_TOKENIZER_UNIGRAM_INTERNAL_H
#define LEAT_TOKENIZER_UNIGRAM_INTERNAL_H

#include "lookup_batch.h"
#include "token_trie.h"
#include "tokenizer/spec/model.h"
#include "tokenizer/unicode/byte_alphabet.h"
#include "unigram.h"

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

/* Encodes the text from `cut` on: to its end, or, if more follows (not `last`), as far as this is certain. */
enum leat_status unigram_walk(struct unigram_walk *w);

/* Notes that the text is done with up to `cut`, if it is not in a run of unknown characters. */
void unigram_walk_note(struct unigram_walk *w);

/* ---- unigram_pieces.c ---- */

/* Encodes a pretoken from 0, not by pieces. */
enum leat_status unigram_encode_whole(const struct unigram *m, struct unigram_scratch *s, const uint8_t *text,
                                      size_t bytes, struct id_list *out, struct leat_error *err);

/* The same by pieces: the same ids, many times faster. */
enum leat_status unigram_walk_pieces(struct unigram_walk *w);

/* How pieces are looked up: those whose ids are not the same wherever they stand are apart. */
struct lookup_way unigram_probing(const struct unigram *m, struct unigram_scratch *s);

/* Finds where texts may be cut, and whether going by pieces is exact. */
enum leat_status unigram_make_pieces(struct unigram *m, struct leat_error *err);

/* ---- unigram_groups.c ---- */

enum leat_status unigram_group_make(struct unigram_group **out, struct leat_error *err);

/* Encodes pretokens, as unigram_encode_batch() does, if going by pieces is exact and sums begin at 0 in each. */
enum leat_status unigram_encode_groups(const struct unigram *m, struct unigram_scratch *s, const uint8_t *text,
                                       size_t bytes, uint32_t begin, const uint32_t *ends, size_t count,
                                       struct id_list *out, struct leat_error *err);

#endif
