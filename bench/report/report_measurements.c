/* report_measurements.c: lists of measurements (measure/contest.h writes them): of limits, datasets and plans. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pages/chart.h"
#include "pages/page.h"
#include "report.h"

#define SHOWN 64u /* of a list: more are in the table only */

/* Where in an object the median of a kind of figure is. */
static double median(const struct report_item *x, uint32_t row, const char *figure, const char *which)
{
    return report_number(x, report_member(x, row, figure), which);
}

static void put_table(FILE *out, const struct report_item *x, uint32_t list, const char *figure, double scale)
{
    uint32_t end = jsontree_next(&x->tree, list);

    fputs("<details><summary>as a table</summary><div class=\"wide\"><table>\n<tr><th>what</th><th class=\"n\">median"
          "</th><th class=\"n\">least</th><th class=\"n\">most</th><th class=\"n\">CPUs</th><th>note</th></tr>\n",
          out);
    for (uint32_t row = list + 1; row < end; row = jsontree_next(&x->tree, row)) {
        struct jsontree_text name = report_text(x, row, "name"), note = report_text(x, row, "note");
        struct jsontree_text missing = report_text(x, row, "not_measured");

        fputs("<tr><td>", out);
        page_text(out, (const char *)name.bytes, name.length);
        fputs("</td>", out);
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
    struct chart_bar bars[SHOWN];
    uint32_t end = jsontree_next(&x->tree, list);
    bool rates = true;
    size_t count = 0;
    char title[64];
    size_t n = 0;

    for (uint32_t row = list + 1; row < end; row = jsontree_next(&x->tree, row))
        rates = rates && (!isnan(median(x, row, "bytes_per_s", "median")) ||
                          isnan(median(x, row, "seconds_per_item", "median")));
    for (uint32_t row = list + 1; row < end && count < SHOWN; row = jsontree_next(&x->tree, row)) {
        double value =
            rates ? median(x, row, "bytes_per_s", "median") / 1e9 : median(x, row, "seconds_per_item", "median") * 1e6;
        struct jsontree_text label = report_text(x, row, "name");

        if (!isnan(value))
            bars[count++] = (struct chart_bar) { (const char *)label.bytes, label.length, value, 0 };
    }
    if (count == 0)
        return;
    for (; n < name.length && n + 1 < sizeof title; n++)
        title[n] = name.bytes[n] == '_' ? ' ' : (char)name.bytes[n];
    title[n] = '\0';
    fputs("<h4>", out);
    page_string(out, title);
    fputs("</h4>\n", out);
    chart_bars(out, title, rates ? "GB/s, median" : "\u00b5s each, median", bars, count);
    put_table(out, x, list, rates ? "bytes_per_s" : "seconds_per_item", rates ? 1e-9 : 1e6);
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

        fputs("<h3>", out);
        page_string(out, x->file);
        fputs("</h3>\n<div class=\"grid\">\n", out);
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
