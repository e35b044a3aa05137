/*
 * stages.c: `leat-bench-dev stages`: where the time of encoding goes when a byte-pair tokenizer has met all words, per
 * pretoken; and what of it is waiting for memory. With --warm, where it goes when it has met another text.
 *
 * The stages are those of bpe_pretokens.c in the same order, with the clock between them, after an encoder has met the
 * texts in two passes. Of each stage the fastest pass counts. Pretokens that lie in no line even then, the long ones,
 * are counted and left out; the row of the whole encoder has them. Each batch is looked up once more right away, when
 * its lines are in the CPU's nearer caches; and once more all lines of the texts are loaded in their order, fetched
 * ahead as far as the CPU can, and nothing else. How many cycles a nanosecond has comes from a chain of additions.
 *
 * With --warm, words can be new once only, so each pass begins with another tokenizer, which meets that file first. The
 * lines loaded alone are then those of the pairs that new words are merged by, which no merging can do without.
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
    const char *tokenizer, *field, *warm;
    uint64_t runs;
    bool json;
};

const struct option_row bench_stages_options[] = {
    COMMANDS_TOKENIZER(struct stages_values, "a byte-pair tokenizer, as leat encode takes it", .required = true),
    BENCH_FIELD(stages_values),
    { BENCH_OPTION(stages_values, "warm", OPTION_TEXT, warm, "FILE",
                   "measure texts after this file's, instead of texts that were met") },
    BENCH_RUNS(stages_values, "5", "passes, of which the best of each stage counts"),
    BENCH_JSON(stages_values),
    OPTIONS_END
};

enum stage { SCAN, CUT, FIND, MERGE, WRITE, ENCODER, MET, FIND_AGAIN, LINES, AGAIN, PAIRS, STAGES };

/* When it is measured. */
enum { MET_ONLY = 1, NEW_ONLY = 2, BOTH = 3 };

static const struct {
    const char *key, *shown;
    int when;
} names[STAGES] = {
    [SCAN] = { "scan", "scan: where pretokens end", BOTH },
    [CUT] = { "cut", "cut: where they begin, and cuts in them", BOTH },
    [FIND] = { "find", "find: keys, lines, which are missing", BOTH },
    [MERGE] = { "merge", "merge: new words, into the cache", NEW_ONLY },
    [WRITE] = { "write", "write: ids", BOTH },
    [ENCODER] = { "encoder", "the whole encoder", BOTH },
    [MET] = { "met", "the same, once more: all is met", NEW_ONLY },
    [FIND_AGAIN] = { "find_again", "find, of a batch that was just found", MET_ONLY },
    [LINES] = { "lines", "their lines and nothing else", MET_ONLY },
    [AGAIN] = { "merge_again", "merge, of a batch that was just merged", NEW_ONLY },
    [PAIRS] = { "pairs", "lines of new words' pairs, nothing else", NEW_ONLY },
};

/* How far ahead the bare loop fetches. */
#define AHEAD 32

struct pass {
    double seconds[STAGES];
    uint64_t pretokens, missed, ids, pairs;
};

struct stand {
    struct pipeline *pipeline;
    struct pretokenizer_scratch *pretokenizer;
    struct bpe_scratch *scratch;
    struct encoder *encoder;
    struct pretoken_cache aside; /* with two lines, for what is merged once more */
    struct id_list ids;
    enum { WARM, KEEP_LINES, MEASURE, KEEP_PAIRS, MEASURE_NEW } task;
    double since; /* when the stage of now began */
    struct pass pass;
    uint32_t missed[BATCH_ROOM]; /* of a batch, before it is merged */
    const void **lines;          /* of texts, or of pairs, in the order of the texts */
    size_t line_count, line_room;
    struct opened_spec spec;
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

static enum leat_status keep_line(struct stand *s, const void *line, struct leat_error *err)
{
    enum leat_status status = GROW(s->lines, s->line_count + 1, s->line_room, err);

