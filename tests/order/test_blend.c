/*
 * test_blend.c: the blend gives each source its share: against a plain model of the rule in docs/ORDER.md, which scans
 * for the two lightest nodes and divides 128-bit numbers; counts and inverse, up to 1000 sources.
 */
#include "order/blend.h"
#include "t.h"

#define MOST 1000

/* ---- The rule, written as it is said ---- */

struct model {
    uint64_t total[2 * MOST];
    int left[2 * MOST], right[2 * MOST], source[2 * MOST];
    int root;
};

static void model_make(struct model *m, const uint64_t *weights, unsigned count)
{
    static int alive[2 * MOST];
    int nodes = 0, left;

    for (unsigned i = 0; i < count; i++)
        if (weights[i] > 0) {
            m->total[nodes] = weights[i];
            m->left[nodes] = m->right[nodes] = -1;
            m->source[nodes] = (int)i;
            alive[nodes++] = 1;
        }
    for (left = nodes; left > 1; left--) {
        int taken[2];

        for (int t = 0; t < 2; t++) {
            taken[t] = -1;
            for (int i = 0; i < nodes; i++)
                if (alive[i] && (taken[t] < 0 || m->total[i] < m->total[taken[t]]))
                    taken[t] = i;
            alive[taken[t]] = 0;
        }
        m->right[nodes] = taken[0];
        m->left[nodes] = taken[1];
        m->total[nodes] = m->total[taken[0]] + m->total[taken[1]];
        alive[nodes++] = 1;
    }
    m->root = nodes - 1;
}

static uint64_t model_left(const struct model *m, int at, uint64_t k)
{
    wide_u128 r = m->total[at], a = m->total[m->left[at]];

    return (uint64_t)((2 * (wide_u128)k * a + r) / (2 * r));
}

static unsigned model_draw(const struct model *m, uint64_t k, uint64_t *draw)
{
    int at = m->root;

    while (m->left[at] >= 0) {
        uint64_t left = model_left(m, at, k), next = model_left(m, at, k + 1);

        k = next > left ? left : k - left;
        at = next > left ? m->left[at] : m->right[at];
    }
    *draw = k;
    return (unsigned)m->source[at];
}

/* ---- Random weights ---- */

/* Sums at most 2^48; some 0, some equal, some tiny beside others. */
static unsigned random_weights(uint64_t *random, uint64_t *weights)
{
    unsigned count = 1 + (unsigned)t_below(random, t_below(random, 8) == 0 ? MOST : 24);
    unsigned bits = 1 + (unsigned)t_below(random, count > 60 ? 38 : 42);
    uint64_t total = 0;

    for (unsigned i = 0; i < count; i++) {
        weights[i] = t_below(random, (uint64_t)1 << t_below(random, bits + 1));
        if (i > 0 && t_below(random, 3) == 0)
            weights[i] = weights[t_below(random, i)];
        total += weights[i];
    }
    if (total == 0)
        weights[t_below(random, count)] = 1;
    return count;
}

static uint64_t random_draw(uint64_t *random)
{
    return t_random(random) >> (2 + t_below(random, 62));
}

static void check_draw(const struct blend *b, const struct model *m, uint64_t k)
{
    uint64_t draw, expected;
    unsigned source = blend_draw(b, k, &draw), other = model_draw(m, k, &expected);

    if (source != other || draw != expected)
        T_FAIL("draw %" PRIu64 " is draw %" PRIu64 " of source %u, and by the rule draw %" PRIu64 " of source %u", k,
               draw, source, expected, other);
    T_EQ(blend_place(b, source, draw), k);
}

/* A range is what its draws are one by one. */
static void check_range(const struct blend *b, uint64_t *random)
{
    uint64_t k = random_draw(random), draws[BLEND_RANGE_MAX], draw;
    uint32_t count = 1 + (uint32_t)t_below(random, BLEND_RANGE_MAX), sources[BLEND_RANGE_MAX];

    if (count > BLEND_MAX_DRAW - k)
        k = BLEND_MAX_DRAW - count;
    blend_range(b, k, count, sources, draws);
    for (uint32_t i = 0; i < count; i++) {
        T_EQ(sources[i], blend_draw(b, k + i, &draw));
        T_EQ(draws[i], draw);
    }
}

static void test_model(uint64_t *random)
{
    static uint64_t weights[MOST], counts[MOST], begun[MOST];
    static struct model m;
    unsigned count = random_weights(random, weights);
    struct blend b;
    uint64_t begin = random_draw(random);

    model_make(&m, weights, count);
    T_OK(blend_make(&b, weights, count, &t_err));
    for (unsigned i = 0; i < 300; i++)
        check_draw(&b, &m, i < 100 ? i : random_draw(random));
    for (unsigned i = 0; i < 20; i++)
        check_range(&b, random);
    /* counts, and that draws of a source come one by one from there on */
    memset(counts, 0, sizeof counts);
    blend_count(&b, begin, counts);
    memcpy(begun, counts, sizeof begun);
    for (uint64_t k = begin; k < begin + 200; k++) {
        uint64_t draw;
        unsigned source = blend_draw(&b, k, &draw);

        T_EQ(draw, counts[source]);
        counts[source]++;
    }
    blend_count(&b, begin + 200, begun);
    memset(weights, 0, sizeof weights);
    blend_count(&b, begin, weights); /* twice what began is in begun */
    for (unsigned i = 0; i < count; i++)
        T_EQ(begun[i], counts[i] + weights[i]);
    blend_free(&b);
}

/* Fibonacci weights make the deepest tree that a sum of 2^48 allows. */
static void test_deepest(uint64_t *random)
{
    static uint64_t weights[MOST];
    static struct model m;
    uint64_t counts[72] = { 0 }, total = 0;
    unsigned count = 0;
    struct blend b;

    for (uint64_t a = 1, next = 1, sum; total + a <= BLEND_MAX; sum = a + next, a = next, next = sum) {
        weights[count++] = a;
        total += a;
    }
    T_CHECK(count > 60);
    model_make(&m, weights, count);
    T_OK(blend_make(&b, weights, count, &t_err));
    for (unsigned i = 0; i < 10000; i++)
        check_draw(&b, &m, random_draw(random));
    for (unsigned i = 0; i < 1000; i++)
        check_range(&b, random);
    blend_count(&b, total, counts);
    for (unsigned i = 0; i < count; i++)
        T_EQ(counts[i], weights[i]);
    blend_free(&b);
}

int main(void)
{
    uint64_t random = t_seed();

    for (unsigned i = 0; i < t_times(1500); i++)
        test_model(&random);
    test_deepest(&random);
    return t_end();
}
