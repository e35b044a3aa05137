/*
 * unigram_short.h: the best ways through short texts with a Unigram model, each from a sum of 0, in doubles. Many
 * together take half the time. Only for models whose scores are not too large (unigram->by_pieces).
 */
#ifndef LEAT_TOKENIZER_UNIGRAM_SHORT_H
#define LEAT_TOKENIZER_UNIGRAM_SHORT_H

#include "unigram_internal.h"

/* A thread's memory. */
struct unigram_search;
enum leat_status unigram_search_make(struct unigram_search **out, struct leat_error *err);

/*
 * For lookup_batch.h. `known` of a piece says that no unknown character is on its best way for which nothing can stand
 * (`stand_in`), and that this way is the best whatever the sum before it, by more than the reference's additions can
 * lose.
 */
void unigram_search_run(const struct unigram *m, struct unigram_search *s, struct lookup_piece *pieces, unsigned count);

#endif
