/*
 * sampler_make.c: lays out a sampler: cuts the phases into segments where a source is spent, and counts the draws of
 * each source before each segment. This is computed whenever a plan is opened, and stored nowhere. A segment depends
 * only on what comes before it, so a later phase cannot change it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/grow.h"
#include "base/status.h"
#include "sampler.h"

typedef unsigned long long ull;

/* The state while going through the phases. */
struct maker {
    struct sampler *s;
    const struct sampler_rules *rules;
    uint64_t *counts;  /* of each source so far */
    uint64_t *weights; /* of the phase, 0 for sources that are spent */
    struct leat_error *err;
};

static enum leat_status add_segment(struct maker *m, uint64_t first, uint32_t phase)
{
    struct sampler *s = m->s;
    enum leat_status status;

    if (((uint64_t)s->segment_count + 1) * s->source_count > SAMPLER_MAX_ENTRIES)
        return status_set(m->err, LEAT_E_ARGUMENT,
                          "too many changes of weights for %lu sources: phases, and sources with a limit of epochs, "
                          "make more than %llu; leave some out, or join sources",
                          (unsigned long)s->source_count, (ull)(SAMPLER_MAX_ENTRIES / s->source_count));
    status = GROW(s->segments, (uint64_t)s->segment_count + 1, s->segment_room, m->err);
    if (status == LEAT_OK)
        status = GROW(s->counts, ((uint64_t)s->segment_count + 1) * s->source_count, s->count_room, m->err);
    if (status != LEAT_OK)
        return status;
    s->segments[s->segment_count] = (struct sampler_segment) { .first = first, .phase = phase };
    memcpy(s->counts + (size_t)s->segment_count * s->source_count, m->counts, s->source_count * sizeof *m->counts);
    status = blend_make(&s->segments[s->segment_count].blend, m->weights, s->source_count, m->err);
    s->segment_count += status == LEAT_OK;
    return status;
}

/* The number of draws of the blend until a source is spent; UINT64_MAX: none ever is. */
static uint64_t until_spent(const struct maker *m, const struct blend *b)
{
    uint64_t min = UINT64_MAX;

    for (uint32_t i = 0; i < m->s->source_count; i++) {
        uint64_t place;

        if (m->weights[i] == 0 || m->rules->limits[i] == UINT64_MAX)
            continue;
        place = blend_place(b, i, m->rules->limits[i] - m->counts[i] - 1);
        if (place < min)
            min = place;
    }
    return min == UINT64_MAX ? UINT64_MAX : min + 1;
}

/* Sets the weights of spent sources to 0; returns whether any other is left. */
static bool drop_spent(struct maker *m)
{
    bool left = false;

    for (uint32_t i = 0; i < m->s->source_count; i++) {
        if (m->counts[i] >= m->rules->limits[i])
            m->weights[i] = 0;
        left = left || m->weights[i] > 0;
    }
    return left;
}

/* Makes the segments of a phase, up to `draws` draws, or until all sources are spent; *made: the draws so far. */
static enum leat_status make_segments(struct maker *m, uint32_t phase, uint64_t draws, uint64_t *made)
{
    uint64_t first = 0;

    do {
        enum leat_status status = add_segment(m, first, phase);
        const struct blend *b;
        uint64_t length;

        if (status != LEAT_OK)
            return status;
        b = &m->s->segments[m->s->segment_count - 1].blend;
        length = until_spent(m, b);
        if (length > draws - first)
            length = draws - first;
        if (draws == UINT64_MAX && length >= SAMPLER_MAX) { /* longer than all sample numbers */
            *made = UINT64_MAX;
            return LEAT_OK;
        }
        blend_count(b, length, m->counts);
        first += length;
    } while (drop_spent(m) && first < draws);
    *made = first;
    return LEAT_OK;
}

/* For a phase whose start cuts a group of blocks: the sentence names the nearest start that does not. */
static enum leat_status unlawful(const struct sampler_phase *p, uint64_t begin, struct leat_error *err)
{
    uint64_t unit = p->by_group.divisor, rest = (begin - p->begin) % unit;
    uint64_t nearest = rest <= unit / 2 && begin - rest > p->begin ? begin - rest : begin - rest + unit;

