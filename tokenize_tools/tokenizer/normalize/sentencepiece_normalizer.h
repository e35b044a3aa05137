/*
 * sentencepiece_normalizer.h: changes a text as sentencepiece does before its model: it applies the compiled map,
 * handles white space (removes extra white space, writes each space as U+2581, puts one first), and leaves user-defined
 * tokens unchanged.
 */
#ifndef LEAT_TOKENIZER_SENTENCEPIECE_NORMALIZER_H
#define LEAT_TOKENIZER_SENTENCEPIECE_NORMALIZER_H

#include <stdbool.h>

#include "tokenizer/spec/spec.h"
#include "tokenizer/split/held.h"

struct sentencepiece_normalizer;
struct string_finder;

/* A thread's memory, and its state in a text; zeroed at first. */
struct sentencepiece_state {
    struct held held;
    struct buffer out;
    size_t given;     /* bytes of `out` that the last call gave; the rest is white space that may be the text's last */
    bool begun;       /* true after the white space at the text's beginning */
    bool after_space; /* true if spaces are extra ones */
};

/* Sets the bound that counts its memory. */
void sentencepiece_state_bound(struct sentencepiece_state *s, struct bound *bound);
void sentencepiece_state_free(struct sentencepiece_state *s);

/* Drops a text that has not come to its end, and frees large memory. */
void sentencepiece_state_clear(struct sentencepiece_state *s);

/* Makes a normalizer. `spec` must outlive it. With `spaces`, spaces stay, and U+2581 becomes a space (spaced.h). */
enum leat_status sentencepiece_normalizer_make(struct sentencepiece_normalizer **out, const struct tokenizer_spec *spec,
                                               bool spaces, struct leat_error *err);
void sentencepiece_normalizer_free(struct sentencepiece_normalizer *n);

/* Takes a text, or a chunk of it, and sets *text and *bytes to the part of the result that later text cannot change,
 * which stays until the next call. `last` says that the text ends here. Text and result are valid UTF-8. */
enum leat_status sentencepiece_normalizer_run(const struct sentencepiece_normalizer *n, struct sentencepiece_state *s,
                                              const uint8_t **text, size_t *bytes, bool last, struct leat_error *err);

/* Returns the user-defined tokens, by id. They are tokens at any place of a normalized text. */
const struct string_finder *sentencepiece_defined(const struct sentencepiece_normalizer *n);

#endif
