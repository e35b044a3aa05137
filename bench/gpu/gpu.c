/*
 * gpu.c: `leat-bench gpu`: the CUDA backend, compared with bare loops over the same bytes. See gpu.h.
 *
 * First the backend alone (gpu_ring.c): copies, calls and kernels of slots that are filled already, and plain copies of
 * as many bytes. Then whole loaders (gpu_loader.c). Each runs several times; medians are printed.
 */
#include "gpu.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "bench/measure/contest.h"
#include "bench/measure/machine.h"
#include "bench/subcommands.h"
#include "cli/cli.h"
#include "cli/json.h"
#include "cli/units.h"
#include "device/cuda_device.h"

#define NO_GPU 77 /* the exit code of a test that cannot run here */

struct values {
    const char *device, *driver;
    uint64_t runs, steps, work, smallest;
    bool json;
};

const struct option_row gpu_options[] = {
    { .name = "device",
      .type = OPTION_TEXT,
      .field = offsetof(struct values, device),
      .value = "DEVICE",
      .standard = "cuda",
      .help = "the GPU: cuda:N" },
    { .name = "driver",
      .type = OPTION_TEXT,
      .field = offsetof(struct values, driver),
      .value = "FILE",
      .help = "library to load as CUDA's driver, in place of libcuda.so.1" },
    { .name = "runs",
      .type = OPTION_COUNT,
      .field = offsetof(struct values, runs),
      .value = "N",
      .standard = "5",
      .help = "how often each is measured",
      .min = 1,
      .max = 64 },
    { .name = "steps",
      .type = OPTION_COUNT,
      .field = offsetof(struct values, steps),
      .value = "N",
      .standard = "200",
      .help = "batches per run",
      .min = 1,
      .max = 1u << 20 },
    { .name = "work",
      .type = OPTION_COUNT,
      .field = offsetof(struct values, work),
      .value = "MS",
      .standard = "10",
      .help = "how many milliseconds a step computes",
      .min = 1,
      .max = 10000 },
    { .name = "smallest",
      .type = OPTION_SIZE,
      .field = offsetof(struct values, smallest),
      .value = "SIZE",
      .standard = "1MiB",
      .help = "tokens of the smallest batches; the others have 4 and 16 times as many",
      .min = 1,
      .max = (uint64_t)1 << 30 },
    OPTIONS_JSON(struct values, "print one JSON object"),
    OPTIONS_END,
};

/* ---- Shared ---- */

double gpu_median(double *values, uint64_t count)
{
    qsort(values, count, sizeof *values, contest_compare);
    return values[count / 2];
}

uint64_t gpu_rows(const struct gpu *g, unsigned size)
{
    uint64_t rows = (g->smallest << 2 * size) / (2 * g->seq_len);

    return rows ? rows : 1;
}

/* ---- Output ---- */

static double min(double a, double b)
{
    return a < b ? a : b;
}

static void print_json(const struct gpu *g, const struct gpu_figures *f, const char *name)
{
    struct machine m;
    struct json j;

    machine_describe(&m);
    json_begin(&j, stdout);
    json_open_object(&j, NULL);
    json_string(&j, "device", name);
    json_u64(&j, "driver", (uint64_t)g->d.driver.version);
    json_double(&j, "context_ms", 1e3 * f->context);
    json_double(&j, "loader_open_ms", 1e3 * f->open);
    json_double(&j, "loader_open_again_ms", 1e3 * f->again);
    json_open_array(&j, "batches");
    for (unsigned i = 0; i < GPU_SIZES; i++) {
        json_open_object(&j, NULL);
        json_u64(&j, "bytes", f->size[i].bytes);
        json_double(&j, "plain_copy_gb_per_s", f->size[i].plain / 1e9);
        json_double(&j, "filled_slots_gb_per_s", f->size[i].slots / 1e9);
        json_double(&j, "driver_calls_cpu_us", 1e6 * f->size[i].cpu);
        json_double(&j, "kernel_gb_per_s", f->size[i].kernel / 1e9);
        json_double(&j, "copy_on_device_gb_per_s", f->size[i].memory / 1e9);
        json_double(&j, "gather_gb_per_s", f->size[i].gather / 1e9);
        json_double(&j, "end_to_end_gb_per_s", f->size[i].end_to_end / 1e9);
        json_close_object(&j);
    }
    json_close_array(&j);
    json_open_object(&j, "step_ms");
    json_double(&j, "alone", 1e3 * f->alone);
    json_double(&j, "alone_p99", 1e3 * f->alone_p99);
    json_double(&j, "with_loader", 1e3 * f->with);
    json_double(&j, "with_loader_p99", 1e3 * f->with_p99);
    json_close_object(&j);
    json_double(&j, "driver_calls_a_step", f->calls);
    json_u64(&j, "waiting_calls", f->waits);
    machine_json(&j, "machine", &m);
    json_close_object(&j);
    json_end(&j);
}

