/*
 * order.c: `leat-bench order`: what one sample of a plan costs: the permutation alone at sizes up to 2^48, and whole
 * samples of plans with 1, 20 and 1000 sources, in batches as a loader asks for them; and what it costs that weights
 * change in thousands of phases.
 *
 * What a sample costs depends on the weights, so phases are compared with plans of one phase each that have the same
 * weights: each set of weights takes an equal part of the samples in both. One by one, samples are asked for all over
 * 4096 phases: there each finds another blend, which is in no near cache.
 *
 * No dataset is needed: the plans' datasets are only numbers of tokens (data/fake_dataset.h).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "bench/data/fake_dataset.h"
#include "bench/measure/contest.h"
#include "bench/measure/machine.h"
#include "order/permute.h"
#include "subcommands.h"

#define BATCH         512u
#define MAX_CASES     24u
#define BASE_LENGTH   2048u
#define WEIGHT_SETS   8u /* that phases go through */
#define PHASES        4096u
#define PHASE_SAMPLES 32768u
#define SAMPLES       ((uint64_t)PHASES * PHASE_SAMPLES) /* of a plan that are asked for */

struct order_values {
    uint64_t runs, draws;
    bool json;
};

const struct option_row bench_order_options[] = {
    BENCH_RUNS(order_values, "5", "runs of each measurement, after one to warm up"),
    { BENCH_OPTION(order_values, "draws", OPTION_COUNT, draws, "N", "draws or samples per run"), .standard = "2M",
      .min = BATCH, .max = (uint64_t)1 << 32 },
    BENCH_JSON(order_values),
    OPTIONS_END,
};

/* One case: a permutation or a plan. */
struct subject {
    char name[64];
    struct permute permute;
    uint64_t (*draw)(const struct permute *p, uint64_t epoch, uint64_t at); /* of run_draws() */
    struct leat_plan *plans[WEIGHT_SETS]; /* of run_samples(): each has an equal part of them */
    unsigned plan_count;
    struct leat_dataset *data; /* of the plans, which it owns; NULL: they are another's */
    uint64_t draws;
    uint64_t sum; /* of the results, so that they are computed */
};

static bool run_draws(void *context, struct contest_work *work)
{
    struct subject *s = context;
    uint64_t n = s->permute.n, i = work->number * s->draws % n;

    for (uint64_t k = 0; k < s->draws; k++) {
        s->sum += s->draw(&s->permute, 3, i);
        i = i + 1 < n ? i + 1 : 0;
    }
    work->items = s->draws;
    return true;
}

/* Draws side by side, as a batch of samples does. */
static bool run_many(void *context, struct contest_work *work)
{
    struct permute_draw draws[64];
    struct subject *s = context;
    uint64_t n = s->permute.n, i = work->number * s->draws % n;

    for (uint64_t k = 0; k < s->draws / 64; k++) {
        for (unsigned j = 0; j < 64; j++) {
            draws[j] = (struct permute_draw) { &s->permute, 3, i };
            i = i + 1 < n ? i + 1 : 0;
        }
        permute_forward_many(draws, 64);
        for (unsigned j = 0; j < 64; j++)
            s->sum += draws[j].at;
        work->items += 64;
    }
    return true;
}

static bool run_samples(void *context, struct contest_work *work)
{
    struct leat_sample samples[BATCH];
    struct subject *s = context;
    uint64_t got, first = (uint64_t)(work->number % 8) * (SAMPLES / 8), batches = s->draws / BATCH;

    for (uint64_t k = 0; k < batches; k++, first += BATCH) {
        leat_plan_samples(s->plans[k * s->plan_count / batches], first, BATCH, samples, &got, NULL);
        s->sum += samples[got - 1].token;
        work->items += got;
    }
    return true;
}

