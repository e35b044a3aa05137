/*
 * cmd_order.c: `leat order`: prints where the samples of a plan come from, the plan's text, or a report on lengths.
 *
 * A plan computes the sample at any position directly, so a large --from costs nothing. With --rank, next_row() jumps
 * over the rows of other ranks, and no call asks beyond the rank's last row of a batch. --from and --count mean sample
 * numbers of all ranks, skipped ones included: so the same options with each rank in turn print each sample at most
 * once. A line names the document of the first piece; JSON lists all pieces, as they are shown.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/status.h"
#include "cli/plan_options.h"
#include "cli/units.h"
#include "commands.h"

#define AT_ONCE 1024u

struct order_values {
    struct plan_options plan; /* this comes first, since offsets of its rows count from here */
    uint64_t from, count;
    uint64_t batch, rank, world; /* LEAT_NONE: not given */
    unsigned balance;            /* enum leat_balance */
    bool json, print_plan, locality;
    struct fit_report_lengths report;
};

const struct option_row order_options[] = {
    { .name = "from",
      .type = OPTION_COUNT,
      .field = offsetof(struct order_values, from),
      .value = "N",
      .standard = "0",
      .help = "the first sample",
      .max = LEAT_MAX_SAMPLES },
    { .name = "count",
      .type = OPTION_COUNT,
      .field = offsetof(struct order_values, count),
      .value = "K",
      .standard = "10",
      .help = "samples from there on",
      .more = "They are counted over all ranks; skipped samples are counted and not printed.",
      .max = LEAT_MAX_SAMPLES },
    { .name = "batch",
      .type = OPTION_COUNT,
      .field = offsetof(struct order_values, batch),
      .value = "B",
      .help = "rows of a global batch, for --rank",
      .rare = true,
      .min = 1,
      .max = LEAT_MAX_SAMPLES },
    COMMANDS_RANKS(struct order_values, "batch", "only the rows of this rank, counted from 0"),
    COMMANDS_BALANCE(struct order_values),
    OPTIONS_JSON(struct order_values, "print one JSON object per line"),
    { .name = "print-plan",
      .type = OPTION_FLAG,
      .field = offsetof(struct order_values, print_plan),
      .help = "print the plan as text, for --plan",
      .excludes = "json" },
    { .name = "fit-report",
      .type = OPTION_CUSTOM,
      .field = offsetof(struct order_values, report),
      .value = "L,L,...",
      .length = true,
      .parse = fit_report_parse,
      .help = "print what rows of whole documents of these lengths are like",
      .more = "It says how full such rows are and which documents they cut, and what windows of these lengths cut. "
              "--seq-len is not needed then." },
    { .name = "locality-report",
      .type = OPTION_FLAG,
      .field = offsetof(struct order_values, locality),
      .help = "print how random batches of windows are, beside a full shuffle",
      .rare = true,
      .excludes = "print-plan,fit-report" },
    PLAN_OPTION_ROWS,
    PLAN_OPTION_SAMPLES,
    CACHE_OPTION_ROWS,
    OPTIONS_END,
};

/* The rows of each batch that are printed: a stretch, or, of dealt batches, the rank's rows in it. */
struct rows {
    uint64_t batch, first, count;
    uint32_t *dealt;    /* rank of each row of one batch; NULL: not dealt */
    uint64_t dealt_for; /* position of that batch; LEAT_NONE: none yet */
};

static bool check_rows(const struct command *self, const struct order_values *v, struct rows *rows, int *code)
{
    struct leat_error err;

    *rows = (struct rows) { .batch = 1, .count = 1, .dealt_for = LEAT_NONE };
    *code = CLI_WRONG;
    if (v->rank == LEAT_NONE)
        return true;
    rows->batch = v->batch;
    if (leat_plan_rank_rows(v->batch, v->rank, v->world, &rows->first, &rows->count, &err) != LEAT_OK) {
        command_wrong(self, "--rank: %s", err.message);
        return false;
    }
    if (v->balance != LEAT_BALANCE_NONE) {
        rows->first = 0;
        rows->count = v->batch;
    }
    return true;
}

/* Deals the rows of the batch at this position, if rows are dealt. */
static enum leat_status deal(const struct leat_plan *plan, const struct order_values *v, struct rows *rows,
                             uint64_t position, struct leat_error *err)
{
    uint64_t first = position - position % rows->batch;

    if (v->balance == LEAT_BALANCE_NONE || rows->dealt_for == first)
        return LEAT_OK;
    if (!rows->dealt)
        rows->dealt = calloc(rows->batch, sizeof *rows->dealt);
    if (!rows->dealt)
        return status_no_memory(err, rows->batch * sizeof *rows->dealt);
    rows->dealt_for = first;
    return leat_plan_deal(plan, v->balance, first, rows->batch, v->world, rows->dealt, NULL, err);
}

