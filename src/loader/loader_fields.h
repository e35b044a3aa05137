/*
 * loader_fields.h: the members of struct leat_loader_options and of struct leat_loader_stats: their names in Python, in
 * logs and in errors, the words for their values, and how they are written.
 *
 * To add an option, add a member in the public header, a row here, the code that uses the option, and its keyword in
 * python/leat/. Three things read the rows: Python's extension, the check of values that have words, and
 * options_forget(), which zeroes the caller's texts and arrays after opening.
 */
#ifndef LEAT_LOADER_FIELDS_H
#define LEAT_LOADER_FIELDS_H

#include <stddef.h>

#include "base/fields.h"
#include "leat.h"

/* ---- Options ---- */

static const char *const loader_engines[] = { "auto",
                                              [LEAT_ENGINE_MAP] = "map",
                                              [LEAT_ENGINE_PREAD] = "pread",
                                              [LEAT_ENGINE_ADVISE] = "advise",
                                              [LEAT_ENGINE_URING] = "uring",
                                              NULL };
static const char *const loader_aparts[] = { "auto", "always", "never", NULL };
static const char *const loader_lasts[] = { "short", "padded", "dropped", NULL };
static const char *const loader_damages[] = { "error", "mask", NULL };
static const char *const loader_balances[] = { "none", "attention", "lanes", NULL };
static const char *const loader_layouts[] = { "contiguous", "zigzag", "zigzag-documents", NULL };

#define ROW(kind, name, member) FIELD_NAMED(FIELD_##kind, name, leat_loader_options, member)
#define CHOICE(name, member, words)                                                                                    \
    {                                                                                                                  \
        name, offsetof(struct leat_loader_options, member), sizeof(uint32_t), FIELD_CHOICE, words                      \
    }
static const struct field loader_options[] = {
    ROW(NUMBER, "batch", batch),
    ROW(NUMBER, "position", position),
    ROW(TEXT, "state", state),
    CHOICE("last", last, loader_lasts),
    CHOICE("on_damage", on_damage, loader_damages),
    ROW(NUMBER, "rank", ranks.rank),
    ROW(NUMBER, "world", ranks.world),
    CHOICE("balance", ranks.balance, loader_balances),
    CHOICE("engine", io.engine, loader_engines),
    CHOICE("apart", io.apart, loader_aparts),
    ROW(FLAG, "verify", io.verify),
    ROW(NUMBER, "threads", io.threads),
    ROW(NUMBER, "slots", io.slots),
    ROW(NUMBER, "numa_node", io.numa_node),
    ROW(NUMBER, "memory", io.memory),
    ROW(TEXT, "device", device.name),
    ROW(TEXT, "driver", device.driver),
    ROW(NUMBER, "outputs", outputs.wanted),
    ROW(NUMBER, "cu_seqlens_room", outputs.cu_seqlens_room),
    ROW(NUMBER, "number_bytes", outputs.number_bytes),
    ROW(FLAG, "mask_first", outputs.mask_first),
    ROW(FLAG, "mask_row_first", outputs.mask_row_first),
    ROW(FLAG, "mask_begin", outputs.mask_begin),
    ROW(FLAG, "borrow", outputs.borrow),
    ROW(FLAG, "unshifted", outputs.unshifted),
    ROW(NUMBER, "ahead", outputs.ahead),
    ROW(NUMBER, "ignore_index", outputs.ignore_index),
    ROW(TEXT, "stats_file", stats_file),
    ROW(NUMBER, "stats_ms", stats_ms),
    ROW(DOUBLES, "source_weights", source_weights),
    ROW(NUMBER, "slice_rank", slice.rank),
    ROW(NUMBER, "slice_count", slice.count),
    CHOICE("slice_layout", slice.layout, loader_layouts),
};
#undef ROW
#undef CHOICE

/* ---- Statistics ---- */

/*
 * A row has the name, the member of struct leat_loader_stats, and its value in leat_loader_stats(), where `l` is the
 * loader, `c` its consumer, `st` its stage, `g` and `done` count what was gathered, and `remote` what caches did.
 */
