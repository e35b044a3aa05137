/*
 * order_fit.c: rows of whole documents, put together by best fit (docs/ORDER.md): a source's unit is a row of
 * fit_documents.h, and the sampler of src/order says which row of which source sample n is.
 *
 * Rows of another length hold other documents, so the plan is cut into *stretches* of phases with the same length, each
 * with a sampler of its own. A source whose last draws were rows of another length begins its next epoch, unless it has
 * just ended one. A source without a weight in a stretch keeps its place for a later one.
 */

#include <stdlib.h>

#include "base/bytes.h"
#include "base/options.h"
#include "base/search.h"
#include "base/status.h"
#include "dataset/dataset.h"
#include "fit_documents.h"
#include "order/sampler.h"
#include "plan/plan.h"

/* Phases with rows of the same length. */
struct stretch {
    uint64_t begin, end; /* the first sample, and the first after it */
    uint64_t length;
    struct sampler sampler;
    struct fit_documents *documents; /* of the set with this length */
};

/* The documents of each source in rows of one length. */
struct fit_set {
    uint64_t length;
    struct fit_documents *documents;
};

/* plan->derived */
struct fit_order {
    struct fit_lengths *lengths; /* lengths of documents of each source */
    struct stretch *stretches;
    uint64_t count;
    struct fit_set *sets; /* one per length of rows */
    uint64_t set_count;
};

/* ---- Samples ----------------------------------------------------------------------------------------------------- */

/*
 * The samples of order fit and their pieces. Which documents the rows of a batch hold is
 * arithmetic; then the documents of each source are looked up together, since asking a dataset has a cost per call.
 */

struct wanted {
    const struct fit_order *o;
    uint64_t number;
};

SEARCH_INLINE bool begins_by(const void *context, uint64_t stretch)
{
    const struct wanted *w = context;

    return w->o->stretches[stretch].begin <= w->number;
}

static const struct stretch *stretch_of(const struct leat_plan *plan, uint64_t n)
{
    const struct fit_order *o = plan->derived;

    return &o->stretches[search_first(1, o->count, begins_by, &(struct wanted) { o, n }) - 1];
}

/* ---- Looking up ---- */

#define ROWS_AT_ONCE 256u

/* A row of which some pieces are wanted. */
struct row {
    const struct leat_sample *sample;
    const struct fit_documents *documents; /* of its source, at its length */
    const struct fit_pattern *pattern;     /* NULL: it is full */
    uint64_t first;                        /* of its pieces among those of the batch */
    uint32_t pieces;                       /* that are wanted */
    bool taken;                            /* with the others of its source */
};

struct batch {
    const struct leat_plan *plan;
    struct row rows[ROWS_AT_ONCE];
    uint64_t count, piece_count; /* of all rows; then of those of one source */
    bool first_only;             /* of each row, only its first piece is wanted */
    bool own_numbers;            /* pieces have the source's own numbers of documents (plan_source.h) */
    struct leat_piece *pieces;
    /* The rows of one source, and their pieces: */
    uint32_t source, mine[ROWS_AT_ONCE], my_count;
    struct fit_drawing drawing;
    struct fit_found *found;
    uint64_t *numbers, *own, *starts, *tokens; /* own: the source's own numbers */
};

/* Programs give samples back: cut ones, or those of another plan, would lead beyond what is here. */
static enum leat_status take_rows(struct batch *b, const struct leat_sample *samples, struct leat_error *err)
{
    const struct stretch *stretch = NULL;

