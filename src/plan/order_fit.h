/* order_fit.h: the inside of the order fit: what order_fit.c makes, and order_fit_trace.c searches. */
#ifndef LEAT_ORDER_FIT_H
#define LEAT_ORDER_FIT_H

#include "fit_documents.h"
#include "order/sampler.h"
#include "plan.h"

/* Phases with rows of the same length. */
struct stretch {
    uint64_t begin, end; /* the first sample, and the first after it */
    uint64_t length;
    struct sampler sampler;
    struct fit_documents *documents; /* of the set with this length */
};

/* The documents of each source in rows of one length. */
struct fit_set {
    uint64_t length;
    struct fit_documents *documents;
};

/* plan->derived */
struct fit_order {
    struct fit_lengths *lengths; /* of each source */
    struct stretch *stretches;
    uint64_t count;
    struct fit_set *sets; /* one per length of rows */
    uint64_t set_count;
};

/* The calls of the order's table. */
enum leat_status fit_samples(const struct leat_plan *plan, uint64_t n, uint64_t count, struct leat_sample *samples,
                             struct leat_error *err);
enum leat_status fit_begins(const struct leat_plan *plan, struct leat_sample *samples, uint64_t count,
                            struct leat_error *err);
enum leat_status fit_pieces(const struct leat_plan *plan, const struct leat_sample *samples, uint64_t count,
                            struct leat_piece *pieces, struct leat_error *err);
enum leat_status fit_trace(const struct leat_plan *plan, struct plan_search *search, struct leat_error *err);

#endif
