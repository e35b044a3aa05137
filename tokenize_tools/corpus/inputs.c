/*
 * inputs.c: see inputs.h. A search goes through the words in their order; folders and lists call it again, at most
 * FOLDER_DEPTH deep, so that a cycle ends with an error. What a folder holds is sorted, so that the order does not
 * depend on the file system. A file that may be a corpus and cannot be read is an error only after its whole folder, so
 * that the message can count such files. A share is cut by bytes over all inputs as if they were one file.
 */
#include "inputs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/status.h"
#include "corpus/streams/byte_stream.h"
#include "input_judge.h"

#define FOLDER_DEPTH 64

/* The state of a search. */
struct search {
    struct input_list *list;
    const struct input_rules *rules;
    unsigned depth; /* of folders and lists within each other */
    char *unread;   /* the first corpus of a folder that leat cannot read, which is `unread_kind`; NULL: none */
    const struct file_kind *unread_kind;
    size_t unread_count;
};

static enum leat_status find_word(struct search *s, const char *word, struct leat_error *err);
static enum leat_status find_in_list(struct search *s, const char *list, struct leat_error *err);

/* ---- Names ---- */

static char *join(const char *folder, size_t length, const char *name)
{
    size_t size = length + strlen(name) + 2;
    char *path = malloc(size);

    if (path)
        snprintf(path, size, "%.*s%s%s", (int)length, folder, length > 0 && folder[length - 1] == '/' ? "" : "/", name);
    return path;
}

/* ---- Finding ---- */

/* Adds an input, and takes over `path`. */
static enum leat_status add(struct input_list *list, char *path, const struct record_format *format,
                            const struct stat *st, struct leat_error *err)
{
    struct input *items = list->items;

    if (path && list->count == list->room) {
        list->room = list->room > 0 ? 2 * list->room : 16;
        items = reallocarray(list->items, list->room, sizeof *items);
        if (items)
            list->items = items;
    }
    if (!path || !items) {
        free(path);
        return status_no_memory(err, list->room * sizeof *items);
    }
    items[list->count] =
        (struct input) { .path = path, .format = format, .compressed = byte_stream_stem(path) < strlen(path) };
    if (st) {
        items[list->count].size = items[list->count].end = (uint64_t)st->st_size;
        items[list->count].modified_s = st->st_mtim.tv_sec;
        items[list->count].modified_ns = st->st_mtim.tv_nsec;
    }
    list->bytes += items[list->count++].size;
    return LEAT_OK;
}

static enum leat_status add_standard_input(struct search *s, struct leat_error *err)
{
    for (size_t i = 0; i < s->list->count; i++)
        if (strcmp(s->list->items[i].path, "-") == 0)
            return status_set(err, LEAT_E_ARGUMENT, "standard input (-) is given twice");
    return add(s->list, strdup("-"), record_format_number(s->rules->format ? (int)s->rules->format : LEAT_PACK_JSONL),
               NULL, err);
}

/* Adds a file that a person named. Lists may name very many; those are not opened before their turn. */
static enum leat_status add_given(struct search *s, const char *path, const struct stat *st, struct leat_error *err)
{
    const struct record_format *format;
    enum leat_status status = input_judge_given(path, s->depth == 0, s->rules, &format, err);

    return status == LEAT_OK ? add(s->list, strdup(path), format, st, err) : status;
}

/* Records that a file of a folder is left out. */
static enum leat_status skip(struct search *s, const char *path, const struct file_kind *corpus, struct leat_error *err)
{
    struct input_list *list = s->list;
    bool full = (list->skipped_count & (list->skipped_count - 1)) == 0; /* room doubles */
    char **skipped =
        full ? reallocarray(list->skipped, list->skipped_count > 0 ? 2 * list->skipped_count : 1, sizeof *skipped)
             : list->skipped;
    char *copy = strdup(path);

