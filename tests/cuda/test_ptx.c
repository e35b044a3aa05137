/*
 * test_ptx.c: the PTX that ships, on the machine of tests/fake_cuda/ptx.h, writes what the kernels' bodies in C write,
 * byte for byte, over random jobs. Every job has its own mix of outputs, widths and grid.
 */
#include "device/cuda_image.h"
#include "fake_cuda/ptx.h"
#include "rows/rows_device.h"
#include "support/rows_made.h"
#include "t.h"

#define JOBS 192

/* A job, what the bodies make of it, and as the kernel gets it: all of the slot lies FAR behind its base there, so that
 * an offset of 32 bits is too short. */
#define FAR ((uint64_t)1 << 33)
struct tried {
    struct rows_made made;
    uint64_t slot[4096];
    struct rows_job job;
    struct ptx_range ranges[1 + ROWS_OUTPUT_COUNT];
    uint8_t written[ROWS_OUTPUT_COUNT][ROWS_MADE_BYTES]; /* by a pass */
    unsigned range_count, passes;
    struct pass {
        struct rows_grid grid;
        unsigned blocks;
        char kernel[32];
        uint8_t expected[ROWS_OUTPUT_COUNT][ROWS_MADE_BYTES]; /* after it */
    } pass[2];
};
static struct tried job;

/* Gives the kernel memory `by` bytes behind a multiple of 16, or nothing. */
static void *give(struct tried *t, void *memory, size_t bytes, size_t by)
{
    struct ptx_range *x = &t->ranges[t->range_count];

    *x = (struct ptx_range) { .address = 0x500000000u * (1 + t->range_count) + by, .bytes = bytes, .memory = memory };
    x->writable = t->range_count > 0;
    x->written = x->writable ? t->written[t->range_count - 1] : NULL;
    t->range_count++;
    return (void *)(uintptr_t)x->address;
}

static void move_slot(struct tried *t)
{
    struct rows_layout *l = &t->job.layout;
    size_t *const places[] = { &l->tokens_at,         &l->lengths_at,  &l->flags_at, &l->starts_at,
                               &l->marks_at,          &l->heads_at,    &l->masks_at, &l->sources_at,
                               &l->source_weights_at, &l->segments_at, &l->pool_at };

    memcpy(t->slot, t->made.slot, sizeof t->slot);
    for (uint32_t row = 0; l->rows_at && row < l->rows; row++)
        t->slot[l->rows_at / 8 + row] += FAR;
    for (unsigned i = 0; i < sizeof places / sizeof places[0]; i++)
        *places[i] += *places[i] > 0 || places[i] == &l->tokens_at ? FAR : 0;
    l->rows_at += l->rows_at ? FAR : 0;
    t->job.base = (const uint8_t *)((uintptr_t)give(t, t->slot, sizeof t->slot, FAR) - FAR);
}

/* The grid that the host would choose, or one of another group: with the few numbers of these rows, a row has several
 * tiles only in such ones. */
static struct rows_grid random_grid(const struct rows_job *j, uint32_t number_bytes, uint64_t *random, uint64_t *blocks)
{
    struct rows_grid g = rows_grid(j, number_bytes, blocks);
    uint32_t vectors = (j->length + rows_vector(number_bytes) - 1) / rows_vector(number_bytes), tile;

    if (t_below(random, 3) == 0)
        return g;
    g.group_bits = 3 + (uint32_t)t_below(random, 6);
    tile = ROWS_ROUNDS << g.group_bits;
    g.tiles = (vectors + tile - 1) / tile + (uint32_t)t_below(random, 2);
    g.tiles += g.tiles == 0;
    *blocks = ((uint64_t)j->rows + (ROWS_BLOCK >> g.group_bits) - 1) / (ROWS_BLOCK >> g.group_bits) * g.tiles;
    return g;
}

/* Adds a pass, and does it by the bodies. A width of tokens of 0: one that asks the job (ROWS_PASS_...). */
static void make_pass(struct tried *t, uint32_t token_width, uint32_t number_bytes, uint64_t *random)
{
    struct pass *p = &t->pass[t->passes++];
    uint64_t blocks;

    p->grid = random_grid(&t->made.job, number_bytes, random, &blocks);
    p->blocks = (unsigned)blocks;
    for (uint64_t i = 0; i < blocks * ROWS_BLOCK; i++)
        rows_do_thread(&t->made.job, p->grid, (uint32_t)(i / ROWS_BLOCK), p->blocks, (uint32_t)(i % ROWS_BLOCK),
                       token_width, number_bytes);
    snprintf(p->kernel, sizeof p->kernel, number_bytes == ROWS_PASS_MASK ? "leat_rows_mask" : "leat_rows_segments");
    if (token_width)
        snprintf(p->kernel, sizeof p->kernel, "leat_rows_%u_%u", token_width, number_bytes);
    memcpy(p->expected, t->made.outputs, sizeof p->expected);
}

