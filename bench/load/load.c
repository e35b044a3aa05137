/*
 * load.c: `leat-bench load`: takes batches of a plan as a training loop does, and shows what that costs.
 *
 * This file has the options, the output, and the answer to --compare. load_run.c takes the batches in rounds;
 * between them, on the same machine, it runs a bare loop (load_bare.c) and steps without a loader.
 */
#include "load.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure/machine.h"
#include "bench/subcommands.h"
#include "cli/units.h"
#include "loader/loader_fields.h"

static const char *const outputs[] = { "tokens", "i32", "i64", "packed", "views", NULL };
static const char *const kinds[] = { "window", "document", NULL };
static const char *const devices[] = { "host", "cuda", NULL };
static const char *const compares[] = { "nothing", "synthetic", NULL };

const struct option_row bench_load_options[] = {
    { BENCH_OPTION(load_values, "batch", OPTION_COUNT, loader.batch, "B",
                   "rows of a global batch; not with --max-tokens"),
      .min = 1, .max = 1u << 30 },
    { BENCH_OPTION(load_values, "rank", OPTION_COUNT, loader.ranks.rank, "R", "take the rows of this rank"),
      .standard = "0", .max = 1u << 30 },
    { BENCH_OPTION(load_values, "world", OPTION_COUNT, loader.ranks.world, "W", "number of ranks; divides the batch"),
      .standard = "1", .min = 1, .max = 1u << 30 },
    { BENCH_OPTION(load_values, "balance", OPTION_CHOICE, loader.ranks.balance, "HOW",
                   "attention: deal the rows of order fit to ranks by what attention costs; lanes: by lanes of "
                   "--stretch; none: one after another"),
      .standard = "none", .choices = loader_balances },
    { BENCH_OPTION(load_values, "slice", OPTION_TEXT, slice, "R/N",
                   "take slice R of the N that each row is cut into, numbered from 0, as a rank of context parallelism "
                   "does; --checksum is then of its inputs") },
    { BENCH_OPTION(load_values, "layout", OPTION_CHOICE, loader.slice.layout, "LAYOUT",
                   "what slices are: contiguous, zigzag (two chunks of 2N) or zigzag-documents (of each document)"),
      .standard = "contiguous", .choices = loader_layouts },
    { BENCH_OPTION(load_values, "ahead", OPTION_COUNT32, loader.outputs.ahead, "K",
                   "labels of K tokens after the next, for multi-token prediction"),
      .standard = "0", .max = 256 },
    { BENCH_OPTION(load_values, "column", OPTION_TEXT, column, "NAME",
                   "also gather this column with each batch; it stays in the ring") },
    NO_LOSS_ROWS(load_values),
    { BENCH_OPTION(load_values, "from", OPTION_COUNT, loader.position, "P", "the position to start at"),
      .standard = "0", .max = LEAT_MAX_SAMPLES },
    { BENCH_OPTION(load_values, "steps", OPTION_COUNT, steps, "N", "number of batches, unless the plan ends earlier"),
      .standard = "1000", .min = 1, .max = (uint64_t)1 << 40 },
    { BENCH_OPTION(load_values, "engine", OPTION_CHOICE, loader.io.engine, "ENGINE",
                   "how files are read: auto, map, pread, advise or uring"),
      .standard = "auto", .choices = loader_engines },
    { BENCH_OPTION(load_values, "output", OPTION_CHOICE, output, "OUTPUT",
                   "tokens as stored; i32 or i64: inputs and labels; packed: i32 with positions and sequences; views: "
                   "rows in place, without a loader"),
      .standard = "tokens", .choices = outputs },
    { BENCH_OPTION(load_values, "device", OPTION_TEXT, loader.device.name, "DEVICE",
                   "where batches go: host or cuda:N"),
      .standard = "host", .offered = devices },
    { BENCH_OPTION(load_values, "driver", OPTION_TEXT, loader.device.driver, "FILE",
                   "library to load as CUDA's driver instead of libcuda.so.1") },
    { BENCH_OPTION(load_values, "threads", OPTION_COUNT32, loader.io.threads, "N",
                   "the loader's threads; 0: each call makes its batch"),
      .standard = "1", .max = 64 },
    { BENCH_OPTION(load_values, "borrow", OPTION_FLAG, borrow, NULL,
                   "borrow outputs that the loader's thread has made; without it, each call writes them") },
    { BENCH_OPTION(
          load_values, "apart", OPTION_CHOICE, loader.io.apart, "WHEN",
          "read rows of cold files, with the pages around them, straight into their slots: auto (on a GPU), always or "
          "never"),
      .standard = "auto", .choices = loader_aparts },
    { BENCH_OPTION(load_values, "slots", OPTION_COUNT32, loader.io.slots, "N", "slots of the ring"),
      .standard = "chosen", .min = 2, .max = 64 },
    { BENCH_OPTION(load_values, "memory", OPTION_SIZE, loader.io.memory, "SIZE", "limit on the ring's memory"),
      .standard = "chosen" },
    { BENCH_OPTION(load_values, "no-verify", OPTION_FLAG, no_verify, NULL,
                   "do not check pages when they are first read") },
    { BENCH_OPTION(load_values, "on-damage", OPTION_CHOICE, loader.on_damage, "WHAT",
                   "error: stop; mask: mask the loss of damaged rows"),
      .standard = "error", .choices = loader_damages },
    { BENCH_OPTION(load_values, "last", OPTION_CHOICE, loader.last, "HOW",
                   "the last batch of a finite plan: short, padded or dropped"),
      .standard = "short", .choices = loader_lasts },
    { BENCH_OPTION(load_values, "rows", OPTION_CHOICE, rows, "WHAT",
                   "rows are windows of the plan, or whole documents"),
      .standard = "window", .choices = kinds },
    { BENCH_OPTION(load_values, "work", OPTION_TEXT, work, "MS",
                   "hold each batch for MS milliseconds, as a training step does"),
      .standard = "0" },
    { BENCH_OPTION(load_values, "bare", OPTION_FLAG, bare, NULL,
                   "take turns with a bare loop over as many places of the plan; reads the files into memory first") },
    { BENCH_OPTION(load_values, "synthetic", OPTION_FLAG, synthetic, NULL,
                   "take turns with the same steps on one batch that is already in memory") },
    { BENCH_OPTION(
          load_values, "compare", OPTION_CHOICE, compare, "WITH",
          "synthetic: measure as --synthetic does, and say in a sentence what share of a step the loader takes; with "
          "--work, what share of training it would take"),
      .standard = "nothing", .choices = compares },
    { BENCH_OPTION(
          load_values, "warm-up", OPTION_COUNT, warm_up, "N",
          "batches to take before the clock starts: the first touch of a page fills page tables and verifies it"),
      .standard = "0", .max = (uint64_t)1 << 40 },
    { BENCH_OPTION(load_values, "rounds", OPTION_COUNT, rounds, "N", "number of turns that the steps are divided into"),
      .standard = "10", .min = 1, .max = 100000 },
    { BENCH_OPTION(load_values, "checksum", OPTION_FLAG, checksum, NULL,
                   "print XXH3-64 of the delivered rows of L + 1 stored tokens, in order; hashing is not timed") },
    { BENCH_OPTION(load_values, "dump", OPTION_TEXT, dump, "FILE", "write the bytes of --checksum to a file"),
      .path = true },
    BENCH_JSON(load_values),
    PLAN_OPTION_ROWS,
    PLAN_OPTION_SAMPLES,
    CACHE_OPTION_ROWS,
    OPTIONS_END,
};

