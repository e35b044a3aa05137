/*
 * class_cuts.h: where a text may be cut without changing its ids, found 64 bytes at a time.
 *
 * Whether a cut is safe depends on the characters around it; here it is decided by the last byte before it and the
 * first byte after it: the cut is safe if no merge joins parts with characters that end and begin with these bytes. The
 * bytes before are put into eight classes, each with a set of bytes that must not follow, so two tables of 256 bytes
 * decide: a cut is made where (before[a] & after[b]) == 0. Putting bytes that are not quite alike into one class only
 * loses cuts; which bytes to put together is chosen by how often they occur in text.
 */
#ifndef LEAT_TOKENIZER_CLASS_CUTS_H
#define LEAT_TOKENIZER_CLASS_CUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A set of pairs of bytes between which must not be cut. */
struct class_cuts_pairs {
    uint64_t rows[256][4];
};

static inline void class_cuts_pairs_add(struct class_cuts_pairs *p, uint8_t before, uint8_t after)
{
    p->rows[before][after / 64] |= (uint64_t)1 << after % 64;
}

struct class_cuts {
    uint8_t before[256], after[256];
    uint8_t bits[256][8]; /* the places of the bits of a byte, for vectors */
};

/* Never cuts between these pairs, nor inside a character. */
void class_cuts_make(struct class_cuts *c, const struct class_cuts_pairs *pairs);

/* Room for cuts that a call needs in addition to those asked for. */
#define CUT_SLACK 64

struct class_cuts_kernels {
    const char *name;
    /*
     * Finds cuts before text[at], from <= at < to <= bytes <= UINT32_MAX, from >= 1, in order: `at` goes to `cuts`.
     * Stops once there are `enough`, at a place that is the same for all rows: *reached, from which on none has been
     * looked for. Returns their number, at most `enough` + CUT_SLACK - 1. All of the text's `bytes` may be read.
     */
    size_t (*find)(const struct class_cuts *c, const uint8_t *text, size_t bytes, size_t from, size_t to,
                   uint32_t *cuts, size_t enough, size_t *reached);
};

/* The fastest row that this CPU has. Constant memory. */
const struct class_cuts_kernels *class_cuts_kernels(void);

/* Row `number`, fastest first, for tests; NULL past the last. `usable` (may be NULL): whether this CPU can run it. */
const struct class_cuts_kernels *class_cuts_kernels_row(unsigned number, int *usable);

#endif
