/* cmd_push.c: `leat push`: copies a dataset to a bucket. The work is leat_push()'s. */
#include <stdio.h>

#include "cli/json.h"
#include "cli/progress.h"
#include "cli/units.h"
#include "commands.h"

struct push_values {
    uint64_t connections;
    unsigned progress;
    bool force, json;
};

const struct option_row push_options[] = { { .name = "connections",
                                             .type = OPTION_COUNT,
                                             .field = offsetof(struct push_values, connections),
                                             .value = "N",
                                             .standard = "8",
                                             .help = "how many parts of 16 MiB to send at once, at most 64",
                                             .min = 1,
                                             .max = 64 },
                                           { .name = "force",
                                             .type = OPTION_FLAG,
                                             .field = offsetof(struct push_values, force),
                                             .help = "replace a dataset that is there: its index is removed first" },
                                           COMMANDS_PROGRESS(struct push_values),
                                           OPTIONS_JSON(struct push_values, "print the summary as one JSON object"),
                                           OPTIONS_END };

static void print_summary(const struct push_values *values, const char *url, const struct leat_push_report *r,
                          double seconds)
{
    struct json j;

    if (!values->json) {
        cli_say("%s: %s in %s; %s were there before; %s, %s of them again.", url,
                units_counted(r->tokens, "token").text, units_duration(seconds).text, units_bytes(r->kept).text,
                units_counted(r->requests, "request").text, units_count(r->retries).text);
        return;
    }
    json_begin(&j, stdout);
    json_open_object(&j, NULL);
    json_string(&j, "output", url);
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

static int run(const struct push_values *values, const struct options_parsed *parsed)
{
    struct leat_push_options options = LEAT_PUSH_OPTIONS_INIT;
    struct leat_push_report report = LEAT_PUSH_REPORT_INIT;
    struct progress progress;
    double began = cli_now();
    struct leat_error err;
    enum leat_status s;
    int code;

    cli_catch_interrupts();
    progress_begin(&progress, (enum progress_mode)values->progress, "push", PROGRESS_BYTES);
    options.force = values->force;
    options.connections = (uint32_t)values->connections;
    options.progress = commands_on_progress;
    options.context = &progress;
    s = leat_push(parsed->words[0], parsed->words[1], &options, &report, &err);
    progress_end(&progress);
    if (s == LEAT_OK)
        print_summary(values, parsed->words[1], &report, cli_now() - began);
    if (s == LEAT_OK)
        return cli_finish_stdout(CLI_DONE);
    code = cli_failed(&err);
    return s == LEAT_E_CHECKSUM ? CLI_DAMAGED : code;
}

int cmd_push(const struct command *self, int argc, char **argv)
{
    struct push_values values = { 0 };
    struct options_parsed parsed;
    int code;

    if (!command_parse(self, argc, argv, &values, &parsed, &code))
        return code;
    code = run(&values, &parsed);
    options_free(&parsed);
    return code;
}
