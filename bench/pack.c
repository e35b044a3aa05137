/*
 * pack.c: `leat-bench pack`: a run of `leat pack` with the CPU time of each stage, what these allow together on the
 * threads given, and how much of that the run reached.
 */
#include <stdio.h>

#include "base/thread.h"
#include "bench/measure/machine.h"
#include "cli/json.h"
#include "cli/units.h"
#include "commands/pack_options.h"
#include "subcommands.h"

#define STAGES      4
#define LITTLE_TEXT (16u << 20) /* takes a fraction of a second, like starting and finishing */

struct stage_row {
    const char *name, *what;
    double cpu_s;
};

struct figures {
    struct stage_row stages[STAGES];
    double text;  /* bytes of it that this run packed itself: the times are of these */
    double cpu_s; /* of all stages */
    double wall_s;
    double allowed_s; /* what the stages need at least: their CPU time over the threads */
    unsigned threads;
    const char *bound; /* the stage that takes the most */
};

static struct figures figure(const struct leat_pack_report *r, uint64_t text, double wall_s, unsigned threads)
{
    struct figures f = { .stages = { { "read", "reading and decompressing", (double)r->times.read_ns / 1e9 },
                                     { "scan", "finding records and texts", (double)r->times.scan_ns / 1e9 },
                                     { "encode", "tokens of the texts", (double)r->times.encode_ns / 1e9 },
                                     { "write", "hashes, index, files", (double)r->times.write_ns / 1e9 } },
                         .text = (double)text,
                         .wall_s = wall_s,
                         .threads = threads };
    double max = -1;

    for (unsigned i = 0; i < STAGES; i++) {
        f.cpu_s += f.stages[i].cpu_s;
        if (f.stages[i].cpu_s > max) {
            max = f.stages[i].cpu_s;
            f.bound = f.stages[i].name;
        }
    }
    f.allowed_s = f.cpu_s / threads;
    return f;
}

static double per_second(double amount, double seconds)
{
    return seconds > 0 ? amount / seconds : 0;
}

static void print_table(const struct figures *f, const struct leat_pack_report *r)
{
    struct machine m;

    machine_describe(&m);
    machine_print(stdout, &m);
    printf("%-8s  %10s  %12s  %6s\n", "stage", "CPU time", "text, alone", "share");
    for (unsigned i = 0; i < STAGES; i++)
        printf("%-8s  %10s  %12s  %4.1f %%  %s\n", f->stages[i].name, units_duration(f->stages[i].cpu_s).text,
               units_rate(per_second(f->text, f->stages[i].cpu_s), "B").text,
               f->cpu_s > 0 ? 100 * f->stages[i].cpu_s / f->cpu_s : 0.0, f->stages[i].what);
    printf("%-8s  %10s  %12s\n", "all", units_duration(f->cpu_s).text,
           units_rate(per_second(f->text, f->cpu_s), "B").text);
    printf("%u thread%s allow %s; the run took %s: %s of text", f->threads, f->threads > 1 ? "s" : "",
           units_duration(f->allowed_s).text, units_duration(f->wall_s).text,
           units_rate(per_second(f->text, f->wall_s), "B").text);
    if (f->text < LITTLE_TEXT)
        printf(". Of so little text most of that is beginning and ending: vocabulary, threads, files.\n");
    else
        printf(", %.0f %% of what they allow. %s takes the most.\n", 100 * per_second(f->allowed_s, f->wall_s),
               f->bound);
    printf("%s tokens in %s documents, memory at most %s.\n", units_count(r->tokens).text,
           units_count(r->documents).text, units_bytes(r->peak_memory).text);
}

static void print_json(const struct figures *f, const struct leat_pack_report *r)
{
    struct machine m;
    struct json j;

    machine_describe(&m);
    json_begin(&j, stdout);
    json_open_object(&j, NULL);
    json_u64(&j, "documents", r->documents);
    json_u64(&j, "tokens", r->tokens);
    json_u64(&j, "text_bytes", r->text_bytes);
    json_double(&j, "seconds", f->wall_s);
    json_double(&j, "mb_per_s", per_second(f->text, f->wall_s) / 1e6);
    json_u64(&j, "threads", f->threads);
    json_open_object(&j, "cpu_seconds");
    for (unsigned i = 0; i < STAGES; i++)
        json_double(&j, f->stages[i].name, f->stages[i].cpu_s);
    json_close_object(&j);
    json_string(&j, "bound", f->bound);
    json_double(&j, "share_of_bound", per_second(f->allowed_s, f->wall_s));
    json_u64(&j, "peak_memory", r->peak_memory);
    machine_json(&j, "machine", &m);
    json_close_object(&j);
    json_end(&j);
}

static int pack(const struct command *self, const struct pack_values *v, const struct options_parsed *parsed)
{
    struct leat_pack_report report = LEAT_PACK_REPORT_INIT;
    struct leat_pack_options options;
    struct leat_tokenizer *t;
    struct leat_error err;
    struct figures f;
    struct pack_bar bar;
    enum leat_status s;
    double began;
    int code = pack_options_take(self, v, &t, &options);

    if (code != CLI_DONE)
        return code;
    pack_bar_begin(&bar, v, &options);
    began = cli_now();
    s = leat_pack(v->output, parsed->words, parsed->count, &options, &report, &err);
    f = figure(&report, pack_bar_text(&bar, &report), cli_now() - began,
               options.threads > 0 ? options.threads : thread_cpus());
    pack_bar_end(&bar);
    pack_bar_free(&bar);
    leat_tokenizer_close(t);
    if (s != LEAT_OK)
        return pack_options_failed(v, &report, &err);
    if (v->json)
        print_json(&f, &report);
    else
        print_table(&f, &report);
    return cli_finish_stdout(CLI_DONE);
}

int bench_pack(const struct command *self, int argc, char **argv)
{
    struct pack_values values = PACK_VALUES_INIT;
    struct options_parsed parsed;
    int code;

    if (!command_parse(self, argc, argv, &values, &parsed, &code))
        return code;
    code = pack(self, &values, &parsed);
    pack_values_free(&values);
    options_free(&parsed);
    return code;
}
