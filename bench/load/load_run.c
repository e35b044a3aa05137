/* load_run.c: takes batches from a loader, or views from datasets, in rounds. Between rounds the bare loop and steps
 * without a loader run, so that all of them see the same machine. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/clock.h"
#include "base/counter.h"
#include "base/status.h"
#include "bench/device/load_device.h"
#include "bench/measure/contest.h"
#include "bench/measure/machine.h"
#include "cli/progress.h"
#include "load.h"

/* ---- What a training loop does with a batch ---- */

/* The consumer gets a batch's numbers in memory of the host or of a GPU, and its rows as stored, for the checksum. */
struct consumer {
    const struct load_values *v;
    uint8_t *inputs, *labels, *positions; /* outputs of a batch in the host's memory; with a GPU, only the copies for
                                             the checksum */
    uint8_t *ahead;                       /* NULL: not wanted */
    int32_t *sequences;
    uint64_t cu_seqlens_room;
    bool on_device;
    struct load_device device;
    void *there[5];     /* memory on the GPU for the five outputs */
    uint8_t *row;       /* one row as stored, for the checksum */
    XXH3_state_t *hash; /* NULL if neither a checksum nor a dump is wanted */
    bool hashing;       /* true while rows that are taken belong to the checksum and the dump */
    FILE *dump;         /* file of the dump, which the caller owns; NULL: not wanted */
    uint64_t entry;     /* bytes of an entry of the column; 0: no column */
    uint64_t aside_ns;  /* time spent on the checksum, which does not count */
    double aside_cpu;
};

static enum leat_status make_buffers(struct consumer *c, uint64_t numbers, uint64_t length, struct leat_error *err)
{
    size_t bytes = (size_t)(numbers * 8 / 64 * 64 + 64);
    bool hashes = c->v->checksum || c->v->dump;

    c->inputs = aligned_alloc(64, bytes);
    c->labels = aligned_alloc(64, bytes);
    c->positions = aligned_alloc(64, bytes);
    c->ahead = c->v->loader.outputs.ahead > 0 ? calloc(numbers * c->v->loader.outputs.ahead, 8) : NULL;
    c->cu_seqlens_room = numbers + 1;
    c->sequences = c->v->output == LOAD_PACKED ? calloc(c->cu_seqlens_room, sizeof *c->sequences) : NULL;
    c->row = malloc((size_t)(length + 1) * 8);
    c->hash = hashes ? aligned_alloc(64, sizeof *c->hash) : NULL;
    if (!c->inputs || !c->labels || !c->positions || (c->v->loader.outputs.ahead > 0 && !c->ahead) || !c->row ||
        (c->v->output == LOAD_PACKED && !c->sequences) || (hashes && !c->hash))
        return status_no_memory(err, 3 * bytes);
    memset(c->inputs, 0, bytes);
    memset(c->labels, 0, bytes);
    memset(c->positions, 0, bytes);
    c->hashing = hashes;
    if (hashes)
        XXH3_64bits_reset(c->hash);
    return LEAT_OK;
}

static enum leat_status open_device(struct consumer *c, uint64_t numbers, struct leat_error *err)
{
    enum leat_status s;

    if (!load_device_is_gpu(c->v->loader.device.name))
        return LEAT_OK;
    load_device_count();
    s = load_device_open(&c->device, c->v->loader.device.name, c->v->loader.device.driver, err);
    c->on_device = s == LEAT_OK;
    for (unsigned i = 0; s == LEAT_OK && i < 4 + (c->v->loader.outputs.ahead > 0); i++)
        s = load_device_allocate(&c->device, &c->there[i],
                                 i < 3    ? (size_t)numbers * 8
                                 : i == 3 ? c->cu_seqlens_room * sizeof *c->sequences
                                          : (size_t)(numbers * c->v->loader.outputs.ahead * 8),
                                 err);
    return s;
}

