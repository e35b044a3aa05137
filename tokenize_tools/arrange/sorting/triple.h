/*
 * triple.h: three numbers that are compared one after another: what is sorted when documents are arranged. For finding
 * documents with the same text: the two halves of a hash, and the document's number. For shuffling: the key, the
 * number, and where the document lies.
 */
#ifndef LEAT_ARRANGE_TRIPLE_H
#define LEAT_ARRANGE_TRIPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct triple {
    uint64_t a, b, c;
};

static inline bool triple_less(const struct triple *x, const struct triple *y)
{
    if (x->a != y->a)
        return x->a < y->a;
    return x->b != y->b ? x->b < y->b : x->c < y->c;
}

/* Sorts in place, without memory of its own, in time proportional to the count for any numbers. */
void triple_sort(struct triple *t, size_t count);

#endif
