/*
 * loader_segments.c: the stages of rows in segments (loader_segments.h).
 *
 * When a batch is begun, only places and tokens are known: runs are found, joined to chains, cut, and the cuts' tokens
 * get their places in the slot one after another, so that the slot holds nothing that its outputs do not need. When the
 * tokens have come, the documents of the whole row are found, since numbers of documents, positions and cu_seqlens
 * count from its start, and masks follow the tokens. What is then known of each cut goes to the slot's pool.
 *
 * A damaged row of a slice keeps its documents: the ranks that have the row's other slices must agree on cu_seqlens,
 * and do not know of the damage.
 */
#include "loader_segments.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/grow.h"
#include "base/status.h"
#include "dataset/part_index.h"

#define WORDS          ((uint32_t)(sizeof(struct rows_segment) / sizeof(uint32_t)))
#define POOL_ALIGNMENT 8u
#define STARTS_AT_ONCE 256u

/* ---- Options ---- */

/* Returns the number whose multiple the length of a row, or of a document, must be. */
static uint64_t unit_of(const struct loader_shape *shape)
{
    const struct leat_loader_slice *slice = &shape->options.slice;

    return slice->layout == LEAT_SLICE_CONTIGUOUS || slice->count == 1 ? slice->count : 2 * slice->count;
}

uint64_t loader_segments_length(const struct loader_shape *shape, uint64_t longest)
{
    return bytes_divide_up(longest, unit_of(shape)) * unit_of(shape);
}

static enum leat_status refuse_length(const struct loader_shape *shape, uint64_t length, struct leat_error *err)
{
    uint64_t unit = unit_of(shape), less = length / unit * unit;

    status_argument(err, "slice",
                    "rows of %" PRIu64 " places cannot be cut into %" PRIu64 " equal chunks for %" PRIu64
                    " slices: take a seq_len that is a multiple of %" PRIu64 ": ",
                    length, unit, shape->options.slice.count, unit);
    if (err && less > 0)
        status_after(err, "%" PRIu64 " or ", less);
    if (err)
        status_after(err, "%" PRIu64, less + unit);
    return LEAT_E_ARGUMENT;
}

enum leat_status loader_segments_check(const struct loader_shape *shape, struct leat_error *err)
{
    const struct leat_plan *plan = shape->plan;
    uint64_t align = plan->rules.fit[PLAN_FIT_ALIGN], unit = unit_of(shape);

    if (shape->options.slice.count > 1 && shape->options.slice.layout == LEAT_SLICE_ZIGZAG_DOCUMENTS &&
        (!plan->order->own_labels || align == 0 || align % unit != 0))
        return status_argument(err, "slice",
                               "slices of the layout zigzag-documents need the order fit with an `align` that is a "
                               "multiple of %" PRIu64 ", so that each document can be cut into %" PRIu64
                               " equal chunks",
                               unit, unit);
    if (plan->order->longest_first) /* rows are padded to the length of the batch, which suits the unit */
        return LEAT_OK;
    for (size_t i = 0; i <= plan->rules.phase_count; i++)
        if (plan->lengths[i] % unit != 0)
            return refuse_length(shape, plan->lengths[i], err);
    return LEAT_OK;
}

/* ---- Sizes ---- */

/* Returns the most tokens after a cut that its labels need. */
static uint32_t tail_of(const struct loader_shape *shape)
{
    return !shape->options.outputs.unshifted + shape->options.outputs.ahead;
}

/* Returns the most tokens that a row has in a slot, at least one: its places, and a tail after each cut. */
static uint64_t max_tokens(const struct loader_shape *shape)
{
    uint64_t places = shape->max_length, cuts = 2;

    if (shape->plan->order->own_labels)
        cuts = (uint64_t)shape->plan->max_pieces * 2 < places ? (uint64_t)shape->plan->max_pieces * 2 : places;
    return places + (cuts > 2 ? cuts : 2) * tail_of(shape) + 1;
}

/* Returns the number of places of all rows, before they are cut into slices. */
static uint64_t whole_places(const struct loader_shape *shape)
{
    return loader_tokens_places(shape, shape->whole_length, unit_of(shape));
}

uint64_t loader_segments_places(const struct loader_shape *shape)
{
    return whole_places(shape) / shape->options.slice.count;
}

