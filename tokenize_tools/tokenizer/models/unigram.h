/*
 * unigram.h: Unigram models: they write a text as the tokens whose scores have the greatest sum.
 *
 * The two references add differently, and leat follows both to the last bit, since nearly equal sums decide between two
 * ways:
 *
 *   tokenizers      sums are doubles and begin at 0 in each pretoken. A run of unknown characters is looked up as one
 *                   text: it becomes a token, or bytes if all of them have tokens, else one unknown token. It is an
 *                   error if the file names no unknown token
 *   sentencepiece   sums are floats over the whole text; one beyond 100000 on either side is subtracted from itself and
 *                   all that lie ahead of it. User-defined tokens of n bytes score (n - 1) / 10; unused ones do not
 *                   count. Unknown characters are bytes, or one unknown token for a run
 *
 * In both, an unknown character scores 10 less than the lowest token; if sums are equal, the token that begins first
 * wins.
 *
 * A text is cut at each place that no token reaches across, since all ways pass through it. The stretch between two
 * such places is encoded at once, so memory and delay depend on the longest stretch.
 *
 * unigram.c reads and makes models, unigram_path.c finds the best way through a text as the references do, and
 * unigram_pieces.c finds it by pieces that a cache can hold, of which it looks up many at once.
 */
#ifndef LEAT_TOKENIZER_UNIGRAM_H
#define LEAT_TOKENIZER_UNIGRAM_H

#include <stdbool.h>

#include "lookup_batch.h"
#include "token_trie.h"
#include "tokenizer/spec/model.h"
#include "tokenizer/unicode/unicode.h"

/* The bytes that have tokens of their own, for characters without a token. */
enum unigram_fallback { FALLBACK_NONE, FALLBACK_SOME, FALLBACK_ALL };

struct unigram {
    struct model model;
    const struct tokenizer_spec *spec;
    struct token_trie trie; /* trie of the tokens; its numbers are places in spec->tokens, which are ids */
    double *scores;         /* scores by id, and the score of `stand_in` */
    double unknown_score;
    uint32_t longest; /* bytes of the longest token */
    bool narrow;      /* true for sentencepiece: sums are floats over the whole text, unknown runs are not looked up */
    enum unigram_fallback fallback;
    uint32_t bytes[256]; /* ids of the tokens of bytes, or SPEC_NONE */
    struct byte_alphabet alphabet;

    bool by_pieces;    /* true if scores are so small that encoding by pieces is exact */
    double highest;    /* greatest absolute value of all scores, the unknown one included */
    float *floats;     /* scores as floats, and the score of `stand_in`, if `narrow` */
    uint32_t stand_in; /* id of an unknown character in a piece; TOKEN_NONE if such pieces are apart */
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
    uint32_t token; /* last token of the way, or TOKEN_NONE for an unknown character */
    uint32_t start; /* start of that token in the stretch; NOT_REACHED if no token ends here */
};
#define NOT_REACHED UINT32_MAX

struct unigram_scratch {
    struct bound *bound;
    struct unigram_node *nodes;
    size_t room;
    double sum;   /* sum of the scores in the pretoken so far */
    bool written; /* true if the present run of unknown characters, which may go on, has been written */
    struct lookup_batch *batch;
    struct unigram_search *search;
    struct unigram_group *group; /* group of pretokens; NULL unless sums begin at 0 in each pretoken */
};

/* The state of encoding a text, or a chunk of it. */
struct unigram_walk {
    const struct unigram *m;
    struct unigram_scratch *s;
    const uint8_t *text;
    size_t bytes;
    bool last;
    struct id_list *out;
    struct leat_error *err;

    size_t cut;                /* last place at which all ways met; nodes count from there */
    size_t run_begin, run_end; /* beginning and end of unknown characters that have not been written yet */

    size_t safe;       /* last cut outside a run of unknown characters */
    size_t safe_count; /* number of ids that had been written at that cut */
    double safe_sum;
    bool safe_written;
};

/* Greatest absolute value of sums of sentencepiece. */
#define UNIGRAM_SUM_MAX 100000.0f

/* ---- unigram_path.c ---- */

/* Encodes a pretoken whose sum begins at 0, not by pieces. */
enum leat_status unigram_encode_whole(const struct unigram *m, struct unigram_scratch *s, const uint8_t *text,
                                      size_t bytes, struct id_list *out, struct leat_error *err);

/* Encodes the text from `cut` on: with `last` to its end, otherwise as far as later text cannot change it. */
enum leat_status unigram_walk(struct unigram_walk *w);

/* Notes that the text is encoded up to `cut`, unless that is in a run of unknown characters. */
void unigram_walk_note(struct unigram_walk *w);

/* Writes the run of unknown characters that the text ends in. */
enum leat_status unigram_end_run(struct unigram_walk *w);

/* Frees the nodes of a very long text. */
void unigram_trim(struct unigram_scratch *s);

/* ---- unigram_pieces.c ---- */

/* Functions of struct model_kind. */
enum leat_status unigram_encode(const struct model *model, void *scratch, const uint8_t *text, size_t bytes,
                                struct id_list *out, struct leat_error *err);
enum leat_status unigram_encode_batch(const struct model *model, void *scratch, const struct model_pretokens *p,
                                      struct id_list *out, struct leat_error *err);
enum leat_status unigram_encode_chunk(const struct model *model, void *scratch, const struct model_chunk *c,
                                      struct id_list *out, size_t *used, struct leat_error *err);

/* Finds the places at which texts may be cut, and sets m->by_pieces if encoding by pieces is exact. */
enum leat_status unigram_make_pieces(struct unigram *m, struct leat_error *err);

enum leat_status unigram_group_make(struct unigram_group **out, struct leat_error *err);

/* A thread's memory for searches. */
struct unigram_search;
enum leat_status unigram_search_make(struct unigram_search **out, struct leat_error *err);

#endif
