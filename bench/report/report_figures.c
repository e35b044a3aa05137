/*
 * report_figures.c: sections of bars, each beside a table: lists of measurements (measure/contest.h writes them) of
 * limits, datasets and plans; what texts cost on their way to a dataset: encoding, slow texts, packing; leat beside
 * other tools at the same work, as bench/peers/loaders.py and packers.py keep it. See report.h.
 */
#include <math.h>
#include <string.h>

#include "pages/chart.h"
#include "pages/page.h"
#include "report.h"

#define SHOWN 64u /* bars of a chart: further ones stand in the table only */

struct bars {
    struct chart_bar bars[SHOWN];
    size_t count;
};

/* A bar, unless there is no value; the label is kept. */
static void add_bar(struct bars *b, struct jsontree_text label, double value, unsigned series)
{
    if (!isnan(value) && b->count < SHOWN)
        b->bars[b->count++] =
            (struct chart_bar) { (const char *)label.bytes, label.length, .value = value, .series = series };
}

static void put_bars(FILE *out, const char *title, const char *unit, const struct bars *b)
{
    if (b->count > 0)
        chart_bars(out, title, unit, b->bars, b->count);
}

/* ---- Lists of measurements ---- */

/* Where in an object the median of a kind of figure is. */
static double median(const struct report_item *x, uint32_t row, const char *figure, const char *which)
{
    return report_number(x, report_member(x, row, figure), which);
}

static void put_measured(FILE *out, const struct report_item *x, uint32_t list, const char *figure, double scale)
{
    uint32_t end = jsontree_next(&x->tree, list);

    fputs("<details><summary>as a table</summary><div class=\"wide\"><table>\n<tr><th>what</th><th class=\"n\">median"
          "</th><th class=\"n\">least</th><th class=\"n\">most</th><th class=\"n\">CPUs</th><th>note</th></tr>\n",
          out);
    for (uint32_t row = list + 1; row < end; row = jsontree_next(&x->tree, row)) {
        struct jsontree_text note = report_text(x, row, "note");
        struct jsontree_text missing = report_text(x, row, "not_measured");

        fputs("<tr>", out);
        report_text_cell(out, report_text(x, row, "name"));
        report_cell(out, median(x, row, figure, "median") * scale);
        report_cell(out, median(x, row, figure, "least") * scale);
        report_cell(out, median(x, row, figure, "most") * scale);
        report_cell(out, report_number(x, row, "cpus"));
        fputs("<td>", out);
        page_text(out, (const char *)note.bytes, note.length);
        page_text(out, (const char *)missing.bytes, missing.length);
        fputs("</td></tr>\n", out);
    }
    fputs("</table></div></details>\n", out);
}

/* One list: bytes per second where all have them, else times. */
static void put_list(FILE *out, const struct report_item *x, struct jsontree_text name, uint32_t list)
{
    struct bars bars = { .count = 0 };
    uint32_t end = jsontree_next(&x->tree, list);
    bool rates = true;
    char title[64];
    size_t n = 0;

    for (uint32_t row = list + 1; row < end; row = jsontree_next(&x->tree, row))
        rates = rates && (!isnan(median(x, row, "bytes_per_s", "median")) ||
                          isnan(median(x, row, "seconds_per_item", "median")));
    for (uint32_t row = list + 1; row < end; row = jsontree_next(&x->tree, row)) {
        double value =
            rates ? median(x, row, "bytes_per_s", "median") / 1e9 : median(x, row, "seconds_per_item", "median") * 1e6;

        add_bar(&bars, report_text(x, row, "name"), value, 0);
    }
    if (bars.count == 0)
        return;
    for (; n < name.length && n + 1 < sizeof title; n++)
        title[n] = name.bytes[n] == '_' ? ' ' : (char)name.bytes[n];
    title[n] = '\0';
    fputs("<h4>", out);
    page_string(out, title);
    fputs("</h4>\n", out);
    chart_bars(out, title, rates ? "GB/s, median" : "\u00b5s each, median", bars.bars, bars.count);
    put_measured(out, x, list, rates ? "bytes_per_s" : "seconds_per_item", rates ? 1e-9 : 1e6);
}

/* Whether a node is a list of measurements. */
static bool is_list(const struct report_item *x, uint32_t node)
{
    const struct jsontree_node *n = &x->tree.nodes[node];

    return n->kind == JSONTREE_ARRAY && n->length > 0 && x->tree.nodes[node + 1].kind == JSONTREE_OBJECT &&
           report_member(x, node + 1, "seconds_per_item") != JSONTREE_NONE;
}

void report_measurements(FILE *out, const struct report_item *const *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct report_item *x = items[i];
        uint32_t end = jsontree_next(&x->tree, 0);

        report_heading(out, x->file);
        fputs("<div class=\"grid\">\n", out);
        for (uint32_t key = 1; key < end; key = jsontree_next(&x->tree, key + 1)) {
            if (!is_list(x, key + 1))
                continue;
            fputs("<div>\n", out);
            put_list(out, x, jsontree_string(&x->tree, key), key + 1);
            fputs("</div>\n", out);
        }
        fputs("</div>\n", out);
    }
}

