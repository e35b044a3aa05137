/*
 * memory.h: memory for numbers that a consumer owns. A pool keeps what was freed and gives it out again, which saves a
 * batch the page faults of fresh memory: at 1 MiB per batch, they would take longer than filling it.
 */
#ifndef LEAT_PYTHON_MEMORY_H
#define LEAT_PYTHON_MEMORY_H

#include <stddef.h>

#include "handle.h"

/* A handle on a new pool; NULL: no memory. */
struct handle *memory_pool_make(void);

/* A handle on at least `bytes` bytes, aligned to 64, from the pool (NULL: from the system), which it keeps. Its thing
 * is the memory. NULL: no memory. No lock of Python is needed. */
struct handle *memory_make(struct handle *pool, size_t bytes);

#endif
