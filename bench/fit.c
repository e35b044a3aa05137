/*
 * fit.c: `leat-bench fit`: what rows of whole documents cost on a dataset: opening a plan (with NAME.fit or without),
 * the samples and pieces of rows in batches, the rows that show a document; and how full the rows are, beside a plain
 * best fit, which goes piece by piece.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/status.h"
#include "bench/measure/machine.h"
#include "cli/json.h"
#include "cli/units.h"
#include "plan/plan.h"
#include "subcommands.h"

#define BATCH     512u
#define BATCHES   512u /* timed; as many before them are not */
#define DOCUMENTS 1000u

struct fit_values {
    uint64_t runs, seq_len;
    bool json;
};

const struct option_row bench_fit_options[] = {
    BENCH_RUNS(fit_values, "3", "number of runs, each of which opens the plan and asks for batches and documents"),
    { BENCH_OPTION(fit_values, "seq-len", OPTION_COUNT, seq_len, "L", "places per row"), .standard = "8192",
      .length = true, .min = 2, .max = (uint64_t)1 << 20 },
    BENCH_JSON(fit_values),
    OPTIONS_END,
};

/* The least of all runs. */
struct results {
    double open, row, piece, inverse; /* seconds; row and piece: all time, per row and per piece */
    double memory_mib;                /* of the process, with a plan open */
    double pieces_per_row;
    struct leat_fit_report report;
    uint64_t plain_rows;
};

static void least(double *best, double seconds)
{
    if (*best == 0 || seconds < *best)
        *best = seconds;
}

/* ---- Plain best fit ---- */

/* Rows with each free room, and a bit for each room that some row has. */
struct rooms {
    uint64_t *rows, *bits, length;
};

/* The least room of at least `wanted` that a row has; length: that of an empty row. */
static uint64_t find_room(const struct rooms *r, uint64_t wanted)
{
    uint64_t word = wanted / 64, bits = r->bits[word] & (UINT64_MAX << wanted % 64);

    while (bits == 0 && word < r->length / 64)
        bits = r->bits[++word];
    return bits ? 64 * word + (uint64_t)__builtin_ctzll(bits) : r->length;
}

static uint64_t fit_plainly(const struct rooms *r, const uint64_t *counts)
{
    uint64_t rows = 0;

    for (uint64_t length = r->length - 1; length > 0; length--)
        for (uint64_t i = 0; i < counts[length]; i++) {
            uint64_t room = find_room(r, length), left = room - length;

            if (room == r->length)
                rows++;
            else if (--r->rows[room] == 0)
                r->bits[room / 64] &= ~((uint64_t)1 << room % 64);
            r->rows[left]++;
            if (left > 0)
                r->bits[left / 64] |= (uint64_t)1 << left % 64;
        }
    return rows;
}

/* Counts rests and full rows, then fits the rests piece by piece. */
static enum leat_status plain_rows(const struct leat_dataset *d, uint64_t documents, uint64_t length, uint64_t *rows,
                                   struct leat_error *err)
{
    struct rooms r = { calloc(length, 8), calloc(length / 64 + 1, 8), length };
    uint64_t *counts = calloc(length, 8), starts[BATCH + 1];
    enum leat_status s = r.rows && r.bits && counts ? LEAT_OK : status_no_memory(err, 24 * length);

    *rows = 0;
    for (uint64_t first = 0, here; s == LEAT_OK && first < documents; first += here) {
        here = documents - first < BATCH ? documents - first : BATCH;
        s = leat_dataset_starts(d, first, here + 1, starts, err);
        for (uint64_t i = 0; s == LEAT_OK && i < here; i++) {
            uint64_t tokens = starts[i + 1] - starts[i], predictions = tokens > 0 ? tokens - 1 : 0;

            *rows += predictions / length;
            counts[predictions % length]++;
        }
    }
    if (s == LEAT_OK)
        *rows += fit_plainly(&r, counts);
    free(r.rows);
    free(r.bits);
    free(counts);
    return s;
}

/* ---- Times ---- */

static enum leat_status open_plan(const struct leat_dataset *d, const char *name, uint64_t length,
                                  struct leat_plan **plan, double *seconds, struct leat_error *err)
{
    struct leat_plan_source source = LEAT_PLAN_SOURCE_INIT;
    struct leat_plan_options o = LEAT_PLAN_OPTIONS_INIT;
    double began = cli_now();
    enum leat_status s;

    source.name = name;
    source.dataset = d;
    o.sources = &source;
    o.source_count = 1;
    o.seq_len = length;
    o.order = LEAT_ORDER_FIT;
    s = leat_plan_open(plan, &o, err);
    *seconds = cli_now() - began;
    return s;
}

/* Adds the pieces of a batch of rows to *pieces, as a loader asks for them. */
static enum leat_status find_batch(const struct leat_plan *plan, uint64_t first, struct leat_piece **room,
                                   size_t *room_count, uint64_t *pieces, struct leat_error *err)
{
    static struct leat_sample samples[BATCH];
    uint64_t got, count = 0;
    enum leat_status s = plan_samples(plan, first, BATCH, samples, &got, err);

    for (uint64_t i = 0; s == LEAT_OK && i < got; i++)
        count += samples[i].pieces;
    if (s == LEAT_OK)
        s = GROW(*room, count, *room_count, err);
    *pieces += count;
    return s == LEAT_OK ? leat_plan_pieces(plan, samples, got, *room, err) : s;
}

