#include "plan_order.h"

#include <string.h>

#include "plan.h"

/* The orders, by number in enum leat_order, without gaps. The name is the one in plans' texts and on command lines. */
static const struct {
    const char *name;
    const struct plan_order *order;
} rows[] = {
    [LEAT_ORDER_SHUFFLED] = { "shuffled", &plan_order_windows },
    [LEAT_ORDER_SEQUENTIAL] = { "sequential", &plan_order_windows_sequential },
    [LEAT_ORDER_DOCUMENTS] = { "documents", &plan_order_documents },
    [LEAT_ORDER_DOCUMENTS_SEQUENTIAL] = { "documents-sequential", &plan_order_documents_sequential },
    [LEAT_ORDER_FIT] = { "fit", &plan_order_fit },
    [LEAT_ORDER_MEGATRON] = { "megatron", &plan_order_megatron },
};
#define ROWS (sizeof rows / sizeof rows[0])

const struct plan_order *plan_order_of(uint64_t number)
{
    return number < ROWS ? rows[number].order : NULL;
}

bool plan_order_find(const char *name, size_t length, uint32_t *number)
{
    for (uint32_t i = 0; i < ROWS; i++)
        if (strlen(rows[i].name) == length && memcmp(rows[i].name, name, length) == 0) {
            *number = i;
            return true;
        }
    return false;
}

const char *leat_order_name(enum leat_order order)
{
    return (uint64_t)order < ROWS ? rows[order].name : NULL;
}
