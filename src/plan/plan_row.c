/*
 * plan_row.c: rows as they are shown (docs/ORDER.md, "Begin tokens" in "Rows of whole documents", and
 * "Fill-in-the-middle"), and which rows show some tokens.
 *
 * A row is written piece by piece. What a piece has of one document is a *fragment*; its *body* is what is left of it
 * without the document's begin and end token. A body that is changed becomes three literal tokens and three stretches
 * that are moved; all between two such bodies is one stretch. What continues a document may begin with a literal begin
 * token, in place of its first one. A fragment has as many tokens as before, so nothing else in the row changes its
 * place.
 */
#include "plan_row.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/options.h"
#include "base/status.h"
#include "order/fim.h"

#define STARTS_AT_ONCE 256u

/* A piece that is being written. */
struct writing {
    const struct leat_plan *plan;
    const struct leat_piece *piece;
    uint64_t number; /* of the sample */
    uint32_t inputs; /* inputs of the piece: its other tokens are only labels */
    uint32_t done;   /* tokens of the piece that are written */
    uint64_t next;   /* token of the dataset that is written next, unless something changes */
    bool begins;     /* the row's part of a document begins with that token */
    struct plan_row *row;
    struct leat_error *err;
};

/* The facts that all fragments of a source share. */
struct source_facts {
    const struct leat_dataset *dataset;
    uint64_t begin_token; /* LEAT_NONE: none */
    bool ends;            /* documents have an end token */
    struct permute numbers;
};

/* Writes `count` tokens from `token` on, or one literal token. */
static enum leat_status put_tokens(struct writing *w, uint64_t token, uint32_t count, uint64_t document, bool literal,
                                   bool begins)
{
    const struct leat_piece *p = w->piece;
    uint32_t left = w->inputs > w->done ? w->inputs - w->done : 0;
    enum leat_status s;

    if (count == 0)
        return LEAT_OK;
    s = GROW(w->row->items, w->row->count + 1, w->row->room, w->err);
    if (s != LEAT_OK)
        return s;
    w->row->items[w->row->count++] = (struct leat_stretch) { .token = token,
                                                             .offset = literal ? 0 : p->offset + (token - p->token),
                                                             .document = document,
                                                             .source = p->source,
                                                             .part = p->part,
                                                             .count = count,
                                                             .at = p->at + w->done,
                                                             .inputs = count < left ? count : left,
                                                             .literal = literal,
                                                             .begins = begins };
    w->done += count;
    return LEAT_OK;
}

/* Writes the unchanged tokens up to `end`. */
static enum leat_status put_until(struct writing *w, uint64_t end)
{
    return put_tokens(w, w->next, (uint32_t)(end - w->next), w->piece->document, false, w->begins);
}

/* The parts of a changed body, and their order in its two forms. */
enum { PRE, MID, SUF, PREFIX, MIDDLE, SUFFIX, PARTS };
static const uint8_t psm[PARTS] = { PRE, PREFIX, SUF, SUFFIX, MID, MIDDLE };
static const uint8_t spm[PARTS] = { PRE, SUF, SUFFIX, MID, PREFIX, MIDDLE };

/* Writes a changed body that begins at `token`. `begins`: its fragment begins there, too. */
static enum leat_status put_changed(struct writing *w, uint64_t document, uint64_t token, bool begins,
                                    const struct fim_cut *cut)
{
    const uint32_t *ids = w->plan->rules.fim.ids;
    const struct {
        uint64_t token;
        uint32_t count;
    } parts[PARTS] = { [PRE] = { ids[PLAN_FIM_PREFIX], 1 },
                       [MID] = { ids[PLAN_FIM_MIDDLE], 1 },
                       [SUF] = { ids[PLAN_FIM_SUFFIX], 1 },
                       [PREFIX] = { token, cut->prefix },
                       [MIDDLE] = { token + cut->prefix, cut->middle },
                       [SUFFIX] = { token + cut->prefix + cut->middle, cut->suffix } };
    enum leat_status s = LEAT_OK;

    for (unsigned i = 0; s == LEAT_OK && i < PARTS; i++) {
        unsigned part = cut->spm ? spm[i] : psm[i];

        s = put_tokens(w, parts[part].token, parts[part].count, document, part < PREFIX, part == PRE && begins);
    }
    return s;
}

