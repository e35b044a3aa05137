/*
 * load_run.c: takes batches from a loader, or views from datasets, in rounds; between rounds the bare loop and steps
 * without a loader run, so that all of them see the same machine. See load.h.
 */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/gate.h"
#include "base/status.h"
#include "histogram.h"
#include "load.h"
#include "load_device.h"

struct run {
    const struct leat_plan *plan;
    const struct load_values *v;
    struct leat_loader *loader;
    struct load_bare *bare;
    struct load_trace *trace;
    struct leat_plan_info info;
    uint64_t first_row, rows;
    uint8_t *inputs, *labels, *positions; /* of the consumer */
    int32_t *sequences;
    bool
        on_device; /* then these four are on the host what is brought there for the checksum, and those of `there` count */
    struct load_device device;
    void *there[4];
    uint64_t sequences_room;
    uint8_t *row;           /* one, as stored, for the checksum */
    XXH3_state_t *checksum; /* NULL: neither it nor a dump is wanted */
    FILE *dump;
    struct histogram *views;
    uint64_t aside_ns; /* spent on checksums in this round */
    double aside_cpu;
    bool ended;
};

double load_cpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- Buffers ---- */

static enum leat_status make_buffers(struct run *r, struct leat_error *err)
{
    uint64_t length = r->info.most_seq_len;
    size_t bytes = (size_t)(r->rows * (length + 1) * 8 / 64 * 64 + 64);

    r->inputs = aligned_alloc(64, bytes);
    r->labels = aligned_alloc(64, bytes);
    r->positions = aligned_alloc(64, bytes);
    r->sequences_room = r->rows * (length + 1) + 1;
    r->sequences = r->v->output == LOAD_PACKED ? calloc(r->sequences_room, sizeof *r->sequences) : NULL;
    r->row = malloc((size_t)(length + 1) * 8);
    r->views = calloc(1, sizeof *r->views);
    if (r->v->checksum || r->v->dump)
        r->checksum = XXH3_createState();
    if (!r->inputs || !r->labels || !r->positions || !r->row || !r->views ||
        (r->v->output == LOAD_PACKED && !r->sequences) || ((r->v->checksum || r->v->dump) && !r->checksum))
        return status_no_memory(err, 3 * bytes);
    memset(r->inputs, 0, bytes);
    memset(r->labels, 0, bytes);
    memset(r->positions, 0, bytes);
    if (r->checksum)
        XXH3_64bits_reset(r->checksum);
    return LEAT_OK;
}

/* The same four on the device. */
static enum leat_status open_device(struct run *r, struct leat_error *err)
{
    uint64_t length = r->info.most_seq_len;
    size_t bytes = (size_t)(r->rows * (length + 1) * 8);
    enum leat_status s;

    if (!load_device_is_gpu(r->v->device))
        return LEAT_OK;
    s = load_device_open(&r->device, r->v->device, err);
    r->on_device = s == LEAT_OK;
    for (unsigned i = 0; s == LEAT_OK && i < 4; i++)
        s = load_device_allocate(&r->device, &r->there[i], i < 3 ? bytes : r->sequences_room * sizeof *r->sequences,
                                 err);
    return s;
}

static void close_device(struct run *r)
{
    if (!r->on_device)
        return;
    for (unsigned i = 0; i < 4; i++)
        load_device_free(&r->device, r->there[i]);
    load_device_close(&r->device);
}

static void free_buffers(struct run *r)
{
    free(r->inputs);
    free(r->labels);
    free(r->positions);
    free(r->sequences);
    free(r->row);
    free(r->views);
    XXH3_freeState(r->checksum);
}

static enum leat_status open_loader(struct run *r, struct leat_error *err)
{
    static const uint32_t outputs[] = {
        0, LEAT_OUTPUT_INPUTS | LEAT_OUTPUT_LABELS, LEAT_OUTPUT_INPUTS | LEAT_OUTPUT_LABELS,
        LEAT_OUTPUT_INPUTS | LEAT_OUTPUT_LABELS | LEAT_OUTPUT_POSITIONS | LEAT_OUTPUT_SEQUENCES, 0
    };
    const struct load_values *v = r->v;
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;

