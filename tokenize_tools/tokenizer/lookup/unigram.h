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
 */
#ifndef LEAT_TOKENIZER_UNIGRAM_H
#define LEAT_TOKENIZER_UNIGRAM_H

#include <stdbool.h>

#include "base/bound.h"
#include "tokenizer/containers/id_list.h"
#include "tokenizer/spec/spec.h"

struct unigram;
struct unigram_scratch;

/* What a tokenizer.json has of it (spec->model_data). A sentencepiece model has its scores in spec->scores. */
struct unigram_data {
    const double *scores; /* one a token */
};

/* The spec outlives it. */
enum leat_status unigram_make(struct unigram **out, const struct tokenizer_spec *spec, struct leat_error *err);
void unigram_free(struct unigram *m);

enum leat_status unigram_scratch_make(struct unigram_scratch **out, struct bound *bound, size_t cache_bytes,
                                      struct leat_error *err);
void unigram_scratch_free(struct unigram_scratch *s);

/* As in spec/model.h. */
enum leat_status unigram_encode(const struct unigram *m, struct unigram_scratch *s, const uint8_t *text, size_t bytes,
                                struct id_list *out, struct leat_error *err);
enum leat_status unigram_encode_batch(const struct unigram *m, struct unigram_scratch *s, const uint8_t *text,
                                      size_t bytes, uint32_t begin, const uint32_t *ends, size_t count,
                                      struct id_list *out, struct leat_error *err);
enum leat_status unigram_encode_chunk(const struct unigram *m, struct unigram_scratch *s, const uint8_t *text,
                                      size_t bytes, bool begins, bool last, struct id_list *out, size_t *used,
                                      struct leat_error *err);

#endif
