/*
 * loader_layout.c: how a batch lies in its slot. A row has an input for each prediction, and each of its pieces that
 * has labels of its own one more token. If labels are unshifted, such a token is an input too: models that shift labels
 * themselves find the label of an input at the place after it.
 *
 * Rows lie together, `width` tokens each; or apart, where the disk itself writes them: each inside the whole pages
 * around it, because O_DIRECT reads and hashes cover whole pages. The slot then says where each row begins, outputs are
 * made from there, and the CPU copies nothing.
 *
 * The choice is made when a batch is begun: apart if the disk writes nearly all of its rows. Rows that come from
 * memory, by a map or the page cache, must be copied anyway, and are fewer bytes without the pages around them.
 */
#include <string.h>

#include "base/bytes.h"
#include "loader.h"

/* On a GPU, rows of at least this size lie apart by default: slots grow by at most half, to save a tenth of the CPU
 * time; for 4 KiB rows it would double the memory to save a twentieth. */
#define MIN_ROW (2 * GATHER_PAGE)

/* At most one row in so many may be copied. */
#define COPIED_SHARE 8u

_Static_assert(RING_MAX <= GATHER_MAX, "each slot is a stretch of memory for spans");

/* ---- Sizes ---- */

/* The tokens, and the words of bits, of all rows, if the longest has so many. */
static bool count_tokens(const struct leat_loader *l, uint64_t width, uint64_t *tokens, uint64_t *words)
{
    uint64_t all;

    if (!bytes_multiply(width, l->shape.rows, &all) || all > UINT64_MAX / 64)
        return false;
    *tokens = loader_tokens_places(l, width, 1);
    *words =
        *tokens < all ? *tokens / 64 + l->shape.rows : ((uint64_t)l->shape.max_length + 1 + 63) / 64 * l->shape.rows;
    return true;
}

