/*
 * test_ptx_grids.c: the kernels' PTX finds its place in grids that no test can run whole: up to 2^31 - 1 blocks, rows
 * beyond 2^31, rows of 2^30 numbers, places beyond 2^31 and 2^32 numbers and bytes in the slot and in the outputs. The
 * machine of tests/fake_cuda/ptx.h runs a few blocks of each: the first and last, those at and beside these bounds, and
 * some at random. Each number is compared with its definition (rows_body.h), whose place is reckoned here, in 64 bits;
 * nothing else may be written. The bodies in C run the same blocks first.
 *
 * Slot and outputs are as large as the batch would be, mapped without memory behind them: only the pages that these
 * blocks touch come to be.
 */
#include <sys/mman.h>

#include "device/cuda_image.h"
#include "fake_cuda/ptx.h"
#include "rows/rows_device.h"
#include "t.h"

#define MAX_BLOCKS 64

struct shape {
    const char *name;
    uint64_t rows, length;
    uint32_t every; /* a document begins at each so many tokens of a row; 0: outputs that need documents are not made */
    bool cu_seqlens, apart; /* apart: rows lie apart */
    uint32_t token_width, number_bytes;
};

/* Each for all widths. */
static const struct shape shapes[] = {
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

/* ---- Memory ---- */

static uint8_t *map(uint64_t bytes)
{
    void *memory =
        mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

struct grid {
    const struct shape *shape;
    struct rows_job job;
    uint8_t *slot;
    uint64_t slot_bytes;
    struct ptx_range ranges[1 + ROWS_OUTPUT_COUNT];
    unsigned range_count;
    struct rows_grid threads;
    uint64_t block_count;
    uint32_t blocks[MAX_BLOCKS];
    unsigned some;
};

/* How many stretches lie before a row: room for its documents and its padding. */
static uint64_t stretches_before(const struct grid *g, uint64_t row)
{
    return row * (g->shape->length / g->shape->every + 2);
}

static uint64_t place(uint64_t *end, uint64_t bytes)
{
    uint64_t at = (*end + 63) / 64 * 64;

    *end = at + bytes;
    return at;
}

static void lay_out(struct grid *g)
{
    const struct shape *s = g->shape;
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

static bool is_wanted(const struct grid *g, enum rows_output_kind kind, bool documents, const void *field)
{
    if (kind == ROWS_SEQUENCES)
        return g->shape->cu_seqlens;
    if (documents)
        return g->shape->every;
    /* with all blocks two outputs are as much memory as a process can address */
    return g->shape->length * g->shape->rows < (uint64_t)1 << 40 || field == (const void *)&g->job.inputs ||
           field == (const void *)&g->job.loss_mask;
}

static bool add_range(struct grid *g, uint64_t bytes, void **memory, bool writable)
{
    struct ptx_range *x = &g->ranges[g->range_count++];

    *x = (struct ptx_range) { .bytes = (size_t)bytes, .memory = map(bytes), .writable = writable };
    x->written = writable ? map(bytes) : NULL;
    x->address = (uintptr_t)x->memory;
    *memory = x->memory;
    return x->memory && (!writable || x->written);
}

static bool open_grid(struct grid *g)
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
                             .pad = 77 };
    lay_out(g);
    g->threads = rows_grid(j, j->number_bytes, &blocks);
    /* each thread fills two places after the last stretch */
    j->cu_seqlens_room = g->shape->every ? stretches_before(g, g->shape->rows) + 2 * blocks * ROWS_BLOCK : 0;
    ok = add_range(g, g->slot_bytes, &memory, false);
    j->base = memory;
#define GIVE(field, name, kind, needs)                                                                                 \
    if (ok && is_wanted(g, kind, needs, &j->field)) {                                                                  \
        ok = add_range(g, rows_output_bytes(kind, numbers, j->number_bytes, j->cu_seqlens_room), &memory, true);       \
        j->field = memory;                                                                                             \
    }
    ROWS_OUTPUTS(GIVE, GIVE)
#undef GIVE
    return ok;
}

static void close_grid(struct grid *g)
{
    for (unsigned i = 0; i < g->range_count; i++) {
        if (g->ranges[i].memory)
            munmap(g->ranges[i].memory, g->ranges[i].bytes);
        if (g->ranges[i].written)
            munmap(g->ranges[i].written, g->ranges[i].bytes);
    }
}

/* As if no block had run. */
static void forget(struct grid *g)
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
static uint32_t length_of(const struct grid *g, uint64_t row)
{
    return (uint32_t)g->shape->length - (hash(row, 1) % 4 == 0);
}

static uint32_t token_of(const struct grid *g, uint64_t row, uint64_t i)
{
    return hash(row, i + 5) >> 1 & (g->shape->token_width == 2 ? 0xffff : UINT32_MAX);
}

static bool is_flagged(uint64_t row)
{
    return hash(row, 4) % 8 == 0;
}

static uint8_t mask_of(uint64_t row, uint64_t i)
{
    return (uint8_t)(hash(row, i + 6) % 3 ? hash(row, i + 7) : 0);
}

static void say_head(const struct grid *g, uint64_t row)
{
    const struct rows_layout *l = &g->job.layout;
    struct rows_head *h = (struct rows_head *)(void *)(g->ranges[0].memory + l->heads_at);
    uint32_t shorter = hash(row, 3) % 1000;

    if (g->shape->every) /* `filled` is for outputs that are longer than any row */
        h[row] = (struct rows_head) { (uint32_t)stretches_before(g, row) - shorter, shorter, hash(row, 2), 0 };
}

/* Row `row`, and all that is needed to make its numbers from `begin` to `end`. */
static void say_row(const struct grid *g, uint64_t row, uint64_t begin, uint64_t end)
{
    const struct rows_layout *l = &g->job.layout;
    uint8_t *base = g->ranges[0].memory;
    uint64_t tokens = l->tokens_at + row * l->width * l->token_width;

    ((uint32_t *)(void *)(base + l->lengths_at))[row] = length_of(g, row);
    base[l->flags_at + row] = is_flagged(row);
    if (l->rows_at) { /* exchanged with a row far away */
        tokens = l->tokens_at + (g->shape->rows - 1 - row) * l->width * l->token_width;
        ((uint64_t *)(void *)(base + l->rows_at))[row] = tokens;
    }
    say_head(g, row);
    for (uint64_t i = begin; i <= end; i++) {
        uint32_t token = token_of(g, row, i);

        for (uint32_t k = 0; k < l->token_width; k++)
            base[tokens + i * l->token_width + k] = (uint8_t)(token >> 8 * k);
        base[l->masks_at + row * l->mask_width + i] = mask_of(row, i);
    }
    for (uint64_t word = begin / 64; g->shape->every && word <= end / 64; word++) {
        uint64_t at = row * l->start_words + word, first = word * 64;
        struct rows_mark *marks = (struct rows_mark *)(void *)(base + l->marks_at);

        /* what came before the word; token 0 is none of its documents */
        marks[at].begin = first ? (uint32_t)((first - 1) / g->shape->every * g->shape->every) : 0;
        marks[at].documents = first ? (uint32_t)((first - 1) / g->shape->every) : 0;
        for (uint64_t i = first; i < first + 64 && i <= length_of(g, row); i++)
            if (i % g->shape->every == 0)
                ((uint64_t *)(void *)(base + l->starts_at))[at] |= (uint64_t)1 << i % 64;
    }
}

/* ---- Blocks ---- */

/* What numbers of which rows are the block's: reckoned from what rows_device.h says of blocks, groups and tiles. */
struct part {
    uint64_t first_row, rows, begin, end;
};

static struct part part_of(const struct grid *g, uint64_t block, uint32_t number_bytes)
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

static void add_block(struct grid *g, uint64_t block)
{
    for (unsigned i = 0; i < g->some; i++)
        if (g->blocks[i] == block)
            return;
    if (block < g->block_count && g->some < MAX_BLOCKS)
        g->blocks[g->some++] = (uint32_t)block;
}

/* The block that makes a number of a row, and its neighbours. */
static void add_number(struct grid *g, uint64_t row, uint64_t i, uint32_t number_bytes)
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
static void choose_blocks(struct grid *g, uint32_t number_bytes, uint64_t *random)
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

static void say_blocks(const struct grid *g, uint32_t number_bytes)
{
    say_head(g, g->shape->rows);
    for (unsigned i = 0; i < g->some; i++) {
        struct part p = part_of(g, g->blocks[i], number_bytes);

        for (uint64_t row = p.first_row; row < p.first_row + p.rows; row++)
            if (p.begin < p.end)
                say_row(g, row, p.begin, p.end);
    }
}

/* ---- What comes out ---- */

struct number {
    uint64_t row, i;
    uint32_t length;
    bool loss; /* without the mask */
    uint8_t weight;
};

static struct number number_of(const struct grid *g, uint64_t row, uint64_t i)
{
    struct number n = { row, i, length_of(g, row), false, 0 };

    n.loss = i < n.length && !is_flagged(row) && !(g->shape->every && (i + 1) % g->shape->every == 0);
    n.weight = n.loss ? mask_of(row, i + 1) : 0;
    return n;
}

static unsigned errors;

/* What should stand at place `at` of an output; that it was written, once, is taken back from what was. */
static void expect(struct grid *g, const void *field, uint64_t at, unsigned bytes, uint64_t value, bool written,
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

static void expect_first(struct grid *g, const struct number *n, uint64_t *stored)
{
    const struct rows_job *j = &g->job;
    const unsigned bytes = j->number_bytes;
    const uint64_t at = n->row * g->shape->length + n->i;
    const bool inside = n->i < n->length;
    const uint64_t every = g->shape->every ? g->shape->every : 1;
    const uint64_t document = inside ? n->i / every : n->length > 0 ? (n->length - 1) / every + 1 : 0;
    const uint64_t begin = inside ? n->i / every * every : n->length;

    expect(g, j->inputs, at, bytes, inside ? token_of(g, n->row, n->i) : 77, true, stored);
    expect(g, j->labels, at, bytes, n->loss ? token_of(g, n->row, n->i + 1) : (uint64_t)-100, true, stored);
    expect(g, j->loss_mask, at, 1, n->loss, true, stored);
    expect(g, j->position_ids, at, bytes, n->i - begin, true, stored);
    expect(g, j->document_ids, at, bytes, document, true, stored);
    expect(g, j->attention_mask, at, 1, inside || n->length == 0, true, stored);
    if (j->cu_seqlens && n->i == begin)
        expect(g, j->cu_seqlens, stretches_before(g, n->row) + document, 4, at, true, stored);
}

static void expect_second(struct grid *g, const struct number *n, uint64_t *stored)
{
    const struct rows_job *j = &g->job;
    const uint64_t at = n->row * g->shape->length + n->i;
    const bool out = n->weight == 0;
    float weight = (float)n->weight / 255;
    uint32_t bits;

    memcpy(&bits, &weight, 4);
    expect(g, j->loss_weights, at, 4, bits, true, stored);
    expect(g, j->labels, at, j->number_bytes, out ? (uint64_t)-100 : 1, out, stored);
    expect(g, j->loss_mask, at, 1, out ? 0 : 1, out, stored);
}

/* Leaves labels and masks as the first pass might have; or looks at what came out, and returns how many bytes that is. */
static uint64_t go_through(struct grid *g, uint32_t number_bytes, bool look)
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
                   stretches_before(g, g->shape->rows) + k / ROWS_BLOCK * g->block_count * ROWS_BLOCK +
                       (uint64_t)g->blocks[b] * ROWS_BLOCK + k % ROWS_BLOCK,
                   4, g->shape->rows * g->shape->length, true, &stored);
    }
    return stored;
}

