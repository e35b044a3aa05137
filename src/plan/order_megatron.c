/*
 * order_megatron.c: Megatron's order (docs/ORDER.md): opens a plan as megatron-core's builder of blended datasets does:
 * the sequences of the split, how many samples each source is built for, its order, and the order of sources.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/search.h"
#include "base/status.h"
#include "dataset/dataset.h"
#include "order/megatron.h"
#include "plan.h"

/* ---- What it keeps ----------------------------------------------------------------------------------------------- */

/* Opening makes these, and samples are read from them. */

/* The used sequences of a source, and their order. */
struct megatron_part {
    uint64_t first, count;
    uint64_t wanted; /* number of samples to build for, or MEGATRON_NO_SAMPLES */
    double weight;   /* 0: none */
    bool documents;  /* true if each sequence is a document */
    struct megatron_source order;
};

/* plan->derived */
struct megatron_order {
    struct megatron_part *sources;
    struct megatron_blend blend; /* if `blends` */
    bool blends;
};

/* ---- Samples ----------------------------------------------------------------------------------------------------- */

/* Gives samples of Megatron's order and their pieces, and searches for tokens. It is stored where every
 * MEGATRON_STEP-th sample begins; from there on, the lengths of sequences lead to the others. */

/* A place in the sequences of a source, in Megatron's order. */
struct walk {
    const struct megatron_part *part;
    const struct leat_dataset *dataset;
    uint64_t entry;
    uint64_t first, left; /* next token here; tokens that follow in its sequence */
    uint64_t sequence;
};

/* Goes to the start of an entry's sequence. */
static enum leat_status enter(struct walk *w, uint64_t entry, struct leat_error *err)
{
    uint64_t starts[2];
    enum leat_status s;

    w->entry = entry;
    w->sequence = w->part->first + w->part->order.sequences[entry];
    s = dataset_sequence_starts(w->dataset, w->sequence, 2, starts, err);
    if (s != LEAT_OK)
        return s;
    w->first = starts[0];
    w->left = starts[1] - starts[0];
    return LEAT_OK;
}

/* Goes on by some tokens, to a place where a token follows. */
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

/* Makes the piece from here on, of at most *tokens, and goes on after it. */
static enum leat_status next_piece(struct walk *w, uint64_t *tokens, struct leat_piece *piece, struct leat_error *err)
{
    piece->token = w->first;
    piece->count = (uint32_t)(*tokens < w->left ? *tokens : w->left);
    piece->document = w->part->documents ? w->sequence : LEAT_NONE;
    *tokens -= piece->count;
    return *tokens > 0 ? skip(w, piece->count, err) : LEAT_OK;
}

/* Returns the source of sample n, and sets its number before that source's shuffle. */
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

static enum leat_status megatron_samples(const struct leat_plan *plan, uint64_t n, uint64_t count,
                                         struct leat_sample *samples, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (uint64_t i = 0; s == LEAT_OK && i < count; i++)
        s = fill_sample(plan, n + i, &samples[i], err);
    return s;
}

static enum leat_status megatron_pieces(const struct leat_plan *plan, const struct leat_sample *samples, uint64_t count,
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
    uint8_t *rows; /* a bit for each sample of the source, before the shuffle: 1 if the sample may show the tokens */
};

struct from_token {
    const struct leat_dataset *dataset;
    uint64_t token;
};

static enum leat_status starts_before(void *context, uint64_t sequence, bool *is_before, struct leat_error *err)
{
    const struct from_token *from = context;
    uint64_t start;
    enum leat_status s = dataset_sequence_starts(from->dataset, sequence, 1, &start, err);

    *is_before = s == LEAT_OK && start < from->token;
    return s;
}

static enum leat_status wanted_sequences(struct wanted *w, const struct leat_plan *plan,
                                         const struct plan_search *search, struct leat_error *err)
{
    const struct megatron_part *p = w->part;
    struct from_token from = { plan->sources[search->source].dataset, search->first + 1 };
    uint64_t end = p->first + p->count;
    enum leat_status s = search_first_read(&w->first, p->first, end, starts_before, &from, err);

    from.token = search->end;
    if (s == LEAT_OK)
        s = search_first_read(&w->end, p->first, end, starts_before, &from, err);
    w->first -= w->first > p->first ? p->first + 1 : p->first; /* the sequence that began before may have tokens, too */
    w->end -= p->first;
    return s;
}

/* Returns the last mark at or before an entry. */
static uint64_t mark_of(const struct megatron_source *order, uint64_t entry)
{
    uint64_t low = 0, high = bytes_divide_up(order->samples, MEGATRON_STEP);

    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;

        *(order->marks[middle].entry <= entry ? &low : &high) = middle;
    }
    /* several marks may lie in one sequence, and the sample of the mark before reaches into it */
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

