/*
 * stages.c: `leat-bench-dev stages`: where the time of encoding goes when a byte-pair tokenizer has met all words, per
 * pretoken; and what of it is waiting for memory.
 *
 * The stages are those of bpe_pretokens.c in the same order, with the clock between them, after an encoder has met the
 * texts in two passes. Of each stage the fastest pass counts. Pretokens that lie in no line even then, the long ones,
 * are counted and left out; the row of the whole encoder has them. Looking up is done once more with a cache whose
 * pretokens all have the same line, which finds nothing but takes the same steps; and once more all lines of the texts
 * are loaded in their order, fetched ahead as far as the CPU can, and nothing else. How many cycles a nanosecond has
 * comes from a chain of additions.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/grow.h"
#include "base/status.h"
#include "bench/data/texts.h"
#include "bench/measure/machine.h"
#include "bench/subcommands.h"
#include "cli/units.h"
#include "commands/common/common.h"
#include "tokenizer/bpe/bpe_internal.h"
#include "tokenizer/load/spec_open.h"
#include "tokenizer/pipeline/encoder.h"
#include "tokenizer/pipeline/pipeline.h"

struct stages_values {
    const char *tokenizer, *field;
    uint64_t runs;
    bool json;
};

const struct option_row bench_stages_options[] = {
    COMMANDS_TOKENIZER(struct stages_values, "a byte-pair tokenizer, as leat encode takes it", .required = true),
    BENCH_FIELD(stages_values), BENCH_RUNS(stages_values, "5", "passes, of which the best of each stage counts"),
    BENCH_JSON(stages_values), OPTIONS_END
};

enum stage { SCAN, CUT, FIND, WRITE, ENCODER, ONE_LINE, LINES, STAGES };

static const struct {
    const char *key, *shown;
} names[STAGES] = {
    [SCAN] = { "scan", "scan: where pretokens end" },
    [CUT] = { "cut", "cut: where they begin, and cuts in them" },
    [FIND] = { "find", "find: keys, lines, which are missing" },
    [WRITE] = { "write", "write: ids" },
    [ENCODER] = { "encoder", "the whole encoder" },
    [ONE_LINE] = { "find_one_line", "find, if all had one line" },
    [LINES] = { "lines", "their lines and nothing else" },
};

/* How far ahead the bare loop fetches. */
#define AHEAD 32

struct pass {
    double seconds[STAGES];
    uint64_t pretokens, missed, ids;
};

struct stand {
    const struct pipeline *pipeline;
    struct pretokenizer_scratch *pretokenizer;
    struct bpe_scratch *scratch;
    struct encoder *encoder;
    struct pretoken_cache one_line;
    struct id_list ids;
    enum { WARM, KEEP_LINES, MEASURE } task;
    double since; /* when the stage of now began */
    struct pass pass;
    const uint64_t **lines; /* in the order of the texts */
    size_t line_count, line_room;
};

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Ends a stage. */
static void end(struct stand *s, enum stage stage)
{
    double time = now();

    s->pass.seconds[stage] += time - s->since;
    s->since = time;
}

/* Cycles per nanosecond: additions that wait for each other take one each. */
static double cycles_per_ns(void)
{
    double best = 0;

    for (unsigned run = 0; run < 5; run++) {
        double begin = now(), rate;
        uint64_t sum = 1;

        for (unsigned i = 0; i < 1000000; i++)
            for (unsigned k = 0; k < 8; k++) { /* unrolled, and not put together */
                sum += i;
                __asm__ volatile("" : "+r"(sum));
            }
        rate = 8e6 / (now() - begin) / 1e9;
        best = rate > best ? rate : best;
    }
    return best;
}

/* ---- A batch ----------------------------------------------------------------------------------------------------- */

static const struct pretoken_cache *cache_of(const struct stand *s)
{
    return s->scratch->words.own.common ? s->scratch->words.own.common : &s->scratch->words.own;
}

static enum leat_status reserve(struct stand *s, struct leat_error *err)
{
    struct bpe_scratch *scratch = s->scratch;
    size_t max = bpe_symbols_max(bpe_of(s->pipeline->model), BATCH_BYTES) + 2 * PRETOKEN_IDS;
    enum leat_status status = id_list_reserve(&scratch->many, max, err);

    if (status == LEAT_OK)
        status = id_list_reserve(&s->ids, 3 * BATCH_ROOM + max + BATCH_OVER, err);
    scratch->batch.many = scratch->many.ids;
    return status;
}

static void find(struct stand *s, const struct pretoken_cache *c, enum stage stage)
{
    struct pretoken_batch *b = &s->scratch->batch;

    b->many_count = 0;
    s->since = now();
    s->scratch->kernels->find(c, b);
    end(s, stage);
}

/* Keeps the lines of a batch's pretokens. */
static enum leat_status keep_lines(struct stand *s, struct leat_error *err)
{
    const struct pretoken_batch *b = &s->scratch->batch;
    enum leat_status status = GROW(s->lines, s->line_count + b->count, s->line_room, err);

