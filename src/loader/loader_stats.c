/*
 * loader_stats.c: a loader's statistics: as numbers, as a line of text, and as lines of JSON in a file.
 *
 * The stage and the consumer each count on their own side, without locks; a snapshot reads both while they run, so its
 * numbers may be a batch apart. The consumer's side writes the file now and then, for what looks at a run while it goes
 * or afterwards (`leat-bench report`), with one call of the system per line, so that lines of several writers do not
 * mix. Which numbers there are is said in loader_fields.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/counter.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mounts.h"
#include "base/numa.h"
#include "base/options.h"
#include "base/own_file.h"
#include "base/status.h"
#include "cache/cache.h"
#include "gather/warm.h"
#include "loader.h"
#include "loader_fields.h"

#define USUAL_MS 60000u
#define LISTED   64u /* sources */
#define NANO     9   /* digits of a second */
#define MICRO    6   /* digits of a share */

/* ---- Counting, on the consumer's side ---- */

static uint32_t in_units(uint64_t ns)
{
    return ns >> 10 < UINT32_MAX ? (uint32_t)(ns >> 10) : UINT32_MAX;
}

/* What a consumer on the host does at least between batches, if it trains: 200 us. */
#define LEAST_WORK (in_units(200000))

static bool is_work(uint32_t all, uint32_t wait)
{
    return all - wait >= LEAST_WORK;
}

/* Counts a batch in the share of waiting of the last batches: sums that the oldest batch leaves when a new one
 * comes. */
static void count_recent(struct loader_consumer *c, uint64_t all_ns, uint64_t wait_ns)
{
    uint64_t at = counter_value(&c->batches) % LOADER_RECENT;
    uint32_t all = in_units(all_ns), wait = in_units(wait_ns);

    atomic_store_explicit(&c->recent_all_sum, counter_value(&c->recent_all_sum) + all - c->recent_all[at],
                          memory_order_relaxed);
    atomic_store_explicit(&c->recent_wait_sum, counter_value(&c->recent_wait_sum) + wait - c->recent_wait[at],
                          memory_order_relaxed);
    atomic_store_explicit(&c->recent_worked,
                          counter_value(&c->recent_worked) + is_work(all, wait) -
                              is_work(c->recent_all[at], c->recent_wait[at]),
                          memory_order_relaxed);
    c->recent_all[at] = all;
    c->recent_wait[at] = wait;
}

void loader_stats_count(struct leat_loader *l, const struct loader_slot *slot, uint64_t began_ns, uint64_t wait_ns)
{
    struct loader_consumer *c = &l->consumer;
    uint64_t inputs = 0, now = clock_ns(), all = now - (c->asked_ns ? c->asked_ns : began_ns);

    if (counter_value(&c->batches) == 0) {
        /* the time before the first batch is a start, not a wait */
        atomic_store_explicit(&c->first_ns, now - l->opened_ns, memory_order_relaxed);
    } else {
        durations_add(&c->next, now - began_ns);
        count_recent(c, all, wait_ns);
        counter_bump(&c->wait_ns, wait_ns);
        counter_bump(&c->all_ns, all);
    }
    c->asked_ns = now;
    counter_bump(&c->batches, 1);
    for (uint32_t i = 0; i < slot->places.step.filled; i++)
        inputs += slot->batch.lengths[i];
    counter_bump(&c->inputs, inputs);
    counter_bump(&c->rows, slot->batch.rows);
    counter_bump(&c->tokens, (uint64_t)slot->batch.rows * slot->batch.length);
    loader_sources_count(l, slot);
    loader_log_look(l, now);
}

/* ---- The snapshot ---- */

static struct leat_times times_of(const struct durations *h)
{
    return (struct leat_times) { .count = counter_value(&h->count),
                                 .mean = durations_mean(h),
                                 .p50 = durations_quantile(h, 0.5),
                                 .p99 = durations_quantile(h, 0.99),
                                 .p999 = durations_quantile(h, 0.999),
                                 .max = counter_value(&h->max) };
}