/* ---- Running ---- */

static void run_bodies(struct grid *g, uint32_t token_width, uint32_t number_bytes)
{
    for (unsigned i = 0; i < g->some; i++)
        for (uint32_t k = 0; k < ROWS_BLOCK; k++)
            rows_do_thread(&g->job, g->threads, g->blocks[i], (uint32_t)g->block_count, k, token_width, number_bytes);
}

static void run_ptx(struct grid *g, const struct ptx_kernel *kernel, uint64_t *stored)
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
static void try_pass(struct grid *g, const struct ptx_kernel *kernels, uint32_t token_width, uint32_t number_bytes,
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
        forget(g);
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

static bool try_shape(const struct shape *s, const struct ptx_kernel *kernels, uint64_t *random)
{
    struct grid g = { .shape = s };
    bool open = open_grid(&g);

    if (open) {
        try_pass(&g, kernels, s->token_width, s->number_bytes, random);
        try_pass(&g, kernels, 0, 0, random);
    }
    close_grid(&g);
    return open;
}

/* The PTX that ships, or that of a file: make mutants-ptx names one. */
static const char *find_text(const char *path)
{
    static char text[1 << 20];
    FILE *f = path ? fopen(path, "r") : NULL;

    if (!path)
        return cuda_image_ptx;
    text[f ? fread(text, 1, sizeof text - 1, f) : 0] = '\0';
    if (f)
        fclose(f);
    return text;
}

int main(int argc, char **argv)
{
    uint64_t random = t_seed();
    char why[256];
    struct ptx_kernel *kernels = ptx_read(find_text(argc > 1 ? argv[1] : NULL), why, sizeof why);

    if (!kernels)
        T_FAIL("%s", why);
    for (unsigned i = 0; kernels && i < 4 * sizeof shapes / sizeof shapes[0]; i++) {
        struct shape s = shapes[i / 4];

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
