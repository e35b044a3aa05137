/* cmd_fit.c: `leat fit`: writes the documents of datasets by length to files beside them, for plans of rows of whole
 * documents; or reports what such rows would be like. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/status.h"
#include "cli/plan_options.h"
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

uint64_t fit_report_longest(const struct fit_report_lengths *wanted)
{
    uint64_t longest = 0;

    for (unsigned i = 0; i < wanted->count; i++)
        longest = wanted->lengths[i] > longest ? wanted->lengths[i] : longest;
    return longest;
}

/* The reports of all lengths: `all` counts the sources together, `of` has each source, length by length. */
struct reports {
    const struct leat_plan *plan;
    const struct fit_report_lengths *wanted;
    struct leat_fit_report all[FIT_REPORT_MAX_LENGTHS], *of;
    uint64_t sources;
};

/* Adds a report to the one on all sources. */
static void add_up(struct leat_fit_report *all, const struct leat_fit_report *one)
{
    all->documents += one->documents;
    all->predictions += one->predictions;
    all->empty += one->empty;
    all->rows += one->rows;
    all->full_rows += one->full_rows;
    all->pieces += one->pieces;
    all->max_pieces = one->max_pieces > all->max_pieces ? one->max_pieces : all->max_pieces;
    all->patterns += one->patterns;
    all->padding += one->padding;
    all->cut += one->cut;
    all->lost += one->lost;
    all->window_rows += one->window_rows;
    all->window_cut += one->window_cut;
    all->window_lost += one->window_lost;
    all->left_out += one->left_out;
    all->unused += one->unused;
    all->context += one->context;
}

static enum leat_status make_reports(struct reports *r, struct leat_error *err)
{
    struct leat_plan_info info = LEAT_PLAN_INFO_INIT;
    enum leat_status s = LEAT_OK;

    leat_plan_info(r->plan, &info);
    r->sources = info.sources;
    r->of = calloc((size_t)info.sources * r->wanted->count, sizeof *r->of);
    if (!r->of)
        return status_no_memory(err, info.sources * r->wanted->count * sizeof *r->of);
    for (unsigned i = 0; i < r->wanted->count; i++)
        for (uint64_t k = 0; s == LEAT_OK && k < info.sources; k++) {
            struct leat_fit_report *one = &r->of[i * info.sources + k];

            one->size = sizeof *one;
            s = leat_plan_fit_report(r->plan, k, r->wanted->lengths[i], one, err);
            add_up(&r->all[i], one);
        }
    return s;
}

static const char *name_of(const struct reports *r, uint64_t source)
{
    struct leat_plan_source_info info = LEAT_PLAN_SOURCE_INFO_INIT;

    leat_plan_source_info(r->plan, source, &info, NULL); /* cannot fail: the number exists */
    return info.name;
}

static void sources_json(struct json *j, const struct reports *r, unsigned length)
{
    json_open_array(j, "sources");
    for (uint64_t k = 0; k < r->sources; k++) {
        const struct leat_fit_report *one = &r->of[length * r->sources + k];

        json_open_object(j, NULL);
        json_string(j, "name", name_of(r, k));
        json_u64(j, "documents", one->documents);
        json_u64(j, "left_out", one->left_out);
        json_u64(j, "cut", one->cut);
        json_close_object(j);
    }
    json_close_array(j);
}

/* Writes what rows have, and what they leave out. */
static void documents_json(struct json *j, const struct leat_fit_report *r)
{
    json_u64(j, "documents", r->documents);
    json_u64(j, "predictions", r->predictions);
    json_u64(j, "empty", r->empty);
    json_u64(j, "left_out", r->left_out);
    json_u64(j, "unused", r->unused);
}

