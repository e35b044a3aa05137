/*
 * report.c: `leat-bench report`: results of other commands as a page; see report.h.
 *
 * Each file is read whole; each of its lines is an object, whose members show its kind. The
 * page begins with what they come to, in sentences; then each kind that came has its section, which its row of
 * report_kinds writes; machines and files come last.
 */
#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/status.h"
#include "bench/subcommands.h"
#include "pages/chart.h"
#include "pages/page.h"
#include "tokenizer/load/whole_file.h"

struct report_values {
    const char *output;
};

const struct option_row bench_report_options[] = {
    { BENCH_OPTION(report_values, "output", OPTION_TEXT, output, "FILE.html",
                   "the page to write (- is standard output)"),
      .letter = 'o', .required = true, .path = true },
    OPTIONS_END,
};

#define NOT_JSON LEAT_E_VOCABULARY /* as jsontree_parse() has it */

const struct report_kind report_kinds[] = {
    { "Training runs", { "consumer", "batches" }, report_runs, report_name_run, report_say_runs },
    { "Loading", { "waits_s", "next_us" }, report_loading, report_name_loading, report_say_loading },
    { "Packing", { "serial_seconds", "cores_of_use" }, report_packing, report_name_packing, report_say_packing },
    { "Encoding", { "tokenizer", "checksum" }, report_encoding, report_name_tokenizer, report_say_encoding },
    { "Texts made to be slow",
      { "tokenizer", "rows" },
      report_slow_texts,
      report_name_tokenizer,
      report_say_slow_texts },
    { "Beside other tools", { "peers", "work" }, report_peers, report_name_work, report_say_peers },
    { "What the machine allows",
      { "page_cache", "disk" },
      report_measurements,
      report_name_machine,
      report_say_measurements },
    { "Opening and verifying",
      { "opening", "bytes" },
      report_measurements,
      report_name_machine,
      report_say_measurements },
    { "Samples of plans",
      { "permutation", "machine" },
      report_measurements,
      report_name_machine,
      report_say_measurements },
    { NULL, { NULL, NULL }, NULL, NULL, NULL },
};

/* ---- Members ---- */

uint32_t report_member(const struct report_item *x, uint32_t object, const char *name)
{
    return object == JSONTREE_NONE ? JSONTREE_NONE : jsontree_member(&x->tree, object, name);
}

double report_element(const struct report_item *x, uint32_t node)
{
    struct jsontree_text text;
    double value;

    if (node == JSONTREE_NONE || x->tree.nodes[node].kind != JSONTREE_NUMBER)
        return NAN;
    text = jsontree_string(&x->tree, node);
    return json_number(text.bytes, text.length, &value) ? value : NAN;
}

double report_number(const struct report_item *x, uint32_t object, const char *name)
{
    return report_element(x, report_member(x, object, name));
}

struct jsontree_text report_text(const struct report_item *x, uint32_t object, const char *name)
{
    uint32_t node = report_member(x, object, name);

    if (node == JSONTREE_NONE || x->tree.nodes[node].kind != JSONTREE_STRING)
        return (struct jsontree_text) { (const uint8_t *)"", 0 };
    return jsontree_string(&x->tree, node);
}

size_t report_label(const struct report_item *x, struct jsontree_text more, char *out, size_t room)
{
    const char *slash = strrchr(x->file, '/'), *file = slash ? slash + 1 : x->file, *dot = strrchr(file, '.');
    char name[LABEL_BYTES];
    int n;

    report_kinds[x->kind].name(x, name, sizeof name);
    n = snprintf(out, room, "%s%s%.*s%s%.*s%s", name, more.length > 0 ? ", " : "",
                 (int)(more.length < 200 ? more.length : 200), (const char *)more.bytes, x->alike ? " (" : "",
                 x->alike ? (int)(dot && dot > file ? (size_t)(dot - file) : strlen(file)) : 0, file,
                 x->alike ? ")" : "");
    return n < 0 ? 0 : (size_t)n < room ? (size_t)n : room - 1;
}

static void put_label(FILE *out, const struct report_item *x)
{
    char label[LABEL_BYTES];
    size_t bytes = report_label(x, (struct jsontree_text) { (const uint8_t *)"", 0 }, label, sizeof label);

    page_text(out, label, bytes);
}

void report_title(FILE *out, const struct report_item *x)
{
    fputs("<h3>", out);
    put_label(out, x);
    fputs("</h3>\n", out);
}

void report_subject(FILE *out, const struct report_item *x)
{
    fputs("<strong>", out);
    put_label(out, x);
    fputs("</strong>: ", out);
}

