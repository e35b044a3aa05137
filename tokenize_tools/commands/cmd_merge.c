/* cmd_merge.c: `leat merge`: joins finished datasets into one, and arranges it. leat_merge() does the work. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "cli/progress.h"
#include "cli/units.h"
#include "commands.h"
#include "common/common.h"
#include "common/outputs.h"
#include "leat_pack.h"

struct merge_values {
    const char *output;
    struct arrange_seed shuffle;
    struct arrange_splits splits;
    uint64_t threads, memory;
    unsigned progress;
    bool dedup, force, allow_empty, json;
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
      .help = OUTPUTS_SHUFFLE_HELP,
      .parse = arrange_seed_parse },
    { .name = "dedup", .type = OPTION_FLAG, .field = offsetof(struct merge_values, dedup), .help = OUTPUTS_DEDUP_HELP },
    { .name = "split",
      .type = OPTION_CUSTOM,
      .field = offsetof(struct merge_values, splits),
      .value = "NAME=SHARE,...",
      .help = OUTPUTS_SPLIT_HELP,
      .more = OUTPUTS_SPLIT_MORE,
      .once = true,
      .parse = arrange_splits_parse },
    { .name = "threads",
      .type = OPTION_COUNT,
      .field = offsetof(struct merge_values, threads),
      .value = "N",
      .standard = "all cores",
      .help = "threads that read, sort and write",
      .more = "One of them arranges. The number does not change the result.",
      .min = 1,
      .max = 4096 },
    { .name = "memory",
      .type = OPTION_SIZE,
      .field = offsetof(struct merge_values, memory),
      .value = "SIZE",
      .standard = "2GiB, or less in a control group",
      .help = "limit on the memory of --shuffle and --dedup",
      .more = "It does not change the result.",
      .rare = true },
    { .name = "force",
      .type = OPTION_FLAG,
      .field = offsetof(struct merge_values, force),
      .help = "replace an existing OUT (and OUT.NAME), once the new one is finished",
      .more = "Splits and values of an earlier merge that this one does not write stay, and are named." },
    { .name = "allow-empty",
      .type = OPTION_FLAG,
      .field = offsetof(struct merge_values, allow_empty),
      .help = "make a dataset without documents, if --keep left none in any part",
      .rare = true },
    COMMANDS_PROGRESS(struct merge_values),
    OPTIONS_JSON(struct merge_values, "print the summary as one JSON object"),
    CACHE_OPTION_ROWS,
    OPTIONS_END
};

struct merge_run {
    struct progress progress;
    struct by_outputs outputs;
};

static uint32_t on_progress(void *context, uint64_t done, uint64_t total)
{
    struct merge_run *run = context;

    return commands_on_progress(&run->progress, done, total);
}

static void on_output(void *context, const struct leat_by_output *output)
{
    struct merge_run *run = context;

    by_outputs_add(&run->outputs, output);
}

/* Reports files that a shell's pattern may have meant, but that the result does not have. */
static void on_notice(void *context, const struct leat_pack_notice *notice)
{
    (void)context;
    if (notice->reason == LEAT_SKIP_OLDER)
        cli_error("warning: %s is left out: it is no part of the run, as %s.* are", notice->path, notice->path);
    else
        cli_error("warning: %s is left out: files of it are named, but no finished dataset", notice->path);
}

/* Merges. `of` is the run whose folder is the only word; NULL if there is none. */
static enum leat_status merge(const struct merge_values *values, uint64_t created, const struct options_parsed *parsed,
                              struct leat_run *of, struct merge_run *run, struct leat_merge_report *report,
                              struct leat_error *err)
{
    struct leat_merge_options options = LEAT_MERGE_OPTIONS_INIT;
    enum leat_status s;

