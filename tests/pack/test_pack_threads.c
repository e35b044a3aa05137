/*
 * test_pack_threads.c: how the bound on memory is divided among threads: 128 of them all work within 2 GiB, with a unit
 * each that they encode and another one; with little memory fewer threads work rather than with tiny units; the shares
 * are never more than the whole.
 */
#include "base/memory.h"
#include "pack/flow/pack_setup.h"
#include "t.h"

#define MIB ((uint64_t)1 << 20)

static struct pack_setup divided(unsigned threads, uint64_t bound)
{
    struct pack_setup s = { .threads = threads };

    T_OK(pack_setup_memory(&s, bound, &t_err));
    return s;
}

/* `least`: of units, in bytes of text. */
static void check(unsigned threads, uint64_t mib, unsigned working, uint64_t least)
{
    struct pack_setup s = divided(threads, mib * MIB);

    T_EQ(s.threads, working);
    T_CHECK(s.unit_bytes >= least);
    /* the lanes after the first one, which may be on its last unit, have half of it */
    T_CHECK(s.flight_bytes / 2 / s.unit_cost >= s.threads);
}

static void check_sum(unsigned threads, uint64_t mib)
{
    struct pack_setup s = divided(threads, mib * MIB);
    uint64_t shares = s.held + s.flight_bytes + s.word_bytes + s.threads * s.pretoken_bytes + s.long_pretoken_bytes;

    T_CHECK(shares <= s.bound);
    T_CHECK(s.long_bytes >= s.unit_bytes && s.threads >= 1 && s.threads <= threads);
}

int main(void)
{
    check(2, 2048, 2, MIB);
    check(16, 2048, 16, MIB);
    check(64, 2048, 64, 256 << 10);
    check(128, 2048, 128, 128 << 10);
    check(128, 8192, 128, 512 << 10);
    check(192, 4096, 192, 128 << 10);
    for (uint64_t mib = 128; mib < 20000; mib += mib / 3)
        for (unsigned threads = 1; threads < 600; threads += 1 + threads / 2)
            check_sum(threads, mib);
    T_CHECK(divided(128, 256 * MIB).threads < 30);
    return t_end();
}