/* Opens a consumer for batches of `numbers` numbers. After a failure, consumer_close() frees what was made. */
static enum leat_status consumer_open(struct consumer *c, const struct load_values *v, uint64_t numbers,
                                      uint64_t length, struct leat_error *err)
{
    enum leat_status s;

    c->v = v;
    s = make_buffers(c, numbers, length, err);
    return s == LEAT_OK ? open_device(c, numbers, err) : s;
}

static void consumer_close(struct consumer *c)
{
    for (unsigned i = 0; c->on_device && i < 4 + (c->v->loader.outputs.ahead > 0); i++)
        load_device_free(&c->device, c->there[i]);
    if (c->on_device)
        load_device_close(&c->device);
    free(c->inputs);
    free(c->labels);
    free(c->positions);
    free(c->ahead);
    free(c->sequences);
    free(c->row);
    free(c->hash);
}

/* ---- Rows as stored ---- */

static void put_token(uint8_t *to, unsigned width, uint64_t token)
{
    for (unsigned i = 0; i < width; i++)
        to[i] = (uint8_t)(token >> 8 * i);
}

static uint64_t number_at(const void *numbers, unsigned bytes, uint64_t at)
{
    return bytes == 8 ? (uint64_t)((const int64_t *)numbers)[at] : (uint32_t)((const int32_t *)numbers)[at];
}

/* Adds one row to the checksum and the dump. */
static void consumer_hash_row(struct consumer *c, const void *tokens, size_t bytes)
{
    XXH3_64bits_update(c->hash, tokens, bytes);
    if (c->dump)
        fwrite(tokens, 1, bytes, c->dump); /* An error is noticed when the file is closed. */
}

/* Hashes the batch's rows as stored. A row of outputs is rebuilt from its inputs and its last label; of a slice,
 * only the inputs are hashed. */
static void hash_rows(struct consumer *c, const struct leat_batch *b, const struct leat_outputs *o)
{
    uint64_t began = clock_ns();
    double cpu = machine_cpu_seconds();
    unsigned width = b->token_width;

    for (uint32_t row = 0; row < b->rows; row++) {
        uint64_t length = b->lengths[row], at = row * (o ? o->length : 0), tokens_of = length + !c->v->slice;
        const uint8_t *tokens = leat_batch_row(b, row);

        if (length == 0) /* A document with fewer than two tokens teaches nothing. */
            continue;
        if (o) {
            for (uint64_t i = 0; i < length; i++)
                put_token(c->row + i * width, width, number_at(o->inputs, o->number_bytes, at + i));
            if (!c->v->slice)
                put_token(c->row + length * width, width, number_at(o->labels, o->number_bytes, at + length - 1));
            tokens = c->row;
        }
        if (!(b->flags[row] & LEAT_ROW_PADDED))
            consumer_hash_row(c, tokens, (size_t)tokens_of * width);
    }
    c->aside_ns += clock_ns() - began;
    c->aside_cpu += machine_cpu_seconds() - cpu;
}

/* Copies the numbers of the checksum to the host. Its time does not count. */
static enum leat_status bring(struct consumer *c, struct leat_outputs *o, uint64_t numbers, struct leat_error *err)
{
    uint64_t began = clock_ns();
    double cpu = machine_cpu_seconds();
    enum leat_status s = load_device_bring(&c->device, c->inputs, o->inputs, numbers * o->number_bytes, err);

    if (s == LEAT_OK)
        s = load_device_bring(&c->device, c->labels, o->labels, numbers * o->number_bytes, err);
    o->inputs = c->inputs;
    o->labels = c->labels;
    c->aside_ns += clock_ns() - began;
    c->aside_cpu += machine_cpu_seconds() - cpu;
    return s;
}

static uint64_t consumer_checksum(const struct consumer *c)
{
    return c->hash ? XXH3_64bits_digest(c->hash) : 0;
}

