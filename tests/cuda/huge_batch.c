/* huge_batch.c: see huge_batch.h. */
#include "huge_batch.h"

#include <sys/mman.h>

#include "t.h"

/* ---- Memory ---- */

static uint8_t *map(uint64_t bytes)
{
    void *memory =
        mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

/* How many stretches lie before a row: room for its documents and its padding. */
uint64_t huge_stretches(const struct huge *g, uint64_t row)
{
    return row * (g->shape->length / g->shape->every + 2);
}

static uint64_t place(uint64_t *end, uint64_t bytes)
{
    uint64_t at = (*end + 63) / 64 * 64;

    *end = at + bytes;
    return at;
}

static void lay_out(struct huge *g)
{
    const struct huge_shape *s = g->shape;
    struct rows_layout *l = &g->job.layout;
    uint64_t end = 64, words;

    *l = (struct rows_layout) { .rows = (uint32_t)s->rows,
                                .width = (uint32_t)s->length + 1,
                                .token_width = s->token_width,
                                .mask_width = (uint32_t)s->length + 1 };
    words = (s->length + 1 + 63) / 64;
    l->tokens_at = place(&end, s->rows * l->width * s->token_width);
    l->lengths_at = place(&end, 4 * s->rows);
    l->flags_at = place(&end, s->rows);
    l->sources_at = place(&end, 4 * s->rows);
    l->source_weights_at = place(&end, 4 * s->rows);
    l->masks_at = place(&end, s->rows * l->mask_width);
    if (s->apart)
        l->rows_at = place(&end, 8 * s->rows);
    if (s->every) {
        l->start_words = (uint32_t)words;
        l->starts_at = place(&end, 8 * s->rows * words);
        l->marks_at = place(&end, sizeof(struct rows_mark) * s->rows * words);
        l->heads_at = place(&end, sizeof(struct rows_head) * (s->rows + 1));
    }
    g->slot_bytes = end;
}

static bool is_wanted(const struct huge *g, enum rows_output_kind kind, bool documents, const void *field)
{
    if (kind == ROWS_SEQUENCES)
        return g->shape->cu_seqlens;
    if (kind == ROWS_AHEAD)
        return false;
    if (documents)
        return g->shape->every;
    /* with all blocks two outputs are as much memory as a process can address */
    return g->shape->length * g->shape->rows < (uint64_t)1 << 40 || field == (const void *)&g->job.inputs ||
           field == (const void *)&g->job.loss_mask;
}

static bool add_range(struct huge *g, uint64_t bytes, void **memory, bool writable)
{
    struct ptx_range *x = &g->ranges[g->range_count++];

    *x = (struct ptx_range) { .bytes = (size_t)bytes, .memory = map(bytes), .writable = writable };
    x->written = writable ? map(bytes) : NULL;
    x->address = (uintptr_t)x->memory;
    *memory = x->memory;
    return x->memory && (!writable || x->written);
}

bool huge_open(struct huge *g)
{
    struct rows_job *j = &g->job;
    uint64_t numbers = g->shape->rows * g->shape->length;
    uint64_t blocks;
    void *memory;
    bool ok;

    *j = (struct rows_job) { .rows = (uint32_t)g->shape->rows,
                             .length = (uint32_t)g->shape->length,
                             .number_bytes = g->shape->number_bytes,
                             .mask_first = 1,
                             .pad = 77,
                             .ignored = -100 };
    lay_out(g);
    g->threads = rows_grid(j, j->number_bytes, &blocks);
    /* each thread fills two places after the last stretch */
    j->cu_seqlens_room = g->shape->every ? huge_stretches(g, g->shape->rows) + 2 * blocks * ROWS_BLOCK : 0;
    ok = add_range(g, g->slot_bytes, &memory, false);
    j->base = memory;
#define GIVE(field, name, kind, needs)                                                                                 \
    if (ok && is_wanted(g, kind, needs, &j->field)) {                                                                  \
        ok = add_range(g, rows_output_bytes(kind, numbers, j->number_bytes, j->cu_seqlens_room, 0), &memory, true);    \
        j->field = memory;                                                                                             \
    }
    ROWS_OUTPUTS(GIVE, GIVE)
#undef GIVE
    return ok;
}

void huge_close(struct huge *g)
{
    for (unsigned i = 0; i < g->range_count; i++) {
        if (g->ranges[i].memory)
            munmap(g->ranges[i].memory, g->ranges[i].bytes);
        if (g->ranges[i].written)
            munmap(g->ranges[i].written, g->ranges[i].bytes);
    }
}

/* As if no block had run. */
void huge_forget(struct huge *g)
{
    for (unsigned i = 1; i < g->range_count; i++) {
        madvise(g->ranges[i].memory, g->ranges[i].bytes, MADV_DONTNEED);
        madvise(g->ranges[i].written, g->ranges[i].bytes, MADV_DONTNEED);
    }
}

/* ---- What the slot says, where these blocks look ---- */

static uint32_t hash(uint64_t a, uint64_t b)
{
    uint64_t state = a * 0x9e3779b97f4a7c15u + b;

    return (uint32_t)(t_random(&state) >> 32);
}

/* Some rows are shorter by one. */
uint32_t huge_length(const struct huge *g, uint64_t row)
{
    return (uint32_t)g->shape->length - (hash(row, 1) % 4 == 0);
}

uint32_t huge_token(const struct huge *g, uint64_t row, uint64_t i)
{
    return hash(row, i + 5) >> 1 & (g->shape->token_width == 2 ? 0xffff : UINT32_MAX);
}

bool huge_flagged(uint64_t row)
{
    return hash(row, 4) % 8 == 0;
}

int32_t huge_source(uint64_t row)
{
    return (int32_t)(hash(row, 8) >> 16);
}

float huge_source_weight(uint64_t row)
{
    return (float)(hash(row, 9) >> 8) * 0x1p-20f;
}

uint8_t huge_mask(uint64_t row, uint64_t i)
{
    return (uint8_t)(hash(row, i + 6) % 3 ? hash(row, i + 7) : 0);
}

void huge_say_head(const struct huge *g, uint64_t row)
{
    const struct rows_layout *l = &g->job.layout;
    struct rows_head *h = (struct rows_head *)(void *)(g->ranges[0].memory + l->heads_at);
    uint32_t shorter = hash(row, 3) % 1000;

    if (g->shape->every) /* `filled` is for outputs that are longer than any row */
        h[row] = (struct rows_head) { (uint32_t)huge_stretches(g, row) - shorter, shorter, hash(row, 2), 0 };
}

/* Row `row`, and all that is needed to make its numbers from `begin` to `end`. */
void huge_say_row(const struct huge *g, uint64_t row, uint64_t begin, uint64_t end)
{
    const struct rows_layout *l = &g->job.layout;
    uint8_t *base = g->ranges[0].memory;
    uint64_t tokens = l->tokens_at + row * l->width * l->token_width;

    ((uint32_t *)(void *)(base + l->lengths_at))[row] = huge_length(g, row);
    base[l->flags_at + row] = huge_flagged(row);
    ((int32_t *)(void *)(base + l->sources_at))[row] = huge_source(row);
    ((float *)(void *)(base + l->source_weights_at))[row] = huge_source_weight(row);
    if (l->rows_at) { /* exchanged with a row far away */
        tokens = l->tokens_at + (g->shape->rows - 1 - row) * l->width * l->token_width;
        ((uint64_t *)(void *)(base + l->rows_at))[row] = tokens;
    }
    huge_say_head(g, row);
    for (uint64_t i = begin; i <= end; i++) {
        uint32_t token = huge_token(g, row, i);

        for (uint32_t k = 0; k < l->token_width; k++)
            base[tokens + i * l->token_width + k] = (uint8_t)(token >> 8 * k);
        base[l->masks_at + row * l->mask_width + i] = huge_mask(row, i);
    }
    for (uint64_t word = begin / 64; g->shape->every && word <= end / 64; word++) {
        uint64_t at = row * l->start_words + word, first = word * 64;
        struct rows_mark *marks = (struct rows_mark *)(void *)(base + l->marks_at);

        /* what came before the word, without the document that begins at token 0 */
        marks[at].begin = first ? (uint32_t)((first - 1) / g->shape->every * g->shape->every) : 0;
        marks[at].documents = first ? (uint32_t)((first - 1) / g->shape->every) : 0;
        for (uint64_t i = first; i < first + 64 && i <= huge_length(g, row); i++)
            if (i % g->shape->every == 0)
                ((uint64_t *)(void *)(base + l->starts_at))[at] |= (uint64_t)1 << i % 64;
    }
}