bool loader_segments_size(struct loader_shape *shape, uint64_t *size)
{
    uint64_t places = loader_segments_places(shape), tokens, pool;
    struct loader_sizes *z = &shape->sizes;
    size_t at;

    if (!bytes_multiply(max_tokens(shape) - shape->max_length, shape->rows, &tokens) ||
        !bytes_add(tokens, places, &tokens) || tokens > UINT32_MAX)
        return false;
    z->tokens = (uint32_t)tokens;
    /* each segment has a place, except perhaps the last of a row; documents follow, and one more row */
    pool = WORDS * (places + shape->max_length + 2 * (uint64_t)shape->rows + 2) + whole_places(shape) +
           shape->whole_length + shape->rows + 1;
    if (pool > UINT32_MAX)
        return false;
    return loader_slot_add(size, sizeof(struct rows_segmented) * ((uint64_t)shape->rows + 1), &z->segments_at) &&
           loader_slot_add(size, (uint64_t)z->tokens * shape->token_width, &z->tokens_at) &&
           (!shape->masks || loader_slot_add(size, z->tokens, &at)) &&
           loader_slot_add(size, pool * sizeof(uint32_t) + POOL_ALIGNMENT, &at);
}

enum leat_status loader_segments_open(const struct loader_shape *shape, struct loader_segments **out,
                                      struct leat_error *err)
{
    struct loader_segments *x = *out = calloc(1, sizeof *x);

    if (x)
        x->rows = calloc((size_t)shape->rows + 2, sizeof *x->rows);
    return x && x->rows ? LEAT_OK : status_no_memory(err, shape->rows * sizeof *x->rows);
}

void loader_segments_close(struct loader_segments *x)
{
    if (!x)
        return;
    free(x->rows);
    free(x->runs);
    free(x->chains);
    free(x->cuts);
    free(x->starts);
    free(x->changed.items);
    free(x);
}

/* ---- Chains ---- */

/* Returns the number of the run after a chain's last one. */
static size_t end_of(const struct loader_segments *x, uint32_t chain)
{
    return chain + 1 < x->chain_count ? x->chains[chain + 1].run : x->run_count;
}

/* Joins the runs from `first` on to the chains of a row; *length is how many places they have. */
static enum leat_status join_runs(const struct loader_shape *shape, struct loader_segments *x, size_t first,
                                  uint64_t *length, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    *length = 0;
    for (size_t k = first, end; s == LEAT_OK && k < x->run_count; k = end) {
        struct loader_chain chain = { .run = (uint32_t)k, .place = (uint32_t)*length };
        uint64_t tokens = 0, beyond = 0, places;

        for (end = k; end < x->run_count && (end == k || !x->runs[end].chain); end++) {
            tokens += x->runs[end].count;
            beyond += x->runs[end].beyond ? x->runs[end].count : 0;
        }
        places = tokens - beyond - !shape->options.outputs.unshifted;
        places += loader_gap_after(shape, places);
        *length += places;
        chain.tokens = (uint32_t)tokens;
        chain.places = (uint32_t)places;
        if (tokens > UINT32_MAX || *length > UINT32_MAX)
            return status_set(err, LEAT_E_UNSUPPORTED, "a row of %" PRIu64 " places is too long", *length);
        s = GROW(x->chains, x->chain_count + 1, x->chain_room, err);
        if (s == LEAT_OK)
            x->chains[x->chain_count++] = chain;
    }
    return s;
}

/* ---- Cuts ---- */

struct interval {
    uint32_t begin, end;
};

/* Writes the slice of `places` places from `begin` on, and returns its number of intervals, one or two. */
static unsigned slice_of(const struct loader_shape *shape, uint32_t begin, uint32_t places, struct interval out[2])
{
    const struct leat_loader_slice *slice = &shape->options.slice;
    uint32_t rank = (uint32_t)slice->rank, chunks = (uint32_t)unit_of(shape), chunk = places / chunks;

    out[0] = (struct interval) { begin + rank * chunk, begin + (rank + 1) * chunk };
    if (chunks == slice->count)
        return 1;
    out[1] = (struct interval) { begin + (chunks - 1 - rank) * chunk, begin + (chunks - rank) * chunk };
    if (out[0].end != out[1].begin)
        return 2;
    out[0].end = out[1].end; /* the two intervals of the last rank, in the middle of the row, are one */
    return 1;
}

