/*
 * test_sampler.c: over thousands of random plans, each block of each source is shown once an epoch, all its slices in
 * one phase; sources go on where they stood; the inverse finds every sample back; nothing before a phase's begin
 * depends on what comes after it; positions and numbers agree with the skips. Small plans are gone through sample by
 * sample, large ones (up to 2^40 blocks) at random places and by the inverse.
 */
#include "order/sampler.h"
#include "order/skips.h"
#include "t.h"

#define SOURCES 9
#define PHASES  5
#define SKIPS   4

struct random_plan {
    uint64_t blocks[SOURCES], limits[SOURCES], sizes[SOURCES], weights[PHASES][SOURCES];
    struct sampler_phase_rule phases[PHASES];
    struct skips_range skips[SKIPS];
    uint64_t skip_count;
    struct stretches_rule stretches;
    struct sampler_rules rules;
};

static void fill_weights(uint64_t *random, uint64_t *weights, unsigned count)
{
    static const uint64_t kinds[] = { 1, 3, 100, 1000000007, (uint64_t)1 << 44 };
    uint64_t any = 0;

    for (unsigned i = 0; i < count; i++) {
        weights[i] = t_below(random, 3) == 0 ? 0 : t_below(random, kinds[t_below(random, 5)] + 1);
        any |= weights[i];
    }
    if (!any)
        weights[t_below(random, count)] = 1;
}

static void fill_plan(uint64_t *random, struct random_plan *p, bool small)
{
    unsigned count = 1 + (unsigned)t_below(random, SOURCES), phases = 1 + (unsigned)t_below(random, PHASES);
    uint64_t at = 0, skip = 0;

    memset(p, 0, sizeof *p);
    for (unsigned i = 0; i < count; i++) {
        p->blocks[i] = small ? 1 + t_below(random, 60) : 1 + (t_random(random) >> (24 + t_below(random, 40)));
        p->limits[i] = UINT64_MAX;
        if (t_below(random, 4) == 0)
            p->limits[i] = p->blocks[i] * (1 + t_below(random, 4));
    }
    for (unsigned i = 0; i < phases; i++) {
        uint64_t slices = t_below(random, 2) ? 1 : 1 + t_below(random, 5), unit = slices > 1 ? 16 * slices : 1;

        p->phases[i] = (struct sampler_phase_rule) { at, slices, p->weights[i] };
        fill_weights(random, p->weights[i], count);
        at += unit * (1 + t_below(random, small ? 20 : (uint64_t)1 << t_below(random, 40)));
    }
    for (unsigned i = 0; i < SKIPS; i++) {
        skip += t_below(random, 3) ? t_below(random, 200) : 0;
        p->skips[i].first = skip;
        skip += 1 + t_below(random, 50);
        p->skips[i].end = skip;
    }
    p->skip_count = t_below(random, SKIPS + 1);
    p->rules = (struct sampler_rules) { .source_count = count,
                                        .blocks = p->blocks,
                                        .limits = p->limits,
                                        .phases = p->phases,
                                        .phase_count = phases,
                                        .seed = t_random(random),
                                        .sequential = t_below(random, 5) == 0 };
    if (p->rules.sequential || t_below(random, 3) > 0)
        return;
    for (unsigned i = 0; i < count; i++)
        p->sizes[i] = 1 + t_below(random, t_below(random, 2) ? p->blocks[i] : p->blocks[i] < 9 ? p->blocks[i] : 9);
    p->stretches = (struct stretches_rule) { p->sizes, 1 + t_below(random, 9), 1 + t_below(random, 5) };
    p->rules.stretches = &p->stretches;
}

/* A plan that is accepted: phases that begin after all sources are spent are dropped one by one. */
static void make_plan(uint64_t *random, struct random_plan *p, struct sampler *s, bool small)
{
    enum leat_status status;

    fill_plan(random, p, small);
    while ((status = sampler_make(s, &p->rules, &t_err)) == LEAT_E_ARGUMENT && p->rules.phase_count > 1)
        p->rules.phase_count--;
    T_OK(status);
}