static enum leat_status megatron_trace(const struct leat_plan *plan, struct plan_search *search, struct leat_error *err)
{
    const struct megatron_order *o = plan->derived;
    struct wanted w = { .part = &o->sources[search->source] };
    const struct megatron_source *order = &w.part->order;
    enum leat_status s = wanted_sequences(&w, plan, search, err);

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

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

#define STARTS_AT_ONCE 4096u

static enum leat_status find_sequences(const struct leat_plan *plan, size_t number, struct leat_error *err)
{
    struct megatron_order *o = plan->derived;
    struct megatron_part *p = &o->sources[number];
    const struct plan_megatron *rules = &plan->rules.megatron;
    struct leat_info info = LEAT_INFO_INIT;
    uint64_t end;
    enum leat_status s =
        leat_dataset_starts(plan->sources[number].dataset, 0, 0, NULL, err); /* checks that its documents are
                                                                                                 known */

    if (s != LEAT_OK)
        return s;
    leat_dataset_info(plan->sources[number].dataset, &info);
    p->documents = info.sequences == info.documents;
    p->first = 0;
    end = info.sequences;
    if (rules->ratio_count > 0 && !megatron_split(rules->ratios, rules->ratio_count, plan_megatron_used(&plan->rules),
                                                  info.sequences, &p->first, &end))
        return status_argument(err, "split", "the split gives nothing to \"%s\": Megatron makes no dataset of it",
                               plan->rules.use);
    p->count = end - p->first;
    return LEAT_OK;
}

/* Reads the lengths of the used sequences. */
static enum leat_status read_lengths(const struct leat_dataset *d, const struct megatron_part *p, uint32_t *lengths,
                                     struct leat_error *err)
{
    uint64_t starts[STARTS_AT_ONCE + 1];
    enum leat_status s = LEAT_OK;

    for (uint64_t at = 0; s == LEAT_OK && at < p->count; at += STARTS_AT_ONCE) {
        uint64_t here = p->count - at < STARTS_AT_ONCE ? p->count - at : STARTS_AT_ONCE;

        s = dataset_sequence_starts(d, p->first + at, here + 1, starts, err);
        for (uint64_t i = 0; s == LEAT_OK && i < here; i++) {
            uint64_t length = starts[i + 1] - starts[i];

            if (length > INT32_MAX)
                return status_set(err, LEAT_E_UNSUPPORTED,
                                  "its sequence %" PRIu64 " has %" PRIu64 " tokens; Megatron's lengths are below 2^31",
                                  p->first + at + i, length);
            lengths[at + i] = (uint32_t)length;
        }
    }
    return s;
}

/* Fails because a source's share of a split has no documents, as a small dataset's may. */
static enum leat_status no_sequences(const struct leat_plan *plan, size_t number, struct leat_error *err)
{
    const struct megatron_part *p = &((const struct megatron_order *)plan->derived)->sources[number];
    const char *what = p->documents ? "documents" : "sequences", *name = plan->rules.sources[number].name;
    struct leat_info info = LEAT_INFO_INIT;

    leat_dataset_info(plan->sources[number].dataset, &info);
    if (plan->rules.megatron.ratio_count == 0)
        return status_in_file(err, status_argument(err, "sources", "%.300s has no %s to make samples of", name, what),
                              name);
    return status_argument(err, "split",
                           "the split gives \"%.100s\" none of the %" PRIu64
                           " %s of %.300s (it begins and ends at number %" PRIu64
                           "): give it a larger share, or use more documents",
                           plan->rules.use, info.sequences, what, name, p->first);
}

static enum leat_status make_source(const struct leat_plan *plan, size_t number, struct leat_error *err)
{
    struct megatron_order *o = plan->derived;
    struct megatron_part *p = &o->sources[number];
    struct plan_source *source = &plan->sources[number];
    enum leat_status s = LEAT_OK;
    uint32_t *lengths;

