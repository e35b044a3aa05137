/*
 * plan_rules.c: checks the rules of a plan. Both options and text add one source, phase, skip or split at a time as
 * text, and each call checks what it can by itself. plan_rules_finish() checks what needs the whole: order and
 * lengths of phases, one weight per source, disjoint skips. Rules own copies of everything, so that the caller's
 * memory may go.
 */
#include "plan_rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/status.h"
#include "choose/choose.h"
#include "plan_order.h"

static char *copy_text(const char *text, size_t length)
{
    char *out = malloc(length + 1);

    if (out) {
        memcpy(out, text, length);
        out[length] = '\0';
    }
    return out;
}

/* ---- Sources ---- */

static enum leat_status check_name(const char *name, size_t length, struct leat_error *err)
{
    if (length == 0)
        return status_argument(err, "sources", "a source has no name; write NAME, NAME:WEIGHT or NAME:WEIGHT:EPOCHS");
    if (memchr(name, '\n', length) || memchr(name, '\0', length) || name[0] == ' ' || name[0] == '\t' ||
        name[length - 1] == ' ' || name[length - 1] == '\t' || name[length - 1] == '\r')
        return status_argument(
            err, "sources",
            "a plan's text cannot hold the name \"%.*s\": it has a newline in it, or blanks at an end; "
            "rename it, or name it in an @list",
            plan_rules_shown(length), name);
    return LEAT_OK;
}

static enum leat_status parse_weight(const char *text, size_t length, struct decimal *weight, struct leat_error *err)
{
    const char *why;

    if (decimal_parse(text, length, weight, &why))
        return LEAT_OK;
    return status_argument(err, "sources", "the weight \"%.*s\" %s", plan_rules_shown(length), text, why);
}

enum leat_status plan_rules_say_sources(struct leat_error *err)
{
    return status_argument(err, "sources", "more than %u sources; join some in a folder or an @list", PLAN_MAX_SOURCES);
}

enum leat_status plan_rules_add_source(struct plan_rules *r, const struct plan_source_text *text,
                                       struct leat_error *err)
{
    struct plan_source_rule source = {
        .dataset = text->dataset, .weight = { 1, 0 }, .weighted = text->weight, .epochs = text->epochs
    };
    enum leat_status s = check_name(text->name, text->name_length, err);

    if (s == LEAT_OK && text->weight)
        s = parse_weight(text->weight, text->weight_length, &source.weight, err);
    if (s != LEAT_OK)
        return s;
    if (r->source_count == PLAN_MAX_SOURCES)
        return plan_rules_say_sources(err);
    s = GROW(r->sources, r->source_count + 1, r->source_room, err);
    if (s != LEAT_OK)
        return s;
    source.name = copy_text(text->name, text->name_length);
    if (!source.name)
        return status_no_memory(err, text->name_length);
    r->sources[r->source_count++] = source;
    return LEAT_OK;
}

/* ---- Phases ---- */

enum leat_status plan_rules_add_phase(struct plan_rules *r, uint64_t begin, const char *weights, size_t weights_length,
                                      uint64_t seq_len, struct leat_error *err)
{
    struct plan_phase_rule phase = { .begin = begin, .seq_len = seq_len };
    enum leat_status s;
    size_t count = 1, at = 0;

    for (size_t i = 0; i < weights_length; i++)
        count += weights[i] == ',';
    s = GROW(r->phases, r->phase_count + 1, r->phase_room, err);
    if (s != LEAT_OK)
        return s;
    phase.weights = malloc(count * sizeof *phase.weights);
    if (!phase.weights)
        return status_no_memory(err, count * sizeof *phase.weights);
    for (size_t i = 0; s == LEAT_OK && i < count; i++) {
        const char *comma = memchr(weights + at, ',', weights_length - at);
        size_t length = comma ? (size_t)(comma - weights) - at : weights_length - at;

        s = parse_weight(weights + at, length, &phase.weights[i], err);
        at += length + 1;
    }
    if (s != LEAT_OK) {
        free(phase.weights);
        return s;
    }
    phase.weight_count = count;
    r->phases[r->phase_count++] = phase;
    return LEAT_OK;
}

/* ---- Changes ---- */

