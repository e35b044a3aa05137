/* cmd_fit.c: `leat fit`: writes the documents of datasets by length to files beside them, for plans of rows of whole
 * documents. */
#include "cli/json.h"
#include "cli/progress.h"
#include "cli/units.h"
#include "commands.h"

struct fit_values {
    unsigned progress;
    bool json;
};

const struct option_row fit_options[] = {
    COMMANDS_PROGRESS(struct fit_values),
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
        return cli_failed(&err);
    cli_catch_interrupts();
    progress_begin(&progress, (enum progress_mode)values->progress, "fit", PROGRESS_BYTES);
    options.progress = commands_on_progress;
    options.context = &progress;
    s = leat_dataset_fit(d, &options, &err);
    progress_end(&progress);
    leat_dataset_info(d, &info);
    leat_dataset_close(d);
    if (s != LEAT_OK)
        return cli_failed(&err);
    if (values->json)
        print_json(name, info.documents, cli_now() - began);
    else
        cli_say("%s: %s sorted by length in %s.", name, units_counted(info.documents, "document").text,
                units_duration(cli_now() - began).text);
    return CLI_DONE;
}

int cmd_fit(const struct command *self, int argc, char **argv)
{
    struct fit_values values = { .json = false };
    struct options_parsed parsed;
    int code;

    if (!command_parse(self, argc, argv, &values, &parsed, &code))
        return code;
    code = CLI_DONE;
    for (size_t i = 0; code == CLI_DONE && i < parsed.count; i++)
        code = fit(parsed.words[i], &values);
    options_free(&parsed);
    return cli_finish_stdout(code);
}