/* Takes the batch's outputs and sets *bytes to their size. */
static enum leat_status consumer_take(struct consumer *c, const struct leat_batch *b, uint64_t *bytes,
                                      struct leat_error *err)
{
    const struct load_values *v = c->v;
    struct leat_outputs o = LEAT_OUTPUTS_INIT;
    uint64_t numbers = (uint64_t)b->rows * b->length;
    enum leat_status s = LEAT_OK;

    *bytes = (uint64_t)b->rows * b->width * b->token_width;
    if (v->output == LOAD_TOKENS && v->slice && c->hashing) {
        o.number_bytes = 4;
        o.length = b->length;
        o.inputs = c->on_device ? c->there[0] : c->inputs;
        o.labels = c->on_device ? c->there[1] : c->labels;
        s = leat_batch_write(b, &o, c->device.stream, err);
        if (s == LEAT_OK && c->on_device)
            s = bring(c, &o, numbers, err);
    }
    if (v->output != LOAD_TOKENS) {
        o.number_bytes = v->output == LOAD_I64 ? 8 : 4;
        o.mask_first = v->no_loss.first;
        o.length = b->length;
        o.inputs = c->on_device ? c->there[0] : c->inputs;
        o.labels = c->on_device ? c->there[1] : c->labels;
        o.ahead_labels = c->on_device ? c->there[4] : c->ahead;
        if (v->output == LOAD_PACKED) {
            o.position_ids = c->on_device ? c->there[2] : c->positions;
            o.cu_seqlens = c->on_device ? c->there[3] : c->sequences;
            o.cu_seqlens_room = b->sequences + 1;
        }
        *bytes = numbers * o.number_bytes * ((v->output == LOAD_PACKED ? 3 : 2) + v->loader.outputs.ahead);
        s = v->borrow ? leat_batch_borrow(b, &o, c->device.stream, err)
                      : leat_batch_write(b, &o, c->device.stream, err);
        if (s == LEAT_OK && c->on_device && c->hashing)
            s = bring(c, &o, numbers, err);
    }
    *bytes += numbers * c->entry;
    if (s == LEAT_OK && c->hashing)
        hash_rows(c, b, v->output == LOAD_TOKENS && !v->slice ? NULL : &o);
    return s;
}

/* Hashes the rows of a batch whose outputs are not taken. */
static enum leat_status consumer_hash(struct consumer *c, const struct leat_batch *b, struct leat_error *err)
{
    uint64_t bytes;

    if (c->hashing && c->v->slice)
        return consumer_take(c, b, &bytes, err);
    if (c->hashing)
        hash_rows(c, b, NULL);
    return LEAT_OK;
}

/* ---- A run ---- */

struct run {
    const struct leat_plan *plan;
    const struct load_values *v;
    struct leat_loader *loader;
    struct load_bare *bare;
    struct leat_plan_info info;
    uint64_t first_row, rows;
    struct consumer consumer;
    struct durations *views;
    struct progress progress;
    uint64_t held, to_hold; /* steps of wait_like_training() that are done, and all of them: for the progress */
    bool ended;
};

static enum leat_status open_loader(struct run *r, struct leat_error *err)
{
    static const uint32_t outputs[] = {
        0, LEAT_OUTPUT_INPUTS | LEAT_OUTPUT_LABELS, LEAT_OUTPUT_INPUTS | LEAT_OUTPUT_LABELS,
        LEAT_OUTPUT_INPUTS | LEAT_OUTPUT_LABELS | LEAT_OUTPUT_POSITION_IDS | LEAT_OUTPUT_CU_SEQLENS, 0
    };
    const struct load_values *v = r->v;
    struct leat_loader_column column = LEAT_LOADER_COLUMN_INIT;
    struct leat_loader_options o = v->loader;
    uint32_t type, width;
    enum leat_status s;

