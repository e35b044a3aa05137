/*
 * plan_order.h: an order: the rule that gives the pieces of sample n, for all n, and the samples that show given
 * tokens. Each is a row in plan_order.c and a file order_NAME.c with its table; everything else (plans, states, the
 * loader, commands) goes through the table.
 *
 * A row of L inputs is a list of pieces. Place p of the row holds the token of the piece that covers p, and its label
 * is the token after it in the same piece or, if the piece ends there, the first token of the next piece. So a piece of
 * c places has c tokens if the next piece has its last label, or c + 1 if it has that label itself; the last piece of a
 * row always does. (With `align`, such a row has gaps: leat.h, struct leat_piece.)
 *
 * To add one: its rule in docs/ORDER.md first, with a second implementation and vectors in tests/order/
 * (order_twin.py, state_twin.py, vectors.py, check_order.py); then order_NAME.c, its name here and its row in
 * plan_order.c, its number in enum leat_order, its name in the options of plans (cli/plan_options.c) and in plan.pyi,
 * which `make lint` compares, and what it does in the help of --order and in leat.Plan. If it does not shuffle, --rows
 * documents of leat-bench (bench/load/load.c) and leat.Plan (plan.py, _documents()) know that by its name. A rule
 * never changes, because runs are resumed with it.
 */
#ifndef LEAT_PLAN_ORDER_H
#define LEAT_PLAN_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "leat.h"

struct plan_search;

#define PLAN_ORDER_SETTINGS 6u

struct plan_order {
    /* The features of plans that the order uses: */
    bool weights; /* weights of sources; without them every stretch of samples has tokens of all sources */
    bool phases;  /* the plan may have phases */
    bool blocks;  /* sources are cut into blocks of base_len, and one with a weight must have a block */
    bool lengths; /* phases may have any length: there is no base length */
    bool indexed; /* documents come from the index: the sources' begin and end tokens may differ */
    /* The loader sorts each rank's rows of a batch by length, longest first. */
    bool longest_first;
    /* Rows of whole documents: every piece of c predictions has c + 1 tokens, its last label included; a row may end
     * before the phase's length, with padding up to it. */
    bool own_labels;
    bool sequential;
    bool megatron; /* the plan's settings are Megatron's (plan_megatron.c) */

    /* The name and version of the order's own rule, which states keep; NULL and 0: none. */
    const char *rule;
    uint32_t rule_version;
    uint32_t sources_version; /* version of the rule if sources have rules of their own */

    /* Derives from the plan's rules and sources what the order needs (plan->derived); sets plan->end, and
     * plan->max_length if that is not the longest seq_len of the phases. */
    enum leat_status (*open)(struct leat_plan *plan, struct leat_error *err);
    void (*close)(struct leat_plan *plan); /* frees plan->derived, also after a failed `open` */

    /* Gets other numbers that decide the order of a source, at most PLAN_ORDER_SETTINGS, and returns how many;
     * states keep a hash of them. NULL: nothing else decides. */
    unsigned (*settings)(const struct leat_plan *plan, size_t source, uint64_t *numbers);

    /* Fills in all fields of samples [n, n + count), all below plan->end; with `begins`, all but token, offset and
     * part. */
    enum leat_status (*samples)(const struct leat_plan *plan, uint64_t n, uint64_t count, struct leat_sample *samples,
                                struct leat_error *err);

    /* Announces to file servers what `samples` will read of indexes for these samples. NULL: it reads nothing. */
    void (*announce)(const struct leat_plan *plan, uint64_t n, uint64_t count);

    /* Fills in token, offset and part, which the first piece of a row gives, too: a caller that asks for the pieces
     * anyway need not wait for both. NULL: `samples` fills them in at no cost. */
    enum leat_status (*begins)(const struct leat_plan *plan, struct leat_sample *samples, uint64_t count,
                               struct leat_error *err);

    /* Gives the pieces of these samples, one sample after another; each has as many as it says, in the order of its
     * row. NULL: each sample is one piece, which its own fields describe. */
    enum leat_status (*pieces)(const struct leat_plan *plan, const struct leat_sample *samples, uint64_t count,
                               struct leat_piece *pieces, struct leat_error *err);

    /* Computes what attention costs for each of these samples: for whole documents, the sum of the squares of their
     * places, and of the places after the last one. NULL: the cost is not known without looking for documents. */
    void (*attention)(const struct leat_plan *plan, const struct leat_sample *samples, uint64_t count, uint64_t *costs);

    /* Searches in the inverse direction: calls plan_search_try() at least for all samples that show the tokens
     * searched for. */
    enum leat_status (*trace)(const struct leat_plan *plan, struct plan_search *search, struct leat_error *err);
};

/* The orders of samples: plan_order_NAME in order_NAME.c. */
extern const struct plan_order plan_order_windows, plan_order_windows_sequential, plan_order_documents,
    plan_order_documents_sequential, plan_order_fit, plan_order_megatron;

/* Returns the order of this number, or NULL. */
const struct plan_order *plan_order_of(uint64_t number);

/* Finds the number of an order by its name; false: unknown name. */
bool plan_order_find(const char *name, size_t length, uint32_t *number);

/* Gives samples [n, n + count), with all fields. */
enum leat_status plan_order_samples(const struct leat_plan *plan, uint64_t n, uint64_t count,
                                    struct leat_sample *samples, struct leat_error *err);

/* Gives the pieces of samples, by the table or from the samples themselves. */
enum leat_status plan_order_pieces(const struct leat_plan *plan, const struct leat_sample *samples, uint64_t count,
                                   struct leat_piece *pieces, struct leat_error *err);

/* ---- Searching ---- */

/* A search for samples that show one of tokens [first, end) of a source's dataset as an input. */
struct plan_search {
    uint32_t source;
    uint64_t first, end;
    uint64_t own_first, own_end; /* the source's own numbers of tokens (plan_source.h), which hold all of these */
    uint64_t epochs;             /* epochs below this are searched */
    uint64_t from, until;        /* samples [from, until) are searched; until is at most plan->end */
    leat_plan_found *found;
    void *context;
    bool stopped;            /* the caller wants no more samples, or the search has failed */
    enum leat_status status; /* why it has failed, for searches that cannot return it at once */
};

/* Looks at samples [n, n + count), and reports those that show the tokens. */
enum leat_status plan_search_try(const struct leat_plan *plan, struct plan_search *search, uint64_t n, uint64_t count,
                                 struct leat_error *err);

/* Reports a sample that is known to show the tokens. */
void plan_search_report(struct plan_search *search, const struct leat_sample *sample);

#endif
