/*
 * backend.h: what a loader needs from the device that its batches go to: a table of functions per kind, and the loader
 * knows nothing else about it. The host is the kind that is always there.
 *
 * The life of a slot: the loader's thread fills its memory on the host; `send` starts the copy to the device; consumers
 * call `fill` or `await`, and then `release`, with a stream of theirs, from any thread; when `idle` says so, the slot
 * is filled again. Only opening and closing wait for a device.
 *
 *   prepare   after `send`: once the slot's bytes are on the device, fills its outputs, which consumers borrow; `await`
 *             makes a consumer's stream wait for that.
 *   fill      makes the stream wait for the copy, and runs the kernels on it (rows_body.h): the slot's bytes have the
 *             same offsets on the device. On the host it is done when the call returns. The kernels may still use the
 *             slot after it was released, on any stream.
 *   release   work that is on the stream by now may still use what was borrowed.
 *   idle      whether the copy and all these uses are done. Only the loader's stage asks, without waiting, again and
 *             again.
 *
 * `send`, `prepare` and `idle` are called by one thread at a time, the stage's. If the loader has a thread of its own,
 * it calls `attach` first.
 *
 * The room src/device/ has a file per kind of device and what it calls of the driver. What a batch is and when it is
 * filled belong to the loader.
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
    size_t bytes, stride; /* bytes of all slots, and from one to the next */
    size_t slot_bytes;    /* bytes sent per slot */
    size_t output_bytes;  /* bytes per slot that are filled on the device and borrowed */
    unsigned slots;
    bool huge_pages;                    /* asked for */
                                        /* For a device: */
    size_t device_bytes;                /* bytes of the device's memory that the ring takes */
    uint64_t device_free, device_total; /* including the ring; 0: no such memory */
    unsigned slots_wanted;              /* if more than `slots`: there was no room for all */
    bool unpinned;                      /* the system refused to pin the ring: copies are slower */
};

struct backend_ops {
    const char *name;
    bool apart; /* long rows should lie apart, so that the CPU copies nothing on their way to the device */
    bool marks; /* slots must have marks and heads (rows.h) if documents are known */
    /* Returns true if this row serves `device` ("host", "cuda:0"). */
    bool (*serves)(const char *device);
    /* `driver`: as in leat_loader_options, but never "". */
    enum leat_status (*open)(struct backend **out, const char *device, const char *driver, struct leat_error *err);
    void (*close)(struct backend *b); /* after `free_ring`; NULL is fine */
    /* Instead of `free_ring` and `close` in a forked process: frees what belongs to this process. */
    void (*forget)(struct backend *b, struct backend_memory *m);

    /* How many bytes of the device's memory are free; UINT64_MAX: the device needs no memory of its own. */
    uint64_t (*room)(struct backend *b);

    /* The NUMA node that copies to the device should leave from; -1: any. */
    int (*node)(struct backend *b);

    /* Allocates the ring contiguous and touched, on NUMA node `node` if that is not negative and the system allows,
     * pinned if the device wants that. Fills in the rest of *m from its slots, slot_bytes and output_bytes; if there is
     * no room for as many slots, makes fewer, but at least two. */
    enum leat_status (*allocate_ring)(struct backend *b, struct backend_memory *m, int node, struct leat_error *err);
    void (*free_ring)(struct backend *b, struct backend_memory *m); /* waits for whatever still uses it */

    void (*attach)(struct backend *b); /* the calling thread will do only the stage's work */

    enum leat_status (*send)(struct backend *b, unsigned slot, size_t bytes, struct leat_error *err);
    enum leat_status (*fill)(struct backend *b, unsigned slot, const struct rows_job *job, void *stream,
                             struct leat_error *err);
    enum leat_status (*prepare)(struct backend *b, unsigned slot, const struct rows_job *job, struct leat_error *err);
    enum leat_status (*await)(struct backend *b, unsigned slot, void *stream, struct leat_error *err);
    void (*release)(struct backend *b, unsigned slot, void *stream);
    /* LEAT_E_AGAIN: not yet. Another error: the device has failed, and no slot will become idle. */
    enum leat_status (*idle)(struct backend *b, unsigned slot, struct leat_error *err);

    /* Gives the consumer the addresses of the slot's outputs. */
    uint8_t *(*outputs)(struct backend *b, unsigned slot);

    /* At most `capacity` - 1 bytes: "host", or the device's name. */
    void (*describe)(struct backend *b, char *text, size_t capacity);
};

/* Returns the row that serves `device`; NULL if this build has none. */
const struct backend_ops *backend_find(const char *device);

/* Allocates memory in huge pages, touched, for a ring. NULL: no memory. backend_unmap() gives it back. */
uint8_t *backend_map(size_t bytes, int node, bool *huge_pages);
void backend_unmap(uint8_t *memory, size_t bytes);

extern const struct backend_ops backend_host, backend_cuda;

#endif