/* Changes the piece's part of a document, tokens [begin, end) of the dataset, if the rules say so. */
static enum leat_status change(struct writing *w, const struct source_facts *f, uint64_t document, uint64_t begin,
                               uint64_t end)
{
    const struct leat_piece *p = w->piece;
    uint64_t from = begin > p->token ? begin : p->token;
    uint64_t to = end < p->token + p->count ? end : p->token + p->count;
    bool continues = w->plan->rules.fit[PLAN_FIT_BEGIN] > 0 && from > begin;
    bool head = continues || (f->begin_token != LEAT_NONE && from == begin);
    enum leat_status s = LEAT_OK;
    struct fim_cut cut;

    if (from >= to)
        return LEAT_OK;
    if (continues) {
        s = put_tokens(w, f->begin_token, 1, document, true, true);
        w->next = from + 1;
        w->begins = false;
    }
    from += head;
    if (f->ends && to == end && to > from)
        to--;
    if (s != LEAT_OK ||
        !fim_cut(&w->plan->rules.fim.rule, &f->numbers, w->number, document, (uint32_t)(to - from), &cut))
        return s;
    s = put_until(w, from);
    w->next = to;
    w->begins = to == end;
    return s == LEAT_OK ? put_changed(w, document, from, !head, &cut) : s;
}

/* Changes the documents [first, first + count) of the piece. */
static enum leat_status change_documents(struct writing *w, const struct source_facts *f, uint64_t first,
                                         uint64_t count)
{
    uint64_t starts[STARTS_AT_ONCE + 1];
    enum leat_status s = LEAT_OK;

    for (uint64_t done = 0, here; s == LEAT_OK && done < count; done += here) {
        here = count - done < STARTS_AT_ONCE ? count - done : STARTS_AT_ONCE;
        s = leat_dataset_starts(f->dataset, first + done, here + 1, starts, w->err);
        for (uint64_t i = 0; s == LEAT_OK && i < here; i++)
            s = change(w, f, first + done + i, starts[i], starts[i + 1]);
    }
    return s;
}

static enum leat_status put_piece(struct writing *w, const struct source_facts *f)
{
    const struct leat_piece *p = w->piece;
    uint64_t first = p->document, count = 1;
    enum leat_status s = LEAT_OK;

    if (f && p->count > 0) {
        if (first == LEAT_NONE)
            s = leat_dataset_documents_in(f->dataset, p->token, p->count, &first, &count, w->err);
        if (s == LEAT_OK)
            s = change_documents(w, f, first, count);
    }
    return s == LEAT_OK ? put_until(w, p->token + p->count) : s;
}

static struct source_facts facts_of(const struct leat_plan *plan, uint32_t source)
{
    const struct leat_dataset *d = plan->sources[source].dataset;
    struct leat_info info = LEAT_INFO_INIT;

    leat_dataset_info(d, &info);
    return (struct source_facts) { .dataset = d,
                                   .begin_token = info.begin_token,
                                   .ends = info.end_token != LEAT_NONE,
                                   .numbers = fim_numbers(plan->rules.seed, source) };
}

enum leat_status plan_row_add(const struct leat_plan *plan, const struct leat_sample *x,
                              const struct leat_piece *pieces, struct plan_row *row, struct leat_error *err)
{
    bool changes = plan_row_changes(plan);
    struct source_facts facts = { .dataset = NULL };
    enum leat_status s = LEAT_OK;

    if (changes)
        facts = facts_of(plan, x->source);
    for (uint32_t i = 0; s == LEAT_OK && i < x->pieces; i++) {
        const struct leat_piece *p = &pieces[i];
        uint32_t end = i + 1 < x->pieces ? p[1].at : x->length;
        struct writing w = {
            .plan = plan, .piece = p, .number = x->number, .next = p->token, .begins = true, .row = row, .err = err
        };

        w.inputs = plan->order->own_labels && p->count > 0 ? p->count - 1 : end - p->at;
        s = put_piece(&w, changes ? &facts : NULL);
    }
    return s;
}

/* Finds the stretches of a sample; the caller frees row->items. */
static enum leat_status find_row(const struct leat_plan *plan, const struct leat_sample *x, struct plan_row *row,
                                 struct leat_error *err)
{
    struct leat_piece *pieces = calloc((size_t)x->pieces + 1, sizeof *pieces);
    enum leat_status s = pieces ? plan_order_pieces(plan, x, 1, pieces, err)
                                : status_no_memory(err, ((uint64_t)x->pieces + 1) * sizeof *pieces);

    *row = (struct plan_row) { NULL, 0, 0 };
    if (s == LEAT_OK)
        s = plan_row_add(plan, x, pieces, row, err);
    free(pieces);
    return s;
}

