/*
 * test_members.c: where frames of zstd and members of gzip end, and how much text they may hold, told from headers of
 * every kind, made by hand after RFC 8878, RFC 1952 and bgzip's extra field: blocks as they are, of one repeated byte,
 * and compressed; windows, sizes, checksums, dictionary numbers; skippable frames; extra fields before bgzip's. Where
 * headers are cut off, say more than may be, or do not say where it ends, none is found.
 */
#include "corpus/streams/members.h"
#include "stream_cases.h"

#define MOST  1000u
#define BYTES 90u

#define FRAME 0x28, 0xb5, 0x2f, 0xfd
#define BLOCK(last, kind, size)                                                                                        \
    (uint8_t)((size) << 3 | (kind) << 1 | (last)), (uint8_t)((size) >> 5), (uint8_t)((size) >> 13)
#define RAW           0
#define REPEATED      1
#define COMPRESSED    2
#define RESERVED      3
#define SINGLE        0x20 /* the text's size is there, and no window */
#define SUM           0x04
#define WINDOW_1K     0x00
#define MEMBER(extra) 0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 255, (extra), 0

static const struct {
    const char *what;
    member_finder *find;
    uint8_t bytes[BYTES];
    size_t count;         /* the file has so many */
    struct member member; /* .end of 0: none is found */
} cases[] = {
    { "a block as it is", zstd_member_find, { FRAME, SINGLE, 5, BLOCK(1, RAW, 5) }, 20, { 14, 5, 5 } },
    { "one byte, 200 times",
      zstd_member_find,
      { FRAME, SINGLE, 200, BLOCK(1, REPEATED, 200), 'x' },
      10,
      { 10, 200, 200 } },
    { "of one kind after the other",
      zstd_member_find,
      { FRAME, 0, WINDOW_1K, BLOCK(0, REPEATED, 300), 'x', BLOCK(0, RAW, 2), 'a', 'b', BLOCK(1, REPEATED, 9), 'y' },
      19,
      { 19, 311, 311 } },
    { "and with a checksum",
      zstd_member_find,
      { FRAME, SUM, WINDOW_1K, BLOCK(1, REPEATED, 300), 'x' },
      14,
      { 14, 300, 300 } },
    { "compressed: at most its size",
      zstd_member_find,
      { FRAME, SINGLE, 100, BLOCK(1, COMPRESSED, 3) },
      12,
      { 12, 100, 100 } },
    { "a dictionary's number of 4 bytes",
      zstd_member_find,
      { FRAME, SINGLE | 3, 1, 2, 3, 4, 7, BLOCK(1, RAW, 7) },
      20,
      { 20, 7, 7 } },
    { "a size of 2 bytes, from 256 on",
      zstd_member_find,
      { FRAME, 1 << 6 | SINGLE, 2, 0, BLOCK(1, REPEATED, 258), 'x' },
      11,
      { 11, 258, 258 } },
    { "a block of a reserved kind", zstd_member_find, { FRAME, SINGLE, 5, BLOCK(1, RESERVED, 5) }, 40, { 0, 0, 0 } },
    { "more text than may be",
      zstd_member_find,
      { FRAME, 0, WINDOW_1K, BLOCK(1, REPEATED, MOST + 1), 'x' },
      40,
      { 0, 0, 0 } },
    { "a window that nobody reads", zstd_member_find, { FRAME, 0, 22 << 3, BLOCK(1, RAW, 5) }, 40, { 0, 0, 0 } },
    { "magic numbers, and the end", zstd_member_find, { FRAME }, 4, { 0, 0, 0 } },
    { "flags, and the end", zstd_member_find, { FRAME, SINGLE }, 5, { 0, 0, 0 } },
    { "a header, and the end", zstd_member_find, { FRAME, SINGLE, 5 }, 6, { 0, 0, 0 } },
    { "three bytes", zstd_member_find, { FRAME }, 3, { 0, 0, 0 } },
    { "a skippable frame", zstd_member_find, { 0x5f, 0x2a, 0x4d, 0x18, 9, 0, 0, 0 }, 20, { 17, 0, 0 } },
    { "one without its length", zstd_member_find, { 0x5f, 0x2a, 0x4d, 0x18, 9, 0, 0, 0 }, 7, { 0, 0, 0 } },

    { "bgzip's", gzip_member_find, { MEMBER(6), 'B', 'C', 2, 0, 39, 0 }, 50, { 40, 64 << 10, 0 } },
    { "bgzip's, behind another field",
      gzip_member_find,
      { MEMBER(13), 'A', 'B', 3, 0, 1, 2, 3, 'B', 'C', 2, 0, 39, 0 },
      50,
      { 40, 64 << 10, 0 } },
    { "another field only", gzip_member_find, { MEMBER(7), 'A', 'B', 3, 0, 1, 2, 3 }, 50, { 0, 0, 0 } },
    { "a field that is too long",
      gzip_member_find,
      { MEMBER(10), 'A', 'B', 7, 0, 'B', 'C', 2, 0, 39, 0 },
      50,
      { 0, 0, 0 } },
    { "fields, and the end", gzip_member_find, { MEMBER(6), 'B', 'C', 2, 0, 39, 0 }, 17, { 0, 0, 0 } },
    { "more fields than are looked at", gzip_member_find, { MEMBER(65), 'B', 'C', 2, 0, 84, 0 }, BYTES, { 0, 0, 0 } },
    { "as many as are", gzip_member_find, { MEMBER(64), 'B', 'C', 2, 0, 83, 0 }, 84, { 84, 64 << 10, 0 } },
    { "less than its own header", gzip_member_find, { MEMBER(6), 'B', 'C', 2, 0, 24, 0 }, 50, { 0, 0, 0 } },
    { "more than the file", gzip_member_find, { MEMBER(6), 'B', 'C', 2, 0, 50, 0 }, 50, { 0, 0, 0 } },
};

int main(void)
{
    char path[600];

    memory_file(path, t_folder());
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint64_t most = cases[i].find == gzip_member_find ? 64 << 10 : MOST;
        struct member_file file = { .fd = -1, .size = cases[i].count };
        struct member m = { 0 };
        bool found;

        t_write(path, cases[i].bytes, cases[i].count);
        file.fd = open(path, O_RDONLY | O_CLOEXEC);
        found = cases[i].find(&file, 0, most, &m);
        if (found != (cases[i].member.end > 0) ||
            (found && (m.end != cases[i].member.end || m.max_text != cases[i].member.max_text ||
                       m.window != cases[i].member.window)))
            T_FAIL("%s: %s, to byte %" PRIu64 ", with %" PRIu64 " bytes of text at most and %" PRIu64 " of window",
                   cases[i].what, found ? "found" : "not found", m.end, m.max_text, m.window);
        if (found) /* it is the caller's limit that it kept */
            T_CHECK(!cases[i].find(&file, 0, 1, &m));
        close(file.fd);
    }
    return t_end();
}
