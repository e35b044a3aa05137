/*
 * loader_notices.c: what a person should know about a loader, as sentences that are given once.
 *
 * A row of the table is a function that looks at the loader and its statistics, and writes a sentence if there is a
 * reason. The first row that has one is given, and not asked again. To add a notice, write a row.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/mounts.h"
#include "base/status.h"
#include "cache/cache.h"
#include "loader.h"

#define STARVED     0.10 /* a notice comes if the consumer waits for more than this share of its time */
#define DEVICE_FULL 0.80 /* a notice comes if more than this share of a GPU's memory is in use */

/* What a row looks at, and where it writes. */
struct look {
    const struct leat_loader *l;
    struct leat_loader_stats s;
    struct cache_counts caches;
    char *text;
    size_t capacity;
};

/* Writes a sentence; returns true, so that a row ends with it. */
static bool say(struct look *x, const char *format, ...) STATUS_PRINTF(2, 3);
static bool say(struct look *x, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    vsnprintf(x->text, x->capacity, format, values);
    va_end(values);
    return true;
}

/* ---- Memory ---- */

static bool is_unpinned(struct look *x)
{
    return x->s.ring.unpinned &&
           say(x,
               "the system refused to pin %.1f MiB for the ring: copies to the GPU are slower and use CPU time; "
               "raise the limit of locked memory (ulimit -l)",
               (double)x->s.ring.bytes / (1 << 20));
}

static bool has_fewer_slots(struct look *x)
{
    return x->s.ring.slots < x->s.ring.slots_wanted &&
           say(x, "the ring has %u slots instead of %u: the GPU had no more memory, or no more could be pinned",
               x->s.ring.slots, x->s.ring.slots_wanted);
}

static bool fills_device(struct look *x)
{
    return x->s.device.memory_used > DEVICE_FULL &&
           say(x,
               "%.0f %% of the GPU's memory is in use with the ring's %.1f MiB in it: give the loader fewer slots, or "
               "less `memory`, if the training runs out of it",
               100 * x->s.device.memory_used, (double)x->s.device.ring_bytes / (1 << 20));
}

/* ---- Servers and caches ---- */

static bool cache_is_small(struct look *x)
{
    return x->caches.in_use > 0 &&
           say(x,
               "the cache uses %s, more than its limit of %s (LEAT_CACHE_SIZE): indexes and the pages of batches in "
               "progress do not fit; raise the limit",
               cache_size(x->caches.in_use).text, cache_size(x->caches.limit).text);
}

static bool cache_is_given_up(struct look *x)
{
    return x->caches.why_not[0] && x->caches.failed && say(x, "the cache is no longer filled: %s", x->caches.why_not);
}

static bool cache_waits(struct look *x)
{
    return x->caches.why_not[0] && !x->caches.failed &&
           say(x, "the cache cannot be filled now (leat tries again): %s", x->caches.why_not);
}

static bool is_offline(struct look *x)
{
    for (uint32_t i = 0; i < x->l->gather.file_count; i++)
        if (x->l->gather.files[i].part->offline)
            return say(x, "the server of %s could not be reached: its complete copy in the cache is used",
                       x->l->gather.files[i].part->name);
    return false;
}

/* ---- Files ---- */

/* Returns why io_uring is not available, from the errno of the call that tried it. */
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

static bool lacks_uring(struct look *x)
{
    return atomic_load(&x->l->gather.uring_is_refused) &&
           say(x,
               "io_uring is unavailable (%s): files that are not in memory are read with advice instead, which is "
               "slower",
               why_no_uring(x->l->gather.uring_error));
}

static bool lost_maps(struct look *x)
{
    return atomic_load(&x->l->gather.lost_maps) > 0 &&
           say(x, "another program opened a token file for writing: leat now reads it instead of mapping it; do not "
                  "change the files of a run");
}

static bool is_unhashed(struct look *x)
{
    return x->l->gather.verify && x->l->gather.unhashed > 0 &&
           say(x, "%u of %u token files have no hashes: their tokens are not checked, and damage to them is not found",
               x->l->gather.unhashed, x->l->gather.file_count);
}

static bool log_has_ended(struct look *x)
{
    int error = atomic_load(&x->l->log.error);
    struct leat_error err;

    if (error == 0)
        return false;
    status_set_os(&err, error, NULL, "statistics are no longer written to stats_file");
    return say(x, "%s", err.message);
}

static bool has_damage(struct look *x)
{
    return x->s.rows_damaged > 0 &&
           say(x, "rows whose tokens are damaged are masked; verify the datasets (leat verify)");
}

