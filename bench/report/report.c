/* report.c: `leat-bench report`: results of other commands as a page. Each file is read whole, sorted by kind, and each
 * kind has its section; see report.h. */
#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "bench/subcommands.h"
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

/* Which machines measured: a row for each file that says so. */
static void put_machines(FILE *out, const struct report *r)
{
    static const char *const texts[] = { "cpu", "kernel", "compiler", "date" };
    bool any = false;

    for (size_t i = 0; i < r->count; i++) {
        const struct report_item *x = &r->items[i];
        uint32_t machine = report_member(x, 0, "machine");

        if (machine == JSONTREE_NONE)
            continue;
        if (!any)
            fputs("<section><h2>Machines</h2>\n<div class=\"wide\"><table>\n<tr><th>file</th><th class=\"n\">cores</th>"
                  "<th class=\"n\">memory, GB</th><th>CPU</th><th>kernel</th><th>compiler</th><th>date</th></tr>\n",
                  out);
        any = true;
        fputs("<tr><td>", out);
        page_string(out, x->file);
        fputs("</td>", out);
        report_cell(out, report_number(x, machine, "cores"));
        report_cell(out, report_number(x, machine, "memory") / 1e9);
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
            struct jsontree_text text = report_text(x, machine, texts[k]);

            fputs("<td>", out);
            page_text(out, (const char *)text.bytes, text.length);
            fputs("</td>", out);
        }
        fputs("</tr>\n", out);
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
    return s != LEAT_OK ? s : closed;
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