    cli_catch_interrupts();
    progress_begin(&run->progress, (enum progress_mode)values->progress, "merge", PROGRESS_BYTES);
    options.force = values->force;
    options.created = created;
    options.progress = on_progress;
    options.output = on_output;
    options.notice = on_notice;
    options.context = run;
    options.shuffle = values->shuffle.given;
    options.seed = values->shuffle.value;
    options.dedup = values->dedup;
    options.splits = values->splits.items;
    options.split_count = values->splits.count;
    options.memory = values->memory;
    options.threads = (uint32_t)values->threads;
    options.allow_empty = values->allow_empty;
    s = of ? leat_run_join(of, values->output, &options, report, err)
           : leat_merge(values->output, parsed->words, parsed->count, &options, report, err);
    progress_end(&run->progress);
    return s;
}

/* Returns "1-2/3", as the output's metadata leat.part has it; NULL if it is whole. */
static const char *share_of(const struct leat_merge_report *r, char *text, size_t room)
{
    if (r->shares == 0)
        return NULL;
    if (r->first_share == r->last_share)
        snprintf(text, room, "%" PRIu64 "/%" PRIu64, r->first_share, r->shares);
    else
        snprintf(text, room, "%" PRIu64 "-%" PRIu64 "/%" PRIu64, r->first_share, r->last_share, r->shares);
    return text;
}

static void print_range(char *text, size_t room, uint64_t first, uint64_t last)
{
    if (first == last)
        snprintf(text, room, "%" PRIu64, first);
    else if (first < last)
        snprintf(text, room, "%" PRIu64 "-%" PRIu64, first, last);
}

/* Warns of shares that are missing at either end. They may be merged in a later stage, but a share that was
 * forgotten looks the same. */
static void warn_of_missing(const struct merge_values *values, const struct leat_merge_report *r)
{
    char here[48] = "", before[48] = "", after[48] = "";
    bool one = r->last_share - r->first_share + 2 == r->shares; /* is missing */

    if (r->shares == 0)
        return;
    print_range(here, sizeof here, r->first_share, r->last_share);
    print_range(before, sizeof before, 1, r->first_share - 1);
    print_range(after, sizeof after, r->last_share + 1, r->shares);
    cli_error("warning: %s has share%s %s of %" PRIu64 ", and is not whole until share%s %s%s%s %s merged",
              values->output, r->first_share == r->last_share ? "" : "s", here, r->shares, one ? "" : "s", before,
              before[0] && after[0] ? " and " : "", after, one ? "is" : "are");
}

static void print_summary(const struct merge_values *values, const struct leat_merge_report *report,
                          const struct by_outputs *outputs, double seconds)
{
    static const struct arrange_splits none;
    const struct arrange_splits *splits = outputs->count > 0 ? &none : &values->splits;
    const struct leat_info *info = report->info;
    char share[64];
    struct json j;

    if (!values->json) {
        arrange_report_print(values->output, splits, values->dedup, report);
        cli_say("%s%s: %s in %s from %s, %s in %s.", values->output, outputs->count > 0 ? ".*" : "",
                units_counted(info->tokens, "token").text, units_counted(info->documents, "document").text,
                units_counted(report->datasets, "part").text, units_bytes(info->token_bytes + info->index_bytes).text,
                units_duration(seconds).text);
        by_outputs_print(outputs);
        by_outputs_print_sources(outputs);
        return;
    }
    json_begin(&j, stdout);
    json_open_object(&j, NULL);
    json_string(&j, "output", values->output);
    json_u64(&j, "parts", report->parts);
    json_u64(&j, "datasets", report->datasets);
    json_string(&j, "share", share_of(report, share, sizeof share));
    json_u64(&j, "documents", info->documents);
    json_u64(&j, "tokens", info->tokens);
    json_u64(&j, "token_bytes", info->token_bytes);
    json_u64(&j, "index_bytes", info->index_bytes);
    json_string(&j, "identity",
                outputs->count > 0 ? NULL : units_hex(info->identity, 16).text); /* each output has its own */
    arrange_report_json(&j, values->output, splits, report);
    if (outputs->count > 0)
        by_outputs_json(&j, outputs);
    json_double(&j, "seconds", seconds);
    json_close_object(&j);
    json_end(&j);
}

