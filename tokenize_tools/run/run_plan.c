/* run_plan.c: writes and reads plans. A plan that was read points into its file's bytes, whose escapes are undone
 * there. */
#include "run_plan.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/path.h"
#include "base/status.h"
#include "checksum/checksum.h"
#include "list/folder_list.h"
#include "pack/pack.h"
#include "run_advice.h"

static const char first_line[] = "leat run 2";

#define SUM_LINE 37 /* length of the last line: "sum ", 32 digits, the line's end */

/* ---- The table --------------------------------------------------------------------------------------------------- */

/* The kinds of lines. To add a line that is no option of packing: a row below. The options are rows of
 * pack/option_rows.h. */
enum plan_kind {
    PLAN_U32,
    PLAN_U64,   /* "none" is LEAT_NONE */
    PLAN_TEXT,  /* no line: NULL */
    PLAN_TEXTS, /* a line for each text; their number is at `count` */
    PLAN_SPLITS /* NAME=FRACTION, likewise */
};

struct plan_row {
    const char *name;
    enum plan_kind kind;
    size_t at, count; /* offsets of the field, and of its count, in struct run_plan */
};

#define RUN(field)  offsetof(struct run_plan, field)
#define PACK(field) offsetof(struct run_plan, pack.field)

/* The lines of an option of packing, by its kind. */
#define LINE_FLAG(member)   { #member, PLAN_U32, PACK(member), 0 },
#define LINE_SIZE(member)   { #member, PLAN_U64, PACK(member), 0 },
#define LINE_TEXT(member)   { #member, PLAN_TEXT, PACK(member), 0 },
#define LINE_TEXTS(member)  { #member, PLAN_TEXTS, PACK(member), PACK(member##_count) },
#define LINE_SPLITS(member) { "split", PLAN_SPLITS, PACK(member), PACK(split_count) },
#define LINE_LIMIT(member)  LINE_SIZE(member) LINE_SIZE(member##_ppm)
#define LINE_CHOICE         LINE_FLAG
#define LINE_COUNT          LINE_FLAG
#define LINE_THREADS        LINE_FLAG
#define LINE_TIME           LINE_SIZE
#define LINE_TOKEN          LINE_SIZE
#define LINE_CHAT           LINE_TEXT

#define LINES_OWN(lines)
#define LINES_SHARED(lines) lines
#define LINES_STEP(lines)   lines

static const struct plan_row rows[] = {
    { "parts", PLAN_U32, RUN(parts), 0 }, /* this comes first, since libleat reads it there */
    { "files", PLAN_U64, RUN(files), 0 },
    { "bytes", PLAN_U64, RUN(bytes), 0 },
    { "whole_files", PLAN_U64, RUN(whole_files), 0 },
    { "empty_parts", PLAN_U64, RUN(empty_parts), 0 },
    { "from", PLAN_TEXT, RUN(from), 0 },
    { "tokenizer", PLAN_TEXT, RUN(tokenizer), 0 },
    { "pattern", PLAN_TEXT, RUN(pattern), 0 },
    { "run", PLAN_TEXT, RUN(run), 0 },
    { "aborted", PLAN_TEXT, RUN(aborted), 0 },
    { "base", PLAN_TEXT, RUN(base), 0 },
    { "input", PLAN_TEXTS, RUN(inputs), RUN(input_count) },
#define PACK_OPTION(kind, member, keyword, plan, ...) LINES_##plan(LINE_##kind(member))
#define PACK_KEYWORD(kind, member, keyword, plan)     LINES_##plan(LINE_##kind(member))
#include "pack/option_rows.h"
};

#define ROWS (sizeof rows / sizeof *rows)

static const void *field(const struct run_plan *plan, size_t at)
{
    return (const char *)plan + at;
}

