/*
 * test_ptx_grids.c: the kernels' PTX finds its place in grids that no test can run whole: up to 2^31 - 1 blocks, rows
 * beyond 2^31, rows of 2^30 numbers, places beyond 2^31 and 2^32 numbers and bytes in the slot and in the outputs. The
 * machine of tests/fake_cuda/ptx.h runs a few blocks of each: the first and last, those at and beside these bounds, and
 * some at random. What each number should be, and where, is reckoned here from what the rows hold, in 64 bits; nothing
 * else may be written. The bodies in C run the same blocks first.
 */
#include "device/cuda_image.h"
#include "huge_batch.h"
#include "t.h"

/* Each for all widths. */
static const struct huge_shape shapes[] = {
    /* 2^24 blocks; tables of heads and starts beyond 2^32 bytes */
    { .name = "many rows", .rows = ((uint64_t)1 << 28) + 5, .length = 100, .every = 64 },
    /* a row's number does not fit 31 bits */
    { .name = "rows of one number", .rows = UINT32_MAX, .length = 1, .every = 64 },
    { .name = "rows of one number apart", .rows = UINT32_MAX, .length = 1, .every = 64, .apart = true },
    /* as long as rows of a plan may be, of 2^18 tiles or more each, but for their last numbers */
    { .name = "long rows", .rows = 7, .length = ((uint64_t)1 << 30) - 3, .every = 64 },
    { .name = "long documents", .rows = 7, .length = (uint64_t)1 << 30, .every = 3u << 28, .apart = true },
    /* the largest grid: a block for each row, if numbers have 8 bytes */
    { .name = "all blocks", .rows = INT32_MAX, .length = 1026 },
    /* as many numbers as cu_seqlens can count */
    { .name = "all sequences", .rows = ((uint64_t)1 << 21) - 1, .length = 1024, .every = 64, .cu_seqlens = true },
};

/* ---- Blocks ---- */

/* What numbers of which rows are the block's: reckoned from what rows_device.h says of blocks, groups and tiles. */
struct part {
    uint64_t first_row, rows, begin, end;
};

static struct part part_of(const struct huge *g, uint64_t block, uint32_t number_bytes)
{
    uint64_t group = (uint64_t)1 << g->threads.group_bits, per_tile = group * ROWS_ROUNDS;
    struct part p = { block / g->threads.tiles * (ROWS_BLOCK / group), ROWS_BLOCK / group, 0, 0 };

    per_tile *= number_bytes ? 16 / number_bytes : 1;
    p.begin = block % g->threads.tiles * per_tile;
    p.end = p.begin + per_tile < g->shape->length ? p.begin + per_tile : g->shape->length;
    if (p.begin > p.end)
        p.begin = p.end;
    if (p.first_row + p.rows > g->shape->rows)
        p.rows = g->shape->rows > p.first_row ? g->shape->rows - p.first_row : 0;
    return p;
}

static void add_block(struct huge *g, uint64_t block)
{
    for (unsigned i = 0; i < g->some; i++)
        if (g->blocks[i] == block)
            return;
    if (block < g->block_count && g->some < MAX_BLOCKS)
        g->blocks[g->some++] = (uint32_t)block;
}

/* The block that makes a number of a row, and its neighbours. */
static void add_number(struct huge *g, uint64_t row, uint64_t i, uint32_t number_bytes)
{
    uint64_t group = (uint64_t)1 << g->threads.group_bits;
    uint64_t tile = i / (group * ROWS_ROUNDS * (number_bytes ? 16 / number_bytes : 1));
    uint64_t block = row / (ROWS_BLOCK / group) * g->threads.tiles + tile;

    if (row >= g->shape->rows)
        return;
    add_block(g, block);
    add_block(g, block + 1);
    if (block > 0)
        add_block(g, block - 1);
}

/* The first and the last, some at random, and those that meet a bound: of numbers, of their bytes, of bytes of tokens,
 * masks and starts. */
static void choose_blocks(struct huge *g, uint32_t number_bytes, uint64_t *random)
{
    const struct rows_layout *l = &g->job.layout;
    const uint64_t bounds[] = { (uint64_t)1 << 31, (uint64_t)1 << 32 };
    const uint64_t length = g->shape->length;

    g->some = 0;
    add_block(g, 0);
    add_block(g, g->block_count - 1);
    add_block(g, g->block_count / 2);
    for (unsigned b = 0; b < 2; b++) {
        const uint64_t numbers[] = { bounds[b], bounds[b] / g->job.number_bytes };

        for (unsigned i = 0; i < 2; i++)
            add_number(g, numbers[i] / length, numbers[i] % length, number_bytes);
        add_number(g, bounds[b] / l->width / l->token_width, bounds[b] / l->token_width % l->width, number_bytes);
        add_number(g, bounds[b] / l->mask_width, 0, number_bytes);
        add_number(g, bounds[b] / 16, 0, number_bytes); /* heads */
        add_number(g, bounds[b], 0, number_bytes);
    }
    add_number(g, g->shape->rows - 1, length - 1, number_bytes);
    for (unsigned i = 0; i < 4; i++)
        add_block(g, t_below(random, g->block_count));
}

