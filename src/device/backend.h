/*
 * backend.h: what a loader needs of the device that its batches go to. A table of functions for each kind; the loader
 * knows nothing else of it. The host is one that is always there.
 *
 * The life of a slot: the loader's thread fills its memory on the host; `send` starts the copy to the device; consumers
 * call `fill` or `await`, and then `release`, with a stream of theirs, from any thread; when `idle` says so, the slot
 * is filled again. Nothing here waits for a device, but for opening and closing.
 *
 *   prepare   after `send`: fills the slot's outputs, which consumers borrow, when its bytes are on the device; `await`
 *             then makes a consumer's stream wait for that.
 *   fill      makes the stream wait for the copy, and runs the kernels on it (rows_body.h): the slot's bytes are at the
 *             same offsets on the device. On the host it has happened when the call returns. What was put on the stream
 *             here may still use the slot when it is released, on whichever stream.
 *   release   what is on the stream by now may still use what was borrowed.
 *   idle      whether the copy and all of that are done. Only the loader's stage asks, without waiting; it asks again
 *             soon.
 *
 * `send`, `prepare` and `idle` are called by one thread at a time: the stage's. Where that is a thread of the loader's
 * own, it calls `attach` first.
 */
#ifndef LEAT_BACKEND_H
#define LEAT_BACKEND_H

#include <stdbool.h>
#include <stddef.h>

#include "leat.h"
#include "rows/rows.h"

struct backend;

struct backend_memory {
    uint8_t *host;        /* slots one after another, `stride` bytes apart; page-aligned */
    size_t bytes, stride; /* of all; of one */
    size_t slot_bytes;    /* of what is sent */
    size_t output_bytes;  /* of what is filled on the device, and borrowed */
    unsigned slots;
    bool huge_pages; /* asked for */
    /* Of a device: */
    size_t device_bytes;                /* what the ring takes of its memory */
    uint64_t device_free, device_total; /* with the ring in it; 0: there is no such memory */
    unsigned slots_wanted;              /* more than `slots`: there was no room for them */
    bool unpinned;                      /* the system has refused to pin the ring: copies are slower */
};

struct backend_ops {
    const char *name;
    bool apart; /* it pays to let long rows lie apart: the CPU then copies nothing on their way to the device */
    bool marks; /* slots must have marks and heads (rows.h) where documents are known */
    /* Whether this row serves `device` ("host", "cuda:0"). */
    bool (*serves)(const char *device);
    /* `driver`: as in leat_loader_options, but never "". */
    enum leat_status (*open)(struct backend **out, const char *device, const char *driver, struct leat_error *err);
    void (*close)(struct backend *b); /* after `free_ring`; NULL is fine */
    /* Instead of `free_ring` and `close` in a process that was forked: frees what is this process's. */
    void (*forget)(struct backend *b, struct backend_memory *m);

    /* How many bytes of the device's memory are free; UINT64_MAX: it takes none. */
    uint64_t (*room)(struct backend *b);

    /* The ring: one allocation, touched, on NUMA node `node` if it is not negative and the system allows; pinned where
     * a device wants that. Fills what is not told of *m from its slots, slot_bytes and output_bytes; where there is no
     * room for as many slots, there are fewer, but two at least. */
    enum leat_status (*allocate_ring)(struct backend *b, struct backend_memory *m, int node, struct leat_error *err);
    void (*free_ring)(struct backend *b, struct backend_memory *m); /* waits for what still uses it */

    void (*attach)(struct backend *b); /* the calling thread will do the stage's work, and nothing else */

    enum leat_status (*send)(struct backend *b, unsigned slot, size_t bytes, struct leat_error *err);
    enum leat_status (*fill)(struct backend *b, unsigned slot, const struct rows_job *job, void *stream,
                             struct leat_error *err);
    enum leat_status (*prepare)(struct backend *b, unsigned slot, const struct rows_job *job, struct leat_error *err);
    enum leat_status (*await)(struct backend *b, unsigned slot, void *stream, struct leat_error *err);
    void (*release)(struct backend *b, unsigned slot, void *stream);
    /* LEAT_E_AGAIN: not yet. Anything else: the device has failed, and no slot will be idle any more. */
    enum leat_status (*idle)(struct backend *b, unsigned slot, struct leat_error *err);

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

extern const struct backend_ops backend_host, backend_cuda;

#endif
