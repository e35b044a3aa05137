/*
 * loader_log.c: statistics in a file, a line of JSON now and then, for what looks at a run while it goes or afterwards
 * (`leat-bench report`). The consumer's side writes them, with one call of the system per line, so that lines of
 * several writers do not mix. Numbers are written digit by digit: no locale of the program changes them. See loader.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/status.h"
#include "loader.h"
#include "loader_fields.h"

typedef unsigned long long ull;

#define LINE_BYTES 2048u /* 42 fields, some of 64 bits; texts of 64 bytes */
#define USUAL_MS   60000u

/* ---- A line ---- */

struct line {
    char text[LINE_BYTES];
    size_t used;
};

static void put(struct line *x, const char *text)
{
    size_t bytes = strlen(text), left = sizeof x->text - x->used;

    bytes = bytes < left ? bytes : left;
    memcpy(x->text + x->used, text, bytes);
    x->used += bytes;
}

static void put_count(struct line *x, uint64_t value)
{
    char text[24];

    snprintf(text, sizeof text, "%llu", (ull)value);
    put(x, text);
}

static void put_seconds(struct line *x, uint64_t ns)
{
    char text[40];

    snprintf(text, sizeof text, "%llu.%09llu", (ull)(ns / 1000000000u), (ull)(ns % 1000000000u));
    put(x, text);
}

/* Of 0 to 1, in millionths. */
static void put_share(struct line *x, double share)
{
    uint64_t millionths = share > 0 ? (uint64_t)(share * 1e6 + 0.5) : 0;
    char text[40];

    snprintf(text, sizeof text, "%llu.%06llu", (ull)(millionths / 1000000u), (ull)(millionths % 1000000u));
    put(x, text);
}

static void put_times(struct line *x, const struct leat_times *t)
{
    const struct {
        const char *key;
        uint64_t ns;
    } rows[] = { { ", \"mean\": ", t->mean },
                 { ", \"p50\": ", t->p50 },
                 { ", \"p99\": ", t->p99 },
                 { ", \"p999\": ", t->p999 },
                 { ", \"max\": ", t->max } };

    put(x, "{\"count\": ");
    put_count(x, t->count);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        put(x, rows[i].key);
        put_seconds(x, rows[i].ns);
    }
    put(x, "}");
}

/* A device's name comes from its driver. */
static void put_text(struct line *x, const char *text)
{
    put(x, "\"");
    for (; *text; text++) {
        char c[2] = { *text < ' ' || *text > '~' || *text == '"' || *text == '\\' ? '?' : *text, '\0' };

        put(x, c);
    }
    put(x, "\"");
}

static void put_field(struct line *x, const struct loader_field *f, const struct leat_loader_stats *s)
{
    const char *at = (const char *)s + f->offset;
    uint64_t wide;
    uint32_t narrow;
    double share;

    put(x, ", \"");
    put(x, f->name);
    put(x, "\": ");
    switch (f->kind) {
    case COUNT64:
    case SECONDS:
        memcpy(&wide, at, sizeof wide);
        (f->kind == SECONDS ? put_seconds : put_count)(x, wide);
        break;
    case COUNT32:
        memcpy(&narrow, at, sizeof narrow);
        put_count(x, narrow);
        break;
    case SHARE:
        memcpy(&share, at, sizeof share);
        put_share(x, share);
        break;
    case TIMES:
        put_times(x, (const struct leat_times *)(const void *)at);
        break;
    case TEXT:
        put_text(x, at);
        break;
    }
}

/*
 * A full disk: training goes on, and a notice says so. What was written of a line is taken back, unless somebody has
 * appended since; where that fails, the next writer ends the line.
 */
static void stop(struct leat_loader *l, ssize_t written)
{
    int error = written < 0 ? errno : ENOSPC;
    off_t end = written > 0 ? lseek(l->log.fd, 0, SEEK_CUR) : -1;
    struct stat st;

    if (end >= written && end > 0 && fstat(l->log.fd, &st) == 0 && st.st_size == end &&
        ftruncate(l->log.fd, end - written) != 0)
        error = errno;
    atomic_store(&l->log.error, error);
    file_close(&l->log.fd);
}

static void write_line(struct leat_loader *l)
{
    struct leat_loader_stats s = LEAT_LOADER_STATS_INIT;
    struct line x = { .used = 0 };
    struct timespec now;
    ssize_t written;

    leat_loader_stats(l, &s);
    clock_gettime(CLOCK_REALTIME, &now);
    put(&x, "{\"time\": ");
    put_seconds(&x, (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec);
    put(&x, ", \"rank\": ");
    put_count(&x, l->options.rank);
    for (size_t i = 0; i < LOADER_FIELDS; i++)
        put_field(&x, &loader_fields[i], &s);
    put(&x, "}\n");
    do
        written = write(l->log.fd, x.text, x.used);
    while (written < 0 && errno == EINTR);
    l->log.batches = s.batches;
    if (written != (ssize_t)x.used)
        stop(l, written);
}

/* ---- The file ---- */

/* Whether the last writer left a line unfinished. */
static bool is_torn(int fd, const char *path)
{
    struct stat st;
    char last = '\n';
    int in = -1;

    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
        in = open(path, O_RDONLY | O_CLOEXEC);
    if (in >= 0 && pread(in, &last, 1, st.st_size - 1) != 1)
        last = '\n';
    file_close(&in);
    return last != '\n';
}

static uint64_t due_after(const struct leat_loader *l, uint64_t now_ns)
{
    return l->log.every_ns < UINT64_MAX - now_ns ? now_ns + l->log.every_ns : UINT64_MAX;
}

/* Whether a file holds something else than lines of JSON, such as a dataset, to which they would be appended. */
static bool holds_else(const char *path)
{
    char first = '{';
    struct stat st;
    int fd;

    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return false;
    if (file_ends_with(path, strlen(path), ".tokens")) /* which may begin with any byte, or have none */
        return true;
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && pread(fd, &first, 1, 0) != 1)
        first = '{';
    file_close(&fd);
    return first != '{';
}

enum leat_status loader_log_open(struct leat_loader *l, struct leat_error *err)
{
    const char *path = l->options.stats_file;
    ssize_t written;

    if (!path || !*path)
        return LEAT_OK;
    if (holds_else(path))
        return status_set(err, LEAT_E_ARGUMENT,
                          "cannot append statistics to %s, which holds something else: choose another name", path);
    l->log.fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (l->log.fd < 0)
        return status_set_os(err, errno, "cannot write statistics to %s", path);
    if (is_torn(l->log.fd, path)) {
        written = write(l->log.fd, "\n", 1);
        if (written != 1)
            stop(l, written);
    }
    if (!bytes_multiply(l->options.stats_ms ? l->options.stats_ms : USUAL_MS, 1000000u, &l->log.every_ns))
        l->log.every_ns = UINT64_MAX;
    l->log.due_ns = due_after(l, l->opened_ns);
    return LEAT_OK;
}

void loader_log_look(struct leat_loader *l, uint64_t now_ns)
{
    if (l->log.fd < 0 || now_ns < l->log.due_ns)
        return;
    write_line(l);
    l->log.due_ns = due_after(l, now_ns);
}

void loader_log_close(struct leat_loader *l)
{
    if (l->log.fd >= 0 && !loader_forked(l) && counter_value(&l->consumer.batches) > l->log.batches)
        write_line(l);
    file_close(&l->log.fd);
}