static uint64_t find_sample(const struct sampler *s, const struct sampler_place *place)
{
    struct sampler_found found;

    if (!sampler_find(s, place->source, place->epoch, place->block, &found) || found.slices != place->slices)
        return UINT64_MAX;
    return found.n + place->slice * found.step;
}

/* ---- Sample by sample ---- */

#define EPOCHS 40
#define SLICES 6

static void walk_plan(const struct random_plan *p, const struct sampler *s)
{
    static uint8_t seen[SOURCES][EPOCHS][60]; /* bits: slices */
    static uint64_t shown[SOURCES];           /* whole blocks */
    struct sampler_cursor at = { .phase = NULL };
    uint64_t end = s->end < 3000 ? s->end : 3000;

    static struct sampler_place ranges[3000];
    struct sampler_cursor range_at = { .phase = NULL };

    memset(seen, 0, sizeof seen);
    memset(shown, 0, sizeof shown);
    for (uint64_t n = 0, here = 1; n < end; n += here, here = here % 150 + 7) { /* ranges of all kinds of lengths */
        here = here < end - n ? here : end - n;
        sampler_range(s, &range_at, n, (size_t)here, ranges + n);
    }
    for (uint64_t n = 0; n < end; n++) {
        struct sampler_place x, y;
        struct sampler_cursor fresh = { .phase = NULL };
        uint8_t *bits;

        sampler_at(s, &at, n, &x);
        sampler_at(s, &fresh, n, &y);
        T_CHECK(x.source == y.source && x.epoch == y.epoch && x.block == y.block && x.slice == y.slice);
        y = ranges[n];
        T_CHECK(x.source == y.source && x.epoch == y.epoch && x.block == y.block && x.slice == y.slice &&
                x.slices == y.slices);
        T_CHECK(x.source < p->rules.source_count && x.block < p->blocks[x.source] && x.slice < x.slices);
        T_CHECK(p->phases[sampler_phase_at(s, n)].weights[x.source] > 0);
        T_EQ(x.slices, p->phases[sampler_phase_at(s, n)].slices);
        T_EQ(find_sample(s, &x), n);
        if (t_failures)
            return;
        if (x.epoch >= EPOCHS)
            continue;
        bits = &seen[x.source][x.epoch][x.block];
        if (*bits & 1 << x.slice)
            T_FAIL("sample %" PRIu64 ": slice %u of block %" PRIu64 " of source %u is shown twice in epoch %" PRIu64, n,
                   x.slice, x.block, x.source, x.epoch);
        *bits |= (uint8_t)(1 << x.slice);
        shown[x.source] += *bits == (1 << x.slices) - 1;
    }
    /* an epoch is whole before the next begins, but for blocks whose slices are still coming */
    for (unsigned i = 0; i < p->rules.source_count; i++)
        for (uint64_t e = 0; e + 2 < EPOCHS; e++)
            for (uint64_t b = 0; b < p->blocks[i]; b++)
                if (shown[i] >= (e + 2) * p->blocks[i])
                    T_CHECK(seen[i][e][b] != 0 && (seen[i][e][b] & (seen[i][e][b] + 1)) == 0);
    /* a plan that ends has shown each source to its limit, in the weights of its last phase */
    if (s->end < SAMPLER_MAX && s->end == end)
        for (unsigned i = 0; i < p->rules.source_count; i++)
            if (p->phases[p->rules.phase_count - 1].weights[i] > 0)
                T_EQ(shown[i], p->limits[i]);
}

/* ---- At random places ---- */

static void probe_plan(uint64_t *random, const struct random_plan *p, const struct sampler *s)
{
    for (unsigned i = 0; i < 100; i++) {
        uint64_t n = (t_random(random) >> (4 + t_below(random, 60))) % s->end;
        struct sampler_cursor at = { .phase = NULL };
        struct sampler_place x;
        struct sampler_found found;

        sampler_at(s, &at, n, &x);
        T_CHECK(x.block < p->blocks[x.source]);
        T_EQ(find_sample(s, &x), n);
        /* a block of any source, and then its sample */
        x.source = (uint32_t)t_below(random, p->rules.source_count);
        x.block = t_below(random, p->blocks[x.source]);
        T_CHECK(!sampler_find(s, x.source, UINT64_MAX - t_below(random, 5), x.block, &found));
        x.epoch = t_below(random, 5);
        if (sampler_find(s, x.source, x.epoch, x.block, &found)) {
            struct sampler_place y;

            x.slice = (uint32_t)t_below(random, found.slices);
            sampler_at(s, &at, found.n + x.slice * found.step, &y);
            T_CHECK(y.source == x.source && y.block == x.block && y.epoch == x.epoch && y.slice == x.slice);
        }
    }
}

