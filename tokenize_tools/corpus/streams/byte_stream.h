/*
 * byte_stream.h: an input of text as a stream of bytes: a file, standard input or an object on a server, plain or
 * compressed, as its name or its first bytes say. One thread at a time may use a stream.
 *
 * This room turns files into bytes: raw_input reads them and sums their pages, decompressors (a row each) give the
 * text, byte_stream joins both. What may enter: a compression, a place to read bytes from. What the bytes mean is not
 * known here.
 *
 *   zstd  all frames and skippable frames, windows of up to 2 GiB, content checksums checked
 *   gzip  all members, their lengths and checksums checked; zeros after the last one are ignored, as gzip(1) does
 *   xz    all streams, with padding; integrity checks are checked
 *   bzip2 all streams, checksums checked
 *   lz4   all frames and skippable frames, but not legacy ones; checksums checked
 *
 * Compressed data that stops in the middle, or is broken, or is followed by something else: all that was readable is
 * given first, then LEAT_E_TRUNCATED or LEAT_E_TEXT, with a sentence that names file and byte. LEAT_E_UNSUPPORTED: zstd
 * with a dictionary. An error stays.
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

/* The row of a form that is not plain. */
const struct decompressor *byte_stream_decompressor(enum byte_form form);

/* How many bytes of `path` stand before the suffix of a compressed file; all if it has none. */
size_t byte_stream_stem(const char *path);

/*
 * A place where reading can start again, also in another process: plain numbers that can be stored. Valid while the
 * file does not change.
 */
struct byte_mark {
    uint64_t raw_offset;  /* bytes of the file before it */
    uint64_t text_offset; /* bytes of text before it */
    uint8_t sum[16];      /* page sum of the pages of 4096 bytes that lie whole before it, as files hold it */
};

struct byte_stream;

/*
 * Opens `path`, "-" being standard input (which stays open afterwards). On success *out is the caller's until
 * byte_stream_close(); NULL on failure. LEAT_E_TEXT if the name ends in such a suffix and the first bytes are not of
 * that form (of an empty or shorter file, reading says LEAT_E_TRUNCATED); LEAT_E_UNSUPPORTED, with the library that is
 * missing, if the build cannot read the form.
 */
enum leat_status byte_stream_open(struct byte_stream **out, const char *path, struct leat_error *err);

/* The same, from a mark on: gives what the stream that gave the mark gave from there, with the same positions, marks
 * and hash. LEAT_E_UNSUPPORTED for anything but a regular file. */
enum leat_status byte_stream_open_at(struct byte_stream **out, const char *path, const struct byte_mark *mark,
                                     struct leat_error *err);
void byte_stream_close(struct byte_stream *s); /* NULL is fine */

/* The same, from a mark or (NULL) from the start, so that `stop` (NULL: nothing) can end reading with LEAT_E_STOPPED.
 * It must outlive the stream; with it, a file must be regular (LEAT_E_IO). `name` is what sentences call it. `object`:
 * what lies on a server and is called so; NULL: a file. */
enum leat_status byte_stream_open_stoppable(struct byte_stream **out, const char *path, const char *name,
                                            struct fetch_object *object, const struct byte_mark *mark,
                                            const struct input_stop *stop, struct leat_error *err);

/*
 * Reads text into `buf`, as much as has room and comes; *got is 0 only at the end (or if `room` is 0). On failure *got
 * is 0: earlier calls have given what was readable before.
 */
enum leat_status byte_stream_read(struct byte_stream *s, void *buf, size_t room, size_t *got, struct leat_error *err);

/* The same, but returns as soon as it has some bytes: for typed input. */
enum leat_status byte_stream_read_some(struct byte_stream *s, void *buf, size_t room, size_t *got,
                                       struct leat_error *err);

enum byte_form byte_stream_form(const struct byte_stream *s);

/* Its name in messages: the path, or "standard input". The stream's. */
const char *byte_stream_name(const struct byte_stream *s);

/* Bytes of the file used so far, and bytes of text given so far. */
uint64_t byte_stream_raw_position(const struct byte_stream *s);
uint64_t byte_stream_text_position(const struct byte_stream *s);

/* Memory that the stream uses now, about, and how much it may come to use for what it reads now: up to 2 GiB for the
 * window of a zstd frame, of which only as much is used as there is text. */
uint64_t byte_stream_memory(const struct byte_stream *s);
uint64_t byte_stream_max_memory(const struct byte_stream *s);

/* From now on, reading that takes more memory fails with LEAT_E_NO_MEMORY, and byte_stream_outgrew() is true: then a
 * larger limit lets it continue. A new stream has no limit. */
void byte_stream_limit_memory(struct byte_stream *s, uint64_t bytes);
bool byte_stream_outgrew(const struct byte_stream *s);

/*
 * Lets other threads decompress ahead of the stream (spans.h) if its form and file allow: called before anything is
 * read. Spans have at most `most` bytes. And what is to be given to these threads, or NULL; the stream's.
 */
void byte_stream_share(struct byte_stream *s, uint64_t most);
struct spans *byte_stream_spans(const struct byte_stream *s);

/* CPU time of decompressing in the calls that read, but for those that gave text of a span. */
uint64_t byte_stream_decompress_ns(const struct byte_stream *s);

/* How much of the file, from 0 to 1, lies in members that other threads can decompress; no member has `most` bytes. */
double byte_stream_divisible(const struct byte_stream *s, uint64_t most);

/* Whether reading so many bytes would wait for another thread now. */
bool byte_stream_waits(const struct byte_stream *s, uint64_t bytes);

/* Bytes of the file or object when it was opened; UINT64_MAX if it is not a regular file. */
uint64_t byte_stream_size(const struct byte_stream *s);

/* The page sum (FORMAT.md) of the bytes of the file used so far: after the end, of the whole file. */
void byte_stream_hash(const struct byte_stream *s, uint8_t hash[16]);

/*
 * Sets *mark to the last place, at or before the end of the text given so far, where reading can start again: the start
 * of a frame or member; in a plain file, of the page; otherwise, of the file. That a frame ended with the last byte
 * given may be noticed only by the next read.
 */
void byte_stream_mark(const struct byte_stream *s, struct byte_mark *mark);

#endif