/* Takes the next `count` tokens of the slot. */
static enum leat_status take_tokens(const struct loader_shape *shape, struct loader_segments *x, uint32_t count,
                                    struct leat_error *err)
{
    if (count > shape->sizes.tokens - x->tokens)
        return status_set(err, LEAT_E_UNSUPPORTED, "a batch has more tokens than its slot has room for");
    x->tokens += count;
    return LEAT_OK;
}

/* Cuts places [begin, end) of the whole row, which are all of one chain or of the padding. */
static enum leat_status add_cut(const struct loader_shape *shape, struct loader_segments *x, uint32_t chain,
                                uint32_t begin, uint32_t end, struct leat_error *err)
{
    struct loader_cut cut = { .chain = chain, .place = begin, .places = end - begin, .token = x->tokens };
    uint64_t tokens = (uint64_t)cut.places + tail_of(shape), have = 0;
    enum leat_status s = GROW(x->cuts, x->cut_count + 1, x->cut_room, err);

    if (s == LEAT_OK && chain != LOADER_PADDING) {
        uint32_t from = begin - x->chains[chain].place;

        have = x->chains[chain].tokens > from ? x->chains[chain].tokens - from : 0;
    }
    cut.tokens = (uint32_t)(tokens < have ? tokens : have);
    if (s == LEAT_OK)
        s = take_tokens(shape, x, cut.tokens, err);
    if (s == LEAT_OK)
        x->cuts[x->cut_count++] = cut;
    return s;
}

/* Cuts the slice of `places` places from `begin` on: chains from number `first` on, and then the padding after `length`
 * places of the whole row. */
static enum leat_status cut_places(const struct loader_shape *shape, struct loader_segments *x, uint32_t length,
                                   uint32_t first, uint32_t begin, uint32_t places, struct leat_error *err)
{
    struct interval all[2];
    unsigned count = slice_of(shape, begin, places, all);
    enum leat_status s = LEAT_OK;

    for (const struct interval *i = all; s == LEAT_OK && i < all + count; i++) {
        for (uint32_t k = first; s == LEAT_OK && k < x->chain_count && x->chains[k].place < i->end; k++) {
            uint32_t place = x->chains[k].place, end = place + x->chains[k].places;

            place = place > i->begin ? place : i->begin;
            end = end < i->end ? end : i->end;
            if (place < end)
                s = add_cut(shape, x, k, place, end, err);
        }
        begin = i->begin < length ? length : i->begin;
        if (s == LEAT_OK && begin < i->end)
            s = add_cut(shape, x, LOADER_PADDING, begin, i->end, err);
    }
    return s;
}

/* Cuts a row of `whole` places. */
static enum leat_status cut_row(const struct loader_shape *shape, struct loader_segments *x,
                                const struct loader_row *row, uint32_t whole, struct leat_error *err)
{
    uint32_t first = row->chain, length = row->length;
    enum leat_status s = LEAT_OK;

    if (shape->options.slice.layout != LEAT_SLICE_ZIGZAG_DOCUMENTS)
        return cut_places(shape, x, length, first, 0, whole, err);
    for (uint32_t k = first; s == LEAT_OK && k < x->chain_count; k++)
        s = cut_places(shape, x, length, k, x->chains[k].place, x->chains[k].places, err);
    return s == LEAT_OK ? cut_places(shape, x, length, (uint32_t)x->chain_count, length, whole - length, err) : s;
}

/* Adds a row; the one after the last of the batch is padding. */
static enum leat_status add_row(const struct loader_shape *shape, struct loader_places *places, uint32_t row,
                                struct leat_error *err)
{
    struct loader_segments *x = places->segments;
    struct loader_row *r = &x->rows[row];
    size_t first = x->run_count;
    uint64_t length = 0;
    enum leat_status s = LEAT_OK;

    *r = (struct loader_row) { (uint32_t)x->chain_count, (uint32_t)x->cut_count, x->tokens, 0 };
    if (row < places->step.filled)
        s = loader_runs_find(shape, places, row, err);
    if (s == LEAT_OK)
        s = join_runs(shape, x, first, &length, err);
    if (s == LEAT_OK && length > places->whole_length)
        s = status_set(err, LEAT_E_UNSUPPORTED, "sample %" PRIu64 " has %" PRIu64 " places, more than its row",
                       places->step.samples[row].number, length);
    r->length = (uint32_t)length;
    if (s == LEAT_OK)
        s = cut_row(shape, x, r, places->whole_length, err);
    if (s == LEAT_OK && x->tokens == r->token && row < places->step.rows)
        s = take_tokens(shape, x, 1, err); /* leat_batch_row() shows it */
    return s;
}