    if (skipped)
        list->skipped = skipped;
    if (!skipped || !copy) {
        free(copy);
        return status_no_memory(err, strlen(path));
    }
    list->skipped[list->skipped_count++] = copy;
    s->unread_count += corpus != NULL;
    if (corpus && (!s->unread || strcmp(path, s->unread) < 0)) {
        s->unread = copy;
        s->unread_kind = corpus;
    }
    return LEAT_OK;
}

static enum leat_status add_found(struct search *s, const char *path, const struct stat *st, struct leat_error *err)
{
    const struct file_kind *corpus;
    const struct record_format *format = input_judge_found(path, s->rules, &corpus);

    return format ? add(s->list, strdup(path), format, st, err) : skip(s, path, corpus, err);
}

static enum leat_status find_in_folder(struct search *s, const char *folder, struct leat_error *err)
{
    DIR *d = opendir(folder);
    enum leat_status status = LEAT_OK;
    struct dirent *entry;

    if (!d)
        return status_set_os(err, errno, "cannot read the folder %s", folder);
    while (status == LEAT_OK && (errno = 0, entry = readdir(d)) != NULL) {
        char *path;
        struct stat st;

        if (entry->d_name[0] == '.')
            continue;
        path = join(folder, strlen(folder), entry->d_name);
        if (!path) {
            status = status_no_memory(err, strlen(folder));
        } else if (stat(path, &st) != 0) {
            status = status_set_os(err, errno, "cannot examine %s", path);
        } else if (S_ISDIR(st.st_mode)) {
            if (++s->depth > FOLDER_DEPTH)
                status = status_set(err, LEAT_E_ARGUMENT,
                                    "%s: folders are nested more than %d deep; does a link form a cycle?", path,
                                    FOLDER_DEPTH);
            else
                status = find_in_folder(s, path, err);
            s->depth--;
        } else if (S_ISREG(st.st_mode)) {
            status = add_found(s, path, &st, err);
        }
        free(path);
    }
    if (status == LEAT_OK && errno != 0)
        status = status_set_os(err, errno, "cannot read the folder %s", folder);
    closedir(d);
    return status;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct input *)a)->path, ((const struct input *)b)->path);
}

static enum leat_status find_folder(struct search *s, const char *folder, struct leat_error *err)
{
    size_t before = s->list->count;
    enum leat_status status = find_in_folder(s, folder, err);
    char names[RECORD_FORMAT_SENTENCE];

    if (status != LEAT_OK)
        return status;
    if (s->unread_count > 0 && !s->rules->skip_unknown)
        return status_set_hint(err, LEAT_E_UNSUPPORTED, LEAT_HINT_SKIP,
                               "the folder %s has %zu file%s that may hold texts but cannot be read; %s is %s: %s, or "
                               "skip such files",
                               folder, s->unread_count, s->unread_count == 1 ? "" : "s", s->unread,
                               s->unread_kind->name, s->unread_kind->cure);
    if (s->list->count == before && s->rules->format != LEAT_PACK_AUTO)
        return status_set(err, LEAT_E_NOT_FOUND, "the folder %s has no files", folder);
    if (s->list->count == before) {
        record_format_tell(names);
        return status_set_hint(err, LEAT_E_NOT_FOUND, LEAT_HINT_FORMAT,
                               "the folder %s has no file with a known suffix %s", folder, names);
    }
    qsort(s->list->items + before, s->list->count - before, sizeof *s->list->items, by_path);
    return LEAT_OK;
}

/* Looks up a line of a list. Relative names, even of other lists, count from the list's folder. */
static enum leat_status find_listed(struct search *s, const char *list, const char *line, struct leat_error *err)
{
    const char *slash = strrchr(list, '/');
    bool is_list = line[0] == '@';
    enum leat_status status;
    char *path;

    if (line[is_list] == '/' || strcmp(line, "-") == 0 || !slash || strstr(line, "://"))
        return find_word(s, line, err);
    path = join(list, (size_t)(slash - list) + 1, line + is_list);
    if (!path)
        return status_no_memory(err, strlen(list));
    status = is_list ? find_in_list(s, path, err) : find_word(s, path, err);
    free(path);
    return status;
}