/* Opens the run whose folder is the only word. *run is NULL if it is no run, or one whose parts were pushed, which
 * is a dataset once it is committed. leat_merge() refuses a run among several words. */
static enum leat_status open_run(struct leat_run **run, const struct options_parsed *parsed, struct leat_error *err)
{
    struct leat_run_advice advice = LEAT_RUN_ADVICE_INIT;
    struct leat_run_info info = LEAT_RUN_INFO_INIT;
    enum leat_status s = LEAT_OK;

    *run = NULL;
    if (parsed->count == 1)
        s = leat_run_open(run, parsed->words[0], err);
    if (*run)
        leat_run_info(*run, &info);
    if (*run && info.parts == 0) {
        leat_run_close(*run);
        *run = NULL;
    }
    if (s != LEAT_OK)
        leat_run_advice(err, &advice);
    return advice.file == LEAT_RUN_FILE_PLAN && advice.mend == LEAT_RUN_MEND_CREATE ? LEAT_OK : s;
}

static int say_failed(const struct options_parsed *parsed, struct leat_run *of, struct leat_error *err)
{
    struct leat_run_advice advice = LEAT_RUN_ADVICE_INIT;

    leat_run_advice(err, &advice);
    if (of && advice.mend == LEAT_RUN_MEND_STEPS)
        return commands_run_failed(parsed->words[0], err);
    if (err->hint == LEAT_HINT_RESUME_OR_REPLACE) /* `leat pack` can resume this run */
        err->hint = LEAT_HINT_REPLACE;
    return cli_failed_or_damaged(err);
}

/* Reports unfinished files of OUT and its splits. */
static void say_leftovers(const struct merge_values *values, const struct leat_error *err)
{
    const char *patterns[ARRANGE_SPLITS + 2] = { ".partial.*" };
    char names[ARRANGE_SPLITS][80];
    size_t count = values->splits.folders ? 0 : values->splits.count;

    for (size_t i = 0; i < count; i++) {
        snprintf(names[i], sizeof names[i], ".%.64s.partial.*", values->splits.items[i].name);
        patterns[i + 1] = names[i];
    }
    leftovers_say(values->output, patterns, "the same command starts over", err);
}

static int run(const struct merge_values *values, const struct options_parsed *parsed)
{
    struct leat_merge_report report = LEAT_MERGE_REPORT_INIT;
    struct leat_info info = LEAT_INFO_INIT, splits[ARRANGE_SPLITS];
    struct merge_run made = { .outputs = { 0 } };
    struct leat_run *of;
    struct leat_error err;
    enum leat_status s;
    uint64_t created;
    double began;
    int code;

    if (!commands_created(&created))
        return CLI_WRONG;
    s = open_run(&of, parsed, &err);
    if (s != LEAT_OK)
        return commands_run_failed(parsed->words[0], &err);
    for (size_t i = 0; i < ARRANGE_SPLITS; i++)
        splits[i] = info;
    report.splits = splits;
    report.info = &info;
    began = cli_now();
    s = merge(values, created, parsed, of, &made, &report, &err);
    if (s == LEAT_OK) {
        print_summary(values, &report, &made.outputs, cli_now() - began);
        warn_of_missing(values, &report);
        if (values->force)
            leftovers_warn(values->output, &values->splits, &made.outputs, made.outputs.count > 0);
    }
    code = by_outputs_code(&made.outputs, CLI_DONE);
    by_outputs_free(&made.outputs);
    if (s != LEAT_OK) {
        code = say_failed(parsed, of, &err);
        say_leftovers(values, &err);
    }
    leat_run_close(of);
    return cli_finish_stdout(code);
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
