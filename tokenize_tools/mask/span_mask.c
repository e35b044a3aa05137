/* span_mask.c: see span_mask.h. */
#include "span_mask.h"

#include <string.h>

#include "base/status.h"

/* Returns the first token from `i` on that ends after `byte`. */
static uint64_t first_after(const uint64_t *ends, uint64_t i, uint64_t count, uint64_t byte)
{
    while (i < count && ends[i] <= byte)
        i++;
    return i;
}

void span_mask(const uint64_t *ends, uint64_t count, const struct leat_span *spans, uint64_t span_count, uint8_t *mask)
{
    memset(mask, 0, (size_t)count);
    for (uint64_t i = 0, next = 0; next < span_count && i < count; next++) {
        if (spans[next].end == spans[next].begin)
            continue;
        /* a token without bytes is in no span */
        for (i = first_after(ends, i, count, spans[next].begin); i < count; i++) {
            uint64_t begin = i > 0 ? ends[i - 1] : 0;

            if (begin >= spans[next].end)
                break;
            if (begin < ends[i])
                mask[i] = UINT8_MAX;
        }
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
