/*
 * raw_input.h: the raw bytes of a file, of standard input or of an object on a server, with their page sum. A
 * decompressor takes them from a buffer and says how many it has used; plain text bypasses that buffer and is read
 * straight to its destination.
 */
#ifndef LEAT_TOKENIZE_TOOLS_RAW_INPUT_H
#define LEAT_TOKENIZE_TOOLS_RAW_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "checksum/checksum.h"
#include "corpus/fetch/fetch.h"
#include "leat.h"

/* ---- Waiting ----------------------------------------------------------------------------------------------------- */

/* Reading from what may be silent for long, as a pipe or a terminal, so that the reader can be stopped all the same. */

struct input_source {
    int fd;
    const struct input_stop *stop; /* NULL: never */
    const char *name;
};

/* Reads what is there, at most `room` bytes, and waits while nothing is; *got is 0 at the end (and after a failure).
 * LEAT_E_STOPPED if the stop says so. */
enum leat_status input_wait_read(const struct input_source *from, void *out, size_t room, size_t *got,
                                 struct leat_error *err);

/* ---- Trying again ------------------------------------------------------------------------------------------------ */

/*
 * Calls on regular files that fail are made again, as those on a dataset's are (retry_seconds of leat_open_options);
 * `stop` (NULL: nobody) ends that, with LEAT_E_STOPPED. Where a server no longer has what was opened, the file is
 * opened again by its name, and must be the same (LEAT_E_MISMATCH): nothing else would show bytes of another one.
 */
struct input_file {
    int fd; /* its number stays when the file is opened again */
    const char *name;
    const char *place; /* by which it is opened again; NULL: it is not */
    uint64_t size, inode;
    int64_t modified_s, modified_ns;
};

/* As file_open_read(). */
enum leat_status input_open(int *fd, uint64_t *size, const char *place, const struct input_stop *stop,
                            struct leat_error *err);

/* As file_read_at(). */
enum leat_status input_read_at(const struct input_file *f, uint64_t offset, void *out, uint64_t count,
                               const struct input_stop *stop, struct leat_error *err);

/* Some bytes from there; *got is 0 at the end. */
enum leat_status input_read_some(const struct input_file *f, uint64_t offset, void *out, size_t room, size_t *got,
                                 const struct input_stop *stop, struct leat_error *err);

/* Asks another stop (its `asked` NULL: never), ten times per second at most: where reading begins before the one who
 * is asked has something to see, and mostly takes no time. */
struct seldom_stop {
    const struct input_stop *of;
    uint64_t asked_ns;
};

/* `s` and `of` must outlive what it returns. */
struct input_stop seldom_stop(struct seldom_stop *s, const struct input_stop *of);

/* ---- Raw bytes --------------------------------------------------------------------------------------------------- */

#define RAW_HEAD 4u /* how many first bytes tell the form */

struct raw_input {
    char *name, *place; /* for messages; where a file was opened */
    int fd;             /* -1: standard input, which is not ours to close */
    bool lent;          /* `fd` is another input's */
    uint64_t inode;     /* of a file, as size and time: */
    int64_t modified_s, modified_ns;
    struct fetch *fetch; /* an object's bytes; NULL: not an object, else `fd` is -1 */
    bool seekable;       /* a regular file, opened by name, or an object */
    uint64_t size;       /* UINT64_MAX: unknown */
    uint8_t head[RAW_HEAD];
    size_t head_bytes; /* fewer than RAW_HEAD only if the input has no more */
    uint8_t *buffer;
    size_t at, held, room; /* buffer[at..held) is not used yet */
    uint64_t next;         /* what follows that, in a seekable input */
    bool ended;            /* nothing will come after that */
    const struct input_stop *stop;
    struct page_sum sum; /* of the bytes used; sum.bytes is the place in the file */
};

/* Opens `path` ("-": standard input), called `name` in sentences, or the object of that name (NULL: it is a file), and
 * reads its head, which is still to be used. All reading can be stopped by `stop` (NULL: not), which must outlive the
 * input: a file is an input of a run then, and must be regular, as it was when it was found. */
enum leat_status raw_input_open(struct raw_input *in, const char *path, const char *name, struct fetch_object *object,
                                const struct input_stop *stop, struct leat_error *err);

/* Copies bytes from `offset` on, which stay to be used, of an input of which nothing was used; *got is less than
 * `count` at its end, and on a pipe where a buffer of RAW_BLOCK bytes ends. */
enum leat_status raw_input_peek(struct raw_input *in, uint64_t offset, void *out, size_t count, size_t *got,
                                struct leat_error *err);

/* Goes to a place of a seekable input; `pages` is the page sum of the whole pages before it. */
enum leat_status raw_input_seek(struct raw_input *in, uint64_t offset, struct hash128 pages, struct leat_error *err);

/* A second input that reads the file of a seekable one, which must outlive it, from a place of its own: for another
 * thread, which calls raw_input_seek() first. raw_input_close() also after a failure. */
enum leat_status raw_input_share(struct raw_input *in, const struct raw_input *of, struct leat_error *err);

/* Goes to where another input of the same file stands, as if all up to there had been used. `after` is its sum, which
 * began where this input stands with a page sum of zero. */
void raw_input_pass(struct raw_input *in, const struct page_sum *after);

/* Gets a buffer of RAW_BLOCK bytes, for a decompressor. */
enum leat_status raw_input_buffer(struct raw_input *in, struct leat_error *err);

/* Reads more bytes after the unused ones, which are moved to the front, or sets in->ended. The buffer is never full. */
enum leat_status raw_input_fill(struct raw_input *in, struct leat_error *err);

/* Marks `count` bytes of the buffer as used. */
void raw_input_use(struct raw_input *in, size_t count);

/* Reads some bytes past the buffer, and marks them as used; *got is 0 only at the end. */
enum leat_status raw_input_read(struct raw_input *in, void *out, size_t room, size_t *got, struct leat_error *err);

/* Accepts one that is half open, or all zero with fd -1. */
void raw_input_close(struct raw_input *in);

static inline uint64_t raw_input_position(const struct raw_input *in)
{
    return in->sum.bytes;
}

#endif
