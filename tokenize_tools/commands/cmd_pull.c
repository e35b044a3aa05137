/* cmd_pull.c: `leat pull`: copies a dataset from a server. The work is leat_pull()'s. */
#include <stdio.h>

#include "cli/json.h"
#include "cli/progress.h"
#include "cli/units.h"
#include "commands.h"

struct pull_values {
    uint64_t connections;
    unsigned progress;
    bool force, json;
};

const struct option_row pull_options[] = { { .name = "connections",
                                             .type = OPTION_COUNT,
                                             .field = offsetof(struct pull_values, connections),
                                             .value = "N",
                                             .standard = "8",
                                             .help = "how many ranges of 8 MiB to fetch at once, at most 64",
                                             .min = 1,
                                             .max = 64 },
                                           { .name = "force",
                                             .type = OPTION_FLAG,
                                             .field = offsetof(struct pull_values, force),
                                             .help = "replace an existing dataset, once the new one is complete" },
                                           COMMANDS_PROGRESS(struct pull_values),
                                           OPTIONS_JSON(struct pull_values, "print the summary as one JSON object"),
                                           OPTIONS_END };

static void print_summary(const struct pull_values *values, const char *name, const struct leat_pull_report *r,
                          double seconds)
{
    struct json j;

    if (!values->json) {
        cli_say("%s: %s in %s, checked; %s were here before; %s, %s of them again.", name,
                units_counted(r->tokens, "token").text, units_duration(seconds).text, units_bytes(r->kept).text,
                units_counted(r->requests, "request").text, units_count(r->retries).text);
        return;
    }
    json_begin(&j, stdout);
    json_open_object(&j, NULL);
    json_string(&j, "output", name);
    json_u64(&j, "documents", r->documents);
    json_u64(&j, "tokens", r->tokens);
    json_u64(&j, "bytes", r->bytes);
    json_u64(&j, "kept", r->kept);
    json_u64(&j, "requests", r->requests);
    json_u64(&j, "retries", r->retries);
    json_double(&j, "seconds", seconds);
    json_close_object(&j);
    json_end(&j);
}

static int run(const struct pull_values *values, const struct options_parsed *parsed)
{
    struct leat_pull_options options = LEAT_PULL_OPTIONS_INIT;
    struct leat_pull_report report = LEAT_PULL_REPORT_INIT;
    struct progress progress;
    double began = cli_now();
    struct leat_error err;
    enum leat_status s;
    int code;

    cli_catch_interrupts();
    progress_begin(&progress, (enum progress_mode)values->progress, "pull", PROGRESS_BYTES);
    options.force = values->force;
    options.connections = (uint32_t)values->connections;
    options.progress = commands_on_progress;
    options.context = &progress;
    s = leat_pull(parsed->words[0], parsed->words[1], &options, &report, &err);
    progress_end(&progress);
    if (s == LEAT_OK)
        print_summary(values, parsed->words[1], &report, cli_now() - began);
    if (s == LEAT_OK)
        return cli_finish_stdout(CLI_DONE);
    code = cli_failed(&err);
    return s == LEAT_E_CHECKSUM ? CLI_DAMAGED : code;
}

int cmd_pull(const struct command *self, int argc, char **argv)
{
    struct pull_values values = { 0 };
    struct options_parsed parsed;
    int code;

    if (!command_parse(self, argc, argv, &values, &parsed, &code))
        return code;
    code = run(&values, &parsed);
    options_free(&parsed);
    return code;
}
