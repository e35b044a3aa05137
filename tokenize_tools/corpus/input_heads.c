/* input_heads.c: inputs_check_heads(): what JSON lines begin like, whatever they are called or compressed with. */
#include <string.h>

#include "base/clock.h"
#include "base/file_kind.h"
#include "base/status.h"
#include "corpus/streams/byte_stream.h"
#include "inputs.h"
#include "lines.h"

#define LONGEST_NS ((uint64_t)250000000) /* a run begins at once, of a hundred thousand files on a slow disk too */

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

/* What fails here fails again when it is packed, and is said then. Of bzip2, a whole block would have to be
 * decompressed, which takes longer than all the rest. Compressed data may go on for long without any text. */
static enum leat_status look(const struct input *in, const struct input_stop *over, struct leat_error *err)
{
    uint8_t head[FILE_KIND_HEAD];
    struct byte_stream *stream;
    size_t bytes = 0;
    enum leat_status s = LEAT_OK;

    if (byte_stream_open_stoppable(&stream, in->path, NULL, NULL, over, NULL) != LEAT_OK)
        return LEAT_OK;
    if (byte_stream_form(stream) != BYTE_FORM_BZIP2)
        (void)byte_stream_read(stream, head, sizeof head, &bytes, NULL);
    if (!over->asked(over->context)) /* else there may be more of its head */
        s = inputs_check_head(in, stream, head, bytes, false, err);
    byte_stream_close(stream);
    return s;
}

/* The last ones first: those that would be found out the latest. */
enum leat_status inputs_check_heads(const struct input_list *list, struct leat_error *err)
{
    uint64_t until = clock_ns() + LONGEST_NS;
    const struct input_stop over = { is_over, &until };
    enum leat_status s = LEAT_OK;

    for (size_t i = list->count; s == LEAT_OK && i-- > 0 && !is_over(&until);) {
        const struct input *in = &list->items[i];

        if (in->format->is_json && !in->thing && strcmp(in->path, "-") != 0)
            s = look(in, &over, err);
    }
    return s;
}