static void say_blocks(const struct huge *g, uint32_t number_bytes)
{
    huge_say_head(g, g->shape->rows);
    for (unsigned i = 0; i < g->some; i++) {
        struct part p = part_of(g, g->blocks[i], number_bytes);

        for (uint64_t row = p.first_row; row < p.first_row + p.rows; row++)
            if (p.begin < p.end)
                huge_say_row(g, row, p.begin, p.end);
    }
}

/* ---- What comes out ---- */

struct number {
    uint64_t row, i;
    uint32_t length;
    bool loss; /* without the mask */
    uint8_t weight;
};

static struct number number_of(const struct huge *g, uint64_t row, uint64_t i)
{
    struct number n = { row, i, huge_length(g, row), false, 0 };

    n.loss = i < n.length && !huge_flagged(row) && !(g->shape->every && (i + 1) % g->shape->every == 0);
    n.weight = n.loss ? huge_mask(row, i + 1) : 0;
    return n;
}

static unsigned errors;

/* What should stand at place `at` of an output; that it was written, once, is taken back from what was. */
static void expect(struct huge *g, const void *field, uint64_t at, unsigned bytes, uint64_t value, bool written,
                   uint64_t *stored)
{
    for (unsigned i = 1; i < g->range_count; i++) {
        struct ptx_range *x = &g->ranges[i];
        uint64_t got = 0;

        if (x->memory != field)
            continue;
        memcpy(&got, x->memory + at * bytes, bytes);
        if (got != (bytes == 8 ? value : value & (((uint64_t)1 << 8 * bytes) - 1)) && errors++ < 3)
            T_FAIL("%s: number %llu of output %u is %llu instead of %llu", g->shape->name, (unsigned long long)at, i,
                   (unsigned long long)got, (unsigned long long)value);
        *stored += written ? bytes : 0;
    }
}

static void expect_first(struct huge *g, const struct number *n, uint64_t *stored)
{
    const struct rows_job *j = &g->job;
    const unsigned bytes = j->number_bytes;
    const uint64_t at = n->row * g->shape->length + n->i;
    const bool inside = n->i < n->length;
    const uint64_t every = g->shape->every ? g->shape->every : 1;
    const uint64_t document = inside ? n->i / every : n->length > 0 ? (n->length - 1) / every + 1 : 0;
    const uint64_t begin = inside ? n->i / every * every : n->length;

    expect(g, j->inputs, at, bytes, inside ? huge_token(g, n->row, n->i) : 77, true, stored);
    expect(g, j->labels, at, bytes, n->loss ? huge_token(g, n->row, n->i + 1) : (uint64_t)-100, true, stored);
    expect(g, j->loss_mask, at, 1, n->loss, true, stored);
    expect(g, j->position_ids, at, bytes, n->i - begin, true, stored);
    expect(g, j->document_ids, at, bytes, document, true, stored);
    expect(g, j->attention_mask, at, 1, inside || n->length == 0, true, stored);
    expect(g, j->source_ids, at, bytes, inside ? (uint64_t)huge_source(n->row) : (uint64_t)-1, true, stored);
    if (j->cu_seqlens && n->i == begin)
        expect(g, j->cu_seqlens, huge_stretches(g, n->row) + document, 4, at, true, stored);
}

static void expect_second(struct huge *g, const struct number *n, uint64_t *stored)
{
    const struct rows_job *j = &g->job;
    const uint64_t at = n->row * g->shape->length + n->i;
    const bool out = n->weight == 0;
    float weight = (float)((double)((float)n->weight / 255) * (double)huge_source_weight(n->row));
    uint32_t bits;

    memcpy(&bits, &weight, 4);
    expect(g, j->loss_weights, at, 4, bits, true, stored);
    expect(g, j->labels, at, j->number_bytes, out ? (uint64_t)-100 : 1, out, stored);
    expect(g, j->loss_mask, at, 1, out ? 0 : 1, out, stored);
}