/* Finds a sample's row, each stretch with its document, or LEAT_NONE if that is not known; the caller frees *row. */
static enum leat_status find_row(const struct leat_plan *plan, const struct leat_sample *x, struct leat_stretch **row,
                                 uint64_t *count, struct leat_error *err)
{
    enum leat_status s = commands_row(plan, x, row, count, err);

    for (uint64_t i = 0; s == LEAT_OK && i < *count; i++) {
        struct leat_plan_source_info source = LEAT_PLAN_SOURCE_INFO_INIT;
        struct leat_info info = LEAT_INFO_INIT;
        struct leat_stretch *p = &(*row)[i];
        uint64_t documents;

        if (p->document != LEAT_NONE)
            continue;
        s = leat_plan_source_info(plan, p->source, &source, err);
        if (s == LEAT_OK)
            leat_dataset_info(source.dataset, &info);
        if (s == LEAT_OK && info.documents != LEAT_NONE)
            s = leat_dataset_documents_in(source.dataset, p->token, 1, &p->document, &documents, err);
    }
    return s;
}

/* The form in which samples are printed. */
struct form {
    bool json, parts; /* parts: true if a source has several datasets, so that lines have the dataset's number */
    bool headed;      /* true once the heading is printed */
};

static void find_form(struct form *form, const struct leat_plan *plan, bool json)
{
    struct leat_plan_info info = LEAT_PLAN_INFO_INIT;

    *form = (struct form) { .json = json };
    leat_plan_info(plan, &info);
    for (uint64_t i = 0; i < info.sources && !form->parts; i++) {
        struct leat_plan_source_info source = LEAT_PLAN_SOURCE_INFO_INIT;
        struct leat_info dataset = LEAT_INFO_INIT;

        if (leat_plan_source_info(plan, i, &source, NULL) == LEAT_OK)
            leat_dataset_info(source.dataset, &dataset);
        form->parts = dataset.parts > 1;
    }
}

static void print_line(const struct leat_sample *x, uint64_t document, struct form *form)
{
    if (!form->headed)
        printf("%12s %6s %12s %12s %14s%s\n", "sample", "source", "window", "document", "token",
               form->parts ? "    part" : "");
    form->headed = true;
    printf("%12" PRIu64 " %6" PRIu32 " %12" PRIu64, x->number, x->source, x->window);
    if (document != LEAT_NONE)
        printf(" %12" PRIu64, document);
    else
        printf(" %12s", "-");
    printf(" %14" PRIu64, x->offset);
    if (form->parts)
        printf(" %7" PRIu32, x->part);
    printf("\n");
}

static void print_stretch(struct json *j, const struct leat_stretch *t)
{
    json_open_object(j, NULL);
    json_u64(j, "source", t->source);
    json_u64(j, "part", t->part);
    json_u64_or_null(j, "token", t->literal ? LEAT_NONE : t->token);
    if (t->literal)
        json_u64(j, "literal", t->token);
    json_u64(j, "count", t->count);
    json_u64(j, "at", t->at);
    json_u64_or_null(j, "document", t->document);
    json_close_object(j);
}

static void print_json(const struct leat_sample *x, uint64_t document, const struct leat_stretch *row, uint64_t count,
                       bool parts)
{
    struct json j;

    json_begin(&j, stdout);
    json_open_object(&j, NULL);
    json_u64(&j, "n", x->number);
    json_u64(&j, "source", x->source);
    json_u64(&j, "window", x->window);
    json_u64_or_null(&j, "document", document);
    json_u64(&j, "offset", x->offset);
    if (parts)
        json_u64(&j, "part", x->part);
    json_u64(&j, "epoch", x->epoch);
    json_u64(&j, "length", x->length);
    json_open_array(&j, "pieces");
    for (uint64_t i = 0; i < count; i++)
        print_stretch(&j, &row[i]);
    json_close_array(&j);
    json_close_object(&j);
    json_end(&j);
}

static enum leat_status print_sample(const struct leat_plan *plan, const struct leat_sample *x, struct form *form,
                                     struct leat_error *err)
{
    struct leat_plan_source_info source = LEAT_PLAN_SOURCE_INFO_INIT;
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_stretch *row = NULL;
    uint64_t count = 0, document;
    enum leat_status s = leat_plan_source_info(plan, x->source, &source, err);

    if (s == LEAT_OK)
        s = find_row(plan, x, &row, &count, err);
    if (s == LEAT_OK) {
        leat_dataset_info(source.dataset, &info);
        document = count > 0 ? row[0].document : LEAT_NONE;
        form->json ? print_json(x, document, row, count, info.parts > 1) : print_line(x, document, form);
    }
    free(row);
    return s;
}

/* Returns the next position at or after `position` whose row is printed. */
static uint64_t next_row(const struct rows *rows, uint64_t position)
{
    uint64_t row = position % rows->batch;

    if (row < rows->first)
        return position + (rows->first - row);
    if (row >= rows->first + rows->count)
        return position + (rows->batch - row) + rows->first;
    return position;
}