/* ---- Waiting ---- */

/* Returns whether what is waited for passes. Of a plan in stretches, files are read ahead for as long as it runs. */
static bool is_warming(const struct leat_loader *l, const struct leat_loader_stats *s)
{
    return (s->io.warming && !l->gather.in_stretches) || s->remote.caching;
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
    if (is_warming(l, s))
        return "files are still being read into memory: this passes";
    if (!l->thread.runs && storage < s->time.gather_ns)
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

#define LARGEST_STRETCH ((uint64_t)8 << 20)
#define ADVISED_MIX     64u /* and pools of a sixteenth of the source, or less */

/* Writes which stretches a plan could have that shuffles all windows; "" if storage is not what is waited for. */
static const char *advise_stretches(const struct leat_loader *l, const struct leat_loader_stats *s, char *text,
                                    size_t capacity)
{
    const struct leat_plan *plan = l->shape.plan;
    uint64_t largest = 0, stretch = LARGEST_STRETCH, row = plan->rules.base_len * plan->token_width;

    for (size_t i = 0; i < plan->rules.source_count; i++)
        largest = plan->sources[i].blocks > largest ? plan->sources[i].blocks : largest;
    while (stretch > row && stretch > largest * row / ADVISED_MIX / 16)
        stretch /= 2;
    text[0] = '\0';
    if (plan->order == &plan_order_windows && plan->rules.stretches[PLAN_STRETCH] == 0 && stretch >= row &&
        s->time.storage_ns >= s->time.gather_ns && s->time.storage_ns >= s->time.documents_ns)
        snprintf(text, capacity, "; a new run can read in large pieces: stretch %" PRIu64 "KiB and mix %u of the plan",
                 stretch >> 10, ADVISED_MIX);
    return text;
}

/* Writes when the cache will be complete if bytes come as fast as so far; "" if it is not being filled. */
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

/*
 * Returns true if the consumer works after one batch in four: it may take several for one step, and on a busy machine
 * any loop pauses now and then. A loop that only takes batches always waits, and needs no more cores. With a GPU, what
 * it starts there may take it no time.
 */
static bool does_work(const struct leat_loader *l)
{
    return l->device.memory.device_bytes > 0 || 4 * counter_value(&l->consumer.recent_worked) >= LOADER_RECENT;
}

static bool starves(struct look *x)
{
    char left[64], advice[128];

    return x->s.batches > LOADER_RECENT && x->s.time.waiting_share > STARVED &&
           say(x, "the consumer waited for batches %.0f %% of its time: %s%s%s", 100 * x->s.time.waiting_share,
               cause_of(x->l, &x->s), time_left(x->l, &x->s, left, sizeof left),
               is_warming(x->l, &x->s) ? "" : advise_stretches(x->l, &x->s, advice, sizeof advice));
}

/* A notice on waiting while files are warmed must not replace the one on waiting later. */
static bool starves_while_warming(struct look *x)
{
    return is_warming(x->l, &x->s) && starves(x);
}

static bool starves_later(struct look *x)
{
    return !is_warming(x->l, &x->s) && does_work(x->l) && starves(x);
}

/* ---- The table ---- */

static bool (*const notices[])(struct look *) = {
    is_unpinned, has_fewer_slots, fills_device, cache_is_small, cache_is_given_up, cache_waits,           is_offline,
    lacks_uring, lost_maps,       is_unhashed,  log_has_ended,  has_damage,        starves_while_warming, starves_later
};

/* Mounts that fail give their own notices, each of them once. */
static bool mounts_say(const struct leat_loader *l, char *text, size_t capacity)
{
    for (uint32_t i = 0; i < l->gather.file_count; i++)
        if (gather_mounts(&l->gather, i) && mounts_notice(gather_mounts(&l->gather, i), text, capacity))
            return true;
    return false;
}

uint32_t leat_loader_notice(struct leat_loader *loader, char *text, uint64_t capacity)
{
    struct look x = { .l = loader, .s = LEAT_LOADER_STATS_INIT, .text = text, .capacity = capacity };

    if (loader_forked(loader))
        return 0;
    if (mounts_say(loader, text, capacity))
        return 1;
    leat_loader_stats(loader, &x.s);
    gather_count_caches(&loader->gather, &x.caches);
    for (unsigned i = 0; i < sizeof notices / sizeof *notices; i++)
        if (!(atomic_load(&loader->given) & 1u << i) && notices[i](&x) &&
            !(atomic_fetch_or(&loader->given, 1u << i) & 1u << i))
            return 1;
    return 0;
}
