/*
 * order_megatron_rows.c: samples of Megatron's order, their pieces, and the way back. Where a sample begins is known of
 * every few; from there on, the lengths of sequences lead to it.
 */
#include <stdlib.h>

#include "base/bytes.h"
#include "base/search.h"
#include "base/status.h"
#include "order_megatron.h"

/* ---- From sample to sequences ---- */

/* A place in the sequences of a source, in Megatron's order. */
struct walk {
    const struct megatron_part *part;
    const struct leat_dataset *dataset;
    uint64_t entry;
    uint64_t first, left; /* the next token here, and how many follow in its sequence */
    uint64_t sequence;
};

/* Goes to the start of an entry's sequence. */
static enum leat_status enter(struct walk *w, uint64_t entry, struct leat_error *err)
{
    uint64_t starts[2];
    enum leat_status s;

    w->entry = entry;
    w->sequence = w->part->first + w->part->order.sequences[entry];
    s = leat_dataset_sequence_starts(w->dataset, w->sequence, 2, starts, err);
    if (s != LEAT_OK)
        return s;
    w->first = starts[0];
    w->left = starts[1] - starts[0];
    return LEAT_OK;
}

/* Goes on by some tokens, to where a token follows. */
static enum leat_status skip(struct walk *w, uint64_t tokens, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    while (s == LEAT_OK && tokens >= w->left) {
        tokens -= w->left;
        if (w->entry + 1 == w->part->order.entries)
            return status_set(err, LEAT_E_DOCUMENTS,
                              "the sequences are shorter than when the plan was opened; the index has changed");
        s = enter(w, w->entry + 1, err);
    }
    w->first += tokens;
    w->left -= tokens;
    return s;
}

/* Goes to where sample `row` of a source begins; rows are counted before the shuffle. */
static enum leat_status begin_row(struct walk *w, const struct leat_plan *plan, uint32_t source, uint64_t row,
                                  struct leat_error *err)
{
    const struct megatron_order *o = plan->derived;
    const struct megatron_mark *mark = &o->sources[source].order.marks[row / MEGATRON_STEP];
    enum leat_status s;

    *w = (struct walk) { .part = &o->sources[source], .dataset = plan->sources[source].dataset };
    s = enter(w, mark->entry, err);
    return s == LEAT_OK ? skip(w, mark->offset + row % MEGATRON_STEP * plan->max_length, err) : s;
}

/* The piece from here on, of at most *tokens; goes on after it. */
static enum leat_status next_piece(struct walk *w, uint64_t *tokens, struct leat_piece *piece, struct leat_error *err)
{
    piece->token = w->first;
    piece->count = (uint32_t)(*tokens < w->left ? *tokens : w->left);
    piece->document = w->part->documents ? w->sequence : LEAT_NONE;
    *tokens -= piece->count;
    return *tokens > 0 ? skip(w, piece->count, err) : LEAT_OK;
}

/* The source that sample n is of, and its number before that source's shuffle. */
static uint32_t find_row(const struct leat_plan *plan, uint64_t n, uint64_t *row)
{
    const struct megatron_order *o = plan->derived;
    uint32_t source = o->blends ? o->blend.sources[n] : 0;
    uint64_t draw = o->blends ? megatron_blend_count(&o->blend, n, source) : n;

    *row = o->sources[source].order.shuffled[draw];
    return source;
}

static enum leat_status fill_sample(const struct leat_plan *plan, uint64_t n, struct leat_sample *sample,
                                    struct leat_error *err)
{
    const struct megatron_order *o = plan->derived;
    uint64_t tokens = plan->max_length + 1, row;
    uint32_t source = find_row(plan, n, &row);
    const struct megatron_source *order = &o->sources[source].order;
    struct leat_piece piece;
    struct walk w;
    enum leat_status s = begin_row(&w, plan, source, row, err);

    *sample = (struct leat_sample) { .number = n,
                                     .epoch = row < order->separate ? 0 : order->epochs - 1,
                                     .block = row,
                                     .window = row,
                                     .token = w.first,
                                     .source = source,
                                     .length = (uint32_t)plan->max_length,
                                     .tokens = (uint32_t)tokens };
    sample->part = plan_source_part_of_token(&plan->sources[source], w.first);
    sample->offset = w.first - plan->sources[source].parts[sample->part].list_token;
    for (; s == LEAT_OK && tokens > 0; sample->pieces++)
        s = next_piece(&w, &tokens, &piece, err);
    return s;
}

enum leat_status megatron_samples(const struct leat_plan *plan, uint64_t n, uint64_t count, struct leat_sample *samples,
                                  struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (uint64_t i = 0; s == LEAT_OK && i < count; i++)
        s = fill_sample(plan, n + i, &samples[i], err);
    return s;
}

