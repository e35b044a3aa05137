/* cmd_import.c: `leat import`: writes a dataset from the datasets of other tools. Their own packages read these, so
 * leat's Python package does the work; this file reads and checks the command line. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/own_python.h"
#include "cli/progress.h"
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
      .help = "every id is below N",
      .more = "Up to 65,536, an id takes 2 bytes. Without this and a tokenizer, ids of 4 and 8 bytes become 4." },
    { .name = "end",
      .type = OPTION_TEXT,
      .field = offsetof(struct import_values, end),
      .value = "ID|TOKEN|none",
      .standard = "none",
      .help = "the token that ends each document; added where it is missing" },
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
      .rare = true,
      .choices = dtypes },
    { .name = "resume",
      .type = OPTION_FLAG,
      .field = offsetof(struct import_values, resume),
      .help = "go on where this command was stopped; if it was not, start" },
    { .name = "force",
      .type = OPTION_FLAG,
      .field = offsetof(struct import_values, force),
      .help = "replace an existing dataset, once the new one is finished",
      .more = "Without --resume, start over." },
    COMMANDS_PROGRESS(struct import_values),
    OPTIONS_JSON(struct import_values, "print the summary as one JSON object"),
    OPTIONS_END
};

/* The words for the module: NAME=VALUE, "--", and the sources. */
struct words {
    char *items[16]; /* NAME=VALUE, one for each option */
    size_t count;
    bool no_memory;
};

__attribute__((format(printf, 2, 3))) static void put(struct words *w, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    if (vasprintf(&w->items[w->count], format, values) < 0)
        w->no_memory = true;
    else
        w->count++;
    va_end(values);
}

static void put_text(struct words *w, const char *name, const char *value)
{
    if (value)
        put(w, "%s=%s", name, value);
}

static void put_values(struct words *w, const struct import_values *v, uint64_t end)
{
    put_text(w, "output", v->output);
    put_text(w, "tokenizer", v->tokenizer);
    put_text(w, "pattern", v->pattern);
    put_text(w, "column", v->column);
    put_text(w, "dtype", v->dtype > 0 ? dtypes[v->dtype] : NULL);
    put_text(w, "progress", progress_modes[v->progress]);
    put_text(w, "resume", v->resume ? "yes" : NULL);
    put_text(w, "force", v->force ? "yes" : NULL);
    put_text(w, "json", v->json ? "yes" : NULL);
    if (v->vocabulary > 0)
        put(w, "vocabulary=%" PRIu64, v->vocabulary);
    if (end != LEAT_NONE)
        put(w, "end=%" PRIu64, end);
    put(w, "--");
}

static int become(const struct import_values *values, const struct options_parsed *parsed, uint64_t end)
{
    char why[1024], *python = own_python_find("leat import", why, sizeof why), **all = NULL;
    struct words w = { 0 };

    if (!python) {
        cli_error("%s", why);
        return CLI_WRONG;
    }
    put_values(&w, values, end);
    all = calloc(w.count + parsed->count + 1, sizeof *all);
    if (all && !w.no_memory) {
        memcpy(all, w.items, w.count * sizeof *all);
        memcpy(all + w.count, parsed->words, parsed->count * sizeof *all);
        own_python_become(python, "leat.import_command", all);
    }
    cli_error("cannot run %s: %s", python, strerror(errno));
    for (size_t i = 0; i < w.count; i++)
        free(w.items[i]);
    free(all);
    free(python);
    return CLI_FAILED;
}

int cmd_import(const struct command *self, int argc, char **argv)
{
    struct import_values values = { 0 };
    struct leat_tokenizer *tokenizer = NULL;
    struct options_parsed parsed;
    uint64_t end = LEAT_NONE, created;
    int code;

    if (!command_parse(self, argc, argv, &values, &parsed, &code))
        return code;
    code = values.tokenizer ? commands_tokenizer(self, &tokenizer, values.tokenizer, values.pattern) : CLI_DONE;
    if (code == CLI_DONE && values.end && !commands_token(self, tokenizer, "end", values.end, &end))
        code = CLI_WRONG;
    leat_tokenizer_close(tokenizer);
    if (code == CLI_DONE && !commands_created(&created))
        code = CLI_WRONG;
    if (code == CLI_DONE)
        code = become(&values, &parsed, end);
    options_free(&parsed);
    return code;
}
