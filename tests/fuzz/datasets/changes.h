/*
 * changes.h: a dataset's two files in memory, and the changes that fuzz_verify.c makes of them: a number somewhere, a
 * size, the pairs of the metadata. Which one, and where, the input says.
 */
#ifndef LEAT_TESTS_FUZZ_CHANGES_H
#define LEAT_TESTS_FUZZ_CHANGES_H

#include "fuzz/fuzz.h"

#define CHANGES_BYTES  8u   /* of an input, for one change */
#define CHANGES_GROWTH 256u /* each file may become so many bytes longer */

/* A file in memory. */
struct file {
    uint8_t *bytes; /* CHANGES_GROWTH more than there were at first, all allocated */
    uint64_t size, room;
};

struct files {
    struct file index, tokens;
    unsigned options;
};

/* Entry `which` of the section table, of those that the header counts and that lie in the file; or NULL. */
uint8_t *changes_entry(const struct files *f, uint32_t which);

/* The bytes that an entry names, if they are in the file. */
uint8_t *changes_section(const struct files *f, const uint8_t *entry, uint64_t *size);

/* Makes the change that the next CHANGES_BYTES of the input describe. */
void changes_make(struct files *f, struct fuzz_bytes *in);

#endif
