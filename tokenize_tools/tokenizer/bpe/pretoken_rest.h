/*
 * pretoken_rest.h: takes as many pretokens of a run as fit a batch (pretoken_batch.h), and minds what kernels must not
 * do: read past the end of the text, or take a part of a pretoken for all of it.
 */
#ifndef LEAT_TOKENIZER_PRETOKEN_REST_H
#define LEAT_TOKENIZER_PRETOKEN_REST_H

#include "pretoken_batch.h"

/* What is left of a run of pretokens: the next one begins at `begin`, or the rest of a cut one does. */
struct pretoken_rest {
    const uint8_t *text;
    size_t bytes; /* that can be read */
    uint32_t begin;
    const uint32_t *ends, *last;
    bool inside; /* of a cut pretoken */
};

/* Where the batch's text lies, and the last place at which a pretoken may begin: kernels read on after it. The last
 * pretokens of a text go from a copy. */
struct pretoken_place {
    uint8_t copy[3 * PRETOKEN_AHEAD];
    size_t room; /* bytes that can be read */
    uint32_t max;
};

/* Where a pretoken ends. */
static inline uint32_t pretoken_end(const uint32_t *end)
{
    return *end & ~BATCH_FIXED;
}

/* Comes before pretoken_fill(). The batch's text is that of the rest, or lies in `p`. */
void pretoken_place_text(struct pretoken_place *p, struct pretoken_batch *b, const struct pretoken_rest *r);

/* Takes as many pretokens as fit a batch, and cuts them where they have characters beyond ASCII. Left for the next
 * batch are a pretoken that may go on after the batch, and pretokens that begin where kernels cannot read. A batch that
 * stays empty: the next pretoken is longer than a batch, and must be encoded without one. `orphans` may be NULL. */
void pretoken_fill(struct pretoken_batch *b, const struct pretoken_kernels *kernels, const struct byte_cuts *cuts,
                   const struct orphans *orphans, struct pretoken_rest *r, const struct pretoken_place *p);

#endif