    o.batch = v->batch;
    o.rank = v->rank;
    o.world = v->world;
    o.position = v->from;
    o.engine = (enum leat_engine)v->engine;
    o.on_damage = (enum leat_on_damage)v->on_damage;
    o.last = (enum leat_last_batch)v->last;
    o.rows = (enum leat_rows)v->rows;
    o.threads = v->threads;
    o.verify = !v->no_verify;
    o.slots = (uint32_t)v->slots;
    o.apart = (enum leat_apart)v->apart;
    o.memory = v->memory;
    o.device = r->on_device ? r->device.name : r->v->device;
    o.outputs = outputs[v->output];
    o.borrow = v->borrow && o.outputs;
    o.number_bytes = v->output == LOAD_I64 ? 8 : 4;
    o.sequences_room = r->sequences_room;
    return leat_loader_open(&r->loader, r->plan, &o, err);
}

/* ---- One step ---- */

static void put_token(uint8_t *to, unsigned width, uint64_t token)
{
    for (unsigned i = 0; i < width; i++)
        to[i] = (uint8_t)(token >> 8 * i);
}

static uint64_t number_at(const void *numbers, unsigned bytes, uint64_t at)
{
    return bytes == 8 ? (uint64_t)((const int64_t *)numbers)[at] : (uint32_t)((const int32_t *)numbers)[at];
}

static void add_row(struct run *r, const void *tokens, size_t bytes)
{
    XXH3_64bits_update(r->checksum, tokens, bytes);
    if (r->dump)
        fwrite(tokens, 1, bytes, r->dump); /* errors are looked for at the end */
}

/* Rows of L + 1 tokens as stored, rebuilt from what was delivered: all inputs, and the last label. */
static void add_checksum(struct run *r, const struct leat_batch *b, const struct leat_outputs *o)
{
    uint64_t began = gate_clock();
    double cpu = load_cpu_seconds();
    unsigned width = b->token_width;

    for (uint32_t row = 0; row < b->rows; row++) {
        uint64_t length = b->lengths[row], at = row * (o ? o->length : 0);
        const uint8_t *tokens = leat_batch_row(b, row);

        if (length == 0) /* a document of no token or one: nothing is learnt from it */
            continue;
        if (o) {
            for (uint64_t i = 0; i < length; i++)
                put_token(r->row + i * width, width, number_at(o->inputs, o->number_bytes, at + i));
            put_token(r->row + length * width, width, number_at(o->labels, o->number_bytes, at + length - 1));
            tokens = r->row;
        }
        if (!(b->flags[row] & LEAT_ROW_PADDED))
            add_row(r, tokens, (size_t)(length + 1) * width);
    }
    r->aside_ns += gate_clock() - began;
    r->aside_cpu += load_cpu_seconds() - cpu;
}

/* Brings the numbers that the checksum is made of to the host; its time is not counted. */
static enum leat_status bring(struct run *r, struct leat_outputs *o, uint64_t numbers, struct leat_error *err)
{
    uint64_t began = gate_clock();
    double cpu = load_cpu_seconds();
    enum leat_status s = load_device_bring(&r->device, r->inputs, o->inputs, numbers * o->number_bytes, err);

    if (s == LEAT_OK)
        s = load_device_bring(&r->device, r->labels, o->labels, numbers * o->number_bytes, err);
    o->inputs = r->inputs;
    o->labels = r->labels;
    r->aside_ns += gate_clock() - began;
    r->aside_cpu += load_cpu_seconds() - cpu;
    return s;
}

/* What the consumer makes of a batch; *bytes is what it got. */
static enum leat_status consume(struct run *r, const struct leat_batch *b, bool count, uint64_t *bytes,
                                struct leat_error *err)
{
    const struct load_values *v = r->v;
    struct leat_outputs o = LEAT_OUTPUTS_INIT;
    uint64_t numbers = (uint64_t)b->rows * b->length;
    enum leat_status s = LEAT_OK;

