/*
 * fit.h: rows of whole documents: best fit, counted on the histogram of lengths instead of piece by piece, and which
 * pieces meet in a row of an epoch. Pure arithmetic: it takes counts of pieces and gives their numbers, and does not
 * know documents. docs/ORDER.md, "Rows of whole documents", version 1, is the rule, with frozen vectors.
 *
 * Pieces of equal length are interchangeable, and so are rows with the same free room. A *pattern* says how many pieces
 * of which lengths a row holds, and how many rows are so: the plan of any number of documents is a table of some ten
 * thousand entries.
 */
#ifndef LEAT_FIT_H
#define LEAT_FIT_H

#include <stdint.h>

#include "leat.h"
#include "permute.h"

#define FIT_VERSION    1u
#define FIT_MAX_LENGTH ((uint64_t)1 << 24)

/* In each row of a pattern: `count` pieces of one length. Row k of the pattern has numbers base + k * count and
 * following, before they are permuted. */
struct fit_entry {
    uint64_t base;
    uint32_t class, count, pattern;
};

struct fit_pattern {
    uint64_t first_row, rows;
    uint64_t first_entry;
    uint32_t entries, pieces, room; /* room: places of a row that stay empty */
};

/* All pieces of one length. */
struct fit_class {
    struct permute permute; /* of the numbers of these pieces; .n: how many there are */
    uint64_t first;         /* of the pieces of all classes, shortest first */
    uint64_t first_entry;   /* in by_class; the classes' entries follow each other */
    uint32_t length;
};

struct fit {
    uint64_t length;       /* L: places of a row */
    uint64_t rows, pieces; /* in all */
    struct permute places; /* its numbers shuffle the pieces of a row */
    struct fit_pattern *patterns;
    struct fit_entry *entries;  /* pattern by pattern; in a pattern the longest pieces first */
    struct fit_class *classes;  /* shortest first; one more, for the ends of the last */
    uint32_t *by_class;         /* entries, class by class, in the order of their bases */
    uint64_t entry_count, room; /* room: places that stay empty, in all rows */
    uint32_t pattern_count, class_count, max_pieces;
};

/* A piece of a row: its length, and its number among all pieces when these are sorted by length (stably). */
struct fit_piece {
    uint64_t number;
    uint32_t length, class;
};

/*
 * Fits counts[l] pieces of each length 1 <= l < length into rows of `length` <= FIT_MAX_LENGTH places, and of at most
 * `max_pieces` pieces (0: no limit); the caller has checked that there are at most 2^48 in all. fit_free() releases it,
 * also after a failure.
 */
enum leat_status fit_make(struct fit *f, const uint64_t *counts, uint64_t length, uint64_t max_pieces, uint64_t seed,
                          uint32_t source, struct leat_error *err);
void fit_free(struct fit *f);

/* The pattern of row `row` < f->rows, which says how many pieces it has. */
const struct fit_pattern *fit_pattern_of(const struct fit *f, uint64_t row);

/* The pieces of a row in an epoch, in the order in which sample n shows them. Only the first `wanted` get their
 * numbers; there must be room for all. */
void fit_row(const struct fit *f, uint64_t row, uint64_t epoch, uint64_t n, struct fit_piece *pieces, uint32_t wanted);

/* The inverse: the row that has a piece in this epoch. `number` as in struct fit_piece, below f->pieces. */
uint64_t fit_find(const struct fit *f, uint64_t number, uint64_t epoch);

/* The class of pieces of this length; NULL: no piece has it. */
const struct fit_class *fit_class_of(const struct fit *f, uint64_t length);

#endif
