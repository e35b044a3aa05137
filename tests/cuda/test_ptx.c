/*
 * test_ptx.c: the PTX that ships, on the machine of tests/fake_cuda/ptx.h, writes what the kernels' bodies in C write,
 * byte for byte, over random jobs; and the machine sees it when the PTX is broken: each branch on the other condition,
 * each address moved, each load and store of another type. One of eight of these is tried, all with LEAT_TEST_EVERY=1.
 */
#include "device/cuda_image.h"
#include "fake_cuda/ptx.h"
#include "rows/rows_device.h"
#include "support/rows_made.h"
#include "t.h"

#define JOBS 96

/* A job, what the bodies make of it, and as the kernel gets it: all of the slot lies FAR behind its base there, so that
 * an offset of 32 bits is too short. */
#define FAR ((uint64_t)1 << 33)
struct tried {
    struct rows_made made;
    uint64_t slot[4096];
    struct rows_job job;
    struct ptx_range ranges[1 + ROWS_OUTPUT_COUNT];
    unsigned range_count, passes;
    struct pass {
        struct rows_grid grid;
        unsigned blocks;
        char kernel[32];
        uint8_t expected[ROWS_OUTPUT_COUNT][8 * 4096]; /* after it */
    } pass[2];
};
static struct tried jobs[JOBS];

/* Gives the kernel memory `by` bytes behind a multiple of 16, or nothing. */
static void *give(struct tried *t, void *memory, size_t bytes, size_t by)
{
    struct ptx_range *x = &t->ranges[t->range_count];

    *x = (struct ptx_range) { 0x500000000u * (1 + t->range_count) + by, bytes, memory, t->range_count > 0 };
    t->range_count++;
    return (void *)(uintptr_t)x->address;
}

static void move_slot(struct tried *t)
{
    struct rows_layout *l = &t->job.layout;
    size_t *const places[] = { &l->tokens_at, &l->lengths_at, &l->flags_at, &l->starts_at,
                               &l->marks_at,  &l->heads_at,   &l->masks_at };

    memcpy(t->slot, t->made.slot, sizeof t->slot);
    for (uint32_t row = 0; l->rows_at && row < l->rows; row++)
        t->slot[l->rows_at / 8 + row] += FAR;
    for (unsigned i = 0; i < sizeof places / sizeof places[0]; i++)
        *places[i] += *places[i] > 0 || places[i] == &l->tokens_at ? FAR : 0;
    l->rows_at += l->rows_at ? FAR : 0;
    t->job.base = (const uint8_t *)((uintptr_t)give(t, t->slot, sizeof t->slot, FAR) - FAR);
}

/* Adds a pass, and does it by the bodies. Widths of 0: the second. */
static void make_pass(struct tried *t, uint32_t token_width, uint32_t number_bytes)
{
    struct pass *p = &t->pass[t->passes++];
    uint64_t blocks;

    p->grid = rows_grid(&t->made.job, number_bytes, &blocks);
    p->blocks = (unsigned)blocks;
    for (uint64_t i = 0; i < blocks * ROWS_BLOCK; i++)
        rows_do_thread(&t->made.job, p->grid, (uint32_t)(i / ROWS_BLOCK), p->blocks, (uint32_t)(i % ROWS_BLOCK),
                       token_width, number_bytes);
    snprintf(p->kernel, sizeof p->kernel, "leat_rows_mask");
    if (number_bytes)
        snprintf(p->kernel, sizeof p->kernel, "leat_rows_%u_%u", token_width, number_bytes);
    memcpy(p->expected, t->made.outputs, sizeof p->expected);
}

