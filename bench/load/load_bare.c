/*
 * load_bare.c: runs the bare loops that a loader is compared with. They use one thread, one buffer, and as many
 * places of the same plan as the loader, but other places: the loader would have brought its own to the CPU's caches
 * (hundreds of MiB on servers), which would help the loop that comes next.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/status.h"
#include "bench/measure/machine.h"
#include "load.h"
#include "rows/rows.h"

struct source {
    struct leat_dataset *dataset;
    uint64_t parts;
    struct leat_view *views; /* a view of each part */
    struct leat_part *facts;
    struct leat_column *column; /* NULL: none is read */
    struct leat_view values;    /* of the column */
};

struct load_bare {
    const struct leat_plan *plan;
    const struct load_values *v;
    const struct rows_kernels *kernels;
    uint64_t sources, first_row, rows;
    uint32_t width, length;
    struct source *source;
    struct leat_sample *samples;
    uint8_t *to, *labels, *values;
    uint64_t entry;               /* bytes of an entry of the column */
    uint64_t position, positions; /* position of the next batch, and how many positions the plan has */
};

static enum leat_status open_source(struct source *s, const char *name, struct leat_error *err)
{
    struct leat_open_options o = LEAT_OPEN_OPTIONS_INIT;
    struct leat_info info = LEAT_INFO_INIT;
    enum leat_status status;

    o.access = LEAT_ACCESS_TRUSTED;
    status = leat_dataset_open(&s->dataset, name, &o, err);
    if (status != LEAT_OK)
        return status;
    leat_dataset_info(s->dataset, &info);
    s->parts = info.parts;
    s->views = calloc(info.parts, sizeof *s->views);
    s->facts = calloc(info.parts, sizeof *s->facts);
    if (!s->views || !s->facts)
        return status_no_memory(err, info.parts * sizeof *s->facts);
    for (uint64_t i = 0; status == LEAT_OK && i < info.parts; i++) {
        s->facts[i].size = sizeof s->facts[i];
        status = leat_dataset_part(s->dataset, i, &s->facts[i], err);
        if (status == LEAT_OK && s->facts[i].tokens > 0)
            status = leat_dataset_view(s->dataset, s->facts[i].first_token, s->facts[i].tokens, &s->views[i], err);
#if defined(MADV_POPULATE_READ)
        if (status == LEAT_OK && s->views[i].tokens)
            madvise((void *)(uintptr_t)s->views[i].tokens, (size_t)(s->facts[i].tokens * info.token_width),
                    MADV_POPULATE_READ);
#endif
    }
    return status;
}

/* Opens a source's column, and allocates memory for the values of a batch. */
static enum leat_status open_column(struct load_bare *b, struct source *s, struct leat_error *err)
{
    struct leat_column_info info = LEAT_COLUMN_INFO_INIT;
    enum leat_status status = leat_column_open(&s->column, s->dataset, b->v->column, err);

    if (status != LEAT_OK)
        return status;
    leat_column_info(s->column, &info);
    b->entry = info.entry_bytes;
    if (!b->values)
        b->values = calloc(b->rows * (b->length + 1), b->entry);
    if (!b->values)
        return status_no_memory(err, b->rows * (b->length + 1) * b->entry);
    status = leat_column_view(s->column, 0, info.entries, &s->values, err);
#if defined(MADV_POPULATE_READ)
    if (status == LEAT_OK)
        madvise((void *)(uintptr_t)s->values.tokens, (size_t)info.bytes, MADV_POPULATE_READ);
#endif
    return status;
}

enum leat_status load_bare_open(struct load_bare **out, const struct leat_plan *plan, const struct load_values *v,
                                struct leat_error *err)
{
    struct leat_plan_info info = LEAT_PLAN_INFO_INIT;
    struct load_bare *b = calloc(1, sizeof *b);
    enum leat_status s = LEAT_OK;
    size_t bytes;

