/*
 * plan.c: opens a plan, and answers for its facts and samples. plan_samples.c goes from tokens to samples, plan_state.c
 * saves and compares states.
 *
 * Opening goes from rules (plan_rules.h, all texts checked) to sources (plan_source.h, datasets opened and compared),
 * to weights as integers, lengths and limits per phase; from these the order (plan_order.h) derives what it needs.
 * After that a plan never changes, so any number of threads may ask it. A sample's number comes from its position by
 * the skips; everything else is the order's.
 */
#include "plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/options.h"
#include "base/search.h"
#include "base/status.h"
#include "order/sampler.h"

/* ---- Opening ---- */

/* Makes the weights of a phase (0 is the first) integers. */
static enum leat_status phase_weights(struct leat_plan *plan, size_t phase, struct decimal *decimals,
                                      struct leat_error *err)
{
    const struct plan_rules *r = &plan->rules;
    uint64_t begin = phase > 0 ? r->phases[phase - 1].begin : 0;
    uint64_t *weights = plan->weights + phase * r->source_count, sum;

    for (size_t i = 0; i < r->source_count; i++) {
        if (phase == 0)
            decimals[i] = r->sources[i].weight;
        else if (i < r->phases[phase - 1].weight_count)
            decimals[i] = r->phases[phase - 1].weights[i];
        else
            decimals[i] = (struct decimal) { 0, 0 };
    }
    if (!decimal_to_integers(decimals, r->source_count, BLEND_MAX, weights, &sum)) {
        char shown[24] = "beyond 2^64";

        if (sum > 0)
            snprintf(shown, sizeof shown, "%" PRIu64, sum);
        return status_argument(
            err, begin > 0 ? "phases" : "sources",
            "the weights from sample %" PRIu64
            " on are too fine: as integers without a common factor their sum is %s; the limit is 2^48 "
            "(about 2.8 * 10^14); give them fewer digits",
            begin, shown);
    }
    if (sum == 0)
        return status_argument(err, begin > 0 ? "phases" : "sources",
                               "no source has a weight from sample %" PRIu64 " on", begin);
    return LEAT_OK;
}

uint64_t plan_epochs(const struct plan_rules *rules, uint64_t source)
{
    uint64_t own = rules->sources[source].epochs, all = rules->epochs;

    return own == 0 || (all > 0 && all < own) ? all : own;
}

/* Returns the limit of blocks that a source may show; UINT64_MAX: no limit. */
static uint64_t limit_of(const struct leat_plan *plan, size_t source)
{
    uint64_t epochs = plan_epochs(&plan->rules, source), limit;

    if (epochs == 0 || !plan->order->blocks || !bytes_multiply(epochs, plan->sources[source].blocks, &limit))
        return UINT64_MAX;
    return limit;
}

/* Fills in weights and lengths of all phases, and limits of all sources. */
static enum leat_status fill_phases(struct leat_plan *plan, struct decimal *decimals, struct leat_error *err)
{
    const struct plan_rules *r = &plan->rules;

    for (size_t i = 0; i < r->source_count; i++)
        plan->limits[i] = limit_of(plan, i);
    for (size_t i = 0; i <= r->phase_count; i++) {
        uint64_t length = i > 0 ? r->phases[i - 1].seq_len : r->seq_len;
        enum leat_status s = plan->order->megatron ? LEAT_OK : phase_weights(plan, i, decimals, err);

        if (s != LEAT_OK)
            return s;
        plan->lengths[i] = length > 0 ? length : plan->lengths[i - 1];
        if (plan->lengths[i] > plan->max_length)
            plan->max_length = plan->lengths[i];
    }
    return LEAT_OK;
}

static enum leat_status make_phases(struct leat_plan *plan, struct leat_error *err)
{
    size_t sources = plan->rules.source_count, phases = plan->rules.phase_count + 1;
    struct decimal *decimals;
    enum leat_status s;