    for (uint64_t i = 0; i < b->count; i++) {
        const struct leat_sample *x = &samples[i];
        struct row *r = &b->rows[i];
        uint32_t pieces = 0;

        if (i == 0 || x->number != x[-1].number + 1 || x->number == stretch->end)
            stretch = stretch_of(b->plan, x->number);
        if (x->source < b->plan->rules.source_count && x->block < stretch->documents[x->source].rows) {
            r->documents = &stretch->documents[x->source];
            r->pattern = fit_documents_pattern(r->documents, x->block);
            pieces = r->pattern ? r->pattern->pieces : 1;
            if (r->pattern)
                fit_fetch_entries(&r->documents->fit, r->pattern);
        }
        if (pieces == 0 || x->pieces != pieces)
            return status_argument(err, "samples",
                                   "sample %" PRIu64 " did not come from leat_plan_samples() of this plan", x->number);
        r->sample = x;
        r->first = b->piece_count;
        r->pieces = b->first_only ? 1 : pieces;
        r->taken = false;
        b->piece_count += r->pieces;
    }
    return LEAT_OK;
}

static enum leat_status batch_make(struct batch *b, struct leat_error *err)
{
    uint64_t pieces = b->piece_count;

    b->drawing.pieces = malloc((size_t)pieces * sizeof *b->drawing.pieces);
    b->drawing.draws = malloc((size_t)pieces * sizeof *b->drawing.draws);
    b->drawing.numbers = malloc((size_t)b->plan->max_pieces * sizeof *b->drawing.numbers);
    b->found = malloc((size_t)pieces * sizeof *b->found);
    b->numbers = malloc((size_t)pieces * 4 * sizeof *b->numbers);
    if (!b->drawing.pieces || !b->drawing.draws || !b->drawing.numbers || !b->found || !b->numbers)
        return status_no_memory(err, pieces * sizeof *b->found);
    b->starts = b->numbers + pieces;
    b->tokens = b->starts + pieces;
    b->own = b->tokens + pieces;
    return LEAT_OK;
}

/* Takes the rows of the source of row `first`, which is the first of them. */
static void take_source(struct batch *b, uint64_t first)
{
    b->source = b->rows[first].sample->source;
    b->my_count = 0;
    for (uint64_t i = first; i < b->count; i++)
        if (b->rows[i].sample->source == b->source) {
            b->mine[b->my_count++] = (uint32_t)i;
            b->rows[i].taken = true;
        }
}

static void find_pieces(struct batch *b)
{
    uint64_t drawn = 0;

    for (uint32_t i = 0; i < b->my_count; i++)
        if (b->rows[b->mine[i]].pattern)
            fit_fetch_classes(&b->rows[b->mine[i]].documents->fit, b->rows[b->mine[i]].pattern);
    b->piece_count = b->drawing.count = 0;
    for (uint32_t i = 0; i < b->my_count; i++) {
        const struct row *r = &b->rows[b->mine[i]];

        fit_documents_row(r->documents, r->pattern, r->sample, b->first_only, &b->drawing, b->found + b->piece_count);
        b->piece_count += r->pieces;
    }
    permute_forward_many(b->drawing.draws, b->drawing.count);
    b->piece_count = 0;
    for (uint32_t i = 0; i < b->my_count; i++) {
        const struct row *r = &b->rows[b->mine[i]];

        if (r->pattern) {
            fit_documents_drawn(r->documents, &b->drawing, drawn, r->pieces, b->found + b->piece_count);
            drawn += r->pieces;
        }
        b->piece_count += r->pieces;
    }
}

static void set_pieces(const struct batch *b)
{
    const struct plan_source *s = &b->plan->sources[b->source];
    uint64_t k = 0;

    for (uint32_t i = 0; i < b->my_count; i++) {
        const struct row *r = &b->rows[b->mine[i]];

        for (uint32_t j = 0; j < r->pieces; j++, k++) {
            uint64_t token = b->starts[k] + b->found[k].from;
            uint32_t part = plan_source_part_of_token(s, token);

            b->pieces[r->first + j] = (struct leat_piece) { .token = token,
                                                            .offset = token - s->parts[part].list_token,
                                                            .document = b->own_numbers ? b->own[k] : b->numbers[k],
                                                            .source = b->source,
                                                            .part = part,
                                                            .at = b->found[k].at,
                                                            .count = b->found[k].places + 1 };
        }
    }
}

