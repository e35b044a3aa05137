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
 *   fill      makes the stream wait for the copy, runs the kernels on it (rows_body.h), and copies arrays that the slot
 *             has ready: the slot's bytes have the same offsets on the device. On the host it is done when the call
 *             returns. Kernels and copies may still use the slot after it was released, on any stream.
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

/* An array that a slot has ready, and the memory that it is copied to. The memory may have longer rows, and more rows,
 * than the array: the rest is filled with copies of some entries of padding, which the slot has too. */
struct backend_values {
    uint8_t *to;
    size_t at, padding_at; /* places in the slot */
    uint64_t padding_bytes;
    uint64_t rows, row_bytes, to_rows, to_row_bytes;
};

/* Copies the bytes from place `at` of a slot to memory of the consumer. */
typedef enum leat_status backend_copy(struct backend *b, unsigned slot, size_t at, uint8_t *to, uint64_t bytes,
                                      void *stream, struct leat_error *err);

/* Does all copies of an array. */
enum leat_status backend_copy_values(struct backend *b, unsigned slot, const struct backend_values *v,
                                     backend_copy *copy, void *stream, struct leat_error *err);

struct backend_memory {
    uint8_t *host;        /* memory of the slots, which lie one after another, `stride` bytes apart; page-aligned */
    size_t bytes, stride; /* bytes of all slots, and from one slot to the next */
    size_t slot_bytes;    /* bytes of a slot that are sent */
    size_t output_bytes;  /* bytes of a slot that are filled on the device and borrowed */
    unsigned slots;
    bool huge_pages;                    /* asked for */
                                        /* For a device: */
    size_t device_bytes;                /* bytes of the device's memory that the ring takes */
    uint64_t device_free, device_total; /* memory of the device, the ring included; 0: the device has no memory of
                                           its own */
    unsigned slots_wanted;              /* number of slots that was asked for, if there was not enough room */
    bool unpinned;                      /* true if the system refused to pin the ring, so that copies are slower */
};

struct backend_ops {
    const char *name;
    bool apart; /* true if long rows should lie apart, so that the CPU copies nothing on their way to the device */
    bool marks; /* true if slots must have marks and heads (rows.h) whenever documents are known */
    /* Returns true if this row serves `device` ("host", "cuda:0"). */
    bool (*serves)(const char *device);
    /* Opens a device. `driver` is that of leat_loader_options, but never "". */
    enum leat_status (*open)(struct backend **out, const char *device, const char *driver, struct leat_error *err);
    void (*close)(struct backend *b); /* called after `free_ring`; NULL is fine */
    /* Frees what belongs to a forked process, which calls this instead of `free_ring` and `close`. */
    void (*forget)(struct backend *b, struct backend_memory *m);

    /* Returns how many bytes of the device's memory are free; UINT64_MAX if the device needs no memory of its own. */
    uint64_t (*room)(struct backend *b);

    /* Returns the NUMA node from which copies to the device should start; -1 if any is fine. */
    int (*node)(struct backend *b);

    /* Allocates the ring as one piece of touched memory, on NUMA node `node` if that is not negative and the system
     * allows it, pinned if the device wants that. Fills in the rest of *m from its slots, slot_bytes and
     * output_bytes. If there is no room for so many slots, it makes fewer, but at least two. */
    enum leat_status (*allocate_ring)(struct backend *b, struct backend_memory *m, int node, struct leat_error *err);
    void (*free_ring)(struct backend *b, struct backend_memory *m); /* waits for the last use of the ring */

    void (*attach)(struct backend *b); /* makes the calling thread the stage's own; it does nothing else from now on */

    enum leat_status (*send)(struct backend *b, unsigned slot, size_t bytes, struct leat_error *err);
    enum leat_status (*fill)(struct backend *b, unsigned slot, const struct rows_job *job,
                             const struct backend_values *values, unsigned value_count, void *stream,
                             struct leat_error *err);
    enum leat_status (*prepare)(struct backend *b, unsigned slot, const struct rows_job *job, struct leat_error *err);
    enum leat_status (*await)(struct backend *b, unsigned slot, void *stream, struct leat_error *err);
    void (*release)(struct backend *b, unsigned slot, void *stream);
    /* Returns LEAT_OK if the slot is idle, and LEAT_E_AGAIN if it is not yet. After any other error the device has
     * failed, and no slot will become idle. */
    enum leat_status (*idle)(struct backend *b, unsigned slot, struct leat_error *err);

    /* Gives the consumer the addresses of the slot's outputs. */
    uint8_t *(*outputs)(struct backend *b, unsigned slot);

    /* Writes the device's name, or "host", in at most `capacity` - 1 bytes. */
    void (*describe)(struct backend *b, char *text, size_t capacity);
};

/* Returns the row that serves `device`; NULL if this build has none. */
const struct backend_ops *backend_find(const char *device);

/* Allocates memory in huge pages, touched, for a ring. Returns NULL if there is no memory. backend_unmap() gives it
 * back. */
uint8_t *backend_map(size_t bytes, int node, bool *huge_pages);
void backend_unmap(uint8_t *memory, size_t bytes);

extern const struct backend_ops backend_host, backend_cuda;

#endif
