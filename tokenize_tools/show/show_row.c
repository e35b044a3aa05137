/* show_row.c: the stretches of a row; see show.h. */
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "show.h"

struct show_stretch *show_row_add(struct show_row *row, const struct show_stretch *like, struct leat_error *err)
{
    if (row->count == row->room) {
        size_t room = 2 * row->room + 8;
        struct show_stretch *more = reallocarray(row->stretches, room, sizeof *more);

        if (!more) {
            status_no_memory(err, room);
            return NULL;
        }
        row->stretches = more;
        row->room = room;
    }
    row->stretches[row->count] = *like;
    return &row->stretches[row->count++];
}

void show_row_clear(struct show_row *row)
{
    for (size_t i = 0; i < row->count; i++)
        commands_origin_free(&row->stretches[i].origin);
    free(row->stretches);
    row->stretches = NULL;
    row->count = row->room = 0;
}

/* The part of document `number` that lies in tokens [token, end). */
static enum leat_status add_document(struct show_row *row, const struct leat_dataset *d, uint64_t number,
                                     uint64_t token, uint64_t end, const struct show_stretch *like,
                                     struct leat_error *err)
{
    uint64_t begin, count, from, to;
    enum leat_status s = leat_dataset_document(d, number, &begin, &count, err);
    struct show_stretch *x;

    if (s != LEAT_OK || count == 0)
        return s;
    from = begin > token ? begin : token;
    to = begin + count < end ? begin + count : end;
    x = show_row_add(row, like, err);
    if (!x)
        return err->status;
    x->at += from - token;
    x->places = to - from;
    x->document = number;
    x->first = from - begin;
    return commands_origin(d, number, &x->origin, err);
}

enum leat_status show_row_add_documents(struct show_row *row, const struct leat_dataset *d, uint64_t token,
                                        const struct show_stretch *like, struct leat_error *err)
{
    struct leat_info info = LEAT_INFO_INIT;
    uint64_t first, count = 0;
    enum leat_status s = LEAT_OK;

    leat_dataset_info(d, &info);
    if (like->places == 0)
        return LEAT_OK;
    if (info.documents == LEAT_NONE)
        return show_row_add(row, like, err) ? LEAT_OK : err->status;
    s = leat_dataset_documents_in(d, token, like->places, &first, &count, err);
    for (uint64_t i = 0; s == LEAT_OK && i < count; i++)
        s = add_document(row, d, first + i, token, token + like->places, like, err);
    return s;
}

bool show_other_label(const struct show_row *row, uint64_t place)
{
    return row->labels && row->loss[place] && (place + 1 == row->filled || row->labels[place] != row->ids[place + 1]);
}
