/*
 * plan_samples.c: describes the samples of a plan and their pieces, by the table of its order, and finds the samples
 * that show given tokens.
 */
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "plan.h"
#include "plan_order.h"

/* Describes rows that are one piece each. */
static void whole_rows(const struct leat_sample *samples, uint64_t count, struct leat_piece *pieces)
{
    for (uint64_t i = 0; i < count; i++)
        pieces[i] = (struct leat_piece) { .token = samples[i].token,
                                          .offset = samples[i].offset,
                                          .document = LEAT_NONE,
                                          .source = samples[i].source,
                                          .part = samples[i].part,
                                          .count = samples[i].tokens };
}

enum leat_status plan_order_samples(const struct leat_plan *plan, uint64_t n, uint64_t count,
                                    struct leat_sample *samples, struct leat_error *err)
{
    enum leat_status s = plan->order->samples(plan, n, count, samples, err);

    return s == LEAT_OK && plan->order->begins ? plan->order->begins(plan, samples, count, err) : s;
}

enum leat_status plan_order_pieces(const struct leat_plan *plan, const struct leat_sample *samples, uint64_t count,
                                   struct leat_piece *pieces, struct leat_error *err)
{
    if (plan->order->pieces)
        return plan->order->pieces(plan, samples, count, pieces, err);
    if (plan->chooses)
        return plan_choice_pieces(plan, samples, count, pieces, err);
    whole_rows(samples, count, pieces);
    return LEAT_OK;
}

/* ---- From tokens to samples -------------------------------------------------------------------------------------- */

/* Finds the samples that show given tokens. The order's inverse says which samples to look at. */

#define SAMPLES_AT_ONCE 64u

void plan_search_report(struct plan_search *search, const struct leat_sample *sample)
{
    search->stopped = search->found(search->context, sample) != 0;
}

static bool piece_shows(const struct plan_search *s, const struct leat_piece *piece, uint64_t places)
{
    return piece->source == s->source && piece->token < s->end && piece->token + places > s->first && places > 0;
}

/* Sets *shows to true if a sample of several pieces shows the tokens as inputs. */
static enum leat_status row_shows(const struct leat_plan *plan, const struct plan_search *s,
                                  const struct leat_sample *x, bool *shows, struct leat_error *err)
{
    struct leat_piece *pieces = calloc(x->pieces, sizeof *pieces);
    enum leat_status status =
        pieces ? plan_order_pieces(plan, x, 1, pieces, err) : status_no_memory(err, x->pieces * sizeof *pieces);

    *shows = false;
    for (uint32_t i = 0; status == LEAT_OK && i < x->pieces && !*shows; i++)
        *shows =
            piece_shows(s, &pieces[i],
                        plan->order->own_labels ? pieces[i].count - 1
                                                : (i + 1 < x->pieces ? pieces[i + 1].at : x->length) - pieces[i].at);
    free(pieces);
    return status;
}

static enum leat_status try_sample(const struct leat_plan *plan, struct plan_search *search,
                                   const struct leat_sample *x, struct leat_error *err)
{
    const struct leat_piece only = { .token = x->token, .source = x->source };
    enum leat_status s = LEAT_OK;
    bool shows;

    if (x->epoch >= search->epochs)
        return LEAT_OK;
    if (x->pieces == 1 && plan->rules.fit[PLAN_FIT_ALIGN] == 0)
        shows = piece_shows(search, &only, x->length);
    else
        s = row_shows(plan, search, x, &shows, err);
    if (s == LEAT_OK && shows)
        plan_search_report(search, x);
    return s;
}

enum leat_status plan_search_try(const struct leat_plan *plan, struct plan_search *search, uint64_t n, uint64_t count,
                                 struct leat_error *err)
{
    struct leat_sample samples[SAMPLES_AT_ONCE];
    enum leat_status s = LEAT_OK;

    while (s == LEAT_OK && count > 0 && !search->stopped) {
        uint64_t here = count < SAMPLES_AT_ONCE ? count : SAMPLES_AT_ONCE;

        s = plan_order_samples(plan, n, here, samples, err);
        for (uint64_t i = 0; s == LEAT_OK && i < here && !search->stopped; i++)
            s = try_sample(plan, search, &samples[i], err);
        n += here;
        count -= here;
    }
    return s;
}