/* ---- Later phases, and skips ---- */

static void test_past(struct random_plan *p, const struct sampler *whole)
{
    struct sampler_cursor a = { .phase = NULL }, b = { .phase = NULL };
    uint64_t begin;
    struct sampler s;

    if (p->rules.phase_count < 2)
        return;
    begin = p->phases[--p->rules.phase_count].begin;
    T_OK(sampler_make(&s, &p->rules, &t_err));
    for (uint64_t n = begin > 500 ? begin - 500 : 0; n < begin; n++) {
        struct sampler_place x, y;

        sampler_at(whole, &a, n, &x);
        sampler_at(&s, &b, n, &y);
        T_CHECK(x.source == y.source && x.epoch == y.epoch && x.block == y.block && x.slice == y.slice);
    }
    sampler_free(&s);
}

static void test_skips(const struct random_plan *p)
{
    uint64_t position = 0;
    struct skips s;

    T_OK(skips_make(&s, p->skips, p->skip_count, &t_err));

    for (uint64_t n = 0; n < 1200; n++) {
        bool skipped = false, says;

        for (uint64_t i = 0; i < p->skip_count; i++)
            skipped = skipped || (n >= p->skips[i].first && n < p->skips[i].end);
        T_EQ(skips_position(&s, n, &says), position);
        T_EQ(says, skipped);
        if (!skipped)
            T_EQ(skips_number(&s, position++), n);
    }
    skips_free(&s);
}

/* ---- What is refused, and at what sample instead ---- */

static void test_refusals(void)
{
    uint64_t blocks[] = { 10, 10 }, limits[] = { 10, 20 }, both[] = { 1, 1 }, first[] = { 1, 0 };
    struct sampler_phase_rule phases[] = { { 0, 4, both }, { 100, 1, both } };
    struct sampler_rules rules = {
        .source_count = 2, .blocks = blocks, .limits = limits, .phases = phases, .phase_count = 2, .seed = 1
    };
    struct sampler s;

    T_REFUSED(sampler_make(&s, &rules, &t_err), LEAT_E_ARGUMENT, "the nearest is sample 128");
    phases[1].begin = 90;
    T_REFUSED(sampler_make(&s, &rules, &t_err), LEAT_E_ARGUMENT, "the nearest is sample 64");
    phases[1].begin = 120; /* all 30 blocks are spent there: nothing is cut, but nothing is left */
    T_REFUSED(sampler_make(&s, &rules, &t_err), LEAT_E_ARGUMENT, "no source left");
    phases[1].begin = 121;
    T_REFUSED(sampler_make(&s, &rules, &t_err), LEAT_E_ARGUMENT, "ends at sample 120");
    phases[0].weights = first;
    phases[1].begin = 40; /* the first source is spent in the middle of a group */
    T_OK(sampler_make(&s, &rules, &t_err));
    T_EQ(s.end, 60);
    sampler_free(&s);
    phases[1].begin = 64;
    T_REFUSED(sampler_make(&s, &rules, &t_err), LEAT_E_ARGUMENT, "ends at sample 40");
}

int main(void)
{
    uint64_t random = t_seed();
    unsigned ended = 0;

    for (unsigned i = 0; i < t_times(4000) && !t_failures; i++) {
        struct random_plan p;
        struct sampler s;
        bool small = i % 2;

        make_plan(&random, &p, &s, small);
        ended += s.end < SAMPLER_MAX;
        if (small)
            walk_plan(&p, &s);
        probe_plan(&random, &p, &s);
        test_skips(&p);
        test_past(&p, &s);
        sampler_free(&s);
        if (t_failures)
            T_FAIL("in plan %u", i);
    }
    T_CHECK(ended > t_times(100));
    test_refusals();
    return t_end();
}
