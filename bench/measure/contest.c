/*
 * contest.c: goes through the rounds, and in each through the cases.
 *
 * A case prepares, the clocks are read, it runs, and the clocks are read again. The first round is not kept. Each
 * result keeps all its runs, so medians and spreads, and ratios between two cases of the same round, are computed
 * afterwards, for the table and for JSON alike.
 */
#include "contest.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "cli/progress.h"
#include "cli/units.h"
#include "machine.h"

bool contest_refuse(struct contest_work *work, const char *format, ...)
{
    va_list more;

    va_start(more, format);
    vsnprintf(work->why, sizeof work->why, format, more);
    va_end(more);
    return false;
}

/* Runs a case once. Returns false if it cannot run here; it is left out from then on. */
static bool run_once(const struct contest_case *c, unsigned number, struct contest_result *r)
{
    struct contest_work work = { .number = number };
    double began, cpu_began;
    bool ok = !c->prepare || c->prepare(c->context, &work);

    began = cli_now();
    cpu_began = machine_cpu_seconds();
    ok = ok && c->run(c->context, &work);
    if (ok && number > 0)
        r->samples[r->runs++] = (struct contest_sample) { work.seconds > 0 ? work.seconds : cli_now() - began,
                                                          machine_cpu_seconds() - cpu_began, work.bytes, work.items };
    if (!ok)
        r->runs = 0;
    memcpy(r->why, work.why, sizeof r->why);
    memcpy(r->note, work.note, sizeof r->note);
    return ok;
}

enum leat_status contest_run(const char *label, const struct contest_case *cases, size_t count, uint64_t runs,
                             struct contest_result *results, struct leat_error *err)
{
    bool *usable = calloc(count, sizeof *usable);
    uint64_t done = 0;
    struct progress p;
    bool ok = usable != NULL;

    memset(results, 0, count * sizeof *results);
    for (size_t i = 0; i < count && ok; i++) {
        results[i].samples = calloc(runs, sizeof *results[i].samples);
        usable[i] = true;
        ok = results[i].samples != NULL;
    }
    progress_begin(&p, PROGRESS_AUTO, label, PROGRESS_COUNT);
    for (unsigned round = 0; round <= runs && ok; round++)
        for (size_t i = 0; i < count; i++, done++) {
            progress_update(&p, done, count * (runs + 1), cases[i].name);
            if (usable[i])
                usable[i] = run_once(&cases[i], round, &results[i]);
        }
    progress_end(&p);
    free(usable);
    return ok ? LEAT_OK : status_set(err, LEAT_E_NO_MEMORY, "not enough memory to measure");
}

void contest_free_results(struct contest_result *results, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(results[i].samples);
}

/* ---- Figures ---- */

static double measure_sample(const struct contest_sample *s, enum contest_measure measure)
{
    if (s->seconds <= 0)
        return 0;
    switch (measure) {
    case CONTEST_BYTES_PER_S:
        return (double)s->bytes / s->seconds;
    case CONTEST_SECONDS_PER_ITEM:
        return s->items > 0 ? s->seconds / (double)s->items : 0;
    case CONTEST_CPU:
        break;
    }
    return s->cpu_seconds / s->seconds;
}