    if (status == LEAT_OK)
        s->lines[s->line_count++] = line;
    return status;
}

/* Keeps the place where a pair is looked up; returns its rank. */
static uint32_t keep_pair(struct stand *s, const struct pair_table *t, uint32_t left, uint32_t right,
                          enum leat_status *status, struct leat_error *err)
{
    if (*status == LEAT_OK)
        *status = keep_line(s, &t->words[pair_place(t, pair_hash(left, right), 0)], err);
    return pair_rank(t, left, right);
}

/* Merges a word one pair after the other, and keeps the places where pairs are looked up, those of bytes first. */
static enum leat_status keep_pairs_of(struct stand *s, const struct merge_rules *r, const uint8_t *word, uint32_t count,
                                      struct leat_error *err)
{
    uint32_t symbols[PRETOKEN_MAX], ranks[PRETOKEN_MAX], least;
    enum leat_status status = LEAT_OK;

    for (uint32_t i = 0; i < count; i++)
        symbols[i] = r->bytes[word[i]];
    for (uint32_t i = 0; status == LEAT_OK && i + 1 < count; i++) {
        const uint32_t *first = &r->first[word[i] << 8 | word[i + 1]];

        ranks[i] = *first;
        status = keep_line(s, first, err);
    }
    while (status == LEAT_OK && count > 1) {
        least = 0;
        for (uint32_t i = 1; i + 1 < count; i++)
            least = ranks[i] < ranks[least] ? i : least;
        if (ranks[least] == UINT32_MAX)
            break;
        if (r->pairs->results)
            status = keep_line(s, &r->pairs->results[ranks[least]], err);
        symbols[least] = pair_result(r->pairs, ranks[least]);
        count--;
        for (uint32_t i = least + 1; i < count; i++)
            symbols[i] = symbols[i + 1];
        for (uint32_t i = least; i + 1 < count; i++)
            ranks[i] = ranks[i + 1];
        if (least > 0)
            ranks[least - 1] = keep_pair(s, r->pairs, symbols[least - 1], symbols[least], &status, err);
        if (least + 1 < count)
            ranks[least] = keep_pair(s, r->pairs, symbols[least], symbols[least + 1], &status, err);
    }
    return status;
}

/* Leaves long pretokens out, which the store keeps. */
static void leave_out_long(struct pretoken_batch *b)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < b->missed_count; i++) {
        uint32_t at = b->missed[i];

        b->missed[count] = at;
        count += b->begins[at + 1] - b->begins[at] <= PRETOKEN_MAX;
    }
    b->missed_count = count;
}

static enum leat_status keep_pairs(struct stand *s, struct leat_error *err)
{
    const struct pretoken_batch *b = &s->scratch->batch;
    enum leat_status status = LEAT_OK;

    for (uint32_t i = 0; status == LEAT_OK && i < b->missed_count; i++) {
        uint32_t at = b->missed[i];

        status = keep_pairs_of(s, &bpe_of(s->pipeline->model)->rules, b->text + b->begins[at],
                               b->begins[at + 1] - b->begins[at], err);
    }
    return status;
}

static void merge(struct stand *s, struct pretoken_cache *c, enum stage stage)
{
    s->since = now();
    s->scratch->kernels->merge(&bpe_of(s->pipeline->model)->rules, c, &s->scratch->batch);
    end(s, stage);
}

/* Looks a batch up, merges what is new, and writes its ids; and merges it again, with tables that are in the CPU's
 * nearer caches by now. */
static enum leat_status take_new(struct stand *s, struct leat_error *err)
{
    struct pretoken_batch *b = &s->scratch->batch;
    enum leat_status status = LEAT_OK;
    uint32_t missed, many;

