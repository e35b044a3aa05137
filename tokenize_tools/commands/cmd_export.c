/* cmd_export.c: `leat export`: writes datasets as files of another tool, for which leat_export() does the work; or rows
 * of a plan, for which leat's Python package does the work. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "cli/own_python.h"
#include "cli/progress.h"
#include "cli/units.h"
#include "commands.h"
#include "common/outputs.h"

struct export_values {
    const char *output, *plan;
    uint64_t first, count; /* rows of the plan; count 0: up to its end */
    uint64_t memory;       /* for rows of the plan */
    unsigned to, dtype;
    unsigned progress;
    bool force, json;
};

static const char *const formats[] = { "megatron",       "raw",           "nanogpt", "llmc", "datatrove",
                                       "packed-parquet", "arrow-dataset", NULL };
#define FIRST_OF_ROWS 5u /* packed-parquet and what follows hold rows of a plan */
static const char *const dtypes[] = { "stored", "u16", "u32", NULL };

const struct option_row export_options[] = {
    { .name = "to",
      .type = OPTION_CHOICE,
      .field = offsetof(struct export_values, to),
      .value = "FORMAT",
      .help = "megatron, raw, nanogpt, llmc, datatrove; packed-parquet, arrow-dataset",
      .more = "megatron writes OUT.bin and OUT.idx; raw writes OUT, nothing but ids (OLMo-core); nanogpt the same, "
              "with u16; llmc writes OUT for llm.c; datatrove writes OUT.ds, OUT.ds.index, OUT.ds.metadata, and "
              "OUT.ds.loss for a mask. packed-parquet writes rows of a plan to OUT as Megatron-Bridge packs them, "
              "arrow-dataset to a folder that datasets.load_from_disk() opens; pyarrow writes both.",
      .required = true,
      .choices = formats },
    { .name = "output",
      .letter = 'o',
      .type = OPTION_TEXT,
      .field = offsetof(struct export_values, output),
      .value = "OUT",
      .help = "the name of the files",
      .path = true,
      .required = true },
    { .name = "dtype",
      .type = OPTION_CHOICE,
      .field = offsetof(struct export_values, dtype),
      .value = "u16|u32",
      .standard = "as stored",
      .help = "bytes per id; u32 is int32 in files of Megatron",
      .choices = dtypes },
    { .name = "plan",
      .excludes = "dtype",
      .type = OPTION_TEXT,
      .field = offsetof(struct export_values, plan),
      .value = "FILE",
      .help = "the plan whose rows are written, in place of NAME",
      .path = true },
    { .name = "from",
      .needs = "plan",
      .type = OPTION_COUNT,
      .field = offsetof(struct export_values, first),
      .value = "N",
      .help = "position of the first row",
      .max = LEAT_MAX_SAMPLES },
    { .name = "count",
      .needs = "plan",
      .type = OPTION_COUNT,
      .field = offsetof(struct export_values, count),
      .value = "N",
      .standard = "to the end",
      .help = "rows to write",
      .min = 1,
      .max = LEAT_MAX_SAMPLES },
    { .name = "memory",
      .needs = "plan",
      .type = OPTION_SIZE,
      .field = offsetof(struct export_values, memory),
      .value = "SIZE",
      .standard = "512MiB",
      .help = "limit on the memory, from 176MiB; groups of rows are as large as it allows",
      .min = UINT64_C(176) << 20, /* LEAST_MEMORY of row_files.py */
      .rare = true },
    { .name = "force",
      .type = OPTION_FLAG,
      .field = offsetof(struct export_values, force),
      .help = "replace existing files, once the new ones are finished" },
    COMMANDS_PROGRESS(struct export_values),
    OPTIONS_JSON(struct export_values, "print the summary as one JSON object"),
    CACHE_OPTION_ROWS,
    OPTIONS_END
};