/* Reports that no line was printed although samples were asked for. */
static void say_none(const struct leat_plan *plan, const struct order_values *v)
{
    struct leat_plan_info info = LEAT_PLAN_INFO_INIT;

    leat_plan_info(plan, &info);
    if (info.samples != LEAT_NONE && v->from >= info.samples)
        cli_error("the plan has %s, numbered from 0: no sample from %s on", units_counted(info.samples, "sample").text,
                  units_count(v->from).text);
    else
        cli_error("no sample to print from sample %s on: all within --count are skipped%s", units_count(v->from).text,
                  v->rank != LEAT_NONE ? " or in rows of other ranks" : "");
}

static enum leat_status print_samples(const struct leat_plan *plan, const struct order_values *v, struct rows *rows,
                                      struct leat_error *err)
{
    uint64_t end = v->from + v->count, position = next_row(rows, leat_plan_position(plan, v->from, NULL));
    struct leat_sample samples[AT_ONCE];
    enum leat_status s = LEAT_OK;
    bool printed = false;
    struct form form;

    find_form(&form, plan, v->json);
    while (s == LEAT_OK && !cli_stdout_failed()) {
        uint64_t left = rows->batch == 1 ? AT_ONCE : rows->first + rows->count - position % rows->batch;
        uint64_t got;

        s = deal(plan, v, rows, position, err);
        if (s == LEAT_OK)
            s = leat_plan_samples(plan, position, left < AT_ONCE ? left : AT_ONCE, samples, &got, err);
        for (uint64_t i = 0; s == LEAT_OK && i < got && samples[i].number < end; i++) {
            if (rows->dealt && rows->dealt[(position + i) % rows->batch] != v->rank)
                continue;
            s = print_sample(plan, &samples[i], &form, err);
            printed = true;
        }
        if (s != LEAT_OK || got == 0 || samples[got - 1].number >= end)
            break;
        position = next_row(rows, position + got);
    }
    if (s == LEAT_OK && !printed && v->count > 0)
        say_none(plan, v);
    return s;
}

static enum leat_status print_plan(const struct leat_plan *plan, struct leat_error *err)
{
    uint64_t bytes;
    enum leat_status s = leat_plan_text(plan, NULL, 0, &bytes, err);
    char *text;

    if (s != LEAT_OK)
        return s;
    text = malloc((size_t)bytes + 1);
    if (!text)
        return status_no_memory(err, bytes + 1);
    s = leat_plan_text(plan, text, (size_t)bytes + 1, &bytes, err);
    if (s == LEAT_OK)
        cli_put_text(text, (size_t)bytes);
    free(text);
    return s;
}

/* Returns true if options are given that only rows of whole documents have. */
static bool names_rows(const struct plan_options *o)
{
    return o->at.count > 0 || o->max_per_row != LEAT_NONE || o->min_length != LEAT_NONE || o->max_length != LEAT_NONE ||
           o->cut_length != LEAT_NONE || o->align != LEAT_NONE || o->overlap != LEAT_NONE || o->begin || o->whole ||
           o->fits.count > 0;
}

/* Sets options for a report, which needs no length and no order: the cheapest that the options allow. */
static void fill_in(struct order_values *v)
{
    if (v->report.count == 0 || v->plan.plan)
        return;
    if (v->plan.seq_len == LEAT_NONE)
        v->plan.seq_len = fit_report_longest(&v->report);
    if (v->plan.order == PLAN_ORDER_NOT_GIVEN)
        v->plan.order = names_rows(&v->plan) ? LEAT_ORDER_FIT : LEAT_ORDER_DOCUMENTS;
}

static enum leat_status print(const struct leat_plan *plan, const struct order_values *v, struct rows *rows,
                              struct leat_error *err)
{
    if (v->report.count > 0)
        return fit_report_print(plan, &v->report, v->json, err);
    if (v->locality)
        return locality_report_print(plan, v->json, err);
    return v->print_plan ? print_plan(plan, err) : print_samples(plan, v, rows, err);
}

int cmd_order(const struct command *self, int argc, char **argv)
{
    struct order_values v = {
        .plan = PLAN_OPTIONS_INIT, .count = 10, .batch = LEAT_NONE, .rank = LEAT_NONE, .world = LEAT_NONE
    };
    struct options_parsed parsed;
    struct leat_plan *plan = NULL;
    struct leat_error err;
    struct rows rows;
    enum leat_status s;
    int code;

    if (!command_parse(self, argc, argv, &v, &parsed, &code)) {
        plan_options_free(&v.plan);
        return code;
    }
    fill_in(&v);
    if (check_rows(self, &v, &rows, &code) && plan_options_open(self, &v.plan, &plan, &code) &&
        !plan_has_rows(self, plan, v.rank != LEAT_NONE ? "rank" : NULL)) {
        code = CLI_WRONG;
    } else if (plan) {
        s = print(plan, &v, &rows, &err);
        code = cli_finish_stdout(s == LEAT_OK ? CLI_DONE : cli_failed_or_damaged(&err));
    }
    free(rows.dealt);
    leat_plan_close(plan);
    plan_options_free(&v.plan);
    options_free(&parsed);
    return code;
}
