/* lengths.c: see info.h. */
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "info.h"

#define BLOCK_DOCUMENTS 65536u /* number of starts that are read at once: half a MiB */

static unsigned bucket_of(uint64_t length)
{
    unsigned k = 0;

    for (; length > 0; length >>= 1)
        k++;
    return k;
}

static void count_lengths(struct length_histogram *h, const uint64_t *starts, uint64_t documents)
{
    for (uint64_t i = 0; i < documents; i++) {
        uint64_t length = starts[i + 1] - starts[i];

        h->buckets[bucket_of(length)]++;
        if (length < h->shortest)
            h->shortest = length;
        if (length > h->longest)
            h->longest = length;
    }
    h->documents += documents;
    h->tokens += starts[documents] - starts[0];
}

/* Counts documents [first, first + count), in blocks that `starts` has room for. */
static enum leat_status count_run(struct length_histogram *h, const struct leat_dataset *d, uint64_t first,
                                  uint64_t count, uint64_t *starts, struct leat_error *err)
{
    while (count > 0) {
        uint64_t part = count < BLOCK_DOCUMENTS ? count : BLOCK_DOCUMENTS;
        enum leat_status s = leat_dataset_starts(d, first, part + 1, starts, err);

        if (s != LEAT_OK)
            return s;
        count_lengths(h, starts, part);
        first += part;
        count -= part;
    }
    return LEAT_OK;
}

enum leat_status length_histogram_count(struct length_histogram *h, const struct leat_dataset *d,
                                        struct leat_error *err)
{
    struct leat_info info = LEAT_INFO_INIT;
    uint64_t *starts = malloc((BLOCK_DOCUMENTS + 1) * sizeof *starts);
    enum leat_status s = LEAT_OK;
    uint64_t stride;

    if (!starts)
        return status_no_memory(err, (BLOCK_DOCUMENTS + 1) * sizeof *starts);
    memset(h, 0, sizeof *h);
    h->shortest = UINT64_MAX;
    leat_dataset_info(d, &info);
    if (info.documents == LEAT_NONE)
        info.documents = 0;
    /* runs of a sample must not overlap */
    h->sampled = info.documents > HISTOGRAM_EXACT && info.documents >= (uint64_t)HISTOGRAM_RUN * HISTOGRAM_RUNS;
    if (h->sampled) {
        stride = info.documents / HISTOGRAM_RUNS;
        for (uint64_t run = 0; run < HISTOGRAM_RUNS && s == LEAT_OK; run++)
            s = count_run(h, d, run * stride, HISTOGRAM_RUN, starts, err);
    } else {
        s = count_run(h, d, 0, info.documents, starts, err);
    }
    if (h->documents == 0)
        h->shortest = 0;
    free(starts);
    return s;
}

double length_histogram_mean(const struct length_histogram *h)
{
    return h->documents > 0 ? (double)h->tokens / (double)h->documents : 0;
}

uint64_t length_histogram_min(unsigned k)
{
    return k == 0 ? 0 : (uint64_t)1 << (k - 1);
}

uint64_t length_histogram_max(unsigned k)
{
    return k == 0 ? 0 : UINT64_MAX >> (64 - k);
}

bool length_histogram_range(const struct length_histogram *h, unsigned *first, unsigned *last)
{
    bool any = false;

    for (unsigned k = 0; k < HISTOGRAM_BUCKETS; k++)
        if (h->buckets[k] > 0) {
            *first = any ? *first : k;
            *last = k;
            any = true;
        }
    return any;
}
