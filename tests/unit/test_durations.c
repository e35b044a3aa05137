/* test_durations.c: quantiles are right to within 1/16, exact below 16, and never beyond the greatest value. */
#include "base/counter.h"
#include "t.h"

static struct durations h;

/* The value that so many hundredths of all lie below or at, where all of 1 to `most` came once. */
static void check(unsigned hundredths, uint64_t max)
{
    uint64_t is = durations_quantile(&h, hundredths / 100.0), should = (hundredths * max + 99) / 100;

    T_CHECK(is >= should && is - should <= should / 16);
    T_CHECK(is <= max);
}

static void test_many(uint64_t max)
{
    memset(&h, 0, sizeof h);
    for (uint64_t i = 1; i <= max; i++)
        durations_add(&h, i);
    for (unsigned hundredths = 1; hundredths < 100; hundredths++)
        check(hundredths, max);
    T_EQ(durations_quantile(&h, 1), max);
    T_EQ(durations_mean(&h), (max + 1) / 2);
}

static void test_edges(void)
{
    static const uint64_t values[] = { 0, 1, 15, 16, 17, 31, 32, 33, 1023, UINT64_C(1) << 40, UINT64_MAX };

    memset(&h, 0, sizeof h);
    T_EQ(durations_quantile(&h, 0.5), 0);
    T_EQ(durations_mean(&h), 0);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        memset(&h, 0, sizeof h);
        durations_add(&h, values[i]);
        T_EQ(durations_quantile(&h, 1), values[i]);
    }
    /* a class of several values ends at the greatest of them */
    memset(&h, 0, sizeof h);
    durations_add(&h, 33);
    durations_add(&h, 1000);
    T_EQ(durations_quantile(&h, 0.5), 33);
    memset(&h, 0, sizeof h);
    durations_add(&h, 32);
    durations_add(&h, 1000);
    T_EQ(durations_quantile(&h, 0.5), 33);
}

int main(void)
{
    test_edges();
    test_many(14);
    test_many(1001);
    test_many(99999);
    return t_end();
}
