/* cmd_fit.c: `leat fit`: writes the documents of datasets by length to files beside them, for plans of rows of whole
 * documents; or reports what such rows would be like. */
#include <stdlib.h>

#include "base/status.h"
#include "cli/json.h"
#include "cli/progress.h"
#include "cli/units.h"
#include "commands.h"
#include "order_fit_report.h"

struct fit_values {
    struct fit_report_lengths lengths;
    unsigned progress;
    bool report, json;
};

const struct option_row fit_options[] = {
    { .name = "report",
      .type = OPTION_FLAG,
      .field = offsetof(struct fit_values, report),
      .help =
          "write nothing, but print what rows of --seq-len inputs are like, of all datasets together, as `leat order "
          "--fit-report` does" },
    { .name = "seq-len",
      .type = OPTION_CUSTOM,
      .field = offsetof(struct fit_values, lengths),
      .value = "L,L,...",
      .parse = fit_report_parse,
      .help = "for --report; the file serves rows of any length" },
    COMMANDS_PROGRESS(struct fit_values),
    CACHE_OPTION_ROWS,
    OPTIONS_JSON(struct fit_values, "print a JSON object for each NAME"),
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
    enum leat_status s = leat_dataset_open(&d, name, NULL, &err);

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
    if (values.report && values.lengths.count == 0)
        code = command_wrong(self, "--report needs --seq-len L,L,...: the lengths of rows to compare");
    else if (values.report)
        code = report(parsed.words, parsed.count, &values);
    for (size_t i = 0; !values.report && code == CLI_DONE && i < parsed.count; i++)
        code = fit(parsed.words[i], &values);
    options_free(&parsed);
    return cli_finish_stdout(code);
}
