/*
 * join_in_place.c: see join_in_place.h.
 *
 * The tokens of joined parts are those of the parts, one after another, so nothing but the index has to be made. It
 * comes first, while all parts can be read. Then each token file is appended in steps. In each step, first its bytes
 * become durable in the new file, then the number of bytes that are there does, and only then are they freed in the
 * old one. A
 * process that is killed leaves at most a step that is done again; more than that shows a plan that is damaged or old.
 *
 * A token file is renamed before anything in it is freed: a part whose first page would still be right must not open.
 */
#include "join_in_place.h"

#include <errno.h>
#include <fcntl.h>
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
#include "base/tiny.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#define JOINING  ".joining"
#define JOIN_RUN "/leat-run"

struct joined_file {
    char *path;         /* of the part's tokens */
    uint64_t at, bytes; /* its place in the new file */
};

struct join {
    char *plan, *tokens, *index; /* OUTPUT.joining, and the dataset of that name */
    char *final_tokens, *final_index;
    struct joined_file *files;
    char **runs; /* folders of the runs whose parts these are */
    size_t count, room, run_count, run_room;
    uint64_t total, done; /* bytes; `done` are durable in their new place */
    uint64_t there;       /* bytes that were in the new file before: those after `done` are written again */
    uint64_t files_hash;  /* of the plan's lines after that with `done` */
    int fd;               /* the plan's */
    struct pace *pace;
};

/* ---- The folders of runs ---- */

/* Compares a mark that is there with what this joining would write. */
static enum leat_status check_mark(const char *mark, const char *text, struct leat_error *err)
{
    char there[PATH_MAX + 2] = "";
    uint64_t size;
    int fd = -1;
    enum leat_status s = own_file_open(&fd, &size, mark, OWN_FILE_READ, err);

    if (s == LEAT_OK && size < sizeof there)
        s = file_read_at(fd, 0, there, size, mark, err);
    file_close(&fd);
    if (s == LEAT_OK && strcmp(there, text) != 0)
        s = status_set_in(err, LEAT_E_EXISTS, mark, "%s says that the run is being joined into %.*s: end that first",
                          mark, (int)strcspn(there, "\n"), there);
    return s;
}

static enum leat_status join_runs_mark(char *const *runs, size_t count, const char *plan, struct leat_error *err)
{
    char *whole = realpath(plan, NULL), *text;
    enum leat_status s = whole ? LEAT_OK : status_set_os(err, errno, plan, "cannot find %s", plan);

    text = whole ? path_append(whole, strlen(whole) - strlen(".joining"), "\n", NULL) : NULL;
    for (size_t i = 0; s == LEAT_OK && i < count; i++) {
        char *run = path_append(runs[i], strlen(runs[i]), JOIN_RUN, NULL);
        char *mark = path_append(runs[i], strlen(runs[i]), JOIN_RUN, ".joining", NULL);

        if (!text || !run || !mark)
            s = status_no_memory(err, strlen(whole));
        else if (access(run, F_OK) == 0) /* else it is removed already */
            s = own_file_publish(mark, text, strlen(text), err);
        if (s == LEAT_E_EXISTS)
            s = check_mark(mark, text, err);
        free(run);
        free(mark);
    }
    free(whole);
    free(text);
    return s;
}

static enum leat_status join_runs_forget(char *const *runs, size_t count, struct leat_error *err)
{
    static const char *const suffixes[] = { "", ".inputs", ".joining", ".joining.partial" };
    size_t each = sizeof suffixes / sizeof *suffixes;
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < count * each; i++) {
        const char *folder = runs[i / each];
        char *file = path_append(folder, strlen(folder), JOIN_RUN, suffixes[i % each], NULL);

        s = file ? file_remove(file, err) : status_no_memory(err, strlen(folder));
        if (s == LEAT_OK)
            s = file_sync_folder(file, err);
        free(file);
    }
    return s;
}

/* ---- The plan ---- */

/*
 * A line `done` of fixed length, with its check, which also covers all lines after it: one for each file of tokens, and
 * for each folder of a run.
 */

#define FIRST_LINE "leat joining 1\n"
#define DONE_AT    (sizeof FIRST_LINE - 1)
#define DONE_BYTES 49u
#define FILES_AT   (DONE_AT + DONE_BYTES)
#define LAST_LINE  "end\n"
#define RUN_LINE   "run "
#define MAX_PLAN   ((uint64_t)1 << 30)

