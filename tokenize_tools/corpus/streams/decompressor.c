/* decompressor.c: functions that the rows of decompressor.h share. */
#include "decompressor.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/file_kind.h"
#include "base/status.h"

/* ---- Members and sentences --------------------------------------------------------------------------------------- */

bool decompressor_magic(const uint8_t *head, size_t bytes, const uint8_t magic[RAW_HEAD])
{
    return memcmp(head, magic, bytes < RAW_HEAD ? bytes : RAW_HEAD) == 0;
}

enum leat_status decompressor_broken(const struct decompressor *d, const struct raw_input *in, const char *why,
                                     struct leat_error *err)
{
    uint64_t place = raw_input_position(in);

    return status_set_at(err, LEAT_E_TEXT, in->name, place, "%s: the %s data is broken at compressed byte %llu: %s",
                         in->name, d->name, (unsigned long long)place, why);
}

enum leat_status decompressor_cut_off(const struct decompressor *d, const struct raw_input *in, struct leat_error *err)
{
    uint64_t place = raw_input_position(in) + (in->held - in->at);

    return status_set_at(err, LEAT_E_TRUNCATED, in->name, place, "%s ends in the middle of %s, at compressed byte %llu",
                         in->name, d->member, (unsigned long long)place);
}

enum leat_status decompressor_missing(const struct decompressor *d, const char *path, const char *libraries,
                                      const char *cure, struct leat_error *err)
{
    return status_set_in(
        err, LEAT_E_UNSUPPORTED, path,
        "%s is compressed with %s, which this build cannot read: it has %s; decompress the file with %s", path, d->name,
        libraries, cure);
}

/* Checks the magic here, since libraries would take some wrong bytes for a start, or want more before they say so. */
enum leat_status decompressor_begin(const struct decompressor *d, struct raw_input *in, bool *begun,
                                    enum decompressor_step *step, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    char why[64];
    size_t held;

    *begun = false;
    while (s == LEAT_OK && in->held - in->at < RAW_HEAD && !in->ended)
        s = raw_input_fill(in, err);
    if (s != LEAT_OK)
        return s;
    held = in->held - in->at;
    if (held == 0 && raw_input_position(in) > 0) {
        *step = STEP_END;
        return LEAT_OK;
    }
    if (!d->begins(in->buffer + in->at, held)) {
        snprintf(why, sizeof why, "no%s begins there", strrchr(d->member, ' '));
        return decompressor_broken(d, in, why, err);
    }
    if (held < RAW_HEAD)
        return decompressor_cut_off(d, in, err);
    *begun = true;
    return LEAT_OK;
}

/* ---- First bytes ------------------------------------------------------------------------------------------------- */

#define SKIPPABLE_HEADER 8u /* magic and length */
#define MAX_SKIPPABLE                                                                                                  \
    1024u                         /* most skippable frames that are passed: programs write one, or a few, and each
                                        takes two system calls */
#define HADOOP_HEADER 8u          /* bytes of a block, and bytes of the first chunk of it, compressed */
#define HADOOP_BLOCK  (64u << 20) /* most bytes of a block: Hadoop's buffers have 64 KiB to some MiB */

enum leat_status first_bytes_behind(struct raw_input *in, uint8_t head[RAW_HEAD], size_t *bytes, struct leat_error *err)
{
    uint8_t header[SKIPPABLE_HEADER];
    enum leat_status s = LEAT_OK;
    uint64_t at = 0;

    *bytes = 0;
    memcpy(head, in->head, RAW_HEAD);
    if (in->head_bytes < RAW_HEAD)
        return LEAT_OK;
    for (unsigned frames = 0; s == LEAT_OK && frames < MAX_SKIPPABLE && file_kind_skippable(head); frames++) {
        s = raw_input_peek(in, at, header, sizeof header, bytes, err);
        if (s != LEAT_OK || *bytes < sizeof header)
            break;
        at += sizeof header + bytes_load32(header + RAW_HEAD);
        s = raw_input_peek(in, at, head, RAW_HEAD, bytes, err);
        if (*bytes < RAW_HEAD)
            break;
    }
    if (s != LEAT_OK || *bytes < RAW_HEAD || file_kind_skippable(head))
        *bytes = 0;
    return s;
}

