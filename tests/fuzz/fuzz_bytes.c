/*
 * fuzz_bytes.c: a file of any bytes as a stream: plain or compressed, as they begin. Whatever the file is, reading
 * ends; reading in other pieces gives the same text and the same end; from a mark it goes on with the same.
 *
 * The input is a byte that chooses the pieces, then the file.
 */
#include <stdbool.h>

#include "corpus/streams/byte_stream.h"
#include "files.h"

/* More text than that is not read: a few bytes of zstd can stand for much. */
#define MOST ((size_t)1 << 18)

struct reading {
    uint8_t *text;
    size_t bytes;
    enum leat_status status; /* LEAT_OK also if there is more than MOST */
    uint8_t hash[16];
    struct byte_mark mark; /* somewhere in the middle */
};

static void read_all(struct byte_stream *s, size_t piece, size_t mark_at, struct reading *r)
{
    struct leat_error err = { 0 };
    size_t got = 1;

    r->text = malloc(MOST);
    r->bytes = 0;
    r->status = LEAT_OK;
    FUZZ_CHECK(r->text);
    while (r->status == LEAT_OK && got > 0 && r->bytes < MOST) {
        size_t room = piece < MOST - r->bytes ? piece : MOST - r->bytes;

        if (r->bytes <= mark_at)
            byte_stream_mark(s, &r->mark);
        r->status = byte_stream_read(s, r->text + r->bytes, room, &got, &err);
        FUZZ_CHECK(got <= room && (got == 0 || r->status == LEAT_OK));
        r->bytes += got;
    }
    FUZZ_CHECK(r->status == LEAT_OK || ((r->status == LEAT_E_TEXT || r->status == LEAT_E_TRUNCATED ||
                                         r->status == LEAT_E_NO_MEMORY || r->status == LEAT_E_UNSUPPORTED) &&
                                        err.status == r->status && err.message[0]));
    FUZZ_CHECK(byte_stream_raw_position(s) <= byte_stream_size(s));
    byte_stream_hash(s, r->hash);
}

FUZZ_TARGET(bytes)
{
    struct leat_error err = { 0 };
    struct reading once, again, later;
    struct byte_stream *s;
    const char *path;

    files_begin();
    if (size == 0)
        return 0;
    files_write("input", data + 1, size - 1);
    path = files_path("input");
    if (byte_stream_open(&s, path, &err) != LEAT_OK) {
        FUZZ_CHECK(err.status == LEAT_E_UNSUPPORTED && err.message[0]);
        return 0;
    }
    read_all(s, MOST, 0, &once);
    byte_stream_close(s);
    FUZZ_CHECK(byte_stream_open(&s, path, &err) == LEAT_OK);
    read_all(s, 1u + data[0] * 16u, data[0] * 64u, &again);
    byte_stream_close(s);
    FUZZ_CHECK(byte_stream_open_at(&s, path, &again.mark, &err) == LEAT_OK);
    FUZZ_CHECK(byte_stream_text_position(s) == again.mark.text_offset && again.mark.text_offset <= again.bytes);
    read_all(s, 1000, 0, &later);
    byte_stream_close(s);
    if (once.bytes < MOST && once.status != LEAT_E_NO_MEMORY && again.status != LEAT_E_NO_MEMORY) {
        size_t skipped = (size_t)again.mark.text_offset;

        FUZZ_CHECK(again.status == once.status && later.status == once.status);
        FUZZ_CHECK(again.bytes == once.bytes);
        FUZZ_CHECK(later.bytes == once.bytes - skipped);
        FUZZ_CHECK(memcmp(once.text, again.text, once.bytes) == 0);
        FUZZ_CHECK(memcmp(once.text + skipped, later.text, later.bytes) == 0);
        FUZZ_CHECK(once.status != LEAT_OK ||
                   (memcmp(once.hash, again.hash, 16) == 0 && memcmp(once.hash, later.hash, 16) == 0));
    }
    free(once.text);
    free(again.text);
    free(later.text);
    return 0;
}