    if (phases > SAMPLER_MAX_ENTRIES / sources)
        return status_argument(err, "phases", "%zu phases of %zu sources are too many; the limit is %" PRIu64, phases,
                               sources, SAMPLER_MAX_ENTRIES / sources);
    decimals = calloc(sources, sizeof *decimals);
    plan->weights = calloc(phases * sources, sizeof *plan->weights);
    plan->lengths = calloc(phases, sizeof *plan->lengths);
    plan->limits = calloc(sources, sizeof *plan->limits);
    if (decimals && plan->weights && plan->lengths && plan->limits)
        s = fill_phases(plan, decimals, err);
    else
        s = status_no_memory(err, phases * sources * sizeof *plan->weights);
    free(decimals);
    return s;
}

/* Checks that fill-in-the-middle is possible: its tokens are in the vocabulary, and documents are known. */
static enum leat_status check_fim(const struct leat_plan *plan, struct leat_error *err)
{
    for (size_t i = 0; plan->rules.fim.given && i < plan->rules.source_count; i++) {
        struct leat_info info = LEAT_INFO_INIT;
        enum leat_status s = leat_dataset_starts(plan->sources[i].dataset, 0, 0, NULL, err);

        if (s != LEAT_OK)
            return status_before(err, s, "fim changes documents");
        leat_dataset_info(plan->sources[i].dataset, &info);
        for (unsigned k = 0; k < PLAN_FIM_IDS; k++)
            if (plan->rules.fim.ids[k] >= info.vocabulary)
                return status_argument(err, "fim",
                                       "%" PRIu32 " is not a token of %.300s, whose ids are below %" PRIu64
                                       "; give fim ids of its vocabulary",
                                       plan->rules.fim.ids[k], plan->rules.sources[i].name, info.vocabulary);
    }
    return LEAT_OK;
}

/* Checks that there are begin tokens to put before the rest of a document that a row continues, where documents are
 * cut. */
static enum leat_status check_begin(const struct leat_plan *plan, struct leat_error *err)
{
    for (size_t i = 0; plan->rules.fit[PLAN_FIT_BEGIN] > 0 && i < plan->rules.source_count; i++) {
        struct leat_info info = LEAT_INFO_INIT;

        if (plan_rules_fit(&plan->rules, i, PLAN_FIT_WHOLE))
            continue;
        leat_dataset_info(plan->sources[i].dataset, &info);
        if (info.begin_token == LEAT_NONE)
            return status_argument(
                err, "begin",
                "%.300s has no begin token that rows could begin with; pack its texts with one, or leave begin out",
                plan->rules.sources[i].name);
    }
    return LEAT_OK;
}

enum leat_status plan_open_rules(struct leat_plan **out, struct plan_rules *rules,
                                 const struct leat_open_options *options, struct leat_error *err)
{
    struct leat_plan *plan = calloc(1, sizeof *plan);
    enum leat_status s;

    if (!plan) {
        plan_rules_free(rules);
        return status_no_memory(err, sizeof *plan);
    }
    plan->rules = *rules;
    plan->order = plan_order_of(rules->order);
    plan->max_pieces = 1;
    s = plan_rules_finish(&plan->rules, err);
    if (s == LEAT_OK)
        s = plan_sources_open(plan, options, err);
    for (size_t i = 0; s == LEAT_OK && i < plan->rules.source_count; i++)
        plan->chooses |= plan->sources[i].choice != NULL;
    if (s == LEAT_OK)
        s = check_fim(plan, err);
    if (s == LEAT_OK)
        s = check_begin(plan, err);
    if (s == LEAT_OK)
        s = make_phases(plan, err);
    if (s == LEAT_OK)
        s = skips_make(&plan->skips, plan->rules.skips, plan->rules.skip_count, err);
    if (s == LEAT_OK)
        s = plan_bans_open(plan, err);
    if (s == LEAT_OK)
        plan_mask_open(plan);
    if (s == LEAT_OK)
        s = plan->order->open(plan, err);
    if (s != LEAT_OK) {
        leat_plan_close(plan);
        return s;
    }
    *out = plan;
    return LEAT_OK;
}

