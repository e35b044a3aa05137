/*
 * gpu_link.c: see gpu.h: whether batches come in time over a link that is only simulated: `--device simulated:pcie5`.
 * The loader, its thread and its calls of the driver are real, and what they cost is CPU time of this machine; the
 * device's time and the host's clock are a model (tests/fake_cuda/link.h). So it shows what the ring, the order of
 * calls and the number of slots do to a link and to a step, and nothing about a GPU. The device moves no bytes.
 *
 * First a ring without a loader, which the CPU fills: with one slot writing and copying take turns, and the link idles.
 * Then loaders: as fast as they go, compared with the slower of gather and link; and beside steps of 1, 5 and 10 ms.
 * Last, where the model knows the link's figure, rows that stay in their files' maps, beside the same in the ring:
 * there each batch is also written, since it is the kernel that reads the maps.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "bench/measure/machine.h"
#include "cli/json.h"
#include "cli/units.h"
#include "gpu.h"
#include "tests/fake_cuda/fake_control.h"

#define SLOT_COUNTS 4
static const unsigned ring_slots[SLOT_COUNTS] = { 1, 2, 4, 8 }, loader_slots[SLOT_COUNTS] = { 2, 3, 4, 8 };
#define MAPS_SLOTS 4u
static const double works[GPU_WORKS] = { 1, 5, 10 };

struct link_figures {
    struct gpu_round rounds[GPU_SIZES][SLOT_COUNTS];
    struct gpu_fed fed[GPU_SIZES][SLOT_COUNTS];
    const char *no_maps;               /* why rows in maps are not measured; NULL: they are */
    struct gpu_fed maps[GPU_SIZES][2]; /* rows in the ring, and in maps */
};

static double max(double a, double b)
{
    return a > b ? a : b;
}

/* What a step costs more because of the loader; below it no step is fed. */
static double step_share(const struct gpu_fed *f, unsigned work)
{
    return 100 * (f->with[work] / f->alone[work] - 1);
}

static double round_share(const struct gpu_round *r)
{
    return 100 * max(r->write, r->copy) / r->period;
}

/* Seconds per batch of the slower side: the loader's gather or the link; and what the loader needs. */
static double slower(const struct gpu_round *r, const struct gpu_fed *f)
{
    return max((double)r->bytes / f->gather, r->copy);
}

static double batch_seconds(const struct gpu_round *r, const struct gpu_fed *f)
{
    return (double)r->bytes / f->end_to_end;
}

static enum leat_status measure(struct gpu *g, struct link_figures *f, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (unsigned i = 0; s == LEAT_OK && i < GPU_SIZES * SLOT_COUNTS; i++) {
        struct gpu_round *r = &f->rounds[i / SLOT_COUNTS][i % SLOT_COUNTS];
        struct gpu_fed *x = &f->fed[i / SLOT_COUNTS][i % SLOT_COUNTS];

        r->size = x->size = i / SLOT_COUNTS;
        r->slots = ring_slots[i % SLOT_COUNTS];
        x->slots = loader_slots[i % SLOT_COUNTS];
        memcpy(x->work_ms, works, sizeof works);
        s = gpu_measure_round(g, r, err);
        if (s == LEAT_OK)
            s = gpu_measure_fed(g, x, err);
    }
    return s;
}

static enum leat_status measure_maps(struct gpu *g, struct link_figures *f, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (unsigned i = 0; s == LEAT_OK && !f->no_maps && i < 2 * GPU_SIZES; i++) {
        struct gpu_fed *x = &f->maps[i / 2][i % 2];

        *x = (struct gpu_fed) { .size = i / 2, .slots = MAPS_SLOTS, .written = true, .mapped = i % 2 };
        memcpy(x->work_ms, works, sizeof works);
        s = gpu_measure_fed(g, x, err);
    }
    return s;
}

/* ---- Output ---- */

static void print_slots(FILE *out, const char *head, const unsigned *slots)
{
    fprintf(out, "%s", head);
    for (unsigned k = 0; k < SLOT_COUNTS; k++)
        fprintf(out, " %6u", slots[k]);
    fputc('\n', out);
}

