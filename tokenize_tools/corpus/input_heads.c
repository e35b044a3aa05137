/* input_heads.c: inputs_check_heads(): what JSON begins like, whatever it is called or compressed with, and whether its
 * first records have the fields that are asked for. */
#include <string.h>

#include "base/clock.h"
#include "base/file_kind.h"
#include "base/status.h"
#include "corpus/streams/byte_stream.h"
#include "inputs.h"
#include "lines.h"

/* A run begins at once, of a hundred thousand files on a slow disk too. */
#define LONGEST_NS      ((uint64_t)250000000)
#define LEAST_LOOKS     16 /* are taken in any case, but not for longer than: */
#define LONGEST_LOOK_NS ((uint64_t)4000000000)

/* Of lines that begin like JSON, their bytes are not judged: these are text, in whatever encoding. */
static bool begins_like_json(const uint8_t *head, size_t bytes)
{
    size_t at = lines_mark((const char *)head, bytes);

    while (at < bytes && strchr(" \t\r\n", head[at]))
        at++;
    return at < bytes && strchr("{[", head[at]) && !memchr(head, 0, bytes);
}

/* Of a kind that a compressed input holds. */
static const char *cure_within(const struct file_kind *kind)
{
    return kind->what == FILE_COMPRESSED ? "decompress it first, or compress it once only"
           : kind->what == FILE_PARQUET  ? "decompress it first, and name the file"
                                         : kind->cure;
}

enum leat_status inputs_check_head(const struct input *in, const struct byte_stream *stream, const uint8_t *head,
                                   size_t bytes, bool allow_binary, struct leat_error *err)
{
    size_t seen = bytes < FILE_KIND_HEAD ? bytes : FILE_KIND_HEAD;
    const struct file_kind *kind = begins_like_json(head, seen) ? NULL : file_kind_of_bytes(head, seen);
    bool plain = byte_stream_form(stream) == BYTE_FORM_PLAIN, alone = strcmp(in->path, "-") == 0;

    if (kind && kind->what == FILE_PARQUET && alone && plain)
        return status_set(err, LEAT_E_UNSUPPORTED,
                          "standard input is a Parquet file, which is read from its end: save it, and name the file");
    if (!kind || allow_binary || (kind->what == FILE_BINARY && !alone))
        return LEAT_OK;
    return status_set_hint(err, LEAT_E_UNSUPPORTED, LEAT_HINT_BINARY, "%s is %s%s: %s", byte_stream_name(stream),
                           plain ? "" : "compressed, and what it holds is ", kind->name,
                           plain ? kind->cure : cure_within(kind));
}

static bool is_over(void *until)
{
    return clock_ns() >= *(uint64_t *)until;
}

enum leat_status inputs_read_records(struct byte_stream *stream, struct buffer *head, size_t least, size_t most,
                                     bool *ended, struct leat_error *err)
{
    bool whole = false;
    enum leat_status s = LEAT_OK;

    *ended = false;
    for (size_t want = least; s == LEAT_OK && !*ended && !whole && want <= most; want *= 4) {
        if (head->size < want)
            s = buffer_reserve(head, want - head->size, err);
        while (s == LEAT_OK && !*ended && head->size < want) {
            size_t got = 0;

            s = byte_stream_read(stream, head->bytes + head->size, want - head->size, &got, err);
            head->size += got;
            *ended = s == LEAT_OK && got == 0;
        }
        whole = field_head_is_enough((char *)head->bytes, head->size);
    }
    return s;
}

/* What fails here fails again when it is packed, and is said then. Of bzip2, a whole block would have to be
 * decompressed, which takes longer than all the rest. Compressed data may go on for long without any text. *looked: its
 * records were looked at. */
static enum leat_status look(const struct input *in, const struct input_stop *over, bool allow_binary,
                             struct field_search *search, bool *looked, struct leat_error *err)
{
    struct buffer head = { 0 };
    struct byte_stream *stream;
    enum leat_status s = LEAT_OK, read;
    bool ended;

    *looked = false;
    if (byte_stream_open_stoppable(&stream, in->path, NULL, NULL, over, NULL) != LEAT_OK)
        return LEAT_OK;
    if (byte_stream_form(stream) != BYTE_FORM_BZIP2) {
        read = inputs_read_records(stream, &head, FIELD_HEAD, FIELD_LONG_HEAD, &ended, NULL);
        if (read == LEAT_OK || !over->asked(over->context)) /* else there may be more of its head */
            s = inputs_check_head(in, stream, head.bytes, head.size, allow_binary, err);
        if (s == LEAT_OK && read == LEAT_OK) {
            *looked = true;
            s = field_search_add(search, in->path, (char *)head.bytes, head.size, ended, err);
        }
    }
    byte_stream_close(stream);
    buffer_free(&head);
    return s;
}

/* The last ones first: those that would be found out the latest. */
enum leat_status inputs_check_heads(struct input_list *list, const struct field_wishes *wishes, bool allow_binary,
                                    bool whole, struct leat_error *err)
{
    uint64_t begun = clock_ns(), until = begun + LONGEST_NS, last = begun + LONGEST_LOOK_NS;
    const struct input_stop over = { is_over, &last };
    struct field_search search = { .wishes = wishes };
    enum leat_status s = LEAT_OK;
    uint64_t texts = 0; /* which have no fields: each is a record */
    bool all = true;

    for (size_t i = list->count, looks = 0; s == LEAT_OK && i-- > 0;) {
        struct input *in = &list->items[i];
        bool can = in->format->is_json && !in->thing && strcmp(in->path, "-") != 0;

        if (can && !in->looked && (looks++ < LEAST_LOOKS || !is_over(&until)) && !is_over(&last))
            s = look(in, &over, allow_binary, &search, &in->looked, err);
        texts += in->format->whole;
        all = all && (in->looked || in->format->whole);
    }
    return s == LEAT_OK && whole ? field_search_end(&search, all && search.records > texts, err) : s;
}
