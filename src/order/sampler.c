/*
 * sampler.c: lays out phases and counts, and goes from a sample's number to its block and back.
 */
#include "sampler.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/grow.h"
#include "base/status.h"

/* ---- Laying out -------------------------------------------------------------------------------------------------- */

/*
 * Lays out a sampler: cuts the phases into segments where a source is spent, and counts the draws of each source before
 * each segment. This is computed whenever a plan is opened, and stored nowhere. A segment depends only on what comes
 * before it, so a later phase cannot change it.
 */

/* The state while a sampler is laid out, phase by phase. */
struct maker {
    struct sampler *s;
    const struct sampler_rules *rules;
    uint64_t *counts;  /* draws of each source so far */
    uint64_t *weights; /* weights in the phase, 0 for sources that are spent */
    bool ended;        /* a spent source has ended the plan, with stop_first */
    struct leat_error *err;
};

static enum leat_status add_segment(struct maker *m, uint64_t first, uint32_t phase)
{
    struct sampler *s = m->s;
    enum leat_status status;

    if (((uint64_t)s->segment_count + 1) * s->source_count > SAMPLER_MAX_ENTRIES)
        return status_argument(
            m->err, "sources",
            "too many changes of weights for %lu sources: phases, and sources with a limit of epochs, "
            "make more than %" PRIu64 "; leave some out, or join sources",
            (unsigned long)s->source_count, SAMPLER_MAX_ENTRIES / s->source_count);
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

/* Returns the number of draws of the blend until a source is spent; UINT64_MAX if none ever is. */
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

/* Sets the weights of spent sources to 0; returns true if the plan goes on with others. */
static bool drop_spent(struct maker *m)
{
    bool left = false;

    for (uint32_t i = 0; i < m->s->source_count; i++) {
        if (m->counts[i] >= m->rules->limits[i]) {
            m->ended |= m->rules->stop_first && m->weights[i] > 0;
            m->weights[i] = 0;
        }
        left = left || m->weights[i] > 0;
    }
    return left && !m->ended;
}

/* Makes the segments of a phase, up to `draws` draws, or until all sources are spent. *made gets how many draws they
 * have. */
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
        if (draws == UINT64_MAX && length >= SAMPLER_MAX) { /* the segment is longer than all sample numbers */
            *made = UINT64_MAX;
            return LEAT_OK;
        }
        blend_count(b, length, m->counts);
        first += length;
    } while (drop_spent(m) && first < draws);
    *made = first;
    return LEAT_OK;
}

/* Refuses a phase whose start cuts a group of blocks; the sentence names the nearest start that does not. */
static enum leat_status refuse_cut(const struct sampler_phase *p, uint64_t begin, struct leat_error *err)
{
    uint64_t unit = p->by_group.divisor, rest = (begin - p->begin) % unit;
    uint64_t nearest = rest <= unit / 2 && begin - rest > p->begin ? begin - rest : begin - rest + unit;

    return status_argument(err, "phases",
                           "a phase cannot begin at sample %" PRIu64 ": the one before it begins at %" PRIu64
                           " and shows blocks in %" PRIu64 " slices, %" PRIu64
                           " blocks at a time, so a change must come a multiple of %" PRIu64
                           " samples later; the nearest is sample %" PRIu64,
                           begin, p->begin, p->slices, p->group, unit, nearest);
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
        return status_argument(
            m->err, "phases",
            "the phase at sample %" PRIu64
            " has no source left: %s sources with a weight in it have reached their limits of epochs%s",
            p->begin, m->ended ? "some" : "all", m->ended ? ", and the first one ends the plan" : "");
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
    if (m->ended && !last)
        return status_argument(m->err, "phases",
                               "a phase cannot start at sample %" PRIu64 ": the plan ends at sample %" PRIu64
                               ", where the first source is spent; start it before",
                               next, p->end);
    if (last || (p->end == next && made * p->slices % p->by_group.divisor == 0))
        return LEAT_OK;
    if (p->end == next) {
        bool goes_on = drop_spent(m); /* if all sources are spent, a group may be cut */

        return goes_on ? refuse_cut(p, next, m->err) : LEAT_OK;
    }
    if (made < draws)
        return status_argument(m->err, "phases",
                               "a phase cannot start at sample %" PRIu64 ": the plan ends at sample %" PRIu64
                               ", where all sources of the phase before are spent; start it there at the latest",
                               next, p->end);
    return refuse_cut(p, next, m->err);
}

enum leat_status sampler_make(struct sampler *s, const struct sampler_rules *rules, struct leat_error *err)
{
    uint32_t count = rules->source_count;
    struct maker m = { .s = s, .rules = rules, .err = err };
    enum leat_status status;