/* ---- Reads ---- */

/* The part of a run that lies in [from, from + count) of its chain's tokens; `at` is the place of the run's first
 * token. */
struct overlap {
    uint32_t first, count; /* the part, in tokens of the run */
    uint32_t behind;       /* number of the wanted tokens that come before it */
};

static bool overlaps(const struct loader_run *run, uint32_t at, uint32_t from, uint32_t count, struct overlap *o)
{
    uint64_t end = (uint64_t)at + run->count, wanted = (uint64_t)from + count;
    uint32_t begin = at > from ? at : from;

    if (end > wanted)
        end = wanted;
    if (begin >= end)
        return false;
    *o = (struct overlap) { begin - at, (uint32_t)(end - begin), begin - from };
    return true;
}

/* Adds the read of tokens of a run to a row's, or to its last read if they follow that in the file and in the slot. */
static enum leat_status read_run(const struct loader_shape *shape, const struct loader_run *run,
                                 const struct overlap *o, uint8_t *to, uint32_t row, struct loader_reads *reads,
                                 struct leat_error *err)
{
    uint32_t count = reads->job.count;
    struct gather_piece *last;
    enum leat_status s = loader_reads_add(shape, reads, &run->piece, run->first + o->first, o->count, to, err);

    if (s != LEAT_OK || !to || count == reads->first[row])
        return s;
    last = &reads->job.pieces[count - 1];
    if (last->file == last[1].file && last->offset + last->bytes == last[1].offset && last->to + last->bytes == to) {
        last->bytes += last[1].bytes;
        reads->job.count--;
    }
    return s;
}

/* Reads the tokens of a cut; `to`: where they go, or NULL. */
static enum leat_status read_cut(const struct loader_shape *shape, const struct loader_segments *x,
                                 const struct loader_cut *cut, uint8_t *to, uint32_t row, struct loader_reads *reads,
                                 struct leat_error *err)
{
    uint32_t from = cut->place - x->chains[cut->chain].place, at = 0;
    enum leat_status s = LEAT_OK;

    for (size_t k = x->chains[cut->chain].run; s == LEAT_OK && k < end_of(x, cut->chain); at += x->runs[k++].count) {
        const struct loader_run *run = &x->runs[k];
        struct overlap o;
        uint8_t *here;

        if (!overlaps(run, at, from, cut->tokens, &o))
            continue;
        here = to ? to + (size_t)o.behind * shape->token_width : NULL;
        if (run->id == LOADER_OF_DATASET)
            s = read_run(shape, run, &o, here, row, reads, err);
        else if (here)
            loader_slot_fill(shape, here, 1, run->id);
    }
    return s;
}

/* Makes the reads of all cuts, and writes tokens that no dataset has. */
static enum leat_status read_rows(const struct loader_shape *shape, const struct loader_places *places, uint8_t *tokens,
                                  struct loader_reads *reads, struct leat_error *err)
{
    const struct loader_segments *x = places->segments;
    enum leat_status s = LEAT_OK;

    for (uint32_t row = 0; s == LEAT_OK && row < places->step.rows; row++) {
        bool empty = true;

        reads->first[row] = reads->job.count;
        for (uint32_t k = x->rows[row].cut; s == LEAT_OK && k < x->rows[row + 1].cut; k++) {
            const struct loader_cut *cut = &x->cuts[k];

            if (cut->tokens == 0)
                continue;
            empty = false;
            s = read_cut(shape, x, cut, tokens ? tokens + (size_t)cut->token * shape->token_width : NULL, row, reads,
                         err);
        }
        if (empty && tokens)
            loader_slot_fill(shape, tokens + (size_t)x->rows[row].token * shape->token_width, 1, shape->pad);
    }
    reads->first[places->step.rows] = reads->job.count;
    return s;
}

