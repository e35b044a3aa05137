/*
 * order_documents.c: the orders of whole documents, one per row, for fine-tuning: sample n is document P(n mod D) of
 * all D documents of the plan, where P is the permutation of epoch n div D, or P(i) = i in sequential order
 * (docs/ORDER.md).
 *
 * The documents of one dataset that the plan uses follow each other, so D documents are as many *runs* as the plan has
 * datasets. A document's number among the D leads to its run and to its number in the source, and back.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/search.h"
#include "base/status.h"
#include "dataset/dataset.h"
#include "dataset/part_index.h"
#include "order/permute.h"
#include "plan.h"

/* The source number for permuting the documents of all sources, which no source has. */
#define ALL_SOURCES ((uint64_t)UINT32_MAX)

/* The used documents of one dataset of a source. */
struct run {
    uint64_t first; /* documents in all runs before this one */
    uint64_t count;
    uint64_t document;    /* the source's own number (plan_source.h) of the first document */
    uint64_t first_token; /* number in the source of the dataset's first token */
    uint32_t source, part;
};

struct documents {
    struct run *runs;
    uint64_t run_count;
    uint64_t count; /* D */
    struct permute permute;
};

/* ---- Opening ---- */

/* Returns LEAT_E_NOT_FOUND unless all datasets of all sources record where their documents start. */
static enum leat_status need_documents(const struct leat_plan *plan, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < plan->rules.source_count; i++)
        s = leat_dataset_starts(plan->sources[i].dataset, 0, 0, NULL, err);
    return s;
}

/* Adds a run: all documents of a dataset, or in a plan with a split those that begin in its used range. */
static enum leat_status add_run(struct leat_plan *plan, uint32_t source, uint32_t number, struct leat_error *err)
{
    struct documents *o = plan->derived;
    struct plan_source *from = &plan->sources[source];
    struct run *r = &o->runs[o->run_count++];
    enum leat_status s;
    uint64_t end;

    *r = (struct run) {
        .first = o->count, .first_token = from->parts[number].list_token, .source = source, .part = number
    };
    s = plan_source_used(from, number, &r->document, &end, err);
    r->count = s == LEAT_OK ? end - r->document : 0;
    o->count += r->count;
    from->blocks += r->count;
    return s;
}

static enum leat_status wrong_count(const struct plan_rules *rules, uint64_t count, struct leat_error *err)
{
    char fraction[DECIMAL_TEXT];

    status_argument(err, "sources", "an order of documents needs 1 to 2^48 documents, and the plan has %" PRIu64,
                    count);
    if (err && rules->use && count == 0)
        status_after(err, ": none starts in the range \"%.*s\" of the split; give it a larger fraction than %s",
                     PLAN_SHOWN, rules->use, decimal_print(plan_rules_used(rules)->fraction, fraction));
    return LEAT_E_ARGUMENT;
}

static enum leat_status add_runs(struct leat_plan *plan, struct leat_error *err)
{
    struct documents *o = plan->derived;
    enum leat_status s = LEAT_OK;
    uint64_t runs = 0;

    for (size_t i = 0; i < plan->rules.source_count; i++)
        runs += plan->sources[i].part_count;
    o->runs = calloc(runs, sizeof *o->runs);
    if (!o->runs)
        return status_no_memory(err, runs * sizeof *o->runs);
    for (uint32_t i = 0; i < plan->rules.source_count; i++)
        for (uint32_t k = 0; s == LEAT_OK && k < plan->sources[i].part_count; k++)
            s = add_run(plan, i, k, err);
    if (s == LEAT_OK && (o->count == 0 || o->count > PERMUTE_MAX))
        s = wrong_count(&plan->rules, o->count, err);
    return s;
}

static enum leat_status documents_open(struct leat_plan *plan, struct leat_error *err)
{
    struct documents *o = plan->derived = calloc(1, sizeof *o);
    enum leat_status s;

