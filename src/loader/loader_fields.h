/*
 * loader_fields.h: the members of struct leat_loader_stats with their names in logs and in Python's Loader.stats(), and
 * how they are written there.
 */
#ifndef LEAT_LOADER_FIELDS_H
#define LEAT_LOADER_FIELDS_H

#include <stddef.h>

#include "leat.h"

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
