/* input_judge.c: decides by suffixes, then by first bytes. */
#include "input_judge.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mounts.h"
#include "base/status.h"
#include "corpus/streams/byte_stream.h"

static const struct record_format *format_of(const char *path, const struct input_rules *rules)
{
    return rules->options->format ? record_format_number((int)rules->options->format) : record_format_of_name(path);
}

static enum leat_status say_kind(const char *path, const struct file_kind *kind, enum leat_hint hint,
                                 struct leat_error *err)
{
    return status_set_hint(err, LEAT_E_UNSUPPORTED, hint, path, "%s is %s: %s", path, kind->name, kind->cure);
}

bool input_judge_by_name(const char *name, bool look, const struct input_rules *rules,
                         const struct record_format **format)
{
    *format = format_of(name, rules);
    /* the stream checks whether a file is compressed as its name says */
    return *format &&
           ((*format)->rows || rules->options->allow_binary || !look || byte_stream_stem(name) < strlen(name));
}

/* Judges a file by its kind, if its name does not decide. */
static enum leat_status judge_kind(const char *path, const struct file_kind *kind, const struct record_format **format,
                                   struct leat_error *err)
{
    char names[RECORD_FORMAT_SENTENCE];

    if (kind && !*format && kind->what == FILE_PARQUET) {
        *format = &format_parquet;
        return LEAT_OK;
    }
    if (kind && !(*format && kind->what == FILE_COMPRESSED))
        return say_kind(path, kind,
                        *format                         ? LEAT_HINT_BINARY
                        : kind->what == FILE_COMPRESSED ? LEAT_HINT_FORMAT
                                                        : LEAT_HINT_NONE,
                        err);
    if (*format)
        return LEAT_OK;
    record_format_tell(names);
    return status_field(
        err, status_set_hint(err, LEAT_E_ARGUMENT, LEAT_HINT_FORMAT, path, "%s: unknown suffix %s", path, names),
        "format");
}

enum leat_status input_judge_given(const char *path, bool look, const struct input_rules *rules, struct mounts *mounts,
                                   const struct record_format **format, struct leat_error *err)
{
    const struct file_kind *kind;
    enum leat_status s;

    if (input_judge_by_name(path, look, rules, format))
        return LEAT_OK;
    s = file_kind_look(path, !*format, mounts, &kind, err);
    return s == LEAT_OK ? judge_kind(path, kind, format, err) : s;
}

enum leat_status input_judge_head(const char *name, const uint8_t *head, size_t bytes,
                                  const struct record_format **format, struct leat_error *err)
{
    const struct file_kind *kind = *format ? NULL : file_kind_of_name(name);

    return judge_kind(name, kind ? kind : file_kind_of_bytes(head, bytes), format, err);
}

/* ---- Folders ---- */

/* Returns true if a file accompanies a corpus and is no part of it, of any suffix: README.md, LICENSE-MIT.txt, ... */
static bool is_companion(const char *path)
{
    static const char *const stems[] = { "README",    "LICENSE",      "LICENCE",       "COPYING",        "NOTICE",
                                         "CITATION",  "AUTHORS",      "CHANGELOG",     "CONTRIBUTING",   "SECURITY",
                                         "DATASHEET", "dataset_info", "dataset_infos", "CODE_OF_CONDUCT" };
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

    for (size_t i = 0; i < sizeof stems / sizeof *stems; i++) {
        size_t bytes = strlen(stems[i]);

        if (strncasecmp(name, stems[i], bytes) == 0 && !isalnum((unsigned char)name[bytes]))
            return true;
    }
    return false;
}

/* Returns true if there is a file with the first `stem` bytes of the path and one of the suffixes, which NULL ends. */
static bool has_beside(const char *path, size_t stem, const char *const *suffixes)
{
    bool found = false;

    for (; !found && *suffixes; suffixes++) {
        char name[PATH_MAX];
        int length = snprintf(name, sizeof name, "%.*s%s", (int)stem, path, *suffixes);

        found = length < (int)sizeof name && access(name, F_OK) == 0;
    }
    return found;
}

/* Returns true if a file belongs to a dataset, by the files beside it: tokens, which may look like UTF-16, an index, or
 * any file of an unfinished dataset, which another run writes or has left. A file of rejects may lie alone, since a run
 * that stops before its first checkpoint leaves nothing else. */
static bool is_of_dataset(const char *path)
{
    static const char *const tokens[] = { ".tokens", NULL };
    static const char *const dataset[] = { ".leat", ".partial.leat", ".partial.tokens", ".partial.lock", NULL };
    static const struct {
        const char *suffix;
        const char *const *beside;
    } rows[] = { { ".leat", tokens }, { ".tokens", dataset } };
    const char *slash = strrchr(path, '/'), *partial = strstr(slash ? slash : path, ".partial.");
    size_t length = strlen(path);

    if (file_ends_with(path, length, ".rejects.jsonl"))
        return true;
    if (partial)
        return has_beside(path, (size_t)(partial - path), dataset);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (file_ends_with(path, length, rows[i].suffix))
            return has_beside(path, length - strlen(rows[i].suffix), rows[i].beside);
    return false;
}

const struct record_format *input_judge_listed(const char *name, const struct input_rules *rules,
                                               const struct file_kind **corpus)
{
    static const char *const of_datasets[] = { ".leat", ".tokens", ".rejects.jsonl" };
    const struct record_format *format = format_of(name, rules);
    bool is_one = false;

    *corpus = NULL;
    for (size_t i = 0; i < sizeof of_datasets / sizeof *of_datasets; i++)
        is_one = is_one || file_ends_with(name, strlen(name), of_datasets[i]);
    if (rules->options->format != LEAT_PACK_TEXT && (is_one || is_companion(name)))
        return NULL;
    if (format)
        return format;
    *corpus = file_kind_of_name(name);
    if (*corpus && (*corpus)->what != FILE_CORPUS)
        *corpus = NULL;
    return NULL;
}

enum leat_status input_judge_found(const char *path, const struct input_rules *rules, struct mounts *mounts,
                                   const struct record_format **format, const struct file_kind **corpus,
                                   struct leat_error *err)
{
    static const struct file_kind unnamed = { .name = "JSON lines by its first bytes, but not by its name",
                                              .cure = "add .jsonl to its name, or choose the format",
                                              .what = FILE_CORPUS };
    struct leat_error why;
    enum leat_status s;
    bool is = false;

    *corpus = NULL;
    *format = NULL;
    if (rules->options->format != LEAT_PACK_TEXT && (is_companion(path) || is_of_dataset(path)))
        return LEAT_OK;
    *format = format_of(path, rules);
    if (*format)
        return LEAT_OK;
    s = file_kind_look(path, true, mounts, corpus, &why);
    if (s == LEAT_OK && !*corpus)
        s = file_kind_is_jsonl(path, mounts, &is, &why);
    if (s != LEAT_OK) {
        *corpus = NULL;
        if (s != LEAT_E_IO || !mounts_may_pass(why.os_error))
            return LEAT_OK;
        if (err)
            *err = why;
        return s;
    }
    if (*corpus && (*corpus)->what == FILE_PARQUET)
        *format = &format_parquet;
    if (is)
        *corpus = &unnamed;
    else if (*corpus && (*corpus)->what != FILE_CORPUS && (*corpus)->what != FILE_COMPRESSED)
        *corpus = NULL;
    return LEAT_OK;
}