static void make_job(struct tried *t, uint64_t *random)
{
    struct rows_job *j = &t->made.job;
    size_t numbers;

    rows_make(&t->made, random);
    numbers = (size_t)j->rows * j->length;
#define DROP(field, name, kind, documents)                                                                             \
    if (t_below(random, 5) == 0)                                                                                       \
        j->field = NULL;
    ROWS_OUTPUTS(DROP, DROP)
    memset(t->made.outputs, 0xa5, sizeof t->made.outputs);
    make_pass(t, j->layout.token_width, j->number_bytes);
    if (rows_has_mask_pass(j))
        make_pass(t, 0, 0);
    t->job = *j;
    move_slot(t);
#define GIVE(field, name, kind, documents)                                                                             \
    if (j->field)                                                                                                      \
        t->job.field = give(t, j->field, rows_output_bytes(kind, numbers, j->number_bytes, j->cu_seqlens_room),        \
                            kind == ROWS_MASK      ? t_below(random, 3)                                                \
                            : kind == ROWS_WEIGHTS ? 4 * t_below(random, 3)                                            \
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

    return kernel && kernel->parameters[0] == sizeof t->job && kernel->parameters[1] == sizeof p->grid &&
           ptx_run(kernel, &launch, &steps, why, room) && memcmp(p->expected, t->made.outputs, sizeof p->expected) == 0;
}

/* Whether the kernels do the job right; else `why`. */
static bool is_right(struct tried *t, const struct ptx_kernel *kernels, char *why, size_t room)
{
    bool ran = true;

    snprintf(why, room, "another output");
    memset(t->made.outputs, 0xa5, sizeof t->made.outputs);
    for (unsigned i = 0; ran && i < t->passes; i++)
        ran = run_pass(t, &t->pass[i], kernels, why, room);
    return ran;
}

static bool all_right(const char *text, char *why, size_t room)
{
    struct ptx_kernel *kernels = ptx_read(text, why, room);
    bool right = kernels != NULL;

    for (unsigned i = 0; right && i < JOBS; i++)
        right = is_right(&jobs[i], kernels, why, room);
    ptx_free(kernels);
    return right;
}

/* ---- Breaking it ---- */

/* What is put for something in a line that holds a word; each line by itself. */
static const struct {
    const char *line, *old, *new;
} breaks[] = {
    { "@%p", "@%p", "@!%p" },
    { "ld.param.u64", "u64", "u32" },
    { "ld.param", "]", "+4]" },
    { "ld.global.u32", "]", "+4]" },
    { "ld.global.u64", "u64", "u32" },
    { "ld.global.u8", "u8", "u16" },
    { "ld.global.u16", "u16", "u8" },
    { "st.global.u", "]", "+4]" },
    { "st.global.u32", "u32", "u16" },
    { "st.global.u64", "u64", "u32" },
    { "st.global.v", "]", "+8]" },
    { "st.global.v2.u64", "u64", "u32" },
    { "st.global.v4.u32", "u32", "u16" },
    { "setp.", ".lt.", ".ge." },
    { "setp.", ".eq.", ".ne." },
    { "selp.b32", "selp", "and" },
    { "mul", "mul", "add" },
};

/* A pointer that rows of padding load and never use, and a room that is below 2^32: shorter, they do no harm. */
static bool is_harmless(const char *line, size_t length, const char *new)
{
    return strcmp(new, "u32") == 0 &&
           (strncmp(line + length - 5, "-96];", 5) == 0 || strncmp(line + length - 6, "+120];", 6) == 0);
}

/* Every `every`-th line that a row of the table fits is broken by itself. */
static unsigned break_lines(unsigned row, unsigned every, unsigned *found)
{
    size_t room = strlen(cuda_image_ptx) + 64;
    char *text = malloc(room), why[256];
    unsigned broken = 0;

    for (const char *line = cuda_image_ptx; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        size_t length = strcspn(line, "\n");
        const char *has = strstr(line, breaks[row].line), *old = has ? strstr(has, breaks[row].old) : NULL;

        if (!old || old >= line + length || line[0] != '\t' || is_harmless(line, length, breaks[row].new) ||
            (*found)++ % every != 0)
            continue;
        broken++;
        snprintf(text, room, "%.*s%s%s", (int)(old - cuda_image_ptx), cuda_image_ptx, breaks[row].new,
                 old + strlen(breaks[row].old));
        if (all_right(text, why, sizeof why))
            T_FAIL("%s in place of %s is not seen: %.*s", breaks[row].new, breaks[row].old, (int)length, line);
    }
    free(text);
    return broken;
}

/* ---- What the machine itself sees ---- */

static void refused(const char *code, const char *sentence)
{
    char text[1024], why[256] = "";
    uint64_t numbers[2] = { 0 }, steps = 0, parameter = 0x1000;
    const struct ptx_range range = { 0x1000, sizeof numbers, (uint8_t *)numbers, false };
    struct ptx_launch launch = { { (const uint8_t *)&parameter }, &range, 1, 1, 1 };
    struct ptx_kernel *k;

    snprintf(text, sizeof text,
             ".visible .entry k(\n.param .align 8 .b8 p[8]\n)\n.maxntid 256, 1, 1\n{\n.reg .pred %%p<2>;\n"
             ".reg .b32 %%r<4>;\n.reg .b64 %%rd<4>;\nld.param.u64 %%rd1, [p];\nmov.u32 %%r1, 0;\n%s\nret;\n}\n",
             code);
    k = ptx_read(text, why, sizeof why);
    if (k)
        T_CHECK(!ptx_run(k, &launch, &steps, why, sizeof why) || !*sentence);
    T_CONTAINS(why, sentence);
    ptx_free(k);
}

static void refusals(void)
{
    refused("", "");
    refused("bar.sync 0;", "lacks bar.sync");
    refused("add.f32 %r1, %r1, %r1;", "lacks add.f32");
    refused("add.s64 %rd2, %rd1, %r1;", "%r1 has 32 bits");
    refused("add.s32 %r2, %r1, %r4;", "%r4 is not declared");
    refused("add.s32 %r2, %r1;", "an operand is missing");
    refused("add.s32 %r2, %r1, %r1, %r1;", "too many operands");
    refused("bra $here;", "there is no label $here");
    refused("add.s32 %r2, %r1, %r3;", "nothing was written to");
    refused("@%p1 bra $end;\n$end:", "was never set");
    refused("div.u32 %r2, %r1, %r1;", "divides by zero");
    refused("ld.param.u32 %r2, [p+8];", "in no parameter");
    refused("ld.global.u64 %rd2, [%rd1+4];", "not aligned");
    refused("ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%rd1+8];", "not aligned");
    refused("ld.global.u32 %r2, [%rd1+16];", "not what it may read");
    refused("ld.global.u32 %r2, [%rd1+-4];", "not what it may read");
    refused("st.global.u32 [%rd1], %r1;", "not what it may write");
    refused("$here:\nbra.uni $here;", "does not end");
}

int main(void)
{
    const char *every = getenv("LEAT_TEST_EVERY");
    unsigned broken = 0, found = 0;
    uint64_t random = t_seed();
    char why[256];

    for (unsigned i = 0; i < JOBS; i++)
        make_job(&jobs[i], &random);
    if (!all_right(cuda_image_ptx, why, sizeof why))
        T_FAIL("%s", why);
    refusals();
    for (unsigned row = 0; row < sizeof breaks / sizeof breaks[0]; row++)
        broken += break_lines(row, every ? (unsigned)strtoul(every, NULL, 10) : 8, &found);
    T_CHECK(broken >= 30);
    return t_end();
}