static enum leat_status find_in_list(struct search *s, const char *list, struct leat_error *err)
{
    FILE *f = fopen(list, "re");
    size_t before = s->list->count, room = 0;
    enum leat_status status = LEAT_OK;
    char *line = NULL;
    ssize_t length;

    if (!f)
        return status_set_os(err, errno, "cannot open the list %s", list);
    if (++s->depth > FOLDER_DEPTH)
        status = status_set(err, LEAT_E_ARGUMENT, "%s: lists are nested more than %d deep; do they form a cycle?", list,
                            FOLDER_DEPTH);
    while (status == LEAT_OK && (length = getline(&line, &room, f)) > 0) {
        while (length > 0 && (line[length - 1] == '\n' || line[length - 1] == '\r'))
            line[--length] = '\0';
        if (strlen(line) != (size_t)length)
            status =
                status_set(err, LEAT_E_ARGUMENT, "%s: a line holds a zero byte; this is not a list of names", list);
        else if (length > 0 && line[0] != '#')
            status = find_listed(s, list, line, err);
    }
    if (status == LEAT_OK && ferror(f))
        status = status_set_os(err, errno, "cannot read %s", list);
    if (status == LEAT_OK && s->list->count == before)
        status = status_set(err, LEAT_E_NOT_FOUND, "the list %s names no input", list);
    s->depth--;
    free(line);
    fclose(f);
    return status;
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Looks up a file or folder that exists. */
static enum leat_status find_path(struct search *s, const char *path, const struct stat *st, struct leat_error *err)
{
    if (S_ISDIR(st->st_mode))
        return find_folder(s, path, err);
    if (!S_ISREG(st->st_mode))
        return status_set(err, LEAT_E_ARGUMENT,
                          "%s is neither a file nor a folder; for a pipe, use - and redirect "
                          "it",
                          path);
    return add_given(s, path, st, err);
}

/* Expands a pattern that the shell has not, because it was quoted or is in a list. */
static enum leat_status find_pattern(struct search *s, const char *pattern, struct leat_error *err)
{
    enum leat_status status = LEAT_OK;
    glob_t found;
    int code = glob(pattern, GLOB_NOSORT, NULL, &found);

    if (code == GLOB_NOSPACE)
        return status_no_memory(err, strlen(pattern));
    if (code != 0)
        return status_set(err, LEAT_E_NO_FILE,
                          "no file matches %s (* ? [ ] match within one name; ** means no more than *)", pattern);
    qsort(found.gl_pathv, found.gl_pathc, sizeof *found.gl_pathv, by_bytes);
    /* a match is a name, whatever it looks like: a file called - or @list, a dangling link called a* */
    for (size_t i = 0; status == LEAT_OK && i < found.gl_pathc; i++) {
        const char *match = strcmp(found.gl_pathv[i], "-") == 0 ? "./-" : found.gl_pathv[i];
        struct stat st;

        if (stat(match, &st) == 0)
            status = find_path(s, match, &st, err);
        else
            status = status_set_os(err, errno, "cannot find the input %s", match);
    }
    globfree(&found);
    return status;
}

/* Looks up a word that is not the name of a file. */
static enum leat_status find_nothing(struct search *s, const char *word, struct leat_error *err)
{
    int error = errno;
    const char *colon = strstr(word, "://");

    if (error == ENOENT && colon && colon > word)
        return status_set(err, LEAT_E_UNSUPPORTED,
                          "%s is a URL, but leat reads only files so far; download it first, or pipe it to standard "
                          "input",
                          word);
    if (error == ENOENT && strpbrk(word, "*?["))
        return find_pattern(s, word, err);
    return status_set_os(err, error, "cannot find the input %s", word);
}

static enum leat_status find_word(struct search *s, const char *word, struct leat_error *err)
{
    struct stat st;

