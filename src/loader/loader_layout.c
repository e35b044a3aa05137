/*
 * loader_layout.c: the fourth stage, how a batch lies in its slot, in one of three layouts.
 *
 * *Together*: each row has `width` tokens, one more than inputs. *Apart*: the disk itself writes the rows, each inside
 * the whole pages around it, because O_DIRECT reads and hashes cover whole pages. The slot says where each row begins,
 * outputs are made from there, and the CPU copies nothing. *In pieces*: each piece has labels of its own, and thus one
 * more token than predictions; rows in segments are pieces whose tokens the row's segments find (loader_segments.h). If
 * labels are unshifted, a last token is an input too: models that shift labels themselves find the label of an input at
 * the place after it.
 *
 * Rows lie apart if the disk writes nearly all rows of the batch. Rows that come from memory, by a map or the page
 * cache, must be copied anyway, and are fewer bytes without the pages around them.
 */
#include <string.h>

#include "base/bytes.h"
#include "loader_segments.h"
#include "ring.h"

/* On a GPU, rows of at least this size lie apart by default: slots grow by at most half, to save a tenth of the CPU
 * time; for 4 KiB rows it would double the memory to save a twentieth. */
#define MIN_ROW (2 * GATHER_PAGE)

/* At most one row in so many may be copied. */
#define COPIED_SHARE 8u

_Static_assert(RING_MAX <= GATHER_MAX, "each slot is a stretch of memory for spans");

/* What the layouts fill, from what the stages before have found. */
struct laying {
    const struct loader_shape *shape;
    const struct loader_places *places;
    struct gather_piece *reads;
    struct loader_memory *m;
};

/* ---- Sizes ---- */

/* Counts the tokens of all rows, and their words of bits, if the longest row has `width` tokens. */
static bool count_tokens(const struct loader_shape *shape, uint64_t width, uint64_t *tokens, uint64_t *words)
{
    uint64_t all;

    if (!bytes_multiply(width, shape->rows, &all) || all > UINT64_MAX / 64)
        return false;
    *tokens = loader_tokens_places(shape, width, 1);
    *words = *tokens < all ? *tokens / 64 + shape->rows : ((uint64_t)shape->max_length + 1 + 63) / 64 * shape->rows;
    return true;
}