    if (p->count == 0)
        return no_sequences(plan, number, err);
    if (p->count > MEGATRON_MAX_ENTRIES)
        return status_set_in(err, LEAT_E_UNSUPPORTED, plan->rules.sources[number].name,
                             "%.300s has %" PRIu64 " sequences, too many for Megatron's index",
                             plan->rules.sources[number].name, p->count);
    lengths = malloc((size_t)(p->count + 1) * sizeof *lengths);
    if (!lengths)
        return status_no_memory(err, p->count * sizeof *lengths);
    s = read_lengths(source->dataset, p, lengths, err);
    if (s == LEAT_OK)
        s = megatron_source_make(&p->order, lengths, p->count, plan->rules.seq_len, p->wanted,
                                 (uint32_t)plan->rules.seed, err);
    free(lengths);
    if (s == LEAT_E_ARGUMENT || s == LEAT_E_UNSUPPORTED)
        return status_before(err, s, "%.300s", plan->rules.sources[number].name);
    source->blocks = p->order.samples;
    source->tokens = p->order.tokens;
    source->dropped = s == LEAT_OK ? p->order.tokens * p->order.epochs - p->order.samples * plan->rules.seq_len : 0;
    return s;
}

/* ---- The blend ---- */

/* Sets how many samples each source is built for, and their sum for each: Megatron's
 * _get_size_per_split_per_dataset(). */
static void set_wanted(const struct leat_plan *plan, uint64_t *samples)
{
    struct megatron_order *o = plan->derived;
    double surplus = megatron_double(plan->rules.megatron.surplus);

    *samples = 0;
    for (size_t i = 0; i < plan->rules.source_count; i++) {
        struct megatron_part *p = &o->sources[i];
        uint64_t target = megatron_target(plan->rules.megatron.samples, p->weight);

        p->wanted = megatron_wanted(target, surplus);
        *samples += target;
    }
}

/* Sets the weights of sources, computed as the builder does. */
static void set_weights(const struct leat_plan *plan, double *weights)
{
    struct megatron_order *o = plan->derived;

    for (size_t i = 0; i < plan->rules.source_count; i++)
        weights[i] = megatron_double(plan->rules.sources[i].weight);
    megatron_normalize(weights, plan->rules.source_count);
    for (size_t i = 0; i < plan->rules.source_count; i++)
        o->sources[i].weight = weights[i];
}

/* Blends the sources that have been made. */
static enum leat_status make_blend(struct leat_plan *plan, double *weights, uint64_t samples, struct leat_error *err)
{
    struct megatron_order *o = plan->derived;
    size_t count = plan->rules.source_count;
    uint64_t *sizes = calloc(count, sizeof *sizes), total = 0, wanted = plan->rules.megatron.samples;
    bool weighted = plan->rules.sources[0].weighted, all;
    enum leat_status s;

    if (!sizes)
        return status_no_memory(err, count * sizeof *sizes);
    for (size_t i = 0; i < count; i++) {
        sizes[i] = o->sources[i].order.samples;
        total += sizes[i];
        if (!weighted)
            weights[i] = (double)sizes[i];
    }
    if (!weighted)
        samples = wanted > 0 && wanted < total ? wanted : total;
    all = !weighted && wanted == 0;
    megatron_normalize(weights, count); /* the builder normalizes once more */
    s = megatron_blend_make(&o->blend, all ? NULL : weights, sizes, (uint32_t)count, samples, plan->weights, err);
    free(sizes);
    plan->end = samples;
    return s;
}

static enum leat_status make_sources(struct leat_plan *plan, double *weights, struct leat_error *err)
{
    struct megatron_order *o = plan->derived;
    size_t count = plan->rules.source_count;
    uint64_t samples = plan->rules.megatron.samples;
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < count; i++) {
        s = find_sequences(plan, i, err);
        o->sources[i].wanted = samples > 0 && !o->blends ? samples : MEGATRON_NO_SAMPLES;
    }
    if (s == LEAT_OK && o->blends && plan->rules.sources[0].weighted) {
        set_weights(plan, weights);
        set_wanted(plan, &samples);
    }
    for (size_t i = 0; s == LEAT_OK && i < count; i++)
        s = make_source(plan, i, err);
    if (s == LEAT_OK && o->blends)
        return make_blend(plan, weights, samples, err);
    plan->end = plan->weights[0] = o->sources[0].order.samples;
    return s;
}

/* ---- The table ---- */

static enum leat_status megatron_open(struct leat_plan *plan, struct leat_error *err)
{
    size_t count = plan->rules.source_count;
    struct megatron_order *o = plan->derived = calloc(1, sizeof *o);
    double *weights = calloc(count, sizeof *weights);
    enum leat_status s = status_no_memory(err, count * (sizeof *o->sources + sizeof *weights));

    if (o)
        o->sources = calloc(count, sizeof *o->sources);
    if (o && o->sources && weights) {
        o->blends = plan_megatron_blends(&plan->rules);
        s = make_sources(plan, weights, err);
    }
    free(weights);
    return s;
}

static void megatron_close(struct leat_plan *plan)
{
    struct megatron_order *o = plan->derived;

    if (!o)
        return;
    for (size_t i = 0; o->sources && i < plan->rules.source_count; i++)
        megatron_source_free(&o->sources[i].order);
    megatron_blend_free(&o->blend);
    free(o->sources);
    free(o);
    plan->derived = NULL;
}

static unsigned megatron_settings(const struct leat_plan *plan, size_t source, uint64_t *numbers)
{
    const struct megatron_order *o = plan->derived;
    const struct megatron_part *p = &o->sources[source];

    numbers[0] = p->first;
    numbers[1] = p->first + p->count;
    numbers[2] = p->wanted;
    numbers[3] = plan->end;
    memcpy(&numbers[4], &p->weight, sizeof numbers[4]);
    return 5;
}

const struct plan_order plan_order_megatron = { .lengths = true,
                                                .megatron = true,
                                                .rule = "megatron",
                                                .rule_version = MEGATRON_VERSION,
                                                .open = megatron_open,
                                                .close = megatron_close,
                                                .settings = megatron_settings,
                                                .samples = megatron_samples,
                                                .pieces = megatron_pieces,
                                                .trace = megatron_trace };
