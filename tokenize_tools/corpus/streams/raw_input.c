/* raw_input.c: waits for pipes, retries reads of files, and fills a buffer. */
#include "raw_input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mounts.h"
#include "base/status.h"
#include "base/tiny.h"

/* ---- Waiting ----------------------------------------------------------------------------------------------------- */

#define WAIT_MS   100
#define SELDOM_NS ((uint64_t)100000000)

enum leat_status input_wait_read(const struct input_source *from, void *out, size_t room, size_t *got,
                                 struct leat_error *err)
{
    const struct input_stop *stop = from->stop;
    bool wait = stop; /* a read that nothing can stop may wait by itself */

    *got = 0;
    for (;;) {
        struct pollfd p = { .fd = from->fd, .events = POLLIN };
        ssize_t count;

        if (stop && stop->asked(stop->context))
            return status_set(err, LEAT_E_STOPPED, "reading %s was stopped", from->name);
        if (wait && poll(&p, 1, WAIT_MS) == 0)
            continue;
        count = read(from->fd, out, room);
        if (count >= 0) {
            *got = (size_t)count;
            return LEAT_OK;
        }
        if (errno != EINTR && errno != EAGAIN)
            return status_set_os(err, errno, from->name, "cannot read %s", from->name);
        wait = wait || errno == EAGAIN; /* the descriptor is set not to wait */
    }
}

/* ---- Trying again ------------------------------------------------------------------------------------------------ */

static enum leat_status read_some_at(const struct input_file *f, uint64_t offset, void *out, size_t room, size_t *got,
                                     struct leat_error *err)
{
    ssize_t count;

    do
        count = pread(f->fd, out, room, (off_t)offset);
    while (count < 0 && errno == EINTR);
    if (count < 0)
        return status_set_os(err, errno, f->name, "cannot read %s", f->name);
    *got = (size_t)count;
    return LEAT_OK;
}

/* The state of retries, as for calls on a dataset's files (base/mounts.h); opened when a call fails. */
struct again {
    struct mounts mounts;
    struct mounts_tries tries;
    const struct input_stop *stop;
    bool opened, told;
};

static uint32_t is_stopped(void *context, const char *why)
{
    struct again *a = context;

    if (a->stop->waits && !a->told)
        a->stop->waits(a->stop->context, why);
    a->told = true;
    return a->stop->asked(a->stop->context);
}

/* Waits, and returns true, if a call that failed is to be made again. */
static bool try_again(struct again *a, bool remote, const struct input_stop *stop, enum leat_status *s,
                      struct leat_error *why)
{
    struct leat_open_options how = LEAT_OPEN_OPTIONS_INIT;

    if (stop && stop->asked) {
        how.waiting = is_stopped;
        how.waiting_context = a;
        a->stop = stop;
    }
    if (!a->opened)
        mounts_open(&a->mounts, &how);
    a->opened = true;
    return mounts_again(&a->mounts, &a->tries, remote, s, why);
}

static enum leat_status end_tries(struct again *a, enum leat_status s, const struct leat_error *why,
                                  struct leat_error *err)
{
    if (a->opened)
        mounts_close(&a->mounts);
    if (s != LEAT_OK && err)
        *err = *why;
    return s;
}

/* Opens the file again, and keeps the number of its descriptor, which others may have. */
static enum leat_status open_again(const struct input_file *f, struct leat_error *err)
{
    struct stat st;
    int fd = -1;
    enum leat_status s = file_open_stat(&fd, &st, f->place, err);

    if (s == LEAT_OK && ((uint64_t)st.st_size != f->size || (uint64_t)st.st_ino != f->inode ||
                         (int64_t)st.st_mtim.tv_sec != f->modified_s || (int64_t)st.st_mtim.tv_nsec != f->modified_ns))
        s = status_set_in(err, LEAT_E_MISMATCH, f->name,
                          "%s was replaced or changed while it was being packed, and its server no longer has what was "
                          "opened",
                          f->name);
    if (s == LEAT_OK && dup3(fd, f->fd, O_CLOEXEC) < 0)
        s = status_set_os(err, errno, f->name, "cannot open %s again", f->name);
    file_close(&fd);
    return s;
}

