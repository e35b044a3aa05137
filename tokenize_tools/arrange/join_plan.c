/*
 * join_plan.c: see join_plan.h.
 *
 * A line `done` of fixed length, with its check, which also covers all lines after it: one for each file of tokens, and
 * for each folder of a run.
 */
#include "join_plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/own_file.h"
#include "base/status.h"
#include "join_runs.h"

#define FIRST_LINE "leat joining 1\n"
#define DONE_AT    (sizeof FIRST_LINE - 1)
#define DONE_BYTES 49u
#define FILES_AT   (DONE_AT + DONE_BYTES)
#define LAST_LINE  "end\n"
#define RUN_LINE   "run "
#define MAX_PLAN   ((uint64_t)1 << 30)

char *join_plan_name(const char *output)
{
    return join_name(output, file_dataset_length(output, strlen(output)), JOINING, "");
}

/* ---- What can be joined ---- */

static enum leat_status refuse(const char *name, const char *why, struct leat_error *err)
{
    return status_set(err, LEAT_E_UNSUPPORTED, "%.300s cannot be joined in place: %s; merge without that", name, why);
}

/* Whether a file of an earlier joining lies there, which this one would take for its own. */
static bool has_leftover(const char *name, size_t length, const char *suffix)
{
    char *path = join_name(name, length, JOINING, suffix);
    bool there = !path || access(path, F_OK) == 0;

    free(path);
    return there;
}

/* The plan has a line for each file, with its whole path. */
static enum leat_status check_line_breaks(const struct leat_part *p, struct leat_error *err)
{
    char *whole = realpath(p->token_path, NULL);
    enum leat_status s = LEAT_OK;

    if (!whole)
        return status_set_os(err, errno, "cannot find %s", p->token_path);
    if (strchr(whole, '\n'))
        s = refuse(p->name, "its name, or that of a folder that it is in, has a line break", err);
    free(whole);
    return s;
}

static enum leat_status check_one(const struct leat_part *p, dev_t device, uint32_t width, struct leat_error *err)
{
    enum leat_status s;
    struct stat st;

    if (own_file_is_url(p->token_path))
        return refuse(p->name, "it is on a server", err);
    if (!file_ends_with(p->token_path, strlen(p->token_path), ".tokens"))
        return refuse(p->name, "its tokens are in a file of another tool", err);
    if (lstat(p->token_path, &st) != 0)
        return status_set_os(err, errno, "cannot find %s", p->token_path);
    if (!S_ISREG(st.st_mode) || st.st_nlink != 1)
        return refuse(p->name, "its tokens have a second name, or are a symbolic link", err);
    if (st.st_dev != device)
        return refuse(p->name, "it is on another disk than the output", err);
    if ((uint64_t)st.st_size != p->tokens * width)
        return refuse(p->name, "its token file has another size than its index says", err);
    s = check_line_breaks(p, err);
    if (s != LEAT_OK)
        return s;
    if (has_leftover(p->token_path, strlen(p->token_path), ""))
        return refuse(p->name, "an earlier joining has left a file .tokens.joining beside it, which is in the way",
                      err);
    return access(p->token_path, W_OK) == 0 ? LEAT_OK : status_set_os(err, errno, "cannot write to %s", p->token_path);
}

static enum leat_status each_part(const struct merge_parts *parts, size_t i, struct leat_part *p,
                                  struct leat_error *err)
{
    uint64_t number = 0;

    while (i > number && parts->items[i - 1 - number].dataset == parts->items[i].dataset)
        number++;
    *p = (struct leat_part)LEAT_PART_INIT;
    return leat_dataset_part(parts->items[i].dataset, number, p, err);
}

enum leat_status join_plan_check(const char *output, const struct merge_parts *parts, struct leat_error *err)
{
    char *folder = file_folder(output);
    struct stat st;
    enum leat_status s = folder ? LEAT_OK : status_no_memory(err, strlen(output));

