/* cmd_fit.c: `leat fit`: writes the documents of datasets by length to files beside them, for plans of rows of whole
 * documents; or reports what such rows would be like. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/status.h"
#include "cli/progress.h"
#include "cli/units.h"
#include "commands.h"

/* ---- What rows are like ------------------------------------------------------------------------------------------ */

#define MAX_LENGTH ((uint64_t)1 << 24)
#define BAR        40u

bool fit_report_parse(void *field, const char *text, const char **why)
{
    struct fit_report_lengths *r = field;

    for (r->count = 0;; text++) {
        size_t length = strcspn(text, ",");

        if (r->count == FIT_REPORT_MAX_LENGTHS) {
            *why = "has more than 16 lengths";
            return false;
        }
        if (!units_parse_part(text, length, &r->lengths[r->count], why))
            return false;
        if (r->lengths[r->count] == 0 || r->lengths[r->count] > MAX_LENGTH) {
            *why = "has a length that is not between 1 and 2^24";
            return false;
        }
        r->count++;
        text += length;
        if (!*text)
            return true;
    }
}

/* Adds up the reports on all sources. */
static enum leat_status add_up(const struct leat_plan *plan, uint64_t length, struct leat_fit_report *all,
                               struct leat_error *err)
{
    struct leat_plan_info info = LEAT_PLAN_INFO_INIT;
    enum leat_status s = LEAT_OK;

    leat_plan_info(plan, &info);
    for (uint64_t i = 0; s == LEAT_OK && i < info.sources; i++) {
        struct leat_fit_report one = LEAT_FIT_REPORT_INIT;

        s = leat_plan_fit_report(plan, i, length, &one, err);
        all->documents += one.documents;
        all->predictions += one.predictions;
        all->empty += one.empty;
        all->rows += one.rows;
        all->full_rows += one.full_rows;
        all->pieces += one.pieces;
        all->max_pieces = one.max_pieces > all->max_pieces ? one.max_pieces : all->max_pieces;
        all->patterns += one.patterns;
        all->padding += one.padding;
        all->cut += one.cut;
        all->lost += one.lost;
        all->window_rows += one.window_rows;
        all->window_cut += one.window_cut;
        all->window_lost += one.window_lost;
        all->left_out += one.left_out;
        all->unused += one.unused;
        all->context += one.context;
    }
    return s;
}

static void report_json(const struct fit_report_lengths *wanted, const struct leat_fit_report *reports)
{
    struct json j;

    json_begin(&j, stdout);
    json_open_object(&j, NULL);
    json_u64(&j, "documents", reports[0].documents);
    json_u64(&j, "predictions", reports[0].predictions);
    json_u64(&j, "empty", reports[0].empty);
    json_u64(&j, "left_out", reports[0].left_out);
    json_u64(&j, "unused", reports[0].unused);
    json_open_array(&j, "lengths");
    for (unsigned i = 0; i < wanted->count; i++) {
        const struct leat_fit_report *r = &reports[i];

        json_open_object(&j, NULL);
        json_u64(&j, "length", wanted->lengths[i]);
        json_u64(&j, "rows", r->rows);
        json_u64(&j, "full_rows", r->full_rows);
        json_u64(&j, "pieces", r->pieces);
        json_u64(&j, "max_pieces", r->max_pieces);
        json_u64(&j, "patterns", r->patterns);
        json_u64(&j, "padding", r->padding);
        json_u64(&j, "context", r->context);
        json_u64(&j, "documents_cut", r->cut);
        json_u64(&j, "lost_context", r->lost);
        json_open_object(&j, "windows");
        json_u64(&j, "rows", r->window_rows);
        json_u64(&j, "documents_cut", r->window_cut);
        json_u64(&j, "lost_context", r->window_lost);
        json_close_object(&j);
        json_close_object(&j);
    }
    json_close_array(&j);
    json_close_object(&j);
    json_end(&j);
}

static void print_row(uint64_t length, const struct leat_fit_report *r)
{
    double places = (double)r->rows * (double)length;

    printf("%11s %12s %10.2f %8s %9.4f %% %8s %10s %12s %8s %10s\n", units_count(length).text,
           units_count(r->rows).text, r->rows > 0 ? (double)r->pieces / (double)r->rows : 0,
           units_count(r->patterns).text, places > 0 ? 100 * (double)r->padding / places : 0,
           units_share(r->cut, r->documents).text, units_share(r->lost, r->predictions).text,
           units_count(r->window_rows).text, units_share(r->window_cut, r->documents + r->left_out).text,
           units_share(r->window_lost, r->predictions + r->unused).text);
}

static void print_bar(const char *before, const char *name, uint64_t part, uint64_t whole)
{
    static const char bar[] = " ########################################";
    unsigned width = whole > 0 ? (unsigned)((double)part / (double)whole * BAR + 0.5) : 0;

    printf("%11s  %-7s %7s%.*s\n", before, name, units_share(part, whole).text, width > 0 ? (int)width + 1 : 0, bar);
}

/* Prints what rows show again; nothing without an overlap. */
static void print_context(const struct fit_report_lengths *wanted, const struct leat_fit_report *reports)
{
    for (unsigned i = 0; i < wanted->count; i++)
        if (reports[i].context > 0)
            printf("%11s  shown again, as context: %s of all places\n", units_count(wanted->lengths[i]).text,
                   units_share(reports[i].context, reports[i].rows * wanted->lengths[i]).text);
}

