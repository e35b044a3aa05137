/*
 * spans.h: a compressed file decompressed by several threads. A *span* is some whole members (frames) that lie one
 * after another. Members do not depend on each other, and where some kinds of them end can be told from their headers
 * (members.h). So threads that have nothing else to do look for the next spans, and decompress them ahead of the
 * stream, which takes their texts when it comes to them. The stream never waits for a span that nobody has begun: it
 * decompresses that in turn, as it does all that cannot be found.
 *
 * What the stream gives does not depend on this. It takes a span only where it has itself come to the end of a member,
 * and only if the same decompressor, fed with the bytes from there on, came to the end of a member where the span ends.
 * Whatever else comes of a span, because the file is damaged or memory is short, is dropped, and these bytes are
 * decompressed in turn.
 */
#ifndef LEAT_TOKENIZE_TOOLS_SPANS_H
#define LEAT_TOKENIZE_TOOLS_SPANS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "decompressor.h"

struct spans;

struct span {
    uint64_t begin, end; /* in the file */
    uint8_t *text;
    size_t bytes;
    struct page_sum sum; /* for raw_input_pass() */

    /* spans.c's: */
    enum { SPAN_CLAIMED, SPAN_READY, SPAN_FAILED, SPAN_DROPPED } state;
    struct decompressing *by;
    size_t room, needs;
    struct span *next;
};

/* For a seekable input that stands at its start or after a member; spans have at most `most` bytes, and no member with
 * more is looked for. NULL: not possible, or no memory for it: then the input is decompressed in turn. */
struct spans *spans_open(const struct raw_input *in, const struct decompressor *d, uint64_t most);

/* ---- For the stream ---- */

/* Ends the work: nothing is begun any more. Frees what no other thread uses. NULL is fine. */
void spans_close(struct spans *s);

/* The span that begins where the stream stands, after a member; it waits for one that is being decompressed. NULL: what
 * follows is decompressed in turn. The span is the stream's until spans_give_back(). */
struct span *spans_take(struct spans *s, uint64_t at);
void spans_give_back(struct spans *s, struct span *span);

/* Whether a stream that has `left` bytes of text before `at` would wait for another thread if it is to give `bytes`.
 * No other thread may use the stream meanwhile. */
bool spans_wait(struct spans *s, uint64_t at, uint64_t left, uint64_t bytes);

/* ---- For other threads, which hold a reference ---- */

void spans_hold(struct spans *s);
void spans_release(struct spans *s); /* NULL is fine */

enum spans_work { SPANS_NOTHING, SPANS_LOOK, SPANS_DECOMPRESS };

/* What there is to do that takes at most so much more memory. The caller must do it: spans_look(), or
 * spans_decompress() with *span. Neither this nor spans_memory() takes long. */
enum spans_work spans_claim(struct spans *s, uint64_t bytes, struct span **span);
void spans_look(struct spans *s);
void spans_decompress(struct spans *s, struct span *span);

/* Memory that spans take, with those that were claimed and are not decompressed yet. */
uint64_t spans_memory(struct spans *s);

/* ---- One thread's way to decompress a span ----------------------------------------------------------------------- */

/* One thread's way to decompress a span: an input of its own, and the state of a decompressor. */

/* All zero is a new one. */
struct decompressing {
    struct raw_input in;
    const struct decompressor *decompressor;
    void *state;   /* after a member; NULL: not open */
    uint64_t cost; /* spans.c's: memory */
    struct decompressing *next;
};

/* A span's text needs room for so much more than it has, so that no step finds none. */
#define SPAN_SLACK 64u

#endif
