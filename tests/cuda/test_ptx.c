/*
 * test_ptx.c: the PTX that ships, on the machine of tests/fake_cuda/ptx.h, writes what the kernels' bodies in C write,
 * byte for byte, over random jobs; and the machine sees it when the PTX is broken: each branch on the other condition,
 * each address moved, each load and store of another type. One of eight of these is tried, all by make check-every.
 * A struct of parameters that only the host has changed is seen, too: each field moved, or exchanged with the next.
 */
#include "device/cuda_image.h"
#include "ptx_tried.h"
#include "rows/rows_device.h"
#include "t.h"

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
    bool readable;

    for (const char *line = cuda_image_ptx; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        size_t length = strcspn(line, "\n");
        const char *has = strstr(line, breaks[row].line), *old = has ? strstr(has, breaks[row].old) : NULL;

        if (!old || old >= line + length || line[0] != '\t' || is_harmless(line, length, breaks[row].new) ||
            (*found)++ % every != 0)
            continue;
        broken++;
        snprintf(text, room, "%.*s%s%s", (int)(old - cuda_image_ptx), cuda_image_ptx, breaks[row].new,
                 old + strlen(breaks[row].old));
        if (ptx_tried_text(text, &readable, why, sizeof why))
            T_FAIL("%s in place of %s is not seen: %.*s", breaks[row].new, breaks[row].old, (int)length, line);
    }
    free(text);
    return broken;
}

/* ---- The parameters ---- */

#define FIELD(parameter, type, field)                                                                                  \
    {                                                                                                                  \
        parameter, offsetof(type, field), sizeof(((type *)NULL)->field), #field                                        \
    }
static const struct {
    unsigned parameter;
    size_t at, bytes;
    const char *name;
} fields[] = {
    FIELD(0, struct rows_job, base),
    FIELD(0, struct rows_job, layout.rows),
    FIELD(0, struct rows_job, layout.width),
    FIELD(0, struct rows_job, layout.token_width),
    FIELD(0, struct rows_job, layout.start_words),
    FIELD(0, struct rows_job, layout.tokens_at),
    FIELD(0, struct rows_job, layout.lengths_at),
    FIELD(0, struct rows_job, layout.flags_at),
    FIELD(0, struct rows_job, layout.starts_at),
    FIELD(0, struct rows_job, layout.marks_at),
    FIELD(0, struct rows_job, layout.heads_at),
    FIELD(0, struct rows_job, layout.rows_at),
    FIELD(0, struct rows_job, layout.masks_at),
    FIELD(0, struct rows_job, layout.mask_width),
    FIELD(0, struct rows_job, layout.own_labels),
    FIELD(0, struct rows_job, rows),
    FIELD(0, struct rows_job, length),
    FIELD(0, struct rows_job, number_bytes),
    FIELD(0, struct rows_job, unshifted),
    FIELD(0, struct rows_job, mask_first),
    FIELD(0, struct rows_job, pad),
    FIELD(0, struct rows_job, cu_seqlens_room),
#define OUTPUT(field, name, kind, documents) FIELD(0, struct rows_job, field),
    ROWS_OUTPUTS(OUTPUT, OUTPUT)
#undef OUTPUT
        FIELD(1, struct rows_grid, group_bits),
    FIELD(1, struct rows_grid, tiles),
};

/* (The last field of a struct cannot be further back in one of the same size; another size is seen by itself.) */
static void try_layout(const struct ptx_kernel *kernels, size_t field, bool trade)
{
    const struct ptx_tried_layout layout = { fields[field].parameter, fields[field].at, fields[field].bytes, trade };
    char why[256];

    if (ptx_tried_right(kernels, &layout, why, sizeof why))
        T_FAIL("it is not seen that %s is %s", fields[field].name, trade ? "where the next field is" : "further back");
}

static void break_layout(void)
{
    const size_t count = sizeof fields / sizeof fields[0];
    size_t known[2] = { 0, 0 };
    char why[256];
    struct ptx_kernel *kernels = ptx_read(cuda_image_ptx, why, sizeof why);

    for (size_t i = 0; kernels && i < count; i++) {
        T_EQ(fields[i].at, known[fields[i].parameter]); /* the list has every field */
        known[fields[i].parameter] += fields[i].bytes;
        if (i + 1 == count || fields[i + 1].parameter != fields[i].parameter)
            continue;
        try_layout(kernels, i, false);
        if (fields[i + 1].bytes == fields[i].bytes)
            try_layout(kernels, i, true);
    }
    T_EQ(known[0], sizeof(struct rows_job));
    T_EQ(known[1], sizeof(struct rows_grid));
    ptx_free(kernels);
}

/* ---- What the machine itself sees ---- */

static void refused(const char *code, const char *sentence)
{
    char text[1024], why[256] = "";
    uint64_t numbers[2] = { 0 }, steps = 0, parameter = 0x1000;
    uint8_t written[sizeof numbers] = { 0 };
    const struct ptx_range ranges[] = {
        { .address = 0x1000, .bytes = sizeof numbers, .memory = (uint8_t *)numbers },
        { .address = 0x2000, .bytes = 16, .memory = (uint8_t *)numbers, .writable = true, .written = written },
    };
    struct ptx_launch launch = {
        .parameters = { (const uint8_t *)&parameter }, .ranges = ranges, .range_count = 2, .blocks = 1, .threads = 2
    };
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
    refused("add.b32 %r1, %r1, %r1;", "lacks add.b32");
    refused("setp.lt.b32 %p1, %r1, %r1;", "lacks setp.lt.b32");
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
    refused("st.global.u32 [%rd1+4096], %r1;", "is written twice");
    refused(
        "mov.u32 %r2, %tid.x;\nmul.wide.u32 %rd2, %r2, 4;\nadd.s64 %rd3, %rd1, %rd2;\nst.global.u32 [%rd3+4096], %r2;",
        "");
    refused("$here:\nbra.uni $here;", "does not end");
}

int main(void)
{
    unsigned broken = 0, found = 0;
    uint64_t random = t_seed();
    char why[256];
    bool readable;

    ptx_tried_make(&random);
    if (!ptx_tried_text(cuda_image_ptx, &readable, why, sizeof why))
        T_FAIL("%s", why);
    refusals();
    break_layout();
    for (unsigned row = 0; row < sizeof breaks / sizeof breaks[0]; row++)
        broken += break_lines(row, t_step(8), &found);
    T_CHECK(broken >= 30);
    return t_end();
}
