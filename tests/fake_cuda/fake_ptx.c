/*
 * fake_ptx.c: the stand-in runs the PTX of its kernels itself, on the machine of ptx.h, before the bodies in C, and
 * compares all outputs byte by byte. This takes some hundred times as long as the bodies: a process runs kernels in PTX
 * until these have taken LEAT_TEST_PTX instructions (20000000; "all": no bound), the others as C only.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"
#include "ptx.h"

#define USUAL_STEPS      20000000
#define STEPS_PER_VECTOR 300 /* of 16 bytes, about */

struct text {
    char *text;
    struct ptx_kernel *kernels;
    struct text *next;
};

static struct text *texts; /* that were read; they stay */
static _Atomic uint64_t steps_taken, kernels_run;

const struct ptx_kernel *fake_ptx_read(const char *text)
{
    char why[256];
    struct text *t = texts;

    while (t && strcmp(t->text, text) != 0)
        t = t->next;
    if (t)
        return t->kernels;
    t = calloc(1, sizeof *t);
    if (!t)
        abort();
    t->text = strdup(text);
    t->kernels = ptx_read(text, why, sizeof why);
    t->next = texts;
    texts = t;
    if (!t->kernels)
        fake_offence("%s", why);
    return t->kernels;
}

uint64_t fake_ptx_kernels_run(void)
{
    return atomic_load(&kernels_run);
}

static uint64_t most_steps(void)
{
    const char *text = getenv("LEAT_TEST_PTX");

    if (!text || !*text)
        return USUAL_STEPS;
    return strcmp(text, "all") == 0 ? UINT64_MAX : strtoull(text, NULL, 10);
}

static bool may_take(const struct rows_job *j, const struct fake_work *w)
{
    uint64_t vectors = (uint64_t)j->rows * j->length * j->number_bytes / 16 + (uint64_t)w->blocks * ROWS_BLOCK / 8;
    uint64_t most = most_steps(), taken = atomic_load(&steps_taken);

    return most == UINT64_MAX || (taken < most && vectors * STEPS_PER_VECTOR <= most - taken);
}

/* What the kernel may touch: the slot, then the outputs, which are its job's; last, rows that lie apart. Returns how
 * many there are before those. */
static unsigned list_ranges(const struct fake_work *w, const struct rows_job *j, struct ptx_range *ranges)
{
    size_t numbers = (size_t)j->rows * j->length;
    unsigned n = 0;

    ranges[n++] = (struct ptx_range) { .address = (uintptr_t)w->job.base,
                                       .bytes = fake_kernel_slot_bytes(w),
                                       .memory = (uint8_t *)(uintptr_t)j->base };
#define RANGE(field, name, kind, documents)                                                                            \
    if (j->field)                                                                                                      \
        ranges[n++] = (struct ptx_range) { .address = (uintptr_t)w->job.field,                                         \
                                           .bytes = rows_output_bytes(kind, numbers, j->number_bytes,                  \
                                                                      j->cu_seqlens_room, j->layout.ahead),            \
                                           .memory = (uint8_t *)j->field,                                              \
                                           .writable = true };
    ROWS_OUTPUTS(RANGE, RANGE)
#undef RANGE
    for (uint32_t row = 0; j->layout.rows_at && row < j->layout.rows; row++) {
        struct ptx_range *r = &ranges[n + row];

        *r = (struct ptx_range) { .memory = (uint8_t *)(uintptr_t)rows_begin(j, row) };
        r->bytes = fake_kernel_row(w, j, row, &r->address);
    }
    return n;
}

/* Exchanges what the outputs hold for what `kept` holds. */
static void exchange(const struct ptx_range *outputs, unsigned count, uint8_t *kept)
{
    for (unsigned i = 0; i < count; kept += outputs[i++].bytes)
        for (size_t k = 0; k < outputs[i].bytes; k++) {
            uint8_t byte = kept[k];

            kept[k] = outputs[i].memory[k];
            outputs[i].memory[k] = byte;
        }
}

static void compare(const struct ptx_range *outputs, unsigned count, const uint8_t *made, const char *kernel)
{
    for (unsigned i = 0; i < count; made += outputs[i++].bytes)
        for (size_t k = 0; k < outputs[i].bytes; k++)
            if (made[k] != outputs[i].memory[k]) {
                fake_offence("%s: byte %zu of output %u is %u by the PTX and %u by the kernel's body in C", kernel, k,
                             i, made[k], outputs[i].memory[k]);
                return;
            }
}

void fake_ptx_run(const struct fake_work *w, const struct rows_job *j)
{
    struct ptx_range *ranges;
    struct ptx_launch launch = { .blocks = w->blocks, .threads = ROWS_BLOCK };
    unsigned outputs;
    const uint8_t *parameter = w->parameters;
    uint64_t steps = 0;
    size_t bytes = 0;
    uint8_t *kept, *written;
    char why[256];

    if (!may_take(j, w)) {
        fake_kernel_run(w, j);
        return;
    }
    ranges = calloc(1 + ROWS_OUTPUT_COUNT + (size_t)j->layout.rows, sizeof *ranges);
    if (!ranges)
        abort();
    outputs = list_ranges(w, j, ranges) - 1;
    launch.ranges = ranges;
    launch.range_count = 1 + outputs + (j->layout.rows_at ? j->layout.rows : 0);
    for (unsigned i = 0; i < w->kernel->parameter_count; parameter += w->kernel->parameters[i++])
        launch.parameters[i] = parameter;
    for (unsigned i = 1; i <= outputs; i++)
        bytes += ranges[i].bytes;
    kept = malloc(bytes + 1);
    written = calloc(1, bytes + 1);
    if (!kept || !written)
        abort();
    for (size_t at = 0, i = 1; i <= outputs; at += ranges[i++].bytes) {
        memcpy(kept + at, ranges[i].memory, ranges[i].bytes);
        ranges[i].written = written + at;
    }
    if (!ptx_run(w->kernel, &launch, &steps, why, sizeof why))
        fake_offence("%s", why);
    exchange(ranges + 1, outputs, kept);
    fake_kernel_run(w, j);
    compare(ranges + 1, outputs, kept, w->kernel->name);
    free(kept);
    free(written);
    free(ranges);
    atomic_fetch_add(&steps_taken, steps);
    atomic_fetch_add(&kernels_run, 1);
}
