/* cmd_export.c: `leat export`: writes datasets as files of another tool. leat_export() does the work. */
#include <stdio.h>

#include "base/json.h"
#include "cli/progress.h"
#include "cli/units.h"
#include "commands.h"
#include "common/outputs.h"

struct export_values {
    const char *output;
    unsigned to, dtype;
    unsigned progress;
    bool force, json;
};

static const char *const formats[] = { "megatron", "raw", "nanogpt", "llmc", "datatrove", NULL };
static const char *const dtypes[] = { "stored", "u16", "u32", NULL };

const struct option_row export_options[] = {
    { .name = "to",
      .type = OPTION_CHOICE,
      .field = offsetof(struct export_values, to),
      .value = "FORMAT",
      .help = "megatron, raw, nanogpt, llmc or datatrove",
      .more = "megatron writes OUT.bin and OUT.idx; raw writes OUT, nothing but ids (OLMo-core); nanogpt the same, "
              "with u16; llmc writes OUT for llm.c; datatrove writes OUT.ds, OUT.ds.index, OUT.ds.metadata, and "
              "OUT.ds.loss for a mask.",
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

int cmd_export(const struct command *self, int argc, char **argv)
{
    struct export_values values = { 0 };
    struct options_parsed parsed;
    int code;

    if (!command_parse(self, argc, argv, &values, &parsed, &code))
        return code;
    code = run(&values, &parsed);
    options_free(&parsed);
    return code;
}
