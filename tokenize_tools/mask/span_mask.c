/* span_mask.c: see span_mask.h. */
#include "span_mask.h"

#include "base/status.h"

void span_mask(const uint64_t *ends, uint64_t count, const struct leat_span *spans, uint64_t span_count, uint8_t *mask)
{
    uint64_t begin = 0, next = 0;

    for (uint64_t i = 0; i < count; begin = ends[i++]) {
        while (next < span_count && (spans[next].end <= begin || spans[next].end == spans[next].begin))
            next++;
        mask[i] = next < span_count && spans[next].begin < ends[i] && begin < ends[i] ? UINT8_MAX : 0;
    }
}

enum leat_status span_check(const struct leat_span *spans, uint64_t span_count, uint64_t bytes, struct leat_error *err)
{
    uint64_t before = 0;

    for (uint64_t i = 0; i < span_count; before = spans[i++].end)
        if (spans[i].begin < before || spans[i].end < spans[i].begin || spans[i].end > bytes)
            return status_argument(
                err, "spans",
                "span %llu of a mask, [%llu, %llu), ends before it begins, begins before the end of the one before, or "
                "ends after the text, at %llu",
                (unsigned long long)i, (unsigned long long)spans[i].begin, (unsigned long long)spans[i].end,
                (unsigned long long)bytes);
    return LEAT_OK;
}