/* ---- Texts ---- */

/* Bars of the rates of all items, each with the item's name and the text of a member. */
static void put_items(FILE *out, const char *title, const struct report_item *const *items, size_t count,
                      const char *more)
{
    static char labels[SHOWN][LABEL_BYTES];
    struct bars bars = { .count = 0 };

    for (size_t i = 0; i < count && bars.count < SHOWN; i++) {
        char *label = labels[bars.count];
        size_t bytes = report_label(items[i], report_text(items[i], 0, more), label, LABEL_BYTES);

        add_bar(&bars, (struct jsontree_text) { (const uint8_t *)label, bytes }, report_number(items[i], 0, "mb_per_s"),
                0);
    }
    put_bars(out, title, "MB of text per second", &bars);
}

void report_encoding(FILE *out, const struct report_item *const *items, size_t count)
{
    put_items(out, "Encoding", items, count, "tokenizer");
    fputs("<div class=\"wide\"><table>\n<tr><th>file</th><th>tokenizer</th><th class=\"n\">MB/s</th><th class=\"n\">"
          "threads</th><th class=\"n\">bytes</th><th class=\"n\">tokens</th></tr>\n",
          out);
    for (size_t i = 0; i < count; i++) {
        fputs("<tr><td>", out);
        page_string(out, items[i]->file);
        fputs("</td>", out);
        report_text_cell(out, report_text(items[i], 0, "tokenizer"));
        report_cell(out, report_number(items[i], 0, "mb_per_s"));
        report_cell(out, report_number(items[i], 0, "threads"));
        report_count(out, report_number(items[i], 0, "bytes"));
        report_count(out, report_number(items[i], 0, "tokens"));
        fputs("</tr>\n", out);
    }
    fputs("</table></div>\n", out);
}

void report_slow_texts(FILE *out, const struct report_item *const *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct report_item *x = items[i];
        uint32_t rows = report_member(x, 0, "rows"), end = jsontree_next(&x->tree, rows);
        struct bars bars = { .count = 0 };
        char label[LABEL_BYTES];

        if (x->tree.nodes[rows].kind != JSONTREE_ARRAY)
            continue;
        for (uint32_t row = rows + 1; row < end; row = jsontree_next(&x->tree, row))
            add_bar(&bars, report_text(x, row, "text"), report_number(x, row, "mb_per_s"), 0);
        report_label(x, report_text(x, 0, "tokenizer"), label, sizeof label);
        report_heading(out, label);
        put_bars(out, "Slow texts", "MB of text per second", &bars);
    }
}

/* ---- Packing ---- */

static void put_steps(FILE *out, const struct report_item *x)
{
    static const char *const steps[] = { "read", "scan", "encode", "write" };
    uint32_t cpu = report_member(x, 0, "cpu_seconds");
    struct bars bars = { .count = 0 };

    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        add_bar(&bars, (struct jsontree_text) { (const uint8_t *)steps[i], strlen(steps[i]) },
                report_number(x, cpu, steps[i]), 0);
    put_bars(out, "CPU time of each step", "CPU seconds of all threads", &bars);
}

/* Throughput by threads, where the item has several runs. */
static void put_threads(FILE *out, const struct report_item *x)
{
    uint32_t runs = report_member(x, 0, "runs"), end;
    double threads[SHOWN], rates[SHOWN];
    struct chart_line line = {
        .title = "Throughput by threads",
        .x_unit = "threads",
        .y_unit = "MB of text per second",
        .x = threads,
        .y = rates,
    };

    if (runs == JSONTREE_NONE || x->tree.nodes[runs].kind != JSONTREE_ARRAY)
        return;
    end = jsontree_next(&x->tree, runs);
    for (uint32_t run = runs + 1; run < end && line.count < SHOWN; run = jsontree_next(&x->tree, run)) {
        threads[line.count] = report_number(x, run, "threads");
        rates[line.count] = report_number(x, run, "mb_per_s");
        line.count += !isnan(threads[line.count]) && !isnan(rates[line.count]);
    }
    if (line.count > 1)
        chart_line(out, &line);
}

static void put_sentence(FILE *out, const struct report_item *x)
{
    struct jsontree_text bound = report_text(x, 0, "bound");
    double cores = report_number(x, 0, "cores_of_use");

    fputs("<p>The bottleneck is: ", out);
    page_text(out, (const char *)bound.bytes, bound.length);
    if (!isnan(cores))
        fprintf(out, ". Work that only one thread at a time can do limits the useful cores to about %.1f", cores);
    fputs(".</p>\n", out);
}