/* Leaves labels and masks as the first pass might have; or looks at what came out, and returns its bytes. */
static uint64_t go_through(struct huge *g, uint32_t number_bytes, bool look)
{
    struct rows_job *j = &g->job;
    uint64_t stored = 0;

    for (unsigned b = 0; b < g->some; b++) {
        struct part p = part_of(g, g->blocks[b], number_bytes);

        for (uint64_t k = 0; k < p.rows * (p.end - p.begin); k++) {
            struct number n = number_of(g, p.first_row + k / (p.end - p.begin), p.begin + k % (p.end - p.begin));
            uint64_t at = n.row * g->shape->length + n.i;

            if (look && number_bytes)
                expect_first(g, &n, &stored);
            else if (look)
                expect_second(g, &n, &stored);
            else if (j->labels && j->number_bytes == 8)
                ((int64_t *)j->labels)[at] = j->loss_mask[at] = 1;
            else if (j->labels)
                ((int32_t *)j->labels)[at] = j->loss_mask[at] = 1;
            else
                j->loss_mask[at] = 1;
        }
        for (uint64_t k = 0; look && number_bytes && j->cu_seqlens && k < 2 * ROWS_BLOCK; k++)
            expect(g, j->cu_seqlens,
                   huge_stretches(g, g->shape->rows) + k / ROWS_BLOCK * g->block_count * ROWS_BLOCK +
                       (uint64_t)g->blocks[b] * ROWS_BLOCK + k % ROWS_BLOCK,
                   4, g->shape->rows * g->shape->length, true, &stored);
    }
    return stored;
}

/* ---- Running ---- */

static void run_bodies(struct huge *g, uint32_t token_width, uint32_t number_bytes)
{
    for (unsigned i = 0; i < g->some; i++)
        for (uint32_t k = 0; k < ROWS_BLOCK; k++)
            rows_do_thread(&g->job, g->threads, g->blocks[i], (uint32_t)g->block_count, k, token_width, number_bytes);
}

static void run_ptx(struct huge *g, const struct ptx_kernel *kernel, uint64_t *stored)
{
    struct ptx_launch launch = { .parameters = { (const uint8_t *)&g->job, (const uint8_t *)&g->threads },
                                 .ranges = g->ranges,
                                 .range_count = g->range_count,
                                 .blocks = (unsigned)g->block_count,
                                 .threads = ROWS_BLOCK,
                                 .some = g->blocks,
                                 .some_count = g->some,
                                 .stored = stored };
    uint64_t steps = 0;
    char why[256];

    if (!ptx_run(kernel, &launch, &steps, why, sizeof why))
        T_FAIL("%s: %s", g->shape->name, why);
}

/* Widths of 0: the second pass. A grid that the host would not start (backend_cuda.c) is left out. */
static void try_pass(struct huge *g, const struct ptx_kernel *kernels, uint32_t token_width, uint32_t number_bytes,
                     uint64_t *random)
{
    char name[32] = "leat_rows_mask";
    uint64_t stored = 0;

    g->threads = rows_grid(&g->job, number_bytes, &g->block_count);
    if (g->block_count > INT32_MAX)
        return;
    if (number_bytes)
        snprintf(name, sizeof name, "leat_rows_%u_%u", token_width, number_bytes);
    choose_blocks(g, number_bytes, random);
    say_blocks(g, number_bytes);
    for (unsigned round = 0; round < 2; round++) {
        huge_forget(g);
        if (!number_bytes)
            go_through(g, 0, false);
        if (round == 0)
            run_bodies(g, token_width, number_bytes);
        else
            run_ptx(g, ptx_find(kernels, name), &stored);
        errors = 0;
        T_CHECK(go_through(g, number_bytes, true) == stored || round == 0);
    }
}

static bool try_shape(const struct huge_shape *s, const struct ptx_kernel *kernels, uint64_t *random)
{
    struct huge g = { .shape = s };
    bool open = huge_open(&g);

    if (open) {
        try_pass(&g, kernels, s->token_width, s->number_bytes, random);
        try_pass(&g, kernels, 0, 0, random);
    }
    huge_close(&g);
    return open;
}

int main(void)
{
    uint64_t random = t_seed();
    char why[256];
    struct ptx_kernel *kernels = ptx_read(cuda_image_ptx, why, sizeof why);

    if (!kernels)
        T_FAIL("%s", why);
    for (unsigned i = 0; kernels && i < 4 * sizeof shapes / sizeof shapes[0]; i++) {
        struct huge_shape s = shapes[i / 4];

        s.token_width = i & 1 ? 4 : 2;
        s.number_bytes = i & 2 ? 8 : 4;
        if (!try_shape(&s, kernels, &random)) {
            ptx_free(kernels);
            return t_skip("the system gives a process no address space of 2^46 bytes");
        }
    }
    ptx_free(kernels);
    return t_end();
}