    if (!o)
        return status_no_memory(err, sizeof *o);
    s = need_documents(plan, err);
    if (s == LEAT_OK)
        s = add_runs(plan, err);
    if (s != LEAT_OK)
        return s;
    o->permute = permute_make(o->count, plan->rules.seed, ALL_SOURCES);
    if (plan->rules.epochs == 0 || !bytes_multiply(plan->rules.epochs, o->count, &plan->end) ||
        plan->end > LEAT_MAX_SAMPLES)
        plan->end = LEAT_MAX_SAMPLES;
    return LEAT_OK;
}

static void documents_close(struct leat_plan *plan)
{
    struct documents *o = plan->derived;

    if (o)
        free(o->runs);
    free(o);
}

/* ---- Samples ---- */

struct wanted_document {
    const struct run *runs;
    uint64_t document;
};

SEARCH_INLINE bool begins_by(const void *context, uint64_t run)
{
    const struct wanted_document *w = context;

    return w->runs[run].first <= w->document;
}

/* Returns the run of document `at`: the last that begins at or before it, because some runs are empty. */
static const struct run *run_of(const struct documents *o, uint64_t at)
{
    return &o->runs[search_first(1, o->run_count, begins_by, &(struct wanted_document) { o->runs, at }) - 1];
}

/* Returns the document of sample n, numbered among all D documents, and sets its epoch. */
static uint64_t document_of(const struct leat_plan *plan, uint64_t n, uint64_t *epoch)
{
    const struct documents *o = plan->derived;

    *epoch = n / o->count;
    return plan->order->sequential ? n % o->count : permute_forward(&o->permute, *epoch, n % o->count);
}

static void announce_plain(const struct leat_plan *plan, uint64_t n, uint64_t count)
{
    for (uint64_t i = 0, epoch; i < count; i++) {
        uint64_t at = document_of(plan, n + i, &epoch);
        const struct run *r = run_of(plan->derived, at);
        struct part *p = dataset_part(plan->sources[r->source].dataset, r->part);

        part_index_announce_document(p, plan_source_document(&plan->sources[r->source], r->document + (at - r->first)) -
                                            p->first_document);
    }
}

static enum leat_status fill_sample(const struct leat_plan *plan, uint64_t n, struct leat_sample *sample,
                                    struct leat_error *err)
{
    const struct documents *o = plan->derived;
    uint64_t epoch, at = document_of(plan, n, &epoch), tokens;
    const struct run *r = run_of(o, at);
    enum leat_status s;

    *sample = (struct leat_sample) { .number = n, .epoch = epoch, .source = r->source, .part = r->part, .pieces = 1 };
    sample->window = r->document + (at - r->first);
    sample->block = plan_source_document(&plan->sources[r->source], sample->window);
    s = leat_dataset_document(plan->sources[r->source].dataset, sample->block, &sample->token, &tokens, err);
    if (s != LEAT_OK)
        return s;
    sample->offset = sample->token - r->first_token;
    if (tokens > plan->max_length + 1)
        tokens = plan->max_length + 1;
    sample->tokens = (uint32_t)tokens;
    sample->length = tokens ? (uint32_t)(tokens - 1) : 0;
    return LEAT_OK;
}

/* ---- Batches by tokens ---- */

/*
 * Makes batches by tokens. Consecutive samples of the plain order form a *pool*, which is sorted by length, cut into
 * batches by their tokens, and shown batch after batch in an order of its own. A sample's `slice` is the number of
 * its row in its batch. Each call makes the pools that it needs: about 0.3 us for each of their samples.
 */

/* The source number for permuting the batches of a pool, which no source has. */
#define BATCHES ((uint64_t)UINT32_MAX - 1)