/* ---- Is it the loader? ---- */

/* The answer to --compare. Steps with real batches and steps with a batch that is in memory already take turns in
 * one run. The difference is what the loader costs. */

#define LITTLE 0.01 /* a share of a step that is too small to matter, and lies below the noise between rounds */

static double seconds_per_step(const struct load_figures *f)
{
    return machine_per(f->seconds, (double)f->steps);
}

/* Returns what the loader did most while steps ran. */
static const char *cause(const struct leat_loader_stats *s)
{
    const struct {
        uint64_t ns;
        const char *name;
    } parts[] = { { s->time.storage_ns, "reading from storage" },
                  { s->time.gather_ns, "copying rows" },
                  { s->time.documents_ns, "finding documents and reading masks" },
                  { s->time.outputs_ns, "making outputs" },
                  { s->time.copy_ns, "copying to the device" },
                  { s->time.order_ns, "computing which samples come" } };
    size_t most = 0;

    for (size_t i = 1; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].ns > parts[most].ns)
            most = i;
    return parts[most].name;
}

/* Returns the share of a step that the loader adds, compared with a batch that is in memory already. */
static double loader_share(const struct load_result *r)
{
    double real = seconds_per_step(&r->total), without = seconds_per_step(&r->synthetic);

    return real > 0 && without > 0 && without < real ? 1 - without / real : 0;
}