static void take_fit(const struct leat_plan_fit *from, uint64_t *fit)
{
    fit[PLAN_FIT_MAX_PER_ROW] = from->max_per_row;
    fit[PLAN_FIT_MIN_LENGTH] = from->min_length;
    fit[PLAN_FIT_MAX_LENGTH] = from->max_length;
    fit[PLAN_FIT_CUT_LENGTH] = from->cut_length;
    fit[PLAN_FIT_ALIGN] = from->align;
    fit[PLAN_FIT_OVERLAP] = from->overlap;
    fit[PLAN_FIT_BEGIN] = from->begin;
    fit[PLAN_FIT_WHOLE] = from->whole;
}

enum leat_status plan_add_source(struct plan_rules *r, const struct leat_plan_source *sources, size_t number,
                                 struct leat_error *err)
{
    static const struct options_reserved reserved[] = { OPTIONS_RESERVED(leat_plan_source, fit.reserved), { 0, 0 } };
    struct leat_plan_source source = LEAT_PLAN_SOURCE_INIT;
    uint64_t fit[PLAN_FIT_OPTIONS];
    enum leat_status s =
        options_read(&source, sizeof source, reserved, options_element(sources, number), "leat_plan_source", err);

    if (s != LEAT_OK)
        return s;
    if (!source.name)
        return status_argument(err, "sources", "source %zu of the plan has no name", number);
    s = plan_rules_add_source(r,
                              &(struct plan_source_text) { .name = source.name,
                                                           .name_length = strlen(source.name),
                                                           .weight = source.weight,
                                                           .weight_length = source.weight ? strlen(source.weight) : 0,
                                                           .epochs = source.epochs,
                                                           .dataset = source.dataset },
                              err);
    take_fit(&source.fit, fit);
    if (s == LEAT_OK)
        s = plan_rules_set_fit(r, r->source_count - 1, fit, err);
    if (s == LEAT_OK && source.where)
        s = plan_rules_set_where(r, r->source_count - 1, source.where, strlen(source.where), err);
    if (s == LEAT_OK && source.repeat)
        s = plan_rules_set_repeat(r, r->source_count - 1, source.repeat, strlen(source.repeat), err);
    return s;
}

static enum leat_status set_fim(struct plan_rules *r, const struct leat_plan_fim *fim, struct leat_error *err)
{
    if (!fim->rate || !fim->spm)
        return status_argument(err, "fim", "fim has no %s; give both rate and spm", fim->rate ? "spm" : "rate");
    return plan_rules_set_fim(r,
                              &(struct plan_fim_text) { .rate = fim->rate,
                                                        .spm = fim->spm,
                                                        .rate_length = strlen(fim->rate),
                                                        .spm_length = strlen(fim->spm),
                                                        .ids = { [PLAN_FIM_PREFIX] = fim->prefix,
                                                                 [PLAN_FIM_MIDDLE] = fim->middle,
                                                                 [PLAN_FIM_SUFFIX] = fim->suffix } },
                              err);
}

