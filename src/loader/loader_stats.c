/*
 * loader_stats.c: A loader's statistics: as numbers, as a line for a log, and as notices for a person.
 *
 * The stage and the consumer each count on their own side, without locks; a snapshot reads both while they run, so its
 * numbers may be a batch apart. A notice is a sentence that is given once: when the consumer has waited for a tenth of
 * its time lately, it names what bounds the loader, and what helps.
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
#include "base/grow.h"
#include "base/mounts.h"
#include "base/numa.h"
#include "base/options.h"
#include "base/own_file.h"
#include "base/status.h"
#include "base/utf8.h"
#include "cache/cache.h"
#include "gather/warm.h"
#include "loader.h"
#include "loader_fields.h"

/* ---- Numbers and sentences --------------------------------------------------------------------------------------- */

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

/* The share of waiting in the last batches: sums that the oldest batch leaves when a new one comes. */
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
        /* the first one is a start, not a wait */
        atomic_store_explicit(&c->first_ns, now - l->opened_ns, memory_order_relaxed);
    } else {
        durations_add(&c->next, now - began_ns);
        count_recent(c, all, wait_ns);
        counter_bump(&c->wait_ns, wait_ns);
        counter_bump(&c->all_ns, all);
    }
    c->asked_ns = now;
    counter_bump(&c->batches, 1);
    for (uint32_t i = 0; i < slot->places; i++)
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

/* "map", or "map 3, uring 1". */
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

static void count_caches(const struct leat_loader *l, struct cache_counts *c)
{
    for (uint32_t i = 0; i < l->gather.file_count && l->gather.has_holes; i++)
        file_map_count(l->gather.files[i].map, c);
}

/* What comes from servers. */
static void count_remote(const struct leat_loader *l, struct leat_loader_stats *s)
{
    struct cache_counts c = { 0 };

    count_caches(l, &c);
    s->remote.caching = c.filling;
    s->remote.requests = c.requests;
    s->remote.retries = c.retries;
    s->remote.bytes = c.bytes;
    /* some are asked for long before they are needed */
    s->remote.share = share(c.remote_pages < c.pages ? c.remote_pages : c.pages, c.pages);
    s->remote.cached_bytes = c.here_bytes;
    s->remote.cache_bytes = c.all_bytes;
    s->remote.evicted_bytes = c.evicted_bytes;
    s->remote.cache_failed = c.failed;
}

static void count_retries(const struct leat_loader *l, struct leat_loader_stats *s)
{
    for (uint32_t i = 0; i < l->gather.file_count; i++)
        if (gather_mounts(&l->gather, i))
            s->io.retries += atomic_load(&gather_mounts(&l->gather, i)->retries);
}

static void count_deal(const struct loader_deal *d, struct leat_loader_balance *b)
{
    uint64_t all;

    b->dealt = counter_value(&d->batches);
    all = b->dealt * LOADER_DEAL_ONE;
    b->spread = share(counter_value(&d->last), LOADER_DEAL_ONE);
    b->spread_mean = share(counter_value(&d->spread), all);
    b->spread_by_chance = share(counter_value(&d->chance), all);
}