static bool is_list(const struct plan_row *row)
{
    return row->kind == PLAN_TEXTS || row->kind == PLAN_SPLITS;
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

static enum leat_status add_line(struct buffer *b, const char *name, const char *text, struct leat_error *err)
{
    enum leat_status s = buffer_append(b, name, strlen(name), err);

    s = s == LEAT_OK ? buffer_append(b, " ", 1, err) : s;
    return s == LEAT_OK ? buffer_append_line(b, text, err) : s;
}

static enum leat_status add_number(struct buffer *b, const char *name, uint64_t number, struct leat_error *err)
{
    char text[24] = "none";

    if (number != LEAT_NONE)
        snprintf(text, sizeof text, "%" PRIu64, number);
    return add_line(b, name, text, err);
}

static enum leat_status add_split(struct buffer *b, const char *name, const struct leat_split *split,
                                  struct leat_error *err)
{
    char *text = path_append(split->name, strlen(split->name), "=", split->fraction, NULL);
    enum leat_status s = text ? add_line(b, name, text, err) : status_no_memory(err, strlen(split->name));

    free(text);
    return s;
}

static enum leat_status add_row(struct buffer *b, const struct run_plan *plan, const struct plan_row *row,
                                struct leat_error *err)
{
    uint64_t count = is_list(row) ? *(const uint64_t *)field(plan, row->count) : 0;
    const void *at = field(plan, row->at);
    enum leat_status s = LEAT_OK;

    if (row->kind == PLAN_U32)
        return add_number(b, row->name, *(const uint32_t *)at, err);
    if (row->kind == PLAN_U64)
        return add_number(b, row->name, *(const uint64_t *)at, err);
    if (row->kind == PLAN_TEXT)
        return *(const char *const *)at ? add_line(b, row->name, *(const char *const *)at, err) : LEAT_OK;
    for (uint64_t i = 0; s == LEAT_OK && i < count; i++)
        s = row->kind == PLAN_SPLITS ? add_split(b, row->name, *(const struct leat_split *const *)at + i, err)
                                     : add_line(b, row->name, (*(const char *const *const *)at)[i], err);
    return s;
}

static void sum_of(const void *bytes, size_t count, char line[SUM_LINE + 1])
{
    struct hash128 sum = checksum_kernels()->hash(bytes, count);

    snprintf(line, SUM_LINE + 1, "sum %016" PRIx64 "%016" PRIx64 "\n", sum.high, sum.low);
}

enum leat_status run_sum_add(struct buffer *text, struct leat_error *err)
{
    char sum[SUM_LINE + 1];

    sum_of(text->bytes, text->size, sum);
    return buffer_append(text, sum, SUM_LINE, err);
}

enum leat_status run_plan_make(struct buffer *text, const struct run_plan *plan, struct leat_error *err)
{
    enum leat_status s = buffer_append_line(text, first_line, err);

    for (size_t i = 0; s == LEAT_OK && i < ROWS; i++)
        s = add_row(text, plan, &rows[i], err);
    return s == LEAT_OK ? run_sum_add(text, err) : s;
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

/* Undoes the escapes, in place. */
static char *plain(char *text)
{
    char *to = text;

    for (const char *at = text; *at; at++)
        *to++ = *at == '\\' && at[1] ? (*++at == 'n' ? '\n' : *at) : *at;
    *to = '\0';
    return text;
}

static bool read_number(const char *text, uint64_t most, uint64_t *number)
{
    *number = LEAT_NONE;
    if (most == LEAT_NONE && strcmp(text, "none") == 0)
        return true;
    *number = 0;
    for (const char *at = text; *at; at++) {
        unsigned digit = (unsigned)(*at - '0');

        if (digit > 9 || *number > (most - digit) / 10)
            return false;
        *number = *number * 10 + digit;
    }
    return *text != '\0';
}

/* Stores a value. Returns false if the row cannot have it. The plan's arrays have room for a value of each line:
 * lines of one name follow each other. */
static bool take_value(struct run_plan *plan, const struct plan_row *row, char *value, const char ***lists,
                       struct leat_split **splits)
{
    void *at = (char *)plan + row->at;
    uint64_t *count = (void *)((char *)plan + row->count), number;

    switch (row->kind) {
    case PLAN_U32:
        if (!read_number(value, UINT32_MAX, &number))
            return false;
        *(uint32_t *)at = (uint32_t)number;
        return true;
    case PLAN_U64:
        return read_number(value, LEAT_NONE, at);
    case PLAN_TEXT:
        *(const char **)at = plain(value);
        return true;
    case PLAN_TEXTS:
        if (*count == 0)
            *(const char *const **)at = *lists;
        *(*lists)++ = plain(value);
        ++*count;
        return true;
    default:
        if (*count == 0)
            *(const struct leat_split **)at = *splits;
        (*splits)->name = strsep(&value, "=");
        (*splits)->fraction = value;
        ++*splits;
        ++*count;
        return value != NULL;
    }
}

/* Reads all lines. The sum says that they are as they were written, so an error here is due to another version. */
static bool take_lines(struct run_plan *plan, char *rest)
{
    const char **lists = plan->lists;
    struct leat_split *splits = plan->splits;
    bool seen[ROWS] = { false };
    char *line;

    while ((line = strsep(&rest, "\n")) && *line) {
        const char *name = strsep(&line, " ");
        size_t row = 0;

        while (row < ROWS && strcmp(rows[row].name, name) != 0)
            row++;
        if (row == ROWS || !line || (seen[row] && !is_list(&rows[row])) ||
            !take_value(plan, &rows[row], line, &lists, &splits))
            return false;
        seen[row] = true;
    }
    for (size_t row = 0; row < ROWS; row++)
        if ((rows[row].kind == PLAN_U32 || rows[row].kind == PLAN_U64) && !seen[row])
            return false;
    return plan->parts <= LEAT_RUN_MAX_PARTS && plan->from && plan->tokenizer;
}

bool run_sum_take(struct buffer *text)
{
    char sum[SUM_LINE + 1];

    if (text->size < SUM_LINE || strlen((char *)text->bytes) != text->size)
        return false;
    sum_of(text->bytes, text->size - SUM_LINE, sum);
    if (memcmp(sum, text->bytes + text->size - SUM_LINE, SUM_LINE) != 0)
        return false;
    text->size -= SUM_LINE;
    text->bytes[text->size] = '\0';
    return true;
}

static enum leat_status refuse(const char *name, struct leat_error *err)
{
    return run_advise(
        err,
        status_set_in(err, LEAT_E_UNSUPPORTED, name, "%s is not the plan of a run that this version can read", name),
        RUN_PLAN_VERSION);
}

enum leat_status run_plan_take(struct run_plan *plan, const char *name, struct leat_error *err)
{
    char *rest = (char *)plan->text.bytes;
    size_t first = strcspn(rest, "\n"), lines = 0;
    uint8_t number[16];

    if (first != sizeof first_line - 1 || memcmp(rest, first_line, first) != 0)
        return refuse(name, err);
    if (!run_sum_take(&plan->text))
        return run_advise(
            err,
            status_set_in(err, LEAT_E_CHECKSUM, name,
                          "%s, the plan of the run, is damaged: restore it, or plan the run again in another folder",
                          name),
            RUN_PLAN_DAMAGED);
    for (const char *at = rest; *at; at++)
        lines += *at == '\n';
    plan->lists = calloc(lines, sizeof *plan->lists);
    plan->splits = calloc(lines, sizeof *plan->splits);
    if (!plan->lists || !plan->splits)
        return status_no_memory(err, lines * sizeof *plan->splits);
    if (!take_lines(plan, rest + first + 1) || pack_arranged_check(&plan->pack, true, NULL) != LEAT_OK ||
        (plan->run && (strlen(plan->run) != 32 || !folder_list_bytes(plan->run, number))))
        return refuse(name, err);
    return LEAT_OK;
}

enum leat_status run_plan_read(struct run_plan *plan, const char *name, struct leat_error *err)
{
    enum leat_status s;

    *plan = (struct run_plan)RUN_PLAN_INIT;
    s = buffer_read(&plan->text, name, BUFFER_TEXT_MAX, err);
    return s == LEAT_OK ? run_plan_take(plan, name, err) : s;
}

void run_plan_free(struct run_plan *plan)
{
    buffer_free(&plan->text);
    free(plan->lists);
    free(plan->splits);
    *plan = (struct run_plan)RUN_PLAN_INIT;
}

char *run_plan_path(const struct run_plan *plan, const char *path)
{
    return *path == '/' ? strdup(path) : path_join(plan->from, path, NULL);
}
