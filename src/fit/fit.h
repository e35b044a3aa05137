/*
 * fit.h: rows of whole documents: best fit, counted on the histogram of lengths instead of piece by piece, and which
 * pieces meet in a row of an epoch. Pure arithmetic: it takes counts of pieces and gives their numbers, and does not
 * know documents. docs/ORDER.md, "Rows of whole documents", version 1, is the rule, with frozen vectors.
 *
 * Pieces of equal length are interchangeable, and so are rows with the same free room. A *pattern* says how many pieces
 * of which lengths a row holds, and how many rows are so: the plan of any number of documents is a table of some ten
 * thousand entries.
 *
 * The room src/fit/ has the order fit, rows of whole documents: which documents lie in which row, their sorted lists
 * and side files, and the order's table, which src/plan/ uses like that of any other order. What all orders share
 * belongs to src/plan/, arithmetic that other orders use to src/order/.
 */
#ifndef LEAT_FIT_H
#define LEAT_FIT_H

#include <stdint.h>

#include "leat.h"
#include "order/permute.h"

#define FIT_VERSION         1u
#define FIT_SOURCES_VERSION 2u /* if sources have rules of their own */
#define FIT_MAX_LENGTH      ((uint64_t)1 << 24)

/* In each row of a pattern: `count` pieces of one length. Row k of the pattern has numbers base + k * count and
 * following, before they are permuted. */
struct fit_entry {
    uint64_t base;
    uint32_t class, count, pattern;
};

struct fit_pattern {
    uint64_t first_row, rows;
    uint64_t first_entry;
    uint32_t entries, pieces, room; /* room: places of a row after its pieces */
    uint64_t squares;               /* sum of the squares of the places of each piece and of `room` */
};

/* All pieces of one length. A cache line: a row needs classes that lie far apart. */
struct fit_class {
    struct permute permute; /* permutes the numbers of these pieces; .n is their count */
    uint64_t first;         /* number of the first piece, counted over the pieces of all classes, shortest first */
    uint64_t first_entry;   /* in by_class; the classes' entries follow each other */
    uint32_t length;
};
_Static_assert(sizeof(struct fit_class) == 64, "a cache line");

struct fit {
    uint64_t length;       /* L: places of a row */
    uint32_t align;        /* pieces begin at multiples of it; divides L */
    uint64_t rows, pieces; /* in all */
    struct permute places; /* its numbers shuffle the pieces of a row */
    struct fit_pattern *patterns;
    uint32_t *near;             /* pattern of the first of each 2^near_shift rows, and that of the last row */
    struct fit_entry *entries;  /* pattern by pattern; in a pattern the longest pieces first */
    struct fit_class *classes;  /* shortest first; one more, for the ends of the last */
    uint32_t *by_class;         /* entries, class by class, in the order of their bases */
    uint64_t entry_count, room; /* room: places after the pieces of all rows */
    uint64_t gaps;              /* places between pieces that `align` leaves empty, in all rows */
    uint32_t pattern_count, class_count, max_pieces, near_shift;
};

/* A piece of a row: its length, and its number among all pieces when these are sorted by length (stably). */
struct fit_piece {
    uint64_t number;
    uint32_t length, class;
};

/*
 * Fits counts[l] pieces of each length 1 <= l < length into rows of rules->length places; the caller has checked that
 * there are at most 2^48 in all. fit_free() releases it, also after a failure.
 */
struct fit_rules {
    uint64_t length;     /* at most FIT_MAX_LENGTH */
    uint64_t max_pieces; /* most pieces of a row; 0: no limit */
    uint64_t align;      /* pieces begin at multiples of it: a divisor of `length` */
    uint64_t seed;
    uint32_t source;
};
enum leat_status fit_make(struct fit *f, const uint64_t *counts, const struct fit_rules *rules, struct leat_error *err);
void fit_free(struct fit *f);

/* Bring what fit_row() reads of a row of this pattern nearer to the processor: its entries; then its classes. Others'
 * rows can be asked for meanwhile. */
static inline void fit_fetch_entries(const struct fit *f, const struct fit_pattern *p)
{
    __builtin_prefetch(&f->entries[p->first_entry]);
}

static inline void fit_fetch_classes(const struct fit *f, const struct fit_pattern *p)
{
    for (uint32_t i = 0; i < p->entries; i++)
        __builtin_prefetch(&f->classes[f->entries[p->first_entry + i].class]);
}

/* The pattern of row `row` < f->rows, which says how many pieces it has. */
const struct fit_pattern *fit_pattern_of(const struct fit *f, uint64_t row);

/*
 * The pieces of a row of this pattern in an epoch, in the order in which sample n shows them; or only the first one. A
 * piece's number is that of its class's first, until draws[], made here, went through permute_forward_many() and the
 * place that it gave is added: so the rows of a whole batch are drawn together. fit_row() needs room for all pieces,
 * and f->max_pieces numbers.
 */
struct fit_shown {
    const struct fit_pattern *pattern;
    uint64_t row, epoch;
    uint64_t sample; /* n */
};
void fit_row(const struct fit *f, const struct fit_shown *x, struct fit_piece *pieces, struct permute_draw *draws,
             uint64_t *numbers);
void fit_row_first(const struct fit *f, const struct fit_shown *x, struct fit_piece *piece, struct permute_draw *draw,
                   uint64_t *numbers);

/* The inverse: the row that has a piece in this epoch. `number` as in struct fit_piece, below f->pieces. */
uint64_t fit_find(const struct fit *f, uint64_t number, uint64_t epoch);

/* The places that a piece of this length takes: with those up to the next piece. */
static inline uint32_t fit_places(const struct fit *f, uint32_t length)
{
    return f->align == 1 ? length : (length + f->align - 1) / f->align * f->align;
}

#endif