/* Takes the weights that a change gives, in the order of the sources, into weights[0 .. r->source_count). */
static enum leat_status change_weights(const struct plan_rules *r, const struct plan_change *c, struct decimal *weights,
                                       struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    size_t at = 0;

    for (size_t i = 0; s == LEAT_OK && at < c->weights_length; i++) {
        const char *text = c->weights + at, *comma = memchr(text, ',', c->weights_length - at);
        size_t length = comma ? (size_t)(comma - text) : c->weights_length - at;

        if (i >= r->source_count)
            return status_argument(err, "weights",
                                   "the change at sample %" PRIu64 " has more weights than the %zu source%s", c->at,
                                   r->source_count, r->source_count == 1 ? "" : "s");
        if (length > 0)
            s = parse_weight(text, length, &weights[i], err);
        at += length + 1;
    }
    return s;
}

/* Sets the weights from the change on: those that it gives, and for other sources the weights before it. `phase` is
 * the phase before it; NULL: it is the first. */
static enum leat_status weights_after(const struct plan_rules *r, const struct plan_change *c,
                                      const struct plan_phase_rule *phase, struct decimal *weights,
                                      struct leat_error *err)
{
    for (size_t i = 0; i < r->source_count; i++)
        if (!phase || i >= c->added)
            weights[i] = r->sources[i].weight;
        else if (i < phase->weight_count)
            weights[i] = phase->weights[i];
    return change_weights(r, c, weights, err);
}

/* Returns how many phases begin at or before sample `at`. */
static size_t phases_by(const struct plan_rules *r, uint64_t at)
{
    size_t count = 0;

    while (count < r->phase_count && r->phases[count].begin <= at)
        count++;
    return count;
}

static void drop_phases(struct plan_rules *r, size_t kept)
{
    while (r->phase_count > kept)
        free(r->phases[--r->phase_count].weights);
}

/* Changes the first phase, for a change at sample 0, which has no phase before it. */
static void change_first(struct plan_rules *r, const struct plan_change *c, const struct decimal *weights)
{
    for (size_t i = 0; i < r->source_count; i++) {
        r->sources[i].weight = weights[i];
        r->sources[i].weighted = true;
    }
    if (c->seq_len == 0)
        return;
    r->seq_len = c->seq_len;
    if (plan_order_of(r->order)->lengths)
        r->base_len = c->seq_len;
}

enum leat_status plan_rules_change(struct plan_rules *r, const struct plan_change *c, struct leat_error *err)
{
    size_t kept = phases_by(r, c->at);
    struct plan_phase_rule *before = kept > 0 ? &r->phases[kept - 1] : NULL, phase = { c->at, c->seq_len, NULL, 0 };
    enum leat_status s;

    phase.weights = calloc(r->source_count, sizeof *phase.weights);
    if (!phase.weights)
        return status_no_memory(err, r->source_count * sizeof *phase.weights);
    phase.weight_count = r->source_count;
    s = weights_after(r, c, before, phase.weights, err);
    if (s == LEAT_OK)
        s = GROW(r->phases, kept + 1, r->phase_room, err);
    if (s != LEAT_OK || c->at == 0) {
        drop_phases(r, s == LEAT_OK ? 0 : r->phase_count);
        if (s == LEAT_OK)
            change_first(r, c, phase.weights);
        free(phase.weights);
        return s;
    }
    if (kept > 0 && r->phases[kept - 1].begin == c->at) { /* the change takes the place of the phase that begins
                                                             there */
        kept--;
        if (phase.seq_len == 0)
            phase.seq_len = r->phases[kept].seq_len;
    }
    for (size_t i = c->added; i < r->source_count; i++) {
        r->sources[i].weight = (struct decimal) { 0, 0 };
        r->sources[i].weighted = true;
    }
    drop_phases(r, kept);
    r->phases[r->phase_count++] = phase;
    return LEAT_OK;
}

/* ---- Skips ---- */

enum leat_status plan_rules_add_skip(struct plan_rules *r, uint64_t first, uint64_t end, struct leat_error *err)
{
    enum leat_status s;

    if (first >= end)
        return status_argument(err, "skips",
                               "the skip from sample %" PRIu64 " to %" PRIu64
                               " is empty: its end must be greater than its start",
                               first, end);
    if (end > LEAT_MAX_SAMPLES)
        return status_argument(err, "skips", "a skip ends at sample %" PRIu64 "; samples are numbered below 2^60", end);
    s = GROW(r->skips, r->skip_count + 1, r->skip_room, err);
    if (s == LEAT_OK)
        r->skips[r->skip_count++] = (struct skips_range) { first, end };
    return s;
}