double report_time_unit(double most, const char **unit)
{
    static const char *const units[] = { "ns", "\u00b5s", "ms", "s" };
    double scale = 1e9;
    unsigned k = 0;

    for (; k < 3 && most * scale >= 1e3; k++)
        scale /= 1e3;
    *unit = units[k];
    return scale;
}

double report_rate_unit(double most, const char **unit)
{
    static const char *const units[] = { "kB/s", "MB/s", "GB/s" };
    double scale = 1e-3;
    unsigned k = 0;

    for (; k < 2 && most * scale >= 1e3; k++)
        scale /= 1e3;
    *unit = units[k];
    return scale;
}

static void put_cell(FILE *out, double value, const char *text)
{
    fprintf(out, "<td class=\"n\">%s</td>", isfinite(value) && value >= 0 ? text : "");
}

struct units_text report_time(double seconds)
{
    struct units_text t = units_duration(seconds), mu;
    size_t length = strlen(t.text);

    if (length < 3 || strcmp(t.text + length - 3, " us") != 0)
        return t;
    snprintf(mu.text, sizeof mu.text, "%.*s\u00b5s", (int)(length - 2 < 32 ? length - 2 : 32), t.text);
    return mu;
}

void report_time_cell(FILE *out, double seconds)
{
    put_cell(out, seconds, report_time(seconds).text);
}

void report_rate_cell(FILE *out, double bytes_per_s)
{
    put_cell(out, bytes_per_s, units_rate(bytes_per_s, "B").text);
}

void report_size_cell(FILE *out, double bytes)
{
    put_cell(out, bytes < 1e18 ? bytes : NAN, bytes >= 0 && bytes < 1e18 ? units_bytes((uint64_t)bytes).text : "");
}

void report_cell(FILE *out, double value)
{
    if (!isfinite(value))
        fputs("<td></td>", out);
    else
        fprintf(out, "<td class=\"n\">%.*g</td>", fabs(value) < 1e4 ? 4 : 15, fabs(value) < 1e4 ? value : round(value));
}

void report_count(FILE *out, double value)
{
    if (value >= 0 && value < 1e18)
        fprintf(out, "<td class=\"n\">%s</td>", units_count((uint64_t)value).text);
    else
        fputs("<td></td>", out);
}

void report_heading(FILE *out, const char *text)
{
    fputs("<h3>", out);
    page_string(out, text);
    fputs("</h3>\n", out);
}

void report_text_cell(FILE *out, struct jsontree_text text)
{
    fputs("<td>", out);
    page_text(out, (const char *)text.bytes, text.length);
    fputs("</td>", out);
}

/* ---- Files ---- */

struct report {
    struct report_item *items;
    size_t count, room;
};

static bool find_kind(struct report_item *x)
{
    for (x->kind = 0; report_kinds[x->kind].title; x->kind++)
        if (report_member(x, 0, report_kinds[x->kind].members[0]) != JSONTREE_NONE &&
            report_member(x, 0, report_kinds[x->kind].members[1]) != JSONTREE_NONE)
            return true;
    return false;
}

/* Takes a copy of the text. */
static enum leat_status add_item(struct report *r, const char *path, unsigned line, const uint8_t *text, uint64_t size,
                                 struct leat_error *err)
{
    struct report_item x = { .file = path, .line = line };
    enum leat_status s = GROW(r->items, r->count + 1, r->room, err);

    if (s != LEAT_OK)
        return s;
    x.text = malloc((size_t)size + 1);
    if (!x.text)
        return status_no_memory(err, size);
    memcpy(x.text, text, (size_t)size);
    s = jsontree_parse(&x.tree, x.text, size, path, err);
    if (s == LEAT_OK && !find_kind(&x))
        s = status_set(
            err, LEAT_E_ARGUMENT,
            "%s: line %u is not a result of leat-bench limits, dataset, order, encode, hostile, pack or load "
            "with --json, of make bench-peers, or of a loader's stats_file; other results are not drawn",
            path, line);
    r->items[r->count++] = x; /* also after a failure, to be freed */
    return s;
}

/* The last one. */
static void drop_item(struct report *r)
{
    struct report_item *x = &r->items[--r->count];

    jsontree_free(&x->tree);
    free(x->text);
}

static bool is_blank(const uint8_t *text, uint64_t size)
{
    for (uint64_t i = 0; i < size; i++)
        if (!strchr(" \t\r", text[i]))
            return false;
    return true;
}

