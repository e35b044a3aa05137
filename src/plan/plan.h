/*
 * plan.h: the inside of struct leat_plan: its rules, its sources, and its order, which says what sample n is.
 *
 * This room is for all that decides which tokens a sample shows, and nothing that reads them: rules and their text,
 * sources cut into blocks, the orders (plan_order.h), states. It sees datasets through leat.h; file_map.h maps
 * files of its own.
 *
 * Words: a *plan* is sources, weights, lengths and seed: everything that decides the samples. A *source* is an entry of
 * it: a dataset with a weight; a *range* is what a split uses of a part. An *order* is the rule that gives sample n. A
 * *position* is the place of a sample in a run; it differs from the sample's number if samples are skipped. (Tokens
 * have numbers, and places in a row.)
 */
#ifndef LEAT_PLAN_H
#define LEAT_PLAN_H

#include "leat.h"
#include "order/blend.h"
#include "order/permute.h"
#include "order/skips.h"
#include "plan_bans.h"
#include "plan_order.h"
#include "plan_rules.h"
#include "plan_source.h"

#define PLAN_SPLIT_VERSION 1u

struct leat_plan {
    struct plan_rules rules;
    struct plan_source *sources; /* one for each source of the rules */
    struct skips skips;
    struct plan_bans bans;
    bool chooses; /* a source has a choice */
    bool masks;   /* labels may have no loss: a dataset stores a mask, or the plan takes loss away */
    /* weights as integers: one for each source, for each phase from the first on */
    uint64_t *weights;
    uint64_t *lengths; /* length of rows in each phase */
    uint64_t *limits;  /* blocks that each source may show in all; UINT64_MAX: no limit */
    const struct plan_order *order;
    void *derived;       /* the order's own */
    uint64_t end;        /* samples; LEAT_MAX_SAMPLES: without end */
    uint64_t max_length; /* inputs of the longest row */
    uint32_t max_pieces; /* most pieces of a row */
    uint32_t token_width;
};

/* leat_plan_samples(), but without what the order's `begins` fills in: for callers that ask for the pieces too. */
enum leat_status plan_samples(const struct leat_plan *plan, uint64_t first, uint64_t count, struct leat_sample *samples,
                              uint64_t *got, struct leat_error *err);

/* Announces what plan_samples() will read for these samples, which would otherwise wait for one read after another. */
void plan_announce(const struct leat_plan *plan, uint64_t first, uint64_t count);

/*
 * Deals rows as leat_plan_deal() does, for a loader, and also gives the samples of the global batch, as
 * plan_samples() does; samples, ranks and costs have room for `batch`. plan_deal_check() refuses what cannot be
 * dealt, and is called first.
 */
enum leat_status plan_deal_check(const struct leat_plan *plan, enum leat_balance how, uint64_t batch, uint64_t world,
                                 struct leat_error *err);
enum leat_status plan_deal(const struct leat_plan *plan, enum leat_balance how, uint64_t position, uint64_t batch,
                           uint64_t world, struct leat_sample *samples, uint64_t *got, uint32_t *ranks, uint64_t *costs,
                           struct leat_error *err);

/* Tokens of one part, in a lane of stretches. */
struct plan_range {
    uint32_t part;
    uint64_t lane, offset, count;
};

/* Returns whether a plan's rows lie in stretches that can be read ahead. Those of a plan that chooses documents do not:
 * its stretches are of the documents that it chose, which lie between others. */
bool plan_stretches_known(const struct leat_plan *plan);

/* Sets the places, which each source numbers through all epochs, whose stretches are to be at hand while a sample is
 * shown. plan_stretches_range() gives what lies at a place, a part at a time, and false once nothing is left: *given is
 * 0 before the first call. plan_stretches_around() gives what lies in a sample's own stretch and part. All three need a
 * plan whose stretches are known. */
void plan_stretches_near(const struct leat_plan *plan, const struct leat_sample *sample, uint64_t *first,
                         uint64_t *end);
bool plan_stretches_range(const struct leat_plan *plan, uint32_t source, uint64_t place, uint64_t *given,
                          struct plan_range *range);
struct plan_range plan_stretches_around(const struct leat_plan *plan, const struct leat_sample *sample);

/* Returns the lane that a sample is shown in; 0 without lanes. */
uint64_t plan_stretches_lane(const struct leat_plan *plan, const struct leat_sample *sample);

/* Opens the plan of these rules, and takes the rules over, even on failure. *out must be NULL. */
enum leat_status plan_open_rules(struct leat_plan **out, struct plan_rules *rules,
                                 const struct leat_open_options *options, struct leat_error *err);

/* Turn samples and tokens from sources' own numbers into those of the datasets (plan_choice.c): samples of windows
 * whose `token` is a source's own number, and the pieces of such a sample, given unchanged. */
enum leat_status plan_choice_samples(const struct leat_plan *plan, struct leat_sample *samples, uint64_t count,
                                     struct leat_error *err);
enum leat_status plan_choice_pieces(const struct leat_plan *plan, const struct leat_sample *samples, uint64_t count,
                                    struct leat_piece *pieces, struct leat_error *err);

/* Writes at most `room` of the pieces that a source's own tokens [token, token + count), all of one part, are, with
 * their places from 0 on. Sets *pieces to how many there are. */
enum leat_status plan_choice_tokens(const struct leat_plan *plan, uint32_t source, uint64_t token, uint64_t count,
                                    struct leat_piece *out, uint64_t room, uint64_t *pieces, struct leat_error *err);

/* Returns the own number of a window's first token; LEAT_NONE: the sample is of another plan. */
uint64_t plan_choice_token(const struct leat_plan *plan, const struct leat_sample *sample);

/* Sets a search's own tokens, which hold all copies of those searched for, and perhaps others. */
enum leat_status plan_choice_search(const struct leat_plan *plan, struct plan_search *search, struct leat_error *err);

/* Fills in plan->masks (plan_mask.c). */
void plan_mask_open(struct leat_plan *plan);

/* Opens all sources of the rules. Returns LEAT_E_INCOMPATIBLE if two of them differ in how they were encoded. */
enum leat_status plan_sources_open(struct leat_plan *plan, const struct leat_open_options *options,
                                   struct leat_error *err);

/* Returns the first sample of a phase. */
static inline uint64_t plan_phase_begin(const struct leat_plan *plan, size_t phase)
{
    return phase > 0 ? plan->rules.phases[phase - 1].begin : 0;
}

/* Returns the limit of passes over a source: its own or the plan's, whichever is smaller; 0: no limit. */
uint64_t plan_epochs(const struct plan_rules *rules, uint64_t source);

/* Adds source `number` of a caller's array to rules. */
enum leat_status plan_add_source(struct plan_rules *r, const struct leat_plan_source *sources, size_t number,
                                 struct leat_error *err);

/* Return the phase that sample n lies in, and the length of its rows. */
size_t plan_phase_at(const struct leat_plan *plan, uint64_t n);
uint64_t plan_length_at(const struct leat_plan *plan, uint64_t n);

#endif