static enum leat_status add_options(struct plan_rules *r, const struct leat_plan_options *o, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    if (o->source_count > PLAN_MAX_SOURCES) /* checked before the array is read, since the count may be a mistake */
        return plan_rules_say_sources(err);
    for (size_t i = 0; s == LEAT_OK && i < o->source_count; i++)
        s = plan_add_source(r, o->sources, i, err);
    for (size_t i = 0; s == LEAT_OK && i < o->phase_count; i++) {
        struct leat_plan_phase phase = LEAT_PLAN_PHASE_INIT;

        s = options_read(&phase, sizeof phase, NULL, options_element(o->phases, i), "leat_plan_phase", err);
        if (s != LEAT_OK)
            return s;
        if (!phase.weights)
            return status_argument(err, "phases", "phase %zu of the plan has no weights", i);
        s = plan_rules_add_phase(r, phase.begin, phase.weights, strlen(phase.weights), phase.seq_len, err);
    }
    for (size_t i = 0; s == LEAT_OK && i < o->skip_count; i++)
        s = plan_rules_add_skip(r, o->skips[i].first, o->skips[i].end, err);
    if (s == LEAT_OK && o->bans)
        s = plan_rules_read_bans(r, o->bans, strlen(o->bans), err);
    if (s == LEAT_OK && o->split)
        s = plan_rules_set_split(r, o->split, strlen(o->split), err);
    if (s == LEAT_OK && o->use)
        s = plan_rules_set_use(r, o->use, strlen(o->use), err);
    if (s == LEAT_OK && o->megatron.mid_level_dataset_surplus)
        s = plan_megatron_set_surplus(r, o->megatron.mid_level_dataset_surplus,
                                      strlen(o->megatron.mid_level_dataset_surplus), err);
    return s == LEAT_OK && (o->fim.rate || o->fim.spm) ? set_fim(r, &o->fim, err) : s;
}

enum leat_status leat_plan_open(struct leat_plan **out, const struct leat_plan_options *options, struct leat_error *err)
{
    static const struct options_reserved reserved[] = { OPTIONS_RESERVED(leat_plan_options, fit.reserved),
                                                        OPTIONS_RESERVED(leat_plan_options, megatron.reserved),
                                                        OPTIONS_RESERVED(leat_plan_options, documents.reserved),
                                                        OPTIONS_RESERVED(leat_plan_options, fim.reserved_number),
                                                        OPTIONS_RESERVED(leat_plan_options, fim.reserved),
                                                        OPTIONS_RESERVED(leat_plan_options, stretches.reserved),
                                                        { 0, 0 } };
    struct leat_plan_options o = LEAT_PLAN_OPTIONS_INIT;
    struct plan_rules rules = { .seed = 0 };
    enum leat_status s;

    *out = NULL;
    s = options_read(&o, sizeof o, reserved, options, "leat_plan_options", err);
    if (s != LEAT_OK)
        return s;
    rules.seed = o.seed;
    rules.seq_len = o.seq_len;
    rules.base_len = o.base_len;
    rules.epochs = o.epochs;
    rules.order = (uint32_t)o.order;
    rules.stop = (uint32_t)o.stop;
    take_fit(&o.fit, rules.fit);
    rules.by_tokens[PLAN_MAX_TOKENS] = o.documents.max_tokens;
    rules.by_tokens[PLAN_MAX_ROWS] = o.documents.max_rows;
    rules.by_tokens[PLAN_POOL] = o.documents.pool;
    rules.stretches[PLAN_STRETCH] = o.stretches.stretch;
    rules.stretches[PLAN_MIX] = o.stretches.mix;
    rules.stretches[PLAN_LANES] = o.stretches.lanes;
    rules.megatron.samples = o.megatron.samples;
    if (!plan_order_of((uint64_t)o.order))
        return status_argument(err, "order", "unknown order %d", (int)o.order);
    s = add_options(&rules, &o, err);
    if (s == LEAT_OK)
        return plan_open_rules(out, &rules, o.open, err);
    plan_rules_free(&rules);
    return s;
}

enum leat_status leat_plan_parse(struct leat_plan **out, const char *text, uint64_t bytes, const char *label,
                                 const struct leat_open_options *open, struct leat_error *err)
{
    struct plan_rules rules = { .seed = 0 };
    struct leat_error own;
    enum leat_status s;

    *out = NULL;
    s = plan_rules_read(&rules, text, bytes, label, err ? err : &own);
    if (s == LEAT_OK)
        return plan_open_rules(out, &rules, open, err);
    plan_rules_free(&rules);
    return s;
}

enum leat_status leat_plan_load(struct leat_plan **out, const char *path, const struct leat_open_options *open,
                                struct leat_error *err)
{
    char *text;
    size_t bytes;
    enum leat_status s = file_read_text(&text, &bytes, path, "a plan", err);

    *out = NULL;
    if (s == LEAT_OK)
        s = leat_plan_parse(out, text, bytes, path, open, err);
    free(text);
    return s;
}