char *join_plan_name(const char *output)
{
    return path_append(output, file_dataset_length(output, strlen(output)), JOINING, NULL);
}

/* ---- What can be joined ---- */

static enum leat_status refuse(const char *name, const char *why, struct leat_error *err)
{
    return status_set_in(err, LEAT_E_UNSUPPORTED, name, "%.300s cannot be joined in place: %s; merge without that",
                         name, why);
}

/* Whether a file of an earlier joining lies there, which this one would take for its own. */
static bool has_leftover(const char *name, size_t length, const char *suffix)
{
    char *path = path_append(name, length, JOINING, suffix, NULL);
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
        return status_set_os(err, errno, p->token_path, "cannot find %s", p->token_path);
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
        return status_set_os(err, errno, p->token_path, "cannot find %s", p->token_path);
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
    return access(p->token_path, W_OK) == 0
               ? LEAT_OK
               : status_set_os(err, errno, p->token_path, "cannot write to %s", p->token_path);
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
        s = status_set_in(err, LEAT_E_EXISTS, output, "%s.joining.tokens exists, of an earlier joining: move it away",
                          output);
    if (s == LEAT_OK && stat(folder, &st) != 0)
        s = status_set_os(err, errno, folder, "cannot find the folder %s", folder);
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
    char *folder = file_folder(whole), *run = folder ? path_append(folder, strlen(folder), JOIN_RUN, NULL) : NULL;
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
        return status_set_os(err, errno, p->token_path, "cannot find %s", p->token_path);
    snprintf(head, sizeof head, "tokens %" PRIu64 " ", p->tokens * width);
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

static enum leat_status join_plan_damaged(const struct join *j, struct leat_error *err)
{
    return status_set_in(err, LEAT_E_RECORD, j->plan,
                         "%s, the plan of a joining, is damaged: keep %s* and the files of the parts, and restore the "
                         "plan as it was last; or pack the parts again",
                         j->plan, j->plan);
}

static enum leat_status take_run(struct join *j, const char *folder, struct leat_error *err)
{
    enum leat_status s = GROW(j->runs, j->run_count + 1, j->run_room, err);

    if (s != LEAT_OK)
        return s;
    j->runs[j->run_count] = strdup(folder);
    return j->runs[j->run_count++] ? LEAT_OK : status_no_memory(err, strlen(folder));
}

static enum leat_status take_line(struct join *j, char *line, struct leat_error *err)
{
    unsigned long long bytes;
    enum leat_status s;
    int length = 0;

    if (strncmp(line, RUN_LINE, strlen(RUN_LINE)) == 0)
        return take_run(j, line + strlen(RUN_LINE), err);
    if (sscanf(line, "tokens %llu %n", &bytes, &length) != 1 || length == 0 || !line[length] ||
        bytes > (uint64_t)1 << 62 || j->total > (uint64_t)1 << 62)
        return join_plan_damaged(j, err);
    s = GROW(j->files, j->count + 1, j->room, err);
    if (s != LEAT_OK)
        return s;
    j->files[j->count] = (struct joined_file) { strdup(line + length), j->total, bytes };
    j->total += bytes;
    return j->files[j->count++].path ? LEAT_OK : status_no_memory(err, strlen(line));
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

static enum leat_status join_plan_read(struct join *j, struct leat_error *err)
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

static enum leat_status join_plan_set_done(struct join *j, uint64_t done, struct leat_error *err)
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

static void join_plan_free(struct join *j)
{
    file_close(&j->fd);
    for (size_t i = 0; i < j->count; i++)
        free(j->files[i].path);
    free(j->files);
    for (size_t i = 0; i < j->run_count; i++)
        free(j->runs[i]);
    free(j->runs);
}

/* ---- Joining ---- */

#define CHUNK_BYTES TINY_OR((size_t)64, (size_t)1 << 20)
#define STEP_BYTES  TINY_OR((uint64_t)160, (uint64_t)256 << 20) /* between two frees: a sync of each file */
#define FREED_BYTES ((uint64_t)4096)

enum leat_status join_in_place_lock(struct join_lock *lock, const char *output, bool *began, struct leat_error *err)
{
    char *name = join_plan_name(output);
    struct file_identity plan = { .exists = false };
    enum leat_status s = name ? LEAT_OK : status_no_memory(err, strlen(output));

    /* that of a writer of the dataset */
    *lock = (struct join_lock) { .fd = -1 };
    lock->path = path_append(output, file_dataset_length(output, strlen(output)), ".partial", ".lock", NULL);
    if (s == LEAT_OK)
        s = lock->path ? own_file_begin(&lock->fd, lock->path, err) : status_no_memory(err, strlen(output));
    if (s == LEAT_OK)
        s = file_identify(name, &plan, err);
    *began = s == LEAT_OK && plan.exists;
    free(name);
    return s;
}

void join_in_place_unlock(struct join_lock *lock)
{
    if (lock->fd >= 0)
        (void)file_remove(lock->path, NULL);
    file_close(&lock->fd);
    free(lock->path);
}

/* ---- Appending ---- */

static enum leat_status is_there(const char *path, bool *there, struct leat_error *err)
{
    struct file_identity file;
    enum leat_status s = file_identify(path, &file, err);

    *there = s == LEAT_OK && file.exists;
    return s;
}

/* Whether a file has its new name, too, or that alone; LEAT_E_EXISTS if another file has it. */
static enum leat_status is_ours(const char *from, const char *to, bool *there, struct leat_error *err)
{
    struct file_identity old, new;
    enum leat_status s = file_identify(from, &old, err);

    if (s == LEAT_OK)
        s = file_identify(to, &new, err);
    *there = s == LEAT_OK && new.exists;
    if (s == LEAT_OK && old.exists && new.exists && !file_same(old, new))
        return status_set_in(err, LEAT_E_EXISTS, to,
                             "%s is another file than %s, which is to get this name: move it away, and start again", to,
                             from);
    return s;
}

/*
 * Gives a file another name, durably. It has both until the new one is durable: what is moved between two folders may
 * be in none of them after a power cut, by what POSIX says. A process that was killed may have come as far.
 */
static enum leat_status move(const char *from, const char *to, struct leat_error *err)
{
    bool there;
    enum leat_status s = is_ours(from, to, &there, err);

    if (s == LEAT_OK && !there && file_link(from, to) != 0) /* not every file system has second names */
        s = file_rename(from, to, false, err);
    if (s == LEAT_OK)
        s = file_sync_folder(to, err);
    if (s == LEAT_OK)
        s = file_remove(from, err);
    return s == LEAT_OK ? file_sync_folder(from, err) : s;
}

/* The first file gets the new name. */
static enum leat_status take_first(struct join *j, struct leat_error *err)
{
    enum leat_status s = move(j->files[0].path, j->tokens, err);

    return s == LEAT_OK ? join_plan_set_done(j, j->files[0].bytes, err) : s;
}

/* A plan that is older than the files leads to bytes that are freed already, which read as zeros: they must not replace
 * those that are in their place. */
static enum leat_status check_not_freed(const struct join *j, int to_fd, const uint8_t *chunk, uint64_t at,
                                        uint64_t here, struct leat_error *err)
{
    uint64_t end = j->there - at < here ? j->there - at : here;
    enum leat_status s = LEAT_OK;
    uint8_t there[256];

    for (uint64_t i = 0; i < end; i++)
        if (chunk[i] != 0)
            return LEAT_OK;
    for (uint64_t i = 0; s == LEAT_OK && i < end; i += sizeof there) {
        uint64_t count = end - i < sizeof there ? end - i : sizeof there;

        s = file_read_at(to_fd, at + i, there, count, j->tokens, err);
        if (s == LEAT_OK && memcmp(there, chunk + i, count) != 0)
            s = join_plan_damaged(j, err);
    }
    return s;
}

/* A file that is being appended. */
struct appended {
    const struct joined_file *file;
    const char *path;
    int fd;
    uint8_t *chunk; /* room for what is read at once */
};

/* Appends bytes of a file, up to place `to` of the new one. */
static enum leat_status append_step(struct join *j, int to_fd, const struct appended *a, uint64_t to,
                                    struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (uint64_t at = j->done; s == LEAT_OK && at < to;) {
        uint64_t here = to - at < CHUNK_BYTES ? to - at : CHUNK_BYTES;

        s = file_read_at(a->fd, at - a->file->at, a->chunk, here, a->path, err);
        if (s == LEAT_OK && at < j->there)
            s = check_not_freed(j, to_fd, a->chunk, at, here, err);
        if (s == LEAT_OK)
            s = file_write_at(to_fd, at, a->chunk, here, j->tokens, err);
        if (s == LEAT_OK)
            s = pace_step(j->pace, here, err);
        at += here;
    }
    if (s == LEAT_OK)
        s = file_sync(to_fd, j->tokens, err);
    return s == LEAT_OK ? join_plan_set_done(j, to, err) : s;
}

/* Frees what has been appended; if it cannot be done, the file is removed at its end. */
static void free_front(int fd, uint64_t bytes)
{
#ifdef FALLOC_FL_PUNCH_HOLE
    if (bytes >= FREED_BYTES)
        (void)!fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)(bytes / FREED_BYTES * FREED_BYTES));
#else
    (void)fd;
    (void)bytes;
#endif
}