/* Writes the sentence of --compare. */
static void answer(char *text, size_t room, const struct load_result *r)
{
    double share = loader_share(r);
    struct units_text real = units_duration(seconds_per_step(&r->total)),
                      without = units_duration(seconds_per_step(&r->synthetic));

    if (r->synthetic.steps == 0 && cli_interrupted())
        snprintf(text, room, "Nothing to compare with: the run was stopped before any step with the batch in memory.");
    else if (r->synthetic.steps == 0)
        snprintf(text, room, "Nothing to compare with: the plan ended; use fewer --steps.");
    else if (share < LITTLE)
        snprintf(text, room, "It is not the loader: it takes %.1f %% of a step (%s with real batches, %s without).",
                 100 * share, real.text, without.text);
    else
        snprintf(
            text, room,
            "The loader takes %.1f %% of a step (%s with real batches, %s without); most of its own time went into "
            "%s.",
            100 * share, real.text, without.text, cause(&r->stats));
}

/* ---- Output ---- */

/* Writes how many calls for batches took which time, up to the longest. The array is empty for views. */
static void json_calls(struct json *j, const struct load_figures *f)
{
    unsigned end = LOAD_CALLS;

    while (end > 0 && f->calls[end - 1] == 0)
        end--;
    json_open_array(j, "counts");
    for (unsigned i = 0; i < end; i++)
        json_u64(j, NULL, f->calls[i]);
    json_close_array(j);
}

static void json_next(struct json *j, const struct leat_times *t, const struct load_figures *f)
{
    json_open_object(j, "next_us");
    json_double(j, "mean", (double)t->mean / 1e3);
    json_double(j, "p50", (double)t->p50 / 1e3);
    json_double(j, "p99", (double)t->p99 / 1e3);
    json_double(j, "p999", (double)t->p999 / 1e3);
    json_double(j, "max", (double)t->max / 1e3);
    json_calls(j, f);
    json_close_object(j);
}

static void json_figures(struct json *j, const struct load_figures *f)
{
    json_u64(j, "steps", f->steps);
    json_u64(j, "tokens", f->tokens);
    json_double(j, "seconds", f->seconds);
    json_double(j, "tokens_per_s", machine_per((double)f->tokens, f->seconds));
    json_double(j, "gb_per_s", machine_per((double)f->bytes, f->seconds) / 1e9);
    json_double(j, "cpu_s_per_mtok", machine_per(f->cpu_seconds, (double)f->tokens / 1e6));
}

static void json_waits(struct json *j, const struct leat_loader_stats *s)
{
    json_open_object(j, "waits_s");
    for (size_t i = 0; i < sizeof loader_stats / sizeof *loader_stats; i++) {
        uint64_t ns;

        memcpy(&ns, (const char *)s + loader_stats[i].offset, sizeof ns);
        if (loader_stats[i].kind == FIELD_SECONDS && strcmp(loader_stats[i].name, "first_batch") != 0)
            json_double(j, loader_stats[i].name, (double)ns / 1e9);
    }
    json_close_object(j);
}

static void json_counts(struct json *j, const struct leat_loader_stats *s)
{
    json_u64(j, "slots", s->ring.slots);
    json_u64(j, "ring_bytes", s->ring.bytes);
    json_u64(j, "read_bytes", s->io.read_bytes);
    json_u64(j, "copied_bytes", s->device.ring_bytes > 0 ? s->device.sent_bytes : s->io.copied_bytes);
    json_u64(j, "unregistered", s->io.unregistered);
    if (s->remote.cache_bytes > 0) {
        json_open_object(j, "remote");
        json_u64(j, "requests", s->remote.requests);
        json_u64(j, "bytes", s->remote.bytes);
        json_u64(j, "retries", s->remote.retries);
        json_double(j, "cached_share", 1 - s->remote.share);
        json_close_object(j);
    }
    json_u64(j, "reads", s->io.reads);
    json_u64(j, "hits", s->io.hits);
    json_u64(j, "reads_in_flight", s->io.reads_in_flight);
    json_u64(j, "warmed_bytes", s->io.warmed_bytes);
    json_u64(j, "pages_verified", s->io.pages_verified);
    json_u64(j, "rows_damaged", s->rows_damaged);
}