    *bytes = (uint64_t)b->rows * b->width * b->token_width;
    if (v->output != LOAD_TOKENS) {
        o.number_bytes = v->output == LOAD_I64 ? 8 : 4;
        o.length = b->length;
        o.inputs = r->on_device ? r->there[0] : r->inputs;
        o.labels = r->on_device ? r->there[1] : r->labels;
        if (v->output == LOAD_PACKED) {
            o.positions = r->on_device ? r->there[2] : r->positions;
            o.sequences = r->on_device ? r->there[3] : r->sequences;
            o.sequences_room = b->sequences + 1;
        }
        *bytes = numbers * o.number_bytes * (v->output == LOAD_PACKED ? 3 : 2);
        s = v->borrow ? leat_batch_borrow(b, &o, r->device.stream, err)
                      : leat_batch_write(b, &o, r->device.stream, err);
        if (s == LEAT_OK && r->on_device && r->checksum && count)
            s = bring(r, &o, numbers, err);
    }
    if (s == LEAT_OK && r->checksum && count)
        add_checksum(r, b, v->output == LOAD_TOKENS ? NULL : &o);
    return s;
}

/* A step of training that needs no CPU of ours. */
static void work(const struct load_values *v)
{
    struct timespec t = { (time_t)(v->work_ns / 1000000000u), (long)(v->work_ns % 1000000000u) };

    if (v->work_ns > 0)
        while (nanosleep(&t, &t) != 0 && errno == EINTR)
            ;
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

static enum leat_status load_steps(struct run *r, uint64_t steps, struct load_figures *f, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (uint64_t k = 0; s == LEAT_OK && k < steps && !cli_interrupted(); k++) {
        const struct leat_batch *b;
        uint64_t t0 = r->trace ? gate_clock() : 0, t1, bytes;

        s = leat_loader_next(r->loader, &b, err);
        if (s != LEAT_OK)
            break;
        t1 = r->trace ? gate_clock() : 0;
        s = consume(r, b, true, &bytes, err);
        work(r->v);
        count_batch(f, b, bytes);
        leat_batch_release(b, r->device.stream);
        if (r->trace) {
            struct leat_loader_stats stats = LEAT_LOADER_STATS_INIT;

            load_trace_span(r->trace, "next", t0, t1);
            load_trace_span(r->trace, "step", t1, gate_clock());
            leat_loader_stats(r->loader, &stats);
            load_trace_stats(r->trace, gate_clock(), &stats);
        }
    }
    if (s == LEAT_E_END) {
        r->ended = true;
        s = LEAT_OK;
    }
    return s;
}

/* Rows in place, one view each. */
static enum leat_status view_steps(struct run *r, uint64_t first, uint64_t steps, struct load_figures *f,
                                   struct leat_error *err)
{
    struct leat_sample x[64];
    enum leat_status s = LEAT_OK;

    for (uint64_t k = first; s == LEAT_OK && k < first + steps && !r->ended && !cli_interrupted(); k++) {
        uint64_t at = r->v->from + k * r->v->batch + r->first_row, end = at + r->rows, got = 1;

        for (; s == LEAT_OK && at < end && got > 0; at += got) {
            s = leat_plan_samples(r->plan, at, end - at < 64 ? end - at : 64, x, &got, err);
            for (uint64_t i = 0; s == LEAT_OK && i < got; i++) {
                struct leat_plan_source_info source = LEAT_PLAN_SOURCE_INFO_INIT;
                struct leat_view view;
                uint64_t began;

                s = leat_plan_source_info(r->plan, x[i].source, &source, err);
                began = gate_clock();
                if (s == LEAT_OK)
                    s = leat_dataset_view(source.dataset, x[i].token, (uint64_t)x[i].length + 1, &view, err);
                if (s != LEAT_OK)
                    break;
                if (r->checksum)
                    add_row(r, view.tokens, (size_t)(x[i].length + 1) * r->info.token_width);
                leat_view_release(&view);
                histogram_add(r->views, gate_clock() - began);
                f->rows++;
                f->tokens += x[i].length;
                f->bytes += ((uint64_t)x[i].length + 1) * r->info.token_width;
            }
            r->ended = got == 0;
        }
        f->steps += !r->ended;
    }
    return s;
}

/* The same steps with a batch that is there already. */
static enum leat_status synthetic_steps(struct run *r, const struct leat_batch *b, uint64_t steps,
                                        struct load_figures *f, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    uint64_t began = gate_clock(), bytes;
    double cpu = load_cpu_seconds();

    for (uint64_t k = 0; s == LEAT_OK && k < steps && !cli_interrupted(); k++) {
        s = consume(r, b, false, &bytes, err);
        work(r->v);
        count_batch(f, b, bytes);
    }
    f->seconds += (double)(gate_clock() - began) / 1e9;
    f->cpu_seconds += load_cpu_seconds() - cpu;
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
    uint64_t began = gate_clock();
    double cpu = load_cpu_seconds();
    enum leat_status s;

    r->aside_ns = 0;
    r->aside_cpu = 0;
    s = r->v->output == LOAD_VIEWS ? view_steps(r, first, steps, f, err) : load_steps(r, steps, f, err);
    if (s == LEAT_OK && r->on_device)
        s = load_device_wait(&r->device, err);
    f->seconds += (double)(gate_clock() - began - r->aside_ns) / 1e9;
    f->cpu_seconds += load_cpu_seconds() - cpu - r->aside_cpu;
    return s;
}

static void add(struct load_figures *to, const struct load_figures *f)
{
    to->steps += f->steps;
    to->rows += f->rows;
    to->tokens += f->tokens;
    to->bytes += f->bytes;
    to->seconds += f->seconds;
    to->cpu_seconds += f->cpu_seconds;
}

static int compare_doubles(const void *a, const void *b)
{
    double x, y;

    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

static double a_token(const struct load_figures *f)
{
    return f->tokens ? f->seconds / (double)f->tokens : 0;
}

/* As many steps of the bare loop; and with a batch that is held. */
static enum leat_status beside(struct run *r, const struct load_figures *f, struct load_result *result, double *ratio,
                               struct leat_error *err)
{
    struct load_figures bare = { 0 };
    const struct leat_batch *b;
    enum leat_status s = LEAT_OK;

    if (r->bare) {
        settle(); /* a ring that is being filled again would be measured with it */
        s = load_bare_run(r->bare, f->steps, &bare, err);
        *ratio = a_token(&bare) > 0 ? a_token(f) / a_token(&bare) : 0;
        add(&result->bare, &bare);
    }
    if (s == LEAT_OK && r->v->synthetic && r->loader && !r->ended) {
        s = leat_loader_next(r->loader, &b, err);
        if (s != LEAT_OK)
            return s == LEAT_E_END ? LEAT_OK : s;
        if (r->checksum)
            add_checksum(r, b, NULL); /* it belongs to the sequence */
        s = synthetic_steps(r, b, f->steps, &result->synthetic, err);
        leat_batch_release(b, r->device.stream);
    }
    return s;
}

static enum leat_status warm_up(struct run *r, struct leat_error *err)
{
    XXH3_state_t *checksum = r->checksum;
    struct load_figures f = { 0 };
    enum leat_status s;

    r->checksum = NULL; /* these rows do not belong to it */
    s = load_steps(r, r->v->warm_up, &f, err);
    r->checksum = checksum;
    return s;
}

static enum leat_status rounds(struct run *r, struct load_result *result, struct leat_error *err)
{
    uint64_t rounds = r->v->rounds < r->v->steps ? r->v->rounds : r->v->steps, done = 0, first = r->v->warm_up;
    uint64_t measured = 0;
    double *ratios = calloc(rounds, sizeof *ratios);
    enum leat_status s = ratios ? LEAT_OK : status_no_memory(err, rounds * sizeof *ratios);

    if (s == LEAT_OK && r->v->warm_up > 0 && r->loader)
        s = warm_up(r, err);
    if (r->on_device)
        load_device_calls(&r->device); /* they count from here */
    for (uint64_t i = 0; s == LEAT_OK && i < rounds && !r->ended && !cli_interrupted(); i++) {
        uint64_t steps = r->v->steps * (i + 1) / rounds - done;
        struct load_figures f = { 0 };

        s = one_round(r, first, steps, &f, err);
        add(&result->total, &f);
        if (s == LEAT_OK && f.steps > 0)
            s = beside(r, &f, result, &ratios[measured++], err);
        done += steps;
        first += steps + (r->v->synthetic ? 1 : 0);
    }
    if (measured > 0) {
        qsort(ratios, measured, sizeof *ratios, compare_doubles);
        result->bare_ratio = ratios[measured / 2];
    }
    free(ratios);
    return s;
}

/* ---- Memory ---- */

/* What this process alone takes: memory of its own, and page tables. */
static double memory_mib(void)
{
    FILE *f = fopen("/proc/self/status", "re");
    unsigned long long kib, total = 0;
    char line[256];

    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "RssAnon: %llu", &kib) == 1 || sscanf(line, "VmPTE: %llu", &kib) == 1)
            total += kib;
    if (f)
        fclose(f);
    return (double)total / 1024;
}

