/* repeated_inputs.c: see repeated_inputs.h. */
#include "repeated_inputs.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"

static int by_number(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Files before things, by which file or thing they are; 0 for the same one. */
static int compare(const struct input *a, const struct input *b)
{
    if (a->thing || b->thing)
        return a->thing && b->thing ? strcmp(a->path, b->path) : by_number(a->thing != NULL, b->thing != NULL);
    return a->device != b->device ? by_number(a->device, b->device) : by_number(a->inode, b->inode);
}

/* The same ones in the order of the list: they lie in one array. */
static int by_input(const void *x, const void *y)
{
    const struct input *a = *(const struct input *const *)x, *b = *(const struct input *const *)y;
    int order = compare(a, b);

    return order != 0 ? order : (a > b) - (a < b);
}

enum leat_status inputs_count_repeated(const struct input_list *list, size_t *count, const struct input **first,
                                       struct leat_error *err)
{
    const struct input **sorted = calloc(list->count, sizeof *sorted);

    *count = 0;
    *first = NULL;
    if (!sorted)
        return list->count == 0 ? LEAT_OK : status_no_memory(err, list->count * sizeof *sorted);
    for (size_t i = 0; i < list->count; i++)
        sorted[i] = &list->items[i];
    qsort(sorted, list->count, sizeof *sorted, by_input);
    for (size_t i = 1; i < list->count; i++) {
        if (compare(sorted[i - 1], sorted[i]) != 0)
            continue;
        ++*count;
        if (!*first || sorted[i] < *first)
            *first = sorted[i];
    }
    free(sorted);
    return LEAT_OK;
}