/* Opens a plan of the same sources in another order, in batches by tokens unless `by_tokens` is NULL. */
static enum leat_status reorder(struct leat_plan **out, const struct leat_plan *plan, enum leat_order order,
                                uint64_t seq_len, const uint64_t *by_tokens, struct leat_error *err)
{
    const struct leat_dataset **datasets;
    struct plan_rules rules;
    enum leat_status s;

    *out = NULL;
    if (!plan_order_of((uint64_t)order))
        return status_argument(err, "order", "unknown order %d", (int)order);
    datasets = calloc(plan->rules.source_count, sizeof *datasets);
    if (!datasets)
        return status_no_memory(err, plan->rules.source_count * sizeof *datasets);
    for (size_t i = 0; i < plan->rules.source_count; i++)
        datasets[i] = plan->sources[i].dataset;
    s = plan_rules_reorder(&rules, &plan->rules, datasets, (uint32_t)order, seq_len ? seq_len : plan->rules.seq_len,
                           err);
    free(datasets);
    for (size_t i = 0; s == LEAT_OK && i < plan->rules.source_count; i++)
        rules.sources[i].choice = plan->sources[i].choice;
    for (unsigned i = 0; by_tokens && i < PLAN_BY_TOKENS; i++)
        rules.by_tokens[i] = by_tokens[i];
    if (s == LEAT_OK)
        return plan_open_rules(out, &rules, NULL, err);
    plan_rules_free(&rules);
    return s;
}

enum leat_status leat_plan_reorder(struct leat_plan **out, const struct leat_plan *plan, enum leat_order order,
                                   uint64_t seq_len, struct leat_error *err)
{
    return reorder(out, plan, order, seq_len, NULL, err);
}

enum leat_status leat_plan_by_tokens(struct leat_plan **out, const struct leat_plan *plan, uint64_t max_tokens,
                                     uint64_t max_rows, uint64_t pool, struct leat_error *err)
{
    *out = NULL;
    if (plan->skips.count > 0)
        return status_argument(err, "skips",
                               "a plan with skips cannot be put in batches by tokens, which have other "
                               "sample numbers: give them to the plan by tokens");
    for (size_t i = 0; i < plan->rules.ban_count; i++)
        if (plan->rules.bans[i].start > 0)
            return status_argument(err, "bans",
                                   "a plan with bans from a sample on cannot be put in batches by tokens, which have "
                                   "other sample numbers: give them to the plan by tokens");
    return reorder(out, plan, (enum leat_order)plan->rules.order, plan->rules.seq_len,
                   (uint64_t[]) { max_tokens, max_rows, pool }, err);
}

enum leat_status leat_plan_ban(struct leat_plan **out, const struct leat_plan *plan, const char *bans,
                               struct leat_error *err)
{
    size_t bytes = (size_t)plan_rules_print(&plan->rules, NULL, 0);
    char *text = malloc(bytes + 1);
    struct plan_rules rules = { .seed = 0 };
    enum leat_status s;

    *out = NULL;
    if (!text)
        return status_no_memory(err, bytes + 1);
    plan_rules_print(&plan->rules, text, bytes + 1);
    s = plan_rules_read(&rules, text, bytes, "plan", err); /* this makes rules of the same plan again */
    free(text);
    for (size_t i = 0; s == LEAT_OK && i < rules.source_count; i++) {
        rules.sources[i].dataset = plan->sources[i].dataset;
        rules.sources[i].choice = plan->sources[i].choice;
    }
    if (s == LEAT_OK)
        s = plan_rules_read_bans(&rules, bans, strlen(bans), err);
    if (s == LEAT_OK)
        return plan_open_rules(out, &rules, NULL, err);
    plan_rules_free(&rules);
    return s;
}