enum leat_status loader_segments_cut(const struct loader_shape *shape, struct loader_places *places,
                                     struct loader_reads *reads, uint8_t *tokens, struct leat_error *err)
{
    struct loader_segments *x = places->segments;
    enum leat_status s = LEAT_OK;

    x->run_count = x->chain_count = x->cut_count = x->start_count = 0;
    x->tokens = x->pool = x->documents = x->shorter = 0;
    places->whole_length = (uint32_t)loader_segments_length(shape, places->length);
    places->length = places->whole_length / (uint32_t)shape->options.slice.count;
    for (uint32_t row = 0; s == LEAT_OK && row <= places->step.rows; row++)
        s = add_row(shape, places, row, err);
    x->rows[places->step.rows + 1] =
        (struct loader_row) { (uint32_t)x->chain_count, (uint32_t)x->cut_count, x->tokens, 0 };
    return s == LEAT_OK ? read_rows(shape, places, tokens, reads, err) : s;
}

enum leat_status loader_segments_stretches(const struct loader_places *places, uint32_t row, uint32_t shift,
                                           struct loader_stretches *out, struct leat_error *err)
{
    const struct loader_segments *x = places->segments;
    enum leat_status s = LEAT_OK;
    uint32_t place = 0;

    for (uint32_t c = x->rows[row].cut; c < x->rows[row + 1].cut; place += x->cuts[c++].places) {
        const struct loader_cut *cut = &x->cuts[c];
        uint32_t left = cut->tokens > shift ? cut->tokens - shift : 0, count = left < cut->places ? left : cut->places;
        uint32_t at = 0;

        if (cut->chain == LOADER_PADDING)
            continue;
        for (size_t k = x->chains[cut->chain].run; s == LEAT_OK && k < end_of(x, cut->chain);
             at += x->runs[k++].count) {
            const struct loader_run *run = &x->runs[k];
            struct overlap o;

            if (run->id == LOADER_OF_DATASET &&
                overlaps(run, at, cut->place - x->chains[cut->chain].place + shift, count, &o))
                s = loader_stretch_add(out, &run->piece, run->first + o.first, row, place + o.behind, o.count, err);
        }
    }
    return s;
}

/* ---- Laying out ---- */

uint32_t loader_segments_inputs(const struct loader_segments *x, uint32_t row)
{
    uint32_t places = 0;

    for (uint32_t k = x->rows[row].cut; k < x->rows[row + 1].cut; k++)
        places += x->cuts[k].chain != LOADER_PADDING ? x->cuts[k].places : 0;
    return places;
}

void loader_segments_lay(const struct loader_shape *shape, const struct loader_places *places, struct loader_memory *m)
{
    const struct loader_segments *x = places->segments;

    m->layout.ahead = shape->options.outputs.ahead;
    m->layout.slices = (uint32_t)shape->options.slice.count;
    m->layout.whole_length = places->whole_length;
    m->layout.segments_at = shape->sizes.segments_at;
    m->bytes = m->layout.tokens_at + (size_t)x->tokens * shape->token_width;
    if (shape->masks) {
        m->layout.masks_at = m->bytes;
        m->bytes += x->tokens;
    }
}

void loader_segments_lay_pool(struct loader_memory *m)
{
    m->bytes = (size_t)bytes_divide_up(m->bytes, POOL_ALIGNMENT) * POOL_ALIGNMENT;
    m->layout.pool_at = m->bytes;
}

/* ---- When the tokens have come ---- */

static enum leat_status add_start(struct loader_segments *x, uint32_t chain, uint64_t token, struct leat_error *err)
{
    uint64_t start = (uint64_t)chain << 32 | token;
    enum leat_status s;

    if (x->start_count > 0 && x->starts[x->start_count - 1] >= start) /* empty documents begin there too */
        return LEAT_OK;
    s = GROW(x->starts, x->start_count + 1, x->start_room, err);
    if (s == LEAT_OK)
        x->starts[x->start_count++] = start;
    return s;
}

