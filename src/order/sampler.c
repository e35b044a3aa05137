/* sampler.c: from a sample's number to its block and back; see sampler.h. sampler_make.c lays out phases and counts. */
#include "sampler.h"

#include "base/search.h"

#define DRAWS_AT_ONCE 64

/* What is looked for in a sampler: the last phase, or the last segment, that begins at `number` or before it. */
struct wanted {
    const struct sampler *s;
    uint64_t number;
    uint32_t source;
};

SEARCH_INLINE bool phase_begins_by(const void *context, uint64_t phase)
{
    const struct wanted *w = context;

    return w->s->phases[phase].begin <= w->number;
}

uint32_t sampler_phase_at(const struct sampler *s, uint64_t n)
{
    return (uint32_t)search_first(1, s->phase_count, phase_begins_by, &(struct wanted) { s, n, 0 }) - 1;
}

/* ---- From sample to block ---- */

SEARCH_INLINE bool segment_begins_by(const void *context, uint64_t segment)
{
    const struct wanted *w = context;

    return w->s->segments[segment].first <= w->number;
}

static const struct sampler_segment *segment_at(const struct sampler *s, const struct sampler_phase *phase,
                                                uint64_t draw)
{
    uint64_t first = phase->first_segment, end = first + phase->segments;

    return &s->segments[search_first(first + 1, end, segment_begins_by, &(struct wanted) { s, draw, 0 }) - 1];
}

/* How many blocks a draw's group has: the last group of a phase may have fewer. */
static inline uint64_t group_size(const struct sampler_phase *phase, uint64_t group)
{
    uint64_t left = phase->draws - group * phase->group;

    return left < phase->group ? left : phase->group;
}

static inline uint64_t draw_of(const struct sampler_phase *phase, uint64_t n, uint32_t *slice)
{
    uint64_t t = n - phase->begin, group, size;

    *slice = 0;
    if (phase->slices == 1)
        return t;
    group = wide_divide(phase->by_group, t, &t);
    size = group_size(phase, group);
    *slice = (uint32_t)(size == SAMPLER_GROUP ? t / SAMPLER_GROUP : t / size);
    return group * phase->group + (t - *slice * size);
}

/* Moves the cursor to the segment of sample n; returns the draw. */
static inline uint64_t move(const struct sampler *s, struct sampler_cursor *at, uint64_t n, uint32_t *slice)
{
    uint64_t draw;

    if (!at->phase || n < at->phase->begin || n >= at->phase->end) {
        at->phase = &s->phases[sampler_phase_at(s, n)];
        at->segment = NULL;
    }
    draw = draw_of(at->phase, n, slice);
    if (!at->segment || draw < at->segment->first || draw >= at->draw_end) {
        uint32_t next;

        at->segment = segment_at(s, at->phase, draw);
        next = (uint32_t)(at->segment - s->segments) + 1;
        at->draw_end = next < at->phase->first_segment + at->phase->segments ? s->segments[next].first : UINT64_MAX;
    }
    return draw;
}

/* Finds all of a sample's place except its block, which *draw leads to. */
static inline void draw_at(const struct sampler *s, struct sampler_cursor *at, uint64_t n, struct sampler_place *place,
                           struct permute_draw *draw)
{
    uint64_t of_phase = move(s, at, n, &place->slice);
    const struct sampler_segment *segment = at->segment;
    const struct sampler_source *source;
    uint64_t own;
    uint32_t number;

    number = blend_draw(&segment->blend, of_phase - segment->first, &own);
    own += s->counts[(uint64_t)(segment - s->segments) * s->source_count + number];
    source = &s->sources[number];
    place->source = number;
    place->slices = at->phase->slices;
    place->epoch = wide_divide(source->by_blocks, own, &draw->at);
    draw->permute = &source->permute;
    draw->epoch = place->epoch;
}

void sampler_at(const struct sampler *s, struct sampler_cursor *at, uint64_t n, struct sampler_place *place)
{
    struct permute_draw draw;

    draw_at(s, at, n, place, &draw);
    place->block = s->sequential ? draw.at : permute_forward(draw.permute, draw.epoch, draw.at);
}

void sampler_range(const struct sampler *s, struct sampler_cursor *at, uint64_t n, size_t count,
                   struct sampler_place *places)
{
    struct permute_draw draws[DRAWS_AT_ONCE];

    while (count > 0) {
        size_t here = count < DRAWS_AT_ONCE ? count : DRAWS_AT_ONCE;

        for (size_t i = 0; i < here; i++)
            draw_at(s, at, n + i, &places[i], &draws[i]);
        if (!s->sequential)
            permute_forward_many(draws, here);
        for (size_t i = 0; i < here; i++)
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

static bool has_source(const struct blend *b, uint32_t source)
{
    return b->nodes ? b->leaf_of[source] != BLEND_NO_LEAF : b->only == source;
}

SEARCH_INLINE bool source_begins_by(const void *context, uint64_t segment)
{
    const struct wanted *w = context;

    return count_at(w->s, (uint32_t)segment, w->source) <= w->number;
}

bool sampler_find(const struct sampler *s, uint32_t source, uint64_t epoch, uint64_t block, struct sampler_found *found)
{
    const struct sampler_source *from = &s->sources[source];
    uint32_t at;
    const struct sampler_segment *segment;
    const struct sampler_phase *phase;
    uint64_t own, draw, group;

    own = s->sequential ? block : permute_inverse(&from->permute, epoch, block);
    if (epoch > SAMPLER_MAX / from->by_blocks.divisor)
        return false;
    own += epoch * from->by_blocks.divisor;
    if (own >= from->limit || own < count_at(s, 0, source))
        return false;
    /* the last segment that begins at or before this draw of the source */
    at = (uint32_t)search_first(1, s->segment_count, source_begins_by, &(struct wanted) { s, own, source }) - 1;
    segment = &s->segments[at];
    phase = &s->phases[segment->phase];
    if (!has_source(&segment->blend, source))
        return false;
    draw = blend_place(&segment->blend, source, own - count_at(s, at, source));
    if (draw >= BLEND_MAX_DRAW || (draw += segment->first) >= phase->draws)
        return false;
    group = draw / phase->group;
    if (group > SAMPLER_MAX / phase->by_group.divisor)
        return false;
    found->step = phase->slices > 1 ? group_size(phase, group) : 1;
    found->slices = phase->slices;
    found->n = phase->begin + group * phase->by_group.divisor + draw % phase->group;
    return found->n + (found->slices - 1) * found->step < phase->end;
}
