/*
 * fuzz.h: what the fuzzers share: the name under which each is called, the check that ends the process, and taking
 * numbers from the input.
 *
 * Each fuzz_<name>.c holds one FUZZ_TARGET. Built with -DFUZZ_ENGINE it is the function that libFuzzer calls; else it
 * has a name of its own, and test_replay.c calls them all with the stored inputs.
 */
#ifndef LEAT_TESTS_FUZZ_H
#define LEAT_TESTS_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "leat.h"

#ifdef FUZZ_ENGINE
/* No memory is kept back long after its free: fresh memory for each input would cost more than everything else. */
#define FUZZ_TARGET(name)                                                                                              \
    const char *__asan_default_options(void);                                                                          \
    const char *__asan_default_options(void)                                                                           \
    {                                                                                                                  \
        return "quarantine_size_mb=1:malloc_context_size=3:check_printf=0:allocator_may_return_null=1";                \
    }                                                                                                                  \
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);                                                      \
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
#else
#define FUZZ_TARGET(name)                                                                                              \
    int fuzz_##name(const uint8_t *data, size_t size);                                                                 \
    int fuzz_##name(const uint8_t *data, size_t size)
#endif

/* What must hold for any input. */
#define FUZZ_CHECK(condition)                                                                                          \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);                                  \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

/* The input from its begin; zeros after its end. */
struct fuzz_bytes {
    const uint8_t *at;
    size_t left;
};

static inline uint8_t fuzz_u8(struct fuzz_bytes *b)
{
    if (b->left == 0)
        return 0;
    b->left--;
    return *b->at++;
}

static inline uint16_t fuzz_u16(struct fuzz_bytes *b)
{
    uint16_t low = fuzz_u8(b);

    return (uint16_t)(low | fuzz_u8(b) << 8);
}

static inline uint32_t fuzz_u32(struct fuzz_bytes *b)
{
    uint32_t low = fuzz_u16(b);

    return low | (uint32_t)fuzz_u16(b) << 16;
}

/* A number in one byte where it is small, and still any number: 0 to 247, 248 + n: n + 1 bytes follow. */
static inline uint64_t fuzz_number(struct fuzz_bytes *b)
{
    uint64_t first = fuzz_u8(b), value = 0;

    if (first < 248)
        return first;
    for (uint64_t i = 0; i <= first - 248; i++)
        value |= (uint64_t)fuzz_u8(b) << 8 * i;
    return value;
}

/* Numbers that depend on the input and nothing else. */
static inline uint64_t fuzz_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* 0 to limit; anything of limit UINT64_MAX. */
static inline uint64_t fuzz_up_to(uint64_t *state, uint64_t limit)
{
    uint64_t value = fuzz_random(state);

    return limit == UINT64_MAX ? value : value % (limit + 1);
}

#endif
