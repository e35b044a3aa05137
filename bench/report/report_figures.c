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
static struct chart_bar *add_bar(struct bars *b, struct jsontree_text label, double value, unsigned series)
{
    if (isnan(value) || b->count == SHOWN)
        return NULL;
    b->bars[b->count] =
        (struct chart_bar) { (const char *)label.bytes, label.length, .value = value, .series = series };
    return &b->bars[b->count++];
}

/* The same of seconds, or of bytes per second: it says its unit, and set_unit() brings all to one. */
static void add_time(struct bars *b, struct jsontree_text label, double value)
{
    struct chart_bar *bar = add_bar(b, label, value, 0);

    if (bar)
        snprintf(bar->shown, sizeof bar->shown, "%.31s", report_time(value).text);
}

static void add_rate(struct bars *b, struct jsontree_text label, double value)
{
    struct chart_bar *bar = add_bar(b, label, value, 0);

    if (bar)
        snprintf(bar->shown, sizeof bar->shown, "%.31s", units_rate(value, "B").text);
}

static const char *set_unit(struct bars *b, double (*unit_of)(double most, const char **unit))
{
    const char *unit;
    double most = 0, scale;

    for (size_t i = 0; i < b->count; i++)
        most = fmax(most, b->bars[i].value);
    scale = unit_of(most, &unit);
    for (size_t i = 0; i < b->count; i++)
        b->bars[i].value *= scale;
    return unit;
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

static void put_measured(FILE *out, const struct report_item *x, uint32_t list, const char *figure,
                         void (*cell)(FILE *out, double value))
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
        cell(out, median(x, row, figure, "median"));
        cell(out, median(x, row, figure, "least"));
        cell(out, median(x, row, figure, "most"));
        report_cell(out, report_number(x, row, "cpus"));
        fputs("<td>", out);
        page_text(out, (const char *)note.bytes, note.length);
        page_text(out, (const char *)missing.bytes, missing.length);
        fputs("</td></tr>\n", out);
    }
    fputs("</table></div></details>\n", out);
}

/* Whether all rows of a list that were measured have bytes per second; else they have times. */
static bool has_rates(const struct report_item *x, uint32_t list)
{
    uint32_t end = jsontree_next(&x->tree, list);

    for (uint32_t row = list + 1; row < end; row = jsontree_next(&x->tree, row))
        if (isnan(median(x, row, "bytes_per_s", "median")) && !isnan(median(x, row, "seconds_per_item", "median")))
            return false;
    return true;
}

/* A list's name, as words. */
static void name_list(struct jsontree_text name, char *out, size_t room)
{
    size_t n = 0;

    for (; n < name.length && n + 1 < room; n++)
        out[n] = name.bytes[n] == '_' ? ' ' : (char)name.bytes[n];
    out[n] = '\0';
}

