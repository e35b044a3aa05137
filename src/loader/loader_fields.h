/*
 * loader_fields.h: the members of struct leat_loader_stats with their names in logs and in Python's Loader.stats(), and
 * how they are written there.
 */
#ifndef LEAT_LOADER_FIELDS_H
#define LEAT_LOADER_FIELDS_H

#include <stddef.h>

#include "leat.h"

enum loader_field_kind { COUNT64, COUNT32, SECONDS, SHARE, TIMES, TEXT };

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
    FIELD("bytes", COUNT64, bytes),
    FIELD("read_bytes", COUNT64, read_bytes),
    FIELD("reads", COUNT64, reads),
    FIELD("hits", COUNT64, hits),
    FIELD("pages_verified", COUNT64, pages_verified),
    FIELD("rows_damaged", COUNT64, rows_damaged),
    FIELD("warmed_bytes", COUNT64, warmed_bytes),
    FIELD("next", TIMES, next),
    FIELD("order", SECONDS, order_ns),
    FIELD("gather", SECONDS, gather_ns),
    FIELD("storage", SECONDS, storage_ns),
    FIELD("documents", SECONDS, documents_ns),
    FIELD("outputs", SECONDS, outputs_ns),
    FIELD("copy", SECONDS, copy_ns),
    FIELD("slot", SECONDS, slot_ns),
    FIELD("consumer", SECONDS, consumer_ns),
    FIELD("waiting_share", SHARE, waiting_share),
    FIELD("waiting_share_all", SHARE, waiting_share_all),
    FIELD("first_batch", SECONDS, first_batch_ns),
    FIELD("ring_bytes", COUNT64, ring_bytes),
    FIELD("slots", COUNT32, slots),
    FIELD("reads_in_flight", COUNT32, reads_in_flight),
    FIELD("huge_pages", COUNT32, huge_pages),
    FIELD("warming", COUNT32, warming),
    FIELD("copied_bytes", COUNT64, copied_bytes),
    FIELD("unregistered", COUNT32, unregistered),
    FIELD("caching", COUNT32, caching),
    FIELD("remote_requests", COUNT64, remote_requests),
    FIELD("remote_retries", COUNT64, remote_retries),
    FIELD("remote_bytes", COUNT64, remote_bytes),
    FIELD("remote_share", SHARE, remote_share),
    FIELD("cached_bytes", COUNT64, cached_bytes),
    FIELD("cache_bytes", COUNT64, cache_bytes),
    FIELD("evicted_bytes", COUNT64, evicted_bytes),
    FIELD("cache_failed", COUNT32, cache_failed),
    FIELD("device_ring_bytes", COUNT64, device_ring_bytes),
    FIELD("device_memory_used", SHARE, device_memory_used),
    FIELD("unpinned", COUNT32, unpinned),
    FIELD("slots_wanted", COUNT32, slots_wanted),
    FIELD("engine", TEXT, engine),
    FIELD("device", TEXT, device),
};
#undef FIELD
#define LOADER_FIELDS (sizeof loader_fields / sizeof loader_fields[0])

#endif