/* As where a dataset says nothing of documents: outputs that need them are not made, and what would say where documents
 * begin is anything. */
static void forget_documents(struct rows_made *made, uint64_t *random)
{
    struct rows_job *j = &made->job;
    struct rows_layout *l = &j->layout;
    size_t words = (size_t)l->rows * l->start_words;

    for (size_t i = 0; i < words; i++)
        made->slot[l->starts_at / 8 + i] = made->slot[l->marks_at / 8 + i] = t_random(random);
    l->start_words = 0;
    l->marks_at = l->heads_at = l->starts_at = 0;
#define DROP(field, name, kind, documents)                                                                             \
    if (documents)                                                                                                     \
        j->field = NULL;
    ROWS_OUTPUTS(DROP, DROP)
#undef DROP
}

static void make_job(struct tried *t, uint64_t *random)
{
    struct rows_job *j = &t->made.job;
    bool segments = t_below(random, 3) == 0;
    size_t numbers;

    t->range_count = t->passes = 0;
    if (segments)
        rows_make_segments(&t->made, random);
    else
        rows_make(&t->made, random);
    numbers = (size_t)j->rows * j->length;
#define DROP(field, name, kind, documents)                                                                             \
    if (t_below(random, 5) == 0)                                                                                       \
        j->field = NULL;
    ROWS_OUTPUTS(DROP, DROP)
    if (!segments && t_below(random, 5) == 0)
        forget_documents(&t->made, random);
    memset(t->made.outputs, 0xa5, sizeof t->made.outputs);
    if (segments)
        make_pass(t, 0, ROWS_PASS_SEGMENTS, random);
    else
        make_pass(t, j->layout.token_width, j->number_bytes, random);
    if (!segments && rows_has_mask_pass(j))
        make_pass(t, 0, ROWS_PASS_MASK, random);
    t->job = *j;
    move_slot(t);
#define GIVE(field, name, kind, documents)                                                                             \
    if (j->field)                                                                                                      \
        t->job.field =                                                                                                 \
            give(t, j->field, rows_output_bytes(kind, numbers, j->number_bytes, j->cu_seqlens_room, j->layout.ahead),  \
                 kind == ROWS_MASK      ? t_below(random, 3)                                                           \
                 : kind == ROWS_WEIGHTS ? 4 * t_below(random, 3)                                                       \
                                        : 8 * t_below(random, 2));
    ROWS_OUTPUTS(GIVE, GIVE)
}

static bool run_pass(struct tried *t, const struct pass *p, const struct ptx_kernel *kernels, char *why, size_t room)
{
    const struct ptx_kernel *kernel = ptx_find(kernels, p->kernel);
    struct ptx_launch launch = { .parameters = { (const uint8_t *)&t->job, (const uint8_t *)&p->grid },
                                 .ranges = t->ranges,
                                 .range_count = t->range_count,
                                 .blocks = p->blocks,
                                 .threads = ROWS_BLOCK };
    uint64_t steps = 0;

    memset(t->written, 0, sizeof t->written);
    return kernel && kernel->parameters[0] == sizeof t->job && kernel->parameters[1] == sizeof p->grid &&
           ptx_run(kernel, &launch, &steps, why, room) && memcmp(p->expected, t->made.outputs, sizeof p->expected) == 0;
}

int main(void)
{
    uint64_t random = t_seed();
    char why[256];
    struct ptx_kernel *kernels = ptx_read(cuda_image_ptx, why, sizeof why);

    if (!kernels)
        T_FAIL("%s", why);
    for (unsigned i = 0; kernels && i < JOBS; i++) {
        make_job(&job, &random);
        memset(job.made.outputs, 0xa5, sizeof job.made.outputs);
        for (unsigned k = 0; k < job.passes; k++) {
            snprintf(why, sizeof why, "another output");
            if (!run_pass(&job, &job.pass[k], kernels, why, sizeof why))
                T_FAIL("job %u: %s: %s", i, job.pass[k].kernel, why);
        }
    }
    ptx_free(kernels);
    return t_end();
}