    *out = b;
    if (!b)
        return status_no_memory(err, sizeof *b);
    leat_plan_info(plan, &info);
    b->plan = plan;
    b->v = v;
    b->kernels = rows_kernels();
    b->width = info.token_width;
    b->length = (uint32_t)info.max_seq_len;
    b->positions = info.positions;
    b->position = v->loader.position + (v->warm_up + v->steps + v->rounds) * v->loader.batch;
    s = leat_plan_rank_rows(v->loader.batch, v->loader.ranks.rank, v->loader.ranks.world, &b->first_row, &b->rows, err);
    if (s != LEAT_OK)
        return s;
    b->source = calloc(info.sources, sizeof *b->source);
    b->samples = calloc(b->rows, sizeof *b->samples);
    bytes = (size_t)b->rows * (b->length + 1) * 8;
    b->to = aligned_alloc(64, bytes / 64 * 64 + 64);
    b->labels = aligned_alloc(64, bytes / 64 * 64 + 64);
    if (!b->source || !b->samples || !b->to || !b->labels)
        return status_no_memory(err, bytes);
    memset(b->to, 0, bytes);
    memset(b->labels, 0, bytes);
    b->sources = info.sources;
    for (uint64_t i = 0; s == LEAT_OK && i < info.sources; i++) {
        struct leat_plan_source_info source = LEAT_PLAN_SOURCE_INFO_INIT;

        s = leat_plan_source_info(plan, i, &source, err);
        if (s == LEAT_OK)
            s = open_source(&b->source[i], source.name, err);
        if (s == LEAT_OK && v->column)
            s = open_column(b, &b->source[i], err);
    }
    return s;
}

void load_bare_close(struct load_bare *b)
{
    if (!b)
        return;
    for (uint64_t i = 0; i < b->sources; i++) {
        for (uint64_t k = 0; b->source[i].views && k < b->source[i].parts; k++)
            leat_view_release(&b->source[i].views[k]);
        if (b->source[i].values.tokens)
            leat_view_release(&b->source[i].values);
        leat_column_close(b->source[i].column);
        leat_dataset_close(b->source[i].dataset);
        free(b->source[i].views);
        free(b->source[i].facts);
    }
    free(b->source);
    free(b->samples);
    free(b->to);
    free(b->labels);
    free(b->values);
    free(b);
}

/* Runs the loop over places that were computed before. Returns how many bytes it wrote. */
static uint64_t copy_rows(struct load_bare *b, uint64_t rows)
{
    unsigned bytes = b->v->output == LOAD_I64 ? 8 : 4;
    uint64_t at = 0, values = 0;

    for (uint64_t i = 0; i < rows; i++) {
        const struct leat_sample *x = &b->samples[i];
        const uint8_t *from = (const uint8_t *)b->source[x->source].views[x->part].tokens + x->offset * b->width;

        if (b->v->output == LOAD_TOKENS || b->v->output == LOAD_VIEWS) {
            memcpy(b->to + at, from, (size_t)x->tokens * b->width);
            at += (uint64_t)x->tokens * b->width;
        } else {
            b->kernels->widen(b->to + at, bytes, from, b->width, x->length);
            b->kernels->widen(b->labels + at, bytes, from + b->width, b->width, x->length);
            at += (uint64_t)x->length * bytes;
        }
        if (b->values) {
            from = (const uint8_t *)b->source[x->source].values.tokens + x->offset * b->entry;
            memcpy(b->values + values, from, (size_t)(x->length * b->entry));
            values += x->length * b->entry;
        }
    }
    return values + (b->v->output == LOAD_TOKENS || b->v->output == LOAD_VIEWS ? at : 2 * at);
}

/* Returns where the next batch begins: after all batches of the loader, or at the plan's start once the plan ends. */
static uint64_t next_position(struct load_bare *b)
{
    uint64_t at = b->position;

    if (b->positions != LEAT_NONE && b->positions - b->v->loader.position >= b->v->loader.batch)
        at = b->v->loader.position +
             (at - b->v->loader.position) % (b->positions - b->v->loader.position - b->v->loader.batch + 1);
    b->position += b->v->loader.batch;
    return at;
}

enum leat_status load_bare_run(struct load_bare *b, uint64_t steps, struct load_figures *f, struct leat_error *err)
{
    for (uint64_t k = 0; k < steps; k++) {
        uint64_t got, began;
        double cpu;
        enum leat_status s =
            leat_plan_samples(b->plan, next_position(b) + b->first_row, b->rows, b->samples, &got, err);

        for (uint64_t i = 0; s == LEAT_OK && i < got; i++)
            if (b->samples[i].pieces != 1)
                s = status_set(err, LEAT_E_UNSUPPORTED, "the bare loop copies rows of one piece only");
        if (s != LEAT_OK)
            return s;
        cpu = machine_cpu_seconds();
        began = clock_ns();
        f->bytes += copy_rows(b, got);
        f->seconds += (double)(clock_ns() - began) / 1e9;
        f->cpu_seconds += machine_cpu_seconds() - cpu;
        f->steps++;
        f->rows += got;
        for (uint64_t i = 0; i < got; i++)
            f->tokens += b->samples[i].length;
    }
    return LEAT_OK;
}