/* Shortest first. */
static int compare_lengths(const void *a, const void *b)
{
    const struct leat_sample *x = a, *y = b;

    if (x->tokens != y->tokens)
        return x->tokens < y->tokens ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* Cuts `count` samples, sorted by rising length, into batches. ends[] gets the end of each. Returns how many there
 * are. */
static uint64_t cut_batches(const struct leat_plan *plan, const struct leat_sample *samples, uint64_t count,
                            uint64_t *ends)
{
    const uint64_t *o = plan->rules.by_tokens;
    uint64_t batches = 0, begin = 0;

    for (uint64_t i = 0; i < count; i++) {
        uint64_t tokens = samples[i].tokens > 2 ? samples[i].tokens : 2;

        if (i > begin && (i - begin == o[PLAN_MAX_ROWS] || (i - begin + 1) * tokens > o[PLAN_MAX_TOKENS])) {
            ends[batches++] = i;
            begin = i;
        }
    }
    ends[batches++] = count;
    return batches;
}

/* Puts the samples of a pool, sorted by rising length, into the order in which they are shown. */
static void arrange_pool(const struct leat_plan *plan, uint64_t pool, const struct leat_sample *sorted,
                         const uint64_t *ends, uint64_t batches, struct leat_sample *to)
{
    const struct permute p = permute_make(batches, plan->rules.seed, BATCHES);
    uint64_t shown = 0;

    for (uint64_t k = 0; k < batches; k++) {
        uint64_t b = plan->order->sequential ? k : permute_forward(&p, pool, k), begin = b > 0 ? ends[b - 1] : 0;

        for (uint64_t i = ends[b]; i > begin; i--, shown++) { /* longest first */
            to[shown] = sorted[i - 1];
            to[shown].number = pool * plan->rules.by_tokens[PLAN_POOL] + shown;
            to[shown].slice = (uint32_t)(ends[b] - i);
        }
    }
}

/* Makes the samples of a pool, in the order in which they are shown. `to` has room for them, and so have `sorted`
 * and `ends`. */
static enum leat_status make_pool(const struct leat_plan *plan, uint64_t pool, uint64_t count,
                                  struct leat_sample *sorted, uint64_t *ends, struct leat_sample *to,
                                  struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (uint64_t i = 0; s == LEAT_OK && i < count; i++)
        s = fill_sample(plan, pool * plan->rules.by_tokens[PLAN_POOL] + i, &sorted[i], err);
    if (s != LEAT_OK)
        return s;
    qsort(sorted, (size_t)count, sizeof *sorted, compare_lengths);
    arrange_pool(plan, pool, sorted, ends, cut_batches(plan, sorted, count, ends), to);
    return s;
}

static enum leat_status samples_by_tokens(const struct leat_plan *plan, uint64_t n, uint64_t count,
                                          struct leat_sample *samples, struct leat_error *err)
{
    uint64_t room = plan->rules.by_tokens[PLAN_POOL];
    struct leat_sample *sorted = malloc((size_t)(2 * room) * sizeof *sorted), *shown = sorted + room;
    uint64_t *ends = malloc((size_t)room * sizeof *ends);
    enum leat_status s = sorted && ends ? LEAT_OK : status_no_memory(err, 2 * room * sizeof *sorted);

    for (uint64_t done = 0, here; s == LEAT_OK && done < count; done += here) {
        uint64_t pool = (n + done) / room, at = (n + done) % room;
        uint64_t all = plan->end - pool * room < room ? plan->end - pool * room : room;

        here = count - done < all - at ? count - done : all - at;
        s = make_pool(plan, pool, all, sorted, ends, shown, err);
        if (s == LEAT_OK)
            memcpy(samples + done, shown + at, (size_t)here * sizeof *samples);
    }
    free(sorted);
    free(ends);
    return s;
}

/* ---- The calls ---- */

/* Announces samples; for batches by tokens, all samples of their pools. */
static void documents_announce(const struct leat_plan *plan, uint64_t n, uint64_t count)
{
    uint64_t room = plan->rules.by_tokens[PLAN_MAX_TOKENS] > 0 ? plan->rules.by_tokens[PLAN_POOL] : 1;
    uint64_t first = n / room * room, end = bytes_divide_up(n + count, room) * room;

    announce_plain(plan, first, (end < plan->end ? end : plan->end) - first);
}

static enum leat_status documents_samples(const struct leat_plan *plan, uint64_t n, uint64_t count,
                                          struct leat_sample *samples, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    if (plan->rules.by_tokens[PLAN_MAX_TOKENS] > 0)
        return samples_by_tokens(plan, n, count, samples, err);
    for (uint64_t i = 0; s == LEAT_OK && i < count; i++)
        s = fill_sample(plan, n + i, &samples[i], err);
    return s;
}

static enum leat_status documents_pieces(const struct leat_plan *plan, const struct leat_sample *samples,
                                         uint64_t count, struct leat_piece *pieces, struct leat_error *err)
{
    (void)plan;
    (void)err;
    for (uint64_t i = 0; i < count; i++)
        pieces[i] = (struct leat_piece) { .token = samples[i].token,
                                          .offset = samples[i].offset,
                                          .document = samples[i].block,
                                          .source = samples[i].source,
                                          .part = samples[i].part,
                                          .count = samples[i].tokens };
    return LEAT_OK;
}

/* ---- From tokens to samples ---- */

/* Finds the number, in batches by tokens, of the sample that is number n of the plain order, of document `at`. It is
 * LEAT_NONE if the plan ends before. */
static enum leat_status number_by_tokens(const struct leat_plan *plan, uint64_t n, uint64_t at, uint64_t *number,
                                         struct leat_error *err)
{
    const struct documents *o = plan->derived;
    const struct run *r = run_of(o, at);
    uint64_t room = plan->rules.by_tokens[PLAN_POOL], first = n / room * room;
    uint64_t count = plan->end - first < room ? plan->end - first : room;
    struct leat_sample *samples;
    enum leat_status s;

    *number = LEAT_NONE;
    if (n >= plan->end)
        return LEAT_OK;
    samples = malloc((size_t)count * sizeof *samples);
    s = samples ? samples_by_tokens(plan, first, count, samples, err) : status_no_memory(err, count * sizeof *samples);
    for (uint64_t i = 0; s == LEAT_OK && i < count; i++)
        if (samples[i].epoch == n / o->count && samples[i].source == r->source &&
            samples[i].window == r->document + (at - r->first))
            *number = samples[i].number;
    free(samples);
    return s;
}

/* Reports a document's samples in all epochs that are searched. */
static enum leat_status find_document(const struct leat_plan *plan, struct plan_search *search, uint64_t at,
                                      struct leat_error *err)
{
    const struct documents *o = plan->derived;
    bool by_tokens = plan->rules.by_tokens[PLAN_MAX_TOKENS] > 0;
    uint64_t unit = by_tokens ? plan->rules.by_tokens[PLAN_POOL] : 1; /* number of samples that change places with
                                                                         each other */
    enum leat_status s = LEAT_OK;

    for (uint64_t epoch = search->from / unit * unit / o->count;
         s == LEAT_OK && epoch < search->epochs && !search->stopped; epoch++) {
        uint64_t n = epoch * o->count;

        if (n / unit * unit >= search->until)
            break;
        n += plan->order->sequential ? at : permute_inverse(&o->permute, epoch, at);
        if (by_tokens)
            s = number_by_tokens(plan, n, at, &n, err);
        if (s == LEAT_OK && n >= search->from && n < search->until)
            s = plan_search_try(plan, search, n, 1, err);
    }
    return s;
}

static enum leat_status documents_trace(const struct leat_plan *plan, struct plan_search *search,
                                        struct leat_error *err)
{
    const struct documents *o = plan->derived;
    const struct leat_dataset *d = plan->sources[search->source].dataset;
    uint64_t first, end, count;
    enum leat_status s = leat_dataset_documents_in(d, search->first, search->end - search->first, &first, &count, err);

    if (s == LEAT_OK)
        s = plan_source_own(&plan->sources[search->source], first, first + count, &first, &end, err);

    for (uint64_t i = 0; s == LEAT_OK && i < o->run_count; i++) {
        const struct run *r = &o->runs[i];
        uint64_t low = r->document > first ? r->document : first;
        uint64_t high = r->document + r->count < end ? r->document + r->count : end;

        for (; s == LEAT_OK && r->source == search->source && low < high && !search->stopped; low++)
            s = find_document(plan, search, r->first + (low - r->document), err);
    }
    return s;
}

#define DOCUMENTS                                                                                                      \
    .indexed = true, .longest_first = true, .open = documents_open, .close = documents_close,                          \
    .samples = documents_samples, .announce = documents_announce, .pieces = documents_pieces, .trace = documents_trace

const struct plan_order plan_order_documents = { DOCUMENTS };
const struct plan_order plan_order_documents_sequential = { DOCUMENTS, .sequential = true };
