/*
 * test_external_sort.c: triples come out as qsort puts them: in memory, in runs, and in so many runs that they are
 * merged before the end; with numbers that are all different, nearly all the same, or the same in their first bytes.
 */
#include "t.h"
#include "arrange/sorting/external_sort.h"

static const char *path;

static int compare(const void *a, const void *b)
{
    const struct triple *x = a, *y = b;

    return triple_less(x, y) ? -1 : triple_less(y, x);
}

static struct triple any(uint64_t *random, unsigned shape)
{
    struct triple t = { t_random(random), t_random(random), t_random(random) };

    if (shape == 1)
        t = (struct triple) { t.a % 3, t.b % 2, t.c % 5 };
    else if (shape == 2)
        t = (struct triple) { 7, (uint64_t)9 << 60, t.c % 1000 << 50 };
    return t;
}

static void sort(size_t count, uint64_t memory, unsigned shape, uint64_t *random)
{
    struct triple *want = malloc((count + 1) * sizeof *want), got;
    struct external_sort s;
    bool more;

    external_sort_begin(&s, path, memory);
    for (size_t i = 0; i < count; i++) {
        want[i] = any(random, shape);
        T_OK(external_sort_put(&s, want[i], &t_err));
    }
    qsort(want, count, sizeof *want, compare);
    T_OK(external_sort_turn(&s, &t_err));
    T_EQ(s.total, count);
    for (size_t i = 0; i < count; i++) {
        T_OK(external_sort_next(&s, &got, &more, &t_err));
        if (!more || compare(&got, &want[i]) != 0) {
            T_FAIL("%zu triples, memory %" PRIu64 ", shape %u: number %zu is wrong", count, memory, shape, i);
            break;
        }
    }
    T_OK(external_sort_next(&s, &got, &more, &t_err));
    T_CHECK(!more);
    T_OK(external_sort_next(&s, &got, &more, &t_err));
    T_CHECK(!more);
    external_sort_end(&s);
    free(want);
}

int main(void)
{
    static const size_t counts[] = { 0, 1, 2, 23, 24, 25, 26, 1000, 1023, 1024, 1025, 2048, 2049, 30000 };
    uint64_t random = t_seed(), drawn;
    unsigned one;

    path = t_path(t_folder(), "file");
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        for (unsigned shape = 0; shape < 3; shape++) {
            sort(counts[i], 0, shape, &random);
            sort(counts[i], 100000, shape, &random);
            sort(counts[i], UINT64_MAX, shape, &random);
        }
    /* 512 runs of 1024 triples are merged to one, and with it 511 more: merged twice before the end; the other shapes
     * once, one of them in each run */
    drawn = t_draw();
    one = 1 + (unsigned)t_below(&drawn, 2);
    sort(1023 * 1024 + 2000, 0, 0, &random);
    for (unsigned shape = 1; shape < 3; shape++)
        if (shape == one || t_every())
            sort(512 * 1024 + 2000, 0, shape, &random);
    return t_end();
}
