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
#include "base/status.h"
#include "order_fit.h"

typedef unsigned long long ull;

/* ---- Opening ---- */

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

/* What opening goes along with, from stretch to stretch. */
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
    return status_set(err, LEAT_E_ARGUMENT,
                      "%.300s has had %llu epochs when the phase at sample %llu begins: too many to count rows of "
                      "another length",
                      m->plan->rules.sources[source].name, (ull)epochs, (ull)stretch->begin);
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
            return status_set(
                err, LEAT_E_ARGUMENT, "%.300s has a weight, but %s no document of at least two tokens%s; leave it out",
                plan->rules.sources[i].name, plan->rules.use ? "the range of it that is used has" : "it has",
                stretch->documents[i].unused > 0 ? " within min-length, max-length and cut-length" : "");
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
                                           .own_labels = true,
                                           .rule = "fit",
                                           .rule_version = FIT_VERSION,
                                           .open = fit_open,
                                           .close = fit_close,
                                           .samples = fit_samples,
                                           .begins = fit_begins,
                                           .pieces = fit_pieces,
                                           .trace = fit_trace };
