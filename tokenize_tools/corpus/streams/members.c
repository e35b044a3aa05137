/*
 * members.c: finds members by their headers. A zstd frame is a header, blocks that begin with their length, and
 * perhaps a checksum (RFC 8878); a skippable frame begins with its length. A gzip member says its length only if
 * bgzip or its kin made it: then in an extra field "BC", and it has at most 64 KiB of text.
 */
#include "members.h"

#include <fcntl.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/tiny.h"
#include "leat.h"

/* Bytes that are announced ahead: headers lie too far from each other for the kernel to see that the file is read in
 * sequence. */
#define ANNOUNCE ((uint64_t)TINY_OR(4096, 4 << 20))

/* Reads exactly `count` bytes. Returns false if that fails or the file ends before. */
static bool member_look(struct member_file *f, uint64_t at, void *bytes, size_t count)
{
    if (at > f->size || f->size - at < count)
        return false;
    if (f->announced < at)
        f->announced = at;
    if (f->announced - at < ANNOUNCE / 2) {
        /* a hint, which may be ignored */
        (void)posix_fadvise(f->fd, (off_t)f->announced, ANNOUNCE, POSIX_FADV_WILLNEED);
        f->announced += ANNOUNCE;
    }
    return file_read_at(f->fd, at, bytes, count, "", NULL) == LEAT_OK;
}

/* ---- zstd ------------------------------------------------------------------------------------------------------- */

#define ZSTD_MAGIC      0xfd2fb528u
#define SKIPPABLE_MAGIC 0x184d2a50u /* the first of 16 magic numbers in a row that have this meaning */
#define MAX_BLOCK       ((uint64_t)128 << 10)
#define MAX_WINDOW_LOG  31u /* largest window that libzstd reads, as a power of two */
#define NO_SIZE         UINT64_MAX

enum block_type { BLOCK_RAW, BLOCK_REPEATED, BLOCK_COMPRESSED };

struct frame {
    uint64_t blocks; /* place of the first block */
    uint64_t window, text;
    bool sum;
};

static uint64_t load(const uint8_t *bytes, unsigned count)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < count; i++)
        value |= (uint64_t)bytes[i] << 8 * i;
    return value;
}

/* Reads the header after the magic: one byte of flags, then the fields that these announce. */
static bool read_header(struct member_file *f, uint64_t at, struct frame *frame)
{
    static const uint8_t id_bytes[4] = { 0, 1, 2, 4 }, size_bytes[4] = { 0, 2, 4, 8 };
    uint8_t flags, rest[1 + 4 + 8], window = 0;
    unsigned ids, sizes;
    bool single;

    if (!member_look(f, at, &flags, 1))
        return false;
    single = flags & 0x20;
    ids = id_bytes[flags & 3];
    sizes = flags >> 6 == 0 ? single : size_bytes[flags >> 6];
    if (!member_look(f, at + 1, rest, !single + ids + sizes))
        return false;
    frame->text = sizes == 0 ? NO_SIZE : load(rest + !single + ids, sizes) + (sizes == 2 ? 256 : 0);
    frame->window = frame->text;
    if (!single) {
        window = rest[0];
        if ((window >> 3) + 10u > MAX_WINDOW_LOG)
            return false;
        frame->window = ((uint64_t)1 << ((window >> 3) + 10)) / 8 * (8 + (window & 7));
    }
    frame->blocks = at + 1 + !single + ids + sizes;
    frame->sum = flags & 4;
    return frame->window <= (uint64_t)1 << MAX_WINDOW_LOG;
}

/* Goes through the blocks, and sets m->max_text to the most text that they can hold. */
static bool pass_blocks(struct member_file *f, const struct frame *frame, uint64_t begin, uint64_t most,
                        struct member *m)
{
    uint64_t max = frame->window < MAX_BLOCK ? frame->window : MAX_BLOCK;
    bool last = false;

    m->end = frame->blocks;
    m->max_text = 0;
    while (!last) {
        uint8_t head[3];
        uint64_t bytes;

        if (m->end - begin > most || m->max_text > most || !member_look(f, m->end, head, sizeof head))
            return false;
        bytes = load(head, 3) >> 3;
        last = head[0] & 1;
        switch (head[0] >> 1 & 3) {
        case BLOCK_RAW:
            m->max_text += bytes;
            break;
        case BLOCK_REPEATED:
            m->max_text += bytes;
            bytes = 1;
            break;
        case BLOCK_COMPRESSED:
            m->max_text += max;
            break;
        default:
            return false;
        }
        m->end += sizeof head + bytes;
    }
    m->end += frame->sum ? 4 : 0;
    return m->end - begin <= most && m->max_text <= most;
}

bool zstd_member_find(struct member_file *f, uint64_t at, uint64_t most, struct member *m)
{
    struct frame frame;
    uint8_t magic[4], bytes[4];

    *m = (struct member) { 0 };
    if (!member_look(f, at, magic, sizeof magic))
        return false;
    if ((bytes_load32(magic) & 0xfffffff0u) == SKIPPABLE_MAGIC) {
        if (!member_look(f, at + 4, bytes, sizeof bytes))
            return false;
        m->end = at + 8 + bytes_load32(bytes);
        return bytes_load32(bytes) <= most;
    }
    if (bytes_load32(magic) != ZSTD_MAGIC || !read_header(f, at + 4, &frame) ||
        (frame.text != NO_SIZE && frame.text > most) || !pass_blocks(f, &frame, at, most, m))
        return false;
    if (m->max_text > frame.text)
        m->max_text = frame.text;
    m->window = frame.window < m->max_text ? frame.window : m->max_text;
    return true;
}

/* ---- gzip ------------------------------------------------------------------------------------------------------- */

#define FIXED_BYTES   12u /* bytes that each header has, with the length of the extra field */
#define TRAILER_BYTES 8u
#define FIELD_HEAD    4u
#define MAX_EXTRA     64u
#define BGZF_TEXT     ((uint64_t)64 << 10)

/* Returns the length of the member that the field "BC" of an extra field says, or 0 if there is no such field. */
static uint64_t said_length(const uint8_t *extra, size_t bytes)
{
    size_t at = 0;

    while (bytes - at >= FIELD_HEAD) {
        size_t length = bytes_load16(extra + at + 2);

        if (length > bytes - at - FIELD_HEAD)
            return 0;
        if (extra[at] == 'B' && extra[at + 1] == 'C' && length == 2)
            return (uint64_t)bytes_load16(extra + at + FIELD_HEAD) + 1;
        at += FIELD_HEAD + length;
    }
    return 0;
}

bool gzip_member_find(struct member_file *f, uint64_t at, uint64_t most, struct member *m)
{
    uint8_t head[FIXED_BYTES], extra[MAX_EXTRA];
    uint64_t length;
    size_t bytes;

    if (!member_look(f, at, head, sizeof head) || head[0] != 0x1f || head[1] != 0x8b || head[2] != 8 || !(head[3] & 4))
        return false;
    bytes = bytes_load16(head + 10);
    if (bytes > MAX_EXTRA || !member_look(f, at + FIXED_BYTES, extra, bytes))
        return false;
    length = said_length(extra, bytes);
    *m = (struct member) { .end = at + length, .max_text = BGZF_TEXT };
    return length >= FIXED_BYTES + bytes + TRAILER_BYTES && length <= f->size - at && BGZF_TEXT <= most;
}