static int compare_ranges(const void *a, const void *b)
{
    const struct skips_range *x = a, *y = b;

    return x->first < y->first ? -1 : x->first > y->first;
}

static enum leat_status finish_skips(struct plan_rules *r, struct leat_error *err)
{
    if (r->skip_count > 0)
        qsort(r->skips, r->skip_count, sizeof *r->skips, compare_ranges);
    for (size_t i = 1; i < r->skip_count; i++)
        if (r->skips[i].first < r->skips[i - 1].end)
            return status_argument(err, "skips",
                                   "the skips %" PRIu64 ":%" PRIu64 " and %" PRIu64 ":%" PRIu64
                                   " overlap; each sample is skipped once",
                                   r->skips[i - 1].first, r->skips[i - 1].end, r->skips[i].first, r->skips[i].end);
    return LEAT_OK;
}

/* ---- Splits ---- */

static enum leat_status add_split(struct plan_rules *r, const char *text, size_t length, struct leat_error *err)
{
    const char *equals = memchr(text, '=', length);
    size_t name_length = equals ? (size_t)(equals - text) : 0;
    struct plan_split_rule split;
    const char *why = "is not NAME=FRACTION";
    enum leat_status s;
    uint64_t units;

    if (name_length == 0 || !decimal_parse(equals + 1, length - name_length - 1, &split.fraction, &why))
        return status_argument(err, "split", "the split \"%.*s\" %s", plan_rules_shown(length), text,
                               name_length ? "has no decimal number after its =" : why);
    for (size_t i = 0; i < name_length; i++)
        if (text[i] == ' ' || text[i] == '\t' || text[i] == '\r')
            return status_argument(err, "split", "the split \"%.*s\" has a blank in its name", plan_rules_shown(length),
                                   text);
    if (!decimal_to_units(split.fraction, &units) || units == 0)
        return status_argument(err, "split",
                               "the split \"%.*s\" is not above 0 and at most 1, with at most 18 decimal places",
                               plan_rules_shown(length), text);
    for (size_t i = 0; i < r->split_count; i++)
        if (strlen(r->splits[i].name) == name_length && memcmp(r->splits[i].name, text, name_length) == 0)
            return status_argument(err, "split", "two splits are called \"%.*s\"", plan_rules_shown(name_length), text);
    s = GROW(r->splits, r->split_count + 1, r->split_room, err);
    if (s != LEAT_OK)
        return s;
    split.name = copy_text(text, name_length);
    if (!split.name)
        return status_no_memory(err, name_length);
    r->splits[r->split_count++] = split;
    return LEAT_OK;
}

enum leat_status plan_rules_set_split(struct plan_rules *r, const char *text, size_t length, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    if (plan_megatron_is_split(text, length))
        return plan_megatron_set_split(r, text, length, err);
    if (memchr(text, '\n', length) || memchr(text, '\0', length))
        return status_argument(err, "split", "a split's name cannot have a newline or a zero byte in it");
    for (size_t at = 0; s == LEAT_OK && at <= length;) {
        const char *comma = memchr(text + at, ',', length - at);
        size_t here = comma ? (size_t)(comma - text) - at : length - at;

        s = add_split(r, text + at, here, err);
        at += here + 1;
    }
    return s;
}

enum leat_status plan_rules_set_use(struct plan_rules *r, const char *name, size_t length, struct leat_error *err)
{
    free(r->use);
    r->use = copy_text(name, length);
    return r->use ? LEAT_OK : status_no_memory(err, length);
}

/* Returns the number of the used split; split_count: unknown name. */
static size_t used_split(const struct plan_rules *r)
{
    size_t i = 0;

    while (i < r->split_count && strcmp(r->splits[i].name, r->use) != 0)
        i++;
    return i;
}

static enum leat_status finish_splits(const struct plan_rules *r, struct leat_error *err)
{
    uint64_t total = 0;

    enum leat_status s = plan_megatron_refuse(r, err);

