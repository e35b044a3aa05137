/*
 * loader_segments.c: lays out rows in segments: see loader_segments.h.
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
#include "loader.h"

#define WORDS          ((uint32_t)(sizeof(struct rows_segment) / sizeof(uint32_t)))
#define POOL_ALIGNMENT 8u
#define STARTS_AT_ONCE 256u

/* ---- Options ---- */

bool loader_segments_needed(const struct leat_loader *l)
{
    return l->options.slice.count > 1 || l->options.outputs.ahead > 0 || plan_row_changes(l->plan);
}

/* What the length of a row, or of a document, must be a multiple of. */
static uint64_t unit_of(const struct leat_loader *l)
{
    const struct leat_loader_slice *slice = &l->options.slice;

    return slice->layout == LEAT_SLICE_CONTIGUOUS || slice->count == 1 ? slice->count : 2 * slice->count;
}

uint64_t loader_segments_length(const struct leat_loader *l, uint64_t longest)
{
    return bytes_divide_up(longest, unit_of(l)) * unit_of(l);
}

static enum leat_status refuse_length(const struct leat_loader *l, uint64_t length, struct leat_error *err)
{
    uint64_t unit = unit_of(l), less = length / unit * unit;

    status_argument(err, "slice",
                    "rows of %" PRIu64 " places cannot be cut into %" PRIu64 " equal chunks for %" PRIu64
                    " slices: take a seq_len that is a multiple of %" PRIu64 ": ",
                    length, unit, l->options.slice.count, unit);
    if (err && less > 0)
        status_after(err, "%" PRIu64 " or ", less);
    if (err)
        status_after(err, "%" PRIu64, less + unit);
    return LEAT_E_ARGUMENT;
}

enum leat_status loader_segments_check(const struct leat_loader *l, const struct leat_plan *plan,
                                       struct leat_error *err)
{
    uint64_t align = plan->rules.fit[PLAN_FIT_ALIGN], unit = unit_of(l);

    if (l->options.slice.count > 1 && l->options.slice.layout == LEAT_SLICE_ZIGZAG_DOCUMENTS &&
        (!plan->order->own_labels || align == 0 || align % unit != 0))
        return status_argument(err, "slice",
                               "slices of the layout zigzag-documents need the order fit with an `align` that is a "
                               "multiple of %" PRIu64 ", so that each document can be cut into %" PRIu64
                               " equal chunks",
                               unit, unit);
    if (plan->order->longest_first) /* the length is the batch's, and is padded */
        return LEAT_OK;
    for (size_t i = 0; i <= plan->rules.phase_count; i++)
        if (plan->lengths[i] % unit != 0)
            return refuse_length(l, plan->lengths[i], err);
    return LEAT_OK;
}

/* ---- Sizes ---- */

/* The most tokens after a cut that its labels need. */
static uint32_t tail_of(const struct leat_loader *l)
{
    return !l->options.outputs.unshifted + l->options.outputs.ahead;
}

/* The most tokens that a row has in a slot: its places, and a tail after each cut; at least one. */
static uint64_t max_tokens(const struct leat_loader *l)
{
    uint64_t places = l->shape.max_length, cuts = 2;

    if (l->plan->order->own_labels)
        cuts = (uint64_t)l->plan->max_pieces * 2 < places ? (uint64_t)l->plan->max_pieces * 2 : places;
    return places + (cuts > 2 ? cuts : 2) * tail_of(l) + 1;
}

/* Of a row: each segment has a place, but perhaps the last; and each document of the whole row. */
static uint64_t max_pool(const struct leat_loader *l)
{
    return WORDS * ((uint64_t)l->shape.max_length + 2) + l->shape.whole_length + 1;
}

/* Places of all rows, before they are cut into slices. */
static uint64_t whole_places(const struct leat_loader *l)
{
    return loader_tokens_places(l, l->shape.whole_length, unit_of(l));
}

uint64_t loader_segments_places(const struct leat_loader *l)
{
    return whole_places(l) / l->options.slice.count;
}

