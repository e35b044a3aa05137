/*
 * triple.c: see triple.h. A radix sort by one byte after another, the highest first, in place (each element is swapped
 * to where its byte belongs), down to small groups, which are sorted by insertion. Hashes, whose first bytes divide
 * them evenly, take two or three passes; equal triples go through all 24 bytes.
 */
#include "triple.h"

#define SMALL  24u /* elements: insertion is faster */
#define VALUES 256u
#define BYTES  24u /* of a triple */

static unsigned byte_of(const struct triple *t, unsigned depth)
{
    uint64_t number = depth < 8 ? t->a : depth < 16 ? t->b : t->c;

    return (unsigned)(number >> (56 - 8 * (depth % 8)) & 0xff);
}

static void insert(struct triple *t, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct triple one = t[i];
        size_t at = i;

        for (; at > 0 && triple_less(&one, &t[at - 1]); at--)
            t[at] = t[at - 1];
        t[at] = one;
    }
}

/* Puts each element into the group of its byte; ends[v] becomes where group v ends. */
static void divide(struct triple *t, size_t count, unsigned depth, size_t ends[VALUES])
{
    size_t next[VALUES], sum = 0;

    for (unsigned v = 0; v < VALUES; v++)
        next[v] = 0;
    for (size_t i = 0; i < count; i++)
        next[byte_of(&t[i], depth)]++;
    for (unsigned v = 0; v < VALUES; v++) {
        size_t here = next[v];

        next[v] = sum;
        sum += here;
        ends[v] = sum;
    }
    for (unsigned v = 0; v < VALUES; v++)
        while (next[v] < ends[v]) {
            struct triple one = t[next[v]];
            unsigned to = byte_of(&one, depth);

            while (to != v) {
                struct triple other = t[next[to]];

                t[next[to]++] = one;
                one = other;
                to = byte_of(&one, depth);
            }
            t[next[v]++] = one;
        }
}

/* The first `depth` bytes are the same in all. The depth of the recursion is bounded by the bytes of a triple. */
static void sort_from(struct triple *t, size_t count, unsigned depth)
{
    size_t ends[VALUES], begin = 0;

    if (count <= SMALL || depth == BYTES) {
        insert(t, depth == BYTES ? 0 : count);
        return;
    }
    divide(t, count, depth, ends);
    for (unsigned v = 0; v < VALUES; v++) {
        if (ends[v] - begin > 1)
            sort_from(t + begin, ends[v] - begin, depth + 1);
        begin = ends[v];
    }
}

void triple_sort(struct triple *t, size_t count)
{
    sort_from(t, count, 0);
}
