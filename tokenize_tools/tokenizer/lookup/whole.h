/*
 * whole.h: sentencepiece's models of types Word and Character. A word, or a character, is a token as a whole, or
 * unknown: then it becomes its bytes with byte_fallback, else a run of unknown ones becomes one unknown token. A word
 * ends before each mark (U+2581), and user-defined tokens are words like others. They cut the text of characters,
 * before it comes here. Control, unknown, byte and unused tokens are never found, whatever their names.
 */
#ifndef LEAT_TOKENIZER_WHOLE_H
#define LEAT_TOKENIZER_WHOLE_H

#include <stdbool.h>

#include "tokenizer/containers/id_list.h"
#include "tokenizer/spec/spec.h"

struct whole;

/* Where a text stands that comes in chunks. */
struct whole_scratch {
    bool unknown; /* the last unit was unknown, and the unknown token stands for what follows, too */
};

/* `words`: of type Word. The spec outlives it. */
enum leat_status whole_make(struct whole **out, const struct tokenizer_spec *spec, bool words, struct leat_error *err);
void whole_free(struct whole *m);

/* As in spec/model.h. */
enum leat_status whole_encode(const struct whole *m, const uint8_t *text, size_t bytes, struct id_list *out,
                              struct leat_error *err);
enum leat_status whole_encode_chunk(const struct whole *m, struct whole_scratch *s, const uint8_t *text, size_t bytes,
                                    bool begins, bool last, struct id_list *out, size_t *used, struct leat_error *err);

#endif
