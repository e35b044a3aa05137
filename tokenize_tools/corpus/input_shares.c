/* input_shares.c: inputs_share(): a share is cut by bytes over all inputs as if they were one file. */
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "corpus/streams/byte_stream.h"
#include "inputs.h"

/* total * part / parts without overflow: parts fit in 32 bits. */
static uint64_t border(uint64_t total, unsigned part, unsigned parts)
{
    return total / parts * part + total % parts * part / parts;
}

enum leat_status inputs_read_head(struct byte_stream *stream, struct buffer *head, enum json_layout *layout,
                                  struct leat_error *err)
{
    size_t room = JSON_HEAD;
    enum leat_status s = LEAT_OK;
    bool more = true;

    *layout = JSON_LINES;
    while (s == LEAT_OK && more) {
        size_t got = 0;

        s = buffer_reserve(head, room, err);
        if (s != LEAT_OK)
            return s;
        s = byte_stream_read(stream, head->bytes + head->size, room, &got, err);
        head->size += got;
        *layout = json_layout((const char *)head->bytes, head->size, &more);
        more = more && got == room;
        room = JSON_LONG_HEAD - JSON_HEAD;
    }
    return s == LEAT_E_TRUNCATED || s == LEAT_E_TEXT ? LEAT_OK : s;
}

enum leat_status inputs_look_inside(const struct input *in, const struct input_stop *stop, bool *compressed,
                                    enum json_layout *layout, struct leat_error *err)
{
    struct buffer head = { 0 };
    struct byte_stream *stream;
    enum leat_status s = byte_stream_open_stoppable(&stream, in->path, in->thing, NULL, stop, err);

    *layout = JSON_LINES;
    if (s != LEAT_OK)
        return s;
    *compressed = byte_stream_form(stream) != BYTE_FORM_PLAIN;
    if (in->format->is_json)
        s = inputs_read_head(stream, &head, layout, err);
    byte_stream_close(stream);
    buffer_free(&head);
    return s;
}

/* Looks inside a plain file that could be cut. */
static enum leat_status look_for_lines(const struct input *in, const struct input_stop *stop, bool *compressed,
                                       bool *undivided, struct leat_error *err)
{
    enum json_layout layout;
    enum leat_status s = inputs_look_inside(in, stop, compressed, &layout, err);

    *undivided = layout != JSON_LINES;
    return s;
}

/* Cuts input `in`, which begins at `at` of all bytes, down to [from, to). False: none of it belongs to the share. */
static bool cut(struct input *in, bool divides, uint64_t at, uint64_t from, uint64_t to, bool last)
{
    if (in->compressed || in->undivided || !divides || in->size == 0)
        return at >= from && (at < to || last);
    if (at >= to || at + in->size <= from)
        return false;
    in->begin = from > at ? from - at : 0;
    in->end = to - at < in->size ? to - at : in->size;
    return true;
}

enum leat_status inputs_share(struct input_list *list, unsigned part, unsigned parts,
                              bool (*divides)(const struct input *in), const struct input_stop *stop,
                              struct leat_error *err)
{
    struct seldom_stop seldom;
    struct input_stop seldom_asked = seldom_stop(&seldom, stop);
    uint64_t from = border(list->bytes, part - 1, parts), to = border(list->bytes, part, parts), at = 0;
    size_t kept = 0;

    for (size_t i = 0; i < list->count; i++) {
        struct input *in = &list->items[i];
        enum leat_status status = LEAT_OK;

        if (strcmp(in->path, "-") == 0)
            return status_set(err, LEAT_E_ARGUMENT, "standard input cannot be divided into shares");
        if (!in->compressed && !in->thing && divides(in) && at < to && at + in->size > from)
            status = look_for_lines(in, &seldom_asked, &in->compressed, &in->undivided, err);
        if (status != LEAT_OK)
            return status;
        at += in->size;
        if (!cut(in, divides(in), at - in->size, from, to, part == parts)) {
            free(in->path);
            fetch_thing_free(in->thing);
            in->path = NULL;
            in->thing = NULL;
            continue;
        }
        list->items[kept] = *in;
        if (kept != i) {
            in->path = NULL;
            in->thing = NULL;
        }
        kept++;
    }
    list->count = kept;
    list->bytes = 0;
    for (size_t i = 0; i < kept; i++)
        list->bytes += list->items[i].end - list->items[i].begin;
    return LEAT_OK;
}

/* Marks the shares that get something of an input that begins at `at` of all bytes; *share, from 1, is the first one
 * that ends after `at`, and moves on with it. */
static void mark(bool *used, const struct input *in, bool whole, uint64_t at, uint64_t total, unsigned parts,
                 unsigned *share)
{
    while (*share < parts && border(total, *share, parts) <= at)
        ++*share;
    used[*share - 1] = true;
    for (unsigned next = *share + 1; !whole && next <= parts && border(total, next - 1, parts) < at + in->size; next++)
        used[next - 1] = used[next - 1] || border(total, next - 1, parts) < border(total, next, parts);
}

enum leat_status inputs_count_empty(const struct input_list *list, unsigned parts,
                                    bool (*divides)(const struct input *in), const struct input_stop *stop,
                                    uint64_t *whole, uint64_t *empty, struct leat_error *err)
{
    struct seldom_stop seldom;
    struct input_stop seldom_asked = seldom_stop(&seldom, stop);
    bool *used = calloc(parts, sizeof *used);
    enum leat_status s = used ? LEAT_OK : status_no_memory(err, parts * sizeof *used);
    uint64_t at = 0;
    unsigned share = 1;

    *whole = *empty = 0;
    for (size_t i = 0; s == LEAT_OK && i < list->count; i++) {
        const struct input *in = &list->items[i];
        bool compressed = in->compressed, undivided = in->undivided, one;

        if (!compressed && !in->thing && divides(in)) /* as when the share is cut */
            s = look_for_lines(in, &seldom_asked, &compressed, &undivided, err);
        one = compressed || undivided || !divides(in);
        *whole += one;
        if (s == LEAT_OK)
            mark(used, in, one || in->size == 0, at, list->bytes, parts, &share);
        at += in->size;
    }
    for (unsigned i = 0; s == LEAT_OK && i < parts; i++)
        *empty += !used[i];
    free(used);
    return s;
}
