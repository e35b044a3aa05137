/*
 * handle.h: things of the library that several Python objects, and tensors of other packages, need at the same time:
 * open datasets, plans, loaders, views, memory. Each is closed when its last holder drops it, whichever that is, on any
 * thread, with or without Python's lock, because tensors are freed anywhere.
 */
#ifndef LEAT_PYTHON_HANDLE_H
#define LEAT_PYTHON_HANDLE_H

#include <stddef.h>

struct handle;

/* Makes a handle on `thing`, with one holder. When no holder is left, `close` (NULL: nothing to do) is called with it.
 * Returns NULL without memory; the thing is closed then. */
struct handle *handle_make(void *thing, void (*close)(void *thing));

/* Makes the handle keep `other` until it is closed itself; NULL is fine. Returns false without memory. Call it before
 * the handle is shared. */
int handle_needs(struct handle *h, struct handle *other);

void *handle_thing(const struct handle *h);
struct handle *handle_hold(struct handle *h);
void handle_drop(struct handle *h); /* NULL is fine */

#endif