/* Reads all bytes, or if `got` is not NULL some. */
static enum leat_status read_again(const struct input_file *f, uint64_t offset, void *out, uint64_t count, size_t *got,
                                   const struct input_stop *stop, struct leat_error *err)
{
    struct again a = { .opened = false };
    struct leat_error why;
    enum leat_status s;
    bool lost = false;

    do {
        s = lost ? open_again(f, &why) : LEAT_OK;
        if (s == LEAT_OK)
            s = got ? read_some_at(f, offset, out, (size_t)count, got, &why)
                    : file_read_at(f->fd, offset, out, count, f->name, &why);
        lost = s == LEAT_E_IO && f->place && (lost || mounts_lost(why.os_error));
    } while (s == LEAT_E_IO && try_again(&a, file_system_of(f->fd) & FILE_REMOTE, stop, &s, &why));
    return end_tries(&a, s, &why, err);
}

enum leat_status input_read_some(const struct input_file *f, uint64_t offset, void *out, size_t room, size_t *got,
                                 const struct input_stop *stop, struct leat_error *err)
{
    *got = 0;
    if (stop && stop->asked && stop->asked(stop->context))
        return status_set(err, LEAT_E_STOPPED, "reading %s was stopped", f->name);
    return read_again(f, offset, out, room, got, stop, err);
}

enum leat_status input_read_at(const struct input_file *f, uint64_t offset, void *out, uint64_t count,
                               const struct input_stop *stop, struct leat_error *err)
{
    return read_again(f, offset, out, count, NULL, stop, err);
}

enum leat_status input_open(int *fd, uint64_t *size, const char *place, const struct input_stop *stop,
                            struct leat_error *err)
{
    struct again a = { .opened = false };
    struct leat_error why;
    enum leat_status s;

    do
        s = file_open_read(fd, size, place, &why);
    while (s == LEAT_E_IO && try_again(&a, file_path_is_remote(place), stop, &s, &why));
    return end_tries(&a, s, &why, err);
}

static bool ask_seldom(void *context)
{
    struct seldom_stop *s = context;
    uint64_t now = clock_ns();

    if (!s->of->asked || now - s->asked_ns < SELDOM_NS)
        return false;
    s->asked_ns = now;
    return s->of->asked(s->of->context);
}

static void pass_waits(void *context, const char *why)
{
    const struct seldom_stop *s = context;

    if (s->of->waits)
        s->of->waits(s->of->context, why);
}

struct input_stop seldom_stop(struct seldom_stop *s, const struct input_stop *of)
{
    *s = (struct seldom_stop) { of, clock_ns() };
    return (struct input_stop) { ask_seldom, s, pass_waits };
}

/* ---- Raw bytes --------------------------------------------------------------------------------------------------- */

/* Size of the buffer: room for the rest of a zstd block, at most 128 KiB, and for the next one. */
#define RAW_BLOCK TINY_OR((size_t)64, (size_t)256 << 10)
/* bytes that are read past the buffer at once, and hashed while they are still in the cache of the core */
#define RAW_DIRECT TINY_OR((size_t)100, (size_t)512 << 10)

static struct input_file file_of(const struct raw_input *in)
{
    return (struct input_file) { in->fd, in->name, in->place, in->size, in->inode, in->modified_s, in->modified_ns };
}

static enum leat_status read_some(struct raw_input *in, void *out, size_t room, size_t *got, struct leat_error *err)
{
    const struct input_source from = { in->fd < 0 ? STDIN_FILENO : in->fd, in->stop, in->name };
    const struct input_file file = file_of(in);
    enum leat_status s = in->fetch      ? fetch_read(in->fetch, in->next, out, room, got, in->stop, err)
                         : in->seekable ? input_read_some(&file, in->next, out, room, got, in->stop, err)
                                        : input_wait_read(&from, out, room, got, err);

    in->next += *got;
    return s;
}

static enum leat_status read_at(const struct raw_input *in, uint64_t offset, void *out, size_t count,
                                struct leat_error *err)
{
    const struct input_file file = file_of(in);

    return in->fetch ? fetch_read_all(in->fetch, offset, out, count, in->stop, err)
                     : input_read_at(&file, offset, out, count, in->stop, err);
}

/* ---- Opening ---------------------------------------------------------------------------------------------------- */

