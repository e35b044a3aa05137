/*
 * token_trace.h: which bytes of a text each of its tokens stands for. It compares the tokens' own texts with the text,
 * so that it needs nothing from the encoder; what it returns is certain, and where nothing is certain it refuses.
 *
 * The room mask/ says which tokens training learns to predict, from stretches of texts. How a corpus states such
 * stretches, and where masks are kept, is not known here.
 */
#ifndef LEAT_TOKENIZE_TOOLS_TOKEN_TRACE_H
#define LEAT_TOKENIZE_TOOLS_TOKEN_TRACE_H

#include <stdbool.h>

#include "leat_pack.h"

/* The texts of a tokenizer's tokens, by their ids: a corpus asks for that of each of its tokens. The texts are the
 * tokenizer's. All zero at first; constant once made; token_texts_free() also after a failure. */
struct token_text {
    uint64_t head;    /* its first 8 bytes, as bytes_load64() gives them; of a shorter one with zeros after it */
    const char *text; /* NULL: no token has this id */
    uint32_t bytes;
    bool bytewise, added; /* as in struct leat_token */
    bool plain;           /* it stands for its bytes, and for nothing else */
};

struct token_texts {
    struct token_text *items;
    uint64_t count;
};

enum leat_status token_texts_make(struct token_texts *t, const struct leat_tokenizer *tokenizer,
                                  struct leat_error *err);
void token_texts_free(struct token_texts *t);

/*
 * Sets ends[i] to the end of token i in the text, which begins at the end of the token before. `ids` are those of the
 * whole text. White space that an added token swallows belongs to it, or to the token after it; the space that a
 * vocabulary of sentencepiece puts before a text has no bytes. LEAT_E_TEXT: the tokens do not spell the text, because
 * the tokenizer normalizes it, or knows a character of it not.
 */
enum leat_status token_trace(const struct token_texts *t, const char *text, uint64_t bytes, const uint32_t *ids,
                             uint64_t count, uint64_t *ends, struct leat_error *err);

#endif