static void report_json(const struct reports *all)
{
    struct json j;

    json_begin(&j, stdout);
    json_open_object(&j, NULL);
    documents_json(&j, &all->all[0]);
    json_open_array(&j, "lengths");
    for (unsigned i = 0; i < all->wanted->count; i++) {
        const struct leat_fit_report *r = &all->all[i];

        json_open_object(&j, NULL);
        json_u64(&j, "length", all->wanted->lengths[i]);
        documents_json(&j, r);
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
        sources_json(&j, all, i);
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

/* Prints what rows have, and what they leave out: once, unless rows of another length leave out others. */
static void print_documents(const struct fit_report_lengths *wanted, const struct leat_fit_report *reports)
{
    bool differ = false;

    for (unsigned i = 1; i < wanted->count; i++)
        differ |= reports[i].left_out != reports[0].left_out;
    for (unsigned i = 0; i < (differ ? wanted->count : 1); i++) {
        if (differ)
            printf("in rows of %s: ", units_count(wanted->lengths[i]).text);
        printf("%s, %s (tokens with a next one in their document)\n",
               units_counted(reports[i].documents, "document").text,
               units_counted(reports[i].predictions, "prediction").text);
        if (reports[i].left_out + reports[i].unused > 0)
            printf("not used: %s, %s of these and cut off\n", units_counted(reports[i].left_out, "document").text,
                   units_counted(reports[i].unused, "prediction").text);
    }
    printf("\n");
}

/* Prints what the rules of each source leave out, if there are several. */
static void print_sources(const struct reports *r)
{
    for (unsigned i = 0; r->sources > 1 && i < r->wanted->count; i++)
        for (uint64_t k = 0; r->all[i].left_out > 0 && k < r->sources; k++) {
            const struct leat_fit_report *one = &r->of[i * r->sources + k];

            printf("%11s  %s: %s, %s left out, %s cut\n", units_count(r->wanted->lengths[i]).text, name_of(r, k),
                   units_counted(one->documents, "document").text, units_count(one->left_out).text,
                   units_count(one->cut).text);
        }
}

static void print_text(const struct reports *r)
{
    const struct fit_report_lengths *wanted = r->wanted;
    const struct leat_fit_report *reports = r->all;

    print_documents(wanted, reports);
    printf("%11s   %-63s %s\n", "", "rows of whole documents (--order fit)", "windows");
    printf("%11s %12s %10s %8s %11s %8s %10s %12s %8s %10s\n", "length", "rows", "pieces/row", "patterns", "padding",
           "docs cut", "no context", "rows", "docs cut", "no context");
    for (unsigned i = 0; i < wanted->count; i++)
        print_row(wanted->lengths[i], &reports[i]);
    print_context(wanted, reports);
    print_sources(r);
    printf("\nno context: predictions whose row does not have the beginning of their document\n");
    for (unsigned i = 0; i < wanted->count; i++) {
        print_bar(units_count(wanted->lengths[i]).text, "fit", reports[i].lost, reports[i].predictions);
        print_bar("", "windows", reports[i].window_lost, reports[i].predictions + reports[i].unused);
    }
}

enum leat_status fit_report_print(const struct leat_plan *plan, const struct fit_report_lengths *wanted, bool json,
                                  struct leat_error *err)
{
    struct reports r = { .plan = plan, .wanted = wanted };
    enum leat_status s = make_reports(&r, err);

    if (s == LEAT_OK)
        json ? report_json(&r) : print_text(&r);
    free(r.of);
    return s;
}

/* ---- The command ------------------------------------------------------------------------------------------------- */

struct fit_values {
    struct fit_report_lengths lengths;
    struct option_list fits;
    unsigned progress;
    bool report, json;
};

const struct option_row fit_options[] = {
    { .name = "report",
      .needs = "seq-len",
      .type = OPTION_FLAG,
      .field = offsetof(struct fit_values, report),
      .help = "write nothing; print what rows of --seq-len tokens are like",
      .more = "The report is on all datasets together, as `leat order --fit-report` prints it. With --json, the counts "
              "outside of `lengths` are those of the first length." },
    { .name = "seq-len",
      .type = OPTION_CUSTOM,
      .field = offsetof(struct fit_values, lengths),
      .value = "L,L,...",
      .length = true,
      .parse = fit_report_parse,
      .help = "for --report; the file serves rows of any length" },
    { .name = "fit",
      .needs = "report",
      .type = OPTION_LIST,
      .field = offsetof(struct fit_values, fits),
      .value = "N:RULE=VALUE,...",
      .rare = true,
      .help = "for --report: rules of NAME number N alone (the first is 0); repeatable",
      .more = "leat order has the same option, and those for all datasets." },
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

/* Writes the names as sources of a plan, one after another, to `text`, and where each begins to items[]. Without the
 * weight, the end of a name might be read as one. */
static void name_sources(const char *const *names, size_t count, char *text, const char **items)
{
    for (size_t i = 0; i < count; i++) {
        items[i] = text;
        text = stpcpy(stpcpy(text, names[i]), ":1:none") + 1;
    }
}

static int report(const struct command *self, const char *const *names, size_t count, const struct fit_values *values)
{
    struct plan_options options = PLAN_OPTIONS_INIT;
    struct leat_plan *plan = NULL;
    struct leat_error err;
    size_t bytes = 0;
    const char **items;
    char *text;
    int code = CLI_DONE;

    for (size_t i = 0; i < count; i++)
        bytes += strlen(names[i]) + sizeof ":1:none";
    items = malloc(count * sizeof *items);
    text = malloc(bytes);
    if (items && text)
        name_sources(names, count, text, items);
    options.sources = (struct option_list) { items, count };
    options.fits = values->fits;
    options.order = LEAT_ORDER_FIT;
    options.seq_len = fit_report_longest(&values->lengths);
    if (!items || !text)
        code = cli_failed((status_no_memory(&err, bytes), &err));
    else if (plan_options_open(self, &options, &plan, &code) &&
             fit_report_print(plan, &values->lengths, values->json, &err) != LEAT_OK)
        code = cli_failed_or_damaged(&err);
    leat_plan_close(plan);
    free(items);
    free(text);
    return code;
}

int cmd_fit(const struct command *self, int argc, char **argv)
{
    struct fit_values values = { .json = false };
    struct options_parsed parsed;
    int code;

    if (!command_parse(self, argc, argv, &values, &parsed, &code)) {
        option_list_free(&values.fits);
        return code;
    }
    code = CLI_DONE;
    if (values.report)
        code = report(self, parsed.words, parsed.count, &values);
    for (size_t i = 0; !values.report && code == CLI_DONE && i < parsed.count; i++)
        code = fit(parsed.words[i], &values);
    options_free(&parsed);
    option_list_free(&values.fits);
    return cli_finish_stdout(code);
}