/* Lines of statistics are of one rank: those of several would be drawn as one run. `first` is the file's first item. */
static enum leat_status check_rank(const struct report *r, size_t first, struct leat_error *err)
{
    const struct report_item *a = &r->items[first], *b = &r->items[r->count - 1];
    double one = report_number(a, 0, "rank"), other = report_number(b, 0, "rank");

    if (isnan(one) || isnan(other) || one == other)
        return LEAT_OK;
    return status_set(err, LEAT_E_ARGUMENT,
                      "%s: line %u is from rank %.0f, line %u from rank %.0f: use a stats_file per rank, or copy the "
                      "lines of each rank to a file",
                      b->file, a->line, one, b->line, other);
}

/* Adds the objects of a file; one that is of no kind, or of another rank, is an error; a torn line is left out, with a
 * message. */
static enum leat_status read_file(struct report *r, const char *path, struct leat_error *err)
{
    uint8_t *text = NULL;
    uint64_t size = 0, end;
    size_t first = r->count;
    unsigned line = 1, torn = 0;
    bool several;
    struct leat_error why;
    enum leat_status s = whole_file_read(&text, &size, path, err);

    for (uint64_t at = 0; s == LEAT_OK && at < size; at = end + 1, line++) {
        const uint8_t *newline = memchr(text + at, '\n', (size_t)(size - at));

        end = newline ? (uint64_t)(newline - text) : size;
        if (is_blank(text + at, end - at))
            continue;
        s = add_item(r, path, line, text + at, end - at, err);
        if (s == LEAT_OK)
            s = check_rank(r, first, err);
        several = r->count > first + 1 || (newline && memcmp(text + at, "{\"", 2) == 0);
        if (s == NOT_JSON && several) { /* a torn line */
            drop_item(r);
            cli_error("%s: line %u is not JSON and is left out", path, line);
            torn = line;
            why = *err;
            s = LEAT_OK;
        }
    }
    if (s == LEAT_OK && torn > 0 && r->count == first) { /* none of its lines is JSON */
        *err = why;
        s = NOT_JSON;
    }
    if (s == LEAT_OK && r->count == first)
        s = status_set(err, LEAT_E_ARGUMENT, "%s is empty: measure again, or leave it out", path);
    free(text);
    return s;
}

static void free_report(struct report *r)
{
    while (r->count > 0)
        drop_item(r);
    free(r->items);
}

/* ---- The page ---- */

static const char style[] =
    "#verdict{background:var(--box);border-left:.3rem solid var(--accent);padding:.5rem .8rem;"
    "font-size:1.05rem}.grid{display:flex;flex-wrap:wrap;gap:0 2rem}.grid>div{flex:1 1 26rem;min-width:0;"
    "max-width:38rem}h3{font-size:1rem;margin:1.2rem 0 .3rem}h4{margin:.8rem 0 0;"
    "font-size:.95rem}";

#define FACTS 3u
#define DAY   10u /* letters of a date without its time */
static const char *const facts[FACTS] = { "cpu", "kernel", "compiler" };

/* Whether another item was measured on this one's machine; the date does not matter. */
static bool same_machine(const struct report_item *x, const struct report_item *y)
{
    uint32_t one = report_member(x, 0, "machine"), other = report_member(y, 0, "machine");

    for (size_t k = 0; k < FACTS; k++) {
        struct jsontree_text a = report_text(x, one, facts[k]), b = report_text(y, other, facts[k]);

        if (a.length != b.length || memcmp(a.bytes, b.bytes, a.length) != 0)
            return false;
    }
    return other != JSONTREE_NONE && report_number(x, one, "cores") == report_number(y, other, "cores") &&
           report_number(x, one, "memory") == report_number(y, other, "memory");
}

/* The least date, which is written in digits from the year on. */
static struct jsontree_text first_date(const struct report *r, size_t at)
{
    struct jsontree_text least = { NULL, 0 };

    for (size_t i = at; i < r->count; i++) {
        const struct report_item *x = &r->items[i];
        struct jsontree_text date = report_text(x, report_member(x, 0, "machine"), "date");

        if (same_machine(&r->items[at], x) && date.length > 0 &&
            (least.length != date.length || memcmp(date.bytes, least.bytes, date.length) < 0))
            least = date;
    }
    return least;
}

