/*
 * sentencepiece_normalizer.h: what sentencepiece does to a text before its model: it applies its compiled map, handles
 * white space (removes extra white space, writes each space as U+2581, puts one first), and leaves its user-defined
 * tokens unchanged.
 */
#ifndef LEAT_TOKENIZER_SENTENCEPIECE_NORMALIZER_H
#define LEAT_TOKENIZER_SENTENCEPIECE_NORMALIZER_H

#include <stdbool.h>

#include "tokenizer/spec/spec.h"
#include "tokenizer/split/held.h"

struct sentencepiece_normalizer;
struct string_finder;

/* A thread's memory, and where it stands in a text. All zero at first. */
struct sentencepiece_state {
    struct held held;
    struct buffer out;
    size_t given;     /* of `out`, by the last call; after it white space that may be the text's last */
    bool begun;       /* past the white space at the text's beginning */
    bool after_space; /* and spaces that come now are extra ones */
};

/* Where its memory is counted. */
void sentencepiece_state_bound(struct sentencepiece_state *s, struct bound *bound);
void sentencepiece_state_free(struct sentencepiece_state *s);

/* Forgets a text that has not come to its end, and gives much memory back. */
void sentencepiece_state_clear(struct sentencepiece_state *s);

/* `spec` must outlive it. `spaces`: spaces stay, and U+2581 becomes one (spaced.h). */
enum leat_status sentencepiece_normalizer_make(struct sentencepiece_normalizer **out, const struct tokenizer_spec *spec,
                                               bool spaces, struct leat_error *err);
void sentencepiece_normalizer_free(struct sentencepiece_normalizer *n);

/* Takes a text, or a chunk of it, and sets *text and *bytes to what is certain of the result, which stays until the
 * next call. `last`: the text ends here. Valid UTF-8 in and out. */
enum leat_status sentencepiece_normalizer_run(const struct sentencepiece_normalizer *n, struct sentencepiece_state *s,
                                              const uint8_t **text, size_t *bytes, bool last, struct leat_error *err);

/* The user-defined tokens, by id: tokens wherever they stand in a normalized text. */
const struct string_finder *sentencepiece_defined(const struct sentencepiece_normalizer *n);

#endif