void leat_plan_close(struct leat_plan *plan)
{
    if (!plan)
        return;
    plan->order->close(plan);
    skips_free(&plan->skips);
    plan_bans_free(&plan->bans);
    for (size_t i = 0; plan->sources && i < plan->rules.source_count; i++)
        plan_source_close(&plan->sources[i]);
    free(plan->sources);
    free(plan->weights);
    free(plan->lengths);
    free(plan->limits);
    plan_rules_free(&plan->rules);
    free(plan);
}

/* ---- Facts ---- */

enum leat_status leat_plan_text(const struct leat_plan *plan, char *text, uint64_t capacity, uint64_t *bytes,
                                struct leat_error *err)
{
    (void)err;
    *bytes = plan_rules_print(&plan->rules, text, capacity);
    return LEAT_OK;
}

/* Returns how many positions the plan has, or LEAT_NONE if it has no end. Skips may make an end. */
static uint64_t positions_of(const struct leat_plan *plan)
{
    const struct skips *s = &plan->skips;
    bool ends = plan->end < LEAT_MAX_SAMPLES || (s->count > 0 && s->items[s->count - 1].end >= LEAT_MAX_SAMPLES);
    bool skipped;

    return ends ? skips_position(s, plan->end, &skipped) : LEAT_NONE;
}

void leat_plan_info(const struct leat_plan *plan, struct leat_plan_info *info)
{
    struct leat_plan_info full = LEAT_PLAN_INFO_INIT;

    full.sources = plan->rules.source_count;
    full.phases = plan->rules.phase_count + 1;
    full.samples = plan->end < LEAT_MAX_SAMPLES ? plan->end : LEAT_NONE;
    full.positions = positions_of(plan);
    full.seed = plan->rules.seed;
    full.seq_len = plan->rules.seq_len;
    full.max_seq_len = plan->max_length;
    full.base_len = plan->rules.base_len;
    full.permutation_version = PERMUTE_VERSION;
    full.blend_version = BLEND_VERSION;
    full.split_version = PLAN_SPLIT_VERSION;
    full.token_width = plan->token_width;
    full.order = (enum leat_order)plan->rules.order;
    full.align = plan->rules.fit[PLAN_FIT_ALIGN];
    full.overlap = plan->rules.fit[PLAN_FIT_OVERLAP];
    full.max_tokens = plan->rules.by_tokens[PLAN_MAX_TOKENS];
    full.max_rows = plan->rules.by_tokens[PLAN_MAX_ROWS];
    full.pool = plan->rules.by_tokens[PLAN_POOL];
    full.stretch = plan->rules.stretches[PLAN_STRETCH];
    full.mix = plan->rules.stretches[PLAN_MIX];
    full.lanes = plan->rules.stretches[PLAN_LANES];
    full.masks = plan->masks;
    options_fill(info, &full, sizeof full);
}

enum leat_status leat_plan_source_info(const struct leat_plan *plan, uint64_t number,
                                       struct leat_plan_source_info *info, struct leat_error *err)
{
    struct leat_plan_source_info full = LEAT_PLAN_SOURCE_INFO_INIT;

    if (number >= plan->rules.source_count)
        return status_set(err, LEAT_E_RANGE, "no source %" PRIu64 ": the plan has %zu, numbered from 0", number,
                          plan->rules.source_count);
    full.name = plan->rules.sources[number].name;
    full.dataset = plan->sources[number].dataset;
    full.blocks = plan->sources[number].blocks;
    full.tokens = plan->sources[number].tokens;
    full.dropped = plan->sources[number].dropped;
    full.weight = plan->weights[number];
    full.epochs = plan_epochs(&plan->rules, number);
    full.documents = plan->sources[number].documents;
    full.left_out = plan->sources[number].left_out;
    full.cut = plan->sources[number].cut;
    options_fill(info, &full, sizeof full);
    return LEAT_OK;
}

/* ---- Samples ---- */

struct at_sample {
    const struct leat_plan *plan;
    uint64_t n;
};

SEARCH_INLINE bool phase_begins_by(const void *context, uint64_t phase)
{
    const struct at_sample *at = context;

    return plan_phase_begin(at->plan, phase) <= at->n;
}

