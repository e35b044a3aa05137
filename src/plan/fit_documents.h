/*
 * fit_documents.h: the documents of a source in rows of one length: which document is which piece (docs/ORDER.md, "Rows
 * of whole documents"). A document of more predictions than a row has places gives *full* rows, which it fills alone,
 * and a rest. Rests and shorter documents are the pieces of struct fit.
 *
 * Memory: 28 bytes per run of documents of equal length. Never changes once made.
 */
#ifndef LEAT_FIT_DOCUMENTS_H
#define LEAT_FIT_DOCUMENTS_H

#include "fit_lengths.h"
#include "order/fit.h"

struct fit_documents {
    struct fit fit; /* of the pieces; its row 0 is the row after the full ones */
    const struct fit_lengths *lengths;
    const uint64_t *options; /* enum plan_fit_option */
    uint32_t *by_rest;       /* runs whose documents have a rest, by rest, then in their order */
    uint32_t *class_first;   /* of each class of `fit`: where by_rest has its first run; and rest_count */
    uint64_t *first_piece;   /* of each of these runs: the number, of struct fit_piece, of its first document's rest */
    uint32_t *place_of;      /* of each run: where by_rest has it */
    uint64_t *first_row;     /* of each run from first_long on: its first full row */
    uint64_t rest_count, first_long;
    uint64_t full, rows;                         /* rows with one piece of a longer document; and all */
    uint64_t documents, predictions, empty, cut; /* used; empty: without a prediction; cut: in two rows or more */
    uint64_t lost;                               /* predictions that are not in a row with their document's first */
    uint64_t left_out, unused; /* documents and predictions that the options leave out, in none of these counts */
};

/* On failure fit_documents_free() still has to be called. `lengths` and `rules` must stay. */
enum leat_status fit_documents_make(struct fit_documents *f, const struct fit_lengths *lengths,
                                    const struct plan_rules *rules, uint32_t source, uint64_t length,
                                    struct leat_error *err);
void fit_documents_free(struct fit_documents *f);

/* How many pieces row `row` has, and how many of its places they cover. */
uint32_t fit_documents_count(const struct fit_documents *f, uint64_t row, uint32_t *places);

/* The first `wanted` <= fit_documents_count() pieces of sample n, which is row `row` in this epoch. `room` has room for
 * all pieces of a row. */
void fit_documents_row(const struct fit_documents *f, uint64_t row, uint64_t epoch, uint64_t n, struct fit_piece *room,
                       uint32_t wanted, struct fit_found *found);

/* The inverse: the row that shows prediction `at` of document i of a run (fit_lengths_find()) in this epoch; *next: the
 * first prediction after it that another row shows. */
uint64_t fit_documents_find(const struct fit_documents *f, const struct fit_run *run, uint64_t i, uint64_t at,
                            uint64_t epoch, uint64_t *next);

/* Predictions of a document of so many tokens that are used. */
uint64_t fit_documents_predictions(const struct fit_documents *f, uint64_t tokens);

#endif