static void print_rounds(FILE *out, struct link_figures *f)
{
    print_slots(out, "a ring that the CPU fills: % of the slower of writing and copying; slots: ", ring_slots);
    for (unsigned i = 0; i < GPU_SIZES; i++) {
        struct gpu_round *r = f->rounds[i];

        fprintf(out, "  batches of %-8s: written in %7.1f us, copied in %7.1f us           ",
                units_bytes(r->bytes).text, 1e6 * r[SLOT_COUNTS - 1].write, 1e6 * r[SLOT_COUNTS - 1].copy);
        for (unsigned k = 0; k < SLOT_COUNTS; k++)
            fprintf(out, " %6.1f", round_share(&r[k]));
        fputc('\n', out);
    }
}

static void print_loaders(FILE *out, struct link_figures *f)
{
    print_slots(out, "a loader, as fast as it goes: % of the slower of gather and link; slots: ", loader_slots);
    for (unsigned i = 0; i < GPU_SIZES; i++) {
        struct gpu_round *r = &f->rounds[i][SLOT_COUNTS - 1];
        struct gpu_fed *x = f->fed[i];

        fprintf(out, "  batches of %-8s: gathered in %7.1f us, copied in %7.1f us          ",
                units_bytes(r->bytes).text, 1e6 * (double)r->bytes / x[SLOT_COUNTS - 1].gather, 1e6 * r->copy);
        for (unsigned k = 0; k < SLOT_COUNTS; k++)
            fprintf(out, " %6.1f", 100 * slower(r, &x[k]) / batch_seconds(r, &x[k]));
        fputc('\n', out);
    }
}

static void print_steps(FILE *out, struct link_figures *f)
{
    print_slots(out, "what a loader adds to a step, in %; slots:                                ", loader_slots);
    for (unsigned i = 0; i < GPU_SIZES; i++)
        for (unsigned w = 0; w < GPU_WORKS; w++) {
            fprintf(out, "  batches of %-8s: a step of %6.3f ms                                   ",
                    units_bytes(f->rounds[i]->bytes).text, 1e3 * f->fed[i]->alone[w]);
            for (unsigned k = 0; k < SLOT_COUNTS; k++)
                fprintf(out, " %+6.1f", step_share(&f->fed[i][k], w));
            fputc('\n', out);
        }
}

static void print_stalls(FILE *out, struct link_figures *f)
{
    for (unsigned i = 0; i < GPU_SIZES; i++) {
        struct gpu_round *r = &f->rounds[i][SLOT_COUNTS - 1];
        struct gpu_fed *x = &f->fed[i][SLOT_COUNTS - 1];

        fprintf(out,
                "stalls: batches of %s come every %.3f ms at best, with %u slots: a shorter step waits "
                "for the %s\n",
                units_bytes(r->bytes).text, 1e3 * batch_seconds(r, x), x->slots,
                (double)r->bytes / x->gather > r->copy ? "gather" : "link");
    }
}

static void print_maps(FILE *out, struct link_figures *f)
{
    static const char *const places[] = { "ring", "maps" };

    if (f->no_maps) {
        fprintf(out, "rows in files' maps (--apart mapped) are not simulated over this link: %s\n", f->no_maps);
        return;
    }
    fprintf(out, "rows in the ring, and in their files' maps (--apart mapped); each batch is written; %u slots\n",
            MAPS_SLOTS);
    for (unsigned i = 0; i < 2 * GPU_SIZES; i++) {
        struct gpu_fed *x = &f->maps[i / 2][i % 2];

        fprintf(out,
                "  batches of %-8s: %s: the loader's thread works %7.1f us, a batch every %7.1f us; adds to a step",
                units_bytes(f->rounds[i / 2]->bytes).text, places[i % 2], 1e6 * x->busy,
                1e6 * batch_seconds(f->rounds[i / 2], x));
        for (unsigned w = 0; w < GPU_WORKS; w++)
            fprintf(out, "%s of %.0f ms %+.1f %%", w ? "," : "", x->work_ms[w], step_share(x, w));
        fputc('\n', out);
    }
}

