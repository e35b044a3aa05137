/* cmd_pull_push.c: `leat pull` and `leat push`: copy a dataset from a server, and to one. leat_pull() and
 * leat_push() do the work; their output is the same but for a few words. To the Hub the Python package pushes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "cli/own_python.h"
#include "cli/progress.h"
#include "cli/units.h"
#include "commands.h"
#include "common/outputs.h"

struct mirror_values {
    uint64_t connections;
    unsigned progress;
    bool force, json;
};

#define MIRROR_OPTIONS(connections_help, force_help)                                                                   \
    {                                                                                                                  \
        { .name = "connections",                                                                                       \
          .type = OPTION_COUNT,                                                                                        \
          .field = offsetof(struct mirror_values, connections),                                                        \
          .value = "N",                                                                                                \
          .standard = "8",                                                                                             \
          .help = connections_help,                                                                                    \
          .min = 1,                                                                                                    \
          .max = 64 },                                                                                                 \
            { .name = "force",                                                                                         \
              .type = OPTION_FLAG,                                                                                     \
              .field = offsetof(struct mirror_values, force),                                                          \
              .help = force_help },                                                                                    \
            COMMANDS_PROGRESS(struct mirror_values),                                                                   \
            OPTIONS_JSON(struct mirror_values, "print the summary as one JSON object"), OPTIONS_END                    \
    }

const struct option_row pull_options[] = MIRROR_OPTIONS("how many ranges of 8 MiB to fetch at once, at most 64",
                                                        "replace an existing dataset, once the new one is complete");
const struct option_row push_options[] = MIRROR_OPTIONS("how many parts of 16 MiB to send at once, at most 64",
                                                        "replace an existing dataset; its index is removed first");

/* One of the two commands: its call, and its words in the summary. */
struct mirror {
    /* Copies words[0] to words[1]. A report of pushing has the fields of one of pulling. */
    enum leat_status (*copy)(const char *const *words, const struct mirror_values *values, struct progress *progress,
                             struct leat_pull_report *report, struct leat_error *err);
    const char *checked, *place;
    const char *unfinished[2]; /* patterns that leftovers_say() takes */
};

static enum leat_status pull(const char *const *words, const struct mirror_values *values, struct progress *progress,
                             struct leat_pull_report *report, struct leat_error *err)
{
    struct leat_pull_options options = LEAT_PULL_OPTIONS_INIT;

    options.force = values->force;
    options.connections = (uint32_t)values->connections;
    options.progress = commands_on_progress;
    options.context = progress;
    return leat_pull(words[0], words[1], &options, report, err);
}

static enum leat_status push(const char *const *words, const struct mirror_values *values, struct progress *progress,
                             struct leat_pull_report *report, struct leat_error *err)
{
    struct leat_push_options options = LEAT_PUSH_OPTIONS_INIT;
    struct leat_push_report sent = LEAT_PUSH_REPORT_INIT;
    enum leat_status s;

    options.force = values->force;
    options.connections = (uint32_t)values->connections;
    options.progress = commands_on_progress;
    options.context = progress;
    s = leat_push(words[0], words[1], &options, &sent, err);
    report->bytes = sent.bytes;
    report->kept = sent.kept;
    report->tokens = sent.tokens;
    report->documents = sent.documents;
    report->requests = sent.requests;
    report->retries = sent.retries;
    return s;
}

static void print_summary(const struct mirror *m, bool as_json, const char *output, const struct leat_pull_report *r,
                          double seconds)
{
    struct json j;

    if (!as_json) {
        cli_say("%s: %s in %s%s; %s were %s before; %s, %s of them again.", output,
                units_counted(r->tokens, "token").text, units_duration(seconds).text, m->checked,
                units_bytes(r->kept).text, m->place, units_counted(r->requests, "request").text,
                units_count(r->retries).text);
        return;
    }
    json_begin(&j, stdout);
    json_open_object(&j, NULL);
    json_string(&j, "output", output);
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

static int copy_dataset(const struct command *self, const struct mirror *m, const struct mirror_values *values,
                        const char *const *words)
{
    struct leat_pull_report report = LEAT_PULL_REPORT_INIT;
    struct progress progress;
    double began = cli_now();
    struct leat_error err;
    enum leat_status s;
    int code;

    cli_catch_interrupts();
    progress_begin(&progress, (enum progress_mode)values->progress, self->name, PROGRESS_BYTES);
    s = m->copy(words, values, &progress, &report, &err);
    progress_end(&progress);
    if (s == LEAT_OK)
        print_summary(m, values->json, words[1], &report, cli_now() - began);
    if (s == LEAT_OK)
        return cli_finish_stdout(CLI_DONE);
    /* a difference from what another process has sent is no damage */
    code = s == LEAT_E_MISMATCH ? cli_failed(&err) : cli_failed_or_damaged(&err);
    leftovers_say(words[1], m->unfinished, "the same command goes on from there", &err);
    return code;
}

/* Becomes the package's program that pushes to the Hub. Returns the exit code if it cannot. */
static int become_hub_push(const struct mirror_values *values, const char *const *words)
{
    char *python, why[1024], connections[24], force[] = "force", json[] = "json";
    char *all[] = { (char *)(uintptr_t)words[0], (char *)(uintptr_t)words[1], connections, NULL, NULL, NULL };
    size_t count = 3;

    python = own_python_find("leat push to hf://", why, sizeof why);
    if (!python) {
        cli_error("%s", why);
        return CLI_WRONG;
    }
    snprintf(connections, sizeof connections, "%u", (unsigned)values->connections);
    if (values->force)
        all[count++] = force;
    if (values->json)
        all[count++] = json;
    own_python_become(python, "leat._hub_push", all);
    cli_error("cannot run %s: %s", python, strerror(errno));
    free(python);
    return CLI_FAILED;
}

static int run(const struct command *self, const struct mirror *m, int argc, char **argv)
{
    struct mirror_values values = { 0 };
    struct options_parsed parsed;
    int code;

    if (!command_parse(self, argc, argv, &values, &parsed, &code))
        return code;
    code = m->copy == push && strncmp(parsed.words[1], "hf://", 5) == 0 ? become_hub_push(&values, parsed.words)
                                                                        : copy_dataset(self, m, &values, parsed.words);
    options_free(&parsed);
    return code;
}

int cmd_pull(const struct command *self, int argc, char **argv)
{
    return run(self, &(const struct mirror) { pull, ", checked", "here", { ".partial.*" } }, argc, argv);
}

int cmd_push(const struct command *self, int argc, char **argv)
{
    return run(self, &(const struct mirror) { push, "", "there", { NULL } }, argc, argv);
}
