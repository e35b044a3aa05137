/*
 * sampler.h: which block of which source sample n is, and the inverse. It combines permutation and blend with phases,
 * several lengths and limits of epochs. It is pure: it takes counts, and does not know files. docs/ORDER.md is the
 * rule.
 *
 * A *block* is base_len tokens of a source, the unit of blend and permutation. A sample shows a *slice* of it: the
 * whole block, unless a phase has shorter samples. A *draw* is a block's turn in the blend of a phase.
 *
 * The room src/order/ has the pure arithmetic of orders: permutation, blend, skips, exact decimals. It has no files,
 * no threads, no clock; datasets and text belong to src/plan/.
 *
 * A *phase* is a stretch of samples with equal weights and length. A *window* is L + 1 consecutive tokens; neighbours
 * share one token.
 */
#ifndef LEAT_SAMPLER_H
#define LEAT_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

#include "blend.h"
#include "permute.h"
#include "stretches.h"

#define SAMPLER_GROUP 16u                 /* slices of one block stand this many samples apart */
#define SAMPLER_MAX   ((uint64_t)1 << 60) /* samples are numbered below it */
/* Limit of sources times segments, which bounds memory, whatever a plan's text says. */
#define SAMPLER_MAX_ENTRIES ((uint64_t)1 << 24)

struct sampler_phase_rule {
    uint64_t begin;          /* first sample; 0 for the first phase */
    uint64_t slices;         /* samples per block, at least 1 */
    const uint64_t *weights; /* weights of all sources; sum at most BLEND_MAX, not all 0 */
};

struct sampler_rules {
    uint32_t source_count;
    const uint64_t *blocks; /* blocks of each source, at most PERMUTE_MAX */
    const uint64_t *limits; /* blocks that each source may show in all its epochs; UINT64_MAX: no limit */
    const struct sampler_phase_rule *phases;
    uint32_t phase_count; /* at least 1 */
    uint64_t seed;
    const struct stretches_rule *stretches; /* NULL: blocks are permuted without them */
    bool sequential;
    bool stop_first; /* true: the first source that is spent ends the plan, not the last one */
    /* For phases that follow those of another sampler, or are followed by them: */
    uint64_t *counts; /* draws of each source before the first phase; becomes those before `until`. NULL: 0, and not
                         wanted */
    uint64_t until;   /* first sample after the last phase; 0: no end */
};

struct sampler_source {
    struct permute permute; /* .n is 0 if the source has no blocks */
    struct wide_divider by_blocks;
    uint64_t limit;
};

/* A stretch of a phase with constant weights: when a source is spent, a new one begins. */
struct sampler_segment {
    uint64_t first; /* draw of the phase */
    uint32_t phase;
    struct blend blend;
};

struct sampler_phase {
    uint64_t begin, end; /* samples of the segment; the last one ends at SAMPLER_MAX unless all sources are spent */
    uint64_t draws;      /* UINT64_MAX: no end */
    uint64_t slices, group;
    struct wide_divider by_group; /* divides by the samples of a whole group: slices * group */
    uint32_t first_segment, segments;
};

struct sampler {
    struct sampler_source *sources;
    struct stretches *stretches; /* of each source; NULL: none */
    struct sampler_phase *phases;
    struct sampler_segment *segments;
    uint64_t *counts; /* [segment][source]: draws of the source before the segment */
    uint32_t source_count, phase_count, segment_count;
    size_t segment_room, count_room;
    uint64_t end; /* end of the last phase */
    bool sequential;
};

/* The source, block and slice that a sample shows. */
struct sampler_place {
    uint64_t epoch, block;
    uint32_t source, slice;
    uint64_t slices; /* slices of a block in this phase */
};

/* The segment where the last search ended: the next search mostly ends there, too. Begins as all zeros; one per thread.
 */
struct sampler_cursor {
    const struct sampler_phase *phase;
    const struct sampler_segment *segment;
    uint64_t draw_end; /* end of the segment */
};

/*
 * Makes a sampler. Checks what the struct's comments do not leave to the caller: phases are in order and begin at
 * samples where they may, and each has a source that is not spent (else LEAT_E_ARGUMENT, which names where the phase
 * begins). Copies what it needs. On success sampler_free() releases it; a sampler of zeros may be freed, too.
 */
enum leat_status sampler_make(struct sampler *s, const struct sampler_rules *rules, struct leat_error *err);
void sampler_free(struct sampler *s);

/* Finds what sample n < s->end shows. */
void sampler_at(const struct sampler *s, struct sampler_cursor *at, uint64_t n, struct sampler_place *place);

/* Finds what samples [n, n + count) show, faster than one by one. */
void sampler_range(const struct sampler *s, struct sampler_cursor *at, uint64_t n, size_t count,
                   struct sampler_place *places);

/* The samples that show a block: its slice i at sample n + i * step. */
struct sampler_found {
    uint64_t n, step, slices;
};

/* Finds where a block of a source is shown in this epoch. Returns false if it is shown nowhere. */
bool sampler_find(const struct sampler *s, uint32_t source, uint64_t epoch, uint64_t block,
                  struct sampler_found *found);

/* Returns the last phase that begins at or before sample n. */
uint32_t sampler_phase_at(const struct sampler *s, uint64_t n);

#endif