static void put_list(FILE *out, const struct report_item *x, struct jsontree_text name, uint32_t list)
{
    struct bars bars = { .count = 0 };
    uint32_t end = jsontree_next(&x->tree, list);
    bool rates = has_rates(x, list);
    char title[64];

    for (uint32_t row = list + 1; row < end; row = jsontree_next(&x->tree, row))
        if (rates)
            add_rate(&bars, report_text(x, row, "name"), median(x, row, "bytes_per_s", "median"));
        else
            add_time(&bars, report_text(x, row, "name"), median(x, row, "seconds_per_item", "median"));
    if (bars.count == 0)
        return;
    name_list(name, title, sizeof title);
    fputs("<h4>", out);
    page_string(out, title);
    fputs("</h4>\n", out);
    chart_bars(out, title, set_unit(&bars, rates ? report_rate_unit : report_time_unit), bars.bars, bars.count);
    put_measured(out, x, list, rates ? "bytes_per_s" : "seconds_per_item", rates ? report_rate_cell : report_time_cell);
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

        report_title(out, x);
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

int report_name_machine(const struct report_item *x, char *out, size_t room)
{
    uint32_t machine = report_member(x, 0, "machine");
    struct jsontree_text cpu = report_text(x, machine, "cpu");
    double cores = report_number(x, machine, "cores");

    if (cpu.length == 0)
        return snprintf(out, room, "a machine");
    if (!(cores >= 1 && cores < 1e6))
        return snprintf(out, room, "%.*s", (int)(cpu.length < 200 ? cpu.length : 200), (const char *)cpu.bytes);
    return snprintf(out, room, "%.*s, %.0f cores", (int)(cpu.length < 200 ? cpu.length : 200), (const char *)cpu.bytes,
                    cores);
}

/* The best rate of a list, or its least and most time; whether anything was measured. */
static bool say_list(FILE *out, const struct report_item *x, uint32_t list, const char *before, const char *name)
{
    bool rates = has_rates(x, list);
    uint32_t end = jsontree_next(&x->tree, list);
    double least = INFINITY, most = 0;

    for (uint32_t row = list + 1; row < end; row = jsontree_next(&x->tree, row)) {
        double value = median(x, row, rates ? "bytes_per_s" : "seconds_per_item", "median");

        least = value > 0 && value < least ? value : least;
        most = value > most && isfinite(value) ? value : most;
    }
    if (!(most > 0))
        return false;
    fputs(before, out);
    page_string(out, name);
    if (rates)
        fprintf(out, " up to %s", units_rate(most, "B").text);
    else
        fprintf(out, " %s to %s", report_time(least).text, report_time(most).text);
    return true;
}

void report_say_measurements(FILE *out, const struct report_item *const *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct report_item *x = items[i];
        uint32_t end = jsontree_next(&x->tree, 0);
        bool any = false;
        char name[64];

        fputs("<p>", out);
        report_subject(out, x);
        for (uint32_t key = 1; key < end; key = jsontree_next(&x->tree, key + 1)) {
            if (!is_list(x, key + 1))
                continue;
            name_list(jsontree_string(&x->tree, key), name, sizeof name);
            any = say_list(out, x, key + 1, any ? ", " : "", name) || any;
        }
        fprintf(out, "%s.</p>\n", any ? "" : "nothing was measured");
    }
}

/* ---- Texts ---- */

int report_name_tokenizer(const struct report_item *x, char *out, size_t room)
{
    struct jsontree_text name = report_text(x, 0, "tokenizer");

    return snprintf(out, room, "%.*s", (int)(name.length < 200 ? name.length : 200), (const char *)name.bytes);
}

/* What a rate is reached with. */
static void say_threads(FILE *out, const struct report_item *x)
{
    double threads = report_number(x, 0, "threads");

    if (threads >= 1 && threads < 1e6)
        fprintf(out, " with %s", units_counted((uint64_t)threads, "thread").text);
}

/* Bars of the rates of text of all items. */
static void put_items(FILE *out, const char *title, const struct report_item *const *items, size_t count)
{
    static const struct jsontree_text none = { (const uint8_t *)"", 0 };
    static char labels[SHOWN][LABEL_BYTES];
    struct bars bars = { .count = 0 };

    for (size_t i = 0; i < count && bars.count < SHOWN; i++) {
        char *label = labels[bars.count];
        size_t bytes = report_label(items[i], none, label, LABEL_BYTES);

        add_rate(&bars, (struct jsontree_text) { (const uint8_t *)label, bytes },
                 1e6 * report_number(items[i], 0, "mb_per_s"));
    }
    put_bars(out, title, set_unit(&bars, report_rate_unit), &bars);
}

void report_encoding(FILE *out, const struct report_item *const *items, size_t count)
{
    put_items(out, "Encoding", items, count);
    fputs("<div class=\"wide\"><table>\n<tr><th>tokenizer</th><th class=\"n\">text</th><th class=\"n\">"
          "threads</th><th class=\"n\">size</th><th class=\"n\">tokens</th></tr>\n",
          out);
    for (size_t i = 0; i < count; i++) {
        fputs("<tr>", out);
        report_text_cell(out, report_text(items[i], 0, "tokenizer"));
        report_rate_cell(out, 1e6 * report_number(items[i], 0, "mb_per_s"));
        report_cell(out, report_number(items[i], 0, "threads"));
        report_size_cell(out, report_number(items[i], 0, "bytes"));
        report_count(out, report_number(items[i], 0, "tokens"));
        fputs("</tr>\n", out);
    }
    fputs("</table></div>\n", out);
}

