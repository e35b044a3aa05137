/*
 * sink.h: a file that grows at its end, filled by several threads. The writer has one for the tokens and one per
 * section that grows with the documents, so that these do not stay in memory.
 *
 * Each thread puts its bytes where its stream begins. The writer sees to it that every byte comes exactly once, and
 * in the end without a gap. Bytes gather in *frames*, aligned stretches of the file in memory, of whole pages. The
 * thread whose bytes complete a frame hashes its pages and writes it, with one call, whatever order the bytes came
 * in. Page sums can be added in any order, so the sink has that of the file. A lock covers the list of frames and
 * the sum. Complete frames may go past the page cache; the last one, which is not complete, never does.
 */
#ifndef LEAT_SINK_H
#define LEAT_SINK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/file.h"
#include "checksum/checksum.h"
#include "leat.h"

struct sink;
struct pens;

struct sink_frame {
    uint64_t offset; /* offset in the file: a multiple of the sink's frame_bytes */
    size_t filled;   /* bytes that streams have reported */
    struct sink_frame *next;
    _Alignas(FILE_DIRECT_ALIGN) uint8_t bytes[];
};

/* A thread's way to put bytes one after another; sink_stream() makes one. */
struct sink_stream {
    struct sink *sink;
    uint64_t at; /* offset of the next byte */
    struct sink_frame *frame;
    size_t unreported; /* bytes of it */
};

/* Takes the hashes of the pages of each complete frame, and of the rest of the file at the end. They come in any
 * order, from any thread. */
typedef enum leat_status sink_take_hashes(void *context, uint64_t first_page, const uint32_t *hashes, size_t pages,
                                          struct leat_error *err);

struct sink {
    char *path;
    int fd;
    size_t frame_bytes;
    struct pens *pens; /* threads that write frames that end after direct_from; NULL: there are none */
    uint64_t direct_from;
    sink_take_hashes *take_hashes; /* NULL: none */
    void *context;
    pthread_mutex_t lock; /* for the rest: */
    struct sink_frame *open, *spare;
    unsigned spare_count;
    struct hash128 complete; /* page sum of the complete frames */
};

#define SINK_MAX_FRAME ((size_t)1 << 20)

/* Creates the file, which must not exist. Copies `path`; `frame_bytes` is whole pages, at most SINK_MAX_FRAME. On
 * failure the struct is as after sink_close(). */
enum leat_status sink_create(struct sink *s, const char *path, size_t frame_bytes, struct leat_error *err);

/* How far reading back has come, for the caller's progress function (NULL: none), which may stop it. */
struct sink_reading {
    uint32_t (*progress)(void *context, uint64_t done, uint64_t total);
    void *context;
    uint64_t done, total; /* bytes */
    uint64_t next_ns;     /* clock_ns() at which to call it again */
};

/* Opens the file that a killed run left, and reads back its first `size` bytes, whose page sum must be `sum`;
 * changes nothing. Returns LEAT_E_CHECKPOINT if the file is shorter or holds other bytes. */
enum leat_status sink_reopen(struct sink *s, const char *path, size_t frame_bytes, uint64_t size, struct hash128 sum,
                             struct sink_reading *reading, struct leat_error *err);

/* Cuts a reopened file to what was read back. */
enum leat_status sink_cut(struct sink *s, uint64_t size, struct leat_error *err);

/* Lets bytes from `from` on be written past the page cache, if the file's system can do that. `size` is the present
 * size. */
void sink_begin_direct(struct sink *s, uint64_t from, uint64_t size);

/* Returns how many bytes were written past the page cache. */
uint64_t sink_direct_bytes(const struct sink *s);

/* Waits for direct writes under way, and ends direct writing. Nothing changes the file after that, unless a stream
 * does. */
void sink_end_direct(struct sink *s);

/* Cuts off what was reserved after the last byte, if bytes are written directly. */
enum leat_status sink_trim(struct sink *s, uint64_t size, struct leat_error *err);

/* Writes the beginning of a frame that is not full yet, and keeps it in memory. With `last`, which comes once, also
 * gives out the hashes of its pages. All streams must have ended, and no byte may be missing. */
enum leat_status sink_flush(struct sink *s, bool last, struct leat_error *err);

/* Returns the page sum of the file, including bytes still in memory. All streams must have ended. */
struct hash128 sink_sum(const struct sink *s);

/* Closes without writing what is in memory. A zeroed struct with fd -1 is fine. */
void sink_close(struct sink *s);

/* ---- Any thread ---- */

static inline struct sink_stream sink_stream(struct sink *s, uint64_t offset)
{
    return (struct sink_stream) { .sink = s, .at = offset };
}

enum leat_status sink_stream_put(struct sink_stream *t, const void *bytes, size_t count, struct leat_error *err);
enum leat_status sink_stream_put_u64(struct sink_stream *t, uint64_t value, struct leat_error *err);

/* Reports the bytes that were put; without this, the last frame is never complete. The stream can be used again, at
 * `at`. */
enum leat_status sink_stream_end(struct sink_stream *t, struct leat_error *err);

#endif