    find(s, cache_of(s), FIND);
    leave_out_long(b);
    missed = b->missed_count;
    many = b->many_count;
    memcpy(s->missed, b->missed, missed * sizeof *b->missed);
    s->pass.missed += missed;
    s->pass.pretokens += b->count;
    if (s->task == KEEP_PAIRS)
        status = keep_pairs(s, err);
    merge(s, &s->scratch->words.own, MERGE);
    s->pass.ids += s->scratch->kernels->write(b, 0, b->count, s->ids.ids);
    end(s, WRITE);
    memcpy(b->missed, s->missed, missed * sizeof *b->missed);
    b->missed_count = missed;
    b->many_count = many;
    merge(s, &s->aside, AGAIN);
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
        if (s->task == KEEP_LINES || s->task == KEEP_PAIRS || s->task == MEASURE_NEW) {
            status = s->task == KEEP_LINES ? keep_lines(s, err) : take_new(s, err);
            continue;
        }
        find(s, cache_of(s), FIND);
        find(s, cache_of(s), FIND_AGAIN);
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

static enum leat_status run_encoder(struct stand *s, const struct texts *t, enum stage stage, struct leat_error *err)
{
    enum leat_status status = LEAT_OK;
    const uint32_t *ids;
    size_t count;

    s->pass.seconds[stage] = 0;
    s->since = now();
    for (uint64_t i = 0; status == LEAT_OK && i < t->count; i++) {
        uint64_t begin = texts_begin(t, i);

        status =
            encoder_run(s->encoder, (const uint8_t *)t->bytes + begin, (size_t)(t->ends[i] - begin), &ids, &count, err);
    }
    end(s, stage);
    return status;
}

static void run_lines(struct stand *s, enum stage stage)
{
    uint64_t sum = 0;

    s->pass.seconds[stage] = 0;
    s->since = now();
    for (size_t i = 0; i + AHEAD < s->line_count; i++) {
        __builtin_prefetch(s->lines[i + AHEAD]);
        sum += *(const uint32_t *)s->lines[i];
    }
    __asm__ volatile("" : : "r"(sum)); /* somebody wants it */
    end(s, stage);
}

/* Of each stage the fastest pass counts. */
static void keep_best(struct stand *s, struct pass *best, bool first)
{
    for (unsigned k = 0; k < STAGES; k++)
        if (!first && best->seconds[k] < s->pass.seconds[k])
            s->pass.seconds[k] = best->seconds[k];
    *best = s->pass;
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
            status = run_encoder(s, t, ENCODER, err);
    }
    s->task = MEASURE;
    for (uint64_t i = 0; status == LEAT_OK && i < runs; i++) {
        status = run_stages(s, t, err);
        if (status == LEAT_OK)
            status = run_encoder(s, t, ENCODER, err);
        run_lines(s, LINES);
        keep_best(s, best, i == 0);
    }
    return status;
}

/* ---- The command ------------------------------------------------------------------------------------------------- */

static void make_aside(struct pretoken_cache *c, uint64_t *lines, uint32_t *ring, uint32_t ring_ids)
{
    c->ring = ring;
    c->ring_mask = ring_ids - 1;
    for (unsigned t = 0; t < PRETOKEN_TABLES; t++) /* a shift of 63 leaves two lines */
        c->tables[t] = (struct pretoken_table) { lines + (size_t)2 * t * PRETOKEN_LINE, 63 };
}

static enum leat_status make(struct stand *s, const struct stages_values *v, struct leat_error *err)
{
    struct encoder_options options = { .max_bytes = (uint64_t)2 << 30 };
    struct tokenizer_spec *taken;
    void *scratch = NULL;
    enum leat_status status = spec_open(&s->spec, v->tokenizer, NULL, err);