static enum leat_status look_up_source(struct batch *b, struct leat_error *err)
{
    const struct fit_order *o = b->plan->derived;
    enum leat_status s;

    find_pieces(b);
    s = fit_lengths_documents(&o->lengths[b->source], b->found, b->piece_count, b->own, err);
    for (uint64_t k = 0; s == LEAT_OK && k < b->piece_count; k++)
        b->numbers[k] = plan_source_document(&b->plan->sources[b->source], b->own[k]);
    if (s == LEAT_OK)
        s = dataset_document_list(b->plan->sources[b->source].dataset, b->numbers, b->piece_count, b->starts, b->tokens,
                                  err);
    for (uint64_t k = 0; s == LEAT_OK && k < b->piece_count; k++)
        if (b->tokens[k] != b->found[k].run->tokens)
            s = status_set(err, LEAT_E_DOCUMENTS,
                           "the list of documents by length is damaged: document %" PRIu64 " has %" PRIu64
                           " tokens, not %" PRIu64 "; make it again with `leat fit`",
                           b->numbers[k], b->tokens[k], b->found[k].run->tokens);
    if (s == LEAT_OK)
        set_pieces(b);
    return s;
}

/* The pieces of these rows, or the first of each; all go to `pieces`. */
static enum leat_status look_up(const struct leat_plan *plan, const struct leat_sample *samples, uint64_t count,
                                bool first_only, bool own_numbers, struct leat_piece *pieces, uint64_t *got,
                                struct leat_error *err)
{
    struct batch b;
    enum leat_status s;

    b.plan = plan;
    b.count = count;
    b.piece_count = 0;
    b.first_only = first_only;
    b.own_numbers = own_numbers;
    b.pieces = pieces;
    s = take_rows(&b, samples, err);
    if (s != LEAT_OK)
        return s;
    *got = b.piece_count;
    s = batch_make(&b, err);
    for (uint64_t i = 0; s == LEAT_OK && i < b.count; i++)
        if (!b.rows[i].taken) {
            take_source(&b, i);
            s = look_up_source(&b, err);
        }
    free(b.drawing.pieces);
    free(b.drawing.draws);
    free(b.drawing.numbers);
    free(b.found);
    free(b.numbers);
    return s;
}

/* ---- The calls ---- */

/* Of one stretch. */
static void set_samples(const struct stretch *stretch, uint64_t n, uint64_t count, struct leat_sample *samples)
{
    struct sampler_cursor at = { .phase = NULL };
    struct sampler_place places[ROWS_AT_ONCE];

    for (uint64_t done = 0, here; done < count; done += here) {
        here = count - done < ROWS_AT_ONCE ? count - done : ROWS_AT_ONCE;
        sampler_range(&stretch->sampler, &at, n + done, here, places);
        for (uint64_t i = 0; i < here; i++) {
            const struct sampler_place *place = &places[i];
            const struct fit_pattern *p = fit_documents_pattern(&stretch->documents[place->source], place->block);
            uint32_t pieces = p ? p->pieces : 1, length = (uint32_t)stretch->length - (p ? p->room : 0);

            samples[done + i] = (struct leat_sample) { .number = n + done + i,
                                                       .epoch = place->epoch,
                                                       .block = place->block,
                                                       .window = place->block,
                                                       .source = place->source,
                                                       .pieces = pieces,
                                                       .length = length,
                                                       .tokens = length + pieces };
        }
    }
}

static enum leat_status fit_samples(const struct leat_plan *plan, uint64_t n, uint64_t count,
                                    struct leat_sample *samples, struct leat_error *err)
{
    (void)err;
    for (uint64_t done = 0, here; done < count; done += here) {
        const struct stretch *stretch = stretch_of(plan, n + done);
        uint64_t left = stretch->end - (n + done);

        here = count - done < left ? count - done : left;
        set_samples(stretch, n + done, here, samples + done);
    }
    return LEAT_OK;
}

