#include "skips.h"

#include <stdlib.h>

#include "base/search.h"
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

struct wanted {
    const struct skip *items;
    uint64_t number;
};

static bool shown_before(const void *context, uint64_t i)
{
    const struct wanted *w = context;

    return w->items[i].first - w->items[i].before <= w->number;
}

static bool begins_by(const void *context, uint64_t i)
{
    const struct wanted *w = context;

    return w->items[i].first <= w->number;
}

uint64_t skips_number(const struct skips *s, uint64_t position)
{
    /* skips at or before this position */
    uint64_t count = search_first(0, s->count, shown_before, &(struct wanted) { s->items, position });

    if (count == 0)
        return position;
    return position + s->items[count - 1].before + (s->items[count - 1].end - s->items[count - 1].first);
}

/* Returns how many skips begin at or before sample n. */
static uint64_t skips_begun(const struct skips *s, uint64_t n)
{
    return search_first(0, s->count, begins_by, &(struct wanted) { s->items, n });
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
