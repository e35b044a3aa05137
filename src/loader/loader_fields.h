/*
 * loader_fields.h: the members of struct leat_loader_options and of struct leat_loader_stats: their names in Python, in
 * logs and in errors, the words for their values, and how they are written.
 *
 * To add an option: a member in the public header, a row here, and the code that uses it; Python's extension, the check
 * of values with words, and what is forgotten after opening go by the rows. Then comes its keyword in python/leat/.
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
static const char *const loader_balances[] = { "none", "attention", NULL };
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

enum loader_field_kind { COUNT64, COUNT32, NODE, SECONDS, SHARE, TIMES, TEXT };

struct loader_field {
    const char *name;
    enum loader_field_kind kind;
    size_t offset;
};

#define FIELD(name, kind, member)                                                                                      \
    {                                                                                                                  \
        name, kind, offsetof(struct leat_loader_stats, member)                                                         \
    }
static const struct loader_field loader_fields[] = {
    FIELD("batches", COUNT64, batches),
    FIELD("rows", COUNT64, rows),
    FIELD("tokens", COUNT64, tokens),
    FIELD("bytes", COUNT64, io.bytes),
    FIELD("read_bytes", COUNT64, io.read_bytes),
    FIELD("reads", COUNT64, io.reads),
    FIELD("hits", COUNT64, io.hits),
    FIELD("pages_verified", COUNT64, io.pages_verified),
    FIELD("rows_damaged", COUNT64, rows_damaged),
    FIELD("warmed_bytes", COUNT64, io.warmed_bytes),
    FIELD("next", TIMES, next),
    FIELD("order", SECONDS, time.order_ns),
    FIELD("gather", SECONDS, time.gather_ns),
    FIELD("storage", SECONDS, time.storage_ns),
    FIELD("documents", SECONDS, time.documents_ns),
    FIELD("outputs", SECONDS, time.outputs_ns),
    FIELD("copy", SECONDS, time.copy_ns),
    FIELD("slot", SECONDS, time.slot_ns),
    FIELD("crew", SECONDS, time.crew_ns),
    FIELD("consumer", SECONDS, time.consumer_ns),
    FIELD("waiting_share", SHARE, time.waiting_share),
    FIELD("waiting_share_all", SHARE, time.waiting_share_all),
    FIELD("first_batch", SECONDS, time.first_batch_ns),
    FIELD("ring_bytes", COUNT64, ring.bytes),
    FIELD("slots", COUNT32, ring.slots),
    FIELD("reads_in_flight", COUNT32, io.reads_in_flight),
    FIELD("huge_pages", COUNT32, ring.huge_pages),
    FIELD("threads", COUNT32, io.threads),
    FIELD("retries", COUNT32, io.retries),
    FIELD("numa_node", NODE, ring.numa_node),
    FIELD("memory_node", NODE, ring.memory_node),
    FIELD("thread_node", NODE, ring.thread_node),
    FIELD("warming", COUNT32, io.warming),
    FIELD("copied_bytes", COUNT64, io.copied_bytes),
    FIELD("unregistered", COUNT32, io.unregistered),
    FIELD("caching", COUNT32, remote.caching),
    FIELD("remote_requests", COUNT64, remote.requests),
    FIELD("remote_retries", COUNT64, remote.retries),
    FIELD("remote_bytes", COUNT64, remote.bytes),
    FIELD("remote_share", SHARE, remote.share),
    FIELD("cached_bytes", COUNT64, remote.cached_bytes),
    FIELD("cache_bytes", COUNT64, remote.cache_bytes),
    FIELD("evicted_bytes", COUNT64, remote.evicted_bytes),
    FIELD("cache_failed", COUNT32, remote.cache_failed),
    FIELD("device_ring_bytes", COUNT64, device.ring_bytes),
    FIELD("device_memory_used", SHARE, device.memory_used),
    FIELD("sent_bytes", COUNT64, device.sent_bytes),
    FIELD("unpinned", COUNT32, ring.unpinned),
    FIELD("slots_wanted", COUNT32, ring.slots_wanted),
    FIELD("padding_share", SHARE, padding_share),
    FIELD("dealt", COUNT64, balance.dealt),
    FIELD("spread", SHARE, balance.spread),
    FIELD("spread_mean", SHARE, balance.spread_mean),
    FIELD("spread_by_chance", SHARE, balance.spread_by_chance),
    FIELD("engine", TEXT, io.engine),
    FIELD("device", TEXT, device.name),
};
#undef FIELD
#define LOADER_FIELDS (sizeof loader_fields / sizeof loader_fields[0])

#endif