size_t plan_phase_at(const struct leat_plan *plan, uint64_t n)
{
    return (size_t)search_first(1, plan->rules.phase_count + 1, phase_begins_by, &(struct at_sample) { plan, n }) - 1;
}

uint64_t plan_length_at(const struct leat_plan *plan, uint64_t n)
{
    return plan->lengths[plan_phase_at(plan, n)];
}

enum leat_status plan_samples(const struct leat_plan *plan, uint64_t first, uint64_t count, struct leat_sample *samples,
                              uint64_t *got, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    *got = 0;
    while (s == LEAT_OK && *got < count && first < LEAT_MAX_SAMPLES) {
        uint64_t n = skips_number(&plan->skips, first), until = skips_next(&plan->skips, n), here;

        if (until > plan->end)
            until = plan->end;
        if (n >= until)
            break;
        here = count - *got < until - n ? count - *got : until - n;
        s = plan->order->samples(plan, n, here, samples + *got, err);
        *got += here;
        first += here;
    }
    return s;
}

void plan_announce(const struct leat_plan *plan, uint64_t first, uint64_t count)
{
    while (plan->order->announce && count > 0 && first < LEAT_MAX_SAMPLES) {
        uint64_t n = skips_number(&plan->skips, first), until = skips_next(&plan->skips, n), here;

        if (until > plan->end)
            until = plan->end;
        if (n >= until)
            break;
        here = count < until - n ? count : until - n;
        plan->order->announce(plan, n, here);
        count -= here;
        first += here;
    }
}

enum leat_status leat_plan_samples(const struct leat_plan *plan, uint64_t first, uint64_t count,
                                   struct leat_sample *samples, uint64_t *got, struct leat_error *err)
{
    enum leat_status s = plan_samples(plan, first, count, samples, got, err);

    return s == LEAT_OK && plan->order->begins ? plan->order->begins(plan, samples, *got, err) : s;
}

enum leat_status leat_plan_sample(const struct leat_plan *plan, uint64_t number, struct leat_sample *sample,
                                  struct leat_error *err)
{
    if (number >= plan->end)
        return status_set(err, LEAT_E_RANGE, "no sample %" PRIu64 ": the plan has %" PRIu64 ", numbered from 0", number,
                          plan->end);
    return plan_order_samples(plan, number, 1, sample, err);
}

enum leat_status leat_plan_pieces(const struct leat_plan *plan, const struct leat_sample *samples, uint64_t count,
                                  struct leat_piece *pieces, struct leat_error *err)
{
    return plan_order_pieces(plan, samples, count, pieces, err);
}

uint64_t leat_plan_number(const struct leat_plan *plan, uint64_t position)
{
    return skips_number(&plan->skips, position);
}

uint64_t leat_plan_position(const struct leat_plan *plan, uint64_t number, uint32_t *skipped)
{
    bool is_skipped;
    uint64_t position = skips_position(&plan->skips, number, &is_skipped);

    if (skipped)
        *skipped = is_skipped;
    return position;
}

enum leat_status leat_plan_rank_rows(uint64_t batch, uint64_t rank, uint64_t world, uint64_t *first, uint64_t *count,
                                     struct leat_error *err)
{
    if (batch == 0 || world == 0)
        return status_argument(err, "batch", "%" PRIu64 " rows cannot be a batch for %" PRIu64 " ranks", batch, world);
    if (rank >= world)
        return status_argument(
            err, "rank", "rank %" PRIu64 " is not below the world size %" PRIu64 ": ranks count from 0", rank, world);
    if (batch % world != 0)
        return status_argument(err, "batch",
                               "a global batch of %" PRIu64 " rows does not divide equally among %" PRIu64
                               " ranks; the nearest size that does is %" PRIu64,
                               batch, world,
                               batch % world <= world / 2 && batch > world ? batch - batch % world
                                                                           : batch - batch % world + world);
    *count = batch / world;
    *first = rank * *count;
    return LEAT_OK;
}