    if (s == LEAT_OK && (parts->shares.of || parts->items[0].shares.of == 0))
        s = refuse(parts->items[0].name, "only all parts of one run are, in their order", err);
    if (s == LEAT_OK && has_leftover(output, file_dataset_length(output, strlen(output)), ".tokens"))
        s = status_set(err, LEAT_E_EXISTS, "%s.joining.tokens exists, of an earlier joining: move it away", output);
    if (s == LEAT_OK && stat(folder, &st) != 0)
        s = status_set_os(err, errno, "cannot find the folder %s", folder);
    for (size_t i = 0; s == LEAT_OK && i < parts->count; i++) {
        struct leat_part p;

        s = each_part(parts, i, &p, err);
        if (s == LEAT_OK)
            s = check_one(&p, st.st_dev, parts->first.token_width, err);
    }
    free(folder);
    return s;
}

/* ---- The plan ---- */

/* DONE_BYTES, and their end. The check is of the number and of all lines after it. */
static void print_done(char *line, uint64_t done, uint64_t files_hash)
{
    char number[32];

    snprintf(number, sizeof number, "done %020llu", (unsigned long long)done);
    snprintf(line, DONE_BYTES + 1, "%.25s check %016llx\n", number,
             (unsigned long long)XXH3_64bits_withSeed(number, strlen(number), files_hash));
}

/* The folder of the part, if it is a run's and not that of the part before. */
static enum leat_status add_run(struct buffer *b, const char *whole, char **before, struct leat_error *err)
{
    char *folder = file_folder(whole), *run = folder ? join_name(folder, strlen(folder), JOIN_RUN, "") : NULL;
    enum leat_status s = run ? LEAT_OK : status_no_memory(err, strlen(whole));

    if (s == LEAT_OK && !(*before && strcmp(*before, folder) == 0) && access(run, F_OK) == 0) {
        s = buffer_append(b, RUN_LINE, strlen(RUN_LINE), err);
        if (s == LEAT_OK)
            s = buffer_append(b, folder, strlen(folder), err);
        if (s == LEAT_OK)
            s = buffer_append(b, "\n", 1, err);
    }
    free(run);
    free(*before);
    *before = folder;
    return s;
}

static enum leat_status add_file(struct buffer *b, const struct leat_part *p, uint32_t width, char **before,
                                 struct leat_error *err)
{
    char *whole = realpath(p->token_path, NULL), head[64];
    enum leat_status s;

    if (!whole)
        return status_set_os(err, errno, "cannot find %s", p->token_path);
    snprintf(head, sizeof head, "tokens %llu ", (unsigned long long)(p->tokens * width));
    s = add_run(b, whole, before, err);
    if (s == LEAT_OK)
        s = buffer_append(b, head, strlen(head), err);
    if (s == LEAT_OK)
        s = buffer_append(b, whole, strlen(whole), err);
    free(whole);
    return s == LEAT_OK ? buffer_append(b, "\n", 1, err) : s;
}

enum leat_status join_plan_write(const char *output, const struct merge_parts *parts, struct leat_error *err)
{
    char *name = join_plan_name(output), *folder = NULL, line[DONE_BYTES + 1] = "";
    struct buffer b = { 0 };
    enum leat_status s = name ? LEAT_OK : status_no_memory(err, strlen(output));

    if (s == LEAT_OK)
        s = buffer_append(&b, FIRST_LINE, DONE_AT, err);
    if (s == LEAT_OK)
        s = buffer_append(&b, line, DONE_BYTES, err); /* its check is known in the end */
    for (size_t i = 0; s == LEAT_OK && i < parts->count; i++) {
        struct leat_part p;

        s = each_part(parts, i, &p, err);
        if (s == LEAT_OK)
            s = add_file(&b, &p, parts->first.token_width, &folder, err);
    }
    if (s == LEAT_OK)
        s = buffer_append(&b, LAST_LINE, sizeof LAST_LINE - 1, err);
    if (s == LEAT_OK) {
        print_done(line, 0, XXH3_64bits(b.bytes + FILES_AT, b.size - FILES_AT));
        memcpy(b.bytes + DONE_AT, line, DONE_BYTES);
        s = file_sync_folder(name, err); /* with a plan, nobody looks for what the index was made of any more */
    }
    if (s == LEAT_OK)
        s = own_file_publish(name, b.bytes, b.size, err);
    buffer_free(&b);
    free(folder);
    free(name);
    return s;
}

