/*
 * external_sort.h: sorts any number of triples in bounded memory: they are put in any order and come out in rising
 * order. What does not fit is sorted in runs, which are kept in an unnamed file until they are merged. The room: what
 * puts small records in order, or into heaps, on disk and in bounded memory; it knows no datasets.
 */
#ifndef LEAT_ARRANGE_EXTERNAL_SORT_H
#define LEAT_ARRANGE_EXTERNAL_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "leat.h"

/* Numbers that are compared one after another. For finding documents with the same text: the two halves of a hash, and
 * the document's number. For shuffling: the key, the number, and where the document lies. */
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

/* A sorted stretch of the file, of which a part is in memory. */
struct external_run {
    uint64_t at, end; /* in the file, in triples: what has not been read */
    struct triple *buffer;
    size_t used, count; /* in the buffer */
};

struct external_sort {
    const char *path; /* the file lies on this path's disk */
    int fd;           /* -1: everything has fit so far */
    size_t room;      /* triples that fit in memory */
    struct triple *memory;
    size_t reserved, count; /* in `memory`: allocated, and there */
    uint64_t total;         /* triples put in */
    uint64_t file_triples;
    struct external_run *runs;
    size_t run_count, run_room;
    size_t *heap; /* of runs, by their first triple */
    size_t heap_count;
    size_t next; /* in `memory`, if there is no run */
};

/* `path` is kept; `memory_bytes` bounds what is used. */
void external_sort_begin(struct external_sort *s, const char *path, uint64_t memory_bytes);

enum leat_status external_sort_put(struct external_sort *s, struct triple t, struct leat_error *err);

/* After the last put, and before the first next: sorts what is in memory. */
enum leat_status external_sort_turn(struct external_sort *s, struct leat_error *err);

/* Gives the next triple; *more false: none is left. */
enum leat_status external_sort_next(struct external_sort *s, struct triple *t, bool *more, struct leat_error *err);

/* Frees everything; one that has only been begun, or is zero with fd -1, is fine. */
void external_sort_end(struct external_sort *s);

#endif