    for (uint32_t i = 0; status == LEAT_OK && i < b->count; i++) {
        uint32_t bytes = b->begins[i + 1] - b->begins[i];

        if (bytes <= PRETOKEN_MAX) {
            struct pretoken_key key = pretoken_key_ahead(b->text + b->begins[i], bytes, b->parts[i]);

            s->lines[s->line_count++] = pretoken_cache_line(cache_of(s), &key);
        }
    }
    return status;
}

static enum leat_status take_batch(void *context, const struct model_pretokens *p, struct leat_error *err)
{
    struct stand *s = context;
    const struct bpe *m = bpe_of(s->pipeline->model);
    struct pretoken_batch *b = &s->scratch->batch;
    struct pretoken_rest r = { p->text, p->bytes, p->begin, p->ends, p->ends + p->count, false };
    struct pretoken_place place;
    enum leat_status status;

    if (s->task == WARM)
        return model_encode_batch(s->pipeline->model, s->scratch, p, &s->ids, err);
    end(s, SCAN);
    status = reserve(s, err);
    while (status == LEAT_OK && r.ends < r.last) {
        s->since = now();
        pretoken_place_text(&place, b, &r);
        pretoken_fill(b, s->scratch->kernels, &m->char_cuts, m->has_orphans ? m->orphans : NULL, &r, &place);
        end(s, CUT);
        if (b->count == 0) { /* longer than a batch */
            r.begin = pretoken_end(r.ends++);
            continue;
        }
        if (s->task == KEEP_LINES) {
            status = keep_lines(s, err);
            continue;
        }
        find(s, &s->one_line, ONE_LINE);
        find(s, cache_of(s), FIND);
        s->pass.missed += b->missed_count;
        s->pass.pretokens += b->count;
        s->since = now();
        s->pass.ids += s->scratch->kernels->write(b, 0, b->count, s->ids.ids);
        end(s, WRITE);
    }
    s->since = now();
    return status;
}

/* Pretokens that do not come in batches are none of a scanner's. */
static enum leat_status take_one(void *context, const uint8_t *text, size_t bytes, bool last, struct leat_error *err)
{
    (void)context, (void)text, (void)bytes, (void)last;
    return status_set(err, LEAT_E_UNSUPPORTED, "this tokenizer's pretokens do not come in batches");
}

/* ---- Passes ------------------------------------------------------------------------------------------------------ */

static enum leat_status run_stages(struct stand *s, const struct texts *t, struct leat_error *err)
{
    enum leat_status status = LEAT_OK;

    s->pass = (struct pass) { .pretokens = 0 };
    s->since = now();
    for (uint64_t i = 0; status == LEAT_OK && i < t->count; i++) {
        uint64_t begin = texts_begin(t, i);
        struct text_chunk chunk = { (const uint8_t *)t->bytes + begin, (size_t)(t->ends[i] - begin), 0, true };

        s->ids.count = 0;
        status = pretokenizer_run(s->pipeline->pretokenizer, s->pretokenizer, &chunk, take_one, s, err);
        end(s, SCAN);
    }
    return status;
}

static enum leat_status run_encoder(struct stand *s, const struct texts *t, struct leat_error *err)
{
    enum leat_status status = LEAT_OK;
    const uint32_t *ids;
    size_t count;

    s->since = now();
    for (uint64_t i = 0; status == LEAT_OK && i < t->count; i++) {
        uint64_t begin = texts_begin(t, i);

        status =
            encoder_run(s->encoder, (const uint8_t *)t->bytes + begin, (size_t)(t->ends[i] - begin), &ids, &count, err);
    }
    end(s, ENCODER);
    return status;
}

static void run_lines(struct stand *s)
{
    uint64_t sum = 0;

    s->since = now();
    for (size_t i = 0; i + AHEAD < s->line_count; i++) {
        __builtin_prefetch(s->lines[i + AHEAD]);
        sum += *s->lines[i];
    }
    __asm__ volatile("" : : "r"(sum)); /* somebody wants it */
    end(s, LINES);
}

/* Encodes all twice, so that nothing is new, and then goes through the stages. */
static enum leat_status run(struct stand *s, const struct texts *t, uint64_t runs, struct pass *best,
                            struct leat_error *err)
{
    enum leat_status status = LEAT_OK;

    for (unsigned i = 0; status == LEAT_OK && i < 3; i++) {
        s->task = i < 2 ? WARM : KEEP_LINES;
        status = run_stages(s, t, err);
        if (status == LEAT_OK && s->task == WARM)
            status = run_encoder(s, t, err);
    }
    s->task = MEASURE;
    for (uint64_t i = 0; status == LEAT_OK && i < runs; i++) {
        status = run_stages(s, t, err);
        if (status == LEAT_OK)
            status = run_encoder(s, t, err);
        run_lines(s);
        for (unsigned k = 0; k < STAGES; k++)
            if (i > 0 && best->seconds[k] < s->pass.seconds[k])
                s->pass.seconds[k] = best->seconds[k];
        *best = s->pass;
    }
    return status;
}

