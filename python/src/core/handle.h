/*
 * handle.h: things of the library that several objects of Python, and tensors of other packages, need at once: open
 * datasets, plans, loaders, views, memory. Each is closed when the last one lets go of it, whichever that is, on
 * whatever thread, with or without Python's lock: tensors are freed anywhere.
 */
#ifndef LEAT_PYTHON_HANDLE_H
#define LEAT_PYTHON_HANDLE_H

#include <stddef.h>

struct handle;

/* A handle on `thing`, held once. `close` (NULL: nothing to do) is called with it when no holder is left. NULL: no
 * memory; the thing is closed then. */
struct handle *handle_make(void *thing, void (*close)(void *thing));

/* The handle keeps `other` until it is closed itself; NULL is fine. False: no memory. To be called before the handle is
 * shared. */
int handle_needs(struct handle *h, struct handle *other);

void *handle_thing(const struct handle *h);
struct handle *handle_hold(struct handle *h);
void handle_drop(struct handle *h); /* NULL is fine */

#endif
