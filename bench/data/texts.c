/* texts.c: see texts.h. */
#include "texts.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/status.h"
#include "corpus/document_input.h"

enum leat_status texts_room(void **array, uint64_t used, uint64_t more, uint64_t *room, size_t size,
                            struct leat_error *err)
{
    uint64_t wanted, bytes;
    void *larger;

    if (*array && more <= *room - used)
        return LEAT_OK;
    if (!bytes_add(used + used / 2 + 4096, more, &wanted) || !bytes_multiply(wanted, size, &bytes) || bytes > SIZE_MAX)
        return status_no_memory(err, UINT64_MAX);
    larger = realloc(*array, (size_t)bytes);
    if (!larger)
        return status_no_memory(err, bytes);
    *array = larger;
    *room = wanted;
    return LEAT_OK;
}

static enum leat_status add_text(struct texts *t, const char *text, size_t bytes, struct leat_error *err)
{
    void *array = t->bytes;
    enum leat_status s = texts_room(&array, t->used, bytes, &t->room, 1, err);

    t->bytes = array;
    if (s != LEAT_OK)
        return s;
    memcpy(t->bytes + t->used, text, bytes);
    t->used += bytes;
    array = t->ends;
    s = texts_room(&array, t->count, 1, &t->count_room, sizeof *t->ends, err);
    t->ends = array;
    if (s == LEAT_OK)
        t->ends[t->count++] = t->used;
    return s;
}

enum leat_status texts_read(struct texts *t, const char *path, const char *field, struct leat_error *err)
{
    struct document_input *in;
    enum leat_status s = document_input_open(&in, path, DOCUMENT_BY_NAME, field, err);
    const char *text;
    size_t bytes;
    bool found;

    while (s == LEAT_OK) {
        s = document_input_next(in, &text, &bytes, &found, err);
        if (s != LEAT_OK || !found)
            break;
        s = add_text(t, text, bytes, err);
    }
    document_input_close(in);
    return s;
}

void texts_free(struct texts *t)
{
    free(t->bytes);
    free(t->ends);
}
