/*
 * dataset_open.c: from a name to an open dataset: one pair of files, a folder of them, or a list in a file.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/status.h"
#include "dataset.h"

/* Growing array of names, each its own allocation. */
struct names {
    char **items;
    size_t count, room;
};

static void names_free(struct names *n)
{
    for (size_t i = 0; i < n->count; i++)
        free(n->items[i]);
    free(n->items);
}

/* As much of a name as a sentence shows. */
#define SHOWN_BYTES 200u

/* Adds folder/name (folder may be empty), cut to `length` bytes of name and without .leat or .tokens. */
static enum leat_status names_add(struct names *n, const char *folder, size_t folder_length, const char *name,
                                  size_t length, struct leat_error *err)
{
    size_t size = folder_length + 1 + length + 1;
    char *item, **items;

    length = file_dataset_length(name, length);
    if (file_ends_with(name, length, ".partial"))
        return status_set(err, LEAT_E_ARGUMENT, "%.*s is no dataset: names in .partial are those of unfinished ones",
                          (int)(length < SHOWN_BYTES ? length : SHOWN_BYTES), name);
    if (n->count == n->room) {
        size_t room = n->room ? 2 * n->room : 8;

        items = realloc(n->items, room * sizeof *items);
        if (!items)
            return status_no_memory(err, room * sizeof *items);
        n->items = items;
        n->room = room;
    }
    item = malloc(size);
    if (!item)
        return status_no_memory(err, size);
    n->items[n->count++] = item;
    if (folder_length > 0) {
        memcpy(item, folder, folder_length);
        item += folder_length;
        if (folder[folder_length - 1] != '/')
            *item++ = '/';
    }
    memcpy(item, name, length);
    item[length] = '\0';
    return LEAT_OK;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static enum leat_status names_of_folder(struct names *n, const char *folder, struct leat_error *err)
{
    DIR *dir = opendir(folder);
    enum leat_status s = LEAT_OK;
    size_t before = n->count;
    struct dirent *entry;

    if (!dir)
        return status_set_os(err, errno, "cannot open the folder %s", folder);
    while (s == LEAT_OK && (errno = 0, entry = readdir(dir))) {
        size_t length = strlen(entry->d_name);

        /* names that begin with a dot are hidden, as a shell's * has it; NAME.partial.leat is not finished */
        if (entry->d_name[0] != '.' && file_ends_with(entry->d_name, length, ".leat") &&
            !file_ends_with(entry->d_name, length, ".partial.leat"))
            s = names_add(n, folder, strlen(folder), entry->d_name, length, err);
    }
    if (s == LEAT_OK && errno != 0)
        s = status_set_os(err, errno, "cannot read the folder %s", folder);
    closedir(dir);
    if (s == LEAT_OK && n->count == before)
        return status_set(err, LEAT_E_NO_FILE, "the folder %s holds no dataset (no *.leat in it)", folder);
    if (n->count > before)
        qsort(n->items + before, n->count - before, sizeof *n->items, compare_names);
    return s;
}

static enum leat_status add_lines(struct names *n, const char *path, const char *text, size_t size,
                                  struct leat_error *err)
{
    const char *slash = strrchr(path, '/');
    enum leat_status s = LEAT_OK;

    for (size_t at = 0; s == LEAT_OK && at < size;) {
        const char *line = text + at, *newline = memchr(line, '\n', size - at);
        size_t length = newline ? (size_t)(newline - line) : size - at;

        at += length + 1;
        for (; length > 0 && (line[0] == ' ' || line[0] == '\t'); length--)
            line++;
        while (length > 0 && (line[length - 1] == '\r' || line[length - 1] == ' ' || line[length - 1] == '\t'))
            length--;
        if (length == 0 || line[0] == '#')
            continue;
        if (memchr(line, '\0', length))
            return status_set_at(err, LEAT_E_ARGUMENT, (uint64_t)(line - text),
                                 "%s is not a list of datasets: it has a zero byte at byte %llu; write one name a line",
                                 path, (unsigned long long)(line - text));
        if (line[0] == '@')
            return status_set_at(err, LEAT_E_ARGUMENT, (uint64_t)(line - text),
                                 "%s names a list (%.*s): a list holds datasets only; write @ as ./@ in a name", path,
                                 (int)(length < SHOWN_BYTES ? length : SHOWN_BYTES), line);
        s = names_add(n, path, line[0] == '/' || !slash ? 0 : (size_t)(slash - path) + 1, line, length, err);
    }
    return s;
}

static enum leat_status names_of_list(struct names *n, const char *path, struct leat_error *err)
{
    size_t before = n->count;
    enum leat_status s;
    uint64_t size;
    char *text;
    int fd;

    s = file_open_read(&fd, &size, path, err);
    if (s != LEAT_OK)
        return s;
    text = size < SIZE_MAX ? malloc((size_t)size + 1) : NULL;
    s = text ? file_read_at(fd, 0, text, size, path, err) : status_no_memory(err, size);
    if (s == LEAT_OK)
        s = add_lines(n, path, text, (size_t)size, err);
    if (s == LEAT_OK && n->count == before)
        s = status_set(err, LEAT_E_NO_FILE, "the list %s names no dataset", path);
    free(text);
    file_close(&fd);
    return s;
}

/* Whether NAME.leat is there. A folder NAME often lies beside it, with the texts that it was made from. */
static enum leat_status has_index(const char *name, bool *has, struct leat_error *err)
{
    size_t length = strlen(name);
    struct file_identity index;
    enum leat_status s;
    char *path;

    *has = false;
    if (name[length - 1] == '/')
        return LEAT_OK;
    path = malloc(length + sizeof ".leat");
    if (!path)
        return status_no_memory(err, length);
    memcpy(path, name, length);
    memcpy(path + length, ".leat", sizeof ".leat");
    s = file_identify(path, &index, err);
    *has = index.exists;
    free(path);
    return s;
}

static enum leat_status resolve(struct names *n, const char *name, struct leat_error *err)
{
    enum leat_status s;
    struct stat st;
    bool has;

    if (name[0] == '@')
        return names_of_list(n, name + 1, err);
    if (stat(name, &st) == 0 && S_ISDIR(st.st_mode)) {
        s = has_index(name, &has, err);
        if (s != LEAT_OK || !has)
            return s == LEAT_OK ? names_of_folder(n, name, err) : s;
    }
    return names_add(n, "", 0, name, strlen(name), err);
}

/* The parts of a list must be one dataset in all that a reader of tokens cares about. */
static enum leat_status check_agreement(const struct part *a, const struct part *b, struct leat_error *err)
{
    const struct format_header *x = &a->header, *y = &b->header;
    const char *what = NULL;
    uint64_t in_a = 0, in_b = 0;

    if (x->vocabulary != y->vocabulary) {
        what = "vocabulary size";
        in_a = x->vocabulary;
        in_b = y->vocabulary;
    } else if (x->end_token != y->end_token) {
        what = "end-of-document token";
        in_a = x->end_token;
        in_b = y->end_token;
    } else if (x->begin_token != y->begin_token) {
        what = "begin token";
        in_a = x->begin_token;
        in_b = y->begin_token;
    }
    if (what && (in_a == LEAT_NONE || in_b == LEAT_NONE))
        return status_set(err, LEAT_E_INCOMPATIBLE, "%s and %s cannot be joined: only %s has one (%s)", a->name,
                          b->name, in_a == LEAT_NONE ? "the second" : "the first", what);
    if (what)
        return status_set(err, LEAT_E_INCOMPATIBLE, "%s and %s cannot be joined: their %s is %llu and %llu", a->name,
                          b->name, what, (unsigned long long)in_a, (unsigned long long)in_b);
    if (memcmp(x->fingerprint, y->fingerprint, sizeof x->fingerprint) != 0)
        return status_set(err, LEAT_E_INCOMPATIBLE,
                          "%s and %s cannot be joined: they were made with different tokenizers", a->name, b->name);
    return LEAT_OK;
}

static enum leat_status append_part(struct leat_dataset *d, const char *name, enum leat_access access,
                                    struct leat_error *err)
{
    struct part *p = &d->parts[d->part_count];
    enum leat_status s = part_open(p, name, access, err);

    if (s == LEAT_E_NO_FILE)
        dataset_say_missing(name, err);
    if (s != LEAT_OK)
        return s;
    d->part_count++;
    p->first_token = d->tokens;
    p->first_document = d->documents;
    p->first_input = d->inputs;
    if (!bytes_add(d->tokens, p->header.tokens, &d->tokens) ||
        !bytes_add(d->documents, p->header.documents, &d->documents) ||
        !bytes_add(d->inputs, p->header.sections[FORMAT_INPUTS].entries, &d->inputs))
        return status_set(err, LEAT_E_HEADER, "the list that %s is part of has more than 2^64 tokens or documents",
                          name);
    return d->part_count > 1 ? check_agreement(&d->parts[0], p, err) : LEAT_OK;
}

enum leat_status leat_dataset_open_list(struct leat_dataset **out, const char *const *list, size_t count,
                                        const struct leat_open_options *options, struct leat_error *err)
{
    enum leat_access access = LEAT_ACCESS_LEASED;
    struct names names = { 0 };
    struct leat_dataset *d = NULL;
    enum leat_status s = LEAT_OK;

    *out = NULL;
    if (options && options->size >= offsetof(struct leat_open_options, access) + sizeof access)
        access = options->access;
    if (count == 0)
        return status_set(err, LEAT_E_ARGUMENT, "no dataset to open is named");
    if (access > LEAT_ACCESS_READ)
        return status_set(err, LEAT_E_ARGUMENT, "leat_dataset_open: %u is no kind of access", (unsigned)access);
    for (size_t i = 0; s == LEAT_OK && i < count; i++)
        s = list[i] && *list[i] ? resolve(&names, list[i], err)
                                : status_set(err, LEAT_E_ARGUMENT, "the name of the dataset to open is empty");
    if (s == LEAT_OK) {
        d = calloc(1, sizeof *d);
        if (d)
            d->parts = calloc(names.count, sizeof *d->parts);
        if (!d || !d->parts)
            s = status_no_memory(err, names.count * sizeof *d->parts);
    }
    access = file_map_access(access);
    for (size_t i = 0; s == LEAT_OK && i < names.count; i++)
        s = append_part(d, names.items[i], access, err);
    names_free(&names);
    if (s != LEAT_OK)
        leat_dataset_close(d);
    else
        *out = d;
    return s;
}

enum leat_status leat_dataset_open(struct leat_dataset **out, const char *name, const struct leat_open_options *options,
                                   struct leat_error *err)
{
    return leat_dataset_open_list(out, &name, 1, options, err);
}

enum leat_status dataset_of_part(struct leat_dataset **out, const struct part *part, struct leat_error *err)
{
    struct leat_dataset *d = calloc(1, sizeof *d);
    struct part *copy = calloc(1, sizeof *copy);

    *out = NULL;
    if (!d || !copy) {
        struct part taken = *part;

        part_close(&taken);
        free(d);
        free(copy);
        return status_no_memory(err, sizeof *d + sizeof *copy);
    }
    *copy = *part;
    d->parts = copy;
    d->part_count = 1;
    d->tokens = part->header.tokens;
    d->documents = part->header.documents;
    d->inputs = part->header.sections[FORMAT_INPUTS].entries;
    *out = d;
    return LEAT_OK;
}

void leat_dataset_close(struct leat_dataset *d)
{
    if (!d)
        return;
    for (uint64_t i = 0; i < d->part_count; i++)
        part_close(&d->parts[i]);
    free(d->parts);
    free(d);
}