    column.name = v->column;
    o.columns = &column;
    o.column_count = v->column != NULL;
    o.io.verify = !v->no_verify;
    if (r->consumer.on_device)
        o.device = (struct leat_loader_device) { r->consumer.device.name, r->consumer.device.driver_name, { 0 } };
    no_loss_set(&v->no_loss, &o.outputs);
    o.outputs.wanted = outputs[v->output];
    if (o.outputs.wanted && v->loader.outputs.ahead > 0)
        o.outputs.wanted |= LEAT_OUTPUT_AHEAD_LABELS;
    o.outputs.borrow = v->borrow && o.outputs.wanted;
    o.outputs.number_bytes = v->output == LOAD_I64 ? 8 : 4;
    o.outputs.cu_seqlens_room = r->consumer.cu_seqlens_room;
    s = leat_loader_open(&r->loader, r->plan, &o, err);
    if (s == LEAT_OK && leat_loader_column_type(r->loader, 0, &type, &width)) {
        const char *name = leat_column_type_name(type); /* letters, and how many bits */

        r->consumer.entry = width * strtoull(name + strcspn(name, "0123456789"), NULL, 10) / 8;
    }
    return s;
}

/* ---- One step ---- */

/* Waits as long as a step of training takes, without CPU time. Such runs are long, so they show progress. */
static void wait_like_training(struct run *r)
{
    struct timespec t = { (time_t)(r->v->work_ns / 1000000000u), (long)(r->v->work_ns % 1000000000u) };

    if (r->v->work_ns == 0)
        return;
    while (nanosleep(&t, &t) != 0 && errno == EINTR)
        ;
    progress_update(&r->progress, ++r->held, r->to_hold, NULL);
}

static void count_batch(struct load_figures *f, const struct leat_batch *b, uint64_t bytes)
{
    f->steps++;
    f->bytes += bytes;
    for (uint32_t i = 0; i < b->rows; i++)
        if (!(b->flags[i] & LEAT_ROW_PADDED)) {
            f->rows++;
            f->tokens += b->lengths[i];
        }
}

static void count_call(struct load_figures *f, uint64_t ns)
{
    uint64_t us = ns / 1000;
    unsigned class = us > 0 ? 64u - (unsigned)__builtin_clzll(us) : 0;

    f->calls[class < LOAD_CALLS ? class : LOAD_CALLS - 1]++;
}

static enum leat_status load_steps(struct run *r, uint64_t steps, struct load_figures *f, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (uint64_t k = 0; s == LEAT_OK && k < steps && !cli_interrupted(); k++) {
        const struct leat_batch *b;
        uint64_t t0 = clock_ns(), t1, bytes;

        s = leat_loader_next(r->loader, &b, err);
        if (s != LEAT_OK)
            break;
        t1 = clock_ns();
        count_call(f, t1 - t0);
        s = consumer_take(&r->consumer, b, &bytes, err);
        wait_like_training(r);
        count_batch(f, b, bytes);
        leat_batch_release(b, r->consumer.device.stream);
    }
    if (s == LEAT_E_END) {
        r->ended = true;
        s = LEAT_OK;
    }
    return s;
}

/* Takes the rows of `steps` batches in place, one view each. */
static enum leat_status view_steps(struct run *r, uint64_t first, uint64_t steps, struct load_figures *f,
                                   struct leat_error *err)
{
    struct leat_sample x[64];
    enum leat_status s = LEAT_OK;

