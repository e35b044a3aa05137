/*
 * backend.h: what a loader needs of the device that its batches go to. A table of functions for each kind; the loader
 * knows nothing else of it. The host is one that is always there.
 *
 * The life of a slot: the loader's thread fills its memory on the host; `send` starts the copy to the device; consumers
 * call `fill` and then `release`, both with a stream of theirs, from any thread; when `idle` says so, the slot is filled
 * again. Nothing here waits for a device.
 *
 *   prepare   after `send`: fills the slot's outputs, which consumers borrow, when its bytes are on the device; `await`
 *             then makes a consumer's stream wait for that.
 *   fill      makes the stream wait for the copy, and runs the kernels on it (rows_body.h): the slot's bytes are at the
 *             same offsets on the device. On the host it has happened when the call returns.
 *   release   what is on the stream by now may still use the slot.
 *   idle      whether the copy and all streams of `release` are past it. Only the loader's thread asks, without waiting;
 *             it asks again soon.
 */
#ifndef LEAT_BACKEND_H
#define LEAT_BACKEND_H

#include <stdbool.h>
#include <stddef.h>

#include "leat.h"
#include "rows.h"

struct backend;

struct backend_memory {
    uint8_t *host;        /* slots one after another, `stride` bytes apart; page-aligned */
    size_t bytes, stride; /* of all; of one */
    size_t slot_bytes;    /* of what is sent */
    size_t output_bytes;  /* of what is filled on the device, and borrowed */
    unsigned slots;
    bool huge_pages; /* asked for */
};

struct backend_ops {
    const char *name;
    /* Whether this row serves `device` ("host", "cuda:0"). */
    bool (*serves)(const char *device);
    enum leat_status (*open)(struct backend **out, const char *device, struct leat_error *err);
    void (*close)(struct backend *b); /* after `free_ring`; NULL is fine */

    /* The ring: one allocation, touched, on NUMA node `node` if it is not negative and the system allows; pinned where
     * a device wants that. Fills what is not told of *m from its slots, slot_bytes and output_bytes. */
    enum leat_status (*allocate_ring)(struct backend *b, struct backend_memory *m, int node, struct leat_error *err);
    void (*free_ring)(struct backend *b, struct backend_memory *m); /* waits for what still uses it */

    enum leat_status (*send)(struct backend *b, unsigned slot, size_t bytes, struct leat_error *err);
    enum leat_status (*fill)(struct backend *b, unsigned slot, const struct rows_job *job, void *stream,
                             struct leat_error *err);
    enum leat_status (*prepare)(struct backend *b, unsigned slot, const struct rows_job *job, struct leat_error *err);
    enum leat_status (*await)(struct backend *b, unsigned slot, void *stream, struct leat_error *err);
    void (*release)(struct backend *b, unsigned slot, void *stream);
    bool (*idle)(struct backend *b, unsigned slot);

    /* Where the slot's outputs are, for the consumer. */
    uint8_t *(*outputs)(struct backend *b, unsigned slot);

    /* At most `capacity` - 1 bytes: "host", or the device's name. */
    void (*describe)(struct backend *b, char *text, size_t capacity);
};

/* The row that serves `device`; NULL if there is none in this build. */
const struct backend_ops *backend_find(const char *device);

/* Memory of huge pages, touched: what a ring is made of. NULL: none. backend_unmap() gives it back. */
uint8_t *backend_map(size_t bytes, int node, bool *huge_pages);
void backend_unmap(uint8_t *memory, size_t bytes);

extern const struct backend_ops backend_host;

#endif
