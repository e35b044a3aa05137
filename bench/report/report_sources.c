/*
 * report_sources.c: what a training run had of each source; see report.h. Counts grow while a loader is open, and begin
 * at 0 when it is opened again: what a run had is what the last lines of its loaders say, added up. A share over time
 * is that of the tokens between two lines.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pages/chart.h"
#include "pages/page.h"
#include "report.h"

#define LISTED 64u /* as in a line (loader_stats.c) */
#define DRAWN  6u

struct source {
    struct jsontree_text name;
    double rows, tokens, loss_tokens, share;
};

static double count_of(const struct report_item *x, uint32_t object, const char *name)
{
    double value = report_number(x, object, name);

    return value >= 0 && value < 1e18 ? value : 0;
}

static double share_of(const struct report_item *x, uint32_t object)
{
    return fmin(count_of(x, object, "share"), 1);
}

/* Returns where the sources of a line begin, and sets *end to where they end: the same place if it has none. */
static uint32_t sources_of(const struct report_item *x, uint32_t *end)
{
    uint32_t list = report_member(x, 0, "sources");

    if (list == JSONTREE_NONE || x->tree.nodes[list].kind != JSONTREE_ARRAY)
        return *end = 0;
    *end = jsontree_next(&x->tree, list);
    return list + 1;
}

/* The source of this name in a line; JSONTREE_NONE: it has none. */
static uint32_t find_source(const struct report_item *x, struct jsontree_text name)
{
    uint32_t end;

    for (uint32_t node = sources_of(x, &end); node < end; node = jsontree_next(&x->tree, node)) {
        struct jsontree_text other = report_text(x, node, "name");

        if (other.length == name.length && memcmp(other.bytes, name.bytes, name.length) == 0)
            return node;
    }
    return JSONTREE_NONE;
}

static double tokens_of_all(const struct report_item *x)
{
    double sum = count_of(x, report_member(x, 0, "other_sources"), "tokens");
    uint32_t end;

    for (uint32_t node = sources_of(x, &end); node < end; node = jsontree_next(&x->tree, node))
        sum += count_of(x, node, "tokens");
    return sum;
}

/* Whether line `i` is the first of a loader. */
static bool begins(const struct report_item *const *items, size_t i)
{
    return i == 0 || count_of(items[i], 0, "batches") < count_of(items[i - 1], 0, "batches");
}

static int compare_sources(const void *a, const void *b)
{
    const struct source *x = a, *y = b;

    return (x->tokens < y->tokens) - (x->tokens > y->tokens);
}

/* The sources of the last line, with all that the run had of them, largest first; *all is what it had of all. */
static size_t add_up(const struct report_item *const *items, size_t count, struct source *list, double *all)
{
    const struct report_item *last = items[count - 1];
    size_t n = 0;
    uint32_t end;

    *all = 0;
    for (uint32_t node = sources_of(last, &end); node < end && n < LISTED; node = jsontree_next(&last->tree, node), n++)
        list[n] = (struct source) { .name = report_text(last, node, "name"), .share = share_of(last, node) };
    for (size_t i = 0; i < count; i++) {
        if (i + 1 < count && !begins(items, i + 1))
            continue;
        *all += tokens_of_all(items[i]);
        for (size_t k = 0; k < n; k++) {
            uint32_t node = find_source(items[i], list[k].name);

            list[k].rows += count_of(items[i], node, "rows");
            list[k].tokens += count_of(items[i], node, "tokens");
            list[k].loss_tokens += count_of(items[i], node, "loss_tokens");
        }
    }
    qsort(list, n, sizeof *list, compare_sources);
    return n;
}

static void put_table(FILE *out, const struct source *list, size_t count, double all)
{
    fputs("<h4>Tokens by source</h4>\n<div class=\"wide\"><table>\n<tr><th>source</th><th class=\"n\">percent of the "
          "tokens"
          "</th><th class=\"n\">of the plan, at the end</th><th class=\"n\">tokens</th><th class=\"n\">with loss</th>"
          "<th class=\"n\">rows</th></tr>\n",
          out);
    for (size_t i = 0; i < count; i++) {
        fputs("<tr>", out);
        report_text_cell(out, list[i].name);
        report_cell(out, all > 0 ? 100 * list[i].tokens / all : NAN);
        report_cell(out, list[i].share > 0 ? 100 * list[i].share : NAN);
        report_count(out, list[i].tokens);
        report_count(out, list[i].loss_tokens);
        report_count(out, list[i].rows);
        fputs("</tr>\n", out);
    }
    fputs("</table></div>\n", out);
}

/* The share of a source between lines, and what the plan has. `room` has place for three numbers a line. */
static void put_shares(FILE *out, const struct report_item *const *items, size_t count, const double *batches,
                       struct jsontree_text name, double *room)
{
    double *x = room, *y = room + count, *plan = room + 2 * count;
    struct chart_line line = { .title = "Share of the tokens",
                               .x_unit = "batches",
                               .y_unit = "percent of the tokens since the line before; dashed: of the plan",
                               .x = x,
                               .y = y,
                               .beside = plan };

    for (size_t i = 0; i < count; i++) {
        bool first = begins(items, i);
        uint32_t node = find_source(items[i], name), before = first ? JSONTREE_NONE : find_source(items[i - 1], name);
        double all = tokens_of_all(items[i]) - (first ? 0 : tokens_of_all(items[i - 1]));
        double mine = count_of(items[i], node, "tokens") - (first ? 0 : count_of(items[i - 1], before, "tokens"));

        if (node == JSONTREE_NONE || (!first && before == JSONTREE_NONE) || !(all > 0 && mine >= 0 && mine <= all) ||
            !isfinite(batches[i]))
            continue;
        x[line.count] = batches[i];
        plan[line.count] = 100 * share_of(items[i], node);
        y[line.count++] = 100 * mine / all;
    }
    if (line.count < 2)
        return;
    fputs("<div><h4>", out);
    page_text(out, (const char *)name.bytes, name.length);
    fputs("</h4>\n", out);
    chart_line(out, &line);
    fputs("</div>\n", out);
}

void report_sources(FILE *out, const struct report_item *const *items, size_t count, const double *batches)
{
    double *room = calloc(3 * count, sizeof *room), all;
    struct source list[LISTED];
    size_t n = add_up(items, count, list, &all);

    if (n > 1)
        put_table(out, list, n, all);
    fputs("<div class=\"grid\">\n", out);
    for (size_t i = 0; room && n > 1 && i < n && i < DRAWN; i++)
        put_shares(out, items, count, batches, list[i].name, room);
    fputs("</div>\n", out);
    free(room);
}
