/* fit_sort.c: see fit_sort.h. */
#include "fit_sort.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/search.h"
#include "base/status.h"

#define STARTS_AT_ONCE 4096u
#define COUNTED        ((uint64_t)1 << 20) /* shorter documents have a counter for their length */

typedef enum leat_status add_call(struct fit_sort *x, uint32_t number, uint64_t tokens, struct leat_error *err);

/* Inlined with each `add`: a call per document takes longer than most of what it does. */
SEARCH_INLINE enum leat_status read_documents(struct fit_sort *x, add_call *add, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    uint64_t starts[STARTS_AT_ONCE + 1];

    for (uint64_t i = 0; s == LEAT_OK && i < x->range_count; i++)
        for (uint64_t at = x->ranges[i].first, here; s == LEAT_OK && at < x->ranges[i].end; at += here) {
            here = x->ranges[i].end - at < STARTS_AT_ONCE ? x->ranges[i].end - at : STARTS_AT_ONCE;
            s = leat_dataset_starts(x->dataset, at, here + 1, starts, err);
            for (uint64_t k = 0; s == LEAT_OK && k < here; k++)
                s = add(x, (uint32_t)(at + k - x->base), starts[k + 1] - starts[k], err);
            x->done += here;
            if (s == LEAT_OK && x->progress && x->progress(x->context, 8 * x->done, 8 * x->total))
                s = status_set(err, LEAT_E_STOPPED, "stopped");
        }
    return s;
}

/* ---- Counting ---- */

static enum leat_status count_document(struct fit_sort *x, uint32_t number, uint64_t tokens, struct leat_error *err)
{
    enum leat_status s;

    if (tokens < COUNTED) {
        x->counts[tokens]++;
        x->count_end = tokens < x->count_end ? x->count_end : tokens + 1;
        return LEAT_OK;
    }
    s = GROW(x->longs, x->long_count + 1, x->long_room, err);
    if (s != LEAT_OK)
        return s;
    x->longs[x->long_count++] = (struct fit_long) { tokens, number };
    return LEAT_OK;
}

static int compare_longs(const void *left, const void *right)
{
    const struct fit_long *a = left, *b = right;

    return a->tokens != b->tokens ? a->tokens < b->tokens ? -1 : 1 : a->number < b->number ? -1 : a->number > b->number;
}

static enum leat_status make_runs(struct fit_sort *x, struct leat_error *err)
{
    uint64_t count = x->long_count;

    for (uint64_t tokens = 0; tokens < x->count_end; tokens++)
        count += x->counts[tokens] > 0;
    x->runs = malloc((size_t)(count + 1) * sizeof *x->runs);
    if (!x->runs)
        return status_no_memory(err, count * sizeof *x->runs);
    for (uint64_t tokens = 0; tokens < x->count_end; tokens++) {
        if (x->counts[tokens] > 0)
            x->runs[x->run_count++] = (struct fit_run) { tokens, x->documents, x->counts[tokens], 0 };
        x->documents += x->counts[tokens];
    }
    if (x->long_count > 0)
        qsort(x->longs, x->long_count, sizeof *x->longs, compare_longs);
    for (uint64_t i = 0; i < x->long_count; i++, x->documents++) {
        if (x->run_count == 0 || x->runs[x->run_count - 1].tokens != x->longs[i].tokens)
            x->runs[x->run_count++] = (struct fit_run) { x->longs[i].tokens, x->documents, 0, 0 };
        x->runs[x->run_count - 1].count++;
    }
    return LEAT_OK;
}

enum leat_status fit_sort_count(struct fit_sort *x, struct leat_error *err)
{
    enum leat_status s;

    x->counts = calloc(COUNTED, sizeof *x->counts);
    x->places = calloc(COUNTED, sizeof *x->places);
    if (!x->counts || !x->places)
        return status_no_memory(err, 2 * COUNTED * sizeof *x->counts);
    s = read_documents(x, count_document, err);
    return s == LEAT_OK ? make_runs(x, err) : s;
}

/* ---- Placing ---- */

static enum leat_status place_document(struct fit_sort *x, uint32_t number, uint64_t tokens, struct leat_error *err)
{
    uint64_t place;

    (void)err;
    if (tokens >= COUNTED)
        return LEAT_OK;
    place = x->places[tokens]++ - x->first; /* wraps around before the window */
    if (place < x->count)
        x->list[place] = number;
    return LEAT_OK;
}

enum leat_status fit_sort_list(struct fit_sort *x, uint64_t first, uint64_t count, uint32_t *list,
                               struct leat_error *err)
{
    uint64_t place = 0;

    x->list = list;
    x->first = first;
    x->count = count;
    for (uint64_t tokens = 0; tokens < x->count_end; tokens++) {
        x->places[tokens] = place;
        place += x->counts[tokens];
    }
    for (uint64_t i = 0; i < x->long_count; i++)
        if (place + i - first < count)
            list[place + i - first] = x->longs[i].number;
    return read_documents(x, place_document, err);
}

void fit_sort_free(struct fit_sort *x)
{
    free(x->runs);
    free(x->counts);
    free(x->places);
    free(x->longs);
    *x = (struct fit_sort) { .documents = 0 };
}
