/*
 * order_fit_trace.c: from tokens to the samples of order fit that show them: each document's predictions lead to their
 * row in every epoch, by the inverse permutations, and the row to its sample; no list is scanned.
 */
#include <stdlib.h>

#include "base/search.h"
#include "base/status.h"
#include "order_fit.h"

/* Predictions of a document that are searched for in a stretch. */
struct document_search {
    const struct leat_plan *plan;
    const struct stretch *stretch;
    struct plan_search *search;
    uint64_t document, start, predictions; /* start: its first token in the source's dataset */
    const struct fit_run *run;             /* of documents of its length; it is document `place` of it */
    uint64_t place;
    uint64_t chunk; /* of its rows */
};

/* The sample that shows the chunk in this epoch. False: the stretch does not show it. */
static bool find_sample(const struct document_search *d, uint64_t epoch, uint64_t *n)
{
    uint64_t row = fit_documents_find(&d->stretch->documents[d->search->source], d->run, d->place, d->chunk, epoch);
    struct sampler_found found;

    if (!sampler_find(&d->stretch->sampler, d->search->source, epoch, row, &found))
        return false;
    *n = found.n;
    return true;
}

/* An epoch before the stretch's first one of this source has no sample in it, and of that one it may have the rest. */
SEARCH_INLINE bool shown_before(const void *context, uint64_t epoch)
{
    const struct document_search *d = context;
    const struct sampler *s = &d->stretch->sampler;
    uint64_t n, first = s->counts[d->search->source] / s->sources[d->search->source].by_blocks.divisor;

    if (epoch < first)
        return true;
    return find_sample(d, epoch, &n) ? n < d->search->from : epoch == first;
}

/* Whether a piece that lies before this document's is searched for too: that one reports the sample. */
static enum leat_status is_reported(const struct document_search *d, const struct leat_sample *x, bool *reported,
                                    struct leat_error *err)
{
    struct leat_piece *pieces;
    enum leat_status s;

    *reported = false;
    if (d->search->first >= d->start)
        return LEAT_OK;
    pieces = calloc(x->pieces, sizeof *pieces);
    s = pieces ? fit_pieces(d->plan, x, 1, pieces, err) : status_no_memory(err, x->pieces * sizeof *pieces);
    for (uint32_t i = 0; s == LEAT_OK && i < x->pieces; i++)
        *reported |= pieces[i].document < d->document && pieces[i].token + pieces[i].count > d->search->first + 1;
    free(pieces);
    return s;
}

static enum leat_status report(const struct document_search *d, uint64_t n, struct leat_error *err)
{
    struct leat_sample x;
    enum leat_status s = plan_order_samples(d->plan, n, 1, &x, err);
    bool reported = true;

    if (s == LEAT_OK)
        s = is_reported(d, &x, &reported, err);
    if (!reported)
        plan_search_report(d->search, &x);
    return s;
}

/* Looks for the tokens searched for, of one document, in all epochs of its stretch. */
static enum leat_status find_document(struct document_search *d, struct leat_error *err)
{
    const struct plan_search *search = d->search;
    const struct fit_documents *f = &d->stretch->documents[search->source];
    uint64_t from = search->first > d->start ? search->first - d->start : 0, end = search->end - d->start, n;
    enum leat_status s = LEAT_OK;

    if (from >= d->predictions)
        return LEAT_OK;
    for (d->chunk = fit_documents_chunk(f, from);
         s == LEAT_OK && d->chunk < fit_documents_chunks(f, d->run) && d->chunk * f->step < end; d->chunk++) {
        uint64_t max = search->epochs < LEAT_MAX_SAMPLES ? search->epochs : LEAT_MAX_SAMPLES;

        for (uint64_t epoch = search_first(0, max, shown_before, d);
             s == LEAT_OK && epoch < max && !search->stopped && find_sample(d, epoch, &n) && n < search->until; epoch++)
            s = report(d, n, err);
    }
    return s;
}

/* Looks for those of documents [first, end). */
static enum leat_status find_documents(struct document_search *d, uint64_t first, uint64_t end, struct leat_error *err)
{
    const struct leat_dataset *dataset = d->plan->sources[d->search->source].dataset;
    const struct fit_order *o = d->plan->derived;
    enum leat_status s = LEAT_OK;
    uint64_t starts[2];

    for (d->document = first; s == LEAT_OK && d->document < end && !d->search->stopped; d->document++) {
        s = leat_dataset_starts(dataset, d->document, 2, starts, err);
        d->start = starts[0];
        if (s != LEAT_OK)
            return s;
        d->predictions =
            fit_documents_predictions(&o->stretches[0].documents[d->search->source], starts[1] - starts[0]);
        if (d->predictions > 0)
            s = fit_lengths_find(&o->lengths[d->search->source], d->document, starts[1] - starts[0], &d->run, &d->place,
                                 err);
        for (uint64_t k = 0; s == LEAT_OK && k < o->count; k++) {
            d->stretch = &o->stretches[k];
            s = find_document(d, err);
        }
    }
    return s;
}

/* Trying a sample in turn is cheaper by this factor than finding the sample of a document. */
#define SCAN_WORTH 4u

enum leat_status fit_trace(const struct leat_plan *plan, struct plan_search *search, struct leat_error *err)
{
    const struct plan_source *source = &plan->sources[search->source];
    struct document_search d = { .plan = plan, .search = search };
    uint64_t first, count;
    enum leat_status s =
        leat_dataset_documents_in(source->dataset, search->first, search->end - search->first, &first, &count, err);

    if (s == LEAT_OK && (search->until - search->from) / SCAN_WORTH <= count)
        return plan_search_try(plan, search, search->from, search->until - search->from, err);
    for (uint32_t i = 0; s == LEAT_OK && i < source->part_count; i++) {
        struct fit_range used;

        s = fit_lengths_used(source, i, &used, err);
        if (s == LEAT_OK)
            s = find_documents(&d, used.first > first ? used.first : first,
                               used.end < first + count ? used.end : first + count, err);
    }
    return s;
}
