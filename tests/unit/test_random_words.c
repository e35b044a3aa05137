/*
 * test_random_words.c: keys of hashes are other ones at each call, in every word, where the kernel gives random numbers
 * and where it gives none (early at boot, or forbidden). Both ways once stood in two places, with two substitutes.
 */
#include <sys/syscall.h>

#include "base/clock.h"
#include "base/random_words.h"
#include "t.h"

#define CALLS 8u
#define WORDS 4u

static bool refuses;
static unsigned refused;

/* In place of the C library's. */
ssize_t getrandom(void *to, size_t bytes, unsigned flags)
{
    T_CHECK(flags & GRND_NONBLOCK);
    if (!refuses)
        return syscall(SYS_getrandom, to, bytes, flags);
    refused++;
    errno = EAGAIN;
    return -1;
}

/* All differ, and none of their bits has one value only. */
static void check_words(const uint64_t *words, size_t count)
{
    uint64_t both_ways = 0;

    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i; k++) {
            T_CHECK(words[i] != words[k]);
            both_ways |= words[i] ^ words[k];
        }
    T_EQ(both_ways, UINT64_MAX);
}

static void test_calls(void)
{
    uint64_t words[CALLS * WORDS] = { 0 };

    for (unsigned i = 0; i < CALLS; i++) {
        uint64_t now = clock_ns();

        random_words(words + i * WORDS, WORDS);
        while (clock_ns() == now) /* a coarse clock: the substitute is made from it */
            continue;
    }
    check_words(words, CALLS * WORDS);
}

int main(void)
{
    test_calls();
    T_EQ(refused, 0);
    refuses = true;
    test_calls();
    T_EQ(refused, CALLS);
    return t_end();
}
