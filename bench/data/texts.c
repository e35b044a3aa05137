/* texts.c: see texts.h. */
#include "texts.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "corpus/document_input.h"

static enum leat_status add_text(struct texts *t, const char *text, size_t bytes, struct leat_error *err)
{
    enum leat_status s = GROW(t->bytes, t->used + bytes + 1, t->room, err);

    if (s == LEAT_OK)
        s = GROW(t->ends, t->count + 1, t->count_room, err);
    if (s != LEAT_OK)
        return s;
    memcpy(t->bytes + t->used, text, bytes);
    t->used += bytes;
    t->ends[t->count++] = t->used;
    return LEAT_OK;
}

static enum leat_status read_file(struct texts *t, const char *path, const char *field, struct leat_error *err)
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

enum leat_status texts_read(struct texts *t, const char *const *paths, size_t count, const char *field,
                            struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    *t = (struct texts) { .bytes = NULL };
    for (size_t i = 0; i < count && s == LEAT_OK; i++)
        s = read_file(t, paths[i], field, err);
    return s;
}

void texts_free(struct texts *t)
{
    free(t->bytes);
    free(t->ends);
}
