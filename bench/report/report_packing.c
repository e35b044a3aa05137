/* report_packing.c: what texts cost on their way to a dataset: encoding, slow texts, packing; see report.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pages/chart.h"
#include "pages/page.h"
#include "report.h"

#define SHOWN       32u
#define LABEL_BYTES 256u

/* Bars of one number of each item, with the item's name and the text of a member. */
static void put_items(FILE *out, const char *title, const char *unit, const struct report_item *const *items,
                      size_t count, const char *number, const char *more)
{
    char labels[SHOWN][LABEL_BYTES];
    struct chart_bar bars[SHOWN];
    size_t n = 0;

    for (size_t i = 0; i < count && n < SHOWN; i++) {
        double value = report_number(items[i], 0, number);

        if (isnan(value))
            continue;
        bars[n] = (struct chart_bar) { .label = labels[n], .value = value };
        bars[n].label_bytes = report_label(items[i], report_text(items[i], 0, more), labels[n], LABEL_BYTES);
        n++;
    }
    if (n > 0)
        chart_bars(out, title, unit, bars, n);
}

void report_encoding(FILE *out, const struct report_item *const *items, size_t count)
{
    put_items(out, "Encoding", "MB of text per second", items, count, "mb_per_s", "tokenizer");
    fputs("<div class=\"wide\"><table>\n<tr><th>file</th><th>tokenizer</th><th class=\"n\">MB/s</th><th class=\"n\">"
          "threads</th><th class=\"n\">bytes</th><th class=\"n\">tokens</th></tr>\n",
          out);
    for (size_t i = 0; i < count; i++) {
        struct jsontree_text name = report_text(items[i], 0, "tokenizer");

        fputs("<tr><td>", out);
        page_string(out, items[i]->file);
        fputs("</td><td>", out);
        page_text(out, (const char *)name.bytes, name.length);
        fputs("</td>", out);
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
        struct jsontree_text tokenizer = report_text(x, 0, "tokenizer");
        struct chart_bar bars[SHOWN];
        char label[LABEL_BYTES];
        size_t n = 0;

        if (x->tree.nodes[rows].kind != JSONTREE_ARRAY)
            continue;
        for (uint32_t row = rows + 1; row < end && n < SHOWN; row = jsontree_next(&x->tree, row)) {
            struct jsontree_text text = report_text(x, row, "text");
            double value = report_number(x, row, "mb_per_s");

            if (!isnan(value))
                bars[n++] = (struct chart_bar) { (const char *)text.bytes, text.length, value, 0 };
        }
        report_label(x, tokenizer, label, sizeof label);
        fputs("<h3>", out);
        page_string(out, label);
        fputs("</h3>\n", out);
        if (n > 0)
            chart_bars(out, "Slow texts", "MB of text per second", bars, n);
    }
}

/* ---- Packing ---- */

static const char *const steps[] = { "read", "scan", "encode", "write" };

static void put_steps(FILE *out, const struct report_item *x)
{
    uint32_t cpu = report_member(x, 0, "cpu_seconds");
    struct chart_bar bars[sizeof steps / sizeof *steps];
    size_t n = 0;

    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        double value = report_number(x, cpu, steps[i]);

        if (!isnan(value))
            bars[n++] = (struct chart_bar) { steps[i], strlen(steps[i]), value, 0 };
    }
    if (n > 0)
        chart_bars(out, "CPU time of each step", "CPU seconds of all threads", bars, n);
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
        fprintf(out, ". What only one thread at a time can do allows about %.1f cores to be of use", cores);
    fputs(".</p>\n", out);
}

void report_packing(FILE *out, const struct report_item *const *items, size_t count)
{
    struct jsontree_text none = { (const uint8_t *)"", 0 };
    char label[LABEL_BYTES];

    put_items(out, "Packing", "MB of text per second", items, count, "mb_per_s", "");
    for (size_t i = 0; i < count; i++) {
        report_label(items[i], none, label, sizeof label);
        fputs("<h3>", out);
        page_string(out, label);
        fputs("</h3>\n", out);
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
