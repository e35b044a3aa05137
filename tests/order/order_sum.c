/*
 * order_sum.c: prints one number that depends on 200,000 samples of 400 random plans, and on decimals read and weights
 * made of them: test_compilers.sh builds it in many ways, which must agree.
 */
#include "base/show.h"
#include "base/utf8.h"
#include "order/decimal.h"
#include "order/sampler.h"
#include "t.h"

#define SOURCES 30

/* No sentence of an error is shown here: without what that takes, UTF-8 by vectors, a few files are enough. */
void show_in_place(char *text, size_t room)
{
    (void)text;
    (void)room;
}

size_t utf8_open_end(const uint8_t *text, size_t size)
{
    (void)text;
    (void)size;
    return 0;
}

static uint64_t sum;

static void add(uint64_t value)
{
    sum = (sum ^ value) * 0x9e3779b97f4a7c15u;
    sum ^= sum >> 29;
}

static void random_weights(uint64_t *random, uint64_t *weights, unsigned count)
{
    struct decimal decimals[SOURCES];
    uint64_t total;

    for (unsigned i = 0; i < count; i++) {
        /* one by one: in which order arguments are evaluated is the compiler's choice */
        unsigned whole = (unsigned)t_below(random, 10);
        unsigned places = (unsigned)t_below(random, 1000);
        unsigned exponent = (unsigned)t_below(random, 3);
        char text[64];
        const char *why;

        snprintf(text, sizeof text, "%u.%03ue-%u", whole, places, exponent);
        if (!decimal_parse(text, strlen(text), &decimals[i], &why))
            T_FAIL("%s %s", text, why);
        decimals[i].digits += decimals[i].digits == 0; /* so that some have a weight whatever the seed */
    }
    T_CHECK(decimal_to_integers(decimals, count, BLEND_MAX, weights, &total));
    add(total);
    total = t_random(random) >> 2;
    add(decimal_share(total, t_below(random, DECIMAL_UNIT)));
}

static void add_plan(uint64_t *random, bool in_stretches)
{
    unsigned count = 1 + (unsigned)t_below(random, SOURCES);
    uint64_t blocks[SOURCES], limits[SOURCES], sizes[SOURCES], first[SOURCES], second[SOURCES];
    struct sampler_phase_rule phases[2] = { { 0, 1, first }, { 0, 1, second } };
    struct sampler_rules rules = {
        .source_count = count, .blocks = blocks, .limits = limits, .phases = phases, .phase_count = 2
    };
    struct stretches_rule stretches = { .sizes = sizes };
    struct sampler_cursor at = { .phase = NULL };
    struct sampler s;

    for (unsigned i = 0; i < count; i++) {
        blocks[i] = 1 + (t_random(random) >> (16 + t_below(random, 47)));
        limits[i] = t_below(random, 5) ? UINT64_MAX : 3 * blocks[i] + 100000;
    }
    for (unsigned i = 0; in_stretches && i < count; i++)
        sizes[i] = 1 + t_below(random, blocks[i]);
    if (in_stretches) {
        stretches.mix = 1 + t_below(random, 100);
        stretches.lanes = 1 + t_below(random, 20);
        rules.stretches = &stretches;
    }
    rules.seed = t_random(random);
    phases[0].slices += t_below(random, 4);
    phases[1].slices += t_below(random, 4);
    phases[1].begin = 64 * 3 * (1 + t_below(random, 100));
    random_weights(random, first, count);
    random_weights(random, second, count);
    T_OK(sampler_make(&s, &rules, &t_err));
    for (unsigned i = 0; i < 500; i++) {
        uint64_t n = (i % 2 ? i : t_random(random) >> (4 + t_below(random, 50))) % s.end;
        struct sampler_found found = { .n = 0 };
        struct sampler_place x;

        sampler_at(&s, &at, n, &x);
        add(x.source);
        add(x.epoch);
        add(x.block * x.slices + x.slice);
        sampler_find(&s, x.source, x.epoch, x.block, &found);
        add(found.n);
    }
    sampler_free(&s);
}

int main(void)
{
    uint64_t random = 1;

    for (unsigned i = 0; i < 400; i++)
        add_plan(&random, i >= 300);
    printf("%016" PRIx64 "\n", sum);
    return t_end();
}
