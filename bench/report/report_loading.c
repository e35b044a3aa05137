/* report_loading.c: loaders: measured ones, and those of training runs; see report.h. */
#include <math.h>
#include <stdlib.h>

#include "pages/chart.h"
#include "pages/page.h"
#include "report.h"

#define SHOWN  32u
#define LITTLE 0.01 /* a share of waiting too small to matter */

/* What a loader's thread does, and what it means if that is most of its time while the consumer waits. */
static const struct {
    const char *name, *cause;
} stages[] = {
    { "order", "computing which samples come" },
    { "gather", "copying rows" },
    { "storage", "reading from storage" },
    { "documents", "finding documents and reading masks" },
    { "outputs", "making labels and other outputs" },
    { "copy", "copying to the device" },
};
#define STAGES (sizeof stages / sizeof *stages)

static double seconds(const struct report_item *x, uint32_t object, const char *name)
{
    double value = report_number(x, object, name);

    return value >= 0 ? value : 0;
}

static void show_part(struct chart_part *p, double mean, double scale)
{
    snprintf(p->shown, sizeof p->shown, "%.31s", report_time(p->value * mean).text);
    p->value *= scale;
}

/* From the same: a mean step of the program beside what the loader's thread does meanwhile. `step` is its length in
 * seconds; NaN: what the batches of the item took. */
static void report_step(FILE *out, const struct report_item *x, uint32_t object, double share, double step)
{
    struct chart_part thread[] = {
        { .name = "copying rows", .value = seconds(x, object, "gather") },
        { .name = "reading from storage", .value = seconds(x, object, "storage"), .series = 1 },
        { .name = "order, documents, outputs",
          .value = seconds(x, object, "order") + seconds(x, object, "documents") + seconds(x, object, "outputs"),
          .series = 2 },
        { .name = "copying to the device", .value = seconds(x, object, "copy"), .series = 3 },
        { .name = "waiting for a free slot", .value = seconds(x, object, "slot"), .idle = 1 },
    };
    double waited = seconds(x, object, "consumer"), busy = 0, all, scale;
    double mean; /* of a second, in a mean step */
    const char *unit;
    size_t parts = sizeof thread / sizeof *thread;

    for (size_t i = 0; i < parts; i++)
        busy += thread[i].value;
    all = share > 0 && waited > 0 ? waited / share : busy; /* of the program, while the loader was open */
    mean = 1 / (isnan(step) ? report_number(x, 0, "batches") : all / step);
    scale = mean * report_time_unit(all * mean, &unit);
    if (!(all > 0 && isfinite(all * scale) && scale > 0))
        return;
    struct chart_part program[] = { { .name = "waiting for the batch", .value = waited, .idle = 1 },
                                    { .name = "its own work", .value = fmax(0, all - waited), .series = 4 } };
    for (size_t i = 0; i < parts; i++)
        show_part(&thread[i], mean, scale);
    for (size_t i = 0; i < 2; i++)
        show_part(&program[i], mean, scale);
    fputs("<h4>Time line of a mean step</h4>\n", out);
    chart_lanes(out, "Time line of a mean step", unit,
                (struct chart_lane[]) {
                    { "the program", program, 2 },
                    { report_number(x, 0, "threads") == 0 ? "inside its calls" : "the loader's thread", thread, parts },
                },
                2);
}

/* A sentence on waiting and its cause: from the seconds that a loader's thread spent (members of `object`), and the
 * share of time that the consumer waited. */
static void report_waiting(FILE *out, const struct report_item *x, uint32_t object, double share)
{
    double most = 0;
    size_t at = 0;

    if (!(share >= 0 && share <= 1)) {
        fputs("How long it waited for batches is not known.", out);
        return;
    }
    for (size_t i = 0; i < STAGES; i++) {
        double value = report_number(x, object, stages[i].name);

        if (value > most) {
            most = value;
            at = i;
        }
    }
    if (share < LITTLE)
        fprintf(out, "The loader keeps up: %.2f %% of the time was spent waiting for batches.", 100 * share);
    else
        fprintf(out, "%.1f %% of the time was spent waiting for batches%s%s.", 100 * share,
                most > 0 ? "; most of the loader's work was " : "", most > 0 ? stages[at].cause : "");
}

/* What is done, and of which sources a loader's batches are. */
static int name_sources(const struct report_item *x, const char *what, char *out, size_t room)
{
    uint32_t list = report_member(x, 0, "sources"), end;
    size_t at = (size_t)snprintf(out, room, "%s", what), first = at;

    if (list == JSONTREE_NONE || x->tree.nodes[list].kind != JSONTREE_ARRAY || x->tree.nodes[list].length == 0)
        return (int)at + snprintf(out + at, room - at, "a plan");
    end = jsontree_next(&x->tree, list);
    for (uint32_t node = list + 1; node < end && at + 64 < room; node = jsontree_next(&x->tree, node)) {
        struct jsontree_text name = report_text(x, node, "name");
        size_t from = name.length > 40 ? name.length - 40 : 0; /* the end of a path says more */

        at += (size_t)snprintf(out + at, room - at, "%s%.*s", at > first ? ", " : "", (int)(name.length - from),
                               (const char *)name.bytes + from);
    }
    return (int)at;
}

