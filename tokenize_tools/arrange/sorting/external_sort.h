/*
 * external_sort.h: sorts any number of triples in bounded memory: they are put in any order and come out in rising
 * order. Triples that do not fit are sorted in runs, which are kept in an unnamed file until they are merged.
 *
 * This room puts small records in order, or into buckets, on disk and in bounded memory; it knows no datasets.
 */
#ifndef LEAT_ARRANGE_EXTERNAL_SORT_H
#define LEAT_ARRANGE_EXTERNAL_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "leat.h"

/* Numbers that are compared one after another. Duplicates are found by the two halves of a hash and the document's
 * number; documents are shuffled by the key, the number, and the document's place. */
struct triple {
    uint64_t a, b, c;
};

static inline bool triple_less(const struct triple *x, const struct triple *y)
{
    if (x->a != y->a)
        return x->a < y->a;
    return x->b != y->b ? x->b < y->b : x->c < y->c;
}

/* Sorts the triples in place. The time is proportional to their count, whatever their numbers are. */
void triple_sort(struct triple *t, size_t count);

/* A sorted stretch of the file, of which a part is in memory. */
struct external_run {
    uint64_t at, end;      /* place in the file, in triples, of those that have not been read */
    struct triple *buffer; /* triples that have been read */
    size_t used, count;    /* triples of the buffer that are used up, and all */
};

struct external_sort {
    const char *path; /* the file lies on this path's disk */
    int fd;           /* -1 while everything fits into memory */
    size_t room;      /* triples that fit in memory */
    struct triple *memory;
    size_t reserved, count; /* triples that `memory` has room for, and that are in it */
    uint64_t total;         /* triples put in */
    uint64_t file_triples;
    struct external_run *runs;
    size_t run_count, run_room;
    size_t *heap; /* numbers of runs, as a heap by their first triple */
    size_t heap_count;
    size_t next; /* place in `memory` of the next triple, if there is no run */
};

/* Begins a sort that takes at most `memory_bytes` of memory. Keeps `path`. */
void external_sort_begin(struct external_sort *s, const char *path, uint64_t memory_bytes);

enum leat_status external_sort_put(struct external_sort *s, struct triple t, struct leat_error *err);

/* Sorts the triples in memory. Called once, after the last external_sort_put() and before external_sort_next(). */
enum leat_status external_sort_turn(struct external_sort *s, struct leat_error *err);

/* Sets *t to the next triple, or *more to false if none is left. */
enum leat_status external_sort_next(struct external_sort *s, struct triple *t, bool *more, struct leat_error *err);

/* Frees everything. A struct that has only been begun, or is zeroed with fd -1, is fine. */
void external_sort_end(struct external_sort *s);

#endif
