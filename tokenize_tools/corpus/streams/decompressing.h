/* decompressing.h: one thread's way to decompress a span: an input of its own, and the state of a decompressor. */
#ifndef LEAT_TOKENIZE_TOOLS_DECOMPRESSING_H
#define LEAT_TOKENIZE_TOOLS_DECOMPRESSING_H

#include <stdatomic.h>

#include "spans.h"

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

/* Decompresses a span of a file that `of` reads, and that stays open. True: its text is whole, and ends where the span
 * does. False also if `closed` becomes true. */
bool decompressing_run(struct decompressing *d, const struct decompressor *decompressor, const struct raw_input *of,
                       struct span *span, const atomic_bool *closed);
void decompressing_free(struct decompressing *d);

#endif