static void take_notices(struct run *r, struct load_result *result)
{
    size_t used = 0;
    char text[512];

    while (r->loader && used < sizeof result->notices - 1 && leat_loader_notice(r->loader, text, sizeof text)) {
        if (r->v->work_ns == 0 && strstr(text, "waited for batches"))
            continue; /* a consumer that does nothing else has not to be told */
        snprintf(result->notices + used, sizeof result->notices - used, "%s%.400s", used ? "\n" : "", text);
        used = strlen(result->notices);
    }
}

static void finish(struct run *r, struct load_result *result)
{
    const struct load_figures *t = &result->total, *y = &result->synthetic;

    result->memory_mib = memory_mib();
    result->stats = (struct leat_loader_stats)LEAT_LOADER_STATS_INIT;
    if (r->loader) {
        leat_loader_stats(r->loader, &result->stats);
        result->next = result->stats.next;
    } else {
        result->next = (struct leat_times) { histogram_value(&r->views->count),   histogram_mean(r->views),
                                             histogram_quantile(r->views, 0.5),   histogram_quantile(r->views, 0.99),
                                             histogram_quantile(r->views, 0.999), histogram_value(&r->views->most) };
    }
    if (y->steps > 0 && t->steps > 0 && y->seconds > 0)
        result->synthetic_loss = (t->seconds / (double)t->steps) / (y->seconds / (double)y->steps) - 1;
    if (r->checksum)
        result->checksum = XXH3_64bits_digest(r->checksum);
    if (r->on_device && t->steps > 0)
        result->calls_a_batch = (double)load_device_calls(&r->device) / (double)t->steps;
    take_notices(r, result);
}