static void fit_attention(const struct leat_plan *plan, const struct leat_sample *samples, uint64_t count,
                          uint64_t *costs)
{
    const struct stretch *stretch = NULL;

    for (uint64_t i = 0; i < count; i++) {
        const struct leat_sample *x = &samples[i];
        const struct fit_pattern *p;

        if (i == 0 || x->number < stretch->begin || x->number >= stretch->end)
            stretch = stretch_of(plan, x->number);
        p = fit_documents_pattern(&stretch->documents[x->source], x->block);
        costs[i] = p ? p->squares : stretch->length * stretch->length;
    }
}

static enum leat_status fit_begins(const struct leat_plan *plan, struct leat_sample *samples, uint64_t count,
                                   struct leat_error *err)
{
    struct leat_piece pieces[ROWS_AT_ONCE];
    enum leat_status s = LEAT_OK;

    for (uint64_t at = 0, here, got; s == LEAT_OK && at < count; at += here) {
        here = count - at < ROWS_AT_ONCE ? count - at : ROWS_AT_ONCE;
        s = look_up(plan, samples + at, here, true, false, pieces, &got, err);
        for (uint64_t i = 0; s == LEAT_OK && i < here; i++) {
            samples[at + i].token = pieces[i].token;
            samples[at + i].offset = pieces[i].offset;
            samples[at + i].part = pieces[i].part;
        }
    }
    return s;
}

static enum leat_status fit_pieces(const struct leat_plan *plan, const struct leat_sample *samples, uint64_t count,
                                   struct leat_piece *pieces, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (uint64_t at = 0, here, got; s == LEAT_OK && at < count; at += here, pieces += got) {
        here = count - at < ROWS_AT_ONCE ? count - at : ROWS_AT_ONCE;
        s = look_up(plan, samples + at, here, false, false, pieces, &got, err);
    }
    return s;
}

/* ---- Searching --------------------------------------------------------------------------------------------------- */

/*
 * From tokens to the samples of order fit that show them: each document's predictions lead to their
 * row in every epoch, by the inverse permutations, and the row to its sample; no list is scanned.
 */

/* Predictions of a document that are searched for in a stretch. */
struct document_search {
    const struct leat_plan *plan;
    const struct stretch *stretch;
    struct plan_search *search;
    uint64_t document, start;  /* the source's own number of it; its first token in the source's dataset */
    const struct fit_run *run; /* of documents of its length; it is document `place` of it */
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
    uint64_t got;
    enum leat_status s;

    *reported = false;
    if (d->search->first >= d->start && !d->plan->sources[x->source].choice)
        return LEAT_OK;
    pieces = calloc(x->pieces, sizeof *pieces);
    s = pieces ? look_up(d->plan, x, 1, false, true, pieces, &got, err)
               : status_no_memory(err, x->pieces * sizeof *pieces);
    for (uint32_t i = 0; s == LEAT_OK && i < x->pieces; i++)
        *reported |= pieces[i].document < d->document && pieces[i].token < d->search->end &&
                     pieces[i].token + pieces[i].count > d->search->first + 1;
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

    if (from >= fit_documents_predictions(f, d->run->tokens))
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
    const struct plan_source *source = &d->plan->sources[d->search->source];
    const struct fit_order *o = d->plan->derived;
    enum leat_status s = LEAT_OK;
    uint64_t starts[2];

