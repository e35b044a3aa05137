/* report.c: `leat-bench report`: results of other commands as a page. Each file is read whole, sorted by kind, and each
 * kind has its section; see report.h. */
#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "bench/subcommands.h"
#include "cli/cli.h"
#include "cli/units.h"
#include "pages/chart.h"
#include "pages/page.h"

struct report_values {
    const char *output;
};

const struct option_row report_options[] = { { .name = "output",
                                               .letter = 'o',
                                               .type = OPTION_TEXT,
                                               .field = offsetof(struct report_values, output),
                                               .value = "FILE.html",
                                               .help = "the page to write (- is standard output)",
                                               .required = true,
                                               .path = true },
                                             OPTIONS_END };

static const char style[] = ".grid{display:flex;flex-wrap:wrap;gap:0 2rem}.grid>div{flex:1 1 26rem;min-width:0;"
                            "max-width:38rem}h3{font-size:1rem;margin:1.2rem 0 .3rem}h4{margin:.8rem 0 0;"
                            "font-size:.95rem}";

#define FACTS 3u
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

static void put_text(FILE *out, struct jsontree_text text)
{
    fputs("<td>", out);
    page_text(out, (const char *)text.bytes, text.length);
    fputs("</td>", out);
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

    fputs("<tr>", out);
    for (size_t k = 0; k < FACTS; k++)
        put_text(out, report_text(x, machine, facts[k]));
    put_text(out, first_date(r, at));
    report_cell(out, report_number(x, machine, "cores"));
    report_cell(out, report_number(x, machine, "memory") / 1e9);
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
                  "<th>compiler</th><th>first measured</th><th class=\"n\">cores</th><th class=\"n\">memory, GB</th>"
                  "<th>files</th></tr>\n",
                  out);
        any = true;
        put_machine(out, r, i);
    }
    if (any)
        fputs("</table></div></section>\n", out);
}

static enum leat_status put_kinds(FILE *out, const struct report *r, struct leat_error *err)
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
        fprintf(out, "<section><h2>%s</h2>\n", report_kinds[kind].title);
        report_kinds[kind].write(out, items, count);
        fputs("</section>\n", out);
    }
    free(items);
    return LEAT_OK;
}

static enum leat_status write_page(const struct report *r, const char *path, struct leat_error *err)
{
    struct leat_error other;
    struct page page;
    enum leat_status s = page_open(&page, path, "Measurements of leat", style, err), closed;

    if (s != LEAT_OK)
        return s;
    chart_patterns(page.out);
    put_machines(page.out, r);
    s = put_kinds(page.out, r, err);
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
        s = report_read(&r, parsed.words[i], &err);
    if (s == LEAT_OK)
        s = write_page(&r, v.output, &err);
    code = cli_finish_stdout(s == LEAT_OK ? CLI_DONE : cli_failed(&err));
    report_free(&r);
    options_free(&parsed);
    return code;
}