int report_name_loading(const struct report_item *x, char *out, size_t room)
{
    return name_sources(x, "Loading ", out, room);
}

int report_name_run(const struct report_item *x, char *out, size_t room)
{
    return name_sources(x, "Training on ", out, room);
}

/* ---- Measured loaders ---- */

/* How long calls for a batch took, where the measurement counted that. */
static void put_calls(FILE *out, const struct report_item *x)
{
    uint32_t list = report_member(x, report_member(x, 0, "next_us"), "counts"), end;
    double counts[SHOWN];
    struct chart_columns c = { .title = "Calls for a batch",
                               .of = "calls",
                               .unit = "\u00b5s per call; each column reaches to twice its number",
                               .counts = counts };

    if (list == JSONTREE_NONE || x->tree.nodes[list].kind != JSONTREE_ARRAY)
        return;
    end = jsontree_next(&x->tree, list);
    for (uint32_t node = list + 1; node < end && c.count < SHOWN; node = jsontree_next(&x->tree, node)) {
        double count = report_element(x, node);

        counts[c.count++] = count > 0 ? count : 0;
    }
    if (c.count == 0)
        return;
    fputs("<h4>Calls for a batch</h4>\n", out);
    chart_columns(out, &c);
}

static void put_rates(FILE *out, const struct report_item *const *items, size_t count)
{
    char labels[2 * SHOWN][LABEL_BYTES];
    struct chart_bar bars[2 * SHOWN];
    bool any_bare = false;
    size_t n = 0;

    for (size_t i = 0; i < count && i < SHOWN; i++) {
        static const struct jsontree_text bare = { (const uint8_t *)"a bare loop", 11 };
        double rate = report_number(items[i], 0, "tokens_per_s");
        double limit = report_number(items[i], report_member(items[i], 0, "bare"), "tokens_per_s");

        if (isnan(rate))
            continue;
        bars[n] = (struct chart_bar) { .label = labels[n], .value = rate / 1e6 };
        snprintf(bars[n].shown, sizeof bars[n].shown, "%.31s", units_rate(rate, "tokens").text);
        bars[n].label_bytes = report_label(items[i], report_text(items[i], 0, "engine"), labels[n], LABEL_BYTES);
        n++;
        if (isnan(limit))
            continue;
        bars[n] = (struct chart_bar) { .label = labels[n], .value = limit / 1e6, .series = 1 };
        snprintf(bars[n].shown, sizeof bars[n].shown, "%.31s", units_rate(limit, "tokens").text);
        bars[n].label_bytes = report_label(items[i], bare, labels[n], LABEL_BYTES);
        any_bare = true;
        n++;
    }
    if (any_bare)
        fputs("<p>Striped: a bare loop over the same bytes, the ceiling.</p>\n", out);
    if (n > 0)
        chart_bars(out, "Loading", "million tokens per second", bars, n);
}

static void put_next(FILE *out, const struct report_item *x)
{
    static const struct {
        const char *key, *title;
    } names[] = { { "mean", "a call, mean" },
                  { "p50", "half within" },
                  { "p99", "99 % within" },
                  { "p999", "99.9 % within" },
                  { "max", "longest" } };
    uint32_t next = report_member(x, 0, "next_us");

    fputs("<div class=\"wide\"><table>\n<tr>", out);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        fprintf(out, "<th class=\"n\">%s</th>", names[i].title);
    fputs("<th class=\"n\">first batch</th><th class=\"n\">memory</th></tr>\n<tr>", out);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        report_time_cell(out, report_number(x, next, names[i].key) / 1e6);
    report_time_cell(out, report_number(x, 0, "first_batch_ms") / 1e3);
    report_size_cell(out, report_number(x, 0, "memory_mib") * 1048576);
    fputs("</tr></table></div>\n", out);
}

/* How long the same steps take with a batch that is already in memory, where that was measured. */
static void say_synthetic(FILE *out, const struct report_item *x)
{
    double loss = report_number(x, report_member(x, 0, "synthetic"), "loss");
    double less = loss > -1 ? loss / (1 + loss) : NAN;

    if (isfinite(less))
        fprintf(out, " With a batch that is already in memory, the same steps take %.1f %% %s.", 100 * fabs(less),
                less > 0 ? "less" : "more");
}