    if (s != LEAT_OK)
        return s;
    if (r->split_count == 0)
        return r->use ? status_argument(
                            err, "split",
                            "the range %.*s is to be used, but the split is missing; give one, such as %.*s=0.99",
                            PLAN_SHOWN, r->use, PLAN_SHOWN, r->use)
                      : LEAT_OK;
    if (!r->use)
        return status_argument(err, "use",
                               "the plan does not say which range of the split to use; name one, such as %.*s",
                               PLAN_SHOWN, r->splits[0].name);
    if (used_split(r) == r->split_count)
        return status_argument(err, "use",
                               "unknown range \"%.*s\" of the split, whose first is \"%.*s\"; name each range, as in "
                               "train=0.99,valid=0.01",
                               PLAN_SHOWN, r->use, PLAN_SHOWN, r->splits[0].name);
    for (size_t i = 0; i < r->split_count; i++) {
        uint64_t units;

        decimal_to_units(r->splits[i].fraction, &units);
        if (units > DECIMAL_UNIT - total)
            return status_argument(err, "split", "the fractions of the split add up to more than 1");
        total += units;
    }
    return LEAT_OK;
}

const struct plan_split_rule *plan_rules_used(const struct plan_rules *r)
{
    return r->split_count ? &r->splits[used_split(r)] : NULL;
}

void plan_rules_part(const struct plan_rules *r, uint64_t *begin, uint64_t *end)
{
    size_t used = r->split_count ? used_split(r) : 0;
    uint64_t units;

    *begin = 0;
    *end = DECIMAL_UNIT;
    for (size_t i = 0; i < r->split_count && i <= used; i++) {
        decimal_to_units(r->splits[i].fraction, &units);
        *end = i == 0 ? units : *end + units;
        *begin = *end - units;
    }
}

/* ---- Fill-in-the-middle ---- */

static enum leat_status read_share(const char *what, const char *text, size_t length, struct decimal *share,
                                   uint64_t *units, struct leat_error *err)
{
    const char *why;

    if (decimal_parse(text, length, share, &why) && decimal_to_units(*share, units))
        return LEAT_OK;
    return status_argument(err, "fim", "the %s of fim, \"%.*s\", is not a decimal from 0 to 1 with at most 18 places",
                           what, plan_rules_shown(length), text);
}

enum leat_status plan_rules_set_fim(struct plan_rules *r, const struct plan_fim_text *text, struct leat_error *err)
{
    struct plan_fim *f = &r->fim;
    enum leat_status s = read_share("rate", text->rate, text->rate_length, &f->rate, &f->rule.rate, err);

    if (s == LEAT_OK)
        s = read_share("spm", text->spm, text->spm_length, &f->spm, &f->rule.spm, err);
    if (s != LEAT_OK)
        return s;
    memcpy(f->ids, text->ids, sizeof f->ids);
    f->given = true;
    if (f->ids[PLAN_FIM_PREFIX] != f->ids[PLAN_FIM_MIDDLE] && f->ids[PLAN_FIM_PREFIX] != f->ids[PLAN_FIM_SUFFIX] &&
        f->ids[PLAN_FIM_MIDDLE] != f->ids[PLAN_FIM_SUFFIX])
        return LEAT_OK;
    return status_argument(err, "fim",
                           "the tokens of fim are %" PRIu32 ", %" PRIu32 " and %" PRIu32
                           "; prefix, middle and suffix must be different tokens",
                           f->ids[PLAN_FIM_PREFIX], f->ids[PLAN_FIM_MIDDLE], f->ids[PLAN_FIM_SUFFIX]);
}

const char *plan_rules_fim_text(const struct plan_rules *r, char text[PLAN_FIM_TEXT])
{
    const struct plan_fim *f = &r->fim;
    char rate[DECIMAL_TEXT], spm[DECIMAL_TEXT];

    if (f->given)
        snprintf(text, PLAN_FIM_TEXT, "%s,%s,%" PRIu32 ",%" PRIu32 ",%" PRIu32, decimal_print(f->rate, rate),
                 decimal_print(f->spm, spm), f->ids[PLAN_FIM_PREFIX], f->ids[PLAN_FIM_MIDDLE], f->ids[PLAN_FIM_SUFFIX]);
    else
        snprintf(text, PLAN_FIM_TEXT, "none");
    return text;
}

/* ---- All together ---- */