/* Reads the first bytes. A pipe gives them only once, so they are kept in the small buffer. */
static enum leat_status read_head(struct raw_input *in, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    size_t got = 1;

    while (s == LEAT_OK && got > 0 && in->held < RAW_HEAD) {
        s = read_some(in, in->buffer + in->held, RAW_HEAD - in->held, &got, err);
        in->held += got;
    }
    in->ended = got == 0;
    in->head_bytes = in->held;
    memcpy(in->head, in->buffer, in->held);
    return s;
}

/* Opens a file. A plain open() would wait for the writer of a pipe, and nobody could stop it. */
static enum leat_status open_file(struct raw_input *in, const char *path, struct leat_error *err)
{
    struct stat st;

    do
        in->fd = open(path, O_RDONLY | O_CLOEXEC | (in->stop ? O_NONBLOCK : 0));
    while (in->fd < 0 && errno == EINTR);
    if (in->fd < 0)
        return status_set_os(err, errno, path, "cannot open %s", path);
    if (fstat(in->fd, &st) != 0)
        return status_set_os(err, errno, path, "cannot examine %s", path);
    if (S_ISDIR(st.st_mode))
        return status_set_os(err, EISDIR, path, "cannot read %s", path);
    if (!S_ISREG(st.st_mode) && in->stop)
        return status_set_in(err, LEAT_E_IO, path, "%s is not a regular file", path);
    if (!S_ISREG(st.st_mode))
        return LEAT_OK;
    in->seekable = true;
    in->size = (uint64_t)st.st_size;
    in->inode = st.st_ino;
    in->modified_s = st.st_mtim.tv_sec;
    in->modified_ns = st.st_mtim.tv_nsec;
    /* a hint, which may be ignored */
    (void)posix_fadvise(in->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    return LEAT_OK;
}

static enum leat_status open_file_again(struct raw_input *in, const char *path, struct leat_error *err)
{
    struct again a = { .opened = false };
    struct leat_error why;
    enum leat_status s;

    do {
        file_close(&in->fd);
        s = open_file(in, path, &why);
    } while (s == LEAT_E_IO && try_again(&a, file_path_is_remote(path), in->stop, &s, &why));
    return end_tries(&a, s, &why, err);
}

enum leat_status raw_input_open(struct raw_input *in, const char *path, const char *name, struct fetch_object *object,
                                const struct input_stop *stop, struct leat_error *err)
{
    bool standard = !object && strcmp(path, "-") == 0;
    enum leat_status s;

    memset(in, 0, sizeof *in);
    in->fd = -1;
    in->size = UINT64_MAX;
    in->stop = stop;
    page_sum_begin(&in->sum, 0, (struct hash128) { 0, 0 });
    in->name = strdup(standard ? "standard input" : name);
    in->place = strdup(path);
    in->buffer = malloc(RAW_HEAD);
    in->room = RAW_HEAD;
    if (!in->name || !in->place || !in->buffer)
        return status_no_memory(err, RAW_HEAD);
    if (object) {
        in->seekable = true;
        in->size = fetch_object_size(object);
        s = fetch_open(&in->fetch, object, err);
    } else {
        s = standard ? LEAT_OK : open_file_again(in, path, err);
    }
    if (s != LEAT_OK)
        return s;
    if (!in->seekable)
        return read_head(in, err);
    in->head_bytes = in->size < RAW_HEAD ? (size_t)in->size : RAW_HEAD;
    return read_at(in, 0, in->head, in->head_bytes, err);
}

/* Sets the place of the next read to that of the sum. */
static void go_to(struct raw_input *in)
{
    in->next = in->sum.bytes;
    in->at = in->held = 0;
    in->ended = false;
}

enum leat_status raw_input_seek(struct raw_input *in, uint64_t offset, struct hash128 pages, struct leat_error *err)
{
    uint64_t page = offset / CHECKSUM_PAGE;
    uint8_t before[CHECKSUM_PAGE];
    size_t count = (size_t)(offset % CHECKSUM_PAGE);
    enum leat_status s;

