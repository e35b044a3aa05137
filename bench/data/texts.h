/*
 * texts.h: the documents of files in memory, end to end, for the commands that measure what is done with text.
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
    uint64_t used, room;
    uint64_t *ends;
    uint64_t count, count_room;
};

/* Appends the documents of a file; `field` holds the text of a JSON record. */
enum leat_status texts_read(struct texts *t, const char *path, const char *field, struct leat_error *err);

void texts_free(struct texts *t);

/* Makes room for `more` elements of `size` bytes after `used`. */
enum leat_status texts_room(void **array, uint64_t used, uint64_t more, uint64_t *room, size_t size,
                            struct leat_error *err);

static inline uint64_t texts_begin(const struct texts *t, uint64_t document)
{
    return document > 0 ? t->ends[document - 1] : 0;
}

#endif