/* clang-format off */
#define LOADER_STATS(row)                                                                                              \
    row(NUMBER, "batches", batches, counter_value(&c->batches))                                                        \
    row(NUMBER, "rows", rows, counter_value(&c->rows))                                                                 \
    row(NUMBER, "tokens", tokens, counter_value(&c->tokens))                                                           \
    row(NUMBER, "bytes", io.bytes, counter_value(&g->bytes))                                                           \
    row(NUMBER, "read_bytes", io.read_bytes, done.read_bytes)                                                          \
    row(NUMBER, "reads", io.reads, counter_value(&g->reads))                                                           \
    row(NUMBER, "hits", io.hits, counter_value(&g->hits))                                                              \
    row(NUMBER, "pages_verified", io.pages_verified, done.pages_verified)                                              \
    row(NUMBER, "rows_damaged", rows_damaged, counter_value(&st->rows_damaged))                                        \
    row(NUMBER, "warmed_bytes", io.warmed_bytes, loader_forked(l) ? 0 : warm_bytes(l->gather.warm))                    \
    row(TIMES, "next", next, times_of(&c->next))                                                                       \
    row(SECONDS, "order", time.order_ns, counter_value(&st->order_ns))                                                 \
    row(SECONDS, "gather", time.gather_ns, counter_value(&st->gather_ns))                                              \
    row(SECONDS, "storage", time.storage_ns, counter_value(&g->storage_ns))                                            \
    row(SECONDS, "documents", time.documents_ns, counter_value(&st->documents_ns))                                     \
    row(SECONDS, "outputs", time.outputs_ns, counter_value(&st->outputs_ns))                                           \
    row(SECONDS, "copy", time.copy_ns, counter_value(&st->copy_ns))                                                    \
    row(SECONDS, "slot", time.slot_ns, counter_value(&st->slot_ns))                                                    \
    row(SECONDS, "crew", time.crew_ns, done.pool_ns)                                                                   \
    row(SECONDS, "consumer", time.consumer_ns, counter_value(&c->wait_ns))                                             \
    row(SHARE, "waiting_share", time.waiting_share,                                                                    \
        share(counter_value(&c->recent_wait_sum), counter_value(&c->recent_all_sum)))                                  \
    row(SHARE, "waiting_share_all", time.waiting_share_all,                                                            \
        share(counter_value(&c->wait_ns), counter_value(&c->all_ns)))                                                  \
    row(SECONDS, "first_batch", time.first_batch_ns, counter_value(&c->first_ns))                                      \
    row(NUMBER, "ring_bytes", ring.bytes, l->device.memory.bytes)                                                      \
    row(NUMBER, "slots", ring.slots, l->device.memory.slots)                                                           \
    row(NUMBER, "reads_in_flight", io.reads_in_flight, atomic_load(&g->max_in_flight))                                 \
    row(NUMBER, "huge_pages", ring.huge_pages, l->device.memory.huge_pages)                                            \
    row(NUMBER, "threads", io.threads, l->shape.options.io.threads)                                                    \
    row(NUMBER, "retries", io.retries, retries_of(l))                                                                  \
    row(NODE, "numa_node", ring.numa_node, l->device.node)                                                             \
    row(NODE, "memory_node", ring.memory_node, loader_forked(l) ? -1 : numa_of_memory(l->device.memory.host))          \
    row(NODE, "thread_node", ring.thread_node, atomic_load_explicit(&st->node, memory_order_relaxed))                  \
    row(NUMBER, "warming", io.warming, !loader_forked(l) && !warm_ended(l->gather.warm))                               \
    row(NUMBER, "copied_bytes", io.copied_bytes, done.copied)                                                          \
    row(NUMBER, "unregistered", io.unregistered, atomic_load(&l->gather.uring_unregistered))                           \
    row(NUMBER, "caching", remote.caching, remote.filling)                                                             \
    row(NUMBER, "remote_requests", remote.requests, remote.requests)                                                   \
    row(NUMBER, "remote_retries", remote.retries, remote.retries)                                                      \
    row(NUMBER, "remote_bytes", remote.bytes, remote.bytes)                                                            \
    row(SHARE, "remote_share", remote.share, remote_share(&remote))                                                    \
    row(NUMBER, "cached_bytes", remote.cached_bytes, remote.here_bytes)                                                \
    row(NUMBER, "cache_bytes", remote.cache_bytes, remote.all_bytes)                                                   \
    row(NUMBER, "evicted_bytes", remote.evicted_bytes, remote.evicted_bytes)                                           \
    row(NUMBER, "cache_failed", remote.cache_failed, remote.failed)                                                    \
    row(NUMBER, "device_ring_bytes", device.ring_bytes, l->device.memory.device_bytes)                                 \
    row(SHARE, "device_memory_used", device.memory_used, device_memory_used(&l->device.memory))                        \
    row(NUMBER, "sent_bytes", device.sent_bytes,                                                                       \
        l->device.memory.device_bytes > 0 ? counter_value(&st->sent_bytes) : 0)                                        \
    row(NUMBER, "unpinned", ring.unpinned, l->device.memory.unpinned)                                                  \
    row(NUMBER, "slots_wanted", ring.slots_wanted, l->device.memory.slots_wanted)                                      \
    row(SHARE, "padding_share", padding_share, s.tokens > 0 ? 1 - share(counter_value(&c->inputs), s.tokens) : 0)      \
    row(NUMBER, "dealt", balance.dealt, counter_value(&l->steps.deal.batches))                                         \
    row(SHARE, "spread", balance.spread, share(counter_value(&l->steps.deal.last), LOADER_DEAL_ONE))                   \
    row(SHARE, "spread_mean", balance.spread_mean,                                                                     \
        share(counter_value(&l->steps.deal.spread), s.balance.dealt * LOADER_DEAL_ONE))                                \
    row(SHARE, "spread_by_chance", balance.spread_by_chance,                                                           \
        share(counter_value(&l->steps.deal.chance), s.balance.dealt * LOADER_DEAL_ONE))                                \
    row(CHARS, "engine", io.engine, tell_engines(l, s.io.engine, sizeof s.io.engine))                                  \
    row(CHARS, "device", device.name, l->device.ops->describe(l->device.backend, s.device.name, sizeof s.device.name))
/* clang-format on */
#define ROW(kind, name, member, from) FIELD_NAMED(FIELD_##kind, name, leat_loader_stats, member),
static const struct field loader_stats[] = { LOADER_STATS(ROW) };
#undef ROW

#endif
