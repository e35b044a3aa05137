/*
 * token_trace.h: finds which bytes of a text each of its tokens stands for. It compares the tokens' own texts with
 * the text, so that it needs nothing from the encoder. What it returns is certain; where nothing is certain it
 * refuses.
 *
 * The room mask/ says which tokens training learns to predict, from stretches of texts. How a corpus states such
 * stretches, and where masks are kept, is not known here.
 */
#ifndef LEAT_TOKENIZE_TOOLS_TOKEN_TRACE_H
#define LEAT_TOKENIZE_TOOLS_TOKEN_TRACE_H

#include <stdbool.h>

#include "leat_pack.h"

/*
 * The texts of a tokenizer's tokens, by their ids, so that each token of a corpus can be looked up fast. The
 * tokenizer owns the texts. All members are zero at first, and constant once made; token_texts_free() must follow,
 * on failure too.
 */
struct token_text {
    uint64_t head;    /* its first 8 bytes, as bytes_load64() gives them; zeros follow a shorter text */
    const char *text; /* NULL if no token has this id */
    uint32_t bytes;
    bool bytewise, added; /* members of struct leat_token */
    bool plain;           /* true if it stands for its bytes, and for nothing else */
};

struct token_texts {
    struct token_text *items;
    uint64_t count;
};

enum leat_status token_texts_make(struct token_texts *t, const struct leat_tokenizer *tokenizer,
                                  struct leat_error *err);
void token_texts_free(struct token_texts *t);

/*
 * Sets ends[i] to the end of token i in the text, which begins at the end of the token before. `ids` are those of
 * the whole text. White space that an added token swallows belongs to it, or to the token after it; the space that a
 * vocabulary of sentencepiece puts before a text has no bytes. Returns LEAT_E_TEXT if the tokens do not spell the
 * text, because the tokenizer normalizes it, or does not know one of its characters.
 */
enum leat_status token_trace(const struct token_texts *t, const char *text, uint64_t bytes, const uint32_t *ids,
                             uint64_t count, uint64_t *ends, struct leat_error *err);

#endif