bool loader_segments_size(struct leat_loader *l, uint64_t *size)
{
    uint64_t places = loader_segments_places(l), tokens, pool;
    struct loader_sizes *z = &l->sizes;
    size_t at;

    if (!bytes_multiply(max_tokens(l) - l->shape.max_length, l->shape.rows, &tokens) ||
        !bytes_add(tokens, places, &tokens) || tokens > UINT32_MAX)
        return false;
    z->tokens = (uint32_t)tokens;
    pool = WORDS * (places + 2 * (uint64_t)l->shape.rows) + whole_places(l) + l->shape.rows + max_pool(l);
    if (pool > UINT32_MAX)
        return false;
    return loader_slot_add(size, sizeof(struct rows_segmented) * ((uint64_t)l->shape.rows + 1), &z->segments_at) &&
           loader_slot_add(size, (uint64_t)z->tokens * l->shape.token_width, &z->tokens_at) &&
           (!l->shape.masks || loader_slot_add(size, z->tokens, &at)) &&
           loader_slot_add(size, pool * sizeof(uint32_t) + POOL_ALIGNMENT, &at);
}

enum leat_status loader_segments_open(const struct leat_loader *l, struct loader_slot *slot, struct leat_error *err)
{
    slot->segments.rows = calloc((size_t)l->shape.rows + 2, sizeof *slot->segments.rows);
    slot->first_read = calloc((size_t)l->shape.rows + 1, sizeof *slot->first_read);
    return slot->segments.rows && slot->first_read ? LEAT_OK
                                                   : status_no_memory(err, l->shape.rows * sizeof *slot->segments.rows);
}

void loader_segments_close(struct loader_slot *slot)
{
    struct loader_segments *x = &slot->segments;

    if (slot->first_read != slot->first_piece)
        free(slot->first_read);
    free(x->rows);
    free(x->runs);
    free(x->chains);
    free(x->cuts);
    free(x->starts);
    free(x->changed.items);
}

/* ---- Chains ---- */

/* After the last run of a chain. */
static size_t end_of(const struct loader_segments *x, uint32_t chain)
{
    return chain + 1 < x->chain_count ? x->chains[chain + 1].run : x->run_count;
}