static bool size_outputs(struct loader_shape *shape, uint64_t numbers)
{
    const struct leat_loader_options *o = &shape->options;
    struct loader_sizes *z = &shape->sizes;
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

/* Returns true if rows of `row_bytes` may lie apart at all. */
static bool may_lie_apart(const struct loader_shape *shape, uint64_t row_bytes)
{
    if (shape->options.io.apart == LEAT_APART_NEVER || !gather_may_be_direct(shape->options.io.engine))
        return false;
    return shape->options.io.apart == LEAT_APART_ALWAYS || (shape->device_apart && row_bytes >= MIN_ROW);
}

static uint64_t whole_pages(uint64_t bytes)
{
    return bytes_divide_up(bytes, GATHER_PAGE) * GATHER_PAGE;
}

/* Finds the places of rows and their mask, which come last in a slot. If rows may lie apart, slots begin at pages,
 * and borrowed outputs take whole pages too. */
static bool size_tokens(struct loader_shape *shape, uint64_t size, uint64_t row_bytes, uint64_t tokens)
{
    struct loader_sizes *z = &shape->sizes;
    uint64_t together = tokens * shape->token_width, apart;
    size_t mask_at; /* in a slot, the mask follows the last row that is there (put_mask()) */

    z->row_room = 0;
    if (may_lie_apart(shape, row_bytes)) {
        /* the longest stretch is that of a row that begins with the last token of a page */
        z->row_room = (size_t)whole_pages(GATHER_PAGE - shape->token_width + row_bytes);
        size = whole_pages(size);
        if (!bytes_multiply(z->row_room, shape->rows, &apart))
            return false;
        together = whole_pages(together > apart ? together : apart);
        z->output_bytes = (size_t)whole_pages(z->output_bytes);
    }
    if (!loader_slot_add(&size, together, &z->tokens_at))
        return false;
    if (shape->masks && !loader_slot_add(&size, tokens, &mask_at))
        return false;
    if (!loader_values_size(shape, loader_tokens_places(shape, shape->max_length, 1), &size))
        return false;
    z->slot_bytes = (size_t)(z->row_room > 0 ? whole_pages(size) : size);
    return true;
}

uint64_t loader_layout_longest(const struct loader_shape *shape, uint64_t inputs)
{
    uint64_t align = shape->plan->rules.fit[PLAN_FIT_ALIGN],
             pieces = shape->plan->order->own_labels ? shape->plan->max_pieces : 1;

    return shape->options.outputs.unshifted ? inputs + pieces * (align > 0 ? align : 1) : inputs;
}

bool loader_layout_size(struct loader_shape *shape)
{
    bool own = shape->plan->order->own_labels;
    uint64_t words, size = 0, tokens;
    uint64_t width =
        (uint64_t)shape->max_length + (own && !shape->options.outputs.unshifted ? shape->plan->max_pieces : 1);
    struct loader_sizes *z = &shape->sizes;

    if (!count_tokens(shape, width, &tokens, &words) ||
        !loader_slot_add(&size, 4 * (uint64_t)shape->rows, &z->lengths_at) ||
        !loader_slot_add(&size, shape->rows, &z->flags_at) ||
        !loader_slot_add(&size, 4 * (uint64_t)shape->rows, &z->sources_at) ||
        (shape->weights.each && !loader_slot_add(&size, 4 * (uint64_t)shape->rows, &z->source_weights_at)))
        return false;
    if (shape->segmented) {
        z->row_room = 0;
        if ((shape->options.outputs.borrow && !size_outputs(shape, loader_segments_places(shape))) ||
            !loader_segments_size(shape, &size) || !loader_values_size(shape, loader_segments_places(shape), &size))
            return false;
        z->slot_bytes = (size_t)size;
        return true;
    }
    if ((own || may_lie_apart(shape, width * shape->token_width)) &&
        !loader_slot_add(&size, 8 * (uint64_t)shape->rows, &z->rows_at))
        return false;
    z->starts_at = (size_t)size;
    if (shape->documents && !loader_slot_add(&size, 8 * words, &z->starts_at))
        return false;
    if (shape->documents && shape->device_marks &&
        (!loader_slot_add(&size, sizeof(struct rows_mark) * words, &z->marks_at) ||
         !loader_slot_add(&size, sizeof(struct rows_head) * ((uint64_t)shape->rows + 1), &z->heads_at)))
        return false;
    return (!shape->options.outputs.borrow || size_outputs(shape, loader_tokens_places(shape, shape->max_length, 1))) &&
           size_tokens(shape, size, width * shape->token_width, tokens);
}

/* ---- One batch ---- */

static bool lies_apart(const struct laying *y, struct gather *g)
{
    uint32_t filled = y->places->step.filled, direct = 0;

    /* the pages around several pieces do not join to one row */
    if (y->shape->sizes.row_room == 0 || y->places->first[filled] != filled)
        return false;
    for (uint32_t i = 0; i < filled; i++)
        direct += gather_is_direct(g, y->reads[i].file);
    return direct > 0 && direct >= filled - filled / COPIED_SHARE;
}

/* Sets the places of all that comes before the tokens, and writes the numbers of the rows' samples, sources and
 * lengths. */
static void put_head(const struct laying *y)
{
    const struct loader_shape *shape = y->shape;
    const struct loader_sizes *z = &shape->sizes;
    uint32_t rows = y->places->step.rows, filled = y->places->step.filled;
    uint32_t width = y->places->segments ? 0 : y->places->length + 1;
    uint32_t *lengths = (uint32_t *)(void *)(y->m->base + z->lengths_at);

    y->m->layout = (struct rows_layout) { .rows = rows,
                                          .width = width,
                                          .token_width = shape->token_width,
                                          .start_words = shape->documents ? (width + 63) / 64 : 0,
                                          .tokens_at = z->tokens_at,
                                          .lengths_at = z->lengths_at,
                                          .flags_at = z->flags_at,
                                          .starts_at = z->starts_at,
                                          .sources_at = z->sources_at,
                                          .source_weights_at = z->source_weights_at,
                                          .marks_at = z->marks_at,
                                          .heads_at = z->heads_at,
                                          .own_labels = shape->plan->order->own_labels && !y->places->segments &&
                                                        !shape->options.outputs.unshifted };
    for (uint32_t i = 0; i < rows; i++)
        lengths[i] = y->places->segments ? loader_segments_inputs(y->places->segments, i)
                     : i < filled        ? loader_places_inputs(shape, y->places, i)
                                         : 0;
    memset(y->m->base + z->flags_at, 0, rows);
    memset(y->m->base + z->flags_at + filled, LEAT_ROW_PADDED, rows - filled);
    for (uint32_t i = filled; i < rows && y->m->layout.start_words > 0; i++)
        loader_documents_clear(y->m, i);
    loader_sources_put(shape, &y->places->step, y->m);
}

static void put_together(const struct laying *y)
{
    uint64_t token_width = y->shape->token_width, width = y->m->layout.width;
    uint8_t *row = y->m->base + y->m->layout.tokens_at;

    for (uint32_t i = 0, k = 0; i < y->places->step.rows; i++, row += width * token_width) {
        uint64_t has = i < y->places->step.filled ? y->places->step.samples[i].tokens : 0;

        if (has < width)
            loader_slot_fill(y->shape, row + has * token_width, width - has, y->shape->pad);
        for (; i < y->places->step.filled && k < y->places->first[i + 1]; k++)
            y->reads[k].to = row + y->places->pieces[k].at * token_width;
    }
    y->m->bytes = (size_t)(row - y->m->base);
}

/* Lays out rows of pieces that have labels of their own, one after another. A piece has padding for its gap, whose
 * loss the mask takes (loader_places.c). A row without tokens takes the room of one. */
static void put_pieces(const struct laying *y)
{
    uint64_t *begins = (uint64_t *)(void *)(y->m->base + y->shape->sizes.rows_at), token_width = y->shape->token_width;
    uint8_t *to = y->m->base + y->m->layout.tokens_at;

    y->m->layout.rows_at = y->shape->sizes.rows_at;
    for (uint32_t i = 0, k = 0; i < y->places->step.rows; i++) {
        bool filled = i < y->places->step.filled;

        begins[i] = (uint64_t)(to - y->m->base);
        if (!filled || y->places->step.samples[i].tokens == 0) {
            loader_slot_fill(y->shape, to, 1, y->shape->pad);
            to += token_width;
        }
        for (; filled && k < y->places->first[i + 1]; k++) {
            uint32_t gap = loader_places_gap(y->shape, &y->places->pieces[k]);

            y->reads[k].to = to;
            to += y->reads[k].bytes;
            loader_slot_fill(y->shape, to, gap, y->shape->pad);
            to += gap * token_width;
        }
    }
    y->m->bytes = (size_t)(to - y->m->base);
}

/* Lays out rows that lie apart. After a row lies what follows it in its file; no output looks there. Rows without
 * tokens share one place with one end token. */
static void put_apart(const struct laying *y)
{
    uint64_t *begins = (uint64_t *)(void *)(y->m->base + y->shape->sizes.rows_at), nothing = 0,
             at = y->m->layout.tokens_at;

    y->m->layout.rows_at = y->shape->sizes.rows_at;
    for (uint32_t i = 0; i < y->places->step.rows; i++) {
        struct gather_piece *read = i < y->places->step.filled ? &y->reads[i] : NULL;
        uint64_t in_page = read ? read->offset % GATHER_PAGE : 0;

        if (read && read->bytes > 0) {
            begins[i] = at + in_page;
            read->span = y->m->base + at;
            at += whole_pages(in_page + read->bytes);
        } else {
            if (nothing == 0) {
                loader_slot_fill(y->shape, y->m->base + at, 1, y->shape->pad);
                nothing = at;
                at += GATHER_PAGE;
            }
            begins[i] = nothing;
        }
        if (read)
            read->to = y->m->base + begins[i];
    }
    y->m->bytes = at;
}

/* Puts the mask after the rows. Its rows are as wide as the longest one. */
static void put_mask(const struct laying *y)
{
    uint64_t width = 0, tokens;

    for (uint32_t i = 0; i < y->places->step.filled; i++) {
        tokens = loader_places_tokens(y->shape, y->places, i);
        width = tokens > width ? tokens : width;
    }
    y->m->layout.masks_at = y->m->bytes;
    y->m->layout.mask_width = (uint32_t)width;
    y->m->bytes += (size_t)(y->places->step.rows * width);
}

void loader_layout_begin(const struct loader_shape *shape, struct gather *g, const struct loader_places *places,
                         struct loader_reads *reads, struct loader_memory *m)
{
    const struct laying y = { shape, places, reads->job.pieces, m };

    put_head(&y);
    if (places->segments)
        loader_segments_lay(shape, places, m);
    else if (lies_apart(&y, g))
        put_apart(&y);
    else if (shape->plan->order->own_labels)
        put_pieces(&y);
    else
        put_together(&y);
    if (shape->masks && !places->segments)
        put_mask(&y);
    if (places->found)
        loader_values_lay(shape, places, reads, m);
    if (places->segments)
        loader_segments_lay_pool(m);
}

void loader_layout_clear(const struct loader_shape *shape, const struct loader_places *places,
                         const struct loader_memory *m, uint32_t row)
{
    const struct loader_segments *x = places->segments;
    uint64_t tokens = x                   ? x->rows[row + 1].token - x->rows[row].token
                      : m->layout.rows_at ? loader_places_tokens(shape, places, row)
                                          : m->layout.width;

    loader_slot_fill(shape, loader_slot_row(places, m, row), tokens, shape->pad);
    if (m->layout.start_words > 0)
        loader_documents_clear(m, row);
    if (places->found)
        loader_values_clear(shape, places, m, row);
}