    for (uint64_t k = first; s == LEAT_OK && k < first + steps && !r->ended && !cli_interrupted(); k++) {
        uint64_t at = r->v->loader.position + k * r->v->loader.batch + r->first_row, end = at + r->rows, got = 1;

        for (; s == LEAT_OK && at < end && got > 0; at += got) {
            s = leat_plan_samples(r->plan, at, end - at < 64 ? end - at : 64, x, &got, err);
            for (uint64_t i = 0; s == LEAT_OK && i < got; i++) {
                struct leat_plan_source_info source = LEAT_PLAN_SOURCE_INFO_INIT;
                struct leat_view view;
                uint64_t began;

                s = leat_plan_source_info(r->plan, x[i].source, &source, err);
                began = clock_ns();
                if (s == LEAT_OK)
                    s = leat_dataset_view(source.dataset, x[i].token, x[i].tokens, &view, err);
                if (s != LEAT_OK)
                    break;
                if (r->consumer.hashing)
                    consumer_hash_row(&r->consumer, view.tokens, (size_t)x[i].tokens * r->info.token_width);
                leat_view_release(&view);
                durations_add(r->views, clock_ns() - began);
                f->rows++;
                f->tokens += x[i].length;
                f->bytes += (uint64_t)x[i].tokens * r->info.token_width;
            }
            r->ended = got == 0;
        }
        f->steps += !r->ended;
    }
    return s;
}

/* Runs steps with a batch that is in memory already. */
static enum leat_status synthetic_steps(struct run *r, const struct leat_batch *b, uint64_t steps,
                                        struct load_figures *f, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    uint64_t began = clock_ns(), bytes;
    bool hashing = r->consumer.hashing;
    double cpu = machine_cpu_seconds();

    r->consumer.hashing = false;
    for (uint64_t k = 0; s == LEAT_OK && k < steps && !cli_interrupted(); k++) {
        s = consumer_take(&r->consumer, b, &bytes, err);
        wait_like_training(r);
        count_batch(f, b, bytes);
    }
    r->consumer.hashing = hashing;
    f->seconds += (double)(clock_ns() - began) / 1e9;
    f->cpu_seconds += machine_cpu_seconds() - cpu;
    return s;
}

/* ---- Rounds ---- */

static void settle(void)
{
    struct timespec t = { 0, 3000000 };

    nanosleep(&t, NULL);
}

static enum leat_status one_round(struct run *r, uint64_t first, uint64_t steps, struct load_figures *f,
                                  struct leat_error *err)
{
    uint64_t began = clock_ns();
    double cpu = machine_cpu_seconds();
    enum leat_status s;

    r->consumer.aside_ns = 0;
    r->consumer.aside_cpu = 0;
    s = r->v->output == LOAD_VIEWS ? view_steps(r, first, steps, f, err) : load_steps(r, steps, f, err);
    if (s == LEAT_OK && r->consumer.on_device)
        s = load_device_wait(&r->consumer.device, err);
    f->seconds += (double)(clock_ns() - began - r->consumer.aside_ns) / 1e9;
    f->cpu_seconds += machine_cpu_seconds() - cpu - r->consumer.aside_cpu;
    return s;
}

static void add_figures(struct load_figures *to, const struct load_figures *f)
{
    to->steps += f->steps;
    to->rows += f->rows;
    to->tokens += f->tokens;
    to->bytes += f->bytes;
    to->seconds += f->seconds;
    to->cpu_seconds += f->cpu_seconds;
    for (unsigned i = 0; i < LOAD_CALLS; i++)
        to->calls[i] += f->calls[i];
}

static double per_token(const struct load_figures *f)
{
    return machine_per(f->seconds, (double)f->tokens);
}

/* Runs as many steps of the bare loop, and as many of a loop that takes the same batch each time. */
static enum leat_status beside(struct run *r, const struct load_figures *f, struct load_result *result, double *ratio,
                               struct leat_error *err)
{
    struct load_figures bare = { 0 };
    const struct leat_batch *b;
    enum leat_status s = LEAT_OK;

    if (r->bare) {
        settle(); /* Without this, the loader would refill its ring while the bare loop is measured. */
        s = load_bare_run(r->bare, f->steps, &bare, err);
        *ratio = machine_per(per_token(f), per_token(&bare));
        add_figures(&result->bare, &bare);
    }
    if (s == LEAT_OK && r->v->synthetic && r->loader && !r->ended) {
        s = leat_loader_next(r->loader, &b, err);
        if (s != LEAT_OK)
            return s == LEAT_E_END ? LEAT_OK : s;
        s = consumer_hash(&r->consumer, b, err); /* This batch belongs to the checksum. */
        if (s == LEAT_OK)
            s = synthetic_steps(r, b, f->steps, &result->synthetic, err);
        leat_batch_release(b, r->consumer.device.stream);
    }
    return s;
}

