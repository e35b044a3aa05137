/* stream_cases.h: what the tests of byte_stream share: files, what a stream gives of them in pieces of some size, and
 * compressed data made by the library itself. */
#ifndef LEAT_TESTS_STREAM_CASES_H
#define LEAT_TESTS_STREAM_CASES_H

#include <sys/mman.h>

#include "base/bytes.h"
#include "corpus/streams/byte_stream.h"
#include "t.h"

/* Bytes that grow. */
struct blob {
    uint8_t *bytes;
    size_t size, room;
};

static inline void blob_add(struct blob *b, const void *bytes, size_t count)
{
    if (b->size + count > b->room) {
        b->room = 2 * (b->size + count) + 64;
        b->bytes = realloc(b->bytes, b->room);
        if (!b->bytes)
            exit(1);
    }
    if (count > 0)
        memcpy(b->bytes + b->size, bytes, count);
    b->size += count;
}

static inline void blob_free(struct blob *b)
{
    free(b->bytes);
    memset(b, 0, sizeof *b);
}

static inline bool blob_same(const struct blob *a, const struct blob *b)
{
    return a->size == b->size && (a->size == 0 || memcmp(a->bytes, b->bytes, a->size) == 0);
}

/* A file in memory, for the thousands that differ in a bit; else one in `folder`. */
static inline int memory_file(char path[600], const char *folder)
{
    int fd = memfd_create("leat-test", MFD_CLOEXEC);

    snprintf(path, 600, "/proc/self/fd/%d", fd);
    if (fd < 0 || access(path, R_OK) != 0)
        snprintf(path, 600, "%s/file", folder);
    return fd;
}

/* Text that compresses as text does: words of a small vocabulary. */
static inline void make_text(struct blob *out, size_t bytes, uint64_t *random)
{
    static const char *const words[] = {
        "the ", "mill ", "water", " of", "\n", "and ", "wheel ", "leat, ", "\xc3\xa9"
    };

    while (out->size < bytes) {
        const char *word = words[t_below(random, sizeof words / sizeof words[0])];
        char other[3] = { (char)('a' + t_below(random, 26)), (char)('a' + t_below(random, 26)), ' ' };

        if (t_below(random, 4) == 0)
            blob_add(out, other, 3);
        else
            blob_add(out, word, strlen(word));
    }
    out->size = bytes;
}

/* Reads to the end or the error in pieces of at most `piece`; returns the status that ended it. */
static inline enum leat_status drain(struct byte_stream *s, struct blob *out, size_t piece, struct leat_error *err)
{
    uint8_t *buf = malloc(piece);
    enum leat_status status;
    size_t got;

    if (!buf)
        exit(1);
    do {
        status = byte_stream_read(s, buf, piece, &got, err);
        T_CHECK(got <= piece && (status == LEAT_OK || got == 0));
        if (status == LEAT_OK)
            blob_add(out, buf, got);
    } while (status == LEAT_OK && got > 0);
    if (status == LEAT_OK || status == LEAT_E_TRUNCATED || status == LEAT_E_TEXT) { /* it stays so */
        T_EQ(byte_stream_read(s, buf, piece, &got, err), status);
        T_EQ(got, 0);
    }
    free(buf);
    return status;
}

/* The whole of a file. */
static inline enum leat_status read_stream(const char *path, struct blob *out, size_t piece, struct leat_error *err)
{
    struct byte_stream *s;
    enum leat_status status = byte_stream_open(&s, path, err);

    if (status != LEAT_OK)
        return status;
    status = drain(s, out, piece, err);
    T_EQ(byte_stream_text_position(s), out->size);
    byte_stream_close(s);
    return status;
}

#endif
