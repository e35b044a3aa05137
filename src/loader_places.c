/* loader_places.c: see loader_places.h. */
#include "loader_places.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "base/status.h"
#include "dataset.h"

/* The number that stands for "all sources" where documents are permuted: no source has it. */
#define ALL_SOURCES ((uint64_t)UINT32_MAX)

static enum leat_status count_documents(struct loader_places *p, uint64_t sources, struct leat_error *err)
{
    p->first_document = calloc(sources + 1, sizeof *p->first_document);
    if (!p->first_document)
        return status_no_memory(err, (sources + 1) * sizeof *p->first_document);
    for (uint64_t i = 0; i < sources; i++)
        p->first_document[i + 1] = p->first_document[i] + p->plan->sources[i].dataset->documents;
    p->documents = p->first_document[sources];
    if (p->documents == 0 || p->documents > PERMUTE_MOST)
        return status_set(err, LEAT_E_ARGUMENT, "rows of documents need 1 to 2^48 documents, and the plan has %llu",
                          (unsigned long long)p->documents);
    return LEAT_OK;
}

enum leat_status loader_places_open(struct loader_places *p, const struct leat_plan *plan, enum leat_rows rows,
                                    uint64_t most_length, struct leat_error *err)
{
    struct leat_plan_info info = LEAT_PLAN_INFO_INIT;
    enum leat_status s;

    leat_plan_info(plan, &info);
    *p = (struct loader_places) { .plan = plan, .rows = rows, .positions = info.positions };
    p->most_length = (uint32_t)(rows == LEAT_ROWS_DOCUMENTS && most_length ? most_length : info.most_seq_len);
    if (rows != LEAT_ROWS_DOCUMENTS)
        return LEAT_OK;
    if (plan->rules.use)
        return status_set(err, LEAT_E_UNSUPPORTED,
                          "rows of documents cannot be had from a plan with a split: split the dataset by documents "
                          "(leat pack --split), and name one part as the source");
    s = count_documents(p, info.sources, err);
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
    free(p->first_document);
    p->first_document = NULL;
}

static enum leat_status document_row(const struct loader_places *p, uint64_t position, struct leat_sample *sample,
                                     struct leat_error *err)
{
    uint64_t epoch = position / p->documents, at = position % p->documents, document, tokens;
    uint32_t low = 0, high = (uint32_t)p->plan->rules.source_count - 1;
    const struct leat_dataset *d;
    const struct part *part;
    enum leat_status s;

    document = p->plan->rules.sequential ? at : permute_forward(&p->permute, epoch, at);
    while (low < high) { /* the last source that begins at or before it */
        uint32_t middle = low + (high - low + 1) / 2;

        if (p->first_document[middle] <= document)
            low = middle;
        else
            high = middle - 1;
    }
    d = p->plan->sources[low].dataset;
    *sample = (struct leat_sample) { .number = position, .epoch = epoch, .source = low };
    sample->block = sample->window = document - p->first_document[low];
    s = leat_dataset_document(d, sample->block, &sample->token, &tokens, err);
    if (s != LEAT_OK)
        return s;
    part = dataset_part_of_document(d, sample->block);
    sample->part = (uint32_t)(part - d->parts);
    sample->offset = sample->token - part->first_token;
    sample->piece = tokens == 0;
    if (tokens > (uint64_t)p->most_length + 1)
        tokens = (uint64_t)p->most_length + 1;
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
