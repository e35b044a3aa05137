/*
 * plan_order.h: an order: the rule that says which pieces sample n is made of, for all n, and which samples show given
 * tokens. Each is a row of plan_orders.h and a file order_NAME.c with its table; everything else (plans, states, the
 * loader, commands) goes through the table.
 *
 * A row of L inputs is a list of pieces. Place p of the row holds the token of the piece that covers p, and its label
 * is the token after it in the same piece; where the piece has no such token, the first token of the next piece. So a
 * piece of c places has c tokens if the next one goes on with its label, or c + 1 if it brings its own; the last piece
 * of a row always brings its own.
 */
#ifndef LEAT_PLAN_ORDER_H
#define LEAT_PLAN_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "leat.h"
#include "plan_orders.h"

struct plan_search;

struct plan_order {
    /* What of a plan counts. */
    bool weights; /* sources' weights; else each source has its part in every stretch of samples */
    bool phases;  /* they may be given */
    bool blocks;  /* sources are cut into blocks of base_len, and one with a weight must have a block */
    /* A loader sorts the rows that a rank has of a batch by length, longest first. */
    bool longest_first;
    bool sequential;

    /* Derives what it needs from the plan's rules and sources into plan->derived; sets plan->end, and
     * plan->max_length if that is not the longest seq_len of the phases. */
    enum leat_status (*open)(struct leat_plan *plan, struct leat_error *err);
    void (*close)(struct leat_plan *plan); /* frees plan->derived; also what a failed `open` left */

    /* Samples [n, n + count), all below plan->end, in all fields. */
    enum leat_status (*samples)(const struct leat_plan *plan, uint64_t n, uint64_t count, struct leat_sample *samples,
                                struct leat_error *err);

    /* The pieces of these samples, one sample's after another's: each has as many as it says, in the order of the row.
     * NULL: each sample is one piece, which its own fields describe. */
    enum leat_status (*pieces)(const struct leat_plan *plan, const struct leat_sample *samples, uint64_t count,
                               struct leat_piece *pieces, struct leat_error *err);

    /* The inverse: calls plan_search_try() for all samples that may show the tokens searched for, at least. NULL:
     * all samples are tried in turn, as long as they are at most 2^40. */
    enum leat_status (*trace)(const struct leat_plan *plan, struct plan_search *search, struct leat_error *err);
};

#define PLAN_ORDER_DECLARE(number, name, table) extern const struct plan_order plan_order_##table;
PLAN_ORDERS(PLAN_ORDER_DECLARE)
#undef PLAN_ORDER_DECLARE

/* NULL: no order has this number. */
const struct plan_order *plan_order_of(uint64_t number);

/* The number of the order of this name; false: none is called so. */
bool plan_order_find(const char *name, size_t length, uint32_t *number);

/* The pieces of samples, by the table or from the samples themselves. */
enum leat_status plan_order_pieces(const struct leat_plan *plan, const struct leat_sample *samples, uint64_t count,
                                   struct leat_piece *pieces, struct leat_error *err);

/* ---- Searching (plan_trace.c) ---- */

/* Samples that show a token of [first, end) of a source's dataset as an input. */
struct plan_search {
    uint32_t source;
    uint64_t first, end;
    uint64_t epochs, until; /* only of epochs, and numbers, below these; until is at most plan->end */
    leat_plan_found *found;
    void *context;
    bool stopped; /* by the caller: nothing more is to be tried */
};

/* Looks at samples [n, n + count), and reports those that show the tokens. */
enum leat_status plan_search_try(const struct leat_plan *plan, struct plan_search *search, uint64_t n, uint64_t count,
                                 struct leat_error *err);

/* The same of a sample that is known to show them. */
void plan_search_report(struct plan_search *search, const struct leat_sample *sample);

#endif
