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

/* A pipe or terminal, which may be silent for long while its reader is stopped. */
struct input_source {
    int fd;
    const struct input_stop *stop; /* may be NULL */
    const char *name;
};

/* Waits until there are some bytes, and reads at most `room` of them; *got is 0 at the end (and after a failure).
 * Returns LEAT_E_STOPPED if the stop says so. */
enum leat_status input_wait_read(const struct input_source *from, void *out, size_t room, size_t *got,
                                 struct leat_error *err);

/* ---- Retries ----------------------------------------------------------------------------------------------------- */

/*
 * A regular file. Calls that fail are retried, as those on a dataset's files are (retry_seconds of leat_open_options);
 * `stop` (or NULL) ends that, with LEAT_E_STOPPED. If a server has lost the opened file, it is opened again by its
 * place, and must have the size, inode and time below (LEAT_E_MISMATCH).
 */
struct input_file {
    int fd; /* keeps its number when the file is opened again */
    const char *name;
    const char *place; /* path by which it is opened again; NULL if it is not */
    uint64_t size, inode;
    int64_t modified_s, modified_ns;
};

/* Does what file_open_read() does, with retries. */
enum leat_status input_open(int *fd, uint64_t *size, const char *place, const struct input_stop *stop,
                            struct leat_error *err);

/* Does what file_read_at() does, with retries. */
enum leat_status input_read_at(const struct input_file *f, uint64_t offset, void *out, uint64_t count,
                               const struct input_stop *stop, struct leat_error *err);

/* Reads some bytes from `offset` on; *got is 0 at the end. */
enum leat_status input_read_some(const struct input_file *f, uint64_t offset, void *out, size_t room, size_t *got,
                                 const struct input_stop *stop, struct leat_error *err);

/* The state of a stop that asks another one, ten times per second at most, for reads that mostly take no time. */
struct seldom_stop {
    const struct input_stop *of;
    uint64_t asked_ns;
};

/* Makes such a stop. `s` and `of` must outlive it. */
struct input_stop seldom_stop(struct seldom_stop *s, const struct input_stop *of);

/* ---- Raw bytes --------------------------------------------------------------------------------------------------- */

#define RAW_HEAD 4u /* number of first bytes that show the form */

struct raw_input {
    char *name, *place; /* name for messages; path at which a file was opened */
    int fd;             /* descriptor; -1 for standard input, which is not closed, and for an object */
    bool lent;          /* true if `fd` belongs to another input */
    uint64_t inode;     /* inode of a file, with size and time */
    int64_t modified_s, modified_ns;
    struct fetch *fetch; /* reader of an object; NULL for a file */
    bool seekable;       /* true for an object, and for a regular file that was opened by name */
    uint64_t size;       /* size; UINT64_MAX if it is not known */
    uint8_t head[RAW_HEAD];
    size_t head_bytes; /* number of first bytes, fewer than RAW_HEAD only if the input has no more */
    uint8_t *buffer;
    size_t at, held, room; /* buffer[at..held) has not been used yet */
    uint64_t next;         /* place after these bytes, in a seekable input */
    bool ended;            /* true if no bytes will follow */
    const struct input_stop *stop;
    struct page_sum sum; /* sum of the bytes used; sum.bytes is the place in the file */
};

/* Opens `path` ("-" is standard input), or `object` if that is not NULL, and reads its head, which is not used yet.
 * Messages call it `name`. `stop` (or NULL) can end all reading, and must outlive the input; with a stop, a file is an
 * input of a run, and must be regular, as it was when it was found. */
enum leat_status raw_input_open(struct raw_input *in, const char *path, const char *name, struct fetch_object *object,
                                const struct input_stop *stop, struct leat_error *err);

/* Copies bytes from `offset` on, without using them, of an input of which no byte was used. *got is less than `count`
 * at the end, and on a pipe if a buffer of RAW_BLOCK bytes ends before. */
enum leat_status raw_input_peek(struct raw_input *in, uint64_t offset, void *out, size_t count, size_t *got,
                                struct leat_error *err);

/* Goes to a place of a seekable input; `pages` is the page sum of the whole pages before it. */
enum leat_status raw_input_seek(struct raw_input *in, uint64_t offset, struct hash128 pages, struct leat_error *err);

/* Opens a second input on the file of the seekable input `of`, so that another thread can read it. That thread calls
 * raw_input_seek() first. `of` must stay open until raw_input_close(in), which must follow, on failure too. */
enum leat_status raw_input_share(struct raw_input *in, const struct raw_input *of, struct leat_error *err);

/* Goes to the place of another input of this file, as if all bytes up to there had been used. `after` is the sum of the
 * other input, which began at this input's place with a page sum of zero. */
void raw_input_pass(struct raw_input *in, const struct page_sum *after);

/* Gets a buffer of RAW_BLOCK bytes, for a decompressor. */
enum leat_status raw_input_buffer(struct raw_input *in, struct leat_error *err);

/* Reads more bytes after the unused ones, which are moved to the front, or sets in->ended. The buffer is never full. */
enum leat_status raw_input_fill(struct raw_input *in, struct leat_error *err);

/* Marks `count` bytes of the buffer as used. */
void raw_input_use(struct raw_input *in, size_t count);

/* Reads some bytes past the buffer, and marks them as used; *got is 0 only at the end. */
enum leat_status raw_input_read(struct raw_input *in, void *out, size_t room, size_t *got, struct leat_error *err);

/* Closes the input, which may be half open, or zeroed with fd -1. */
void raw_input_close(struct raw_input *in);

static inline uint64_t raw_input_position(const struct raw_input *in)
{
    return in->sum.bytes;
}

#endif