static enum leat_status append_open(struct join *j, int to_fd, struct appended *a, struct leat_error *err)
{
    uint64_t end = a->file->at + a->file->bytes;
    enum leat_status s = LEAT_OK;

    a->chunk = file_buffer(CHUNK_BYTES);
    if (!a->chunk)
        return status_no_memory(err, CHUNK_BYTES);
    while (s == LEAT_OK && j->done < end) {
        uint64_t left = end - j->done;

        s = append_step(j, to_fd, a, j->done + (left < STEP_BYTES ? left : STEP_BYTES), err);
        if (s == LEAT_OK)
            free_front(a->fd, j->done - a->file->at);
    }
    free(a->chunk);
    return s;
}

/* Appends a file, or what is left of it, and removes it. */
static enum leat_status append_file(struct join *j, int to_fd, const struct joined_file *f, struct leat_error *err)
{
    char *path = path_append(f->path, strlen(f->path), JOINING, NULL);
    bool left = j->done < f->at + f->bytes;
    uint64_t size = 0;
    int fd = -1;
    enum leat_status s = path ? LEAT_OK : status_no_memory(err, strlen(f->path));

    if (s == LEAT_OK && left)
        s = move(f->path, path, err);
    if (s == LEAT_OK && left)
        s = own_file_open(&fd, &size, path, OWN_FILE_WRITE, err);
    if (s == LEAT_OK && left && size != f->bytes)
        s = status_set_in(err, LEAT_E_TRUNCATED, path,
                          "%s has %" PRIu64 " bytes, but had %" PRIu64 " when joining began", path, size, f->bytes);
    if (s == LEAT_OK && left)
        s = append_open(j, to_fd, &(struct appended) { .file = f, .path = path, .fd = fd }, err);
    file_close(&fd);
    if (s == LEAT_OK && f->bytes == 0) /* it was not renamed */
        s = file_remove(f->path, err);
    if (s == LEAT_OK)
        s = file_remove(path, err);
    if (s == LEAT_OK) /* once the output has its name, nobody looks for it any more */
        s = file_sync_folder(path, err);
    free(path);
    return s;
}

