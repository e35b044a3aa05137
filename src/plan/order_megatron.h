/* order_megatron.h: the inside of the order megatron: what order_megatron.c makes, order_megatron_rows.c reads and
 * searches. */
#ifndef LEAT_ORDER_MEGATRON_H_
#define LEAT_ORDER_MEGATRON_H_

#include "order/megatron.h"
#include "plan.h"

/* The used sequences of a source, and their order. */
struct megatron_part {
    uint64_t first, count;
    uint64_t wanted; /* samples to build for, or MEGATRON_NO_SAMPLES */
    double weight;   /* 0: none */
    bool documents;  /* each sequence is a document */
    struct megatron_source order;
};

/* plan->derived */
struct megatron_order {
    struct megatron_part *sources;
    struct megatron_blend blend; /* if `blends` */
    bool blends;
};

/* The calls of the order's table. */
enum leat_status megatron_samples(const struct leat_plan *plan, uint64_t n, uint64_t count, struct leat_sample *samples,
                                  struct leat_error *err);
enum leat_status megatron_pieces(const struct leat_plan *plan, const struct leat_sample *samples, uint64_t count,
                                 struct leat_piece *pieces, struct leat_error *err);
enum leat_status megatron_trace(const struct leat_plan *plan, struct plan_search *search, struct leat_error *err);

#endif