static enum leat_status check_length(const struct plan_rules *r, uint64_t seq_len, struct leat_error *err)
{
    if (seq_len == 0 || seq_len > PLAN_MAX_LENGTH)
        return status_argument(err, "seq_len", "a sequence length of %" PRIu64 " is not between 1 and 2^30", seq_len);
    if (plan_order_of(r->order)->lengths || r->base_len % seq_len == 0)
        return LEAT_OK;
    status_argument(err, "seq_len",
                    "the sequence length %" PRIu64 " does not divide the base length %" PRIu64
                    "; set the base length to a common multiple of all lengths",
                    seq_len, r->base_len);
    if (err && seq_len % r->base_len == 0)
        status_after(err, ", as %" PRIu64, seq_len);
    return LEAT_E_ARGUMENT;
}

const char *const plan_fit_names[PLAN_FIT_OPTIONS] = { "max-per-row", "min-length", "max-length", "cut-length",
                                                       "align",       "overlap",    "begin",      "whole" };

/* The names of these options in struct leat_plan_options. */
static const char *const plan_fit_fields[PLAN_FIT_OPTIONS] = { "max_per_row", "min_length", "max_length", "cut_length",
                                                               "align",       "overlap",    "begin",      "whole" };

/* Checks each of these options, which are a plan's or a source's, by itself. */
static enum leat_status check_fit_options(const struct plan_rules *r, const uint64_t *fit, struct leat_error *err)
{
    for (unsigned i = 0; i < PLAN_FIT_OPTIONS; i++)
        if (fit[i] > 0 && !plan_order_of(r->order)->own_labels)
            return status_argument(err, plan_fit_fields[i],
                                   "%s is for rows of whole documents, but the plan's order is %s", plan_fit_names[i],
                                   leat_order_name((enum leat_order)r->order));
    if (fit[PLAN_FIT_BEGIN] > 1)
        return status_argument(err, "begin", "begin is 1 for begin tokens or 0 for none, not %" PRIu64,
                               fit[PLAN_FIT_BEGIN]);
    if (fit[PLAN_FIT_WHOLE] > 1)
        return status_argument(err, "whole", "whole is 1 for documents that are never cut or 0, not %" PRIu64,
                               fit[PLAN_FIT_WHOLE]);
    return LEAT_OK;
}

enum leat_status plan_rules_set_fit(struct plan_rules *r, size_t source, const uint64_t *fit, struct leat_error *err)
{
    for (unsigned i = PLAN_FIT_ALIGN; i <= PLAN_FIT_BEGIN; i++)
        if (fit[i] > 0)
            return status_argument(
                err, plan_fit_fields[i],
                "%s counts for all sources of a plan: give it to the plan, not to source %zu, %.300s",
                plan_fit_names[i], source, r->sources[source].name);
    memcpy(r->sources[source].fit, fit, sizeof r->sources[source].fit);
    return LEAT_OK;
}

/* Takes a text of a choice. */
static enum leat_status set_text(char **to, const char *text, size_t length, const char *option, struct leat_error *err)
{
    if (memchr(text, '\n', length) || memchr(text, '\0', length))
        return status_argument(err, option, "%s has a newline or a zero byte in it: write it in one line", option);
    free(*to);
    *to = copy_text(text, length);
    return *to ? LEAT_OK : status_no_memory(err, length);
}

enum leat_status plan_rules_set_where(struct plan_rules *r, size_t source, const char *text, size_t length,
                                      struct leat_error *err)
{
    struct plan_source_rule *rule = &r->sources[source];
    enum leat_status s = set_text(&rule->where, text, length, "where", err);

    return s == LEAT_OK ? choice_check(&(struct choice_rule) { rule->where, NULL }, err) : s;
}

enum leat_status plan_rules_set_repeat(struct plan_rules *r, size_t source, const char *text, size_t length,
                                       struct leat_error *err)
{
    struct plan_source_rule *rule = &r->sources[source];
    enum leat_status s = set_text(&rule->repeat, text, length, "repeat", err);

    return s == LEAT_OK ? choice_check(&(struct choice_rule) { NULL, rule->repeat }, err) : s;
}

/* Checks the rules that count for a source together, and drops those of its own that are the plan's. */
static enum leat_status check_fit_of(struct plan_rules *r, size_t source, struct leat_error *err)
{
    uint64_t *own = r->sources[source].fit;
    enum leat_status s = check_fit_options(r, own, err);

