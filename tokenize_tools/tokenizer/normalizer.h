/*
 * normalizer.h: the normalizers of a spec, one after the other. Each looks first how much of the text it would leave as
 * it is; a text that none of them changes is not copied.
 */
#ifndef LEAT_TOKENIZER_NORMALIZER_H
#define LEAT_TOKENIZER_NORMALIZER_H

#include "buffer.h"
#include "spec.h"

struct normalizer;

/* A thread's memory: two buffers that take turns. Zeroed at first. */
struct normalizer_scratch {
    struct buffer buffers[2];
};
void normalizer_scratch_free(struct normalizer_scratch *s);

/* `spec` must outlive it. */
enum leat_status normalizer_make(struct normalizer **out, const struct tokenizer_spec *spec, struct leat_error *err);
void normalizer_free(struct normalizer *n);

/* Valid UTF-8 in and out. *to is `text` itself, or lies in the scratch until the next call. */
enum leat_status normalizer_run(const struct normalizer *n, struct normalizer_scratch *s, const uint8_t *text,
                                size_t bytes, const uint8_t **to, size_t *to_bytes, struct leat_error *err);

#endif