/* ---- The command ------------------------------------------------------------------------------------------------- */

static void make_one_line(struct pretoken_cache *c, uint64_t *lines)
{
    for (unsigned t = 0; t < PRETOKEN_TABLES; t++) /* a shift of 63 leaves two lines */
        c->tables[t] = (struct pretoken_table) { lines + (size_t)2 * t * PRETOKEN_LINE, 63 };
}

static enum leat_status make(struct stand *s, const struct stages_values *v, struct opened_spec *spec,
                             struct pipeline **p, struct leat_error *err)
{
    struct encoder_options options = { .max_bytes = (uint64_t)2 << 30 };
    struct tokenizer_spec *taken;
    void *scratch = NULL;
    enum leat_status status = spec_open(spec, v->tokenizer, NULL, err);

    if (status != LEAT_OK)
        return status;
    taken = spec->spec;
    spec->spec = NULL; /* the pipeline's from now on */
    status = pipeline_make(p, taken, err);
    if (status == LEAT_OK && ((*p)->model->kind->encode_batch != bpe_encode_pretokens || (*p)->prefix != SPACED_NOT))
        return status_set(err, LEAT_E_UNSUPPORTED, "%s is no byte-pair tokenizer with pretokens", v->tokenizer);
    s->pipeline = *p;
    if (status == LEAT_OK)
        status = bpe_scratch_make(&scratch, NULL, (*p)->model->kind->cache_bytes(SIZE_MAX / 2), err);
    s->scratch = scratch;
    if (status == LEAT_OK)
        status = pretokenizer_scratch_make(&s->pretokenizer, (*p)->pretokenizer, NULL, err);
    if (status == LEAT_OK)
        pretokenizer_scratch_batches(s->pretokenizer, take_batch);
    return status == LEAT_OK ? encoder_make(&s->encoder, *p, &options, err) : status;
}

static void print_rows(const struct pass *p, const struct texts *t, double cycles)
{
    double count = (double)p->pretokens;

    printf("texts     %s, %s pretokens, %.2f bytes and %.2f ids each, %.2f %% of them in no line; %.2f GHz\n",
           units_bytes(t->used).text, units_count(p->pretokens).text, machine_per((double)t->used, count),
           machine_per((double)p->ids, count), 100 * machine_per((double)p->missed, count), cycles);
    printf("%-42s%12s%12s%12s\n", "per pretoken", "ns", "cycles", "MB/s");
    for (unsigned k = 0; k < STAGES; k++) {
        double ns = machine_per(1e9 * p->seconds[k], count);

        printf("%-42s%12.2f%12.1f%12.0f\n", names[k].shown, ns, ns * cycles,
               machine_per((double)t->used, p->seconds[k]) / 1e6);
    }
}

static void print_json(const struct pass *p, const struct texts *t, const struct stages_values *v, double cycles)
{
    struct json j;

    machine_json_begin(&j);
    json_string(&j, "tokenizer", v->tokenizer);
    json_u64(&j, "bytes", t->used);
    json_u64(&j, "pretokens", p->pretokens);
    json_u64(&j, "missed", p->missed);
    json_u64(&j, "ids", p->ids);
    json_double(&j, "cycles_per_ns", cycles);
    json_open_object(&j, "ns_per_pretoken");
    for (unsigned k = 0; k < STAGES; k++)
        json_double(&j, names[k].key, machine_per(1e9 * p->seconds[k], (double)p->pretokens));
    json_close_object(&j);
    machine_json_end(&j);
}

int bench_stages(const struct command *self, int argc, char **argv)
{
    static _Alignas(128) uint64_t one_line[2 * PRETOKEN_TABLES * PRETOKEN_LINE];
    struct stages_values v = { .field = "text", .runs = 5 };
    struct opened_spec spec = { .spec = NULL };
    struct pipeline *p = NULL;
    struct pass best = { .pretokens = 0 };
    struct stand s = { .task = WARM };
    struct options_parsed parsed;
    struct texts texts = { .bytes = NULL };
    enum leat_status status;
    struct leat_error err;
    int code;

    if (!command_parse(self, argc, argv, &v, &parsed, &code))
        return code;
    make_one_line(&s.one_line, one_line);
    status = make(&s, &v, &spec, &p, &err);
    if (status == LEAT_OK)
        status = texts_read(&texts, parsed.words, parsed.count, v.field, &err);
    if (status == LEAT_OK)
        status = run(&s, &texts, v.runs, &best, &err);
    if (status == LEAT_OK && v.json)
        print_json(&best, &texts, &v, cycles_per_ns());
    if (status == LEAT_OK && !v.json) {
        machine_print();
        print_rows(&best, &texts, cycles_per_ns());
    }
    encoder_free(s.encoder);
    pretokenizer_scratch_free(s.pretokenizer);
    bpe_scratch_free(s.scratch);
    id_list_free(&s.ids);
    free(s.lines);
    pipeline_free(p);
    spec_close(&spec);
    texts_free(&texts);
    return bench_end(&parsed, status, &err);
}