void report_say_encoding(FILE *out, const struct report_item *const *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        fputs("<p>", out);
        report_subject(out, items[i]);
        fprintf(out, "encodes %s of text", units_rate(1e6 * report_number(items[i], 0, "mb_per_s"), "B").text);
        say_threads(out, items[i]);
        fputs(".</p>\n", out);
    }
}

void report_say_slow_texts(FILE *out, const struct report_item *const *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct report_item *x = items[i];
        uint32_t rows = report_member(x, 0, "rows"), end = jsontree_next(&x->tree, rows), slowest = JSONTREE_NONE;
        double least = INFINITY;

        if (x->tree.nodes[rows].kind != JSONTREE_ARRAY)
            continue;
        for (uint32_t row = rows + 1; row < end; row = jsontree_next(&x->tree, row)) {
            double rate = report_number(x, row, "mb_per_s");

            if (rate >= 0 && rate < least) {
                least = rate;
                slowest = row;
            }
        }
        if (slowest == JSONTREE_NONE)
            continue;
        fputs("<p>", out);
        report_subject(out, x);
        fprintf(out, "encodes %s even of the slowest text, ", units_rate(1e6 * least, "B").text);
        page_text(out, (const char *)report_text(x, slowest, "text").bytes, report_text(x, slowest, "text").length);
        fputs(".</p>\n", out);
    }
}

void report_slow_texts(FILE *out, const struct report_item *const *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct report_item *x = items[i];
        uint32_t rows = report_member(x, 0, "rows"), end = jsontree_next(&x->tree, rows);
        struct bars bars = { .count = 0 };

        if (x->tree.nodes[rows].kind != JSONTREE_ARRAY)
            continue;
        for (uint32_t row = rows + 1; row < end; row = jsontree_next(&x->tree, row))
            add_rate(&bars, report_text(x, row, "text"), 1e6 * report_number(x, row, "mb_per_s"));
        report_title(out, x);
        put_bars(out, "Slow texts", set_unit(&bars, report_rate_unit), &bars);
    }
}

/* ---- Packing ---- */

static void put_steps(FILE *out, const struct report_item *x)
{
    static const char *const steps[] = { "read", "scan", "encode", "write" };
    uint32_t cpu = report_member(x, 0, "cpu_seconds");
    struct bars bars = { .count = 0 };
    char unit[64];

    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        add_time(&bars, (struct jsontree_text) { (const uint8_t *)steps[i], strlen(steps[i]) },
                 report_number(x, cpu, steps[i]));
    snprintf(unit, sizeof unit, "%s of CPU time, all threads", set_unit(&bars, report_time_unit));
    put_bars(out, "CPU time of each step", unit, &bars);
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
    static const char *const words[][2] = {
        { "read", "reading" }, { "scan", "scanning records" }, { "encode", "encoding" }, { "write", "writing" }
    };
    struct jsontree_text bound = report_text(x, 0, "bound");
    double cores = report_number(x, 0, "cores_of_use");

    fputs("Most of the time goes into ", out);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (bound.length == strlen(words[i][0]) && memcmp(bound.bytes, words[i][0], bound.length) == 0)
            bound = (struct jsontree_text) { (const uint8_t *)words[i][1], (uint32_t)strlen(words[i][1]) };
    page_text(out, (const char *)bound.bytes, bound.length);
    if (isfinite(cores))
        fprintf(out, ". More than some %.3g cores would wait for work that only one thread at a time can do", cores);
    fputs(".</p>\n", out);
}

int report_name_packing(const struct report_item *x, char *out, size_t room)
{
    double bytes = report_number(x, 0, "text_bytes");

    return snprintf(out, room, "Packing %s of text",
                    bytes >= 0 && bytes < 1e18 ? units_bytes((uint64_t)bytes).text : "some");
}