    if (status != LEAT_OK)
        return status;
    taken = s->spec.spec;
    s->spec.spec = NULL; /* the pipeline's from now on */
    status = pipeline_make(&s->pipeline, taken, err);
    if (status == LEAT_OK &&
        (s->pipeline->model->kind->encode_batch != bpe_encode_pretokens || s->pipeline->prefix != SPACED_NOT))
        return status_set(err, LEAT_E_UNSUPPORTED, "%s is no byte-pair tokenizer with pretokens", v->tokenizer);
    if (status == LEAT_OK && v->warm &&
        (!bpe_of(s->pipeline->model)->rules.pairs || bpe_of(s->pipeline->model)->letters))
        return status_set(err, LEAT_E_UNSUPPORTED, "--warm is for tokenizers whose words are merged from bytes");
    if (status == LEAT_OK)
        status = bpe_scratch_make(&scratch, NULL, s->pipeline->model->kind->cache_bytes(SIZE_MAX / 2), err);
    s->scratch = scratch;
    if (status == LEAT_OK)
        status = pretokenizer_scratch_make(&s->pretokenizer, s->pipeline->pretokenizer, NULL, err);
    if (status == LEAT_OK)
        pretokenizer_scratch_batches(s->pretokenizer, take_batch);
    return status == LEAT_OK ? encoder_make(&s->encoder, s->pipeline, &options, err) : status;
}

static void unmake(struct stand *s)
{
    encoder_free(s->encoder);
    pretokenizer_scratch_free(s->pretokenizer);
    bpe_scratch_free(s->scratch);
    pipeline_free(s->pipeline);
    spec_close(&s->spec);
    s->encoder = NULL;
    s->pretokenizer = NULL;
    s->scratch = NULL;
    s->pipeline = NULL;
}

/* Lets another tokenizer meet the texts of --warm: the encoder, or the stages. */
static enum leat_status make_warm(struct stand *s, const struct stages_values *v, const struct texts *warm,
                                  bool encoder, struct leat_error *err)
{
    enum leat_status status;

    unmake(s);
    s->task = WARM;
    status = make(s, v, err);
    if (status == LEAT_OK)
        status = encoder ? run_encoder(s, warm, ENCODER, err) : run_stages(s, warm, err);
    return status;
}

static enum leat_status run_new(struct stand *s, const struct stages_values *v, const struct texts *warm,
                                const struct texts *t, struct pass *best, struct leat_error *err)
{
    enum leat_status status = make_warm(s, v, warm, false, err);
    double pairs = 0;

    s->task = KEEP_PAIRS;
    if (status == LEAT_OK)
        status = run_stages(s, t, err);
    for (uint64_t i = 0; i < v->runs; i++) { /* before the tables go */
        run_lines(s, PAIRS);
        pairs = i == 0 || s->pass.seconds[PAIRS] < pairs ? s->pass.seconds[PAIRS] : pairs;
    }
    for (uint64_t i = 0; status == LEAT_OK && i < v->runs; i++) {
        status = make_warm(s, v, warm, false, err);
        s->task = MEASURE_NEW;
        if (status == LEAT_OK)
            status = run_stages(s, t, err);
        if (status == LEAT_OK)
            status = make_warm(s, v, warm, true, err);
        if (status == LEAT_OK)
            status = run_encoder(s, t, ENCODER, err);
        for (unsigned k = 0; status == LEAT_OK && k < 2; k++) /* the cache may grow in the first */
            status = run_encoder(s, t, MET, err);
        s->pass.seconds[PAIRS] = pairs;
        s->pass.pairs = s->line_count;
        keep_best(s, best, i == 0);
    }
    return status;
}

static bool is_measured(const struct stages_values *v, unsigned stage)
{
    return names[stage].when & (v->warm ? NEW_ONLY : MET_ONLY);
}

/* What a new word costs, beside a bare loop over what merging it must look up. */
static void print_new(const struct pass *p, double cycles)
{
    double words = (double)p->missed, ns = 1e9 * (p->seconds[ENCODER] - p->seconds[MET]);

    printf("a new word: %.0f cycles more than one that was met; merging it, into the cache: %.0f; once more: %.0f; "
           "its %.1f pairs, looked up and nothing else: %.0f\n",
           cycles * machine_per(ns, words), cycles * machine_per(1e9 * p->seconds[MERGE], words),
           cycles * machine_per(1e9 * p->seconds[AGAIN], words), machine_per((double)p->pairs, words),
           cycles * machine_per(1e9 * p->seconds[PAIRS], words));
}

