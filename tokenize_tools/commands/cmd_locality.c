/*
 * cmd_locality.c: the report of `leat order --locality-report`: how random the batches of a plan of windows are, beside
 * those of a plan that shuffles all windows of the same sources. Some batches are looked at, equally far apart in the
 * first pass. Each source is cut into equal *parts*; by chance, each part has equally many rows of a batch.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/status.h"
#include "cli/units.h"
#include "commands.h"

#define BATCHES 64u
#define PARTS   64u
#define FINE    1000u /* smaller parts, of which a batch shows some */

static const uint32_t batch_rows[] = { 256, 1024 };
#define SIZES (sizeof batch_rows / sizeof *batch_rows)

struct locality {
    double fine;    /* parts of 1/FINE that a batch shows rows of, on average; 0: the plan has no such batch */
    double spread;  /* chi-square of a batch's rows over PARTS parts, per degree of freedom: 1 by chance */
    double sharing; /* share of rows whose document another row of the batch shows, too; negative: not known */
    double bits;    /* mutual information of rows' batches and parts */
};

struct document {
    uint64_t source, number;
};

/* What is counted for batches of one size. */
struct counts {
    uint64_t sources, batches, rows;
    struct leat_plan_source_info *info; /* of each source */
    uint32_t (*parts)[PARTS];           /* of each source: rows of one batch in each of its parts */
    uint8_t (*fine)[FINE];              /* of each source: whether it shows a part */
    uint64_t joint[BATCHES][PARTS];     /* of each batch: rows in each part of all sources */
    struct document *documents;         /* of one batch's rows */
    struct leat_sample *samples;        /* of one batch */
    uint64_t fine_shown, sharing;       /* sums over batches */
    double chi_square, freedom;
    bool undocumented; /* a dataset does not say where documents begin */
};