static enum leat_status time_rows(const struct leat_plan *plan, uint64_t first, struct results *r,
                                  struct leat_error *err)
{
    struct leat_piece *room = NULL;
    size_t room_count = 0;
    uint64_t pieces = 0;
    double began, seconds;
    enum leat_status s = LEAT_OK;

    for (uint64_t i = 0; s == LEAT_OK && i < BATCHES; i++) /* the kernel fills page tables where a file is mapped */
        s = find_batch(plan, first + i * BATCH, &room, &room_count, &pieces, err);
    pieces = 0;
    began = cli_now();
    for (uint64_t i = BATCHES; s == LEAT_OK && i < 2 * BATCHES; i++)
        s = find_batch(plan, first + i * BATCH, &room, &room_count, &pieces, err);
    seconds = cli_now() - began;
    free(room);
    least(&r->row, seconds / (BATCHES * BATCH));
    least(&r->piece, seconds / (double)pieces);
    r->pieces_per_row = (double)pieces / (BATCHES * BATCH);
    return s;
}

static uint32_t count_sample(void *context, const struct leat_sample *sample)
{
    (void)sample;
    ++*(uint64_t *)context;
    return 0;
}

static enum leat_status time_inverse(const struct leat_plan *plan, const struct leat_dataset *d, uint64_t documents,
                                     struct results *r, struct leat_error *err)
{
    uint64_t step = documents / DOCUMENTS + 1, asked = 0, found = 0;
    double began = cli_now();
    enum leat_status s = LEAT_OK;

    for (uint64_t i = 0; s == LEAT_OK && i < documents; i += step, asked++) {
        uint64_t start;

        s = leat_dataset_starts(d, i, 1, &start, err);
        if (s == LEAT_OK)
            s = leat_plan_trace(plan, &(struct leat_trace) { sizeof(struct leat_trace), 0, start, 1, 1, 0, LEAT_NONE },
                                count_sample, &found, err);
    }
    least(&r->inverse, (cli_now() - began) / (double)asked);
    return s;
}

static enum leat_status measure(const struct leat_dataset *d, const char *name, const struct fit_values *v,
                                struct results *r, struct leat_error *err)
{
    struct leat_info info = LEAT_INFO_INIT;
    enum leat_status s = LEAT_OK;

    leat_dataset_info(d, &info);
    for (uint64_t run = 0; s == LEAT_OK && run < v->runs; run++) {
        struct leat_plan *plan;
        double seconds;

        s = open_plan(d, name, v->seq_len, &plan, &seconds, err);
        if (s != LEAT_OK)
            return s;
        least(&r->open, seconds);
        least(&r->memory_mib, machine_memory_mib());
        s = time_rows(plan, run * 2 * BATCHES * BATCH, r, err);
        if (s == LEAT_OK)
            s = time_inverse(plan, d, info.documents, r, err);
        if (s == LEAT_OK && run == 0)
            s = leat_plan_fit_report(plan, 0, v->seq_len, &r->report, err);
        leat_plan_close(plan);
    }
    return s == LEAT_OK ? plain_rows(d, info.documents, v->seq_len, &r->plain_rows, err) : s;
}

/* ---- Output ---- */

static void print_json(const struct results *r)
{
    struct json j;

    json_begin(&j, stdout);
    json_open_object(&j, NULL);
    json_u64(&j, "documents", r->report.documents);
    json_double(&j, "open_seconds", r->open);
    json_double(&j, "memory_mib", r->memory_mib);
    json_double(&j, "row_seconds", r->row);
    json_double(&j, "piece_seconds", r->piece);
    json_double(&j, "pieces_per_row", r->pieces_per_row);
    json_double(&j, "inverse_seconds", r->inverse);
    json_u64(&j, "rows", r->report.rows);
    json_u64(&j, "plain_rows", r->plain_rows);
    json_u64(&j, "patterns", r->report.patterns);
    json_u64(&j, "padding", r->report.padding);
    json_close_object(&j);
    json_end(&j);
}

static void print_text(const struct results *r, uint64_t length)
{
    double places = (double)r->report.rows * (double)length;

    printf("%s, rows of %s\n", units_counted(r->report.documents, "document").text, units_count(length).text);
    printf("open a plan        %s, then %.1f MiB of memory\n", units_duration(r->open).text, r->memory_mib);
    printf("a row's pieces     %.0f ns, %.1f ns per piece, of %.2f pieces\n", 1e9 * r->row, 1e9 * r->piece,
           r->pieces_per_row);
    printf("rows of a document %s in an epoch\n", units_duration(r->inverse).text);
    printf("rows               %s; plain best fit: %s\n", units_count(r->report.rows).text,
           units_count(r->plain_rows).text);
    printf("filled             %.4f %%\n", 100 - 100 * (double)r->report.padding / places);
    printf("patterns           %s\n", units_count(r->report.patterns).text);
}

int bench_fit(const struct command *self, int argc, char **argv)
{
    struct fit_values v = { .runs = 3, .seq_len = 8192 };
    struct results r = { .report = LEAT_FIT_REPORT_INIT };
    struct options_parsed parsed;
    struct leat_dataset *d = NULL;
    struct leat_error err;
    enum leat_status s;
    int code;

    if (!command_parse(self, argc, argv, &v, &parsed, &code))
        return code;
    s = leat_dataset_open(&d, parsed.words[0], NULL, &err);
    if (s == LEAT_OK)
        s = measure(d, parsed.words[0], &v, &r, &err);
    if (s == LEAT_OK)
        v.json ? print_json(&r) : print_text(&r, v.seq_len);
    leat_dataset_close(d);
    return bench_end(&parsed, s, &err);
}