static void print_summary(const struct export_values *values, const struct leat_export_report *r, double seconds)
{
    struct json j;

    if (!values->json) {
        cli_say("%s: %s in %s in %s.", values->output, units_counted(r->tokens, "token").text,
                units_bytes(r->bytes).text, units_duration(seconds).text);
        return;
    }
    json_begin(&j, stdout);
    json_open_object(&j, NULL);
    json_string(&j, "output", values->output);
    json_string(&j, "to", formats[values->to]);
    json_u64_or_null(&j, "documents", r->documents);
    json_u64(&j, "tokens", r->tokens);
    json_u64(&j, "bytes", r->bytes);
    json_u64(&j, "number_bytes", r->number_bytes);
    json_u64_or_null(&j, "end_token", r->end_token);
    json_double(&j, "seconds", seconds);
    json_close_object(&j);
    json_end(&j);
}

static int run(const struct export_values *values, const struct options_parsed *parsed)
{
    static const char *const unfinished[] = { ".partial", ".bin.partial", ".idx.partial", ".ds*.partial", NULL };
    struct leat_export_options options = LEAT_EXPORT_OPTIONS_INIT;
    struct leat_export_report report = LEAT_EXPORT_REPORT_INIT;
    struct progress progress;
    double began = cli_now();
    struct leat_error err;
    enum leat_status s;
    int code;

    cli_catch_interrupts();
    progress_begin(&progress, (enum progress_mode)values->progress, "export", PROGRESS_BYTES);
    options.to = formats[values->to];
    options.number_bytes = 2 * values->dtype;
    options.force = values->force;
    options.progress = commands_on_progress;
    options.context = &progress;
    s = leat_export(values->output, parsed->words, parsed->count, &options, &report, &err);
    progress_end(&progress);
    if (s == LEAT_OK) {
        print_summary(values, &report, cli_now() - began);
        return cli_finish_stdout(CLI_DONE);
    }
    code = cli_failed_or_damaged(&err);
    leftovers_say(values->output, unfinished, "the same command starts over", &err);
    return cli_finish_stdout(code);
}

/* Becomes python -m leat.row_files TO OUTPUT PLAN FIRST COUNT MEMORY FORCE PROGRESS JSON. */
static int become(const struct export_values *v)
{
    static const char *const modes[] = { [PROGRESS_AUTO] = "auto", [PROGRESS_NEVER] = "never" };
    char why[1024], first[24], count[24], memory[24];
    char *python = own_python_find("leat export --plan", why, sizeof why);
    const char *words[] = {
        formats[v->to],     v->output,           v->plan, first, v->count ? count : "", memory, v->force ? "1" : "0",
        modes[v->progress], v->json ? "1" : "0", NULL
    };

    if (!python) {
        cli_error("%s", why);
        return CLI_WRONG;
    }
    snprintf(first, sizeof first, "%" PRIu64, v->first);
    snprintf(count, sizeof count, "%" PRIu64, v->count);
    snprintf(memory, sizeof memory, "%" PRIu64, v->memory);
    own_python_become(python, "leat.row_files", (char *const *)(uintptr_t)words);
    cli_error("cannot run %s: %s", python, strerror(errno));
    free(python);
    return CLI_FAILED;
}

/* Says what is wrong with the choice of options. */
static bool check_values(const struct command *self, const struct export_values *v, size_t names)
{
    bool rows = v->to >= FIRST_OF_ROWS;

    if (rows && (!v->plan || names > 0))
        command_wrong(self, "--to %s writes rows of a plan: give --plan FILE, which names its datasets, and no NAME",
                      formats[v->to]);
    else if (!rows && v->plan)
        command_wrong(self, "--plan is for packed-parquet and arrow-dataset: %s has no rows", formats[v->to]);
    else if (!rows && names == 0)
        command_wrong(self, "%s is missing: leat export %s", self->words, self->words);
    else
        return true;
    return false;
}

int cmd_export(const struct command *self, int argc, char **argv)
{
    struct export_values values = { .memory = UINT64_C(512) << 20 };
    struct options_parsed parsed;
    int code;

    if (!command_parse(self, argc, argv, &values, &parsed, &code))
        return code;
    code = !check_values(self, &values, parsed.count) ? CLI_WRONG
           : values.plan                              ? become(&values)
                                                      : run(&values, &parsed);
    options_free(&parsed);
    return code;
}