    if (s != LEAT_OK)
        return s;
    for (unsigned i = 0; i < PLAN_FIT_OPTIONS; i++)
        own[i] = own[i] == r->fit[i] ? 0 : own[i]; /* equal plans have equal texts */
    if (plan_rules_fit(r, source, PLAN_FIT_WHOLE) && plan_rules_fit(r, source, PLAN_FIT_CUT_LENGTH) > 0)
        return status_argument(err, "whole",
                               "the documents of %.300s are to stay whole, but cut-length cuts them: leave one of "
                               "these rules out",
                               r->sources[source].name);
    return LEAT_OK;
}

static enum leat_status check_fit(struct plan_rules *r, struct leat_error *err)
{
    enum leat_status s = check_fit_options(r, r->fit, err);

    if (r->fit[PLAN_FIT_ALIGN] == 1) /* an `align` of 1 changes nothing, and equal plans have equal texts */
        r->fit[PLAN_FIT_ALIGN] = 0;
    for (size_t i = 0; s == LEAT_OK && i < r->source_count; i++)
        s = check_fit_of(r, i, err);
    return s;
}

static enum leat_status check_choices(const struct plan_rules *r, struct leat_error *err)
{
    for (size_t i = 0; i < r->source_count; i++) {
        const struct plan_source_rule *source = &r->sources[i];

        if (source->has_sum && !source->where && !source->repeat)
            return status_argument(err, "where", "source %zu has the sum of a choice, but no choice", i);
        if ((source->where || source->repeat) && plan_order_of(r->order)->megatron)
            return status_argument(err, source->where ? "where" : "repeat",
                                   "documents are chosen in every order but megatron, which shows what Megatron shows");
    }
    return LEAT_OK;
}

const char *const plan_tokens_names[PLAN_BY_TOKENS] = { "max-tokens", "max-rows", "pool" };
static const char *const plan_tokens_fields[PLAN_BY_TOKENS] = { "max_tokens", "max_rows", "pool" };

static enum leat_status check_by_tokens(struct plan_rules *r, struct leat_error *err)
{
    uint64_t *o = r->by_tokens;

    for (unsigned i = 0; i < PLAN_BY_TOKENS; i++) {
        if (o[i] > 0 && !plan_order_of(r->order)->longest_first)
            return status_argument(err, plan_tokens_fields[i],
                                   "%s is for batches of whole documents, one per row, but the plan's order is %s",
                                   plan_tokens_names[i], leat_order_name((enum leat_order)r->order));
        if (o[i] > 0 && o[PLAN_MAX_TOKENS] == 0)
            return status_argument(err, plan_tokens_fields[i], "%s needs max-tokens", plan_tokens_names[i]);
    }
    if (o[PLAN_MAX_TOKENS] == 0)
        return LEAT_OK;
    if (o[PLAN_MAX_TOKENS] <= r->seq_len || o[PLAN_MAX_TOKENS] > PLAN_MAX_LENGTH)
        return status_argument(err, "max_tokens",
                               "batches of at most %" PRIu64 " tokens do not hold every row, of up to %" PRIu64
                               "; max-tokens is from there to 2^30, or rows are cut to a smaller length",
                               o[PLAN_MAX_TOKENS], r->seq_len + 1);
    o[PLAN_POOL] = o[PLAN_POOL] > 0 ? o[PLAN_POOL] : PLAN_USUAL_POOL;
    if (o[PLAN_POOL] > PLAN_MAX_POOL)
        return status_argument(err, "pool", "a pool of %" PRIu64 " samples is too large; the limit is 2^20",
                               o[PLAN_POOL]);
    if (o[PLAN_MAX_ROWS] == 0 || o[PLAN_MAX_ROWS] > o[PLAN_MAX_TOKENS] / 2)
        o[PLAN_MAX_ROWS] = o[PLAN_MAX_TOKENS] / 2; /* a row counts as at least 2 tokens */
    if (o[PLAN_MAX_ROWS] > o[PLAN_POOL])
        o[PLAN_MAX_ROWS] = o[PLAN_POOL];
    return LEAT_OK;
}

const char *const plan_stretches_names[PLAN_STRETCHES] = { "stretch", "mix", "lanes" };

static enum leat_status check_stretches(struct plan_rules *r, struct leat_error *err)
{
    uint64_t *o = r->stretches;

