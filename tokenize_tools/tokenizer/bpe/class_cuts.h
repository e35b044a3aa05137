/*
 * class_cuts.h: finds places at which a text may be cut without changing its ids, 64 bytes at a time.
 *
 * A cut is safe or not by the characters around it; here the last byte before it and the first byte after it decide:
 * the cut is safe if no merge joins parts with characters that end and begin with these bytes. The bytes before are put
 * into eight classes, each with a set of bytes that must not follow, so two tables of 256 bytes decide: a cut is made
 * where (before[a] & after[b]) == 0. Putting bytes that are not quite alike into one class only loses cuts; bytes are
 * put together by how often they occur in text.
 */
#ifndef LEAT_TOKENIZER_CLASS_CUTS_H
#define LEAT_TOKENIZER_CLASS_CUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A set of pairs of bytes that must not be cut apart. */
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

/* Makes tables that cut neither these pairs nor characters apart. */
void class_cuts_make(struct class_cuts *c, const struct class_cuts_pairs *pairs);

/* Room for cuts that a call needs in addition to the cuts that are asked for. */
#define CUT_SLACK 64

struct class_cuts_kernels {
    const char *name;
    /*
     * Writes the places of cuts to `cuts`, in order: a cut at place `at` lies before text[at], with 1 <= from <= at <
     * to <= bytes <= UINT32_MAX. Stops once there are `enough`, and sets *reached to the place at which the search
     * stopped, which all rows agree on. Returns the number of cuts, at most `enough` + CUT_SLACK - 1. May read all of
     * the text's `bytes`.
     */
    size_t (*find)(const struct class_cuts *c, const uint8_t *text, size_t bytes, size_t from, size_t to,
                   uint32_t *cuts, size_t enough, size_t *reached);
};

/* Returns the fastest row that this CPU can run, in constant memory. */
const struct class_cuts_kernels *class_cuts_kernels(void);

/* Returns row `number`, fastest first, for tests; NULL past the last. Sets *usable (may be NULL) if this CPU can run
 * it. */
const struct class_cuts_kernels *class_cuts_kernels_row(unsigned number, int *usable);

#endif
