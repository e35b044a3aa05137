/*
 * loading.h: what the tests of the loader share: datasets of counting tokens, in which the token at position p is a
 * function of p, so that every row can be checked by itself; plans over them; and the check of a batch against the
 * plan, number by number, by another way than the loader's.
 */
#ifndef LEAT_TESTS_LOADER_LOADING_H
#define LEAT_TESTS_LOADER_LOADING_H

#include "bench/data/counting.h"
#include "gather/gather.h"
#include "t.h"

#define LOADING_MAX_SOURCES 4u

/* How many threads a loader has: none, one, and one with a pool (gather/gather_pool.h), whose chunks have one piece. */
static const uint32_t loading_threads[] = { 0, 1, 2, 3, 8 };
#define LOADING_THREADS (sizeof loading_threads / sizeof *loading_threads)

/* A plan over counting datasets of these widths and sizes. */
struct loading {
    struct leat_plan *plan;
    unsigned width;
    uint64_t mean; /* length of documents */
    char names[LOADING_MAX_SOURCES][700];
};

static inline void loading_write(const char *name, uint64_t tokens, unsigned width, uint64_t mean)
{
    struct counting_options o = COUNTING_OPTIONS_INIT;

    o.tokens = tokens;
    o.width = width;
    o.document_length = mean;
    T_OK(counting_write(name, &o, NULL, &t_err));
}

/* The tokens of one sample: length + 1 of them. */
static inline uint32_t loading_token(const struct loading *w, const struct leat_sample *x, uint64_t i)
{
    return counting_token(x->offset + i, w->width); /* each part counts from 0 */
}

/* Whether a document of a part begins at this token: by going through all documents. */
struct loading_starts {
    uint8_t *bits; /* a byte a token */
    uint64_t tokens;
};

static inline struct loading_starts loading_starts(uint64_t tokens, uint64_t mean)
{
    struct loading_starts s = { calloc(tokens + 1, 1), tokens };
    uint64_t at = 0;

    for (uint64_t n = 0; at < tokens; n++) {
        s.bits[at] = 1;
        at += counting_length(n, mean);
    }
    return s;
}

static inline uint32_t loading_stored(const struct leat_batch *b, uint32_t row, uint64_t i)
{
    const uint8_t *p = (const uint8_t *)leat_batch_row(b, row) + i * b->token_width;
    uint32_t t = p[0] | (uint32_t)p[1] << 8;

    return b->token_width == 2 ? t : t | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* The rows of a batch are those of the plan at these positions, and hold their tokens. */
static inline void loading_check(const struct loading *w, const struct leat_batch *b, uint64_t first)
{
    for (uint32_t row = 0; row < b->rows; row++) {
        struct leat_sample x;
        uint64_t got, wrong = 0;

        T_OK(leat_plan_samples(w->plan, first + row, 1, &x, &got, &t_err));
        if (b->flags[row] & LEAT_ROW_PADDED) {
            T_EQ(got, 0);
            continue;
        }
        T_EQ(got, 1);
        T_EQ(b->samples[row].number, x.number);
        T_EQ(b->samples[row].token, x.token);
        T_EQ(b->lengths[row], x.length);
        if (b->flags[row] & LEAT_ROW_DAMAGED)
            continue;
        for (uint64_t i = 0; i <= x.length; i++)
            wrong += loading_stored(b, row, i) != loading_token(w, &x, i);
        T_EQ(wrong, 0);
    }
}

static inline struct leat_plan *loading_plan(const char *text)
{
    struct leat_plan *plan;

    T_OK(leat_plan_parse(&plan, text, strlen(text), NULL, NULL, &t_err));
    return plan;
}

#endif