    return status_set(err, LEAT_E_ARGUMENT,
                      "a phase cannot begin at sample %llu: the one before it begins at %llu and shows blocks in %llu "
                      "slices, %llu blocks at a time, so a change must come a multiple of %llu samples later; the "
                      "nearest is sample %llu",
                      (ull)begin, (ull)p->begin, (ull)p->slices, (ull)p->group, (ull)unit, (ull)nearest);
}

static enum leat_status make_phase(struct maker *m, uint32_t number)
{
    const struct sampler_phase_rule *rule = &m->rules->phases[number];
    bool last = number + 1 == m->rules->phase_count && m->rules->until == 0;
    struct sampler_phase *p = &m->s->phases[number];
    uint64_t next = number + 1 < m->rules->phase_count ? rule[1].begin : m->rules->until, draws, made;
    enum leat_status status;

    *p = (struct sampler_phase) { .begin = rule->begin, .slices = rule->slices, .first_segment = m->s->segment_count };
    p->group = p->slices > 1 ? SAMPLER_GROUP : 1;
    p->by_group = wide_divider(p->slices * p->group);
    memcpy(m->weights, rule->weights, m->s->source_count * sizeof *m->weights);
    if (!drop_spent(m))
        return status_set(m->err, LEAT_E_ARGUMENT,
                          "the phase at sample %llu has no source left: all sources with a weight in it have reached "
                          "their limits of epochs",
                          (ull)p->begin);
    draws = last ? UINT64_MAX : bytes_divide_up(next - rule->begin, p->slices);
    status = make_segments(m, number, draws, &made);
    if (status != LEAT_OK)
        return status;
    p->segments = m->s->segment_count - p->first_segment;
    p->draws = made;
    p->end = made > SAMPLER_MAX / p->slices ? SAMPLER_MAX : p->begin + made * p->slices;
    if (p->end > SAMPLER_MAX)
        p->end = SAMPLER_MAX;
    m->s->end = p->end;
    if (last || p->end == next)
        return !last && made * p->slices % p->by_group.divisor != 0 && drop_spent(m) ? unlawful(p, next, m->err)
                                                                                     : LEAT_OK;
    if (made < draws)
        return status_set(m->err, LEAT_E_ARGUMENT,
                          "a phase cannot start at sample %llu: the plan ends at sample %llu, where all sources of the "
                          "phase before are spent; start it there at the latest",
                          (ull)next, (ull)p->end);
    return unlawful(p, next, m->err);
}

enum leat_status sampler_make(struct sampler *s, const struct sampler_rules *rules, struct leat_error *err)
{
    uint32_t count = rules->source_count;
    struct maker m = { .s = s, .rules = rules, .err = err };
    enum leat_status status;

    *s = (struct sampler) { .source_count = count, .phase_count = rules->phase_count, .sequential = rules->sequential };
    s->sources = calloc(count, sizeof *s->sources);
    s->phases = calloc(rules->phase_count, sizeof *s->phases);
    m.counts = calloc(count, sizeof *m.counts);
    m.weights = calloc(count, sizeof *m.weights);
    status =
        s->sources && s->phases && m.counts && m.weights ? LEAT_OK : status_no_memory(err, count * sizeof *s->sources);
    for (uint32_t i = 0; status == LEAT_OK && i < count; i++) {
        s->sources[i].limit = rules->limits[i];
        if (rules->blocks[i] == 0)
            continue;
        s->sources[i].permute = permute_make(rules->blocks[i], rules->seed, i);
        s->sources[i].by_blocks = wide_divider(rules->blocks[i]);
    }
    if (status == LEAT_OK && rules->counts)
        memcpy(m.counts, rules->counts, count * sizeof *m.counts);
    for (uint32_t i = 0; status == LEAT_OK && i < rules->phase_count; i++)
        status = make_phase(&m, i);
    if (status == LEAT_OK && rules->counts)
        memcpy(rules->counts, m.counts, count * sizeof *m.counts);
    free(m.counts);
    free(m.weights);
    if (status != LEAT_OK)
        sampler_free(s);
    return status;
}

void sampler_free(struct sampler *s)
{
    for (uint32_t i = 0; i < s->segment_count; i++)
        blend_free(&s->segments[i].blend);
    free(s->sources);
    free(s->phases);
    free(s->segments);
    free(s->counts);
    *s = (struct sampler) { .end = 0 };
}