static uint32_t load_be32(const uint8_t *b)
{
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

/* Returns true for Hadoop's and Spark's lz4 and snappy, which have lengths as big-endian numbers before each block,
 * and before each chunk of it. */
static bool is_hadoop(const uint8_t *head, size_t bytes, uint64_t size)
{
    uint32_t block, chunk;

    if (bytes < HADOOP_HEADER)
        return false;
    block = load_be32(head);
    chunk = load_be32(head + 4);
    return block > 0 && block <= HADOOP_BLOCK && chunk > 0 && chunk <= block + block / 255 + 16 &&
           HADOOP_HEADER + (uint64_t)chunk <= size;
}

/* Returns true for a start of RFC 1950: deflate with a window of 32 KiB, and a sum over both bytes. */
static bool is_zlib(const uint8_t *head, size_t bytes)
{
    return bytes >= 2 && head[0] == 0x78 && (head[0] << 8 | head[1]) % 31 == 0;
}

static enum leat_status say(const char *path, const struct decompressor *d, const char *what, const char *cure,
                            struct leat_error *err)
{
    return status_set_at(err, LEAT_E_TEXT, path, 0, "%s is named %s, but is %s: %s", path, d->suffix, what, cure);
}

enum leat_status first_bytes_misnamed(struct raw_input *in, const char *path, const struct decompressor *d,
                                      struct leat_error *err)
{
    uint8_t head[FILE_KIND_HEAD];
    const struct file_kind *kind;
    size_t bytes;
    enum leat_status s = raw_input_peek(in, 0, head, sizeof head, &bytes, err);

    if (s != LEAT_OK)
        return s;
    kind = file_kind_of_bytes(head, bytes);
    if (kind && kind->what == FILE_COMPRESSED)
        return say(path, d, kind->name, "rename it", err);
    if (kind && kind->what != FILE_BINARY && kind->magic)
        return say(path, d, kind->name, kind->cure, err);
    if (d == &decompressor_gzip && is_zlib(head, bytes))
        return say(path, d, "zlib data without a header of gzip", "compress it with gzip instead", err);
    if (d == &decompressor_lz4 && is_hadoop(head, bytes, in->size))
        return say(path, d, "in blocks of Hadoop or Spark, which only these read", "write it with gzip or zstd instead",
                   err);
    return status_set_at(err, LEAT_E_TEXT, path, 0,
                         "%s is named %s, but does not start like a %s file; rename it if it is not compressed, or get "
                         "a new copy",
                         path, d->suffix, d->name);
}

/* ---- Text in steps ----------------------------------------------------------------------------------------------- */

void text_step_add(struct text_step *t, struct raw_input *in, size_t used, size_t added, bool ended)
{
    raw_input_use(in, used);
    t->filled += added;
    t->ended = ended;
    t->ready = ended || t->filled == TEXT_STEP;
}

static enum leat_status fill_step(struct text_step *t, const struct text_step_calls *calls, void *state,
                                  struct raw_input *in, struct leat_error *err)
{
    size_t filled = t->filled;
    enum leat_status s = LEAT_OK;
    bool last;

    if (in->at == in->held && !in->ended)
        s = raw_input_fill(in, err);
    last = in->at == in->held;
    if (s == LEAT_OK)
        s = calls->decode(state, in, err);
    if (s != LEAT_OK || !last || t->ready || t->filled > filled)
        return s;
    t->ready = t->filled > 0;
    return t->ready ? LEAT_OK : decompressor_cut_off(calls->of, in, err);
}

static size_t give_text(struct text_step *t, void *buf, size_t room)
{
    size_t left = t->filled - t->given, some = left < room ? left : room;

    memcpy(buf, t->text + t->given, some);
    t->given += some;
    t->ready = t->given < t->filled;
    if (!t->ready)
        t->filled = t->given = 0;
    return some;
}

enum leat_status text_step_run(struct text_step *t, const struct text_step_calls *calls, void *state,
                               struct raw_input *in, struct text_step_room *out, enum decompressor_step *what,
                               struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    out->got = 0;
    *what = STEP_MORE;
    if (!t->open)
        return calls->begin(state, in, &t->open, what, err);
    if (!t->ready)
        s = fill_step(t, calls, state, in, err);
    if (s != LEAT_OK || !t->ready)
        return s;
    out->got = give_text(t, out->buf, out->room);
    if (t->ended && !t->ready) {
        t->open = t->ended = false;
        *what = STEP_BORDER;
    }
    return LEAT_OK;
}