/* Everything goes through `out`, and gets its mark on each line. */
static void print_text(struct gpu *g, struct link_figures *f)
{
    char *text = NULL, *line, *next;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    struct machine m;

    if (!out)
        return;
    machine_describe(&m);
    machine_print(out, &m);
    fprintf(out,
            "the host's times are CPU time of this machine, the device's a model: nothing was measured on a GPU\n");
    print_rounds(out, f);
    print_loaders(out, f);
    print_steps(out, f);
    print_stalls(out, f);
    print_maps(out, f);
    fclose(out);
    for (line = text; *line; line = next) {
        next = line + strcspn(line, "\n");
        printf("simulated %s: %.*s\n", g->link, (int)(next - line), line);
        next += *next == '\n';
    }
    free(text);
}

static void json_rounds(struct json *j, const struct gpu_round *r)
{
    for (unsigned k = 0; k < SLOT_COUNTS; k++) {
        json_open_object(j, NULL);
        json_bool(j, "simulated", true);
        json_u64(j, "slots", r[k].slots);
        json_double(j, "write_us", 1e6 * r[k].write);
        json_double(j, "copy_us", 1e6 * r[k].copy);
        json_double(j, "both_us", 1e6 * r[k].period);
        json_close_object(j);
    }
}

static void json_fed(struct json *j, const struct gpu_fed *x, unsigned count)
{
    for (unsigned k = 0; k < count; k++) {
        json_open_object(j, NULL);
        json_bool(j, "simulated", true);
        json_u64(j, "slots", x[k].slots);
        json_bool(j, "mapped", x[k].mapped);
        json_double(j, "thread_us", 1e6 * x[k].busy);
        json_double(j, "gather_gb_per_s", x[k].gather / 1e9);
        json_double(j, "end_to_end_gb_per_s", x[k].end_to_end / 1e9);
        json_open_array(j, "steps");
        for (unsigned w = 0; w < GPU_WORKS; w++) {
            json_open_object(j, NULL);
            json_bool(j, "simulated", true);
            json_double(j, "alone_ms", 1e3 * x[k].alone[w]);
            json_double(j, "with_loader_ms", 1e3 * x[k].with[w]);
            json_close_object(j);
        }
        json_close_array(j);
        json_close_object(j);
    }
}

static void print_json(struct gpu *g, struct link_figures *f)
{
    struct machine m;
    struct json j;

    machine_describe(&m);
    json_begin(&j, stdout);
    json_open_object(&j, NULL);
    json_bool(&j, "simulated", true);
    json_string(&j, "link", g->link);
    json_open_array(&j, "batches");
    for (unsigned i = 0; i < GPU_SIZES; i++) {
        json_open_object(&j, NULL);
        json_bool(&j, "simulated", true);
        json_u64(&j, "bytes", f->rounds[i]->bytes);
        json_open_array(&j, "rings");
        json_rounds(&j, f->rounds[i]);
        json_close_array(&j);
        json_open_array(&j, "loaders");
        json_fed(&j, f->fed[i], SLOT_COUNTS);
        json_close_array(&j);
        if (!f->no_maps) {
            json_open_array(&j, "written");
            json_fed(&j, f->maps[i], 2);
            json_close_array(&j);
        }
        json_close_object(&j);
    }
    json_close_array(&j);
    machine_json(&j, "machine", &m);
    json_close_object(&j);
    json_end(&j);
}

enum leat_status gpu_link(struct gpu *g, bool json, struct leat_error *err)
{
    const char *names = gpu_time_begin(g);
    struct link_figures f;
    enum leat_status s;

    gpu_time_end(g);
    if (names)
        return status_set(err, LEAT_E_ARGUMENT, "unknown link \"%.50s\"; links that can be simulated: %s", g->link,
                          names);
    memset(&f, 0, sizeof f);
    f.no_maps = load_device_control(&g->d)->link_maps(g->link);
    s = measure(g, &f, err);
    if (s == LEAT_OK)
        s = measure_maps(g, &f, err);
    if (s == LEAT_OK && json)
        print_json(g, &f);
    else if (s == LEAT_OK)
        print_text(g, &f);
    return s;
}