enum leat_status load_run(const struct leat_plan *plan, const struct load_values *v, struct load_result *result,
                          struct leat_error *err)
{
    struct run r = { .plan = plan, .v = v, .info = LEAT_PLAN_INFO_INIT };
    enum leat_status s;

    memset(result, 0, sizeof *result);
    leat_plan_info(plan, &r.info);
    if (v->trace && !(r.trace = load_trace_open(v->trace)))
        return status_set_os(err, errno, "cannot write %s", v->trace);
    if (v->dump && !(r.dump = fopen(v->dump, "we"))) {
        load_trace_close(r.trace);
        return status_set_os(err, errno, "cannot write %s", v->dump);
    }
    s = leat_plan_rank_rows(v->batch, v->rank, v->world, &r.first_row, &r.rows, err);
    if (s == LEAT_OK)
        s = make_buffers(&r, err);
    if (s == LEAT_OK)
        s = open_device(&r, err);
    if (s == LEAT_OK && v->bare)
        s = load_bare_open(&r.bare, plan, v, err);
    if (s == LEAT_OK && v->output != LOAD_VIEWS)
        s = open_loader(&r, err);
    if (s == LEAT_OK)
        s = rounds(&r, result, err);
    if (s == LEAT_OK)
        finish(&r, result);
    leat_loader_close(r.loader);
    load_bare_close(r.bare);
    close_device(&r);
    free_buffers(&r);
    if (r.dump && (fflush(r.dump) != 0 || ferror(r.dump)) && s == LEAT_OK)
        s = status_set_os(err, errno, "cannot write %s", v->dump);
    if (r.dump)
        fclose(r.dump);
    if (!load_trace_close(r.trace) && s == LEAT_OK)
        s = status_set_os(err, errno, "cannot write %s", v->trace);
    return s;
}