static enum leat_status warm_up(struct run *r, struct leat_error *err)
{
    bool hashing = r->consumer.hashing;
    struct load_figures f = { 0 };
    enum leat_status s;

    r->consumer.hashing = false; /* The rows that follow do not belong to the checksum. */
    s = load_steps(r, r->v->warm_up, &f, err);
    r->consumer.hashing = hashing;
    return s;
}

/* Takes and drops the batches that the loader's thread put into its ring while the bare loop ran or a batch in
 * memory was used: they would hide that it is slow. Then makes steps until the ring is as full as in training. */
static enum leat_status settle_ring(struct run *r, struct leat_error *err)
{
    struct leat_loader_stats stats = LEAT_LOADER_STATS_INIT;
    bool hashing = r->consumer.hashing;
    struct load_figures f = { 0 };
    enum leat_status s = LEAT_OK;

    leat_loader_stats(r->loader, &stats);
    for (uint32_t i = 0; s == LEAT_OK && i < stats.ring.slots && !cli_interrupted(); i++) {
        const struct leat_batch *b;

        s = leat_loader_next(r->loader, &b, err);
        if (s == LEAT_OK)
            leat_batch_release(b, r->consumer.device.stream);
    }
    if (s == LEAT_E_END) {
        r->ended = true;
        return LEAT_OK;
    }
    r->consumer.hashing = false; /* The rows that follow do not belong to the checksum. */
    if (s == LEAT_OK)
        s = load_steps(r, stats.ring.slots, &f, err);
    r->consumer.hashing = hashing;
    if (s == LEAT_OK && r->consumer.on_device)
        s = load_device_wait(&r->consumer.device, err);
    return s;
}

static enum leat_status rounds(struct run *r, struct load_result *result, struct leat_error *err)
{
    uint64_t rounds = r->v->rounds < r->v->steps ? r->v->rounds : r->v->steps, done = 0, first = r->v->warm_up;
    uint64_t measured = 0, calls;
    struct leat_loader_stats stats = LEAT_LOADER_STATS_INIT;
    double *ratios = calloc(rounds, sizeof *ratios);
    enum leat_status s = ratios ? LEAT_OK : status_no_memory(err, rounds * sizeof *ratios);

    r->to_hold = r->v->warm_up + r->v->steps * (r->v->synthetic ? 2 : 1);
    if (r->loader)
        leat_loader_stats(r->loader, &stats);
    if (r->v->synthetic || r->v->bare)
        r->to_hold += (rounds - 1) * stats.ring.slots; /* settle_ring() takes these batches */
    progress_begin(&r->progress, PROGRESS_AUTO, "load", PROGRESS_COUNT);
    if (s == LEAT_OK && r->v->warm_up > 0 && r->loader)
        s = warm_up(r, err);
    calls = atomic_load(&load_device_calls.calls);
    for (uint64_t i = 0; s == LEAT_OK && i < rounds && !r->ended && !cli_interrupted(); i++) {
        uint64_t steps = r->v->steps * (i + 1) / rounds - done;
        struct load_figures f = { 0 };

        if (i > 0 && r->loader && (r->v->synthetic || r->v->bare))
            s = settle_ring(r, err);
        if (s != LEAT_OK || r->ended)
            break;
        s = one_round(r, first, steps, &f, err);
        add_figures(&result->total, &f);
        if (s == LEAT_OK && f.steps > 0)
            s = beside(r, &f, result, &ratios[measured++], err);
        done += steps;
        first += steps + (r->v->synthetic ? 1 : 0);
    }
    progress_end(&r->progress);
    if (result->total.steps > 0)
        result->calls_per_batch = (double)(atomic_load(&load_device_calls.calls) - calls) / (double)result->total.steps;
    if (measured > 0)
        result->bare_ratio = contest_median(ratios, measured);
    free(ratios);
    return s;
}

