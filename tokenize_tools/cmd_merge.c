/* cmd_merge.c: `leat merge`: joins finished datasets into one. The work is leat_merge()'s. */
#include <stdio.h>

#include "cli/json.h"
#include "cli/progress.h"
#include "cli/units.h"
#include "commands.h"
#include "leat_pack.h"

struct merge_values {
    const char *output;
    unsigned progress;
    bool force, json;
};

const struct option_row merge_options[] = { { .name = "output",
                                              .letter = 'o',
                                              .type = OPTION_TEXT,
                                              .field = offsetof(struct merge_values, output),
                                              .value = "OUT",
                                              .help = "the dataset to write: OUT.tokens and OUT.leat",
                                              .required = true },
                                            { .name = "force",
                                              .type = OPTION_FLAG,
                                              .field = offsetof(struct merge_values, force),
                                              .help = "replace an existing OUT, once the new one is finished" },
                                            { .name = "progress",
                                              .type = OPTION_CHOICE,
                                              .field = offsetof(struct merge_values, progress),
                                              .value = "auto|never",
                                              .standard = "auto",
                                              .help = "a bar on a terminal and a line every 30 s elsewhere, or nothing",
                                              .choices = progress_modes },
                                            { .name = "json",
                                              .type = OPTION_FLAG,
                                              .field = offsetof(struct merge_values, json),
                                              .help = "print the summary as one JSON object" },
                                            OPTIONS_END };

static int on_progress(void *context, uint64_t done, uint64_t total)
{
    progress_update(context, done, total, NULL);
    return cli_interrupted();
}

static enum leat_status merge(const struct merge_values *values, uint64_t created, const struct options_parsed *parsed,
                              struct leat_info *info, struct leat_error *err)
{
    struct leat_merge_options options = LEAT_MERGE_OPTIONS_INIT;
    struct progress progress;
    enum leat_status s;

    cli_catch_interrupts();
    progress_begin(&progress, (enum progress_mode)values->progress, "merge", PROGRESS_BYTES);
    options.replace = values->force;
    options.created = created;
    options.progress = on_progress;
    options.context = &progress;
    s = leat_merge(values->output, parsed->words, parsed->count, &options, info, err);
    progress_end(&progress);
    return s;
}

static void print_summary(const struct merge_values *values, const struct leat_info *info, size_t parts, double seconds)
{
    struct json j;

    if (!values->json) {
        printf("%s: %s tokens in %s documents from %zu part%s, %s in %s.\n", values->output,
               units_count(info->tokens).text, units_count(info->documents).text, parts, parts == 1 ? "" : "s",
               units_bytes(info->token_bytes + info->index_bytes).text, units_duration(seconds).text);
        return;
    }
    json_begin(&j, stdout);
    json_open_object(&j, NULL);
    json_string(&j, "output", values->output);
    json_u64(&j, "parts", parts);
    json_u64(&j, "documents", info->documents);
    json_u64(&j, "tokens", info->tokens);
    json_u64(&j, "token_bytes", info->token_bytes);
    json_u64(&j, "index_bytes", info->index_bytes);
    json_string(&j, "identity", units_hex(info->identity, 16).text);
    json_double(&j, "seconds", seconds);
    json_close_object(&j);
    json_end(&j);
}

int cmd_merge(const struct command *self, int argc, char **argv)
{
    struct merge_values values = { 0 };
    struct leat_info info = LEAT_INFO_INIT;
    struct options_parsed parsed;
    struct leat_error err;
    enum leat_status s;
    uint64_t created;
    double began;
    int code;

    if (!command_parse(self, argc, argv, &values, &parsed, &code))
        return code;
    code = CLI_WRONG;
    if (commands_created(&created)) {
        began = cli_now();
        s = merge(&values, created, &parsed, &info, &err);
        if (s == LEAT_OK)
            print_summary(&values, &info, parsed.count, cli_now() - began);
        code = cli_finish_stdout(s == LEAT_OK ? CLI_DONE : cli_failed(&err));
    }
    options_free(&parsed);
    return code;
}
