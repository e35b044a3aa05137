/*
 * pack_setup.c: how the bound on memory is spent. A share is for the one pretoken that cannot be cut: it depends on
 * nothing but the bound, since what is refused for it must not differ from machine to machine. What the process holds
 * already (the vocabulary above all) and what the writer and each thread's encoder need is taken off; of the rest most
 * is for units on their way, and some stays free for what malloc() does not give back.
 */
#include "pack_setup.h"

#include <stdio.h>
#include <unistd.h>

#include "base/status.h"
#include "base/tiny.h"
#include "tokenizer/pipeline/encoder_valid.h"

#define MIB         ((uint64_t)1 << 20)
#define UNIT_MAX    TINY_OR(16384, MIB)
#define UNIT_MIN    TINY_OR(4096, 64 << 10)
#define LONG_MAX    TINY_OR(8192, 16 * MIB)
#define THREAD_COST (8 * MIB)  /* an encoder's caches, a stack */
#define WRITER_COST (24 * MIB) /* leat_writer_open() says 20 */

/* The share of the bound for a stretch that cannot be cut: a quarter. */
#define PRETOKEN_SHARE 4

/* Memory for a text of one byte while it is encoded: the text, ids in 32 bits (a list that doubles), in the stored
 * width (another), and its share of records. */
#define COST_A_BYTE 20

static uint64_t resident_bytes(void)
{
    FILE *f = fopen("/proc/self/statm", "re");
    unsigned long long pages = 0;

    if (!f)
        return 64 * MIB;
    if (fscanf(f, "%*u %llu", &pages) != 1)
        pages = 0;
    fclose(f);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Memory left for units and pretokens; 0 if there is none. */
static uint64_t left_over(uint64_t bound, uint64_t held, unsigned threads)
{
    uint64_t fixed = held + WRITER_COST + threads * THREAD_COST + bound / PRETOKEN_SHARE;

    return bound > fixed ? bound - fixed : 0;
}

enum leat_status pack_setup_memory(struct pack_setup *s, uint64_t bound, struct leat_error *err)
{
    uint64_t held = resident_bytes(), min = 4 * UNIT_MIN * COST_A_BYTE, left;

    /* a small bound is better kept with fewer threads than with tiny units */
    while (s->threads > 1 && left_over(bound, held, s->threads) < s->threads * UNIT_MAX * COST_A_BYTE * 2)
        s->threads--;
    left = left_over(bound, held, s->threads);
    if (left < min)
        return status_set_hint(err, LEAT_E_ARGUMENT, LEAT_HINT_MEMORY,
                               "%.1f MiB of memory is too little for this tokenizer; allow at least %llu MiB",
                               (double)bound / (double)MIB,
                               (unsigned long long)((held + WRITER_COST + THREAD_COST + min) / (PRETOKEN_SHARE - 1) *
                                                        PRETOKEN_SHARE / MIB +
                                                    1));
    s->flight_bytes = left / 2 + left / 8;
    s->unit_bytes = UNIT_MAX;
    while (s->unit_bytes > UNIT_MIN && s->unit_bytes * COST_A_BYTE * 2 * s->threads > s->flight_bytes)
        s->unit_bytes /= 2;
    s->unit_cost = s->unit_bytes * COST_A_BYTE / 2;
    s->long_bytes = s->flight_bytes / s->threads / COST_A_BYTE / 2;
    if (s->long_bytes > LONG_MAX)
        s->long_bytes = LONG_MAX;
    if (s->long_bytes < s->unit_bytes)
        s->long_bytes = s->unit_bytes;
    s->pretoken_bytes = left / 5 / s->threads; /* a quarter of it for the cache of pretokens */
    s->long_pretoken_bytes = bound / PRETOKEN_SHARE;
    return LEAT_OK;
}

enum leat_status pack_setup_long_encoder(struct pack_setup *s, struct leat_encoder **out, struct leat_error *err)
{
    struct leat_encoder_options options = LEAT_ENCODER_OPTIONS_INIT;
    enum leat_status status = LEAT_OK;

    options.special = s->special;
    options.max_bytes = s->long_pretoken_bytes;
    if (!s->long_encoder) {
        status = leat_encoder_open(&s->long_encoder, s->tokenizer, &options, err);
        if (status == LEAT_OK)
            encoder_valid(s->long_encoder);
    }
    *out = s->long_encoder;
    return status;
}