    if (!in->seekable)
        return status_set_in(err, LEAT_E_UNSUPPORTED, in->name,
                             "%s is not a regular file: reading cannot resume in the middle "
                             "of it",
                             in->name);
    if (offset > in->size)
        return status_set_at(err, LEAT_E_TRUNCATED, in->name, in->size,
                             "%s has %llu bytes, but reading has to resume at byte %llu; the file has changed",
                             in->name, (unsigned long long)in->size, (unsigned long long)offset);
    s = read_at(in, offset - count, before, count, err);
    if (s != LEAT_OK)
        return s;
    page_sum_begin(&in->sum, page, pages);
    page_sum_add(&in->sum, before, count);
    go_to(in);
    return LEAT_OK;
}

enum leat_status raw_input_share(struct raw_input *in, const struct raw_input *of, struct leat_error *err)
{
    *in = (struct raw_input) { .fd = -1,
                               .seekable = true,
                               .size = of->size,
                               .stop = of->stop,
                               .inode = of->inode,
                               .modified_s = of->modified_s,
                               .modified_ns = of->modified_ns };
    in->name = strdup(of->name);
    in->place = in->name ? strdup(of->place) : NULL;
    if (!in->place) { /* leaves the struct as before the call */
        free(in->name);
        in->name = NULL;
        return status_no_memory(err, strlen(of->name) + 1);
    }
    in->fd = of->fd;
    in->lent = true;
    return LEAT_OK;
}

void raw_input_pass(struct raw_input *in, const struct page_sum *after)
{
    struct hash128 before = in->sum.whole;

    in->sum = *after;
    checksum_add(&in->sum.whole, before);
    go_to(in);
}

enum leat_status raw_input_buffer(struct raw_input *in, struct leat_error *err)
{
    uint8_t *larger = file_buffer(RAW_BLOCK);

    if (!larger)
        return status_no_memory(err, RAW_BLOCK);
    if (in->buffer)
        memcpy(larger, in->buffer, in->held);
    free(in->buffer);
    in->buffer = larger;
    in->room = RAW_BLOCK;
    return LEAT_OK;
}

void raw_input_close(struct raw_input *in)
{
    if (in->lent)
        in->fd = -1;
    file_close(&in->fd);
    fetch_close(in->fetch);
    free(in->name);
    free(in->place);
    free(in->buffer);
}

/* ---- Reading ---------------------------------------------------------------------------------------------------- */

enum leat_status raw_input_fill(struct raw_input *in, struct leat_error *err)
{
    size_t left = in->held - in->at, got;
    enum leat_status s;

    if (in->ended)
        return LEAT_OK;
    memmove(in->buffer, in->buffer + in->at, left);
    in->at = 0;
    in->held = left;
    s = read_some(in, in->buffer + left, in->room - left, &got, err);
    in->held += got;
    in->ended = s == LEAT_OK && got == 0;
    return s;
}

/* Copies bytes of a pipe from its buffer. */
static enum leat_status peek_pipe(struct raw_input *in, uint64_t offset, void *out, size_t count, size_t *got,
                                  struct leat_error *err)
{
    enum leat_status s = in->room < RAW_BLOCK ? raw_input_buffer(in, err) : LEAT_OK;

    while (s == LEAT_OK && in->held < in->room && in->held < offset + count && !in->ended)
        s = raw_input_fill(in, err);
    if (s == LEAT_OK && in->held > offset) {
        *got = in->held - offset < count ? (size_t)(in->held - offset) : count;
        memcpy(out, in->buffer + offset, *got);
    }
    return s;
}

enum leat_status raw_input_peek(struct raw_input *in, uint64_t offset, void *out, size_t count, size_t *got,
                                struct leat_error *err)
{
    uint64_t left = in->seekable && offset < in->size ? in->size - offset : 0;
    enum leat_status s;

    *got = 0;
    if (!in->seekable)
        return peek_pipe(in, offset, out, count, got, err);
    count = left < count ? (size_t)left : count;
    s = read_at(in, offset, out, count, err);
    *got = s == LEAT_OK ? count : 0;
    return s;
}

void raw_input_use(struct raw_input *in, size_t count)
{
    page_sum_add(&in->sum, in->buffer + in->at, count);
    in->at += count;
}

enum leat_status raw_input_read(struct raw_input *in, void *out, size_t room, size_t *got, struct leat_error *err)
{
    size_t left = in->held - in->at;
    enum leat_status s;

    *got = left < room ? left : room;
    if (left > 0) { /* the head of a pipe */
        memcpy(out, in->buffer + in->at, *got);
        raw_input_use(in, *got);
        return LEAT_OK;
    }
    if (in->ended)
        return LEAT_OK;
    s = read_some(in, out, room < RAW_DIRECT ? room : RAW_DIRECT, got, err);
    in->ended = s == LEAT_OK && *got == 0;
    page_sum_add(&in->sum, out, *got);
    return s;
}