    for (d->document = first; s == LEAT_OK && d->document < end && !d->search->stopped; d->document++) {
        s = leat_dataset_starts(source->dataset, plan_source_document(source, d->document), 2, starts, err);
        d->start = starts[0];
        if (s != LEAT_OK)
            return s;
        if (starts[1] - starts[0] < 2) /* it has no prediction */
            continue;
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

static enum leat_status fit_trace(const struct leat_plan *plan, struct plan_search *search, struct leat_error *err)
{
    const struct plan_source *source = &plan->sources[search->source];
    struct document_search d = { .plan = plan, .search = search };
    uint64_t first, end, count;
    enum leat_status s =
        leat_dataset_documents_in(source->dataset, search->first, search->end - search->first, &first, &count, err);

    if (s == LEAT_OK)
        s = plan_source_own(source, first, first + count, &first, &end, err);
    if (s == LEAT_OK && (search->until - search->from) / SCAN_WORTH <= end - first)
        return plan_search_try(plan, search, search->from, search->until - search->from, err);
    for (uint32_t i = 0; s == LEAT_OK && i < source->part_count; i++) {
        struct fit_range used;

        s = plan_source_used(source, i, &used.first, &used.end, err);
        if (s == LEAT_OK)
            s = find_documents(&d, used.first > first ? used.first : first, used.end < end ? used.end : end, err);
    }
    return s;
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

static enum leat_status make_lengths(const struct leat_plan *plan, struct leat_error *err)
{
    struct fit_order *o = plan->derived;
    enum leat_status s = LEAT_OK;

    o->lengths = calloc(plan->rules.source_count, sizeof *o->lengths);
    if (!o->lengths)
        return status_no_memory(err, plan->rules.source_count * sizeof *o->lengths);
    for (size_t i = 0; s == LEAT_OK && i < plan->rules.source_count; i++)
        s = fit_lengths_make(&o->lengths[i], &plan->sources[i], plan->rules.sources[i].name, FIT_MAX_IN_MEMORY, err);
    return s;
}

/* The documents of all sources in rows of a stretch's length: those of an earlier stretch, or new ones. */
static enum leat_status make_documents(const struct leat_plan *plan, struct stretch *stretch, struct leat_error *err)
{
    struct fit_order *o = plan->derived;
    struct fit_documents *documents;
    enum leat_status s = LEAT_OK;

    for (uint64_t i = 0; i < o->set_count; i++)
        if (o->sets[i].length == stretch->length) {
            stretch->documents = o->sets[i].documents;
            return LEAT_OK;
        }
    documents = calloc(plan->rules.source_count, sizeof *documents);
    if (!documents)
        return status_no_memory(err, plan->rules.source_count * sizeof *documents);
    o->sets[o->set_count++] = (struct fit_set) { stretch->length, documents };
    stretch->documents = documents;
    for (uint32_t i = 0; s == LEAT_OK && i < plan->rules.source_count; i++)
        s = fit_documents_make(&documents[i], &o->lengths[i], &plan->rules, i, stretch->length, err);
    return s;
}

/* State that opening carries from one stretch to the next. */
struct maker {
    struct leat_plan *plan;
    struct sampler_phase_rule *phases; /* of the stretch */
    uint32_t phase_count;
    /* Of each source: */
    uint64_t *rows, *limits, *counts;  /* in rows of the stretch */
    uint64_t *drawn;                   /* draws so far, in rows of the last stretch in which it had a weight: */
    const struct fit_documents **last; /* its documents there; NULL: it had none yet */
};

static bool has_weight(const struct maker *m, size_t source)
{
    bool weight = false;

    for (uint32_t i = 0; i < m->phase_count; i++)
        weight |= m->phases[i].weights[source] > 0;
    return weight;
}

/* The draws so far of a source with a weight, in rows of this stretch: whole epochs if its last rows had another
 * length. */
static enum leat_status count_drawn(const struct maker *m, const struct stretch *stretch, size_t source,
                                    struct leat_error *err)
{
    uint64_t rows = m->rows[source], epochs;

    m->counts[source] = m->drawn[source];
    if (!m->last[source] || m->last[source] == &stretch->documents[source])
        return LEAT_OK;
    epochs = bytes_divide_up(m->drawn[source], m->last[source]->rows);
    if (bytes_multiply(epochs, rows, &m->counts[source]) && m->counts[source] <= LEAT_MAX_SAMPLES)
        return LEAT_OK;
    return status_in_file(err,
                          status_argument(err, "sources",
                                          "%.300s has had %" PRIu64 " epochs when the phase at sample %" PRIu64
                                          " starts: too many to count rows of another length",
                                          m->plan->rules.sources[source].name, epochs, stretch->begin),
                          m->plan->rules.sources[source].name);
}

/* Counts rows, limits and draws of the sources for a stretch. */
static enum leat_status count_sources(const struct maker *m, const struct stretch *stretch, struct leat_error *err)
{
    const struct leat_plan *plan = m->plan;
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < plan->rules.source_count; i++) {
        m->rows[i] = stretch->documents[i].rows;
        if (plan->limits[i] == UINT64_MAX || !bytes_multiply(plan->limits[i], m->rows[i], &m->limits[i]))
            m->limits[i] = UINT64_MAX;
        m->counts[i] = 0;
        if (!has_weight(m, i))
            continue;
        if (m->rows[i] == 0)
            return status_in_file(
                err,
                status_argument(
                    err, "sources", "%.300s has a weight, but %s no document of at least two tokens%s; leave it out",
                    plan->rules.sources[i].name, plan->rules.use ? "the range of it that is used has" : "it has",
                    stretch->documents[i].unused == 0 ? ""
                    : plan_rules_fit(&plan->rules, i, PLAN_FIT_WHOLE)
                        ? " that its rules keep and a row holds whole"
                        : " within min-length, max-length and cut-length"),
                plan->rules.sources[i].name);
        s = count_drawn(m, stretch, i, err);
    }
    return s;
}

/* Makes the stretch of phases [first, end). */
static enum leat_status make_stretch(struct maker *m, size_t first, size_t end, struct leat_error *err)
{
    struct leat_plan *plan = m->plan;
    struct fit_order *o = plan->derived;
    struct stretch *stretch = &o->stretches[o->count];
    struct sampler_rules rules = { .source_count = (uint32_t)plan->rules.source_count,
                                   .blocks = m->rows,
                                   .limits = m->limits,
                                   .phases = m->phases,
                                   .phase_count = (uint32_t)(end - first),
                                   .seed = plan->rules.seed,
                                   .stop_first = plan->rules.stop == LEAT_STOP_FIRST,
                                   .counts = m->counts,
                                   .until = end <= plan->rules.phase_count ? plan_phase_begin(plan, end) : 0 };
    enum leat_status s;

    *stretch = (struct stretch) { .begin = plan_phase_begin(plan, first),
                                  .end = rules.until > 0 ? rules.until : UINT64_MAX,
                                  .length = plan->lengths[first] };
    o->count++;
    m->phase_count = rules.phase_count;
    for (size_t i = first; i < end; i++)
        m->phases[i - first] = (struct sampler_phase_rule) { .begin = plan_phase_begin(plan, i),
                                                             .slices = 1,
                                                             .weights = plan->weights + i * plan->rules.source_count };
    s = make_documents(plan, stretch, err);
    if (s == LEAT_OK)
        s = count_sources(m, stretch, err);
    if (s == LEAT_OK)
        s = sampler_make(&stretch->sampler, &rules, err);
    for (size_t i = 0; s == LEAT_OK && i < plan->rules.source_count; i++)
        if (has_weight(m, i)) {
            m->drawn[i] = m->counts[i];
            m->last[i] = &stretch->documents[i];
        }
    plan->end = stretch->sampler.end;
    return s;
}

static enum leat_status make_stretches(struct maker *m, struct leat_error *err)
{
    const struct leat_plan *plan = m->plan;
    size_t phases = plan->rules.phase_count + 1;
    enum leat_status s = LEAT_OK;

    for (size_t first = 0, end; s == LEAT_OK && first < phases; first = end) {
        for (end = first + 1; end < phases && plan->lengths[end] == plan->lengths[first];)
            end++;
        s = make_stretch(m, first, end, err);
    }
    return s;
}

/* What leat_plan_source_info() says of the sources, and the limits of the plan. */
static void set_facts(struct leat_plan *plan)
{
    const struct fit_order *o = plan->derived;

    for (size_t i = 0; i < plan->rules.source_count; i++) {
        plan->sources[i].blocks = o->stretches[0].documents[i].rows;
        plan->sources[i].dropped = plan->sources[i].tokens - o->stretches[0].documents[i].predictions;
        plan->sources[i].documents = o->stretches[0].documents[i].documents;
        plan->sources[i].left_out = o->stretches[0].documents[i].left_out;
        plan->sources[i].cut = o->stretches[0].documents[i].cut;
        for (uint64_t k = 0; k < o->set_count; k++)
            if (o->sets[k].documents[i].fit.max_pieces > plan->max_pieces)
                plan->max_pieces = o->sets[k].documents[i].fit.max_pieces;
    }
}

static enum leat_status fit_open(struct leat_plan *plan, struct leat_error *err)
{
    size_t sources = plan->rules.source_count, phases = plan->rules.phase_count + 1;
    struct fit_order *o = plan->derived = calloc(1, sizeof *o);
    struct maker m = { .plan = plan,
                       .phases = calloc(phases, sizeof *m.phases),
                       .rows = calloc(sources, sizeof *m.rows),
                       .limits = calloc(sources, sizeof *m.limits),
                       .counts = calloc(sources, sizeof *m.counts),
                       .drawn = calloc(sources, sizeof *m.drawn),
                       .last = calloc(sources, sizeof *m.last) };
    enum leat_status s = status_no_memory(err, phases * sizeof *o->stretches);

    if (o) {
        o->stretches = calloc(phases, sizeof *o->stretches);
        o->sets = calloc(phases, sizeof *o->sets);
    }
    for (size_t i = 0; i < sources; i++)
        plan->limits[i] = plan_epochs(&plan->rules, i) > 0 ? plan_epochs(&plan->rules, i) : UINT64_MAX;
    if (o && o->stretches && o->sets && m.phases && m.rows && m.limits && m.counts && m.drawn && m.last)
        s = make_lengths(plan, err);
    if (s == LEAT_OK)
        s = make_stretches(&m, err);
    if (s == LEAT_OK)
        set_facts(plan);
    free(m.phases);
    free(m.rows);
    free(m.limits);
    free(m.counts);
    free(m.drawn);
    free(m.last);
    return s;
}

static void fit_close(struct leat_plan *plan)
{
    struct fit_order *o = plan->derived;

    for (uint64_t k = 0; o && k < o->count; k++)
        sampler_free(&o->stretches[k].sampler);
    for (uint64_t k = 0; o && k < o->set_count; k++) {
        for (size_t i = 0; i < plan->rules.source_count; i++)
            fit_documents_free(&o->sets[k].documents[i]);
        free(o->sets[k].documents);
    }
    for (size_t i = 0; o && o->lengths && i < plan->rules.source_count; i++)
        fit_lengths_free(&o->lengths[i]);
    if (o) {
        free(o->stretches);
        free(o->sets);
        free(o->lengths);
    }
    free(o);
}

const struct plan_order plan_order_fit = { .weights = true,
                                           .phases = true,
                                           .lengths = true,
                                           .indexed = true,
                                           .own_labels = true,
                                           .rule = "fit",
                                           .rule_version = FIT_VERSION,
                                           .sources_version = FIT_SOURCES_VERSION,
                                           .open = fit_open,
                                           .close = fit_close,
                                           .samples = fit_samples,
                                           .begins = fit_begins,
                                           .pieces = fit_pieces,
                                           .attention = fit_attention,
                                           .trace = fit_trace };

/* ---- leat_plan_fit_report() -------------------------------------------------------------------------------------- */

/* Compares rows of whole documents with windows of the same length. */

#define STARTS_AT_ONCE 4096u

/* Counts where the borders of windows cut documents. */
static void count_cuts(const uint64_t *starts, uint64_t count, uint64_t begin, uint64_t length,
                       struct leat_fit_report *report)
{
    for (uint64_t i = 0; i < count; i++) {
        uint64_t tokens = starts[i + 1] - starts[i], rest = length - (starts[i] - begin) % length;

        if (tokens > rest + 1) {
            report->window_cut++;
            report->window_lost += tokens - 1 - rest;
        }
    }
}

static enum leat_status report_windows(const struct plan_source *s, uint64_t length, struct leat_fit_report *report,
                                       struct leat_error *err)
{
    uint64_t starts[STARTS_AT_ONCE + 1];
    enum leat_status status = LEAT_OK;

    for (uint32_t i = 0; status == LEAT_OK && i < s->part_count; i++) {
        const struct plan_part *p = &s->parts[i];
        struct fit_range used;

        if (p->used > 0)
            report->window_rows += (p->used - 1) / length;
        status = plan_source_used(s, i, &used.first, &used.end, err);
        for (uint64_t here; status == LEAT_OK && used.first < used.end; used.first += here) {
            here = used.end - used.first < STARTS_AT_ONCE ? used.end - used.first : STARTS_AT_ONCE;
            status = plan_source_starts(s, used.first, here + 1, starts, err);
            if (status == LEAT_OK)
                count_cuts(starts, here, p->first, length, report);
        }
    }
    return status;
}

static enum leat_status report_rows(const struct leat_plan *plan, const struct fit_lengths *lengths, uint64_t source,
                                    uint64_t length, struct leat_fit_report *report, struct leat_error *err)
{
    struct fit_documents f;
    enum leat_status s = fit_documents_make(&f, lengths, &plan->rules, (uint32_t)source, length, err);

    report->documents = f.documents;
    report->predictions = f.predictions;
    report->empty = f.empty;
    report->rows = f.rows;
    report->full_rows = f.full;
    report->pieces = f.full + f.fit.pieces;
    report->max_pieces = f.full > 0 && f.fit.max_pieces == 0 ? 1 : f.fit.max_pieces;
    report->patterns = f.fit.pattern_count;
    report->padding = f.fit.room + f.fit.gaps;
    report->context = f.context;
    report->cut = f.cut;
    report->lost = f.lost;
    report->left_out = f.left_out;
    report->unused = f.unused;
    fit_documents_free(&f);
    return s;
}

enum leat_status leat_plan_fit_report(const struct leat_plan *plan, uint64_t source, uint64_t seq_len,
                                      struct leat_fit_report *report, struct leat_error *err)
{
    struct leat_fit_report r = LEAT_FIT_REPORT_INIT;
    struct fit_lengths lengths = { .documents = 0 };
    enum leat_status s = LEAT_OK;

    if (source >= plan->rules.source_count)
        return status_set(err, LEAT_E_RANGE, "no source %" PRIu64 ": the plan has %zu, numbered from 0", source,
                          plan->rules.source_count);
    if (seq_len == 0)
        return status_argument(err, "seq_len", "rows have at least one input");
    s = leat_dataset_starts(plan->sources[source].dataset, 0, 0, NULL, err);
    if (s == LEAT_OK)
        s = fit_lengths_count(&lengths, &plan->sources[source], err);
    if (s == LEAT_OK)
        s = report_rows(plan, &lengths, source, seq_len, &r, err);
    if (s == LEAT_OK)
        s = report_windows(&plan->sources[source], seq_len, &r, err);
    fit_lengths_free(&lengths);
    if (s == LEAT_OK)
        options_fill(report, &r, sizeof r);
    return s;
}
