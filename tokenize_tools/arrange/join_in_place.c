/*
 * join_in_place.c: see join_in_place.h.
 *
 * The tokens of joined parts are those of the parts, one after another, so nothing but the index has to be made. It
 * comes first, while all parts can be read. Then each token file is appended in steps. Of a step, first its bytes are
 * durable in the new file, then the number of bytes that are there is, and only then they are freed in the old one. A
 * process that is killed leaves at most a step that is done again; more than that shows a plan that is damaged or old.
 *
 * A token file is renamed before anything in it is freed: a part whose first page would still be right must not open.
 */
#include "join_in_place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/own_file.h"
#include "base/status.h"
#include "base/tiny.h"
#include "join_plan.h"
#include "join_runs.h"

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
    lock->path = join_name(output, file_dataset_length(output, strlen(output)), ".partial", ".lock");
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
        return status_set(err, LEAT_E_EXISTS,
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

/* Appends bytes [from, to) of a file; it is in `chunk`'s hands how many at once. */
static enum leat_status append_step(struct join *j, int to_fd, const struct joined_file *f, int from_fd,
                                    const char *path, uint64_t to, uint8_t *chunk, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (uint64_t at = j->done; s == LEAT_OK && at < to;) {
        uint64_t here = to - at < CHUNK_BYTES ? to - at : CHUNK_BYTES;

        s = file_read_at(from_fd, at - f->at, chunk, here, path, err);
        if (s == LEAT_OK && at < j->there)
            s = check_not_freed(j, to_fd, chunk, at, here, err);
        if (s == LEAT_OK)
            s = file_write_at(to_fd, at, chunk, here, j->tokens, err);
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

static enum leat_status append_open(struct join *j, int to_fd, const struct joined_file *f, int from_fd,
                                    const char *path, struct leat_error *err)
{
    uint8_t *chunk = file_buffer(CHUNK_BYTES);
    enum leat_status s = chunk ? LEAT_OK : status_no_memory(err, CHUNK_BYTES);

    while (s == LEAT_OK && j->done < f->at + f->bytes) {
        uint64_t left = f->at + f->bytes - j->done;

        s = append_step(j, to_fd, f, from_fd, path, j->done + (left < STEP_BYTES ? left : STEP_BYTES), chunk, err);
        if (s == LEAT_OK)
            free_front(from_fd, j->done - f->at);
    }
    free(chunk);
    return s;
}

/* Appends a file, or what is left of it, and removes it. */
static enum leat_status append_file(struct join *j, int to_fd, const struct joined_file *f, struct leat_error *err)
{
    char *path = join_name(f->path, strlen(f->path), JOINING, "");
    bool left = j->done < f->at + f->bytes;
    uint64_t size = 0;
    int fd = -1;
    enum leat_status s = path ? LEAT_OK : status_no_memory(err, strlen(f->path));

    if (s == LEAT_OK && left)
        s = move(f->path, path, err);
    if (s == LEAT_OK && left)
        s = own_file_open(&fd, &size, path, OWN_FILE_WRITE, err);
    if (s == LEAT_OK && left && size != f->bytes)
        s = status_set(err, LEAT_E_TRUNCATED, "%s has %llu bytes, but had %llu when joining began", path,
                       (unsigned long long)size, (unsigned long long)f->bytes);
    if (s == LEAT_OK && left)
        s = append_open(j, to_fd, f, fd, path, err);
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
        s = status_set(err, LEAT_E_TRUNCATED,
                       "%s has %llu bytes, but %llu were there when joining stopped: restore it, or pack the parts "
                       "again",
                       j->tokens, (unsigned long long)j->there, (unsigned long long)j->done);
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
    char *partial = join_name(j->plan, strlen(j->plan), ".partial", "");
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
        char *beat = join_name(path, file_dataset_length(path, strlen(path)), ".beat", "");

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
        char *index = join_name(path, file_dataset_length(path, strlen(path)), ".leat", "");

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
    struct join j = { .plan = join_name(output, length, JOINING, ""),
                      .tokens = join_name(output, length, JOINING, ".tokens"),
                      .index = join_name(output, length, JOINING, ".leat"),
                      .final_tokens = join_name(output, length, ".tokens", ""),
                      .final_index = join_name(output, length, ".leat", ""),
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