enum leat_status join_plan_damaged(const struct join *j, struct leat_error *err)
{
    return status_set(err, LEAT_E_RECORD,
                      "%s, the plan of a joining, is damaged: keep %s* and the files of the parts, and restore the "
                      "plan as it was last; or pack the parts again",
                      j->plan, j->plan);
}

static enum leat_status take_run(struct join *j, const char *folder, struct leat_error *err)
{
    char **runs = realloc(j->runs, (j->run_count + 1) * sizeof *runs);

    if (!runs)
        return status_no_memory(err, (j->run_count + 1) * sizeof *runs);
    j->runs = runs;
    runs[j->run_count] = strdup(folder);
    return runs[j->run_count++] ? LEAT_OK : status_no_memory(err, strlen(folder));
}

static enum leat_status take_line(struct join *j, char *line, struct leat_error *err)
{
    unsigned long long bytes;
    int length = 0;
    struct joined_file *files;

    if (strncmp(line, RUN_LINE, strlen(RUN_LINE)) == 0)
        return take_run(j, line + strlen(RUN_LINE), err);
    if (sscanf(line, "tokens %llu %n", &bytes, &length) != 1 || length == 0 || !line[length] ||
        bytes > (uint64_t)1 << 62 || j->total > (uint64_t)1 << 62)
        return join_plan_damaged(j, err);
    files = realloc(j->files, (j->count + 1) * sizeof *files);
    if (!files)
        return status_no_memory(err, (j->count + 1) * sizeof *files);
    j->files = files;
    files[j->count] = (struct joined_file) { strdup(line + length), j->total, bytes };
    j->total += bytes;
    return files[j->count++].path ? LEAT_OK : status_no_memory(err, strlen(line));
}

/* Takes the number of bytes that are done, if its line is what this program writes. */
static bool take_done(struct join *j, const char *text, uint64_t size)
{
    char line[DONE_BYTES + 1];
    unsigned long long done;

    if (size < FILES_AT || strncmp(text, FIRST_LINE, DONE_AT) != 0 || sscanf(text + DONE_AT, "done %20llu", &done) != 1)
        return false;
    j->done = done;
    j->files_hash = XXH3_64bits(text + FILES_AT, size - FILES_AT);
    print_done(line, done, j->files_hash);
    return memcmp(text + DONE_AT, line, DONE_BYTES) == 0;
}

enum leat_status join_plan_read(struct join *j, struct leat_error *err)
{
    struct buffer b = { 0 };
    uint64_t size;
    char *rest, *line;
    enum leat_status s = own_file_open(&j->fd, &size, j->plan, OWN_FILE_LOCK, err);

    if (s == LEAT_OK && size > MAX_PLAN)
        s = join_plan_damaged(j, err);
    if (s == LEAT_OK)
        s = buffer_reserve(&b, (size_t)size + 1, err);
    if (s == LEAT_OK)
        s = file_read_at(j->fd, 0, b.bytes, size, j->plan, err);
    if (s == LEAT_OK) {
        b.bytes[size] = '\0';
        s = take_done(j, (char *)b.bytes, size) ? LEAT_OK : join_plan_damaged(j, err);
    }
    rest = s == LEAT_OK ? (char *)b.bytes + FILES_AT : NULL;
    while (s == LEAT_OK && (line = strsep(&rest, "\n")) && strcmp(line, "end") != 0)
        s = take_line(j, line, err);
    if (s == LEAT_OK && (!rest || j->count == 0 || j->done > j->total))
        s = join_plan_damaged(j, err);
    buffer_free(&b);
    return s;
}

enum leat_status join_plan_set_done(struct join *j, uint64_t done, struct leat_error *err)
{
    char text[DONE_BYTES + 1];
    enum leat_status s;

    print_done(text, done, j->files_hash);
    s = file_write_at(j->fd, DONE_AT, text, DONE_BYTES, j->plan, err);
    if (s == LEAT_OK)
        s = file_sync(j->fd, j->plan, err);
    if (s == LEAT_OK)
        j->done = done;
    return s;
}

void join_plan_free(struct join *j)
{
    file_close(&j->fd);
    for (size_t i = 0; i < j->count; i++)
        free(j->files[i].path);
    free(j->files);
    for (size_t i = 0; i < j->run_count; i++)
        free(j->runs[i]);
    free(j->runs);
}