static bool size_outputs(struct leat_loader *l, uint64_t numbers)
{
    const struct leat_loader_options *o = &l->options;
    struct loader_sizes *z = &l->sizes;
    uint64_t size = 0, wide;
    bool ok = bytes_multiply(numbers, o->outputs.number_bytes, &wide);

#define ADD(field, name, kind, documents)                                                                              \
    if (ok && o->outputs.wanted & LEAT_OUTPUT_##name)                                                                  \
        ok = loader_slot_add(                                                                                          \
            &size,                                                                                                     \
            rows_output_bytes(kind, numbers, o->outputs.number_bytes, o->outputs.cu_seqlens_room, o->outputs.ahead),   \
            &z->outputs[ROWS_OUTPUT_##name]);
    ROWS_OUTPUTS(ADD, ADD)
#undef ADD
    z->output_bytes = (size_t)size;
    return ok;
}

/* Whether rows of `row_bytes` may lie apart at all. */
static bool may_lie_apart(const struct leat_loader *l, uint64_t row_bytes)
{
    if (l->options.io.apart == LEAT_APART_NEVER || !gather_may_be_direct(l->options.io.engine))
        return false;
    return l->options.io.apart == LEAT_APART_ALWAYS || (l->device.ops->apart && row_bytes >= MIN_ROW);
}

static uint64_t whole_pages(uint64_t bytes)
{
    return bytes_divide_up(bytes, GATHER_PAGE) * GATHER_PAGE;
}

/* Rows and their mask come last. If rows may lie apart, slots begin at pages, and borrowed outputs take whole pages
 * too. */
static bool size_tokens(struct leat_loader *l, uint64_t size, uint64_t row_bytes, uint64_t tokens)
{
    struct loader_sizes *z = &l->sizes;
    uint64_t together = tokens * l->shape.token_width, apart;
    size_t mask_at; /* in a slot, the mask follows the last row that is there (loader_mask_put()) */

    z->row_room = 0;
    if (may_lie_apart(l, row_bytes)) {
        /* a row that begins with the last token of a page */
        z->row_room = (size_t)whole_pages(GATHER_PAGE - l->shape.token_width + row_bytes);
        size = whole_pages(size);
        if (!bytes_multiply(z->row_room, l->shape.rows, &apart))
            return false;
        together = whole_pages(together > apart ? together : apart);
        z->output_bytes = (size_t)whole_pages(z->output_bytes);
    }
    if (!loader_slot_add(&size, together, &z->tokens_at))
        return false;
    if (l->shape.masks && !loader_slot_add(&size, tokens, &mask_at))
        return false;
    z->slot_bytes = (size_t)(z->row_room > 0 ? whole_pages(size) : size);
    return true;
}

uint64_t loader_layout_longest(const struct leat_loader *l, uint64_t inputs)
{
    uint64_t align = l->plan->rules.fit[PLAN_FIT_ALIGN], pieces = l->plan->order->own_labels ? l->plan->max_pieces : 1;

    return l->options.outputs.unshifted ? inputs + pieces * (align > 0 ? align : 1) : inputs;
}

bool loader_layout_size(struct leat_loader *l)
{
    bool own = l->plan->order->own_labels;
    uint64_t words, size = 0, tokens;
    uint64_t width = (uint64_t)l->shape.max_length + (own && !l->options.outputs.unshifted ? l->plan->max_pieces : 1);
    struct loader_sizes *z = &l->sizes;

    if (!count_tokens(l, width, &tokens, &words) ||
        !loader_slot_add(&size, 4 * (uint64_t)l->shape.rows, &z->lengths_at) ||
        !loader_slot_add(&size, l->shape.rows, &z->flags_at) ||
        !loader_slot_add(&size, 4 * (uint64_t)l->shape.rows, &z->sources_at) ||
        (l->weights.each && !loader_slot_add(&size, 4 * (uint64_t)l->shape.rows, &z->source_weights_at)))
        return false;
    if (l->shape.segmented) {
        z->row_room = 0;
        if ((l->options.outputs.borrow && !size_outputs(l, loader_segments_places(l))) ||
            !loader_segments_size(l, &size))
            return false;
        z->slot_bytes = (size_t)size;
        return true;
    }
    if ((own || may_lie_apart(l, width * l->shape.token_width)) &&
        !loader_slot_add(&size, 8 * (uint64_t)l->shape.rows, &z->rows_at))
        return false;
    z->starts_at = (size_t)size;
    if (l->shape.documents && !loader_slot_add(&size, 8 * words, &z->starts_at))
        return false;
    if (l->shape.documents && l->device.ops->marks &&
        (!loader_slot_add(&size, sizeof(struct rows_mark) * words, &z->marks_at) ||
         !loader_slot_add(&size, sizeof(struct rows_head) * ((uint64_t)l->shape.rows + 1), &z->heads_at)))
        return false;
    return (!l->options.outputs.borrow || size_outputs(l, loader_tokens_places(l, l->shape.max_length, 1))) &&
           size_tokens(l, size, width * l->shape.token_width, tokens);
}

/* ---- One batch ---- */

static void fill_pad(const struct leat_loader *l, uint8_t *to, uint64_t tokens)
{
    loader_slot_fill(l, to, tokens, l->shape.pad);
}

static bool lies_apart(struct leat_loader *l, const struct loader_slot *slot)
{
    uint32_t direct = 0;

    /* the pages around several pieces do not join to one row */
    if (l->sizes.row_room == 0 || slot->first_piece[slot->places] != slot->places)
        return false;
    for (uint32_t i = 0; i < slot->places; i++)
        direct += gather_is_direct(&l->gather, loader_file_of(l, &slot->pieces[i]));
    return direct > 0 && direct >= slot->places - slot->places / COPIED_SHARE;
}

static void lay_out(struct leat_loader *l, struct loader_slot *slot, uint32_t rows)
{
    const struct loader_sizes *z = &l->sizes;
    uint32_t *lengths = (uint32_t *)(void *)(slot->memory + z->lengths_at), longest = slot->batch.length;

    for (uint32_t i = 0; i < rows; i++)
        lengths[i] = i < slot->places ? loader_pieces_inputs(l, slot, i) : 0;
    memset(slot->memory + z->flags_at, 0, rows);
    memset(slot->memory + z->flags_at + slot->places, LEAT_ROW_PADDED, rows - slot->places);
    loader_sources_put(l, slot, rows);
    slot->layout = (struct rows_layout) { .rows = rows,
                                          .width = longest + 1,
                                          .token_width = l->shape.token_width,
                                          .start_words = l->shape.documents ? (longest + 1 + 63) / 64 : 0,
                                          .tokens_at = z->tokens_at,
                                          .lengths_at = z->lengths_at,
                                          .flags_at = z->flags_at,
                                          .starts_at = z->starts_at,
                                          .sources_at = z->sources_at,
                                          .source_weights_at = z->source_weights_at,
                                          .marks_at = z->marks_at,
                                          .heads_at = z->heads_at,
                                          .own_labels = l->plan->order->own_labels && !l->options.outputs.unshifted };
    slot->batch.rows = rows;
    slot->batch.width = longest + 1;
    slot->batch.whole_length = longest;
}

/* Makes the read of a piece; gather_begin() fills in the rest. */
static void set_read(const struct leat_loader *l, struct gather_piece *read, const struct leat_piece *p, uint8_t *to,
                     uint8_t *span)
{
    read->file = loader_file_of(l, p);
    read->offset = p->offset * l->shape.token_width;
    read->bytes = (uint64_t)p->count * l->shape.token_width;
    read->to = to;
    read->span = span;
}

static void put_together(struct leat_loader *l, struct loader_slot *slot)
{
    uint64_t row_bytes = (uint64_t)slot->layout.width * l->shape.token_width;
    uint8_t *tokens = slot->memory + slot->layout.tokens_at;
    uint32_t k = 0;

    for (uint32_t i = 0; i < slot->batch.rows; i++) {
        uint64_t has = i < slot->places ? slot->samples[i].tokens : 0;
        uint8_t *row = tokens + i * row_bytes;

        if (has < slot->layout.width)
            fill_pad(l, row + has * l->shape.token_width, slot->layout.width - has);
        for (; i < slot->places && k < slot->first_piece[i + 1]; k++)
            set_read(l, &slot->reads[k], &slot->pieces[k], row + (uint64_t)slot->pieces[k].at * l->shape.token_width,
                     NULL);
    }
    slot->batch.tokens = tokens;
    slot->bytes = slot->layout.tokens_at + slot->batch.rows * row_bytes;
}

/* A row's pieces, one after another, each with padding for its gap, which the mask takes the loss of
 * (loader_pieces.c). A row without tokens takes one. */
static void put_row(struct leat_loader *l, struct loader_slot *slot, uint32_t row)
{
    uint64_t *begins = (uint64_t *)(void *)(slot->memory + l->sizes.rows_at);
    uint32_t end = row < slot->places ? slot->first_piece[row + 1] : 0, gap;

    begins[row] = slot->bytes;
    if (row >= slot->places || slot->samples[row].tokens == 0) {
        fill_pad(l, slot->memory + slot->bytes, 1);
        slot->bytes += l->shape.token_width;
    }
    for (uint32_t k = row < slot->places ? slot->first_piece[row] : 0; k < end; k++) {
        set_read(l, &slot->reads[k], &slot->pieces[k], slot->memory + slot->bytes, NULL);
        slot->bytes += (uint64_t)slot->pieces[k].count * l->shape.token_width;
        gap = loader_pieces_gap(l, &slot->pieces[k]);
        fill_pad(l, slot->memory + slot->bytes, gap);
        slot->bytes += (uint64_t)gap * l->shape.token_width;
    }
}

/* Rows of pieces that have labels of their own: row after row. */
static void put_pieces(struct leat_loader *l, struct loader_slot *slot)
{
    slot->bytes = l->sizes.tokens_at;
    for (uint32_t i = 0; i < slot->batch.rows; i++)
        put_row(l, slot, i);
    slot->layout.rows_at = l->sizes.rows_at;
    slot->batch.tokens = NULL;
}

/* Rows without tokens share one place with one end token; *at is set to it when first needed. */
static uint64_t put_nothing(const struct leat_loader *l, struct loader_slot *slot, uint64_t *nothing, uint64_t *at)
{
    if (*nothing == 0) {
        fill_pad(l, slot->memory + *at, 1);
        *nothing = *at;
        *at += GATHER_PAGE;
    }
    return *nothing;
}

/* After a row lies whatever follows it in its file; no output looks there. */
static void put_apart(struct leat_loader *l, struct loader_slot *slot)
{
    uint64_t *begins = (uint64_t *)(void *)(slot->memory + l->sizes.rows_at), at = l->sizes.tokens_at, nothing = 0;

    for (uint32_t i = 0; i < slot->batch.rows; i++) {
        const struct leat_piece *p = i < slot->places ? &slot->pieces[i] : NULL;
        uint64_t in_page = p ? p->offset * l->shape.token_width % GATHER_PAGE : 0, from = at;

        if (p && p->count > 0) {
            begins[i] = at + in_page;
            at += whole_pages(in_page + (uint64_t)p->count * l->shape.token_width);
        } else {
            begins[i] = put_nothing(l, slot, &nothing, &at);
        }
        if (p)
            set_read(l, &slot->reads[i], p, slot->memory + begins[i], p->count > 0 ? slot->memory + from : NULL);
    }
    slot->layout.rows_at = l->sizes.rows_at;
    slot->batch.tokens = NULL;
    slot->bytes = at;
}

void loader_layout_begin(struct leat_loader *l, struct loader_slot *slot, uint32_t rows)
{
    lay_out(l, slot, rows);
    slot->job.count = slot->first_piece[slot->places];
    if (lies_apart(l, slot))
        put_apart(l, slot);
    else if (l->plan->order->own_labels)
        put_pieces(l, slot);
    else
        put_together(l, slot);
    if (l->shape.masks)
        loader_mask_put(l, slot);
}

void loader_layout_clear(const struct leat_loader *l, struct loader_slot *slot, uint32_t row)
{
    if (slot->layout.segments_at) {
        loader_segments_clear(l, slot, row);
        return;
    }
    fill_pad(l, slot->memory + (loader_slot_row(slot, row) - slot->memory),
             slot->layout.rows_at ? loader_pieces_tokens(l, slot, row) : slot->layout.width);
}
