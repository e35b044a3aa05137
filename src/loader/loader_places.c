/* loader_places.c: see loader_places.h. */
#include "loader_places.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "base/status.h"
#include "dataset/dataset.h"

/* The number that stands for "all sources" where documents are permuted: no source has it. */
#define ALL_SOURCES ((uint64_t)UINT32_MAX)

/* The number in the source of a dataset's first document that begins at or behind this token of it. */
static enum leat_status first_from(const struct leat_dataset *d, const struct leat_part *part, uint64_t token,
                                   uint64_t *document, struct leat_error *err)
{
    uint64_t low = part->first_document, high = part->first_document + part->documents, start;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        enum leat_status s = leat_dataset_starts(d, middle, 1, &start, err);

        if (s != LEAT_OK)
            return s;
        if (start < part->first_token + token)
            low = middle + 1;
        else
            high = middle;
    }
    *document = low;
    return LEAT_OK;
}

/* All documents of a dataset, or, of a plan with a split, those that begin in the used part. */
static enum leat_status add_range(struct loader_places *p, uint32_t source, uint32_t number, struct leat_error *err)
{
    const struct plan_source *from = &p->plan->sources[source];
    struct loader_range *r = &p->ranges[p->range_count++];
    struct leat_part part = LEAT_PART_INIT;
    enum leat_status s = LEAT_OK;
    uint64_t end;

    leat_dataset_part(from->dataset, number, &part, NULL); /* there is one of each number */
    *r = (struct loader_range) { p->documents, part.first_document, source, number };
    end = part.first_document + part.documents;
    if (p->plan->rules.use) {
        s = first_from(from->dataset, &part, from->parts[number].begin, &r->document, err);
        if (s == LEAT_OK)
            s = first_from(from->dataset, &part, from->parts[number].end, &end, err);
    }
    p->documents += end > r->document ? end - r->document : 0;
    return s;
}

static enum leat_status find_documents(struct loader_places *p, uint64_t sources, struct leat_error *err)
{
    uint64_t ranges = 0;
    enum leat_status s = LEAT_OK;

    for (uint64_t i = 0; i < sources; i++)
        ranges += p->plan->sources[i].part_count;
    p->ranges = calloc(ranges, sizeof *p->ranges);
    if (!p->ranges)
        return status_no_memory(err, ranges * sizeof *p->ranges);
    for (uint32_t i = 0; i < sources; i++)
        for (uint32_t k = 0; s == LEAT_OK && k < p->plan->sources[i].part_count; k++)
            s = add_range(p, i, k, err);
    if (s == LEAT_OK && (p->documents == 0 || p->documents > PERMUTE_MAX))
        s = status_set(err, LEAT_E_ARGUMENT, "rows of documents need 1 to 2^48 documents, and the plan has %llu",
                       (unsigned long long)p->documents);
    return s;
}

enum leat_status loader_places_open(struct loader_places *p, const struct leat_plan *plan, enum leat_rows rows,
                                    uint64_t max_length, struct leat_error *err)
{
    struct leat_plan_info info = LEAT_PLAN_INFO_INIT;
    enum leat_status s;

    leat_plan_info(plan, &info);
    *p = (struct loader_places) { .plan = plan, .rows = rows, .positions = info.positions };
    p->max_length = (uint32_t)(rows == LEAT_ROWS_DOCUMENTS && max_length ? max_length : info.max_seq_len);
    if (rows != LEAT_ROWS_DOCUMENTS)
        return LEAT_OK;
    s = find_documents(p, info.sources, err);
    if (s != LEAT_OK)
        return s;
    p->permute = permute_make(p->documents, info.seed, ALL_SOURCES);
    p->positions = LEAT_NONE;
    if (plan->rules.epochs > 0 && !bytes_multiply(plan->rules.epochs, p->documents, &p->positions))
        p->positions = LEAT_NONE;
    return LEAT_OK;
}

void loader_places_close(struct loader_places *p)
{
    free(p->ranges);
    p->ranges = NULL;
}

static enum leat_status document_row(const struct loader_places *p, uint64_t position, struct leat_sample *sample,
                                     struct leat_error *err)
{
    uint64_t epoch = position / p->documents, at = position % p->documents, low = 0, high = p->range_count - 1,
             document = p->plan->rules.sequential ? at : permute_forward(&p->permute, epoch, at), tokens;
    const struct loader_range *r;
    const struct leat_dataset *d;
    enum leat_status s;

    while (low < high) { /* the last range that begins at or before it, since some are empty */
        uint64_t middle = low + (high - low + 1) / 2;

        if (p->ranges[middle].first <= document)
            low = middle;
        else
            high = middle - 1;
    }
    r = &p->ranges[low];
    d = p->plan->sources[r->source].dataset;
    *sample = (struct leat_sample) { .number = position, .epoch = epoch, .source = r->source, .part = r->part };
    sample->block = sample->window = r->document + (document - r->first);
    s = leat_dataset_document(d, sample->block, &sample->token, &tokens, err);
    if (s != LEAT_OK)
        return s;
    sample->offset = sample->token - dataset_part(d, r->part)->first_token;
    sample->piece = tokens == 0;
    if (tokens > (uint64_t)p->max_length + 1)
        tokens = (uint64_t)p->max_length + 1;
    sample->length = tokens ? (uint32_t)(tokens - 1) : 0;
    return LEAT_OK;
}

/* Longest first; equals in their order. */
static int compare_rows(const void *a, const void *b)
{
    const struct leat_sample *x = a, *y = b;

    if (x->length != y->length)
        return x->length < y->length ? 1 : -1;
    return (x->number > y->number) - (x->number < y->number);
}

enum leat_status loader_places_get(const struct loader_places *p, uint64_t first, uint64_t count,
                                   struct leat_sample *samples, uint64_t *got, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    if (p->rows == LEAT_ROWS_WINDOWS)
        return leat_plan_samples(p->plan, first, count, samples, got, err);
    *got = first >= p->positions ? 0 : p->positions - first < count ? p->positions - first : count;
    for (uint64_t i = 0; s == LEAT_OK && i < *got; i++)
        s = document_row(p, first + i, &samples[i], err);
    if (s == LEAT_OK && *got > 1)
        qsort(samples, (size_t)*got, sizeof *samples, compare_rows);
    return s;
}