void report_packing(FILE *out, const struct report_item *const *items, size_t count)
{
    struct jsontree_text none = { (const uint8_t *)"", 0 };
    char label[LABEL_BYTES];

    put_items(out, "Packing", items, count, "");
    for (size_t i = 0; i < count; i++) {
        report_label(items[i], none, label, sizeof label);
        report_heading(out, label);
        put_sentence(out, items[i]);
        fputs("<div class=\"grid\"><div>\n", out);
        put_steps(out, items[i]);
        fputs("</div><div>\n", out);
        put_threads(out, items[i]);
        fputs("</div></div>\n<div class=\"wide\"><table>\n<tr><th class=\"n\">text, bytes</th><th class=\"n\">tokens"
              "</th><th class=\"n\">seconds</th><th class=\"n\">MB/s</th><th class=\"n\">threads</th><th class=\"n\">"
              "memory, bytes</th></tr>\n<tr>",
              out);
        report_count(out, report_number(items[i], 0, "text_bytes"));
        report_count(out, report_number(items[i], 0, "tokens"));
        report_cell(out, report_number(items[i], 0, "seconds"));
        report_cell(out, report_number(items[i], 0, "mb_per_s"));
        report_cell(out, report_number(items[i], 0, "threads"));
        report_count(out, report_number(items[i], 0, "peak_memory"));
        fputs("</tr></table></div>\n", out);
    }
}

/* ---- Beside other tools ---- */

/* The figures of a row; the first ones are the rates, of which a list has one. */
static const struct {
    const char *key, *title;
} figures[] = {
    { "mtok_per_s", "million tokens per second" },
    { "mb_per_s", "MB of text per second" },
    { "cpu_ms_per_mtok", "CPU, ms per million tokens" },
    { "cpu_s_per_100_mb", "CPU, s per 100 MB" },
    { "start_s", "start, s" },
    { "resume_s", "resume, s" },
    { "memory_mib", "memory, MiB" },
};
#define FIGURES (sizeof figures / sizeof *figures)
#define RATES   2u

/* Whether a row of the list has this figure. */
static bool has(const struct report_item *x, uint32_t list, size_t figure)
{
    uint32_t end = jsontree_next(&x->tree, list);

    for (uint32_t row = list + 1; row < end; row = jsontree_next(&x->tree, row))
        if (!isnan(report_number(x, row, figures[figure].key)))
            return true;
    return false;
}

static void put_rate(FILE *out, const struct report_item *x, uint32_t list, size_t rate)
{
    uint32_t end = jsontree_next(&x->tree, list);
    struct bars bars = { .count = 0 };

    for (uint32_t row = list + 1; row < end; row = jsontree_next(&x->tree, row)) {
        struct jsontree_text name = report_text(x, row, "name");
        bool own = name.length >= 4 && memcmp(name.bytes, "leat", 4) == 0;

        add_bar(&bars, name, report_number(x, row, figures[rate].key), own ? 0 : 1);
    }
    put_bars(out, "Beside other tools", figures[rate].title, &bars);
}

static void put_peers(FILE *out, const struct report_item *x, uint32_t list)
{
    uint32_t end = jsontree_next(&x->tree, list);
    bool shown[FIGURES];

    fputs("<div class=\"wide\"><table>\n<tr><th>what</th>", out);
    for (size_t i = 0; i < FIGURES; i++)
        if ((shown[i] = has(x, list, i)))
            fprintf(out, "<th class=\"n\">%s</th>", figures[i].title);
    fputs("<th>note</th></tr>\n", out);
    for (uint32_t row = list + 1; row < end; row = jsontree_next(&x->tree, row)) {
        static const char *const notes[] = { "not_measured", "no_resume" };

        fputs("<tr>", out);
        report_text_cell(out, report_text(x, row, "name"));
        for (size_t i = 0; i < FIGURES; i++)
            if (shown[i])
                report_cell(out, report_number(x, row, figures[i].key));
        fputs("<td>", out);
        for (size_t i = 0; i < sizeof notes / sizeof *notes; i++) {
            struct jsontree_text note = report_text(x, row, notes[i]);

            if (note.length > 0)
                fputs(i == 0 ? "cannot run: " : "no resume: ", out);
            page_text(out, (const char *)note.bytes, note.length);
        }
        fputs("</td></tr>\n", out);
    }
    fputs("</table></div>\n", out);
}

void report_peers(FILE *out, const struct report_item *const *items, size_t count)
{
    char label[LABEL_BYTES];

    fputs("<p>The same work by each, in turns; the output of each was checked. Striped: other tools.</p>\n", out);
    for (size_t i = 0; i < count; i++) {
        const struct report_item *x = items[i];
        uint32_t list = report_member(x, 0, "peers");

        if (x->tree.nodes[list].kind != JSONTREE_ARRAY)
            continue;
        report_label(x, report_text(x, 0, "work"), label, sizeof label);
        report_heading(out, label);
        for (size_t rate = 0; rate < RATES; rate++)
            put_rate(out, x, list, rate);
        put_peers(out, x, list);
    }
}