void leat_loader_stats(const struct leat_loader *l, struct leat_loader_stats *stats)
{
    struct leat_loader_stats s = LEAT_LOADER_STATS_INIT;
    const struct loader_consumer *c = &l->consumer;
    const struct loader_stage *st = &l->stage;
    const struct gather_counters *g = &l->gather.counters;
    const struct gather_done done = gather_done(&l->gather);

    s.batches = counter_value(&c->batches);
    s.rows = counter_value(&c->rows);
    s.tokens = counter_value(&c->tokens);
    s.io.bytes = counter_value(&g->bytes);
    s.io.read_bytes = done.read_bytes;
    s.io.reads = counter_value(&g->reads);
    s.io.hits = counter_value(&g->hits);
    s.io.pages_verified = done.pages_verified;
    s.rows_damaged = counter_value(&st->rows_damaged);
    s.io.warmed_bytes = loader_forked(l) ? 0 : warm_bytes(l->gather.warm);
    s.next = times_of(&c->next);
    s.time.order_ns = counter_value(&st->order_ns);
    s.time.gather_ns = counter_value(&st->gather_ns);
    s.time.storage_ns = counter_value(&g->storage_ns);
    s.time.documents_ns = counter_value(&st->documents_ns);
    s.time.outputs_ns = counter_value(&st->outputs_ns);
    s.time.copy_ns = counter_value(&st->copy_ns);
    s.time.slot_ns = counter_value(&st->slot_ns);
    s.time.crew_ns = done.pool_ns;
    s.time.consumer_ns = counter_value(&c->wait_ns);
    s.time.waiting_share = share(counter_value(&c->recent_wait_sum), counter_value(&c->recent_all_sum));
    s.time.waiting_share_all = share(counter_value(&c->wait_ns), counter_value(&c->all_ns));
    s.time.first_batch_ns = counter_value(&c->first_ns);
    s.io.threads = l->options.io.threads;
    s.ring.bytes = l->memory.bytes;
    s.ring.slots = l->memory.slots;
    s.io.reads_in_flight = atomic_load(&g->max_in_flight);
    s.ring.huge_pages = l->memory.huge_pages;
    s.io.warming = !loader_forked(l) && !warm_ended(l->gather.warm);
    tell_engines(l, s.io.engine, sizeof s.io.engine);
    l->ops->describe(l->backend, s.device.name, sizeof s.device.name);
    s.device.ring_bytes = l->memory.device_bytes;
    s.device.sent_bytes = l->memory.device_bytes > 0 ? counter_value(&l->stage.sent_bytes) : 0;
    s.device.memory_used = 1 - share(l->memory.device_free, l->memory.device_total);
    if (l->memory.device_total == 0)
        s.device.memory_used = 0;
    s.ring.unpinned = l->memory.unpinned;
    s.ring.slots_wanted = l->memory.slots_wanted;
    s.ring.numa_node = l->node;
    s.ring.memory_node = loader_forked(l) ? -1 : numa_of_memory(l->memory.host);
    s.ring.thread_node = atomic_load_explicit(&l->stage.node, memory_order_relaxed);
    s.io.copied_bytes = done.copied;
    s.io.unregistered = atomic_load(&l->gather.uring_unregistered);
    count_remote(l, &s);
    count_retries(l, &s);
    count_deal(&l->deal, &s.balance);
    s.padding_share = s.tokens > 0 ? 1 - share(counter_value(&c->inputs), s.tokens) : 0;
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

/* ---- Notices ---- */

/* A notice on waiting while files are warmed must not replace the one on waiting later. */
enum notice {
    NOTICE_URING = 1,
    NOTICE_LOST_MAP = 2,
    NOTICE_STARVED = 4,
    NOTICE_DAMAGED = 8,
    NOTICE_UNPINNED = 16,
    NOTICE_FEWER_SLOTS = 32,
    NOTICE_DEVICE_FULL = 64,
    NOTICE_WARMING = 128,
    NOTICE_UNHASHED = 256,
    NOTICE_UNLOGGED = 512,
    NOTICE_CACHE = 1024,
    NOTICE_OFFLINE = 2048,
    NOTICE_CACHE_FAILED = 4096,
    NOTICE_CACHE_SMALL = 8192
};

#define STARVED     0.10 /* share of the consumer's time that it waits: above it, a notice */
#define DEVICE_FULL 0.80 /* the same for the share of a GPU's memory in use */

/* True the first time. */
static bool once(struct leat_loader *l, unsigned notice)
{
    return !(atomic_fetch_or(&l->given, notice) & notice);
}

/* Says what bounds a loader that is too slow, and what helps. */
static const char *cause_of(const struct leat_loader *l, const struct leat_loader_stats *s)
{
    uint64_t storage = s->time.storage_ns, max = storage;
    const char *cause =
        "the time goes into waiting for storage: use a faster disk, or more memory to keep the files in";

    if (s->remote.caching)
        return "tokens still come from the server, and the cache is being filled: this passes (leat pull copies a "
               "dataset beforehand)";
    if (l->gather.has_holes && storage >= s->time.gather_ns && storage >= s->time.documents_ns)
        return "tokens come from the server: copy the dataset beforehand (leat pull), or let the cache lie on a disk "
               "with room for all of it (LEAT_CACHE)";
    if (s->io.warming)
        return "files are still being read into memory: this passes";
    if (!l->has_thread && storage < s->time.gather_ns)
        return "the loader has no thread, so it works only while the consumer waits: open it with threads = 1";
    if (s->time.gather_ns > max) {
        max = s->time.gather_ns;
        cause = "the time goes into copying tokens: give the process a core for each of the loader's threads, and the "
                "loader more threads, or verify files beforehand and open the loader without `verify`";
    }
    if (s->time.documents_ns > max) {
        max = s->time.documents_ns;
        cause = "the time goes into finding document starts and reading masks: ask for positions, documents and "
                "sequences only if they are used";
    }
    if (s->time.outputs_ns > max) {
        max = s->time.outputs_ns;
        cause = "the time goes into widening on the host: use tokens of the stored width, and widen them where they "
                "are used";
    }
    if (s->time.order_ns > max)
        cause = "the time goes into computing the order: use longer sequences or fewer sources";
    return cause;
}

/* A notice on memory; false: nothing new. */
static bool memory_notice(struct leat_loader *l, const struct leat_loader_stats *s, char *text, size_t capacity)
{
    if (s->ring.unpinned && once(l, NOTICE_UNPINNED))
        snprintf(text, capacity,
                 "the system refused to pin %.1f MiB for the ring: copies to the GPU are slower and use CPU time; "
                 "raise the limit of locked memory (ulimit -l)",
                 (double)s->ring.bytes / (1 << 20));
    else if (s->ring.slots < s->ring.slots_wanted && once(l, NOTICE_FEWER_SLOTS))
        snprintf(text, capacity,
                 "the ring has %u slots instead of %u: the GPU had no more memory, or no more could be pinned",
                 s->ring.slots, s->ring.slots_wanted);
    else if (s->device.memory_used > DEVICE_FULL && once(l, NOTICE_DEVICE_FULL))
        snprintf(
            text, capacity,
            "%.0f %% of the GPU's memory is in use with the ring's %.1f MiB in it: give the loader fewer slots, or "
            "less `memory`, if the training runs out of it",
            100 * s->device.memory_used, (double)s->device.ring_bytes / (1 << 20));
    else
        return false;
    return true;
}

/* Why io_uring is not available, from the errno of trying it. */
static const char *why_no_uring(int error)
{
    switch (error) {
    case EPERM:
    case EACCES:
        return "forbidden by the system, as in most containers";
    case ENOMEM:
        return "the limit of locked memory is too low; see ulimit -l";
    case ENOTSUP:
        return "not built in: install liburing and build again";
    case EMFILE:
    case ENFILE:
        return "too many open files; see ulimit -n";
    default:
        return "not known to this kernel";
    }
}

/* When the cache will be complete, as fast as bytes have come so far; "" if it is not being filled. */
static const char *time_left(const struct leat_loader *l, const struct leat_loader_stats *s, char *text,
                             size_t capacity)
{
    double seconds = (double)(clock_ns() - l->opened_ns) / 1e9;

    text[0] = '\0';
    if (s->remote.caching && s->remote.bytes > 0 && s->remote.cached_bytes > 0 &&
        s->remote.cache_bytes > s->remote.cached_bytes)
        snprintf(text, capacity, "; the cache will be complete in about %.0f min",
                 (double)(s->remote.cache_bytes - s->remote.cached_bytes) / (double)s->remote.bytes * seconds / 60 +
                     0.5);
    return text;
}

/* Why the rest of a dataset on a server does not come, or the cache takes more than it may; false: neither, or that was
 * said. */
static bool cache_notice(struct leat_loader *l, char *text, size_t capacity)
{
    struct cache_counts c = { 0 };

    count_caches(l, &c);
    if (c.in_use > 0 && once(l, NOTICE_CACHE_SMALL)) {
        snprintf(text, capacity,
                 "the cache uses %s, more than its limit of %s (LEAT_CACHE_SIZE): indexes and the pages of batches in "
                 "progress do not fit; raise the limit",
                 cache_size(c.in_use).text, cache_size(c.limit).text);
        return true;
    }
    if (!c.why_not[0] || !once(l, c.failed ? NOTICE_CACHE_FAILED : NOTICE_CACHE))
        return false;
    snprintf(text, capacity, "the cache %s: %s",
             c.failed ? "is no longer filled" : "cannot be filled now (leat tries again)", c.why_not);
    return true;
}

/* That a dataset's server could not be asked; false: it was, or that was said. */
static bool offline_notice(struct leat_loader *l, char *text, size_t capacity)
{
    for (uint32_t i = 0; i < l->gather.file_count; i++)
        if (l->gather.files[i].part->offline && once(l, NOTICE_OFFLINE)) {
            snprintf(text, capacity, "the server of %s could not be reached: its complete copy in the cache is used",
                     l->gather.files[i].part->name);
            return true;
        }
    return false;
}

/* That a mount fails; false: none does, or that was said. */
static bool mounts_say(const struct leat_loader *l, char *text, size_t capacity)
{
    for (uint32_t i = 0; i < l->gather.file_count; i++)
        if (gather_mounts(&l->gather, i) && mounts_notice(gather_mounts(&l->gather, i), text, capacity))
            return true;
    return false;
}

/* Whether the consumer works after one batch in four: it may take several for one step, and on a busy machine any loop
 * pauses now and then. A loop that only takes batches always waits, and needs no more cores. With a GPU, what it starts
 * there may take it no time. */
static bool does_work(const struct leat_loader *l)
{
    return l->memory.device_bytes > 0 || 4 * counter_value(&l->consumer.recent_worked) >= LOADER_RECENT;
}

uint32_t leat_loader_notice(struct leat_loader *loader, char *text, uint64_t capacity)
{
    struct leat_loader_stats s = LEAT_LOADER_STATS_INIT;
    char left[64];
    bool warming;

    if (loader_forked(loader))
        return 0;
    leat_loader_stats(loader, &s);
    if (mounts_say(loader, text, capacity))
        return 1;
    if (memory_notice(loader, &s, text, capacity))
        return 1;
    if (cache_notice(loader, text, capacity))
        return 1;
    if (offline_notice(loader, text, capacity))
        return 1;
    if (atomic_load(&loader->gather.uring_is_refused) && once(loader, NOTICE_URING)) {
        snprintf(
            text, capacity,
            "io_uring is unavailable (%s): files that are not in memory are read with advice instead, which is slower",
            why_no_uring(loader->gather.uring_error));
        return 1;
    }
    if (atomic_load(&loader->gather.lost_maps) > 0 && once(loader, NOTICE_LOST_MAP)) {
        snprintf(text, capacity,
                 "another program opened a token file for writing: leat now reads it instead of mapping it; do not "
                 "change the files of a run");
        return 1;
    }
    if (loader->gather.verify && loader->gather.unhashed > 0 && once(loader, NOTICE_UNHASHED)) {
        snprintf(text, capacity,
                 "%u of %u token files have no hashes: their tokens are not checked, and damage to them is not found",
                 loader->gather.unhashed, loader->gather.file_count);
        return 1;
    }
    if (atomic_load(&loader->log.error) && once(loader, NOTICE_UNLOGGED)) {
        struct leat_error err;

        status_set_os(&err, atomic_load(&loader->log.error), NULL, "statistics are no longer written to stats_file");
        snprintf(text, capacity, "%s", err.message);
        return 1;
    }
    if (s.rows_damaged > 0 && once(loader, NOTICE_DAMAGED)) {
        snprintf(text, capacity, "rows whose tokens are damaged are masked; verify the datasets (leat verify)");
        return 1;
    }
    warming = s.io.warming || s.remote.caching;
    if (s.batches > LOADER_RECENT && s.time.waiting_share > STARVED && (warming || does_work(loader)) &&
        once(loader, warming ? NOTICE_WARMING : NOTICE_STARVED)) {
        snprintf(text, capacity, "the consumer waited for batches %.0f %% of its time: %s%s",
                 100 * s.time.waiting_share, cause_of(loader, &s), time_left(loader, &s, left, sizeof left));
        return 1;
    }
    return 0;
}

/* ---- The log ----------------------------------------------------------------------------------------------------- */

/*
 * Statistics in a file, a line of JSON now and then, for what looks at a run while it goes or afterwards (`leat-bench
 * report`). The consumer's side writes them, with one call of the system per line, so that lines of several writers do
 * not mix. Numbers are written digit by digit: no locale of the program changes them. See loader.h.
 */

#define USUAL_MS 60000u
#define LISTED   64u /* sources */

/* ---- A line ---- */

struct line {
    char *text;
    size_t used, room;
    bool failed; /* no memory */
};

static void put_bytes(struct line *x, const char *text, size_t bytes)
{
    x->failed = x->failed || GROW(x->text, x->used + bytes, x->room, NULL) != LEAT_OK;
    if (x->failed)
        return;
    memcpy(x->text + x->used, text, bytes);
    x->used += bytes;
}

static void put(struct line *x, const char *text)
{
    put_bytes(x, text, strlen(text));
}

static void put_count(struct line *x, uint64_t value)
{
    char text[24];

    snprintf(text, sizeof text, "%" PRIu64, value);
    put(x, text);
}

static void put_seconds(struct line *x, uint64_t ns)
{
    char text[40];

    snprintf(text, sizeof text, "%" PRIu64 ".%09" PRIu64, ns / 1000000000u, ns % 1000000000u);
    put(x, text);
}

/* Of 0 to 1, in millionths. */
static void put_share(struct line *x, double share)
{
    uint64_t millionths = share > 0 ? (uint64_t)(share * 1e6 + 0.5) : 0;
    char text[40];

    snprintf(text, sizeof text, "%" PRIu64 ".%06" PRIu64, millionths / 1000000u, millionths % 1000000u);
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

/* A source's name is that of files: bytes that are no UTF-8 are left out. */
static void put_name(struct line *x, const char *name)
{
    char escape[8];

    put(x, "\"");
    for (size_t left = strlen(name), valid; left > 0; name += valid, left -= valid) {
        valid = utf8_valid_prefix((const uint8_t *)name, left);
        for (size_t i = 0; i < valid; i++) {
            snprintf(escape, sizeof escape, "\\u%04x", (uint8_t)name[i]);
            if ((uint8_t)name[i] < ' ' || name[i] == '"' || name[i] == '\\')
                put(x, escape);
            else
                put_bytes(x, name + i, 1);
        }
        valid += valid < left;
    }
    put(x, "\"");
}

static void put_counts(struct line *x, const struct leat_loader_source *s)
{
    put(x, ", \"share\": ");
    put_share(x, s->share);
    put(x, ", \"rows\": ");
    put_count(x, s->rows);
    put(x, ", \"tokens\": ");
    put_count(x, s->tokens);
    put(x, ", \"loss_tokens\": ");
    put_count(x, s->loss_tokens);
    put(x, "}");
}

/* The sources of which most was given, in falling order, and what of the others was given, added up. */
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
    const uint64_t *x = a, *y = b; /* the first member */

    return (*x > *y) - (*x < *y);
}

static void put_sources(struct line *x, const struct leat_loader *l)
{
    struct leat_plan_source_info info = LEAT_PLAN_SOURCE_INFO_INIT;
    struct largest all = { .count = 0 };

    find_largest(l, &all);
    qsort(all.list, (size_t)all.count, sizeof all.list[0], compare_numbers);
    put(x, ", \"sources\": [");
    for (uint64_t i = 0; i < all.count; i++) {
        leat_plan_source_info(l->plan, all.list[i].number, &info, NULL);
        put(x, i > 0 ? ", {\"name\": " : "{\"name\": ");
        put_name(x, info.name);
        put_counts(x, &all.list[i].is);
    }
    put(x, "]");
    if (all.others == 0)
        return;
    put(x, ", \"other_sources\": {\"sources\": ");
    put_count(x, all.others);
    put_counts(x, &all.other);
}

static void put_field(struct line *x, const struct loader_field *f, const struct leat_loader_stats *s)
{
    const char *at = (const char *)s + f->offset;
    uint64_t wide;
    uint32_t narrow;
    int32_t node;
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
    case NODE:
        memcpy(&node, at, sizeof node);
        put(x, node < 0 ? "-1" : "");
        if (node >= 0)
            put_count(x, (uint64_t)node);
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
    ssize_t written = -1;

    leat_loader_stats(l, &s);
    clock_gettime(CLOCK_REALTIME, &now);
    put(&x, "{\"time\": ");
    put_seconds(&x, (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec);
    put(&x, ", \"rank\": ");
    put_count(&x, l->options.ranks.rank);
    for (size_t i = 0; i < LOADER_FIELDS; i++)
        put_field(&x, &loader_fields[i], &s);
    put_sources(&x, l);
    put(&x, "}\n");
    errno = ENOMEM;
    do
        written = x.failed ? -1 : write(l->log.fd, x.text, x.used);
    while (written < 0 && errno == EINTR);
    l->log.batches = s.batches;
    if (written != (ssize_t)x.used)
        stop(l, written);
    free(x.text);
}

/* ---- The file ---- */

/* Whether the last writer left a line unfinished. */
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