/* Adds where documents begin inside of a run, whose first token is number `at` of its chain. */
static enum leat_status search_run(const struct loader_shape *shape, struct loader_segments *x, uint32_t chain,
                                   const struct loader_run *run, uint32_t at, struct leat_error *err)
{
    struct part *p = dataset_part(shape->plan->sources[run->piece.source].dataset, run->piece.part);
    uint64_t first = run->piece.offset + run->first, from, to, starts[STARTS_AT_ONCE];
    enum leat_status s = part_documents_near(p, first, first + run->count, &from, &to, err);

    while (s == LEAT_OK && from < to) {
        uint64_t count = to - from < STARTS_AT_ONCE ? to - from : STARTS_AT_ONCE;

        s = part_starts(p, from, count, starts, err);
        for (uint64_t i = 0; s == LEAT_OK && i < count; i++)
            if (starts[i] - first < run->count)
                s = add_start(x, chain, at + (starts[i] - first), err);
        from += count;
    }
    return s;
}

static enum leat_status find_documents(const struct loader_shape *shape, struct loader_segments *x, uint32_t row,
                                       struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    x->start_count = 0;
    for (uint32_t chain = x->rows[row].chain; s == LEAT_OK && chain < x->rows[row + 1].chain; chain++) {
        uint32_t at = 0;

        for (size_t k = x->chains[chain].run; s == LEAT_OK && k < end_of(x, chain); at += x->runs[k++].count) {
            if (x->runs[k].document)
                s = add_start(x, chain, at, err);
            if (s == LEAT_OK && x->runs[k].search && shape->documents)
                s = search_run(shape, x, chain, &x->runs[k], at, err);
        }
    }
    return s;
}

/* Finds the mask of a cut of a sample; `first`: the row's first chain. */
static enum leat_status find_mask(const struct loader_shape *shape, const struct loader_segments *x,
                                  const struct leat_sample *sample, uint32_t first, const struct loader_cut *cut,
                                  const struct loader_memory *m, struct leat_error *err)
{
    uint8_t *to = m->base + m->layout.masks_at + cut->token;
    const struct loader_chain *chain = &x->chains[cut->chain];
    enum leat_status s = LEAT_OK;
    uint32_t at = 0;

    for (size_t k = chain->run; s == LEAT_OK && k < end_of(x, cut->chain); at += x->runs[k++].count) {
        const struct loader_run *run = &x->runs[k];
        struct overlap o;

        if (!overlaps(run, at, cut->place - chain->place, cut->tokens, &o))
            continue;
        if (run->id == LOADER_OF_DATASET)
            s = leat_plan_mask(shape->plan, sample->number, &run->piece, run->first + o.first, o.count, to + o.behind,
                               err);
        else
            to[o.behind] = run->weight;
    }
    if (s == LEAT_OK) {
        uint64_t from =
            cut->place - chain->place; /* in tokens of the chain: the row's first chain has its second token */

        loader_loss_tokens(shape, sample->source,
                           m->base + m->layout.tokens_at + (size_t)cut->token * shape->token_width, cut->tokens,
                           cut->chain == first && from < 2 ? 1 - from : UINT64_MAX, to);
    }
    return s;
}

enum leat_status loader_segments_find(const struct loader_shape *shape, struct loader_places *places,
                                      const struct loader_memory *m, uint32_t row, struct leat_error *err)
{
    struct loader_segments *x = places->segments;
    enum leat_status s = find_documents(shape, x, row, err);

    if (s != LEAT_OK) {
        x->start_count = 0;
        if (x->rows[row].chain < x->rows[row + 1].chain && add_start(x, x->rows[row].chain, 0, NULL) != LEAT_OK)
            return status_no_memory(err, sizeof *x->starts);
        return s;
    }
    if (!shape->masks || loader_slot_damaged(m, row))
        return LEAT_OK;
    for (uint32_t k = x->rows[row].cut; s == LEAT_OK && k < x->rows[row + 1].cut; k++)
        if (x->cuts[k].tokens > 0)
            s = find_mask(shape, x, &places->step.samples[row], x->rows[row].chain, &x->cuts[k], m, err);
    return s;
}

/* ---- Segments ---- */

/* How far a walk through the starts of a row has come. */
struct walk {
    size_t next;        /* number of the next start */
    uint32_t documents; /* number of the row's documents that have begun */
    uint32_t begin;     /* place in the whole row where the last of these begins */
};

/* Returns the token of a start; chain_of() returns its chain. */
static uint32_t token_of(uint64_t start)
{
    return (uint32_t)start;
}

static const struct loader_chain *chain_of(const struct loader_segments *x, uint64_t start)
{
    return &x->chains[start >> 32];
}