static void print_text(const struct fit_report_lengths *wanted, const struct leat_fit_report *reports)
{
    printf("%s, %s (tokens with a next one in their document)\n", units_counted(reports[0].documents, "document").text,
           units_counted(reports[0].predictions, "prediction").text);
    if (reports[0].left_out + reports[0].unused > 0)
        printf("not used: %s, %s of these and cut off\n", units_counted(reports[0].left_out, "document").text,
               units_counted(reports[0].unused, "prediction").text);
    printf("\n");
    printf("%11s   %-63s %s\n", "", "rows of whole documents (--order fit)", "windows");
    printf("%11s %12s %10s %8s %11s %8s %10s %12s %8s %10s\n", "length", "rows", "pieces/row", "patterns", "padding",
           "docs cut", "no context", "rows", "docs cut", "no context");
    for (unsigned i = 0; i < wanted->count; i++)
        print_row(wanted->lengths[i], &reports[i]);
    print_context(wanted, reports);
    printf("\nno context: predictions whose row does not have the beginning of their document\n");
    for (unsigned i = 0; i < wanted->count; i++) {
        print_bar(units_count(wanted->lengths[i]).text, "fit", reports[i].lost, reports[i].predictions);
        print_bar("", "windows", reports[i].window_lost, reports[i].predictions + reports[i].unused);
    }
}

enum leat_status fit_report_print(const struct leat_plan *plan, const struct fit_report_lengths *wanted, bool json,
                                  struct leat_error *err)
{
    struct leat_fit_report reports[FIT_REPORT_MAX_LENGTHS];
    enum leat_status s = LEAT_OK;

    for (unsigned i = 0; s == LEAT_OK && i < wanted->count; i++) {
        reports[i] = (struct leat_fit_report)LEAT_FIT_REPORT_INIT;
        s = add_up(plan, wanted->lengths[i], &reports[i], err);
    }
    if (s == LEAT_OK)
        json ? report_json(wanted, reports) : print_text(wanted, reports);
    return s;
}

/* ---- The command ------------------------------------------------------------------------------------------------- */

struct fit_values {
    struct fit_report_lengths lengths;
    unsigned progress;
    bool report, json;
};

const struct option_row fit_options[] = {
    { .name = "report",
      .needs = "seq-len",
      .type = OPTION_FLAG,
      .field = offsetof(struct fit_values, report),
      .help = "write nothing; print what rows of --seq-len tokens are like",
      .more = "The report is on all datasets together, as `leat order --fit-report` prints it." },
    { .name = "seq-len",
      .type = OPTION_CUSTOM,
      .field = offsetof(struct fit_values, lengths),
      .value = "L,L,...",
      .length = true,
      .parse = fit_report_parse,
      .help = "for --report; the file serves rows of any length" },
    COMMANDS_PROGRESS(struct fit_values),
    OPTIONS_JSON(struct fit_values, "print a JSON object for each NAME"),
    CACHE_OPTION_ROWS,
    OPTIONS_END,
};

static void print_json(const char *name, uint64_t documents, double seconds)
{
    struct json j;

    json_begin(&j, stdout);
    json_open_object(&j, NULL);
    json_string(&j, "name", name);
    json_u64(&j, "documents", documents);
    json_double(&j, "seconds", seconds);
    json_close_object(&j);
    json_end(&j);
}

static int fit(const char *name, const struct fit_values *values)
{
    struct leat_fit_options options = LEAT_FIT_OPTIONS_INIT;
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_dataset *d;
    struct leat_error err;
    struct progress progress;
    double began = cli_now();
    enum leat_status s = commands_open(&d, name, &err);

    if (s != LEAT_OK)
        return cli_failed_or_damaged(&err);
    cli_catch_interrupts();
    progress_begin(&progress, (enum progress_mode)values->progress, "fit", PROGRESS_BYTES);
    options.progress = commands_on_progress;
    options.context = &progress;
    s = leat_dataset_fit(d, &options, &err);
    progress_end(&progress);
    leat_dataset_info(d, &info);
    leat_dataset_close(d);
    if (s != LEAT_OK)
        return cli_failed_or_damaged(&err);
    if (values->json)
        print_json(name, info.documents, cli_now() - began);
    else
        cli_say("%s: %s sorted by length in %s.", name, units_counted(info.documents, "document").text,
                units_duration(cli_now() - began).text);
    return CLI_DONE;
}

static int report(const char *const *names, size_t count, const struct fit_values *values)
{
    struct leat_plan_source *sources = calloc(count, sizeof *sources);
    struct leat_plan_options options = LEAT_PLAN_OPTIONS_INIT;
    struct leat_plan *plan = NULL;
    struct leat_error err;
    enum leat_status s = sources ? LEAT_OK : status_no_memory(&err, count * sizeof *sources);

    for (size_t i = 0; s == LEAT_OK && i < count; i++)
        sources[i] = (struct leat_plan_source) { .size = sizeof *sources, .name = names[i] };
    options.sources = sources;
    options.source_count = count;
    options.seq_len = values->lengths.lengths[0];
    options.order = LEAT_ORDER_FIT;
    if (s == LEAT_OK)
        s = leat_plan_open(&plan, &options, &err);
    if (s == LEAT_OK)
        s = fit_report_print(plan, &values->lengths, values->json, &err);
    leat_plan_close(plan);
    free(sources);
    return s == LEAT_OK ? CLI_DONE : cli_failed_or_damaged(&err);
}

int cmd_fit(const struct command *self, int argc, char **argv)
{
    struct fit_values values = { .json = false };
    struct options_parsed parsed;
    int code;

    if (!command_parse(self, argc, argv, &values, &parsed, &code))
        return code;
    code = CLI_DONE;
    if (values.report)
        code = report(parsed.words, parsed.count, &values);
    for (size_t i = 0; !values.report && code == CLI_DONE && i < parsed.count; i++)
        code = fit(parsed.words[i], &values);
    options_free(&parsed);
    return cli_finish_stdout(code);
}
