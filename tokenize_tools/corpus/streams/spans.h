/*
 * spans.h: a compressed file decompressed by several threads. A *span* is some whole members (frames) that lie one
 * after another. Members do not depend on each other, and the headers of some kinds say where they end (members.h). So
 * threads that have nothing else to do look for the next spans, and decompress them ahead of the stream, which takes
 * their texts when it comes to them. The stream never waits for a span that no thread has begun: it decompresses that
 * one itself, and all members that cannot be found.
 *
 * The stream's text does not depend on this. It takes a span only at the end of a member, and only if the decompressor
 * of the span, fed with the bytes from there on, came to the end of a member at the end of the span. A span with any
 * other result, because the file is damaged or memory is short, is dropped, and the stream decompresses its bytes.
 */
#ifndef LEAT_TOKENIZE_TOOLS_SPANS_H
#define LEAT_TOKENIZE_TOOLS_SPANS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "decompressor.h"

struct spans;

struct span {
    uint64_t begin, end; /* places in the file */
    uint8_t *text;
    size_t bytes;
    struct page_sum sum; /* for raw_input_pass() */

    /* these members are used by spans.c alone: */
    enum { SPAN_CLAIMED, SPAN_READY, SPAN_FAILED, SPAN_DROPPED } state;
    struct decompressing *by;
    size_t room, needs;
    struct span *next;
};

/* Makes spans of at most `most` bytes for a seekable input that stands at its start or after a member. Returns NULL if
 * that is not possible, or there is no memory: then the stream decompresses all itself. */
struct spans *spans_open(const struct raw_input *in, const struct decompressor *d, uint64_t most);

/* ---- For the stream ---- */

/* Ends the work: no span is begun afterwards. Frees all that no other thread uses. NULL is fine. */
void spans_close(struct spans *s);

/* Returns the span that begins at `at`, where the stream stands after a member; waits if another thread decompresses
 * it. Returns NULL if the stream must decompress itself. The stream owns the span until spans_give_back(). */
struct span *spans_take(struct spans *s, uint64_t at);
void spans_give_back(struct spans *s, struct span *span);

/* Returns true if a stream that has `left` bytes of text before `at` would wait for another thread to give `bytes`. No
 * other thread may use the stream meanwhile. */
bool spans_wait(struct spans *s, uint64_t at, uint64_t left, uint64_t bytes);

/* ---- For other threads, which hold a reference ---- */

void spans_hold(struct spans *s);
void spans_release(struct spans *s); /* NULL is fine */

enum spans_work { SPANS_NOTHING, SPANS_LOOK, SPANS_DECOMPRESS };

/* Claims work that takes at most `bytes` more memory. The caller must do it: spans_look(), or spans_decompress() with
 * *span. Neither this nor spans_memory() takes long. */
enum spans_work spans_claim(struct spans *s, uint64_t bytes, struct span **span);
void spans_look(struct spans *s);
void spans_decompress(struct spans *s, struct span *span);

/* Returns the memory that spans take, including spans that were claimed and are not decompressed yet. */
uint64_t spans_memory(struct spans *s);

/* ---- One thread's way to decompress a span ----------------------------------------------------------------------- */

/* An input of its own, and the state of a decompressor; zeroed at first. */
struct decompressing {
    struct raw_input in;
    const struct decompressor *decompressor;
    void *state;   /* state after a member; NULL if it is not open */
    uint64_t cost; /* memory that it takes; used by spans.c alone */
    struct decompressing *next;
};

/* Room that a span's text needs in addition to its size, so that each step finds some. */
#define SPAN_SLACK 64u

#endif