/* Joins the runs from `first` on to the chains of a row; *length is how many places they have. */
static enum leat_status join_runs(const struct leat_loader *l, struct loader_segments *x, size_t first,
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
        places = tokens - beyond - !l->options.outputs.unshifted;
        places += loader_pieces_gap_after(l, places);
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

/* The slice of `places` places from `begin` on: one or two intervals. */
static unsigned slice_of(const struct leat_loader *l, uint32_t begin, uint32_t places, struct interval out[2])
{
    const struct leat_loader_slice *slice = &l->options.slice;
    uint32_t rank = (uint32_t)slice->rank, chunks = (uint32_t)unit_of(l), chunk = places / chunks;

    out[0] = (struct interval) { begin + rank * chunk, begin + (rank + 1) * chunk };
    if (chunks == slice->count)
        return 1;
    out[1] = (struct interval) { begin + (chunks - 1 - rank) * chunk, begin + (chunks - rank) * chunk };
    if (out[0].end != out[1].begin)
        return 2;
    out[0].end = out[1].end; /* of the last rank, which has the middle */
    return 1;
}

/* Begins to read tokens of a run, behind what the row's last read brings where they follow that in the file. */
static enum leat_status read_run(const struct leat_loader *l, struct loader_slot *slot, uint32_t row,
                                 const struct loader_run *run, uint32_t first, uint32_t count, uint8_t *to,
                                 struct leat_error *err)
{
    struct loader_segments *x = &slot->segments;
    struct gather_piece *read = x->read_count > slot->first_read[row] ? &slot->reads[x->read_count - 1] : NULL;
    uint64_t offset = (run->piece.offset + run->first + first) * l->shape.token_width;
    uint32_t file = loader_file_of(l, &run->piece);
    enum leat_status s = LEAT_OK;

    if (read && to && read->file == file && read->offset + read->bytes == offset && read->to + read->bytes == to) {
        read->bytes += (uint64_t)count * l->shape.token_width;
        return LEAT_OK;
    }
    s = loader_reads_room(slot, (uint64_t)x->read_count + 1, err);
    if (s != LEAT_OK)
        return s;
    read = &slot->reads[x->read_count++];
    *read = (struct gather_piece) {
        .file = file, .offset = offset, .bytes = (uint64_t)count * l->shape.token_width, .to = to
    };
    return LEAT_OK;
}

/* A part of a run that lies in [from, from + count) of its chain's tokens; `at`: the run's first of these. */
struct overlap {
    uint32_t first, count; /* of the run's tokens */
    uint32_t behind;       /* how many of the wanted ones come before it */
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

static enum leat_status read_cut(const struct leat_loader *l, struct loader_slot *slot, uint32_t row,
                                 const struct loader_cut *cut, uint32_t from, struct leat_error *err)
{
    struct loader_segments *x = &slot->segments;
    enum leat_status s = LEAT_OK;
    uint32_t at = 0;

    for (size_t k = x->chains[cut->chain].run; s == LEAT_OK && k < end_of(x, cut->chain); at += x->runs[k++].count) {
        const struct loader_run *run = &x->runs[k];
        struct overlap o;
        uint8_t *to;

        if (!overlaps(run, at, from, cut->tokens, &o))
            continue;
        to = slot->memory ? slot->memory + l->sizes.tokens_at + ((size_t)cut->token + o.behind) * l->shape.token_width
                          : NULL;
        if (run->id == LOADER_OF_DATASET)
            s = read_run(l, slot, row, run, o.first, o.count, to, err);
        else if (to)
            loader_slot_fill(l, to, 1, run->id);
    }
    return s;
}

/* Takes `count` more tokens of the slot, from *token on. */
static enum leat_status take_tokens(const struct leat_loader *l, struct loader_segments *x, uint32_t count,
                                    uint32_t *token, struct leat_error *err)
{
    *token = x->tokens;
    if (count > l->sizes.tokens - x->tokens)
        return status_set(err, LEAT_E_UNSUPPORTED, "a batch has more tokens than its slot has room for");
    x->tokens += count;
    return LEAT_OK;
}

/* Cuts places [begin, end) of the whole row, all of one chain or of the padding. */
static enum leat_status add_cut(const struct leat_loader *l, struct loader_slot *slot, uint32_t row, uint32_t chain,
                                struct interval places, struct leat_error *err)
{
    struct loader_segments *x = &slot->segments;
    struct loader_cut cut = { .chain = chain, .place = places.begin, .places = places.end - places.begin };
    uint64_t tokens = (uint64_t)cut.places + tail_of(l), have = 0;
    uint32_t from = 0;
    enum leat_status s = GROW(x->cuts, x->cut_count + 1, x->cut_room, err);

    if (s == LEAT_OK && chain != LOADER_PADDING) {
        from = places.begin - x->chains[chain].place;
        have = x->chains[chain].tokens > from ? x->chains[chain].tokens - from : 0;
    }
    cut.tokens = (uint32_t)(tokens < have ? tokens : have);
    if (s == LEAT_OK)
        s = take_tokens(l, x, cut.tokens, &cut.token, err);
    if (s != LEAT_OK)
        return s;
    x->cuts[x->cut_count++] = cut;
    return cut.tokens > 0 ? read_cut(l, slot, row, &cut, from, err) : LEAT_OK;
}

/* Cuts an interval of the whole row: chains from number `first` on, and then the padding. */
static enum leat_status cut_interval(const struct leat_loader *l, struct loader_slot *slot, uint32_t row,
                                     uint32_t first, struct interval i, struct leat_error *err)
{
    struct loader_segments *x = &slot->segments;
    uint32_t length = x->rows[row].length;
    enum leat_status s = LEAT_OK;

    for (uint32_t k = first; s == LEAT_OK && k < x->chain_count && x->chains[k].place < i.end; k++) {
        uint32_t begin = x->chains[k].place, end = begin + x->chains[k].places;
        struct interval here = { begin > i.begin ? begin : i.begin, end < i.end ? end : i.end };

        if (here.begin < here.end)
            s = add_cut(l, slot, row, k, here, err);
    }
    if (i.begin < length)
        i.begin = length;
    return s == LEAT_OK && i.begin < i.end ? add_cut(l, slot, row, LOADER_PADDING, i, err) : s;
}

/* Cuts `places` places from `begin` on. */
static enum leat_status cut_places(const struct leat_loader *l, struct loader_slot *slot, uint32_t row, uint32_t first,
                                   uint32_t begin, uint32_t places, struct leat_error *err)
{
    struct interval intervals[2];
    unsigned count = slice_of(l, begin, places, intervals);
    enum leat_status s = LEAT_OK;

    for (unsigned i = 0; s == LEAT_OK && i < count; i++)
        s = cut_interval(l, slot, row, first, intervals[i], err);
    return s;
}

static enum leat_status cut_row(const struct leat_loader *l, struct loader_slot *slot, uint32_t row,
                                struct leat_error *err)
{
    struct loader_segments *x = &slot->segments;
    uint32_t whole = slot->batch.whole_length, first = x->rows[row].chain, length = x->rows[row].length;
    enum leat_status s = LEAT_OK;

    if (l->options.slice.layout != LEAT_SLICE_ZIGZAG_DOCUMENTS)
        return cut_places(l, slot, row, first, 0, whole, err);
    for (uint32_t k = first; s == LEAT_OK && k < x->chain_count; k++)
        s = cut_places(l, slot, row, k, x->chains[k].place, x->chains[k].places, err);
    return s == LEAT_OK ? cut_places(l, slot, row, (uint32_t)x->chain_count, length, whole - length, err) : s;
}

/* ---- Beginning a batch ---- */

static enum leat_status begin_row(const struct leat_loader *l, struct loader_slot *slot, uint32_t rows, uint32_t row,
                                  struct leat_error *err)
{
    struct loader_segments *x = &slot->segments;
    size_t first = x->run_count;
    uint64_t length = 0;
    uint32_t token;
    enum leat_status s = LEAT_OK;

    x->rows[row] = (struct loader_row) { (uint32_t)x->chain_count, (uint32_t)x->cut_count, x->tokens, 0 };
    slot->first_read[row] = x->read_count;
    if (row < slot->places)
        s = loader_runs_find(l, slot, row, err);
    if (s == LEAT_OK)
        s = join_runs(l, x, first, &length, err);
    if (s == LEAT_OK && length > slot->batch.whole_length)
        s = status_set(err, LEAT_E_UNSUPPORTED, "sample %" PRIu64 " has %" PRIu64 " places, more than its row",
                       slot->samples[row].number, length);
    x->rows[row].length = (uint32_t)length;
    if (s == LEAT_OK)
        s = cut_row(l, slot, row, err);
    if (s != LEAT_OK || x->tokens > x->rows[row].token || row == rows)
        return s;
    s = take_tokens(l, x, 1, &token, err); /* for leat_batch_row() */
    if (s == LEAT_OK && slot->memory)
        loader_slot_fill(l, slot->memory + l->sizes.tokens_at + (size_t)token * l->shape.token_width, 1, l->shape.pad);
    return s;
}

/* The row's places in the slice, without padding. */
static uint32_t places_of(const struct loader_segments *x, uint32_t row)
{
    uint32_t places = 0;

    for (uint32_t k = x->rows[row].cut; k < x->rows[row + 1].cut; k++)
        places += x->cuts[k].chain != LOADER_PADDING ? x->cuts[k].places : 0;
    return places;
}

static void lay_out(const struct leat_loader *l, struct loader_slot *slot, uint32_t rows)
{
    const struct loader_sizes *z = &l->sizes;
    struct loader_segments *x = &slot->segments;
    uint32_t *lengths = (uint32_t *)(void *)(slot->memory + z->lengths_at);

    for (uint32_t i = 0; i < rows; i++)
        lengths[i] = places_of(x, i);
    memset(slot->memory + z->flags_at, 0, rows);
    memset(slot->memory + z->flags_at + slot->places, LEAT_ROW_PADDED, rows - slot->places);
    loader_sources_put(l, slot, rows);
    slot->layout = (struct rows_layout) { .rows = rows,
                                          .token_width = l->shape.token_width,
                                          .tokens_at = z->tokens_at,
                                          .lengths_at = z->lengths_at,
                                          .flags_at = z->flags_at,
                                          .sources_at = z->sources_at,
                                          .source_weights_at = l->weights.each ? z->source_weights_at : 0,
                                          .ahead = l->options.outputs.ahead,
                                          .slices = (uint32_t)l->options.slice.count,
                                          .whole_length = slot->batch.whole_length,
                                          .segments_at = z->segments_at };
    slot->bytes = z->tokens_at + (size_t)x->tokens * l->shape.token_width;
    if (l->shape.masks) {
        slot->layout.masks_at = slot->bytes;
        slot->bytes += x->tokens;
    }
    slot->bytes = (size_t)bytes_divide_up(slot->bytes, POOL_ALIGNMENT) * POOL_ALIGNMENT;
    slot->layout.pool_at = slot->bytes;
    slot->batch.tokens = NULL;
    slot->batch.rows = rows;
    slot->batch.ahead = l->options.outputs.ahead;
}

enum leat_status loader_segments_begin(struct leat_loader *l, struct loader_slot *slot, uint32_t rows,
                                       struct leat_error *err)
{
    struct loader_segments *x = &slot->segments;
    enum leat_status s = LEAT_OK;

    x->run_count = x->chain_count = x->cut_count = x->start_count = 0;
    x->read_count = x->tokens = x->pool = x->documents = x->shorter = 0;
    slot->batch.whole_length = (uint32_t)loader_segments_length(l, slot->batch.length);
    slot->batch.length = slot->batch.whole_length / (uint32_t)l->options.slice.count;
    slot->batch.width = slot->batch.length + 1;
    for (uint32_t row = 0; s == LEAT_OK && row <= rows; row++)
        s = begin_row(l, slot, rows, row, err);
    if (s != LEAT_OK)
        return s;
    x->rows[rows + 1] = (struct loader_row) { (uint32_t)x->chain_count, (uint32_t)x->cut_count, x->tokens, 0 };
    slot->first_read[rows] = x->read_count;
    slot->job.count = x->read_count;
    if (slot->memory)
        lay_out(l, slot, rows);
    return LEAT_OK;
}

void loader_segments_clear(const struct leat_loader *l, const struct loader_slot *slot, uint32_t row)
{
    const struct loader_segments *x = &slot->segments;
    size_t at = l->sizes.tokens_at + (size_t)x->rows[row].token * l->shape.token_width;

    loader_slot_fill(l, slot->memory + at, x->rows[row + 1].token - x->rows[row].token, l->shape.pad);
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
static enum leat_status search_run(const struct leat_loader *l, struct loader_segments *x, uint32_t chain,
                                   const struct loader_run *run, uint32_t at, struct leat_error *err)
{
    struct part *p = dataset_part(l->plan->sources[run->piece.source].dataset, run->piece.part);
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

static enum leat_status find_documents(const struct leat_loader *l, struct loader_segments *x, uint32_t row,
                                       struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    x->start_count = 0;
    for (uint32_t chain = x->rows[row].chain; s == LEAT_OK && chain < x->rows[row + 1].chain; chain++) {
        uint32_t at = 0;

        for (size_t k = x->chains[chain].run; s == LEAT_OK && k < end_of(x, chain); at += x->runs[k++].count) {
            if (x->runs[k].document)
                s = add_start(x, chain, at, err);
            if (s == LEAT_OK && x->runs[k].search && l->shape.documents)
                s = search_run(l, x, chain, &x->runs[k], at, err);
        }
    }
    return s;
}

static enum leat_status find_mask(const struct leat_loader *l, struct loader_slot *slot, uint32_t row,
                                  const struct loader_cut *cut, struct leat_error *err)
{
    const struct loader_segments *x = &slot->segments;
    uint8_t *to = slot->memory + slot->layout.masks_at + cut->token;
    const struct loader_chain *chain = &x->chains[cut->chain];
    enum leat_status s = LEAT_OK;
    uint32_t at = 0;

    for (size_t k = chain->run; s == LEAT_OK && k < end_of(x, cut->chain); at += x->runs[k++].count) {
        const struct loader_run *run = &x->runs[k];
        struct overlap o;

        if (!overlaps(run, at, cut->place - chain->place, cut->tokens, &o))
            continue;
        if (run->id == LOADER_OF_DATASET)
            s = leat_plan_mask(l->plan, slot->samples[row].number, &run->piece, run->first + o.first, o.count,
                               to + o.behind, err);
        else
            to[o.behind] = run->weight;
    }
    if (s == LEAT_OK) {
        uint64_t from =
            cut->place - chain->place; /* of the chain's tokens: the row's first chain has its second token */

        loader_loss_tokens(l, slot->memory + slot->layout.tokens_at + (size_t)cut->token * l->shape.token_width,
                           cut->tokens, cut->chain == x->rows[row].chain && from < 2 ? 1 - from : UINT64_MAX, to);
    }
    return s;
}

enum leat_status loader_segments_find(struct leat_loader *l, struct loader_slot *slot, uint32_t row,
                                      struct leat_error *err)
{
    struct loader_segments *x = &slot->segments;
    enum leat_status s = find_documents(l, x, row, err);

    if (s != LEAT_OK) {
        x->start_count = 0;
        if (x->rows[row].chain < x->rows[row + 1].chain && add_start(x, x->rows[row].chain, 0, NULL) != LEAT_OK)
            return status_no_memory(err, sizeof *x->starts);
        return s;
    }
    if (!l->shape.masks || slot->memory[slot->layout.flags_at + row] & LEAT_ROW_DAMAGED)
        return LEAT_OK;
    for (uint32_t k = x->rows[row].cut; s == LEAT_OK && k < x->rows[row + 1].cut; k++)
        if (x->cuts[k].tokens > 0)
            s = find_mask(l, slot, row, &x->cuts[k], err);
    return s;
}

/* ---- Segments ---- */

/* The document that a cut has come to, going through the starts of a row. */
struct walk {
    size_t next;        /* start */
    uint32_t documents; /* of the row that began by now */
    uint32_t begin;     /* where the last of them did, in the whole row */
};

/* The token and the chain of a start. */
static uint32_t token_of(uint64_t start)
{
    return (uint32_t)start;
}

static const struct loader_chain *chain_of(const struct loader_segments *x, uint64_t start)
{
    return &x->chains[start >> 32];
}

/* Whether a document begins at a place there, and not only at the last label. */
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

/* Adds the segments of a cut from place `first` of the slice on. */
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

/* Puts where documents begin in the whole row; returns how many do. */
static uint32_t put_begins(const struct loader_segments *x, uint32_t *to)
{
    uint32_t count = 0;

    for (size_t k = 0; k < x->start_count; k++)
        if (is_place(x, x->starts[k]))
            to[count++] = chain_of(x, x->starts[k])->place + token_of(x->starts[k]);
    return count;
}

void loader_segments_put(const struct leat_loader *l, struct loader_slot *slot, uint32_t row)
{
    struct loader_segments *x = &slot->segments;
    struct rows_segmented *rows = (struct rows_segmented *)(void *)(slot->memory + l->sizes.segments_at);
    uint32_t *pool = (uint32_t *)(void *)(slot->memory + slot->layout.pool_at), place = 0, count = 0;
    struct rows_segment *first = (struct rows_segment *)(void *)(pool + x->pool), *to = first;
    const struct loader_row *r = &x->rows[row];
    bool damaged = row < slot->batch.rows && slot->memory[slot->layout.flags_at + row] & LEAT_ROW_DAMAGED;
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
    if (r->cut == r[1].cut || x->cuts[r[1].cut - 1].chain != LOADER_PADDING) /* of longer outputs */
        *to++ = (struct rows_segment) { .first = place, .document = count };
    rows[row] = (struct rows_segmented) { .pool = x->pool,
                                          .segments = (uint32_t)(to - first),
                                          .length = r->length,
                                          .documents = x->documents,
                                          .shorter = x->shorter };
    x->pool += (uint32_t)(to - first) * WORDS + put_begins(x, (uint32_t *)(void *)to);
    x->documents += count;
    x->shorter += r->length < slot->batch.whole_length;
    x->start_count = 0; /* a row of padding has none */
}

void loader_segments_end(const struct leat_loader *l, struct loader_slot *slot)
{
    loader_segments_put(l, slot, slot->batch.rows);
    slot->bytes += (size_t)slot->segments.pool * sizeof(uint32_t);
    slot->layout.end = slot->bytes;
}