static enum leat_status append_all(struct join *j, struct leat_error *err)
{
    int fd = -1;
    enum leat_status s = j->done == 0 ? take_first(j, err) : LEAT_OK;

    if (s == LEAT_OK)
        s = own_file_open(&fd, &j->there, j->tokens, OWN_FILE_WRITE, err);
    if (s == LEAT_OK && j->there < j->done)
        s = status_set_in(err, LEAT_E_TRUNCATED, j->tokens,
                          "%s has %" PRIu64 " bytes, but %" PRIu64
                          " were there when joining stopped: restore it, or pack the parts "
                          "again",
                          j->tokens, j->there, j->done);
    if (s == LEAT_OK && (j->there > j->total || j->there - j->done > STEP_BYTES))
        s = join_plan_damaged(j, err); /* no more than a step is written before the plan says so */
    j->pace->done = j->done;
    for (size_t i = 1; s == LEAT_OK && i < j->count; i++)
        s = append_file(j, fd, &j->files[i], err);
    if (s == LEAT_OK)
        s = file_sync(fd, j->tokens, err);
    file_close(&fd);
    return s;
}

/* ---- The end ---- */

/* Looks at the sizes, the index, and the first and last page. */
static enum leat_status look_at(const char *index, struct leat_info *info, struct leat_error *err)
{
    struct leat_dataset *d;
    enum leat_status s = leat_dataset_open(&d, index, NULL, err);

