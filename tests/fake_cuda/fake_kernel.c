/* fake_kernel.c: the stand-in's modules, and kernels by name: their PTX (fake_ptx.c) and the bodies of
 * src/rows/rows_device.h, thread after thread. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "device/cuda_image.h"
#include "fake.h"
#include "ptx.h"
#include "rows/rows_device.h"
#include "rows/rows_outputs.h"

#define MAX_GRID 0x7fffffffu
#define PAGE     4096u

struct cuda_module_of_driver {
    cuda_context context;
    const struct ptx_kernel *kernels;
    struct cuda_function_of_driver {
        cuda_module module;
        const struct ptx_kernel *kernel;
        unsigned token_width, number_bytes;
    } functions[6];
    unsigned count;
    struct cuda_module_of_driver *next;
};

static cuda_module modules;

unsigned fake_modules_live(void)
{
    unsigned n = 0;

    for (cuda_module m = modules; m; m = m->next)
        n++;
    return n;
}

unsigned fake_modules_drop(cuda_context context)
{
    unsigned n = 0;

    for (cuda_module *at = &modules; *at;) {
        cuda_module m = *at;

        if (m->context != context) {
            at = &m->next;
            continue;
        }
        *at = m->next;
        free(m);
        n++;
    }
    return n;
}

/* Text of PTX, or what fatbinary makes: that holds the same PTX, from which a driver compiles for GPUs that it has no
 * code of. */
cuda_result fake_module_load(cuda_module *module, const void *image)
{
    static const unsigned char fatbin[4] = { 0x50, 0xed, 0x55, 0xba };
    cuda_result r = fake_enter("cuModuleLoadData", FAKE_CONTEXT | FAKE_WAITS | FAKE_UNSAFE);
    cuda_module m;

    if (r != CUDA_OK)
        return r;
    if (memcmp(image, fatbin, 4) == 0)
        image = cuda_image_ptx;
    else if (!strstr(image, ".version 6.3\n"))
        return CUDA_INVALID_PTX;
    m = calloc(1, sizeof *m);
    if (!m)
        return CUDA_OUT_OF_MEMORY;
    m->context = fake_current();
    pthread_mutex_lock(&fake_lock);
    m->kernels = fake_ptx_read(image);
    m->next = modules;
    modules = m;
    pthread_mutex_unlock(&fake_lock);
    *module = m;
    return CUDA_OK;
}

cuda_result fake_module_unload(cuda_module module)
{
    cuda_result r = fake_enter("cuModuleUnload", FAKE_CONTEXT | FAKE_WAITS | FAKE_UNSAFE | FAKE_ENDS);
    cuda_module *at = &modules;

    if (r == CUDA_DEINITIALIZED)
        return r;
    pthread_mutex_lock(&fake_lock);
    while (*at && *at != module)
        at = &(*at)->next;
    if (*at) {
        *at = module->next;
        free(module);
    } else {
        fake_offence("a module is unloaded that is none, or was unloaded before");
    }
    pthread_mutex_unlock(&fake_lock);
    return r;
}

cuda_result fake_module_function(cuda_function *function, cuda_module module, const char *name)
{
    cuda_result r = fake_enter("cuModuleGetFunction", FAKE_CONTEXT);
    struct cuda_function_of_driver *f;

    if (r != CUDA_OK)
        return r;
    if (module->count == sizeof module->functions / sizeof module->functions[0])
        return CUDA_NOT_FOUND;
    f = &module->functions[module->count];
    f->kernel = ptx_find(module->kernels, name);
    f->token_width = 0; /* of passes that ask the job */
    f->number_bytes = strcmp(name, "leat_rows_segments") == 0 ? ROWS_PASS_SEGMENTS : ROWS_PASS_MASK;
    if (!f->kernel || (sscanf(name, "leat_rows_%u_%u", &f->token_width, &f->number_bytes) != 2 &&
                       strcmp(name, "leat_rows_mask") != 0 && strcmp(name, "leat_rows_segments") != 0))
        return CUDA_NOT_FOUND;
    f->module = module;
    module->count++;
    *function = f;
    return CUDA_OK;
}

cuda_result fake_function_attribute(int *value, cuda_function_attribute what, cuda_function function)
{
    cuda_result r = fake_enter("cuFuncGetAttribute", FAKE_CONTEXT | FAKE_WAITS);

    (void)what;
    (void)function;
    *value = 40;
    return r;
}

/* ---- Launching ---- */

/* One output, or a part of the slot: checked, and its pointer exchanged. */
static bool exchange(cuda_context context, void *pointer, size_t bytes, bool write, const struct fake_clock *clock,
                     unsigned index)
{
    void *shown;

    memcpy(&shown, pointer, sizeof shown);
    if (!shown || bytes == 0)
        return true;
    shown = fake_memory_at(context, (uintptr_t)shown, bytes, write, clock, index, "a kernel");
    memcpy(pointer, &shown, sizeof shown);
    return shown != NULL;
}

/* All bytes of the slot that the job may read: from its base to the end of what lies furthest behind; but for rows that
 * lie apart, whose places stand there. */
