/* report_peers.c: leat beside other tools at the same work: what bench/peers/loaders.py and packers.py keep; see
 * report.h. */
#include <math.h>
#include <string.h>

#include "pages/chart.h"
#include "pages/page.h"
#include "report.h"

#define SHOWN       64u /* of a list: more are in the table only */
#define LABEL_BYTES 256u

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

static void put_bars(FILE *out, const struct report_item *x, uint32_t list, size_t rate)
{
    uint32_t end = jsontree_next(&x->tree, list);
    struct chart_bar bars[SHOWN];
    size_t n = 0;

    for (uint32_t row = list + 1; row < end && n < SHOWN; row = jsontree_next(&x->tree, row)) {
        struct jsontree_text name = report_text(x, row, "name");
        double value = report_number(x, row, figures[rate].key);
        bool own = name.length >= 4 && memcmp(name.bytes, "leat", 4) == 0;

        if (!isnan(value))
            bars[n++] = (struct chart_bar) { (const char *)name.bytes, name.length, value, own ? 0 : 1 };
    }
    if (n > 0)
        chart_bars(out, "Beside other tools", figures[rate].title, bars, n);
}

static void put_table(FILE *out, const struct report_item *x, uint32_t list)
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
        struct jsontree_text name = report_text(x, row, "name");

        fputs("<tr><td>", out);
        page_text(out, (const char *)name.bytes, name.length);
        fputs("</td>", out);
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
        fputs("<h3>", out);
        page_string(out, label);
        fputs("</h3>\n", out);
        for (size_t rate = 0; rate < RATES; rate++)
            put_bars(out, x, list, rate);
        put_table(out, x, list);
    }
}