enum leat_status megatron_pieces(const struct leat_plan *plan, const struct leat_sample *samples, uint64_t count,
                                 struct leat_piece *pieces, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (uint64_t i = 0; s == LEAT_OK && i < count; i++) {
        const struct leat_sample *x = &samples[i];
        const struct plan_source *source = &plan->sources[x->source];
        uint64_t tokens = x->tokens;
        struct walk w;

        s = begin_row(&w, plan, x->source, x->block, err);
        for (uint32_t k = 0; s == LEAT_OK && k < x->pieces; k++, pieces++) {
            *pieces = (struct leat_piece) { .source = x->source, .at = (uint32_t)(x->tokens - tokens) };
            s = next_piece(&w, &tokens, pieces, err);
            pieces->part = plan_source_part_of_token(source, pieces->token);
            pieces->offset = pieces->token - source->parts[pieces->part].list_token;
        }
    }
    return s;
}

/* ---- From tokens to samples ---- */

/* The sequences that have one of the tokens searched for: [first, end), counted from the first that is used. */
struct wanted {
    const struct megatron_part *part;
    uint64_t first, end;
    uint8_t *rows; /* a bit for each sample of the source, before the shuffle: whether it may show them */
};

struct from_token {
    const struct leat_dataset *dataset;
    uint64_t token;
};

static enum leat_status starts_before(void *context, uint64_t sequence, bool *is_before, struct leat_error *err)
{
    const struct from_token *from = context;
    uint64_t start;
    enum leat_status s = leat_dataset_sequence_starts(from->dataset, sequence, 1, &start, err);

    *is_before = s == LEAT_OK && start < from->token;
    return s;
}

static enum leat_status find_sequences(struct wanted *w, const struct leat_plan *plan, const struct plan_search *search,
                                       struct leat_error *err)
{
    const struct megatron_part *p = w->part;
    struct from_token from = { plan->sources[search->source].dataset, search->first + 1 };
    uint64_t end = p->first + p->count;
    enum leat_status s = search_first_read(&w->first, p->first, end, starts_before, &from, err);

    from.token = search->end;
    if (s == LEAT_OK)
        s = search_first_read(&w->end, p->first, end, starts_before, &from, err);
    w->first -= w->first > p->first ? p->first + 1 : p->first; /* the one that began before */
    w->end -= p->first;
    return s;
}

/* The last mark at or before an entry. */
static uint64_t mark_of(const struct megatron_source *order, uint64_t entry)
{
    uint64_t low = 0, high = bytes_divide_up(order->samples, MEGATRON_STEP);

    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;

        *(order->marks[middle].entry <= entry ? &low : &high) = middle;
    }
    /* several may begin in one sequence, and the one before reaches into it */
    while (low > 0 && order->marks[low].entry >= entry)
        low--;
    return low;
}

/* Marks the samples between the marks around an entry. */
static void want_rows(struct wanted *w, uint64_t entry)
{
    const struct megatron_source *order = &w->part->order;
    uint64_t marks = bytes_divide_up(order->samples, MEGATRON_STEP), mark = mark_of(order, entry);

    for (; mark < marks && order->marks[mark].entry <= entry; mark++)
        for (uint64_t row = mark * MEGATRON_STEP; row < (mark + 1) * MEGATRON_STEP && row < order->samples; row++)
            w->rows[row / 8] |= (uint8_t)(1u << row % 8);
}

/* Goes through all samples of the source, and looks at those that may show the tokens. */
static enum leat_status try_rows(const struct wanted *w, const struct leat_plan *plan, struct plan_search *search,
                                 struct leat_error *err)
{
    const struct megatron_order *o = plan->derived;
    uint64_t draw = o->blends ? megatron_blend_count(&o->blend, search->from, search->source) : search->from;
    enum leat_status s = LEAT_OK;

    for (uint64_t n = search->from; s == LEAT_OK && n < search->until && !search->stopped; n++) {
        uint32_t row;

        if (o->blends && o->blend.sources[n] != search->source)
            continue;
        row = w->part->order.shuffled[draw++];
        if (w->rows[row / 8] & 1u << row % 8)
            s = plan_search_try(plan, search, n, 1, err);
    }
    return s;
}

enum leat_status megatron_trace(const struct leat_plan *plan, struct plan_search *search, struct leat_error *err)
{
    const struct megatron_order *o = plan->derived;
    struct wanted w = { .part = &o->sources[search->source] };
    const struct megatron_source *order = &w.part->order;
    enum leat_status s = find_sequences(&w, plan, search, err);

    if (s != LEAT_OK || w.first >= w.end)
        return s;
    w.rows = calloc((size_t)(order->samples / 8 + 1), 1);
    if (!w.rows)
        return status_no_memory(err, order->samples / 8 + 1);
    for (uint64_t i = 0; i < order->entries; i++)
        if (order->sequences[i] >= w.first && order->sequences[i] < w.end)
            want_rows(&w, i);
    s = try_rows(&w, plan, search, err);
    free(w.rows);
    return s;
}