    for (unsigned i = 0; i < PLAN_STRETCHES; i++) {
        if (o[i] > 0 && r->order != LEAT_ORDER_SHUFFLED)
            return status_argument(err, plan_stretches_names[i],
                                   "%s is for the order shuffled, but the plan's order is %s", plan_stretches_names[i],
                                   leat_order_name((enum leat_order)r->order));
        if (o[i] > 0 && o[PLAN_STRETCH] == 0)
            return status_argument(err, plan_stretches_names[i], "%s needs stretch", plan_stretches_names[i]);
    }
    if (o[PLAN_STRETCH] == 0)
        return LEAT_OK;
    o[PLAN_MIX] = o[PLAN_MIX] > 0 ? o[PLAN_MIX] : PLAN_USUAL_MIX;
    o[PLAN_LANES] = o[PLAN_LANES] > 0 ? o[PLAN_LANES] : 1;
    if (o[PLAN_LANES] > PLAN_MAX_LANES)
        return status_argument(err, "lanes", "%" PRIu64 " lanes are too many; the limit is %u", o[PLAN_LANES],
                               PLAN_MAX_LANES);
    return LEAT_OK;
}

static enum leat_status check_stop(const struct plan_rules *r, struct leat_error *err)
{
    bool limited = r->epochs > 0;

    if (r->stop > LEAT_STOP_FIRST)
        return status_argument(err, "stop", "unknown value %u for stop", r->stop);
    if (r->stop == LEAT_STOP_ALL)
        return LEAT_OK;
    if (!plan_order_of(r->order)->phases)
        return status_argument(err, "stop",
                               "a plan of order %s does not stop with its first spent source: no source "
                               "of it has an end of its own",
                               leat_order_name((enum leat_order)r->order));
    for (size_t i = 0; i < r->source_count && !limited; i++)
        limited = r->sources[i].epochs > 0;
    if (limited)
        return LEAT_OK;
    return status_argument(err, "stop",
                           "the plan is to stop with its first spent source, but no source is ever spent: "
                           "limit the epochs, of the plan or of a source");
}

static enum leat_status finish_phases(const struct plan_rules *r, struct leat_error *err)
{
    uint64_t before = 0;

    if (r->phase_count > 0 && !plan_order_of(r->order)->phases)
        return status_argument(err, "phases", "a plan of order %s has no phases: its weights and length do not change",
                               leat_order_name((enum leat_order)r->order));
    for (size_t i = 0; i < r->phase_count; i++) {
        const struct plan_phase_rule *p = &r->phases[i];

        if (p->begin <= before || p->begin >= LEAT_MAX_SAMPLES)
            return status_argument(
                err, "phases", "a phase starts at sample %" PRIu64 ", not after the phase before it, at %" PRIu64 "%s",
                p->begin, before, p->begin >= LEAT_MAX_SAMPLES ? ", and below 2^60" : "; give phases in their order");
        before = p->begin;
        if (p->weight_count > r->source_count)
            return status_argument(err, "phases", "the phase at sample %" PRIu64 " has %zu weights for %zu source%s",
                                   p->begin, p->weight_count, r->source_count, r->source_count == 1 ? "" : "s");
        if (p->seq_len > 0 && check_length(r, p->seq_len, err) != LEAT_OK)
            return LEAT_E_ARGUMENT;
    }
    return LEAT_OK;
}

enum leat_status plan_rules_finish(struct plan_rules *r, struct leat_error *err)
{
    enum leat_status s;

    if (r->source_count == 0)
        return status_argument(err, "sources", "a plan needs a source");
    if (r->seq_len == 0)
        return status_argument(err, "seq_len", "a plan needs a sequence length: the tokens of a sample");
    if (r->base_len == 0)
        r->base_len = r->seq_len;
    if (plan_order_of(r->order)->lengths && r->base_len != r->seq_len)
        return status_argument(err, "base_len", "a plan of order %s has no base length%s",
                               leat_order_name((enum leat_order)r->order),
                               plan_order_of(r->order)->phases ? ": each phase may have any length" : "");
    if (r->base_len > PLAN_MAX_LENGTH)
        return status_argument(err, "base_len", "a base length of %" PRIu64 " is not between 1 and 2^30", r->base_len);
    s = check_length(r, r->seq_len, err);
    if (s == LEAT_OK)
        s = check_choices(r, err);
    if (s == LEAT_OK)
        s = check_fit(r, err);
    if (s == LEAT_OK)
        s = check_by_tokens(r, err);
    if (s == LEAT_OK)
        s = check_stretches(r, err);
    if (s == LEAT_OK)
        s = check_stop(r, err);
    if (s == LEAT_OK)
        s = finish_phases(r, err);
    if (s == LEAT_OK && plan_order_of(r->order)->megatron)
        s = plan_megatron_finish(r, err);
    else if (s == LEAT_OK)
        s = finish_splits(r, err);
    if (s == LEAT_OK)
        s = plan_bans_finish(r, err);
    return s == LEAT_OK ? finish_skips(r, err) : s;
}