static void json_sources(struct json *j, const struct leat_plan *plan, const struct leat_loader_source *sources)
{
    struct leat_plan_source_info source = LEAT_PLAN_SOURCE_INFO_INIT;
    struct leat_plan_info info = LEAT_PLAN_INFO_INIT;

    leat_plan_info(plan, &info);
    json_open_array(j, "sources");
    for (uint64_t i = 0; sources && i < info.sources; i++) {
        leat_plan_source_info(plan, i, &source, NULL);
        json_open_object(j, NULL);
        json_string(j, "name", source.name);
        json_double(j, "share", sources[i].share);
        json_u64(j, "rows", sources[i].rows);
        json_u64(j, "tokens", sources[i].tokens);
        json_u64(j, "loss_tokens", sources[i].loss_tokens);
        json_close_object(j);
    }
    json_close_array(j);
}

static void print_json(const struct load_values *v, const struct leat_plan *plan, const struct load_result *r)
{
    const struct leat_loader_stats *s = &r->stats;
    char checksum[17], text[256];
    struct json j;

    snprintf(checksum, sizeof checksum, "%016" PRIx64, r->checksum);
    machine_json_begin(&j);
    json_figures(&j, &r->total);
    json_next(&j, &r->next, &r->total);
    json_double(&j, "first_batch_ms", (double)s->time.first_batch_ns / 1e6);
    json_double(&j, "memory_mib", r->memory_mib);
    json_waits(&j, s);
    json_double(&j, "waiting_share", s->time.waiting_share_all);
    json_double(&j, "padding_share", s->padding_share);
    json_string(&j, "engine", v->output == LOAD_VIEWS ? "views" : s->io.engine);
    json_string(&j, "device", v->output == LOAD_VIEWS ? "host" : s->device.name);
    json_string(&j, "output", outputs[v->output]);
    json_u64(&j, "threads", v->loader.io.threads);
    json_counts(&j, s);
    if (v->loader.ranks.balance == LEAT_BALANCE_ATTENTION) {
        json_open_object(&j, "balance");
        json_u64(&j, "batches", s->balance.dealt);
        json_double(&j, "spread", s->balance.spread);
        json_double(&j, "spread_mean", s->balance.spread_mean);
        json_double(&j, "spread_by_chance", s->balance.spread_by_chance);
        json_close_object(&j);
    }
    json_sources(&j, plan, r->sources);
    if (r->calls_per_batch > 0)
        json_double(&j, "driver_calls_a_batch", r->calls_per_batch);
    if (v->bare) {
        json_open_object(&j, "bare");
        json_figures(&j, &r->bare);
        json_double(&j, "ratio", r->bare_ratio);
        json_close_object(&j);
    }
    if (v->synthetic) {
        json_open_object(&j, "synthetic");
        json_figures(&j, &r->synthetic);
        json_double(&j, "loss", r->synthetic_loss);
        json_double(&j, "share", loader_share(r));
        json_close_object(&j);
    }
    if (v->compare) {
        answer(text, sizeof text, r);
        json_string(&j, "answer", text);
    }
    if (v->checksum)
        json_string(&j, "checksum", checksum);
    json_string(&j, "notices", r->notices[0] ? r->notices : NULL);
    machine_json_end(&j);
}

static void print_row(const char *name, const struct load_figures *f)
{
    printf("  %-10s %14s  %10s  %8.3f ms CPU per million tokens\n", name,
           units_rate(machine_per((double)f->tokens, f->seconds), "tokens").text,
           units_rate(machine_per((double)f->bytes, f->seconds), "B").text,
           1e3 * machine_per(f->cpu_seconds, (double)f->tokens / 1e6));
}