/* Draws one by one, at places all over the plan: the cost of a random access. */
static bool run_scattered(void *context, struct contest_work *work)
{
    struct subject *s = context;
    struct leat_sample sample;

    for (uint64_t k = 0; k < s->draws / 4; k++) {
        leat_plan_sample(s->plans[k % s->plan_count], k * 0x9e3779b97f4a7c15u % SAMPLES, &sample, NULL);
        s->sum += sample.token;
    }
    work->items = s->draws / 4;
    return true;
}

/* A weight of a source in one of many sets of weights. */
static void write_weight(char text[24], uint64_t source, uint64_t set)
{
    snprintf(text, 24, "0.%06u", (unsigned)((source + set) * (2654435761u + 2 * set) % 999983u) + 1);
}

/* A plan of so many sources, all over the same dataset, with a set of weights. */
static enum leat_status open_plan(struct leat_plan **plan, const struct leat_dataset *data, uint64_t sources,
                                  uint64_t set, struct leat_error *err)
{
    struct leat_plan_options options = LEAT_PLAN_OPTIONS_INIT;
    struct leat_plan_source *list = calloc((size_t)sources, sizeof *list);
    char(*weights)[24] = calloc((size_t)sources, sizeof *weights);
    enum leat_status s = status_no_memory(err, sources * sizeof *list);

    for (uint64_t i = 0; list && weights && i < sources; i++) {
        write_weight(weights[i], i, set);
        list[i] =
            (struct leat_plan_source) { .size = sizeof *list, .name = "fake", .weight = weights[i], .dataset = data };
    }
    options.sources = list;
    options.source_count = (size_t)sources;
    options.seq_len = BASE_LENGTH;
    options.seed = 1;
    if (list && weights)
        s = leat_plan_open(plan, &options, err);
    free(list);
    free(weights);
    return s;
}

/* Changes the weights of a plan's 20 sources so often. */
static enum leat_status add_phases(struct leat_plan **plan, uint64_t phases, struct leat_error *err)
{
    struct leat_plan_change *changes = calloc((size_t)phases, sizeof *changes);
    char(*weights)[20 * 24] = calloc((size_t)phases, sizeof *weights);
    struct leat_plan *changed;
    enum leat_status s = status_no_memory(err, phases * sizeof *changes);

    for (uint64_t i = 0; changes && weights && i < phases; i++) {
        size_t used = 0;

        for (unsigned k = 0; k < 20; k++) {
            char weight[24];

            write_weight(weight, k, (i + 1) % WEIGHT_SETS);
            used += (size_t)snprintf(weights[i] + used, sizeof weights[i] - used, "%s%s", k > 0 ? "," : "", weight);
        }
        changes[i] = (struct leat_plan_change)LEAT_PLAN_CHANGE_INIT;
        changes[i].at = (i + 1) * PHASE_SAMPLES;
        changes[i].weights = weights[i];
    }
    if (changes && weights)
        s = leat_plan_change(&changed, *plan, changes, phases, NULL, err);
    if (s == LEAT_OK) {
        leat_plan_close(*plan);
        *plan = changed;
    }
    free(changes);
    free(weights);
    return s;
}

/* ---- The cases ---- */

struct cases {
    struct subject subjects[MAX_CASES];
    struct contest_case cases[MAX_CASES];
    size_t count, permutations;
};

static struct subject *add_case(struct cases *c, bool (*run)(void *, struct contest_work *), const char *item,
                                const char *before, const char *what)
{
    struct subject *s = &c->subjects[c->count];

    snprintf(s->name, sizeof s->name, "%s%s", before, what);
    c->cases[c->count++] = (struct contest_case) { .name = s->name, .item = item, .context = s, .run = run };
    return s;
}