static void take_notices(struct run *r, struct load_result *result)
{
    size_t used = 0;
    char text[512];

    while (r->loader && used < sizeof result->notices - 1 && leat_loader_notice(r->loader, text, sizeof text)) {
        if (r->v->work_ns == 0 && strstr(text, "waited for batches"))
            continue; /* A consumer that only takes batches always waits. */
        snprintf(result->notices + used, sizeof result->notices - used, "%s%.400s", used ? "\n" : "", text);
        used = strlen(result->notices);
    }
}

static void finish(struct run *r, struct load_result *result)
{
    const struct load_figures *t = &result->total, *y = &result->synthetic;

    result->memory_mib = machine_memory_mib();
    result->stats = (struct leat_loader_stats)LEAT_LOADER_STATS_INIT;
    if (r->loader) {
        leat_loader_stats(r->loader, &result->stats);
        leat_loader_sources(r->loader, 0, r->info.sources, result->sources);
        result->next = result->stats.next;
    } else {
        result->next = (struct leat_times) { counter_value(&r->views->count),
                                             durations_mean(r->views),
                                             durations_quantile(r->views, 0.5),
                                             durations_quantile(r->views, 0.99),
                                             durations_quantile(r->views, 0.999),
                                             counter_value(&r->views->max),
                                             { 0 } };
    }
    if (y->steps > 0 && t->steps > 0 && y->seconds > 0)
        result->synthetic_loss = (t->seconds / (double)t->steps) / (y->seconds / (double)y->steps) - 1;
    result->checksum = consumer_checksum(&r->consumer);
    take_notices(r, result);
}

enum leat_status load_run(const struct leat_plan *plan, const struct load_values *v, struct load_result *result,
                          struct leat_error *err)
{
    struct run r = { .plan = plan, .v = v, .info = LEAT_PLAN_INFO_INIT };
    enum leat_status s;

    memset(result, 0, sizeof *result);
    leat_plan_info(plan, &r.info);
    s = v->dump ? load_output_open(&r.consumer.dump, v->dump, v, err) : LEAT_OK;
    if (s == LEAT_OK)
        s = leat_plan_rank_rows(r.info.max_tokens > 0 ? v->loader.ranks.world : v->loader.batch, v->loader.ranks.rank,
                                v->loader.ranks.world, &r.first_row, &r.rows, err);
    if (s == LEAT_OK)
        s = consumer_open(&r.consumer, v, r.info.max_tokens > 0 ? r.info.max_tokens : r.rows * (r.info.max_seq_len + 1),
                          r.info.max_seq_len, err);
    if (s == LEAT_OK && !(r.views = calloc(1, sizeof *r.views)))
        s = status_no_memory(err, sizeof *r.views);
    if (s == LEAT_OK && v->bare)
        s = load_bare_open(&r.bare, plan, v, err);
    if (s == LEAT_OK && v->output != LOAD_VIEWS)
        s = open_loader(&r, err);
    if (s == LEAT_OK && r.loader && !(result->sources = calloc((size_t)r.info.sources, sizeof *result->sources)))
        s = status_no_memory(err, r.info.sources * sizeof *result->sources);
    if (s == LEAT_OK)
        s = rounds(&r, result, err);
    if (s == LEAT_OK)
        finish(&r, result);
    leat_loader_close(r.loader);
    load_bare_close(r.bare);
    consumer_close(&r.consumer);
    free(r.views);
    if (r.consumer.dump && (fflush(r.consumer.dump) != 0 || ferror(r.consumer.dump)) && s == LEAT_OK)
        s = status_set_os(err, errno, v->dump, "cannot write %s", v->dump);
    if (r.consumer.dump)
        fclose(r.consumer.dump);
    return s;
}