/* Returns true if a document begins at a place, and not only at the last label. */
static bool is_place(const struct loader_segments *x, uint64_t start)
{
    return token_of(start) < chain_of(x, start)->places;
}

/* Goes on to this token of a chain; returns how many of the chain's tokens follow up to the next document. */
static uint32_t walk_to(const struct loader_segments *x, struct walk *w, uint32_t chain, uint32_t token)
{
    for (; w->next < x->start_count && x->starts[w->next] <= ((uint64_t)chain << 32 | token); w->next++)
        if (is_place(x, x->starts[w->next])) {
            w->documents++;
            w->begin = chain_of(x, x->starts[w->next])->place + token_of(x->starts[w->next]);
        }
    if (w->next < x->start_count && x->starts[w->next] >> 32 == chain)
        return token_of(x->starts[w->next]) - token;
    return UINT32_MAX - token;
}

/* Adds the segments of a cut that begins at place `first` of the slice. */
static struct rows_segment *put_cut(const struct loader_segments *x, const struct loader_cut *cut, struct walk *w,
                                    uint32_t first, bool damaged, struct rows_segment *to)
{
    uint32_t from = cut->place - x->chains[cut->chain].place, tokens = damaged ? 0 : cut->tokens;

    for (uint32_t done = 0, here; done < cut->places; done += here) {
        uint32_t before = walk_to(x, w, cut->chain, from + done), left = tokens > done ? tokens - done : 0;

        here = before < cut->places - done ? before : cut->places - done;
        *to++ = (struct rows_segment) { .first = first + done,
                                        .token = cut->token + (left > 0 ? done : 0),
                                        .tokens = left,
                                        .own = before < left ? before : left,
                                        .position = cut->place + done - w->begin,
                                        .document = w->documents > 0 ? w->documents - 1 : 0,
                                        .attention = 1 };
    }
    return to;
}

/* Writes the places in the whole row where documents begin; returns their number. */
static uint32_t put_begins(const struct loader_segments *x, uint32_t *to)
{
    uint32_t count = 0;

    for (size_t k = 0; k < x->start_count; k++)
        if (is_place(x, x->starts[k]))
            to[count++] = chain_of(x, x->starts[k])->place + token_of(x->starts[k]);
    return count;
}

void loader_segments_put(struct loader_places *places, const struct loader_memory *m, uint32_t row)
{
    struct loader_segments *x = places->segments;
    struct rows_segmented *rows = (struct rows_segmented *)(void *)(m->base + m->layout.segments_at);
    uint32_t *pool = (uint32_t *)(void *)(m->base + m->layout.pool_at), place = 0, count = 0;
    struct rows_segment *first = (struct rows_segment *)(void *)(pool + x->pool), *to = first;
    const struct loader_row *r = &x->rows[row];
    bool damaged = row < m->layout.rows && loader_slot_damaged(m, row);
    struct walk w = { 0, 0, 0 };

    for (size_t k = 0; k < x->start_count; k++)
        count += is_place(x, x->starts[k]);
    for (uint32_t k = r->cut; k < r[1].cut; place += x->cuts[k++].places) {
        if (x->cuts[k].chain != LOADER_PADDING)
            to = put_cut(x, &x->cuts[k], &w, place, damaged, to);
        else
            *to++ = (struct rows_segment) {
                .first = place, .position = x->cuts[k].place - r->length, .document = count, .attention = r->length == 0
            };
    }
    if (r->cut == r[1].cut || x->cuts[r[1].cut - 1].chain != LOADER_PADDING) /* its outputs are longer than its cuts */
        *to++ = (struct rows_segment) { .first = place, .document = count };
    rows[row] = (struct rows_segmented) { .pool = x->pool,
                                          .segments = (uint32_t)(to - first),
                                          .length = r->length,
                                          .documents = x->documents,
                                          .shorter = x->shorter };
    x->pool += (uint32_t)(to - first) * WORDS + put_begins(x, (uint32_t *)(void *)to);
    x->documents += count;
    x->shorter += r->length < places->whole_length;
    x->start_count = 0; /* a row of padding has no starts */
}

void loader_segments_end(struct loader_places *places, struct loader_memory *m)
{
    loader_segments_put(places, m, m->layout.rows);
    m->bytes += (size_t)places->segments->pool * sizeof(uint32_t);
    m->layout.end = m->bytes;
}