    *s = (struct sampler) { .source_count = count, .phase_count = rules->phase_count, .sequential = rules->sequential };
    s->sources = calloc(count, sizeof *s->sources);
    s->phases = calloc(rules->phase_count, sizeof *s->phases);
    s->stretches = rules->stretches ? calloc(count, sizeof *s->stretches) : NULL;
    m.counts = calloc(count, sizeof *m.counts);
    m.weights = calloc(count, sizeof *m.weights);
    status = s->sources && s->phases && m.counts && m.weights && (s->stretches || !rules->stretches)
                 ? LEAT_OK
                 : status_no_memory(err, count * sizeof *s->sources);
    for (uint32_t i = 0; status == LEAT_OK && i < count; i++) {
        s->sources[i].limit = rules->limits[i];
        if (rules->blocks[i] == 0)
            continue;
        s->sources[i].permute = permute_make(rules->blocks[i], rules->seed, i);
        s->sources[i].by_blocks = wide_divider(rules->blocks[i]);
        if (s->stretches)
            s->stretches[i] =
                stretches_make(rules->blocks[i], rules->stretches->sizes[i], rules->stretches, rules->seed, i);
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
    free(s->stretches);
    free(s->phases);
    free(s->segments);
    free(s->counts);
    *s = (struct sampler) { .end = 0 };
}

/* ---- Samples and blocks ------------------------------------------------------------------------------------------ */

/* Returns the last of `count` rising numbers, which are members `stride` bytes apart, that is at most `value`; 0 if
 * none is. */
static uint64_t last_at_most(const uint64_t *numbers, size_t stride, uint64_t count, uint64_t value)
{
    uint64_t low = 1, high = count;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;

        if (numbers[middle * (stride / sizeof *numbers)] <= value)
            low = middle + 1;
        else
            high = middle;
    }
    return low - 1;
}

uint32_t sampler_phase_at(const struct sampler *s, uint64_t n)
{
    return (uint32_t)last_at_most(&s->phases->begin, sizeof *s->phases, s->phase_count, n);
}

/* ---- From sample to block ---- */

/* Returns the number of blocks in a group: the last group of a phase may have fewer. */
static inline uint64_t group_size(const struct sampler_phase *phase, uint64_t group)
{
    uint64_t left = phase->draws - group * phase->group;

    return left < phase->group ? left : phase->group;
}

/* Returns the draw that sample n shows a slice of. Sets *run to how many samples from n on show this slice of one draw
 * after another. */
static inline uint64_t draw_of(const struct sampler_phase *phase, uint64_t n, uint32_t *slice, uint64_t *run)
{
    uint64_t t = n - phase->begin, group, size;

    *slice = 0;
    *run = phase->end - n;
    if (phase->slices == 1)
        return t;
    group = wide_divide(phase->by_group, t, &t);
    size = group_size(phase, group);
    *slice = (uint32_t)(size == SAMPLER_GROUP ? t / SAMPLER_GROUP : t / size);
    t -= *slice * size;
    *run = size - t;
    return group * phase->group + t;
}

/* Moves the cursor to the segment of sample n, and returns the draw, as draw_of() does; *run ends with the segment. */
static inline uint64_t move_cursor(const struct sampler *s, struct sampler_cursor *at, uint64_t n, uint32_t *slice,
                                   uint64_t *run)
{
    uint64_t draw;

    if (!at->phase || n < at->phase->begin || n >= at->phase->end) {
        at->phase = &s->phases[sampler_phase_at(s, n)];
        at->segment = NULL;
    }
    draw = draw_of(at->phase, n, slice, run);
    if (!at->segment || draw < at->segment->first || draw >= at->draw_end) {
        const struct sampler_segment *segments = &s->segments[at->phase->first_segment];
        uint32_t next;

        at->segment = &segments[last_at_most(&segments->first, sizeof *segments, at->phase->segments, draw)];
        next = (uint32_t)(at->segment - s->segments) + 1;
        at->draw_end = next < at->phase->first_segment + at->phase->segments ? s->segments[next].first : UINT64_MAX;
    }
    if (*run > at->draw_end - draw)
        *run = at->draw_end - draw;
    return draw;
}

/* Makes a place of draw `own` of a source in the cursor's segment, except its block, which *draw leads to. */
static inline void draw_of_source(const struct sampler *s, const struct sampler_cursor *at, uint32_t number,
                                  uint64_t own, struct sampler_place *place, struct permute_draw *draw)
{
    const struct sampler_source *source = &s->sources[number];

    own += s->counts[(uint64_t)(at->segment - s->segments) * s->source_count + number];
    place->source = number;
    place->slices = at->phase->slices;
    place->epoch = wide_divide(source->by_blocks, own, &draw->at);
    draw->permute = &source->permute;
    draw->epoch = place->epoch;
}

