/* rows_made.h: a slot of random rows, and a job that makes all outputs of it, for tests of what runs such jobs. */
#ifndef LEAT_TESTS_ROWS_MADE_H
#define LEAT_TESTS_ROWS_MADE_H

#include "rows/rows.h"

#define ROWS_MADE_BYTES 32768 /* enough for an output */
struct rows_made {
    uint64_t slot[4096];
    _Alignas(16) uint8_t outputs[ROWS_OUTPUT_COUNT][ROWS_MADE_BYTES];
    struct rows_job job; /* of up to 6 rows with up to 153 numbers */
};
void rows_make(struct rows_made *made, uint64_t *random);

/* The same with rows in segments. */
void rows_make_segments(struct rows_made *made, uint64_t *random);

#endif
