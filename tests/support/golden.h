/*
 * golden.h: the datasets of tests/golden/, made anew in memory. Valid ones, and invalid ones that have one defect each,
 * with every checksum repaired that would hide it behind "damaged".
 */
#ifndef LEAT_TESTS_GOLDEN_H
#define LEAT_TESTS_GOLDEN_H

#include <stdbool.h>

#include "craft.h"

struct golden {
    const char *folder; /* "valid" or "invalid" */
    const char *name;
    struct craft craft; /* its index and tokens, these after `before`, are the two files */
    bool no_tokens;     /* no token file */
};

unsigned golden_count(void);

/* Number `i`; freed by craft_free(&g->craft). */
void golden_make(struct golden *g, unsigned i);

/* Of the token file's name: "tokens", or "bin" for a file of another tool. */
const char *golden_suffix(const struct golden *g);

/* Writes the token file of a dataset `path`; false: it could not. */
bool golden_write_tokens(const struct golden *g, const char *path);

/* The content of a valid one written by the library: false if the writer has no way to write it. */
bool golden_write(const struct golden *g, const char *path);

#endif
