/* handle.c: see handle.h. */
#include "handle.h"

#include <stdatomic.h>
#include <stdlib.h>

struct handle {
    atomic_size_t holders;
    void *thing;
    void (*close)(void *thing);
    struct handle **needs;
    size_t need_count;
};

struct handle *handle_make(void *thing, void (*close)(void *thing))
{
    struct handle *h = malloc(sizeof *h);

    if (!h) {
        if (close)
            close(thing);
        return NULL;
    }
    atomic_init(&h->holders, 1);
    h->thing = thing;
    h->close = close;
    h->needs = NULL;
    h->need_count = 0;
    return h;
}

int handle_needs(struct handle *h, struct handle *other)
{
    struct handle **needs;

    if (!other)
        return 1;
    needs = realloc(h->needs, (h->need_count + 1) * sizeof *needs);
    if (!needs)
        return 0;
    h->needs = needs;
    h->needs[h->need_count++] = handle_hold(other);
    return 1;
}

void *handle_thing(const struct handle *h)
{
    return h->thing;
}

struct handle *handle_hold(struct handle *h)
{
    atomic_fetch_add_explicit(&h->holders, 1, memory_order_relaxed);
    return h;
}

void handle_drop(struct handle *h)
{
    if (!h || atomic_fetch_sub_explicit(&h->holders, 1, memory_order_acq_rel) != 1)
        return;
    if (h->close)
        h->close(h->thing);
    /* what it needed goes after it */
    for (size_t i = 0; i < h->need_count; i++)
        handle_drop(h->needs[i]);
    free(h->needs);
    free(h);
}