    if (strcmp(word, "-") == 0)
        return add_standard_input(s, err);
    if (word[0] == '@')
        return find_in_list(s, word + 1, err);
    if (stat(word, &st) != 0)
        return find_nothing(s, word, err);
    return find_path(s, word, &st, err);
}

enum leat_status inputs_find(struct input_list *list, const char *const *words, size_t count,
                             const struct input_rules *rules, struct leat_error *err)
{
    struct search s = { .list = list, .rules = rules };
    enum leat_status status = LEAT_OK;

    *list = (struct input_list) { 0 };
    if (rules->format != LEAT_PACK_AUTO && !record_format_number((int)rules->format))
        return status_set(err, LEAT_E_ARGUMENT, "unknown input format %d", (int)rules->format);
    for (size_t i = 0; status == LEAT_OK && i < count; i++)
        status = find_word(&s, words[i], err);
    if (status != LEAT_OK)
        inputs_free(list);
    else if (list->skipped_count > 0)
        qsort(list->skipped, list->skipped_count, sizeof *list->skipped, by_bytes);
    return status;
}

void inputs_free(struct input_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i].path);
    for (size_t i = 0; i < list->skipped_count; i++)
        free(list->skipped[i]);
    free(list->items);
    free(list->skipped);
    *list = (struct input_list) { 0 };
}

enum leat_status inputs_check_end(const struct input *in, uint64_t at, struct leat_error *err)
{
    return at < in->size ? status_set_at(err, LEAT_E_TRUNCATED, at, "%s shrank while it was being packed", in->path)
                         : LEAT_OK;
}

enum leat_status inputs_check_read(const struct input *in, uint64_t at, const struct leat_error *damage,
                                   struct leat_error *err)
{
    if (damage && damage->status != LEAT_E_TRUNCATED)
        return LEAT_OK;
    return inputs_check_end(in, damage ? damage->offset : at, err); /* what was held of a frame lies before the end */
}

/* ---- Shares ---- */

/* total * part / parts without overflow: parts fit in 32 bits. */
static uint64_t border(uint64_t total, unsigned part, unsigned parts)
{
    return total / parts * part + total % parts * part / parts;
}

/* Checks whether a file with a plain name is compressed: then it cannot be cut. */
static enum leat_status look_inside(struct input *in, struct leat_error *err)
{
    struct byte_stream *stream;
    enum leat_status s = byte_stream_open(&stream, in->path, err);

    if (s == LEAT_OK)
        in->compressed = byte_stream_form(stream) != BYTE_FORM_PLAIN;
    byte_stream_close(stream);
    return s;
}

/* Cuts input `in`, which begins at `at` of all bytes, down to [from, to). False: none of it belongs to the share. */
static bool cut(struct input *in, bool divides, uint64_t at, uint64_t from, uint64_t to, bool last)
{
    if (in->compressed || !divides || in->size == 0)
        return at >= from && (at < to || last);
    if (at >= to || at + in->size <= from)
        return false;
    in->begin = from > at ? from - at : 0;
    in->end = to - at < in->size ? to - at : in->size;
    return true;
}

enum leat_status inputs_share(struct input_list *list, unsigned part, unsigned parts,
                              bool (*divides)(const struct input *in), struct leat_error *err)
{
    uint64_t from = border(list->bytes, part - 1, parts), to = border(list->bytes, part, parts), at = 0;
    size_t kept = 0;

    for (size_t i = 0; i < list->count; i++) {
        struct input *in = &list->items[i];
        enum leat_status status = LEAT_OK;

        if (strcmp(in->path, "-") == 0)
            return status_set(err, LEAT_E_ARGUMENT, "standard input cannot be divided into shares");
        if (!in->compressed && divides(in) && at < to && at + in->size > from)
            status = look_inside(in, err);
        if (status != LEAT_OK)
            return status;
        at += in->size;
        if (!cut(in, divides(in), at - in->size, from, to, part == parts)) {
            free(in->path);
            in->path = NULL;
            continue;
        }
        list->items[kept] = *in;
        if (kept != i)
            in->path = NULL;
        kept++;
    }
    list->count = kept;
    list->bytes = 0;
    for (size_t i = 0; i < kept; i++)
        list->bytes += list->items[i].end - list->items[i].begin;
    return LEAT_OK;
}