static int compare_documents(const void *a, const void *b)
{
    const struct document *x = a, *y = b;

    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* Counts rows of a batch whose documents others have. */
static uint64_t count_sharing(struct counts *c, uint64_t rows)
{
    uint64_t sharing = 0;

    qsort(c->documents, rows, sizeof *c->documents, compare_documents);
    for (uint64_t i = 0; i < rows; i++)
        sharing += (i > 0 && compare_documents(&c->documents[i], &c->documents[i - 1]) == 0) ||
                   (i + 1 < rows && compare_documents(&c->documents[i], &c->documents[i + 1]) == 0);
    return sharing;
}

/* Adds the parts of one batch to the sums, and clears them. */
static void add_parts(struct counts *c)
{
    for (uint64_t source = 0; source < c->sources; source++) {
        double rows = 0;

        for (unsigned i = 0; i < PARTS; i++)
            rows += c->parts[source][i];
        for (unsigned i = 0; i < PARTS && rows > 0 && c->info[source].blocks >= PARTS; i++) {
            double expected = rows / PARTS, apart = c->parts[source][i] - expected;

            c->chi_square += apart * apart / expected;
        }
        c->freedom += rows > 0 && c->info[source].blocks >= PARTS ? PARTS - 1 : 0;
        for (unsigned i = 0; i < FINE; i++)
            c->fine_shown += c->fine[source][i];
        memset(c->parts[source], 0, sizeof *c->parts);
        memset(c->fine[source], 0, sizeof *c->fine);
    }
}

static enum leat_status find_document(struct counts *c, const struct leat_sample *x, uint64_t row,
                                      struct leat_error *err)
{
    const struct leat_dataset *dataset = c->info[x->source].dataset;
    struct leat_info info = LEAT_INFO_INIT;
    uint64_t count;

    leat_dataset_info(dataset, &info);
    c->undocumented |= info.documents == LEAT_NONE;
    c->documents[row].source = x->source;
    return c->undocumented ? LEAT_OK
                           : leat_dataset_documents_in(dataset, x->token, 1, &c->documents[row].number, &count, err);
}

static enum leat_status count_batch(const struct leat_plan *plan, struct counts *c, uint64_t position, uint64_t rows,
                                    struct leat_error *err)
{
    uint64_t got;
    enum leat_status s = leat_plan_samples(plan, position, rows, c->samples, &got, err);

    for (uint64_t i = 0; s == LEAT_OK && i < got; i++) {
        const struct leat_sample *x = &c->samples[i];
        double place = (double)x->block / (double)c->info[x->source].blocks;

        c->parts[x->source][(unsigned)(place * PARTS)]++;
        c->fine[x->source][(unsigned)(place * FINE)] = 1;
        c->joint[c->batches][(unsigned)(place * PARTS)]++;
        s = find_document(c, x, i, err);
    }
    if (s != LEAT_OK)
        return s;
    add_parts(c);
    c->sharing += count_sharing(c, got);
    c->rows += got;
    c->batches++;
    return LEAT_OK;
}

/* Returns the mutual information of rows' batches and parts, in bits. */
static double bits_of(const struct counts *c)
{
    double bits = 0;

    for (unsigned i = 0; i < PARTS; i++) {
        double all = 0;

        for (uint64_t b = 0; b < c->batches; b++)
            all += (double)c->joint[b][i];
        for (uint64_t b = 0; b < c->batches; b++)
            if (c->joint[b][i] > 0)
                bits +=
                    (double)c->joint[b][i] / (double)c->rows * log2((double)c->joint[b][i] / all * (double)c->batches);
    }
    return bits;
}

/* Looks at batches of `rows` rows, as many as the first pass over the plan's blocks has, but at most BATCHES. */
static enum leat_status look(const struct leat_plan *plan, struct counts *c, uint64_t rows, struct locality *out,
                             struct leat_error *err)
{
    struct leat_plan_info info = LEAT_PLAN_INFO_INIT;
    uint64_t blocks = 0, there, batches;
    enum leat_status s = LEAT_OK;

    leat_plan_info(plan, &info);
    for (uint64_t i = 0; s == LEAT_OK && i < c->sources; i++) {
        c->info[i] = (struct leat_plan_source_info)LEAT_PLAN_SOURCE_INFO_INIT;
        s = leat_plan_source_info(plan, i, &c->info[i], err);
        blocks += c->info[i].blocks;
    }
    there = (info.positions < blocks ? info.positions : blocks) / rows;
    batches = there < BATCHES ? there : BATCHES;
    for (uint64_t b = 0; s == LEAT_OK && b < batches; b++)
        s = count_batch(plan, c, there / batches * b * rows, rows, err);
    if (s == LEAT_OK && batches > 0)
        *out = (struct locality) { .fine = (double)c->fine_shown / (double)batches,
                                   .spread = c->freedom > 0 ? c->chi_square / c->freedom : 0,
                                   .sharing = c->undocumented ? -1 : (double)c->sharing / (double)c->rows,
                                   .bits = bits_of(c) };
    return s;
}

static enum leat_status measure(const struct leat_plan *plan, uint64_t rows, struct locality *out,
                                struct leat_error *err)
{
    struct leat_plan_info info = LEAT_PLAN_INFO_INIT;
    struct counts *c = calloc(1, sizeof *c);
    enum leat_status s = LEAT_OK;

    *out = (struct locality) { 0 };
    if (!c)
        return status_no_memory(err, sizeof *c);
    leat_plan_info(plan, &info);
    c->sources = info.sources;
    c->info = calloc(c->sources, sizeof *c->info);
    c->parts = calloc(c->sources, sizeof *c->parts);
    c->fine = calloc(c->sources, sizeof *c->fine);
    c->documents = calloc(rows, sizeof *c->documents);
    c->samples = calloc(rows, sizeof *c->samples);
    s = c->info && c->parts && c->fine && c->documents && c->samples ? look(plan, c, rows, out, err)
                                                                     : status_no_memory(err, rows * sizeof *c->samples);
    free(c->info);
    free(c->parts);
    free(c->fine);
    free(c->documents);
    free(c->samples);
    free(c);
    return s;
}

static void locality_json(struct json *j, const struct locality *x)
{
    json_double(j, "parts", x->fine);
    json_double(j, "chi_square", x->spread);
    json_double(j, "sharing", x->sharing < 0 ? NAN : x->sharing);
    json_double(j, "bits", x->bits);
}

static void print_json(const struct locality own[SIZES], const struct locality whole[SIZES])
{
    struct json j;

    json_begin(&j, stdout);
    json_open_object(&j, NULL);
    json_open_array(&j, "batches");
    for (unsigned i = 0; i < SIZES && own[i].fine > 0; i++) {
        json_open_object(&j, NULL);
        json_u64(&j, "rows", batch_rows[i]);
        locality_json(&j, &own[i]);
        json_open_object(&j, "shuffled");
        locality_json(&j, &whole[i]);
        json_close_object(&j);
        json_close_object(&j);
    }
    json_close_array(&j);
    json_close_object(&j);
    json_end(&j);
}

static void print_line(const char *what, double own, double whole)
{
    char a[32], b[32];

    snprintf(a, sizeof a, "%.2f", own);
    snprintf(b, sizeof b, "%.2f", whole);
    printf("  %-52s %12s %12s\n", what, own < 0 ? "-" : a, whole < 0 ? "-" : b);
}

static void print_text(const struct locality own[SIZES], const struct locality whole[SIZES])
{
    for (unsigned i = 0; i < SIZES && own[i].fine > 0; i++) {
        char title[64];

        snprintf(title, sizeof title, "Batches of %s", units_counted(batch_rows[i], "row").text);
        printf("%-54s %12s %12s\n", title, "this plan", "shuffled");
        print_line("thousandths of the sources that one shows", own[i].fine, whole[i].fine);
        print_line("unevenness over 64 parts (chi-square; 1: by chance)", own[i].spread, whole[i].spread);
        print_line("rows whose document another row of it shows, %", 100 * own[i].sharing, 100 * whole[i].sharing);
        print_line("what the batch says of a row's part, bits", own[i].bits, whole[i].bits);
    }
}

enum leat_status locality_report_print(const struct leat_plan *plan, bool json, struct leat_error *err)
{
    struct locality own[SIZES], whole[SIZES];
    struct leat_plan_info info = LEAT_PLAN_INFO_INIT;
    struct leat_plan *shuffled = NULL;
    enum leat_status s;

    leat_plan_info(plan, &info);
    if (info.order != LEAT_ORDER_SHUFFLED && info.order != LEAT_ORDER_SEQUENTIAL)
        return status_argument(err, "locality-report", "a report on locality is of windows, not of order %s",
                               leat_order_name(info.order));
    s = leat_plan_reorder(&shuffled, plan, LEAT_ORDER_SHUFFLED, 0, err);
    for (unsigned i = 0; s == LEAT_OK && i < SIZES; i++) {
        s = measure(plan, batch_rows[i], &own[i], err);
        if (s == LEAT_OK)
            s = measure(shuffled, batch_rows[i], &whole[i], err);
    }
    if (s == LEAT_OK && own[0].fine <= 0)
        s = status_argument(err, "locality-report", "the plan has less than one batch of %" PRIu32 " rows",
                            batch_rows[0]);
    if (s == LEAT_OK)
        json ? print_json(own, whole) : print_text(own, whole);
    leat_plan_close(shuffled);
    return s;
}
