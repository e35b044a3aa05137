/*
 * handle.h: objects of the library that several Python objects, and tensors of other packages, need at the same
 * time: open datasets, plans, loaders, views, memory. Each is closed when its last holder drops it, whichever that
 * is. Any thread may drop it, with or without Python's lock, because tensors are freed anywhere.
 *
 * Memory for numbers that a consumer owns is such an object, too. A pool keeps what was freed and gives it out
 * again, which saves a batch the page faults of fresh memory: at 1 MiB per batch, they would take longer than
 * filling it.
 */
#ifndef LEAT_PYTHON_HANDLE_H
#define LEAT_PYTHON_HANDLE_H

#include <stddef.h>

struct handle;

/* Makes a handle on `object`, with one holder. When no holder is left, it calls close(object), unless `close` is
 * NULL. If there is no memory, it closes the object and returns NULL. */
struct handle *handle_make(void *object, void (*close)(void *object));

/* Makes the handle keep `other` (may be NULL) until it is closed itself. Returns false if there is no memory. Call
 * it before the handle is shared. */
int handle_needs(struct handle *h, struct handle *other);

/* Makes the handle keep everything that `other` keeps, but not `other` itself. */
int handle_needs_same(struct handle *h, const struct handle *other);

/* Makes the handle keep `other` in place of `before`, which it has kept so far. The caller has Python's lock. */
void handle_needs_instead(struct handle *h, struct handle *before, struct handle *other);

void *handle_object(const struct handle *h);
struct handle *handle_hold(struct handle *h);
void handle_drop(struct handle *h); /* does nothing for NULL */

/* Returns a handle on a new pool, or NULL if there is no memory. */
struct handle *memory_pool_make(void);

/* Returns a handle on memory of at least `bytes` bytes, aligned to 64, or NULL if there is none. The memory comes
 * from the pool, which the handle keeps, or from the system if `pool` is NULL. Python's lock is not needed. */
struct handle *memory_make(struct handle *pool, size_t bytes);

#endif