static void add_permutations(struct cases *c)
{
    static const struct {
        const char *name;
        uint64_t n;
    } sizes[] = { { "10^3", 1000 },    { "65535", 65535 },     { "2^16", 65536 },
                  { "10^6", 1000000 }, { "10^9", 1000000000 }, { "2^48", PERMUTE_MAX } };

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        add_case(c, run_many, "draw", "permutation of ", sizes[i].name)->permute = permute_make(sizes[i].n, 1, 0);
    for (size_t i = 0; i < 3; i++) {
        struct subject *s =
            add_case(c, run_draws, "draw", i < 2 ? "one by one, of " : "inverse of ", i == 0 ? "10^3" : "10^9");

        s->permute = permute_make(i == 0 ? 1000 : 1000000000, 1, 0);
        s->draw = i < 2 ? permute_forward : permute_inverse;
    }
    c->permutations = c->count;
}

static enum leat_status add_plans(struct cases *c, struct leat_error *err)
{
    static const struct {
        const char *name;
        uint64_t sources;
        unsigned plans; /* with a set of weights each */
        uint64_t changes;
    } plans[] = { { "1 source", 1, 1, 0 },
                  { "20 sources", 20, 1, 0 },
                  { "1000 sources", 1000, 1, 0 },
                  { "20 sources, 8 plans", 20, WEIGHT_SETS, 0 },
                  { "the same weights in 4096 phases", 20, 1, PHASES - 1 } };
    uint64_t tokens = (uint64_t)15 * 1000 * 1000 * 1000;
    enum leat_status status = LEAT_OK;

    for (size_t i = 0; status == LEAT_OK && i < sizeof plans / sizeof plans[0]; i++) {
        struct subject *s = add_case(c, run_samples, "sample", "", plans[i].name);
        struct subject *alone = add_case(c, run_scattered, "sample", "one by one, ", plans[i].name);

        s->data = fake_dataset(&tokens, 1);
        while (status == LEAT_OK && s->plan_count < plans[i].plans) {
            status = open_plan(&s->plans[s->plan_count], s->data, plans[i].sources, s->plan_count, err);
            s->plan_count += status == LEAT_OK;
        }
        if (status == LEAT_OK && plans[i].changes > 0)
            status = add_phases(&s->plans[0], plans[i].changes, err);
        memcpy(alone->plans, s->plans, sizeof alone->plans);
        alone->plan_count = s->plan_count;
    }
    return status;
}

static void free_plans(struct cases *c)
{
    for (size_t i = 0; i < c->count; i++) {
        struct subject *s = &c->subjects[i];

        if (!s->data)
            continue;
        while (s->plan_count > 0)
            leat_plan_close(s->plans[--s->plan_count]);
        fake_dataset_free(s->data);
    }
}

static void print_results(const struct cases *c, const struct contest_result *results, bool as_json)
{
    size_t p = c->permutations;
    struct json j;

    if (!as_json) {
        machine_print();
        contest_print("permutation", c->cases, results, p);
        contest_print("samples, in batches of 512 and one by one", c->cases + p, results + p, c->count - p);
        return;
    }
    machine_json_begin(&j);
    contest_json(&j, "permutation", c->cases, results, p);
    contest_json(&j, "samples", c->cases + p, results + p, c->count - p);
    machine_json_end(&j);
}

static enum leat_status measure(struct cases *c, const struct order_values *v, struct leat_error *err)
{
    struct contest_result results[MAX_CASES];
    enum leat_status s = contest_run("order", c->cases, c->count, v->runs, results, err);

    if (s == LEAT_OK)
        print_results(c, results, v->json);
    contest_free_results(results, c->count);
    return s;
}

int bench_order(const struct command *self, int argc, char **argv)
{
    static struct cases cases;
    struct order_values values = { .runs = 5, .draws = 2000000 };
    struct options_parsed parsed;
    struct leat_error err;
    enum leat_status s;
    int code;

    if (!command_parse(self, argc, argv, &values, &parsed, &code))
        return code;
    add_permutations(&cases);
    s = add_plans(&cases, &err);
    for (size_t i = 0; i < cases.count; i++)
        cases.subjects[i].draws = values.draws;
    if (s == LEAT_OK)
        s = measure(&cases, &values, &err);
    free_plans(&cases);
    return bench_end(&parsed, s, &err);
}
