/*
 * plan_choice.c: makes windows over chosen documents. The windows run over the source's own numbers of tokens
 * (plan_source.h), but their samples and pieces have the numbers of the dataset. A window has one piece for each
 * stretch of documents that follow each other in the dataset.
 */
#include <stdlib.h>

#include "base/status.h"
#include "plan.h"

/* ---- Samples ---- */

uint64_t plan_choice_token(const struct leat_plan *plan, const struct leat_sample *x)
{
    const struct plan_source *s = x->source < plan->rules.source_count ? &plan->sources[x->source] : NULL;
    const struct plan_part *p;

    if (!s || x->block >= s->blocks || x->length == 0 || x->slice >= plan->rules.base_len / x->length)
        return LEAT_NONE;
    p = &s->parts[plan_source_part(s, x->block)];
    return p->first + (x->block - p->first_block) * plan->rules.base_len + (uint64_t)x->slice * x->length;
}

/* Turns a stretch of the dataset into a piece. */
static struct leat_piece piece_of(const struct plan_source *s, uint32_t source, const struct choice_stretch *stretch,
                                  uint64_t at)
{
    uint32_t part = plan_source_part_of_token(s, stretch->token);

    return (struct leat_piece) { .token = stretch->token,
                                 .offset = stretch->token - s->parts[part].list_token,
                                 .document = LEAT_NONE,
                                 .source = source,
                                 .part = part,
                                 .count = (uint32_t)stretch->count,
                                 .at = (uint32_t)at };
}

#define STRETCHES_AT_ONCE 64u

enum leat_status plan_choice_tokens(const struct leat_plan *plan, uint32_t source, uint64_t token, uint64_t count,
                                    struct leat_piece *out, uint64_t room, uint64_t *pieces, struct leat_error *err)
{
    const struct plan_source *s = &plan->sources[source];
    struct choice_stretch own[STRETCHES_AT_ONCE], *stretches = own, only = { token, count };
    enum leat_status status = LEAT_OK;

    *pieces = 1;
    if (room > STRETCHES_AT_ONCE)
        stretches = malloc((size_t)room * sizeof *stretches);
    if (!stretches)
        return status_no_memory(err, room * sizeof *stretches);
    if (s->choice)
        status = choice_stretches(s->choice, token, count, stretches, room, pieces, err);
    for (uint64_t i = 0, at = 0; status == LEAT_OK && i < *pieces && i < room; i++) {
        const struct choice_stretch *stretch = s->choice ? &stretches[i] : &only;

        out[i] = piece_of(s, source, stretch, at);
        at += stretch->count;
    }
    if (stretches != own)
        free(stretches);
    return status;
}

enum leat_status plan_choice_samples(const struct leat_plan *plan, struct leat_sample *samples, uint64_t count,
                                     struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (uint64_t i = 0; s == LEAT_OK && i < count; i++) {
        struct leat_sample *x = &samples[i];
        struct leat_piece first;
        uint64_t pieces;

        if (!plan->sources[x->source].choice)
            continue;
        s = plan_choice_tokens(plan, x->source, x->token, x->tokens, &first, 1, &pieces, err);
        if (s != LEAT_OK)
            break;
        x->token = first.token;
        x->offset = first.offset;
        x->part = first.part;
        x->pieces = (uint32_t)pieces;
    }
    return s;
}

enum leat_status plan_choice_pieces(const struct leat_plan *plan, const struct leat_sample *samples, uint64_t count,
                                    struct leat_piece *pieces, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (uint64_t i = 0, found; s == LEAT_OK && i < count; i++, pieces += found) {
        uint64_t token = plan_choice_token(plan, &samples[i]);

        found = 0;
        if (token != LEAT_NONE)
            s = plan_choice_tokens(plan, samples[i].source, token, samples[i].tokens, pieces, samples[i].pieces, &found,
                                   err);
        if (s == LEAT_OK && found != samples[i].pieces)
            s = status_argument(err, "samples", "sample %" PRIu64 " did not come from leat_plan_samples() of this plan",
                                samples[i].number);
    }
    return s;
}

/* ---- Searching ---- */

enum leat_status plan_choice_search(const struct leat_plan *plan, struct plan_search *search, struct leat_error *err)
{
    const struct plan_source *s = &plan->sources[search->source];
    uint64_t first, count, number, starts[2], low, high;
    enum leat_status status;

    search->own_first = search->first;
    search->own_end = search->end;
    if (!s->choice)
        return LEAT_OK;
    status = leat_dataset_documents_in(s->dataset, search->first, search->end - search->first, &first, &count, err);
    if (status == LEAT_OK)
        status = choice_before(s->choice, first, &number, &search->own_first, err);
    if (status == LEAT_OK)
        status = choice_before(s->choice, first + count, &number, &search->own_end, err);
    if (status != LEAT_OK || search->own_first == search->own_end)
        return status;
    /* the search may start or end inside a document: leave out the document's tokens outside it, if it is chosen */
    status = leat_dataset_starts(s->dataset, first, 1, &starts[0], err);
    if (status == LEAT_OK)
        status = leat_dataset_starts(s->dataset, first + count, 1, &starts[1], err);
    low = s->choice->counts[first] > 0 ? search->first - starts[0] : 0;
    high = s->choice->counts[first + count - 1] > 0 ? starts[1] - search->end : 0;
    search->own_first += low;
    search->own_end -= high;
    return status;
}