static size_t slot_bytes(const struct rows_job *j)
{
    const struct rows_layout *l = &j->layout;
    size_t together = l->tokens_at + (size_t)l->rows * l->width * l->token_width;
    size_t ends[] = { l->rows_at ? l->rows_at + 8 * (size_t)l->rows : together,
                      l->lengths_at + 4 * (size_t)l->rows,
                      l->flags_at + l->rows,
                      l->sources_at + 4 * (size_t)l->rows,
                      l->source_weights_at ? l->source_weights_at + 4 * (size_t)l->rows : 0,
                      l->starts_at + 8 * (size_t)l->rows * l->start_words,
                      l->marks_at ? l->heads_at + sizeof(struct rows_head) * ((size_t)l->rows + 1) : 0,
                      l->masks_at ? l->masks_at + (size_t)l->rows * l->mask_width : 0 };
    size_t max = 0;

    if (l->segments_at)
        return l->end;
    for (unsigned i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (ends[i] > max)
            max = ends[i];
    return max;
}

/* Of a row: one for the last label, and where documents have labels of their own, one for each but the last. */
static size_t tokens_of_row(const struct rows_job *translated, uint32_t row)
{
    struct rows_line r = rows_line(translated, row, translated->layout.token_width);
    bool own = translated->layout.own_labels && r.length > 0;

    return (size_t)r.length + 1 + (own ? rows_line_stretch(&r, r.length - 1).documents : 0);
}

/* ---- Rows that lie apart ---- */

/*
 * Where rows lie is written in the slot, from its base as the device knows it. The translated job gets a table of its
 * own, and behind it what was written.
 */
static bool place_rows(cuda_context context, const struct rows_job *job, struct rows_job *j, uint64_t **table)
{
    uint32_t rows = j->layout.rows;
    const uint64_t *written = (const uint64_t *)(const void *)(j->base + j->layout.rows_at);
    bool ok = true;

    *table = malloc(2 * (size_t)rows * sizeof **table + 1);
    if (!*table)
        abort();
    memcpy(*table, written, rows * sizeof **table);
    memcpy(*table + rows, written, rows * sizeof **table);
    j->layout.rows_at = (uintptr_t)*table - (uintptr_t)j->base;
    for (uint32_t row = 0; ok && row < rows; row++) {
        uintptr_t address = (uintptr_t)job->base + (uintptr_t)written[row];
        size_t bytes = tokens_of_row(j, row) * (size_t)j->layout.token_width;

        ok = fake_memory_at(context, address, bytes, false, NULL, 0, "a kernel") != NULL;
    }
    return ok;
}

size_t fake_kernel_row(const struct fake_work *w, const struct rows_job *j, uint32_t row, uint64_t *address)
{
    const uint64_t *table = (const uint64_t *)((uintptr_t)j->base + j->layout.rows_at);

    *address = (uintptr_t)w->job.base + table[j->layout.rows + row];
    return tokens_of_row(j, row) * (size_t)j->layout.token_width;
}

size_t fake_kernel_slot_bytes(const struct fake_work *w)
{
    return slot_bytes(&w->job);
}

/* What of the slot says how large it is is there only when the kernel runs (then there is no clock). */
bool fake_kernel_translate(cuda_context context, struct rows_job *j, const struct fake_clock *clock, unsigned index,
                           uint64_t **table)
{
    const struct rows_job job = *j;
    size_t numbers = (size_t)j->rows * j->length;
    bool ok = exchange(context, &j->base, slot_bytes(j), false, clock, index);

    if (ok && !clock && j->layout.rows_at)
        ok = place_rows(context, &job, j, table);
#define EXCHANGE(field, name, kind, documents)                                                                         \
    ok = ok && exchange(context, &j->field,                                                                            \
                        rows_output_bytes(kind, numbers, j->number_bytes, j->cu_seqlens_room, j->layout.ahead), true,  \
                        clock, index);
    ROWS_OUTPUTS(EXCHANGE, EXCHANGE)
#undef EXCHANGE
    return ok;
}

void fake_kernel_run(const struct fake_work *w, const struct rows_job *j)
{
    for (unsigned block = 0; block < w->blocks; block++)
        for (unsigned thread = 0; thread < ROWS_BLOCK; thread++)
            rows_do_thread(j, w->grid, block, w->blocks, thread, w->widths / 10, w->widths % 10);
}

/* As many bytes of each as the PTX says, whatever the host thinks. */
static bool take_parameters(struct fake_work *w, const struct ptx_kernel *kernel, void **parameters)
{
    size_t at = 0;

    w->kernel = kernel;
    for (unsigned i = 0; i < kernel->parameter_count; at += kernel->parameters[i++]) {
        if (kernel->parameters[i] > sizeof w->parameters - at)
            return false;
        memcpy(w->parameters + at, parameters[i], kernel->parameters[i]);
    }
    return true;
}

cuda_result fake_launch(cuda_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared_bytes, cuda_stream stream,
                        void **parameters, void **extra)
{
    cuda_result r = fake_enter("cuLaunchKernel", FAKE_CONTEXT);
    struct fake_work w = { .kind = FAKE_KERNEL, .blocks = grid_x };

    if (r != CUDA_OK)
        return r;
    if (grid_x == 0 || grid_x > MAX_GRID || grid_y != 1 || grid_z != 1 || block_x != ROWS_BLOCK || block_y != 1 ||
        block_z != 1 || shared_bytes != 0 || extra)
        return CUDA_INVALID_VALUE;
    if (function->module->context != fake_current())
        return CUDA_INVALID_HANDLE;
    if (!take_parameters(&w, function->kernel, parameters))
        return CUDA_INVALID_VALUE;
    memcpy(&w.job, parameters[0], sizeof w.job);
    memcpy(&w.grid, parameters[1], sizeof w.grid);
    w.widths = 10 * function->token_width + function->number_bytes;
    if ((w.job.layout.segments_at != 0) != (w.widths == ROWS_PASS_SEGMENTS))
        fake_offence("a kernel for rows in segments is started for others, or the other way round");
    if (function->token_width &&
        (w.job.layout.token_width != function->token_width || w.job.number_bytes != function->number_bytes))
        fake_offence("a kernel for other widths than the job's is started");
    pthread_mutex_lock(&fake_lock);
    r = fake_put(stream, &w);
    pthread_mutex_unlock(&fake_lock);
    return r;
}
