/* span_mask.h: turns stretches of a text, and the places of its tokens, into a byte per token. */
#ifndef LEAT_TOKENIZE_TOOLS_SPAN_MASK_H
#define LEAT_TOKENIZE_TOOLS_SPAN_MASK_H

#include "leat_pack.h"

/* Sets mask[i] to 255 if a byte of token i, which ends at ends[i], is in one of the spans, which are in order; else
 * to 0. */
void span_mask(const uint64_t *ends, uint64_t count, const struct leat_span *spans, uint64_t span_count, uint8_t *mask);

/* Checks that spans are in order, do not overlap, and end within the text; they may be empty. Returns
 * LEAT_E_ARGUMENT, with the first span that does not fit. */
enum leat_status span_check(const struct leat_span *spans, uint64_t span_count, uint64_t bytes, struct leat_error *err);

#endif
