/* run_folder.c: see run_folder.h. What is to be done is lines of text, NAME VALUE, with \n and \\ in the values. */
#include "run_folder.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/grow.h"
#include "base/own_file.h"
#include "base/path.h"
#include "base/status.h"

static const char first_line[] = "leat run 1";

#define MAX_PLAN ((uint64_t)64 << 20) /* bytes of a file that says what is to be done */

char *run_folder_file(const char *path, const char *suffix)
{
    return path_join(path, "leat-run", suffix, NULL);
}

char *run_folder_part(const struct run_folder *r, unsigned part, const char *suffix)
{
    char name[32];

    /* all as long as the last one: their order as bytes is that of the parts */
    snprintf(name, sizeof name, "/part-%0*u", snprintf(NULL, 0, "%u", r->parts), part);
    return path_append(r->path, strlen(r->path), name, suffix, NULL);
}

bool run_folder_is(const char *path)
{
    char *name = run_folder_file(path, "");
    struct stat st;
    bool is = name && stat(name, &st) == 0 && S_ISREG(st.st_mode);

    free(name);
    return is;
}

/* ---- Writing ---- */

static enum leat_status add_line(struct buffer *b, const char *name, const char *text, struct leat_error *err)
{
    enum leat_status s = buffer_append(b, name, strlen(name), err);

    s = s == LEAT_OK ? buffer_append(b, " ", 1, err) : s;
    return s == LEAT_OK ? buffer_append_line(b, text, err) : s;
}

static enum leat_status make_plan(struct buffer *b, const struct run_folder *r, struct leat_error *err)
{
    char head[160];
    int length = snprintf(head, sizeof head, "%s\nparts %u\ninputs %" PRIu64 "\nbytes %" PRIu64 "\n", first_line,
                          r->parts, r->inputs, r->bytes);
    enum leat_status s = buffer_append(b, head, (size_t)length, err);

    if (s == LEAT_OK)
        s = add_line(b, "from", r->from, err);
    for (size_t i = 0; s == LEAT_OK && i < r->count; i++)
        s = add_line(b, "word", r->words[i], err);
    return s;
}

static enum leat_status read_plan(struct buffer *b, const char *name, struct leat_error *err)
{
    uint64_t size;
    int fd = -1;
    enum leat_status s = file_open_read(&fd, &size, name, err);

    if (s == LEAT_OK && size > MAX_PLAN)
        s = status_set_in(err, LEAT_E_UNSUPPORTED, name, "%s is too large for the plan of a run", name);
    if (s == LEAT_OK)
        s = buffer_reserve(b, (size_t)size + 1, err); /* with the end of a string */
    if (s == LEAT_OK)
        s = file_read_at(fd, 0, b->bytes, size, name, err);
    file_close(&fd);
    if (s == LEAT_OK) {
        b->size = (size_t)size;
        b->bytes[b->size] = '\0';
    }
    return s;
}

static enum leat_status compare_plan(const struct run_folder *r, const char *name, const struct buffer *plan,
                                     struct leat_error *err)
{
    struct buffer there = { 0 };
    enum leat_status s = read_plan(&there, name, err);

    if (s == LEAT_OK && (there.size != plan->size || memcmp(there.bytes, plan->bytes, plan->size) != 0))
        s = status_set_in(err, LEAT_E_EXISTS, r->path,
                          "%s is the folder of another run (%s says which): choose another folder, or give the same "
                          "arguments in the same folder",
                          r->path, name);
    buffer_free(&there);
    return s;
}

enum leat_status run_folder_write(const struct run_folder *r, struct leat_error *err)
{
    char *name = run_folder_file(r->path, "");
    struct buffer plan = { 0 };
    enum leat_status s = name ? make_plan(&plan, r, err) : status_no_memory(err, strlen(r->path));

    if (s == LEAT_OK && !run_folder_is(r->path))
        s = own_file_publish(name, plan.bytes, plan.size, err);
    else if (s == LEAT_OK)
        s = LEAT_E_EXISTS;
    if (s == LEAT_E_EXISTS) /* perhaps since a moment ago */
        s = compare_plan(r, name, &plan, err);
    free(name);
    buffer_free(&plan);
    return s;
}

enum leat_status run_folder_write_split(const struct run_folder *r, const char *split, struct leat_error *err)
{
    struct run_folder inner = *r;
    char *path = path_join(r->path, split, NULL);
    enum leat_status s = LEAT_E_IO;

    inner.count = 0; /* it is no run that could be packed */
    inner.path = path ? run_folder_make(path, err) : NULL;
    if (inner.path)
        s = run_folder_write(&inner, err);
    else if (!path)
        s = status_no_memory(err, strlen(r->path));
    free(inner.path);
    free(path);
    return s;
}

enum leat_status run_folder_check_new(const struct run_folder *r, struct leat_error *err)
{
    DIR *folder = opendir(r->path);
    enum leat_status s = LEAT_OK;
    struct dirent *entry;

    if (!folder)
        return status_set_os(err, errno, r->path, "cannot read the folder %s", r->path);
    while (s == LEAT_OK && (entry = readdir(folder)))
        if (strncmp(entry->d_name, "part-", 5) == 0)
            s = status_set_in(err, LEAT_E_EXISTS, r->path,
                              "%s/%s is of another run: choose an empty folder, or remove all files of this one",
                              r->path, entry->d_name);
    closedir(folder);
    /* asked for last: another process may have planned this run since, and a part may have begun */
    return s == LEAT_OK || run_folder_is(r->path) ? LEAT_OK : s;
}