static double share(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

/* Writes the engines in use: "map", or "map 3, uring 1". */
static void tell_engines(const struct leat_loader *l, char *text, size_t capacity)
{
    unsigned kinds = 0;
    size_t used = 0;

    text[0] = '\0';
    for (int i = 1; i < GATHER_ENGINE_COUNT; i++)
        kinds += atomic_load(&l->gather.in_use[i]) > 0;
    for (int i = 1; i < GATHER_ENGINE_COUNT && used + 1 < capacity; i++) {
        const char *name = loader_engines[i];
        unsigned files = atomic_load(&l->gather.in_use[i]);

        if (files == 0)
            continue;
        if (kinds > 1)
            snprintf(text + used, capacity - used, "%s%s %u", used ? ", " : "", name, files);
        else
            snprintf(text + used, capacity - used, "%s", name);
        used = strlen(text);
    }
}

/* Returns how much of what is wanted has come from servers. Some pages are asked for long before they are needed. */
static double remote_share(const struct cache_counts *c)
{
    return share(c->remote_pages < c->pages ? c->remote_pages : c->pages, c->pages);
}

static uint32_t retries_of(const struct leat_loader *l)
{
    uint32_t retries = 0;

    for (uint32_t i = 0; i < l->gather.file_count; i++)
        if (gather_mounts(&l->gather, i))
            retries += atomic_load(&gather_mounts(&l->gather, i)->retries);
    return retries;
}

static double device_memory_used(const struct backend_memory *m)
{
    return m->device_total > 0 ? 1 - share(m->device_free, m->device_total) : 0;
}

void leat_loader_stats(const struct leat_loader *l, struct leat_loader_stats *stats)
{
    struct leat_loader_stats s = LEAT_LOADER_STATS_INIT;
    const struct loader_consumer *c = &l->consumer;
    const struct loader_stage *st = &l->stage;
    const struct gather_counters *g = &l->gather.counters;
    const struct gather_done done = gather_done(&l->gather);
    struct cache_counts remote = { 0 };

    gather_count_caches(&l->gather, &remote);
#define FILL(kind, name, member, from) FILL_##kind(s.member, from)
#define FILL_NUMBER(member, from)      member = (from);
#define FILL_NODE                      FILL_NUMBER
#define FILL_SECONDS                   FILL_NUMBER
#define FILL_SHARE                     FILL_NUMBER
#define FILL_TIMES                     FILL_NUMBER
#define FILL_CHARS(member, from)       from;
    LOADER_STATS(FILL)
    options_fill(stats, &s, sizeof s);
}

void leat_loader_stats_line(const struct leat_loader *loader, char *text, uint64_t capacity)
{
    struct leat_loader_stats s = LEAT_LOADER_STATS_INIT;
    size_t used;

    leat_loader_stats(loader, &s);
    snprintf(
        text, capacity,
        "batches %" PRIu64 ", rows %" PRIu64
        ", waited %.1f %% of the last %u (all: %.1f %%), next p50 %.1f us p99 %.1f us, engine %s, ring %u x %.1f KiB",
        s.batches, s.rows, 100 * s.time.waiting_share, LOADER_RECENT, 100 * s.time.waiting_share_all,
        (double)s.next.p50 / 1e3, (double)s.next.p99 / 1e3, s.io.engine, s.ring.slots,
        (double)s.ring.bytes / s.ring.slots / 1024);
    used = capacity ? strlen(text) : 0;
    if (used + 1 < capacity && s.io.warming)
        snprintf(text + used, capacity - used, ", warming: %.1f GB", (double)s.io.warmed_bytes / 1e9);
    used = capacity ? strlen(text) : 0;
    if (used + 1 < capacity && s.remote.cache_bytes)
        snprintf(text + used, capacity - used,
                 ", remote %.1f %% (%" PRIu64 " requests, %.2f GB), cached %.1f of %.1f GB", 100 * s.remote.share,
                 s.remote.requests, (double)s.remote.bytes / 1e9, (double)s.remote.cached_bytes / 1e9,
                 (double)s.remote.cache_bytes / 1e9);
    used = capacity ? strlen(text) : 0;
    if (used + 1 < capacity && s.remote.evicted_bytes)
        snprintf(text + used, capacity - used, ", evicted %.2f GB", (double)s.remote.evicted_bytes / 1e9);
    used = capacity ? strlen(text) : 0;
    if (used + 1 < capacity && s.rows_damaged)
        snprintf(text + used, capacity - used, ", damaged rows %" PRIu64, s.rows_damaged);
}

/* ---- A line of JSON ---- */

static void write_times(struct json *j, const char *name, const struct leat_times *t)
{
    json_open_object(j, name);
    json_u64(j, "count", t->count);
    json_fixed(j, "mean", t->mean, NANO);
    json_fixed(j, "p50", t->p50, NANO);
    json_fixed(j, "p99", t->p99, NANO);
    json_fixed(j, "p999", t->p999, NANO);
    json_fixed(j, "max", t->max, NANO);
    json_close_object(j);
}

static void write_share(struct json *j, const char *name, double share)
{
    json_fixed(j, name, share > 0 ? (uint64_t)(share * 1e6 + 0.5) : 0, MICRO);
}

static void write_field(struct json *j, const struct field *f, const struct leat_loader_stats *s)
{
    const void *at = (const char *)s + f->offset;

    switch (f->kind) {
    case FIELD_NODE:
        json_i64(j, f->name, *(const int32_t *)at < 0 ? -1 : *(const int32_t *)at);
        break;
    case FIELD_SECONDS:
        json_fixed(j, f->name, *(const uint64_t *)at, NANO);
        break;
    case FIELD_SHARE:
        write_share(j, f->name, *(const double *)at);
        break;
    case FIELD_TIMES:
        write_times(j, f->name, at);
        break;
    case FIELD_CHARS:
        json_string(j, f->name, at);
        break;
    default:
        json_u64(j, f->name, f->bytes == sizeof(uint64_t) ? *(const uint64_t *)at : *(const uint32_t *)at);
    }
}

static void write_source(struct json *j, const struct leat_loader_source *s)
{
    write_share(j, "share", s->share);
    json_u64(j, "rows", s->rows);
    json_u64(j, "tokens", s->tokens);
    json_u64(j, "loss_tokens", s->loss_tokens);
    json_close_object(j);
}

/* The sources that gave the most, in falling order, and the sums of the others. */
struct largest {
    struct {
        uint64_t number;
        struct leat_loader_source is;
    } list[LISTED + 1];
    uint64_t count, others;
    struct leat_loader_source other;
};

static void add_source(struct largest *all, uint64_t number, const struct leat_loader_source *is)
{
    uint64_t at = all->count;

    for (; at > 0 && all->list[at - 1].is.tokens < is->tokens; at--)
        all->list[at] = all->list[at - 1];
    all->list[at].number = number;
    all->list[at].is = *is;
    if (all->count < LISTED) {
        all->count++;
        return;
    }
    is = &all->list[LISTED].is;
    all->others++;
    all->other.rows += is->rows;
    all->other.tokens += is->tokens;
    all->other.loss_tokens += is->loss_tokens;
    all->other.share += is->share;
}

static void find_largest(const struct leat_loader *l, struct largest *all)
{
    struct leat_loader_source some[256];
    uint64_t got;

    for (uint64_t first = 0; (got = leat_loader_sources(l, first, 256, some)) > 0; first += got)
        for (uint64_t i = 0; i < got; i++)
            add_source(all, first + i, &some[i]);
}

static int compare_numbers(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b; /* `given`, the first member of each */

    return (*x > *y) - (*x < *y);
}

static void write_sources(struct json *j, const struct leat_loader *l)
{
    struct leat_plan_source_info info = LEAT_PLAN_SOURCE_INFO_INIT;
    struct largest all = { .count = 0 };

    find_largest(l, &all);
    qsort(all.list, (size_t)all.count, sizeof all.list[0], compare_numbers);
    json_open_array(j, "sources");
    for (uint64_t i = 0; i < all.count; i++) {
        leat_plan_source_info(l->shape.plan, all.list[i].number, &info, NULL);
        json_open_object(j, NULL);
        json_string(j, "name", info.name);
        write_source(j, &all.list[i].is);
    }
    json_close_array(j);
    if (all.others == 0)
        return;
    json_open_object(j, "other_sources");
    json_u64(j, "sources", all.others);
    write_source(j, &all.other);
}

/* Ends the writing when a disk is full: training goes on, and a notice says so. The part of a line that was written
 * is taken back, unless somebody has appended since; where that fails, the next writer ends the line. */
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

/* Makes a line of JSON in memory, which the caller frees; NULL: no memory. */
static char *make_line(const struct leat_loader *l, const struct leat_loader_stats *s, size_t *bytes)
{
    char *line = NULL;
    FILE *out = open_memstream(&line, bytes);
    struct timespec now;
    struct json j;
    bool failed;

    if (!out)
        return NULL;
    clock_gettime(CLOCK_REALTIME, &now);
    json_begin(&j, out);
    json_open_object(&j, NULL);
    json_fixed(&j, "time", (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec, NANO);
    json_u64(&j, "rank", l->shape.options.ranks.rank);
    for (size_t i = 0; i < sizeof loader_stats / sizeof *loader_stats; i++)
        write_field(&j, &loader_stats[i], s);
    write_sources(&j, l);
    json_close_object(&j);
    json_end(&j);
    failed = ferror(out) != 0;
    if (fclose(out) == 0 && !failed)
        return line;
    free(line);
    return NULL;
}

static void write_line(struct leat_loader *l)
{
    struct leat_loader_stats s = LEAT_LOADER_STATS_INIT;
    size_t bytes = 0;
    ssize_t written;
    char *line;

    leat_loader_stats(l, &s);
    line = make_line(l, &s, &bytes);
    errno = ENOMEM;
    do
        written = line ? write(l->log.fd, line, bytes) : -1;
    while (written < 0 && errno == EINTR);
    l->log.batches = s.batches;
    if (!line || written != (ssize_t)bytes)
        stop(l, written);
    free(line);
}

/* ---- The file ---- */

/* Returns true if the last writer left a line unfinished. */
static bool is_torn(int fd)
{
    struct stat st;
    char last;

    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 && pread(fd, &last, 1, st.st_size - 1) == 1 &&
           last != '\n';
}

static uint64_t due_after(const struct leat_loader *l, uint64_t now_ns)
{
    return l->log.every_ns < UINT64_MAX - now_ns ? now_ns + l->log.every_ns : UINT64_MAX;
}

/* Returns true if a file holds something else than lines of JSON, such as a dataset, to which they would be
 * appended. */
static bool holds_else(const char *path)
{
    char first = '{';
    struct stat st;
    int fd;

    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return false;
    if (file_ends_with(path, strlen(path), ".tokens")) /* tokens may begin with any byte, or be none */
        return true;
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && pread(fd, &first, 1, 0) != 1)
        first = '{';
    file_close(&fd);
    return first != '{';
}

enum leat_status loader_log_open(struct leat_loader *l, struct leat_error *err)
{
    const char *path = l->shape.options.stats_file;
    enum leat_status s;
    ssize_t written;

    if (!path || !*path)
        return LEAT_OK;
    if (holds_else(path))
        return status_in_file(
            err,
            status_argument(err, "stats_file",
                            "cannot append statistics to %s, which holds something else: choose another name", path),
            path);
    s = own_file_output(&l->log.fd, path, true, err);
    if (s != LEAT_OK)
        return status_before(err, s, "cannot write statistics to %s", path);
    if (is_torn(l->log.fd)) {
        written = write(l->log.fd, "\n", 1);
        if (written != 1)
            stop(l, written);
    }
    if (!bytes_multiply(l->shape.options.stats_ms ? l->shape.options.stats_ms : USUAL_MS, 1000000u, &l->log.every_ns))
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
