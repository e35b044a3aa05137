/*
 * huge_batch.h: a batch too large for any memory, as kernels see it: slot and outputs are as large as the batch would
 * be, mapped without memory behind them, so that only the pages that are touched come to be. What a row holds follows
 * from its number; it is written where a test looks. For test_ptx_grids.c.
 */
#ifndef LEAT_TESTS_HUGE_BATCH_H
#define LEAT_TESTS_HUGE_BATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "fake_cuda/ptx.h"
#include "rows/rows_device.h"

#define MAX_BLOCKS 64

struct huge_shape {
    const char *name;
    uint64_t rows, length;
    uint32_t every; /* a document begins at each so many tokens of a row; 0: outputs that need documents are not made */
    bool cu_seqlens, apart; /* apart: rows lie apart */
    uint32_t token_width, number_bytes;
};

struct huge {
    const struct huge_shape *shape;
    struct rows_job job;
    uint8_t *slot;
    uint64_t slot_bytes;
    struct ptx_range ranges[1 + ROWS_OUTPUT_COUNT];
    unsigned range_count;
    struct rows_grid threads;
    uint64_t block_count;
    uint32_t blocks[MAX_BLOCKS];
    unsigned some;
};

/* False: the system gives no such address space. Either way huge_close() follows. */
bool huge_open(struct huge *g);
void huge_close(struct huge *g);
/* As if nothing had run: the outputs are 0. */
void huge_forget(struct huge *g);

/* What rows hold. Some are shorter by one; documents begin at each `every`-th token. */
uint32_t huge_length(const struct huge *g, uint64_t row);
uint32_t huge_token(const struct huge *g, uint64_t row, uint64_t i);
bool huge_flagged(uint64_t row);
uint8_t huge_mask(uint64_t row, uint64_t i);
int32_t huge_source(uint64_t row);
float huge_source_weight(uint64_t row);
/* How many stretches lie before a row: room for its documents and its padding. */
uint64_t huge_stretches(const struct huge *g, uint64_t row);

/* Writes what is needed to make the row's numbers from `begin` to `end`; or only what lies before it. */
void huge_say_row(const struct huge *g, uint64_t row, uint64_t begin, uint64_t end);
void huge_say_head(const struct huge *g, uint64_t row);

#endif
