/* skips.c: see skips.h. */
#include "skips.h"

#include <stdlib.h>

#include "base/status.h"

enum leat_status skips_make(struct skips *s, const struct skips_range *ranges, uint64_t count, struct leat_error *err)
{
    uint64_t before = 0;

    *s = (struct skips) { .items = calloc((size_t)count + 1, sizeof *s->items) };
    if (!s->items)
        return status_no_memory(err, count * sizeof *s->items);
    for (uint64_t i = 0; i < count; i++) {
        const struct skips_range *r = &ranges[i];

        if (s->count > 0 && s->items[s->count - 1].end == r->first)
            s->items[s->count - 1].end = r->end;
        else
            s->items[s->count++] = (struct skip) { r->first, r->end, before };
        before += r->end - r->first;
    }
    return LEAT_OK;
}

void skips_free(struct skips *s)
{
    free(s->items);
    *s = (struct skips) { .count = 0 };
}

uint64_t skips_number(const struct skips *s, uint64_t position)
{
    uint64_t low = 0, high = s->count;

    /* skips at or before this position */
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;

        if (s->items[middle].first - s->items[middle].before <= position)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return position;
    return position + s->items[low - 1].before + (s->items[low - 1].end - s->items[low - 1].first);
}

/* How many skips begin at or before sample n. */
static uint64_t skips_begun(const struct skips *s, uint64_t n)
{
    uint64_t low = 0, high = s->count;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;

        if (s->items[middle].first <= n)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint64_t skips_next(const struct skips *s, uint64_t n)
{
    uint64_t begun = skips_begun(s, n);

    return begun < s->count ? s->items[begun].first : UINT64_MAX;
}

uint64_t skips_position(const struct skips *s, uint64_t n, bool *skipped)
{
    uint64_t begun = skips_begun(s, n);
    const struct skip *skip;

    *skipped = false;
    if (begun == 0)
        return n;
    skip = &s->items[begun - 1];
    if (n < skip->end) {
        *skipped = true;
        return skip->first - skip->before;
    }
    return n - skip->before - (skip->end - skip->first);
}