/* A row of the table: the machine of item `at`, and the files of all items from there on that it has measured. */
static void put_machine(FILE *out, const struct report *r, size_t at)
{
    const struct report_item *x = &r->items[at];
    uint32_t machine = report_member(x, 0, "machine");
    const char *file = NULL;
    struct jsontree_text date;

    fputs("<tr>", out);
    for (size_t k = 0; k < FACTS; k++)
        report_text_cell(out, report_text(x, machine, facts[k]));
    date = first_date(r, at);
    date.length = date.length < DAY ? date.length : DAY;
    report_text_cell(out, date);
    report_cell(out, report_number(x, machine, "cores"));
    report_size_cell(out, report_number(x, machine, "memory"));
    fputs("<td>", out);
    for (size_t i = at; i < r->count; i++)
        if (same_machine(x, &r->items[i]) && r->items[i].file != file) {
            fputs(file ? ", " : "", out);
            file = r->items[i].file;
            page_string(out, file);
        }
    fputs("</td></tr>\n", out);
}

/* Which machines measured. */
static void put_machines(FILE *out, const struct report *r)
{
    bool any = false;

    for (size_t i = 0; i < r->count; i++) {
        bool seen = report_member(&r->items[i], 0, "machine") == JSONTREE_NONE;

        for (size_t k = 0; k < i && !seen; k++)
            seen = same_machine(&r->items[k], &r->items[i]);
        if (seen)
            continue;
        if (!any)
            fputs("<section><h2>Machines</h2>\n<div class=\"wide\"><table>\n<tr><th>CPU</th><th>kernel</th>"
                  "<th>compiler</th><th>first measured</th><th class=\"n\">cores</th><th class=\"n\">memory</th>"
                  "<th>files</th></tr>\n",
                  out);
        any = true;
        put_machine(out, r, i);
    }
    if (any)
        fputs("</table></div></section>\n", out);
}

/* Sets `alike` of the items that share their name with another of their kind, but for lines of one run. */
static void find_alike(struct report *r)
{
    for (size_t i = 0; i < r->count; i++)
        for (size_t k = 0; k < i; k++) {
            struct report_item *x = &r->items[i], *y = &r->items[k];
            char one[LABEL_BYTES], other[LABEL_BYTES];

            if (x->kind != y->kind || x->file == y->file || (x->alike && y->alike))
                continue;
            report_kinds[x->kind].name(x, one, sizeof one);
            report_kinds[y->kind].name(y, other, sizeof other);
            if (strcmp(one, other) == 0)
                x->alike = y->alike = true;
        }
}

/* The sentences, or the sections. */
static enum leat_status put_kinds(FILE *out, const struct report *r, bool sentences, struct leat_error *err)
{
    const struct report_item **items = calloc(r->count + 1, sizeof *items);

    if (!items)
        return status_no_memory(err, r->count * sizeof *items);
    for (unsigned kind = 0; report_kinds[kind].title; kind++) {
        size_t count = 0;

        for (size_t i = 0; i < r->count; i++)
            if (r->items[i].kind == kind)
                items[count++] = &r->items[i];
        if (count == 0)
            continue;
        if (sentences) {
            report_kinds[kind].say(out, items, count);
            continue;
        }
        fprintf(out, "<section><h2>%s</h2>\n", report_kinds[kind].title);
        report_kinds[kind].write(out, items, count);
        fputs("</section>\n", out);
    }
    free(items);
    return LEAT_OK;
}

static enum leat_status write_page(struct report *r, const char *path, struct leat_error *err)
{
    struct leat_error other;
    struct page page;
    enum leat_status s = page_open(&page, path, "Measurements of leat", style, err), closed;

    if (s != LEAT_OK)
        return s;
    chart_patterns(page.out);
    find_alike(r);
    fputs("<section id=\"verdict\">\n", page.out);
    s = put_kinds(page.out, r, true, err);
    fputs("</section>\n", page.out);
    if (s == LEAT_OK)
        s = put_kinds(page.out, r, false, err);
    put_machines(page.out, r);
    closed = page_close(&page, s != LEAT_OK, &other);
    if (s == LEAT_OK && closed != LEAT_OK)
        *err = other;
    s = s != LEAT_OK ? s : closed;
    if (s == LEAT_OK && page.bytes > 0)
        cli_say("%s: %s, %s.", path, units_counted(r->count, "result").text, units_bytes(page.bytes).text);
    return s;
}

int bench_report(const struct command *self, int argc, char **argv)
{
    struct report_values v = { .output = NULL };
    struct options_parsed parsed;
    struct report r = { .count = 0 };
    struct leat_error err;
    enum leat_status s = LEAT_OK;
    int code;

    if (!command_parse(self, argc, argv, &v, &parsed, &code))
        return code;
    for (size_t i = 0; s == LEAT_OK && i < parsed.count; i++)
        s = read_file(&r, parsed.words[i], &err);
    if (s == LEAT_OK)
        s = write_page(&r, v.output, &err);
    free_report(&r);
    return bench_end(&parsed, s, &err);
}