void report_say_packing(FILE *out, const struct report_item *const *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        fputs("<p>", out);
        report_subject(out, items[i]);
        fputs(units_rate(1e6 * report_number(items[i], 0, "mb_per_s"), "B").text, out);
        say_threads(out, items[i]);
        fputs(". ", out);
        put_sentence(out, items[i]);
    }
}

void report_packing(FILE *out, const struct report_item *const *items, size_t count)
{
    put_items(out, "Packing", items, count);
    for (size_t i = 0; i < count; i++) {
        report_title(out, items[i]);
        fputs("<div class=\"grid\"><div>\n", out);
        put_steps(out, items[i]);
        fputs("</div><div>\n", out);
        put_threads(out, items[i]);
        fputs("</div></div>\n<div class=\"wide\"><table>\n<tr><th class=\"n\">text</th><th class=\"n\">tokens"
              "</th><th class=\"n\">took</th><th class=\"n\">rate</th><th class=\"n\">threads</th><th class=\"n\">"
              "memory</th></tr>\n<tr>",
              out);
        report_size_cell(out, report_number(items[i], 0, "text_bytes"));
        report_count(out, report_number(items[i], 0, "tokens"));
        report_time_cell(out, report_number(items[i], 0, "seconds"));
        report_rate_cell(out, 1e6 * report_number(items[i], 0, "mb_per_s"));
        report_cell(out, report_number(items[i], 0, "threads"));
        report_size_cell(out, report_number(items[i], 0, "peak_memory"));
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
    { "start_cpu_s", "start, CPU s" },
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

static bool is_own(const struct report_item *x, uint32_t row)
{
    struct jsontree_text name = report_text(x, row, "name");

    return name.length >= 4 && memcmp(name.bytes, "leat", 4) == 0;
}

static void put_rate(FILE *out, const struct report_item *x, uint32_t list, size_t rate)
{
    uint32_t end = jsontree_next(&x->tree, list);
    struct bars bars = { .count = 0 };

    for (uint32_t row = list + 1; row < end; row = jsontree_next(&x->tree, row)) {
        add_bar(&bars, report_text(x, row, "name"), report_number(x, row, figures[rate].key), is_own(x, row) ? 0 : 1);
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

int report_name_work(const struct report_item *x, char *out, size_t room)
{
    struct jsontree_text work = report_text(x, 0, "work");

    return snprintf(out, room, "%.*s", (int)(work.length < 200 ? work.length : 200), (const char *)work.bytes);
}

/* The best of leat's beside the best of the others, in a rate that both have. */
void report_say_peers(FILE *out, const struct report_item *const *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct report_item *x = items[i];
        uint32_t list = report_member(x, 0, "peers"), end = jsontree_next(&x->tree, list);

        for (size_t rate = 0; rate < RATES && x->tree.nodes[list].kind == JSONTREE_ARRAY; rate++) {
            double own = 0, other = 0;

            for (uint32_t row = list + 1; row < end; row = jsontree_next(&x->tree, row)) {
                double value = report_number(x, row, figures[rate].key), *best = is_own(x, row) ? &own : &other;

                *best = value > *best && value < 1e12 ? value : *best;
            }
            if (!(own > 0 && other > 0))
                continue;
            fputs("<p>", out);
            report_subject(out, x);
            fprintf(out, "leat %.4g, the best of the others %.4g %s: %.3g times.</p>\n", own, other,
                    figures[rate].title, own / other);
        }
    }
}

void report_peers(FILE *out, const struct report_item *const *items, size_t count)
{
    fputs("<p>The same work by each, in turns; the output of each was checked. Striped: other tools.</p>\n", out);
    for (size_t i = 0; i < count; i++) {
        const struct report_item *x = items[i];
        uint32_t list = report_member(x, 0, "peers");

        if (x->tree.nodes[list].kind != JSONTREE_ARRAY)
            continue;
        report_title(out, x);
        for (size_t rate = 0; rate < RATES; rate++)
            put_rate(out, x, list, rate);
        put_peers(out, x, list);
    }
}
