/*
 * texts.h: texts to measure with: the documents of files in memory, end to end.
 *
 * The room data/ has what the commands measure with: texts in memory, texts that are slow to encode, datasets that are
 * computed or have no files. What may enter: data that several commands or tests need; nothing that measures.
 */
#ifndef LEAT_BENCH_TEXTS_H
#define LEAT_BENCH_TEXTS_H

#include <stddef.h>
#include <stdint.h>

#include "leat.h"

struct texts {
    char *bytes;
    uint64_t used;
    size_t room;
    uint64_t *ends;
    uint64_t count;
    size_t count_room;
};

/* Reads the documents of `count` files; `field` holds the text of a JSON record. Call texts_free() afterwards, also
 * if this fails. */
enum leat_status texts_read(struct texts *t, const char *const *paths, size_t count, const char *field,
                            struct leat_error *err);

void texts_free(struct texts *t);

static inline uint64_t texts_begin(const struct texts *t, uint64_t document)
{
    return document > 0 ? t->ends[document - 1] : 0;
}

#endif