    if (s == LEAT_OK && info)
        leat_dataset_info(d, info);
    if (s == LEAT_OK)
        leat_dataset_close(d);
    return s;
}

/* Tokens first, the index last. */
static enum leat_status give_names(struct join *j, struct leat_error *err)
{
    bool there;
    enum leat_status s = is_there(j->tokens, &there, err);

    if (s == LEAT_OK && there)
        s = look_at(j->index, NULL, err);
    if (s == LEAT_OK && there)
        s = move(j->tokens, j->final_tokens, err);
    return s == LEAT_OK ? move(j->index, j->final_index, err) : s;
}

/* A process that was killed while it gave the plan its name may have left it with both (file_rename()). */
static enum leat_status remove_plan(struct join *j, struct leat_error *err)
{
    char *partial = path_append(j->plan, strlen(j->plan), ".partial", NULL);
    enum leat_status s = partial ? file_remove(partial, err) : status_no_memory(err, strlen(j->plan));

    free(partial);
    return s == LEAT_OK ? file_remove(j->plan, err) : s;
}

/* What a process left that was killed while it packed a finished part again. Elsewhere NAME.beat is not a run's. */
static enum leat_status remove_beat(const struct join *j, const char *path, struct leat_error *err)
{
    const char *slash = strrchr(path, '/');
    size_t folder = slash ? (size_t)(slash - path) : 0;
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < j->run_count; i++) {
        char *beat = path_append(path, file_dataset_length(path, strlen(path)), ".beat", NULL);

        if (!beat)
            s = status_no_memory(err, strlen(path));
        else if (strlen(j->runs[i]) == folder && strncmp(j->runs[i], path, folder) == 0)
            s = file_remove(beat, err);
        free(beat);
    }
    return s;
}

static enum leat_status remove_indexes(struct join *j, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < j->count; i++) {
        const char *path = j->files[i].path;
        char *index = path_append(path, file_dataset_length(path, strlen(path)), ".leat", NULL);

        s = index ? file_remove(index, err) : status_no_memory(err, strlen(path));
        free(index);
        if (s == LEAT_OK)
            s = remove_beat(j, path, err);
    }
    if (s == LEAT_OK)
        s = file_sync_folder(j->files[0].path, err);
    if (s == LEAT_OK)
        s = join_runs_forget(j->runs, j->run_count, err);
    return s == LEAT_OK ? remove_plan(j, err) : s;
}

static enum leat_status go_on(struct join *j, struct leat_info *info, struct leat_error *err)
{
    bool indexed, named;
    enum leat_status s = join_plan_read(j, err);

    j->pace->total = j->total;
    if (s == LEAT_OK)
        s = is_there(j->index, &indexed, err);
    if (s == LEAT_OK)
        s = is_ours(j->tokens, j->final_tokens, &named, err);
    if (s == LEAT_OK)
        s = join_runs_mark(j->runs, j->run_count, j->plan, err);
    if (s == LEAT_OK && indexed && !named)
        s = append_all(j, err);
    if (s == LEAT_OK && indexed)
        s = give_names(j, err);
    if (s == LEAT_OK)
        s = look_at(j->final_index, info, err);
    return s == LEAT_OK ? remove_indexes(j, err) : s;
}

enum leat_status join_in_place_go_on(const char *output, struct pace *pace, struct leat_info *info, uint64_t *parts,
                                     struct leat_error *err)
{
    size_t length = file_dataset_length(output, strlen(output));
    struct join j = { .plan = path_append(output, length, JOINING, NULL),
                      .tokens = path_append(output, length, JOINING, ".tokens", NULL),
                      .index = path_append(output, length, JOINING, ".leat", NULL),
                      .final_tokens = path_append(output, length, ".tokens", NULL),
                      .final_index = path_append(output, length, ".leat", NULL),
                      .fd = -1,
                      .pace = pace };
    enum leat_status s = j.plan && j.tokens && j.index && j.final_tokens && j.final_index
                             ? go_on(&j, info, err)
                             : status_no_memory(err, length);

    *parts = j.count;
    join_plan_free(&j);
    free(j.plan);
    free(j.tokens);
    free(j.index);
    free(j.final_tokens);
    free(j.final_index);
    return s;
}