void sampler_at(const struct sampler *s, struct sampler_cursor *at, uint64_t n, struct sampler_place *place)
{
    uint64_t run, own, of_phase = move_cursor(s, at, n, &place->slice, &run);
    uint32_t number = blend_draw(&at->segment->blend, of_phase - at->segment->first, &own);
    struct permute_draw draw;

    draw_of_source(s, at, number, own, place, &draw);
    if (s->sequential)
        place->block = draw.at;
    else if (s->stretches)
        place->block = stretches_forward(&s->stretches[number], draw.epoch, draw.at);
    else
        place->block = permute_forward(draw.permute, draw.epoch, draw.at);
}

/* Makes the places of samples from n on that lie in one range of a blend, at most `count`; returns how many. */
static inline uint32_t draw_range(const struct sampler *s, struct sampler_cursor *at, uint64_t n, uint32_t count,
                                  struct sampler_place *places, struct permute_draw *draws)
{
    uint32_t slice, sources[BLEND_RANGE_MAX];
    uint64_t run, own[BLEND_RANGE_MAX], of_phase = move_cursor(s, at, n, &slice, &run);

    if (count > run)
        count = (uint32_t)run;
    blend_range(&at->segment->blend, of_phase - at->segment->first, count, sources, own);
    for (uint32_t i = 0; i < count; i++) {
        places[i].slice = slice;
        draw_of_source(s, at, sources[i], own[i], &places[i], &draws[i]);
    }
    return count;
}

/* Finds the blocks of draws in stretches. */
static void range_in_stretches(const struct sampler *s, uint32_t count, const struct sampler_place *places,
                               struct permute_draw *draws)
{
    struct stretches_draw in_stretches[BLEND_RANGE_MAX];

    for (uint32_t i = 0; i < count; i++)
        in_stretches[i] = (struct stretches_draw) { &s->stretches[places[i].source], draws[i].epoch, draws[i].at };
    stretches_forward_many(in_stretches, count);
    for (uint32_t i = 0; i < count; i++)
        draws[i].at = in_stretches[i].at;
}

void sampler_range(const struct sampler *s, struct sampler_cursor *at, uint64_t n, size_t count,
                   struct sampler_place *places)
{
    struct permute_draw draws[BLEND_RANGE_MAX];

    while (count > 0) {
        uint32_t here = count < BLEND_RANGE_MAX ? (uint32_t)count : BLEND_RANGE_MAX;

        for (uint32_t i = 0; i < here;)
            i += draw_range(s, at, n + i, here - i, places + i, draws + i);
        if (s->stretches)
            range_in_stretches(s, here, places, draws);
        else if (!s->sequential)
            permute_forward_many(draws, here);
        for (uint32_t i = 0; i < here; i++)
            places[i].block = draws[i].at;
        n += here;
        places += here;
        count -= here;
    }
}

/* ---- From block to sample ---- */

static inline uint64_t count_at(const struct sampler *s, uint32_t segment, uint32_t source)
{
    return s->counts[(uint64_t)segment * s->source_count + source];
}

bool sampler_find(const struct sampler *s, uint32_t source, uint64_t epoch, uint64_t block, struct sampler_found *found)
{
    const struct sampler_source *from = &s->sources[source];
    uint32_t at;
    const struct sampler_segment *segment;
    const struct sampler_phase *phase;
    uint64_t own, draw, group;

    if (s->sequential)
        own = block;
    else if (s->stretches)
        own = stretches_inverse(&s->stretches[source], epoch, block);
    else
        own = permute_inverse(&from->permute, epoch, block);
    if (epoch > SAMPLER_MAX / from->by_blocks.divisor)
        return false;
    own += epoch * from->by_blocks.divisor;
    if (own >= from->limit || own < count_at(s, 0, source))
        return false;
    /* last segment that begins at or before this draw of the source */
    at = (uint32_t)last_at_most(s->counts + source, s->source_count * sizeof *s->counts, s->segment_count, own);
    segment = &s->segments[at];
    phase = &s->phases[segment->phase];
    if (segment->blend.nodes ? segment->blend.leaf_of[source] == BLEND_NO_LEAF : segment->blend.only != source)
        return false;
    draw = blend_place(&segment->blend, source, own - count_at(s, at, source));
    if (draw >= BLEND_MAX_DRAW)
        return false;
    draw += segment->first;
    if (draw >= phase->draws)
        return false;
    group = draw / phase->group;
    if (group > SAMPLER_MAX / phase->by_group.divisor)
        return false;
    found->step = phase->slices > 1 ? group_size(phase, group) : 1;
    found->slices = phase->slices;
    found->n = phase->begin + group * phase->by_group.divisor + draw % phase->group;
    return found->n + (found->slices - 1) * found->step < phase->end;
}