/* Sets *shows if a sample shows one of the tokens [first, end) of its source's dataset as an input. */
static enum leat_status row_shows(const struct leat_plan *plan, const struct leat_sample *x, uint64_t first,
                                  uint64_t end, bool *shows, struct leat_error *err)
{
    struct plan_row row;
    enum leat_status s = find_row(plan, x, &row, err);

    *shows = false;
    for (size_t i = 0; s == LEAT_OK && i < row.count && !*shows; i++) {
        const struct leat_stretch *t = &row.items[i];

        *shows = !t->literal && t->token < end && t->token + t->inputs > first && t->inputs > 0;
    }
    free(row.items);
    return s;
}

enum leat_status leat_plan_row(const struct leat_plan *plan, const struct leat_sample *sample,
                               struct leat_stretch *stretches, uint64_t room, uint64_t *count, struct leat_error *err)
{
    struct plan_row row;
    enum leat_status s = find_row(plan, sample, &row, err);

    if (s == LEAT_OK && room > 0 && row.count > 0)
        memcpy(stretches, row.items, (row.count < room ? row.count : (size_t)room) * sizeof *stretches);
    *count = row.count;
    free(row.items);
    return s;
}

/* ---- Finding rows by their tokens ---- */

/* A search among rows that the plan changes. They may have lost tokens that the order says they show, but never show
 * other ones. */
struct found_again {
    const struct leat_plan *plan;
    const struct plan_search *search;
    leat_plan_found *found;
    void *context;
    enum leat_status status;
    struct leat_error *err;
};

static uint32_t find_again(void *context, const struct leat_sample *sample)
{
    struct found_again *f = context;
    bool shows;

    f->status = row_shows(f->plan, sample, f->search->first, f->search->end, &shows, f->err);
    if (f->status != LEAT_OK)
        return 1;
    return shows ? f->found(f->context, sample) : 0;
}

static enum leat_status trace_changed(const struct leat_plan *plan, struct plan_search *search, struct leat_error *err)
{
    struct found_again again = { plan, search, search->found, search->context, LEAT_OK, err };
    enum leat_status s;

    search->found = find_again;
    search->context = &again;
    s = plan->order->trace(plan, search, err);
    return s == LEAT_OK ? again.status : s;
}

static enum leat_status trace_all(const struct leat_plan *plan, const struct leat_trace *trace, leat_plan_found *found,
                                  void *context, struct leat_error *err)
{
    struct plan_search s = { .source = (uint32_t)trace->source,
                             .first = trace->first,
                             .epochs = trace->epochs,
                             .from = trace->from,
                             .until = trace->until < plan->end ? trace->until : plan->end,
                             .found = found,
                             .context = context };
    struct leat_info info = LEAT_INFO_INIT;
    enum leat_status status;

    if (trace->source >= plan->rules.source_count)
        return status_set(err, LEAT_E_RANGE, "no source %" PRIu64 ": the plan has %zu, numbered from 0", trace->source,
                          plan->rules.source_count);
    leat_dataset_info(plan->sources[trace->source].dataset, &info);
    if (trace->first > info.tokens || trace->count > info.tokens - trace->first)
        return status_set_in(err, LEAT_E_RANGE, plan->rules.sources[trace->source].name,
                             "tokens %" PRIu64 " to %" PRIu64 " are not all in %.300s, which has %" PRIu64,
                             trace->first, trace->first + trace->count, plan->rules.sources[trace->source].name,
                             info.tokens);
    if (trace->epochs == LEAT_NONE && trace->until == LEAT_NONE && plan->end >= LEAT_MAX_SAMPLES)
        return status_argument(err, "epochs", "the plan has no end: limit the epochs or the samples to search");
    if (trace->count == 0 || trace->from >= s.until)
        return LEAT_OK;
    s.end = trace->first + trace->count;
    status = plan_choice_search(plan, &s, err);
    if (status != LEAT_OK || s.own_first >= s.own_end)
        return status;
    return plan_row_changes(plan) ? trace_changed(plan, &s, err) : plan->order->trace(plan, &s, err);
}

enum leat_status leat_plan_trace(const struct leat_plan *plan, const struct leat_trace *given, leat_plan_found *found,
                                 void *context, struct leat_error *err)
{
    struct leat_trace trace = LEAT_TRACE_INIT;
    enum leat_status s = options_read(&trace, sizeof trace, NULL, given, "leat_trace", err);

    return s == LEAT_OK ? trace_all(plan, &trace, found, context, err) : s;
}
