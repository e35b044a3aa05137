/*
 * plan_orders.h: the orders of samples, a row each: its number in enum leat_order, its name in plans' texts and on
 * command lines, and its table, plan_order_NAME in order_NAME.c. Numbers have no gaps.
 *
 * To add one: its rule in docs/ORDER.md first, with a twin in tests/order/ and vectors; then order_NAME.c and a row
 * here, its number in enum leat_order, its name in the options of plans and in plan.pyi, which `make lint` compares,
 * and what it does in the help of --order and in leat.Plan. A rule never changes, because runs are resumed with it.
 */
#ifndef LEAT_PLAN_ORDERS_H
#define LEAT_PLAN_ORDERS_H

#define PLAN_ORDERS(each)                                                                                              \
    each(0, "shuffled", windows) each(1, "sequential", windows_sequential) each(2, "documents", documents)             \
        each(3, "documents-sequential", documents_sequential) each(4, "fit", fit) each(5, "megatron", megatron)

#endif
