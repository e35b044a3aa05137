/* cmd_attach.c: `leat attach`: adds a column to a finished dataset from NumPy's files, which are read in blocks. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/status.h"
#include "cli/units.h"
#include "commands.h"
#include "corpus/npy.h"

#define BLOCK ((uint64_t)1 << 20)

struct attach_values {
    const char *column;
    bool force;
};

const struct option_row attach_options[] = {
    { .name = "column",
      .type = OPTION_TEXT,
      .field = offsetof(struct attach_values, column),
      .value = "NAME:TYPE[xK]",
      .help = "the name of the column, its type, and K values per entry; :document after it: per document",
      .more = "TYPE is u8, u16, u32, i32, i64, f16, bf16 or f32. Without :document there is an entry per token, begin "
              "and end tokens too. Texts (category) are added by leat.attach() of Python.",
      .required = true,
      .once = true },
    { .name = "force",
      .type = OPTION_FLAG,
      .field = offsetof(struct attach_values, force),
      .help = "replace a column of this name" },
    OPTIONS_END
};

/* ---- The column -------------------------------------------------------------------------------------------------- */

/* Reads NAME:TYPE[xK][:document|:token] to `o`, whose name lies in the copy *text, the caller's. */
static enum leat_status read_column(struct leat_column_options *o, char **text, const char *given,
                                    struct leat_error *err)
{
    char *type, *at;

    *text = strdup(given);
    if (!*text)
        return status_no_memory(err, strlen(given));
    type = strchr(*text, ':');
    at = type ? strchr(type + 1, ':') : NULL;
    if (!type || (at && strcmp(at, ":document") != 0 && strcmp(at, ":token") != 0))
        return status_argument(err, "column", "--column must be NAME:TYPE[xK] or NAME:TYPE[xK]:document, not %.100s",
                               given);
    if (at && strcmp(at, ":document") == 0)
        o->at = LEAT_COLUMN_DOCUMENT;
    if (at)
        *at = '\0';
    *type++ = '\0';
    o->name = *text;
    return leat_column_type_read(type, &o->type, &o->width, err);
}

/* ---- The command ------------------------------------------------------------------------------------------------- */

static enum leat_status add_rows(struct leat_column_writer *w, const struct npy *f, uint8_t *block,
                                 struct leat_error *err)
{
    uint64_t at_once = BLOCK / (f->width * f->bytes);
    enum leat_status s = LEAT_OK;

    for (uint64_t row = 0, here; s == LEAT_OK && row < f->rows; row += here) {
        here = f->rows - row < at_once ? f->rows - row : at_once;
        s = npy_read(f, row, here, block, err);
        if (s == LEAT_OK && cli_interrupted())
            s = status_set(err, LEAT_E_STOPPED, "stopped");
        if (s == LEAT_OK)
            s = leat_column_writer_add(w, block, here, f->type, err);
    }
    return s;
}

static enum leat_status add_file(struct leat_column_writer *w, const struct leat_column_options *o, const char *path,
                                 struct leat_error *err)
{
    struct npy f;
    uint8_t *block = file_buffer(BLOCK);
    enum leat_status s = npy_open(&f, path, err);

    if (s == LEAT_OK && !block)
        s = status_no_memory(err, BLOCK);
    if (s == LEAT_OK && f.width != o->width)
        s = status_set_in(err, LEAT_E_ARGUMENT, path,
                          "%.300s has %" PRIu64 " values per entry, but --column says %" PRIu32, path, f.width,
                          o->width);
    if (s == LEAT_OK)
        s = add_rows(w, &f, block, err);
    npy_close(&f);
    free(block);
    return s;
}

static enum leat_status attach(const struct leat_dataset *d, const struct leat_column_options *o,
                               const struct options_parsed *parsed, struct leat_error *err)
{
    struct leat_column_writer *w;
    enum leat_status s;

    if (o->type == LEAT_COLUMN_CATEGORY)
        return status_argument(err, "column",
                               "a category has texts, which .npy files do not hold: use leat.attach() of "
                               "Python");
    s = leat_column_writer_open(&w, d, o, err);
    for (size_t i = 1; s == LEAT_OK && i < parsed->count; i++)
        s = add_file(w, o, parsed->words[i], err);
    if (s == LEAT_OK)
        s = leat_column_writer_finish(w, err);
    if (s != LEAT_OK)
        leat_column_writer_abandon(w);
    return s;
}

int cmd_attach(const struct command *self, int argc, char **argv)
{
    struct leat_column_options options = LEAT_COLUMN_OPTIONS_INIT;
    struct attach_values values = { .column = NULL };
    struct leat_info info = LEAT_INFO_INIT;
    struct options_parsed parsed;
    struct leat_dataset *d = NULL;
    struct leat_error err;
    char shown[COMMANDS_NAME], *text = NULL;
    enum leat_status s;
    int code;

    if (!command_parse(self, argc, argv, &values, &parsed, &code))
        return code;
    cli_catch_interrupts();
    s = read_column(&options, &text, values.column, &err);
    options.force = values.force;
    if (s == LEAT_OK)
        s = commands_open(&d, parsed.words[0], &err);
    if (s == LEAT_OK)
        s = attach(d, &options, &parsed, &err);
    if (s == LEAT_OK) {
        leat_dataset_info(d, &info);
        cli_say("%s: column %s attached, with %s.", commands_shown(parsed.words[0], shown), options.name,
                options.at == LEAT_COLUMN_TOKEN ? units_counted(info.tokens, "token").text
                                                : units_counted(info.documents, "document").text);
    }
    code = cli_finish_stdout(s == LEAT_OK ? CLI_DONE : cli_failed_or_damaged(&err));
    leat_dataset_close(d);
    options_free(&parsed);
    free(text);
    return code;
}
