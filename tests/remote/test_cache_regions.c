/*
 * test_cache_regions.c: the parts of a dataset that the cache evicts together, for files of any size: all pages are in
 * one, there are never more than MOST_REGIONS, and their records in the map begin behind its bytes for pages, where
 * none lies across two of the file system's pages.
 */
#include "cache/cache_inside.h"
#include "t.h"

int main(void)
{
    static const uint64_t sizes[] = { 0, 1, LEAST_REGION, LEAST_REGION + 1, LEAST_REGION * MOST_REGIONS };

    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (uint64_t times = 1; times <= 1 << 20; times = times * 5 + 1)
            for (uint64_t more = 0; more < 3; more++) {
                uint64_t pages = sizes[i] * times + more;
                struct cache_regions r = cache_regions(pages);

                T_CHECK(r.count <= MOST_REGIONS && r.count * r.pages >= pages);
                T_CHECK(r.count == 0 || (r.count - 1) * r.pages < pages);
                T_CHECK(r.at >= pages && r.at % sizeof(struct region) == 0);
                T_CHECK(r.pages == LEAST_REGION || r.count > MOST_REGIONS / 2);
            }
    T_EQ(cache_regions(LEAST_REGION * MOST_REGIONS).pages, LEAST_REGION);
    T_EQ(cache_regions(LEAST_REGION * MOST_REGIONS + 1).pages, 2 * LEAST_REGION);
    return t_end();
}
