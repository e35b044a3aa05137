/*
 * test_search.c: a binary search finds what a walk from the beginning finds, for all small ranges and all answers; at
 * the ends of what 64 bits count too; it asks no number outside of the range, and stops where asking fails.
 */
#include "base/search.h"
#include "base/status.h"
#include "t.h"

struct asked {
    uint64_t low, high, first; /* numbers below `first` are before what is looked for */
    uint64_t refused;          /* asking for this one fails */
    unsigned count;
};

static bool before(const void *context, uint64_t number)
{
    const struct asked *a = context;

    T_CHECK(number >= a->low && number < a->high);
    return number < a->first;
}

static enum leat_status read_before(void *context, uint64_t number, bool *is_before, struct leat_error *err)
{
    struct asked *a = context;

    a->count++;
    if (number == a->refused)
        return status_set(err, LEAT_E_IO, "number %llu", (unsigned long long)number);
    *is_before = before(a, number);
    return LEAT_OK;
}

static void check(uint64_t low, uint64_t high, uint64_t first)
{
    struct asked a = { low, high, first, UINT64_MAX, 0 };
    uint64_t found = 0;

    T_EQ(search_first(low, high, before, &a), first);
    T_EQ(search_first_read(&found, low, high, read_before, &a, NULL), LEAT_OK);
    T_EQ(found, first);
    T_CHECK(a.count == 0 ? low == high : a.count <= 64 && (high - low) >> (a.count - 1) >= 1); /* halves each time */
}

static void test_failures(uint64_t high, uint64_t first)
{
    for (uint64_t refused = 0; refused < high; refused++) {
        struct asked a = { 0, high, first, refused, 0 };
        struct leat_error err = { 0 };
        uint64_t found = 0;
        enum leat_status s = search_first_read(&found, 0, high, read_before, &a, &err);

        /* the two numbers at the border decide, and cannot be left out */
        if (refused == first || refused + 1 == first)
            T_EQ(s, LEAT_E_IO);
        T_EQ(s, err.status);
        if (s == LEAT_OK)
            T_EQ(found, first);
    }
}

int main(void)
{
    for (uint64_t low = 0; low < 3; low++)
        for (uint64_t high = low; high < 40; high++)
            for (uint64_t first = low; first <= high; first++)
                check(low, high, first);
    for (uint64_t high = 0; high < 20; high++)
        for (uint64_t first = 0; first <= high; first++)
            test_failures(high, first);
    check(0, UINT64_MAX - 1, UINT64_MAX - 1);
    check(0, UINT64_MAX - 1, 0);
    check(UINT64_MAX - 5, UINT64_MAX - 1, UINT64_MAX - 2);
    return t_end();
}
