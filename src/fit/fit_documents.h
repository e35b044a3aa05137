/*
 * fit_documents.h: the documents of a source in rows of one length: which document is which piece (docs/ORDER.md, "Rows
 * of whole documents"). A document of more predictions than a row has places gives *full* rows, which it fills alone,
 * and a rest. Each of these but the first begins with the last `overlap` predictions of the one before, as *context*:
 * they are shown again and not learned again. Rests and shorter documents are the pieces of struct fit.
 *
 * Memory: 28 bytes per run of documents of equal length. Never changes once made.
 */
#ifndef LEAT_FIT_DOCUMENTS_H
#define LEAT_FIT_DOCUMENTS_H

#include "fit.h"
#include "fit_lengths.h"

struct fit_documents {
    struct fit fit; /* fit of the pieces; its row 0 is the row after the full ones */
    const struct fit_lengths *lengths;
    uint64_t options[PLAN_FIT_OPTIONS]; /* rules that count for the source */
    uint64_t step;                      /* places from one full row of a document to the next, without context */
    uint32_t *by_rest;                  /* runs whose documents have a rest, by rest, then in their order */
    uint32_t *class_first;              /* place in by_rest of the first run of each class of `fit`, and rest_count */
    uint64_t *first_piece; /* number, of struct fit_piece, of the first document's rest for each of these runs */
    uint32_t *place_of;    /* place of each run in by_rest */
    uint64_t *first_row;   /* first full row of each run from first_long on */
    uint64_t rest_count, first_long;
    uint64_t full, rows;                         /* rows with one piece of a longer document; and all */
    uint64_t documents, predictions, empty, cut; /* used; empty: without a prediction; cut: in two rows or more */
    uint64_t lost;                               /* predictions that are not in a row with their document's first */
    uint64_t context;                            /* places that show predictions again */
    uint64_t left_out, unused; /* documents and predictions that the options leave out, in none of these counts */
};

/* On failure fit_documents_free() still has to be called. `lengths` and `rules` must stay. */
enum leat_status fit_documents_make(struct fit_documents *f, const struct fit_lengths *lengths,
                                    const struct plan_rules *rules, uint32_t source, uint64_t length,
                                    struct leat_error *err);
void fit_documents_free(struct fit_documents *f);

/* The pattern of row `row`; NULL: a full row, of one piece. */
const struct fit_pattern *fit_documents_pattern(const struct fit_documents *f, uint64_t row);

/* Pieces that are being drawn, those of many rows at once. */
struct fit_drawing {
    struct fit_piece *pieces;
    struct permute_draw *draws;
    uint64_t *numbers; /* room for one per piece of a row */
    uint64_t count;    /* number of pieces and draws */
};

/*
 * The pieces of a sample, whose row has pattern `p`, or only the first of them: the piece of a full row is found at
 * once, others are added to those being drawn. When the rows of a batch are there, their draws go through
 * permute_forward_many(), and fit_documents_drawn() finds the `count` pieces of a row in turn, numbered `from` on
 * among those that were drawn.
 */
void fit_documents_row(const struct fit_documents *f, const struct fit_pattern *p, const struct leat_sample *x,
                       bool first_only, struct fit_drawing *drawing, struct fit_found *found);
void fit_documents_drawn(const struct fit_documents *f, const struct fit_drawing *drawing, uint64_t from,
                         uint32_t count, struct fit_found *found);

/* The rows of a document of a run, numbered in it: how many there are, and the first that shows prediction `at`. */
uint64_t fit_documents_chunks(const struct fit_documents *f, const struct fit_run *run);
uint64_t fit_documents_chunk(const struct fit_documents *f, uint64_t at);

/* The inverse: the row that is chunk `chunk` of document i of a run (fit_lengths_find()) in this epoch. It
 * shows the predictions from chunk * step on. */
uint64_t fit_documents_find(const struct fit_documents *f, const struct fit_run *run, uint64_t i, uint64_t chunk,
                            uint64_t epoch);

/* Returns how many predictions of a document with this number of tokens are used. */
uint64_t fit_documents_predictions(const struct fit_documents *f, uint64_t tokens);

#endif
