/*
 * cmd_attach.c: `leat attach`: adds a column to a finished dataset from NumPy's files. The header of a .npy file
 * (versions 1 to 3) is a text, a Python dict of three keys; the numbers follow it. They are read in blocks, and turned
 * to this machine's order of bytes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/status.h"
#include "cli/units.h"
#include "commands.h"

#define HEADER_MAX 65536u
#define BLOCK      ((uint64_t)1 << 20)

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

/* ---- A file of NumPy --------------------------------------------------------------------------------------------- */

struct npy {
    const char *path;
    int fd;
    uint64_t size, begin; /* bytes of the file; where its numbers begin */
    uint32_t type;        /* enum leat_column_type */
    uint32_t bytes;       /* bytes per number */
    bool swapped;         /* the numbers have the other order of bytes than this machine's */
    uint64_t rows, width;
};

static enum leat_status not_read(const struct npy *f, const char *why, struct leat_error *err)
{
    return status_set_in(err, LEAT_E_ARGUMENT, f->path, "%.300s: %s", f->path, why);
}

/* Returns what follows the key in the header, without blanks; NULL: it has no such key. */
static const char *value_of(const char *header, const char *key)
{
    const char *at = strstr(header, key);

    if (!at)
        return NULL;
    at += strlen(key);
    return at + strspn(at, ": ");
}

static enum leat_status read_descr(struct npy *f, const char *text, struct leat_error *err)
{
    static const struct {
        const char *name;
        uint32_t type;
    } types[] = {
        { "b1", LEAT_COLUMN_U8 },  { "u1", LEAT_COLUMN_U8 },  { "u2", LEAT_COLUMN_U16 }, { "u4", LEAT_COLUMN_U32 },
        { "u8", LEAT_COLUMN_U64 }, { "i1", LEAT_COLUMN_I8 },  { "i2", LEAT_COLUMN_I16 }, { "i4", LEAT_COLUMN_I32 },
        { "i8", LEAT_COLUMN_I64 }, { "f2", LEAT_COLUMN_F16 }, { "f4", LEAT_COLUMN_F32 }, { "f8", LEAT_COLUMN_F64 },
    };
    const char *end = text ? strchr(text + (*text == '\''), '\'') : NULL;

    for (size_t i = 0; end && *text == '\'' && strchr("<>|=", text[1]) && i < sizeof types / sizeof *types; i++)
        if (end == text + 4 && strncmp(text + 2, types[i].name, 2) == 0) {
            f->type = types[i].type;
            f->bytes = (uint32_t)(types[i].name[1] - '0');
            f->swapped = f->bytes > 1 && (text[1] == '>') != BYTES_BIG_ENDIAN && text[1] != '=';
            return LEAT_OK;
        }
    return not_read(f, "its values are no numbers of 1 to 8 bytes; save them with such a dtype", err);
}

/* Reads "(n,)" or "(n, K)". */
static bool read_shape(struct npy *f, const char *text)
{
    char end[2];

    f->width = 1;
    if (!text)
        return false;
    return sscanf(text, "(%20" SCNu64 ",%1[)]", &f->rows, end) == 2 ||
           sscanf(text, "(%20" SCNu64 ", %20" SCNu64 "%1[)]", &f->rows, &f->width, end) == 3;
}

static enum leat_status read_header(struct npy *f, struct leat_error *err)
{
    uint8_t start[12] = { 0 };
    char header[HEADER_MAX + 1];
    uint64_t length, at, all;
    const char *fortran;
    enum leat_status s = f->size < sizeof start ? not_read(f, "not a .npy file", err)
                                                : file_read_at(f->fd, 0, start, sizeof start, f->path, err);

    if (s != LEAT_OK)
        return s;
    if (memcmp(start, "\x93NUMPY", 6) != 0 || start[6] < 1 || start[6] > 3)
        return not_read(f, "not a .npy file of version 1 to 3", err);
    at = start[6] == 1 ? 10 : 12;
    length = start[6] == 1 ? bytes_load16(start + 8) : bytes_load32(start + 8);
    if (length > HEADER_MAX || !bytes_inside(at, length, f->size))
        return not_read(f, "its header is cut off or too long", err);
    s = file_read_at(f->fd, at, header, length, f->path, err);
    if (s != LEAT_OK)
        return s;
    header[length] = '\0';
    f->begin = at + length;
    s = read_descr(f, value_of(header, "'descr'"), err);
    if (s != LEAT_OK)
        return s;
    fortran = value_of(header, "'fortran_order'");
    if (!read_shape(f, value_of(header, "'shape'")))
        return not_read(f, "its shape is not (n,) or (n, K)", err);
    if (!fortran || (strncmp(fortran, "False", 5) != 0 && f->width > 1))
        return not_read(f, "its values are in Fortran's order: save numpy.ascontiguousarray() of them", err);
    if (!bytes_multiply(f->rows, f->width, &all) || !bytes_multiply(all, f->bytes, &all) || f->size - f->begin != all)
        return not_read(f, "its size is not that of its shape: it is cut off or damaged", err);
    return LEAT_OK;
}

/* ---- The command ------------------------------------------------------------------------------------------------- */

static enum leat_status add_rows(struct leat_column_writer *w, const struct npy *f, uint8_t *block,
                                 struct leat_error *err)
{
    uint64_t row_bytes = f->width * f->bytes, at_once = BLOCK / row_bytes;
    enum leat_status s = LEAT_OK;

    for (uint64_t row = 0, here; s == LEAT_OK && row < f->rows; row += here) {
        here = f->rows - row < at_once ? f->rows - row : at_once;
        s = file_read_at(f->fd, f->begin + row * row_bytes, block, here * row_bytes, f->path, err);
        if (s == LEAT_OK && f->swapped)
            bytes_swap_each(block, here * f->width, f->bytes);
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
    struct npy f = { .path = path, .fd = -1 };
    uint8_t *block = file_buffer(BLOCK);
    enum leat_status s = block ? file_open_read(&f.fd, &f.size, path, err) : status_no_memory(err, BLOCK);

    if (s == LEAT_OK)
        s = read_header(&f, err);
    if (s == LEAT_OK && f.width != o->width)
        s = status_set_in(err, LEAT_E_ARGUMENT, path,
                          "%.300s has %" PRIu64 " values per entry, but --column says %" PRIu32, path, f.width,
                          o->width);
    if (s == LEAT_OK)
        s = add_rows(w, &f, block, err);
    file_close(&f.fd);
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