void report_say_loading(FILE *out, const struct report_item *const *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct report_item *x = items[i];
        struct jsontree_text answer = report_text(x, 0, "answer");
        double bare = report_number(x, report_member(x, 0, "bare"), "tokens_per_s");
        double rate = report_number(x, 0, "tokens_per_s");

        fputs("<p>", out);
        report_subject(out, x);
        if (answer.length > 0) {
            page_text(out, (const char *)answer.bytes, answer.length);
        } else {
            if (isfinite(rate))
                fprintf(out, "%.3g million tokens per second", rate / 1e6);
            else
                fputs("how fast is not known", out);
            if (bare > 0 && isfinite(bare))
                fprintf(out, ", where a bare loop over the same bytes reaches %.3g", bare / 1e6);
            fputs(".", out);
            say_synthetic(out, x);
        }
        fputs("</p>\n", out);
    }
}

void report_loading(FILE *out, const struct report_item *const *items, size_t count)
{
    char label[LABEL_BYTES];

    put_rates(out, items, count);
    for (size_t i = 0; i < count; i++) {
        uint32_t waits = report_member(items[i], 0, "waits_s");

        report_label(items[i], report_text(items[i], 0, "engine"), label, sizeof label);
        report_heading(out, label);
        fputs("<p>", out);
        report_waiting(out, items[i], waits, report_number(items[i], 0, "waiting_share"));
        say_synthetic(out, items[i]);
        fputs("</p>\n<div class=\"grid\"><div>\n", out);
        report_step(out, items[i], waits, report_number(items[i], 0, "waiting_share"),
                    report_number(items[i], 0, "seconds") / report_number(items[i], 0, "steps"));
        fputs("</div><div>\n", out);
        put_calls(out, items[i]);
        fputs("</div></div>\n", out);
        put_next(out, items[i]);
    }
}

/* ---- Training runs: lines of statistics ---- */

/* The lines of one file: a run. */
static void put_run(FILE *out, const struct report_item *const *items, size_t count)
{
    double *batches = calloc(count, sizeof *batches), *waiting = calloc(count, sizeof *waiting);
    struct chart_line line = {
        .title = "Waiting for batches",
        .x_unit = "batches",
        .y_unit = "percent of the last 100 batches' time",
        .x = batches,
        .y = waiting,
    };
    double *numbers = calloc(count, sizeof *numbers); /* as `batches`, of all lines */
    const struct report_item *last = items[count - 1];
    double before = 0; /* batches of loaders that wrote to the file before */

    report_title(out, last);
    for (size_t i = 0; batches && waiting && numbers && i < count; i++) {
        batches[line.count] = before + report_number(items[i], 0, "batches");
        if (line.count > 0 && batches[line.count] < batches[line.count - 1]) { /* a loader opened again */
            batches[line.count] += batches[line.count - 1] - before;
            before = batches[line.count - 1];
        }
        numbers[i] = batches[line.count];
        waiting[line.count] = 100 * report_number(items[i], 0, "waiting_share");
        line.count += !isnan(batches[line.count]) && !isnan(waiting[line.count]);
    }
    fputs("<div class=\"grid\"><div>\n", out);
    if (line.count > 1) {
        fputs("<h4>Waiting for batches</h4>\n", out);
        chart_line(out, &line);
    }
    fputs("</div><div>\n", out);
    report_step(out, last, 0, report_number(last, 0, "waiting_share_all"), NAN);
    fputs("</div></div>\n<details><summary>as a table</summary><div class=\"wide\"><table>\n<tr><th "
          "class=\"n\">batches</th><th class=\"n\">tokens</th>"
          "<th class=\"n\">waited</th><th class=\"n\">reading</th><th class=\"n\">copying</th>"
          "<th class=\"n\">damaged rows</th></tr>\n",
          out);
    for (size_t i = 0; i < count; i += 1 + count / SHOWN) { /* some lines of a long run, and the last one */
        const struct report_item *x = i + 1 + count / SHOWN < count ? items[i] : last;

        fputs("<tr>", out);
        report_count(out, report_number(x, 0, "batches"));
        report_count(out, report_number(x, 0, "tokens"));
        report_time_cell(out, report_number(x, 0, "consumer"));
        report_time_cell(out, report_number(x, 0, "storage"));
        report_time_cell(out, report_number(x, 0, "gather"));
        report_count(out, report_number(x, 0, "rows_damaged"));
        fputs("</tr>\n", out);
    }
    fputs("</table></div></details>\n", out);
    if (numbers)
        report_sources(out, items, count, numbers);
    free(numbers);
    free(batches);
    free(waiting);
}

void report_say_runs(FILE *out, const struct report_item *const *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (i + 1 < count && items[i + 1]->file == items[i]->file)
            continue; /* the last line counts */
        fputs("<p>", out);
        report_subject(out, items[i]);
        report_waiting(out, items[i], 0, report_number(items[i], 0, "waiting_share_all"));
        fputs("</p>\n", out);
    }
}

void report_runs(FILE *out, const struct report_item *const *items, size_t count)
{
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i; end < count && items[end]->file == items[i]->file;)
            end++;
        put_run(out, items + i, end - i);
    }
}