static enum leat_status copy_split(struct plan_rules *to, const struct plan_rules *from, struct leat_error *err)
{
    to->splits = calloc(from->split_count, sizeof *to->splits);
    if (!to->splits)
        return status_no_memory(err, from->split_count * sizeof *to->splits);
    to->split_room = from->split_count;
    for (; to->split_count < from->split_count; to->split_count++) {
        const struct plan_split_rule *split = &from->splits[to->split_count];

        to->splits[to->split_count] =
            (struct plan_split_rule) { copy_text(split->name, strlen(split->name)), split->fraction };
        if (!to->splits[to->split_count].name)
            return status_no_memory(err, strlen(split->name) + 1);
    }
    return plan_rules_set_use(to, from->use, strlen(from->use), err);
}

enum leat_status plan_rules_reorder(struct plan_rules *to, const struct plan_rules *from,
                                    const struct leat_dataset *const *datasets, uint32_t order, uint64_t seq_len,
                                    struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    char weight[DECIMAL_TEXT];

    *to = (struct plan_rules) {
        .seed = from->seed, .seq_len = seq_len, .epochs = from->epochs, .order = order, .fim = from->fim
    };
    to->stop = plan_order_of(order)->phases ? from->stop : LEAT_STOP_ALL;
    for (unsigned i = 0; plan_order_of(order)->own_labels && i < PLAN_FIT_OPTIONS; i++)
        to->fit[i] = from->fit[i];
    for (size_t i = 0; s == LEAT_OK && i < from->source_count; i++) {
        const struct plan_source_rule *source = &from->sources[i];

        decimal_print(source->weight, weight);
        s = plan_rules_add_source(to,
                                  &(struct plan_source_text) { .name = source->name,
                                                               .name_length = strlen(source->name),
                                                               .weight = source->weighted ? weight : NULL,
                                                               .weight_length = strlen(weight),
                                                               .epochs = source->epochs,
                                                               .dataset = datasets[i] },
                                  err);
        if (s == LEAT_OK && plan_order_of(order)->own_labels)
            s = plan_rules_set_fit(to, i, source->fit, err);
        if (s == LEAT_OK && source->where)
            s = plan_rules_set_where(to, i, source->where, strlen(source->where), err);
        if (s == LEAT_OK && source->repeat)
            s = plan_rules_set_repeat(to, i, source->repeat, strlen(source->repeat), err);
    }
    for (size_t i = 0; s == LEAT_OK && i < from->ban_count; i++) {
        s = from->bans[i].start > 0 ? LEAT_OK : GROW(to->bans, to->ban_count + 1, to->ban_room, err);
        if (s == LEAT_OK && from->bans[i].start == 0)
            to->bans[to->ban_count++] = from->bans[i];
    }
    memcpy(to->megatron.ratios, from->megatron.ratios, sizeof to->megatron.ratios);
    to->megatron.ratio_count = from->megatron.ratio_count;
    return s == LEAT_OK && from->split_count > 0 ? copy_split(to, from, err) : s;
}

void plan_rules_free(struct plan_rules *r)
{
    for (size_t i = 0; i < r->source_count; i++) {
        free(r->sources[i].name);
        free(r->sources[i].where);
        free(r->sources[i].repeat);
    }
    for (size_t i = 0; i < r->phase_count; i++)
        free(r->phases[i].weights);
    for (size_t i = 0; i < r->split_count; i++)
        free(r->splits[i].name);
    for (size_t i = 0; i < r->ban_count; i++)
        free(r->bans[i].name);
    free(r->bans);
    free(r->sources);
    free(r->phases);
    free(r->splits);
    free(r->skips);
    free(r->use);
    *r = (struct plan_rules) { .seed = 0 };
}