static void print_text(const struct gpu *g, const struct gpu_figures *f, const char *name)
{
    struct machine m;

    machine_describe(&m);
    machine_print(stdout, &m);
    printf("device: %s, driver for CUDA %d.%d\n", name, g->d.driver.version / 1000, g->d.driver.version % 1000 / 10);
    printf("context %.1f ms, then a loader %.1f ms, another one %.1f ms\n", 1e3 * f->context, 1e3 * f->open,
           1e3 * f->again);
    for (unsigned i = 0; i < GPU_SIZES; i++) {
        printf("batches of %s\n", units_bytes(f->size[i].bytes).text);
        printf("  filled slots    %10s, %5.1f %% of a plain loop of pinned copies (%s)\n",
               units_rate(f->size[i].slots, "B").text, 100 * f->size[i].slots / f->size[i].plain,
               units_rate(f->size[i].plain, "B").text);
        printf("  driver calls    %10.2f us of CPU a batch\n", 1e6 * f->size[i].cpu);
        printf("  widening kernel %10s, %5.1f %% of a copy on the device (%s)\n",
               units_rate(f->size[i].kernel, "B").text, 100 * f->size[i].kernel / f->size[i].memory,
               units_rate(f->size[i].memory, "B").text);
        printf("  end to end      %10s, %5.1f %% of the lesser of gather (%s) and link\n",
               units_rate(f->size[i].end_to_end, "B").text,
               100 * f->size[i].end_to_end / min(f->size[i].gather, f->size[i].plain),
               units_rate(f->size[i].gather, "B").text);
    }
    printf("a step          %.3f ms (p99 %.3f), with a loader %.3f ms (p99 %.3f): %+.2f %%\n", 1e3 * f->alone,
           1e3 * f->alone_p99, 1e3 * f->with, 1e3 * f->with_p99, 100 * (f->with / f->alone - 1));
    printf("driver calls    %.1f a step; %llu of all of them wait for the GPU, or may\n", f->calls,
           (unsigned long long)f->waits);
}

/* ---- The command ---- */

int bench_gpu(const struct command *self, int argc, char **argv)
{
    struct values v = { .device = "cuda", .runs = 5, .steps = 200, .work = 10, .smallest = 1 << 20 };
    struct gpu g = { .seq_len = 2048 };
    struct gpu_figures f = { 0 };
    struct options_parsed parsed;
    char name[CUDA_DEVICE_NAME] = "";
    struct leat_error err;
    enum leat_status s;
    uint64_t began;
    int code;

    if (!command_parse(self, argc, argv, &v, &parsed, &code))
        return code;
    g.name = parsed.words[0];
    g.runs = v.runs;
    g.steps = v.steps;
    g.work_ms = (double)v.work;
    g.smallest = v.smallest;
    began = clock_ns();
    s = load_device_open(&g.d, v.device, v.driver, &err);
    if (s != LEAT_OK) {
        fprintf(stderr, "skipped: %s\n", err.message);
        options_free(&parsed);
        return s == LEAT_E_UNSUPPORTED ? NO_GPU : cli_failed(&err);
    }
    f.context = (double)(clock_ns() - began) / 1e9;
    if (g.d.driver.device_name(name, (int)sizeof name, g.d.device) != CUDA_OK)
        name[0] = '\0';
    s = gpu_measure_opening(&g, &f, &err);
    if (s == LEAT_OK)
        s = gpu_measure_ring(&g, &f, &err);
    if (s == LEAT_OK)
        s = gpu_measure_loader(&g, &f, &err);
    if (s == LEAT_OK && v.json)
        print_json(&g, &f, name);
    else if (s == LEAT_OK)
        print_text(&g, &f, name);
    load_device_close(&g.d);
    options_free(&parsed);
    return cli_finish_stdout(s == LEAT_OK ? CLI_DONE : cli_failed(&err));
}
