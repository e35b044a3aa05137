/* token_order.h: the tokens of a spec in the order of their texts: a trie is made several times faster in that order
 * than in any other (trie.h). */
#ifndef LEAT_TOKENIZER_TOKEN_ORDER_H
#define LEAT_TOKENIZER_TOKEN_ORDER_H

#include <stdbool.h>

#include "tokenizer/spec/spec.h"

/* Whether a token is wanted. */
typedef bool token_order_wanted(const struct spec_token *t);

/*
 * The places in spec->tokens of those that are wanted, by their bytes; of equal texts the last comes first if
 * `last_first`, else the first. The list is the caller's, to be freed.
 */
enum leat_status token_order_make(uint32_t **order, uint32_t *count, const struct tokenizer_spec *spec,
                                  token_order_wanted *wanted, bool last_first, struct leat_error *err);

#endif
