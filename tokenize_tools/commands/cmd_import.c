/* cmd_import.c: `leat import`: writes a dataset from those of other tools. The work is leat_import()'s. */
#include <stdio.h>

#include "cli/json.h"
#include "cli/progress.h"
#include "cli/units.h"
#include "commands.h"

struct import_values {
    const char *output, *tokenizer, *pattern, *column, *end;
    unsigned dtype;
    uint64_t vocabulary;
    unsigned progress;
    bool resume, force, json;
};

static const char *const dtypes[] = { "unknown", "uint8", "uint16", "uint32", "uint64",
                                      "int8",    "int16", "int32",  "int64",  NULL };

const struct option_row import_options[] = {
    { .name = "output",
      .letter = 'o',
      .type = OPTION_TEXT,
      .field = offsetof(struct import_values, output),
      .value = "NAME",
      .help = "the dataset to write: NAME.tokens and NAME.leat",
      .path = true,
      .required = true },
    COMMANDS_TOKENIZER(struct import_values,
                       "the tokenizer that the ids are of, as for leat pack; to store in the index"),
    COMMANDS_PATTERN(struct import_values),
    { .name = "vocabulary",
      .type = OPTION_COUNT,
      .field = offsetof(struct import_values, vocabulary),
      .value = "N",
      .standard = "the tokenizer's",
      .help = "every id is below N; up to 65,536 an id takes 2 bytes. Without it and a tokenizer, ids of 4 and 8 bytes "
              "become 4" },
    { .name = "end",
      .type = OPTION_TEXT,
      .field = offsetof(struct import_values, end),
      .value = "ID|TOKEN|none",
      .standard = "none",
      .help = "the token that ends each document; it is added to those that lack it" },
    { .name = "column",
      .type = OPTION_TEXT,
      .field = offsetof(struct import_values, column),
      .value = "NAME",
      .standard = "input_ids or tokens, or the only one",
      .help = "the column or key that holds the ids" },
    { .name = "dtype",
      .type = OPTION_CHOICE,
      .field = offsetof(struct import_values, dtype),
      .value = "uint16|int32|...",
      .help = "the type of ids in a column of bytes (MDS)",
      .choices = dtypes },
    { .name = "resume",
      .type = OPTION_FLAG,
      .field = offsetof(struct import_values, resume),
      .help = "go on where this command was stopped; if it was not, begin" },
    { .name = "force",
      .type = OPTION_FLAG,
      .field = offsetof(struct import_values, force),
      .help = "replace an existing dataset, once the new one is finished; without --resume start over" },
    COMMANDS_PROGRESS(struct import_values),
    OPTIONS_JSON(struct import_values, "print the summary as one JSON object"),
    OPTIONS_END
};

static void print_summary(const struct import_values *values, const struct leat_import_report *r, double seconds)
{
    struct json j;

    if (!values->json && r->was_finished) {
        cli_say("%s is finished already: %s in %s.", values->output, units_counted(r->tokens, "token").text,
                units_counted(r->documents, "document").text);
        return;
    }
    if (!values->json) {
        cli_say("%s: %s in %s from %s in %s.", values->output, units_counted(r->tokens, "token").text,
                units_counted(r->documents, "document").text, units_counted(r->files, "file").text,
                units_duration(seconds).text);
        if (r->ends_added > 0)
            cli_say("The end token was added to %s.", units_counted(r->ends_added, "document").text);
        return;
    }
    json_begin(&j, stdout);
    json_open_object(&j, NULL);
    json_string(&j, "output", values->output);
    json_bool(&j, "was_finished", r->was_finished != 0);
    json_u64(&j, "files", r->files);
    json_u64(&j, "bytes", r->bytes);
    json_u64(&j, "documents", r->documents);
    json_u64(&j, "tokens", r->tokens);
    json_u64_or_null(&j, "ends_added", r->ends_added);
    json_string(&j, "mask", r->mask);
    json_u64(&j, "vocabulary", r->info->vocabulary);
    json_u64(&j, "width", r->info->token_width);
    json_string(&j, "identity", units_hex(r->info->identity, 16).text);
    json_double(&j, "seconds", seconds);
    json_close_object(&j);
    json_end(&j);
}

static int run(const struct import_values *values, const struct options_parsed *parsed, uint64_t end,
               const struct leat_tokenizer *tokenizer)
{
    struct leat_tokenizer_info facts = LEAT_TOKENIZER_INFO_INIT;
    struct leat_import_options options = LEAT_IMPORT_OPTIONS_INIT;
    struct leat_import_report report = LEAT_IMPORT_REPORT_INIT;
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_stored_tokenizer stored;
    struct progress progress;
    double began = cli_now();
    struct leat_error err;
    enum leat_status s;
    int code;

    if (!commands_created(&options.created))
        return CLI_WRONG;
    cli_catch_interrupts();
    progress_begin(&progress, (enum progress_mode)values->progress, "import", PROGRESS_BYTES);
    if (tokenizer) {
        leat_tokenizer_info(tokenizer, &facts);
        leat_tokenizer_stored(tokenizer, &stored);
        options.tokenizer = &stored;
        options.vocabulary = facts.vocabulary;
        options.fingerprint = facts.fingerprint;
    }
    if (values->vocabulary > 0)
        options.vocabulary = values->vocabulary;
    options.column = values->column;
    options.dtype = values->dtype > 0 ? dtypes[values->dtype] : NULL;
    options.end_token = end;
    options.force = values->force;
    options.resume = values->resume;
    options.progress = commands_on_progress;
    options.context = &progress;
    report.info = &info;
    s = leat_import(values->output, parsed->words, parsed->count, &options, &report, &err);
    progress_end(&progress);
    if (s == LEAT_OK && report.mask)
        cli_error("warning: the column \"%s\" was not taken, so all tokens are learned; in Python, "
                  "leat.Packer.extend(..., mask=...) stores a mask",
                  report.mask);
    if (s == LEAT_OK)
        print_summary(values, &report, cli_now() - began);
    code = s == LEAT_OK ? CLI_DONE : cli_failed(&err);
    if (s == LEAT_E_STOPPED)
        cli_error("nothing is lost: the same command with --resume goes on from there");
    return cli_finish_stdout(code);
}

int cmd_import(const struct command *self, int argc, char **argv)
{
    struct import_values values = { 0 };
    struct leat_tokenizer *tokenizer = NULL;
    struct options_parsed parsed;
    uint64_t end = LEAT_NONE;
    int code;

    if (!command_parse(self, argc, argv, &values, &parsed, &code))
        return code;
    code = values.tokenizer ? commands_tokenizer(self, &tokenizer, values.tokenizer, values.pattern) : CLI_DONE;
    if (code == CLI_DONE && values.end && !commands_token(self, tokenizer, "end", values.end, &end))
        code = CLI_WRONG;
    if (code == CLI_DONE)
        code = run(&values, &parsed, end, tokenizer);
    leat_tokenizer_close(tokenizer);
    options_free(&parsed);
    return code;
}
