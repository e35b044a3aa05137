/* first_bytes.c: see first_bytes.h. */
#include "first_bytes.h"

#include <string.h>

#include "base/bytes.h"
#include "base/file_kind.h"
#include "base/status.h"

#define SKIPPABLE_HEADER 8u          /* magic and length */
#define MAX_SKIPPABLE    1024u       /* looked behind: programs write one, or a few; each takes two system calls */
#define HADOOP_HEADER    8u          /* bytes of a block, and bytes of the first chunk of it, compressed */
#define HADOOP_BLOCK     (64u << 20) /* at most: Hadoop's buffers have 64 KiB to some MiB */

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

/* Hadoop's and Spark's lz4 and snappy: lengths as big-endian numbers before each block, and before each chunk of it. */
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

/* RFC 1950: deflate with a window of 32 KiB, and a sum over both bytes. */
static bool is_zlib(const uint8_t *head, size_t bytes)
{
    return bytes >= 2 && head[0] == 0x78 && (head[0] << 8 | head[1]) % 31 == 0;
}

static enum leat_status say(const char *path, const struct decompressor *d, const char *what, const char *cure,
                            struct leat_error *err)
{
    return status_set_at(err, LEAT_E_TEXT, 0, "%s is named %s, but is %s: %s", path, d->suffix, what, cure);
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
    return status_set_at(err, LEAT_E_TEXT, 0,
                         "%s is named %s, but does not start like a %s file; rename it if it is not compressed, or get "
                         "a new copy",
                         path, d->suffix, d->name);
}
