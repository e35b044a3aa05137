/* page_sum.c: see page_sum.h. */
#include "page_sum.h"

#include <string.h>

void page_sum_begin(struct page_sum *sum, uint64_t pages, struct hash128 whole)
{
    sum->kernels = checksum_kernels();
    sum->whole = whole;
    sum->bytes = pages * CHECKSUM_PAGE;
}

void page_sum_add(struct page_sum *sum, const void *bytes, size_t count)
{
    const uint8_t *from = bytes;

    while (count > 0) {
        size_t held = (size_t)(sum->bytes % CHECKSUM_PAGE), part;
        uint64_t page = sum->bytes / CHECKSUM_PAGE;

        if (held == 0 && count >= CHECKSUM_PAGE) {
            part = count - count % CHECKSUM_PAGE;
            sum->kernels->pages(&sum->whole, from, part, page, NULL);
        } else {
            part = CHECKSUM_PAGE - held < count ? CHECKSUM_PAGE - held : count;
            memcpy(sum->page + held, from, part);
            if (held + part == CHECKSUM_PAGE)
                sum->kernels->pages(&sum->whole, sum->page, CHECKSUM_PAGE, page, NULL);
        }
        sum->bytes += part;
        from += part;
        count -= part;
    }
}

struct hash128 page_sum_now(const struct page_sum *sum)
{
    struct hash128 all = sum->whole;

    sum->kernels->pages(&all, sum->page, (size_t)(sum->bytes % CHECKSUM_PAGE), sum->bytes / CHECKSUM_PAGE, NULL);
    return all;
}