static void print_text(const struct load_values *v, const struct load_result *r)
{
    const struct leat_loader_stats *s = &r->stats;
    char text[256];

    machine_print();
    printf("%s batches, %s rows, %s tokens in %s\n", units_count(r->total.steps).text, units_count(r->total.rows).text,
           units_count(r->total.tokens).text, units_duration(r->total.seconds).text);
    print_row(outputs[v->output], &r->total);
    if (v->bare) {
        print_row("bare", &r->bare);
        printf("  %.2f times the time of the bare loop (median of the rounds)\n", r->bare_ratio);
    }
    if (v->synthetic) {
        print_row("synthetic", &r->synthetic);
        printf("  a step takes %+.2f %% more time than without a loader\n", 100 * r->synthetic_loss);
    }
    if (v->compare) {
        answer(text, sizeof text, r);
        printf("  %s\n", text);
    }
    printf("  %s   mean %.1f us, p50 %.1f, p99 %.1f, p99.9 %.1f, most %.1f\n",
           v->output == LOAD_VIEWS ? "a view" : "next  ", (double)r->next.mean / 1e3, (double)r->next.p50 / 1e3,
           (double)r->next.p99 / 1e3, (double)r->next.p999 / 1e3, (double)r->next.max / 1e3);
    printf("  memory   %.1f MiB of private memory\n", r->memory_mib);
    if (v->output != LOAD_VIEWS) {
        printf("  engine   %s; ring of %u slots, %s; %s; first batch after %.2f ms\n", s->io.engine, s->ring.slots,
               units_bytes(s->ring.bytes).text, s->device.name, (double)s->time.first_batch_ns / 1e6);
        printf(
            "  time     order %.3f s, storage %.3f, gather %.3f, documents %.3f, outputs %.3f, slot %.3f; the consumer "
            "waited %.3f (%.1f %%)\n",
            (double)s->time.order_ns / 1e9, (double)s->time.storage_ns / 1e9, (double)s->time.gather_ns / 1e9,
            (double)s->time.documents_ns / 1e9, (double)s->time.outputs_ns / 1e9, (double)s->time.slot_ns / 1e9,
            (double)s->time.consumer_ns / 1e9, 100 * s->time.waiting_share_all);
        printf("  read     %s for %s, of which the CPU copied %s; %s of %s rows from memory; warmed %s\n",
               units_bytes(s->io.read_bytes).text, units_bytes(s->io.bytes).text, units_bytes(s->io.copied_bytes).text,
               units_count(s->io.hits).text, units_count(s->io.reads).text, units_bytes(s->io.warmed_bytes).text);
        if (s->remote.cache_bytes > 0 && s->remote.requests == 0)
            printf("  server   no requests: all that was needed was in the cache\n");
        else if (s->remote.cache_bytes > 0)
            printf("  server   %s requests (%s again), %s; %.1f %% of the pages were in the cache\n",
                   units_count(s->remote.requests).text, units_count(s->remote.retries).text,
                   units_bytes(s->remote.bytes).text, 100 * (1 - s->remote.share));
    }
    if (s->padding_share > 0)
        printf("  padding  %.2f %% of the places of batches\n", 100 * s->padding_share);
    if (v->loader.ranks.balance == LEAT_BALANCE_ATTENTION)
        printf(
            "  balance  sums of squared lengths of ranks are %.2f %% apart, by chance %.1f %% (means of %s batches)\n",
            100 * s->balance.spread_mean, 100 * s->balance.spread_by_chance, units_count(s->balance.dealt).text);
    if (r->calls_per_batch > 0)
        printf("  driver   %.1f calls per batch, by loader and consumer\n", r->calls_per_batch);
    if (v->checksum)
        printf("  checksum %016" PRIx64 "\n", r->checksum);
    if (s->rows_damaged > 0)
        printf("  damaged  %s masked\n", units_counted(s->rows_damaged, "row").text);
    if (r->notices[0])
        printf("%s\n", r->notices);
}

/* ---- The command ---- */

static bool parse_work(const struct command *self, struct load_values *v, int *code)
{
    char *end;
    double ms;

    if (!v->work)
        return true;
    ms = strtod(v->work, &end);
    if (*end || end == v->work || !(ms >= 0) || ms > 1e9) {
        *code = command_wrong(self, "--work: \"%.40s\" is not a number of milliseconds", v->work);
        return false;
    }
    v->work_ns = (uint64_t)(ms * 1e6);
    return true;
}

static bool parse_slice(const struct command *self, struct load_values *v, int *code)
{
    struct leat_loader_slice *part = &v->loader.slice;
    char *end = NULL;

    if (v->slice) {
        part->rank = strtoull(v->slice, &end, 10);
        part->count = *end == '/' && end[1] >= '0' && end[1] <= '9' ? strtoull(end + 1, &end, 10) : 0;
    }
    if (v->slice && (*end || *v->slice < '0' || *v->slice > '9' || part->count == 0)) {
        *code = command_wrong(self, "--slice: \"%.40s\" is not R/N, such as 0/8", v->slice);
        return false;
    }
    if (!(v->slice || v->loader.outputs.ahead > 0) || (!v->bare && v->output != LOAD_VIEWS))
        return true;
    *code = command_wrong(self, "--slice and --ahead are of a loader; --bare and --output views take whole rows");
    return false;
}