static void print_rows(const struct stages_values *v, const struct pass *p, const struct texts *t, double cycles)
{
    double count = (double)p->pretokens;

    printf("texts     %s, %s pretokens, %.2f bytes and %.2f ids each, %.2f %% of them %s; %.2f GHz\n",
           units_bytes(t->used).text, units_count(p->pretokens).text, machine_per((double)t->used, count),
           machine_per((double)p->ids, count), 100 * machine_per((double)p->missed, count),
           v->warm ? "new, of at most 31 bytes" : "in no line", cycles);
    printf("%-42s%12s%12s%12s\n", "per pretoken", "ns", "cycles", "MB/s");
    for (unsigned k = 0; k < STAGES; k++) {
        double ns = machine_per(1e9 * p->seconds[k], count);

        if (is_measured(v, k))
            printf("%-42s%12.2f%12.1f%12.0f\n", names[k].shown, ns, ns * cycles,
                   machine_per((double)t->used, p->seconds[k]) / 1e6);
    }
    if (v->warm)
        print_new(p, cycles);
}

static void print_json(const struct stages_values *v, const struct pass *p, const struct texts *t, double cycles)
{
    struct json j;

    machine_json_begin(&j);
    json_string(&j, "tokenizer", v->tokenizer);
    json_u64(&j, "bytes", t->used);
    json_u64(&j, "pretokens", p->pretokens);
    json_u64(&j, "missed", p->missed);
    json_u64(&j, "ids", p->ids);
    if (v->warm)
        json_u64(&j, "pairs", p->pairs);
    json_double(&j, "cycles_per_ns", cycles);
    json_open_object(&j, "ns_per_pretoken");
    for (unsigned k = 0; k < STAGES; k++)
        if (is_measured(v, k))
            json_double(&j, names[k].key, machine_per(1e9 * p->seconds[k], (double)p->pretokens));
    json_close_object(&j);
    machine_json_end(&j);
}

int bench_stages(const struct command *self, int argc, char **argv)
{
    static _Alignas(128) uint64_t lines[2 * PRETOKEN_TABLES * PRETOKEN_LINE];
    static uint32_t ring[1024];
    struct stages_values v = { .field = "text", .runs = 5 };
    struct pass best = { .pretokens = 0 };
    static struct stand s;
    struct options_parsed parsed;
    struct texts texts = { .bytes = NULL }, warm = { .bytes = NULL };
    enum leat_status status;
    struct leat_error err;
    int code;

    if (!command_parse(self, argc, argv, &v, &parsed, &code))
        return code;
    make_aside(&s.aside, lines, ring, sizeof ring / sizeof *ring);
    status = texts_read(&texts, parsed.words, parsed.count, v.field, &err);
    if (status == LEAT_OK && v.warm)
        status = texts_read(&warm, &v.warm, 1, v.field, &err);
    if (status == LEAT_OK && v.warm)
        status = run_new(&s, &v, &warm, &texts, &best, &err);
    if (status == LEAT_OK && !v.warm)
        status = make(&s, &v, &err);
    if (status == LEAT_OK && !v.warm)
        status = run(&s, &texts, v.runs, &best, &err);
    if (status == LEAT_OK && v.json)
        print_json(&v, &best, &texts, cycles_per_ns());
    if (status == LEAT_OK && !v.json) {
        machine_print();
        print_rows(&v, &best, &texts, cycles_per_ns());
    }
    unmake(&s);
    id_list_free(&s.ids);
    free(s.lines);
    texts_free(&texts);
    texts_free(&warm);
    return bench_end(&parsed, status, &err);
}
