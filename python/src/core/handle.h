/*
 * handle.h: objects of the library that several Python objects, and tensors of other packages, need at the same time:
 * open datasets, plans, loaders, views, memory. Each is closed when its last holder drops it, whichever that is, on any
 * thread, with or without Python's lock, because tensors are freed anywhere.
 *
 * Memory for numbers that a consumer owns is such an object, too. A pool keeps what was freed and gives it out again,
 * which saves a batch the page faults of fresh memory: at 1 MiB per batch, they would take longer than filling it.
 */
#ifndef LEAT_PYTHON_HANDLE_H
#define LEAT_PYTHON_HANDLE_H

#include <stddef.h>

struct handle;

/* Makes a handle on `object`, with one holder. When no holder is left, `close` (NULL: nothing to do) is called with it.
 * Returns NULL without memory; the object is closed then. */
struct handle *handle_make(void *object, void (*close)(void *object));

/* Makes the handle keep `other` until it is closed itself; NULL is fine. Returns false without memory. Call it before
 * the handle is shared. */
int handle_needs(struct handle *h, struct handle *other);

/* Likewise everything that `other` keeps, but not `other`. */
int handle_needs_same(struct handle *h, const struct handle *other);

/* Makes the handle keep `other` in place of `before`, which it keeps. For a thread that has Python's lock. */
void handle_needs_instead(struct handle *h, struct handle *before, struct handle *other);

void *handle_object(const struct handle *h);
struct handle *handle_hold(struct handle *h);
void handle_drop(struct handle *h); /* NULL is fine */

/* A handle on a new pool; NULL: no memory. */
struct handle *memory_pool_make(void);

/* A handle on at least `bytes` bytes, aligned to 64, from the pool (NULL: from the system), which it keeps. Its
 * object is the memory. NULL: no memory. No lock of Python is needed. */
struct handle *memory_make(struct handle *pool, size_t bytes);

#endif