char *run_folder_make(const char *path, struct leat_error *err)
{
    char *whole;

    if (own_file_check_local(path, err) != LEAT_OK)
        return NULL;
    if (mkdir(path, 0777) != 0 && errno != EEXIST) {
        status_set_os(err, errno, path, "cannot make the folder %s", path);
        return NULL;
    }
    whole = realpath(path, NULL);
    if (!whole)
        status_set_os(err, errno, path, "cannot find the folder %s", path);
    return whole;
}

/* ---- Reading ---- */

/* Undoes the escapes, in place. */
static char *plain(char *text)
{
    char *to = text;

    for (const char *at = text; *at; at++)
        *to++ = *at == '\\' && at[1] ? (*++at == 'n' ? '\n' : *at) : *at;
    *to = '\0';
    return text;
}

static enum leat_status take_word(struct run_folder *r, const char *text, struct leat_error *err)
{
    enum leat_status s = GROW(r->words, r->count + 1, r->room, err);

    if (s != LEAT_OK)
        return s;
    r->words[r->count] = strdup(text);
    return r->words[r->count++] ? LEAT_OK : status_no_memory(err, strlen(text));
}

/* A line of a version that knows more is passed over. */
static enum leat_status take_line(struct run_folder *r, char *line, struct leat_error *err)
{
    unsigned long long number;

    if (sscanf(line, "parts %llu", &number) == 1)
        r->parts = number <= RUN_PARTS ? (unsigned)number : 0;
    else if (sscanf(line, "inputs %llu", &number) == 1)
        r->inputs = number;
    else if (sscanf(line, "bytes %llu", &number) == 1)
        r->bytes = number;
    else if (strncmp(line, "word ", 5) == 0)
        return take_word(r, plain(line + 5), err);
    else if (strncmp(line, "from ", 5) == 0 && !r->from && !(r->from = strdup(plain(line + 5))))
        return status_no_memory(err, strlen(line));
    return LEAT_OK;
}

/* Without its plan, OUT.joining, a joining cannot go on; `mark` is the file that names it. */
static enum leat_status check_joining(const char *out, const char *mark, struct leat_error *err)
{
    char plan[PATH_MAX + 16];

    snprintf(plan, sizeof plan, "%.*s.joining", PATH_MAX, out);
    if (access(plan, F_OK) == 0 || access(mark, F_OK) != 0) /* or it has ended just now */
        return LEAT_OK;
    return status_set_in(
        err, LEAT_E_NO_FILE, mark,
        "%s names a joining into %s, but %s is missing: restore it, or remove %s if all parts are still "
        "there",
        mark, out, plan, mark);
}

/* The first line of the file that a joining in place leaves; without it, nothing. */
static enum leat_status read_joining(struct run_folder *r, struct leat_error *err)
{
    char *name = run_folder_file(r->path, ".joining");
    struct buffer text = { 0 };
    enum leat_status s = !name                     ? status_no_memory(err, strlen(r->path))
                         : access(name, F_OK) == 0 ? read_plan(&text, name, err)
                                                   : LEAT_OK;

    if (s == LEAT_OK && text.bytes && !(r->joining = strndup((char *)text.bytes, strcspn((char *)text.bytes, "\n"))))
        s = status_no_memory(err, text.size);
    if (s == LEAT_E_NO_FILE) /* ended just now */
        s = LEAT_OK;
    if (s == LEAT_OK && r->joining)
        s = check_joining(r->joining, name, err);
    buffer_free(&text);
    free(name);
    return s;
}

enum leat_status run_folder_read(struct run_folder *r, const char *path, struct leat_error *err)
{
    char *name = run_folder_file(path, ""), *line, *rest;
    struct buffer plan = { 0 };
    enum leat_status s = name ? LEAT_OK : status_no_memory(err, strlen(path));

    *r = (struct run_folder) { 0 };
    if (s == LEAT_OK && !run_folder_is(path))
        s = status_set_in(err, LEAT_E_NO_FILE, path,
                          "%s is not the folder of a run: leat pack --run %s --parts N ... INPUT... makes one", path,
                          path);
    if (s == LEAT_OK && !(r->path = realpath(path, NULL)))
        s = status_set_os(err, errno, path, "cannot find the folder %s", path);
    if (s == LEAT_OK)
        s = read_plan(&plan, name, err);
    rest = s == LEAT_OK ? (char *)plan.bytes : NULL;
    line = rest ? strsep(&rest, "\n") : NULL;
    if (s == LEAT_OK && strcmp(line, first_line) != 0)
        s = status_set_in(err, LEAT_E_UNSUPPORTED, name, "%s is not the plan of a run that this version can read",
                          name);
    while (s == LEAT_OK && (line = strsep(&rest, "\n")))
        s = take_line(r, line, err);
    if (s == LEAT_OK && (r->parts < 1 || !r->from))
        s = status_set_in(
            err, LEAT_E_RECORD, name,
            "%s is damaged: it does not say how many parts the run has, or in which folder it was planned", name);
    if (s == LEAT_OK)
        s = read_joining(r, err);
    buffer_free(&plan);
    free(name);
    return s;
}

void run_folder_free(struct run_folder *r)
{
    for (size_t i = 0; i < r->count; i++)
        free(r->words[i]);
    free(r->words);
    free(r->path);
    free(r->from);
    free(r->joining);
    *r = (struct run_folder) { 0 };
}