/* Orders doubles, for qsort(). */
static int compare(const void *a, const void *b)
{
    double x, y;

    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

static struct contest_spread spread_of(double *values, uint64_t count)
{
    qsort(values, count, sizeof *values, compare);
    return (struct contest_spread) { (values[(count - 1) / 2] + values[count / 2]) / 2, values[0], values[count - 1] };
}

double contest_median(double *values, uint64_t count)
{
    return spread_of(values, count).median;
}

struct contest_spread contest_spread(const struct contest_result *r, enum contest_measure measure)
{
    struct contest_spread spread = { 0, 0, 0 };
    double *values = r->runs > 0 ? malloc(r->runs * sizeof *values) : NULL;

    if (!values)
        return spread;
    for (unsigned i = 0; i < r->runs; i++)
        values[i] = measure_sample(&r->samples[i], measure);
    spread = spread_of(values, r->runs);
    free(values);
    return spread;
}

/* ---- Output ---- */

static void print_row(int widest, const struct contest_case *c, const struct contest_result *r)
{
    struct contest_spread bytes = contest_spread(r, CONTEST_BYTES_PER_S);
    struct contest_spread item = contest_spread(r, CONTEST_SECONDS_PER_ITEM);
    bool has_bytes = bytes.median > 0;
    char range[104] = "", each[104] = "";

    printf("  %-*s", widest, c->name);
    if (r->runs == 0) {
        printf("  not measured: %s\n", r->why);
        return;
    }
    /* A case without bytes shows the spread of the time per item. */
    if (has_bytes)
        snprintf(range, sizeof range, "%s - %s", units_rate(bytes.min, "B").text, units_rate(bytes.max, "B").text);
    else if (item.median > 0)
        snprintf(range, sizeof range, "%s - %s", units_duration(item.min).text, units_duration(item.max).text);
    if (c->item && item.median > 0)
        snprintf(each, sizeof each, "%s per %.40s", units_duration(item.median).text, c->item);
    printf("  %11s  %-23s  %-18s  %5.2f  %s\n", has_bytes ? units_rate(bytes.median, "B").text : "", range, each,
           contest_spread(r, CONTEST_CPU).median, r->note);
}

void contest_print(const char *title, const struct contest_case *cases, const struct contest_result *results,
                   size_t count)
{
    int widest = 0;

    for (size_t i = 0; i < count; i++)
        if ((int)strlen(cases[i].name) > widest)
            widest = (int)strlen(cases[i].name);
    printf("\n%-*s  %11s  %-23s  %-18s  %5s\n", widest + 2, title, "median", "least - most", "time", "CPUs");
    for (size_t i = 0; i < count; i++)
        print_row(widest, &cases[i], &results[i]);
}

/* Writes the spread, or null if the case counts no such thing. */
static void json_spread(struct json *j, const char *key, struct contest_spread s)
{
    if (s.max <= 0) {
        json_null(j, key);
        return;
    }
    json_open_object(j, key);
    json_double(j, "median", s.median);
    json_double(j, "least", s.min);
    json_double(j, "most", s.max);
    json_close_object(j);
}

void contest_json(struct json *j, const char *key, const struct contest_case *cases,
                  const struct contest_result *results, size_t count)
{
    json_open_array(j, key);
    for (size_t i = 0; i < count; i++) {
        const struct contest_result *r = &results[i];

        json_open_object(j, NULL);
        json_string(j, "name", cases[i].name);
        json_u64(j, "runs", r->runs);
        json_string(j, "not_measured", r->runs == 0 ? r->why : NULL);
        if (r->runs > 0) {
            json_spread(j, "bytes_per_s", contest_spread(r, CONTEST_BYTES_PER_S));
            json_string(j, "item", cases[i].item);
            json_spread(j, "seconds_per_item", contest_spread(r, CONTEST_SECONDS_PER_ITEM));
            json_double(j, "cpus", contest_spread(r, CONTEST_CPU).median);
            json_string(j, "note", r->note[0] ? r->note : NULL);
        }
        json_close_object(j);
    }
    json_close_array(j);
}

/* ---- Threads ---- */

struct member {
    void (*work)(void *context, unsigned index);
    void *context;
    unsigned index;
    pthread_t thread;
    bool started;
};

static void *member_main(void *argument)
{
    struct member *m = argument;

    m->work(m->context, m->index);
    return NULL;
}

bool contest_threads(unsigned threads, void (*work)(void *context, unsigned index), void *context)
{
    struct member *members = calloc(threads, sizeof *members);
    bool ok = members != NULL;

    if (!ok)
        return false;
    for (unsigned i = 1; i < threads; i++) {
        members[i] = (struct member) { .work = work, .context = context, .index = i };
        members[i].started = pthread_create(&members[i].thread, NULL, member_main, &members[i]) == 0;
        ok = ok && members[i].started;
    }
    work(context, 0);
    for (unsigned i = 1; i < threads; i++)
        if (members[i].started)
            pthread_join(members[i].thread, NULL);
    free(members);
    return ok;
}
