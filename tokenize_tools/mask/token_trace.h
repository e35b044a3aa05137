/*
 * token_trace.h: which bytes of a text each of its tokens stands for. It compares the tokens' own texts with the text,
 * so that it needs nothing from the encoder; what it returns is certain, and where nothing is certain it refuses.
 *
 * The room mask/ says which tokens training learns to predict, from stretches of texts. How a corpus states such
 * stretches, and where masks are kept, is not known here.
 */
#ifndef LEAT_TOKENIZE_TOOLS_TOKEN_TRACE_H
#define LEAT_TOKENIZE_TOOLS_TOKEN_TRACE_H

#include "leat_pack.h"

/*
 * Sets ends[i] to the end of token i in the text, which begins at the end of the token before. `ids` are those of the
 * whole text. White space that an added token swallows belongs to it, or to the token after it; the space that a
 * vocabulary of sentencepiece puts before a text has no bytes. LEAT_E_TEXT: the tokens do not spell the text, because
 * the tokenizer normalizes it, or knows a character of it not.
 */
enum leat_status token_trace(const struct leat_tokenizer *t, const char *text, uint64_t bytes, const uint32_t *ids,
                             uint64_t count, uint64_t *ends, struct leat_error *err);

#endif