static bool check_compare(const struct command *self, struct load_values *v, int *code)
{
    v->synthetic = v->synthetic || v->compare;
    if (v->loader.ranks.balance != LEAT_BALANCE_NONE && (v->output == LOAD_VIEWS || v->bare)) {
        *code = command_wrong(self, "--balance needs a loader, which --bare and --output views do not use");
        return false;
    }
    if (no_loss_given(&v->no_loss) && (v->output == LOAD_VIEWS || v->output == LOAD_TOKENS)) {
        *code = command_wrong(self, "--%s needs labels: --output i32, i64 or packed", no_loss_given(&v->no_loss));
        return false;
    }
    if (v->column && v->output == LOAD_VIEWS) {
        *code = command_wrong(self, "--column needs batches from a loader, which --output views does not use");
        return false;
    }
    if (!v->synthetic || v->output != LOAD_VIEWS)
        return true;
    *code =
        command_wrong(self, "--synthetic and --compare need batches from a loader, which --output views does not use");
    return false;
}

/* Returns true if --batch fits the plan, which is NULL before it is opened. */
static bool check_batch(const struct command *self, const struct load_values *v, const struct leat_plan *plan,
                        int *code)
{
    struct leat_plan_info info = LEAT_PLAN_INFO_INIT;

    if (plan)
        leat_plan_info(plan, &info);
    else if (v->plan.plan || v->plan.max_tokens != LEAT_NONE)
        return true;
    if (info.max_tokens == 0 && v->loader.batch == 0)
        *code = command_wrong(self, "--batch B is missing: rows of a global batch");
    else if (info.max_tokens > 0 && v->loader.batch > 0)
        *code =
            command_wrong(self, "--batch and --max-tokens exclude each other: --max-rows limits the rows of a batch");
    else if (info.max_tokens > 0 && (v->bare || v->output == LOAD_VIEWS || v->rows))
        *code = command_wrong(self, "--max-tokens needs a loader, which --bare and --output views do not use, and its "
                                    "own rows, not --rows document");
    else
        return true;
    return false;
}

/* Opens the plan of --rows documents: the documents of the plan's sources in place of its windows, shuffled if the
 * plan is. */
static enum leat_status take_documents(struct leat_plan **documents, const struct leat_plan *plan,
                                       struct leat_error *err)
{
    struct leat_plan_info info = LEAT_PLAN_INFO_INIT;
    enum leat_order order = LEAT_ORDER_DOCUMENTS;

    leat_plan_info(plan, &info);
    if (info.order == LEAT_ORDER_SEQUENTIAL || info.order == LEAT_ORDER_DOCUMENTS_SEQUENTIAL)
        order = LEAT_ORDER_DOCUMENTS_SEQUENTIAL;
    return leat_plan_reorder(documents, plan, order, info.max_seq_len, err);
}

int bench_load(const struct command *self, int argc, char **argv)
{
    struct load_values v = {
        .plan = PLAN_OPTIONS_INIT, .loader = LEAT_LOADER_OPTIONS_INIT, .steps = 1000, .rounds = 10
    };
    struct options_parsed parsed;
    struct leat_plan *plan = NULL, *documents = NULL;
    struct load_result result = { .sources = NULL };
    struct leat_error err;
    enum leat_status s = LEAT_OK;
    int code;

    if (!command_parse(self, argc, argv, &v, &parsed, &code)) {
        plan_options_free(&v.plan);
        return code;
    }
    if (parse_work(self, &v, &code) && parse_slice(self, &v, &code) && check_compare(self, &v, &code) &&
        check_batch(self, &v, NULL, &code) && plan_options_open(self, &v.plan, &plan, &code) &&
        check_batch(self, &v, plan, &code)) {
        cli_catch_interrupts();
        if (v.rows)
            s = take_documents(&documents, plan, &err);
        if (s == LEAT_OK)
            s = load_run(documents ? documents : plan, &v, &result, &err);
        if (s == LEAT_OK && v.json)
            print_json(&v, documents ? documents : plan, &result);
        else if (s == LEAT_OK)
            print_text(&v, &result);
        code = cli_finish_stdout(s != LEAT_OK        ? cli_failed_or_damaged(&err)
                                 : cli_interrupted() ? cli_interrupted_code()
                                                     : CLI_DONE);
    }
    free(result.sources);
    leat_plan_close(documents);
    leat_plan_close(plan);
    plan_options_free(&v.plan);
    options_free(&parsed);
    return code;
}
