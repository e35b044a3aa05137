/*
 * byte_stream.h: an input of text as a stream of bytes: a file, standard input or an object on a server, plain or
 * compressed, as its name or its first bytes say. One thread at a time may use a stream.
 *
 * This room turns files into bytes: raw_input reads them and sums their pages, decompressors (a row each) make the
 * text, and byte_stream joins both. What may enter: a compression, a place to read bytes from. The room does not know
 * what the bytes mean.
 *
 *   zstd  all frames and skippable frames, windows of up to 2 GiB, content checksums checked
 *   gzip  all members, their lengths and checksums checked; zeros after the last one are ignored, as gzip(1) does
 *   xz    all streams, with padding; integrity checks are checked
 *   bzip2 all streams, checksums checked
 *   lz4   all frames and skippable frames, but not legacy ones; checksums checked
 *
 * If compressed data stops in the middle, is broken or is followed by other bytes, a stream first gives all readable
 * text, then returns LEAT_E_TRUNCATED or LEAT_E_TEXT, with a sentence that names file and byte. It returns
 * LEAT_E_UNSUPPORTED for zstd with a dictionary. An error stays.
 */
#ifndef LEAT_TOKENIZE_TOOLS_BYTE_STREAM_H
#define LEAT_TOKENIZE_TOOLS_BYTE_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "decompressor.h"
#include "leat.h"
#include "spans.h"

#define BYTE_FORM_OF(form, name) BYTE_FORM_##form,
enum byte_form { BYTE_FORM_PLAIN = 0, DECOMPRESSORS(BYTE_FORM_OF) BYTE_FORMS };

/* Returns the row of a form that is not plain. */
const struct decompressor *byte_stream_decompressor(enum byte_form form);

/* Returns the length of `path` without the suffix of a compressed file. */
size_t byte_stream_stem(const char *path);

/*
 * A place at which reading can start again, also in another process: plain numbers that can be stored. It is valid
 * while the file does not change.
 */
struct byte_mark {
    uint64_t raw_offset;  /* bytes of the file before it */
    uint64_t text_offset; /* bytes of text before it */
    uint8_t sum[16];      /* page sum of the whole pages of 4096 bytes before it, as files hold it */
};

struct byte_stream;

/*
 * Opens `path`; "-" is standard input, which is not closed. On success *out is the caller's until byte_stream_close();
 * NULL on failure. Returns LEAT_E_TEXT if the name ends in a suffix of a form that the first bytes do not have (if the
 * file is too short for them, reading returns LEAT_E_TRUNCATED); LEAT_E_UNSUPPORTED, with the missing library, if the
 * build cannot read the form.
 */
enum leat_status byte_stream_open(struct byte_stream **out, const char *path, struct leat_error *err);

/* Opens `path` at a mark: the stream then gives the text, positions, marks and hash that the stream of the mark gives
 * from there on. Returns LEAT_E_UNSUPPORTED for anything but a regular file. */
enum leat_status byte_stream_open_at(struct byte_stream **out, const char *path, const struct byte_mark *mark,
                                     struct leat_error *err);
void byte_stream_close(struct byte_stream *s); /* NULL is fine */

/* Opens a file, or `object` on a server if that is not NULL, at a mark or at its start if `mark` is NULL. `stop` (or
 * NULL) can end reading with LEAT_E_STOPPED; it must outlive the stream. With a stop, a file must be regular (else
 * LEAT_E_IO). Messages call the stream `name`. */
enum leat_status byte_stream_open_stoppable(struct byte_stream **out, const char *path, const char *name,
                                            struct fetch_object *object, const struct byte_mark *mark,
                                            const struct input_stop *stop, struct leat_error *err);

/*
 * Reads text into `buf`, as much as has room; *got is less only at the end, and 0 after it. On failure *got is 0, and
 * earlier calls have given all readable text.
 */
enum leat_status byte_stream_read(struct byte_stream *s, void *buf, size_t room, size_t *got, struct leat_error *err);

/* Reads text into `buf`, and returns as soon as there is some, for input that is typed. */
enum leat_status byte_stream_read_some(struct byte_stream *s, void *buf, size_t room, size_t *got,
                                       struct leat_error *err);

enum byte_form byte_stream_form(const struct byte_stream *s);

/* Returns the stream's name in messages, which it owns: the path, or "standard input". */
const char *byte_stream_name(const struct byte_stream *s);

/* Returns the bytes of the file that were used so far. */
uint64_t byte_stream_raw_position(const struct byte_stream *s);

/* Returns the bytes of text that were given so far. */
uint64_t byte_stream_text_position(const struct byte_stream *s);

/* Returns about how many bytes of memory the stream uses now. */
uint64_t byte_stream_memory(const struct byte_stream *s);

/* Returns how many bytes of memory the present frame or member may take: up to 2 GiB for the window of a zstd frame, of
 * which only as much is used as there is text. */
uint64_t byte_stream_max_memory(const struct byte_stream *s);

/* Limits memory to `bytes` from now on; a new stream has no limit. Reading that needs more fails with LEAT_E_NO_MEMORY,
 * and byte_stream_outgrew() returns true; a larger limit lets the stream go on. */
void byte_stream_limit_memory(struct byte_stream *s, uint64_t bytes);
bool byte_stream_outgrew(const struct byte_stream *s);

/*
 * Lets other threads decompress ahead of the stream (spans.h) if its form and file allow it. Called before anything is
 * read. Spans have at most `most` bytes.
 */
void byte_stream_share(struct byte_stream *s, uint64_t most);

/* Returns the spans for these threads, which the stream owns, or NULL. */
struct spans *byte_stream_spans(const struct byte_stream *s);

/* Returns the CPU time of decompressing in calls that read, except those that gave the text of a span. */
uint64_t byte_stream_decompress_ns(const struct byte_stream *s);

/* Returns the share of the file, from 0 to 1, in members of fewer than `most` bytes, which other threads can
 * decompress. */
double byte_stream_divisible(const struct byte_stream *s, uint64_t most);

/* Returns true if reading `bytes` bytes would now wait for another thread. */
bool byte_stream_waits(const struct byte_stream *s, uint64_t bytes);

/* Returns the size of the file or object when it was opened; UINT64_MAX if it is not a regular file. */
uint64_t byte_stream_size(const struct byte_stream *s);

/* Computes the page sum (FORMAT.md) of the bytes of the file that were used so far; at the end, of the whole file. */
void byte_stream_hash(const struct byte_stream *s, uint8_t hash[16]);

/*
 * Sets *mark to the last place, at or before the end of the text given so far, at which reading can start again: the
 * start of a frame or member; in a plain file, of a page; otherwise, of the file. If a frame ended with the last byte
 * that was given, only the next read may notice it.
 */
void byte_stream_mark(const struct byte_stream *s, struct byte_mark *mark);

#endif
