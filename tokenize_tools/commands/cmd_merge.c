/* cmd_merge.c: `leat merge`: joins finished datasets into one, and arranges it. The work is leat_merge()'s. */
#include <stdio.h>

#include "arrange_values.h"
#include "cli/json.h"
#include "cli/progress.h"
#include "cli/units.h"
#include "commands.h"
#include "leat_pack.h"

struct merge_values {
    const char *output;
    struct arrange_seed shuffle;
    struct arrange_splits splits;
    uint64_t memory;
    unsigned progress;
    bool dedup, force, json;
};

const struct option_row merge_options[] = {
    { .name = "output",
      .letter = 'o',
      .type = OPTION_TEXT,
      .field = offsetof(struct merge_values, output),
      .value = "OUT",
      .help = "the dataset to write: OUT.tokens and OUT.leat",
      .path = true,
      .required = true },
    { .name = "shuffle",
      .type = OPTION_CUSTOM,
      .field = offsetof(struct merge_values, shuffle),
      .value = "SEED",
      .standard = "in order",
      .help = ARRANGE_SHUFFLE_HELP,
      .parse = arrange_seed_parse },
    { .name = "dedup", .type = OPTION_FLAG, .field = offsetof(struct merge_values, dedup), .help = ARRANGE_DEDUP_HELP },
    { .name = "split",
      .type = OPTION_CUSTOM,
      .field = offsetof(struct merge_values, splits),
      .value = "NAME=FRACTION,...",
      .standard = "none",
      .help = ARRANGE_SPLIT_HELP,
      .parse = arrange_splits_parse },
    { .name = "memory",
      .type = OPTION_SIZE,
      .field = offsetof(struct merge_values, memory),
      .value = "SIZE",
      .standard = "2GiB",
      .help = "limit on the memory for these; it does not change the result" },
    { .name = "force",
      .type = OPTION_FLAG,
      .field = offsetof(struct merge_values, force),
      .help = "replace an existing OUT (and OUT.NAME), once the new one is finished" },
    COMMANDS_PROGRESS(struct merge_values),
    OPTIONS_JSON(struct merge_values, "print the summary as one JSON object"),
    OPTIONS_END
};

static enum leat_status merge(const struct merge_values *values, uint64_t created, const struct options_parsed *parsed,
                              struct leat_merge_report *report, struct leat_error *err)
{
    struct leat_merge_options options = LEAT_MERGE_OPTIONS_INIT;
    struct progress progress;
    enum leat_status s;

    cli_catch_interrupts();
    progress_begin(&progress, (enum progress_mode)values->progress, "merge", PROGRESS_BYTES);
    options.force = values->force;
    options.created = created;
    options.progress = commands_on_progress;
    options.context = &progress;
    options.shuffle = values->shuffle.given;
    options.seed = values->shuffle.value;
    options.dedup = values->dedup;
    options.splits = values->splits.items;
    options.split_count = values->splits.count;
    options.memory = values->memory;
    s = leat_merge(values->output, parsed->words, parsed->count, &options, report, err);
    progress_end(&progress);
    return s;
}

static void print_summary(const struct merge_values *values, const struct leat_merge_report *report,
                          const struct leat_info *info, size_t parts, double seconds)
{
    struct json j;

    if (!values->json) {
        arrange_report_print(values->output, &values->splits, values->dedup, report);
        printf("%s: %s in %s from %s, %s in %s.\n", values->output, units_counted(info->tokens, "token").text,
               units_counted(info->documents, "document").text, units_counted(parts, "part").text,
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
    arrange_report_json(&j, values->output, &values->splits, report);
    json_double(&j, "seconds", seconds);
    json_close_object(&j);
    json_end(&j);
}

static int run(const struct merge_values *values, const struct options_parsed *parsed)
{
    struct leat_merge_report report = LEAT_MERGE_REPORT_INIT;
    struct leat_info info = LEAT_INFO_INIT, splits[ARRANGE_SPLITS];
    struct leat_error err;
    enum leat_status s;
    uint64_t created;
    double began;

    if (!commands_created(&created))
        return CLI_WRONG;
    for (size_t i = 0; i < ARRANGE_SPLITS; i++)
        splits[i] = info;
    report.splits = splits;
    report.info = &info;
    began = cli_now();
    s = merge(values, created, parsed, &report, &err);
    if (s == LEAT_OK)
        print_summary(values, &report, &info, parsed->count, cli_now() - began);
    return cli_finish_stdout(s == LEAT_OK ? CLI_DONE : cli_failed(&err));
}

int cmd_merge(const struct command *self, int argc, char **argv)
{
    struct merge_values values = { 0 };
    struct options_parsed parsed;
    int code;

    if (command_parse(self, argc, argv, &values, &parsed, &code)) {
        code = run(&values, &parsed);
        options_free(&parsed);
    }
    arrange_splits_free(&values.splits);
    return code;
}
