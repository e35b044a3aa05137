/* info_page_sources.c: where tokens come from: the datasets of a list, and the inputs; see info_page.h. */
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "cli/units.h"
#include "commands/commands.h"
#include "info_page.h"
#include "pages/chart.h"
#include "pages/page.h"

#define SHOWN_SOURCES 24u

/* One of them. */
struct source {
    char *name; /* owned */
    uint64_t name_bytes, tokens, documents, rejects;
};
struct sources {
    struct source items[SHOWN_SOURCES]; /* the largest, largest first */
    size_t count;
    uint64_t all, tokens; /* all of them, and what those that are not shown have */
};

/* Takes the name. */
static void add_source(struct sources *s, struct source x)
{
    size_t at = s->count;

    s->all++;
    if (s->count == SHOWN_SOURCES) {
        struct source *least = &s->items[SHOWN_SOURCES - 1];

        s->tokens += x.tokens <= least->tokens ? x.tokens : least->tokens;
        if (x.tokens <= least->tokens) {
            free(x.name);
            return;
        }
        free(least->name);
        at--;
    } else {
        s->count++;
    }
    for (; at > 0 && s->items[at - 1].tokens < x.tokens; at--)
        s->items[at] = s->items[at - 1];
    s->items[at] = x;
}

static void put_sources(FILE *out, const char *title, const struct sources *s)
{
    struct chart_bar bars[SHOWN_SOURCES];

    for (size_t i = 0; i < s->count; i++)
        bars[i] = (struct chart_bar) { .label = s->items[i].name,
                                       .label_bytes = (size_t)s->items[i].name_bytes,
                                       .value = (double)s->items[i].tokens };
    fprintf(out, "<section><h2>%s</h2>\n", title);
    chart_bars(out, title, "tokens", bars, s->count);
    fputs("<div class=\"wide\"><table>\n<tr><th>name</th><th class=\"n\">tokens</th><th class=\"n\">documents</th>"
          "<th class=\"n\">rejects</th></tr>\n",
          out);
    for (size_t i = 0; i < s->count; i++) {
        fputs("<tr><td>", out);
        page_text(out, s->items[i].name, s->items[i].name_bytes);
        fprintf(out, "</td><td class=\"n\">%s</td><td class=\"n\">%s</td><td class=\"n\">%s</td></tr>\n",
                units_count(s->items[i].tokens).text,
                s->items[i].documents == LEAT_NONE ? "?" : units_count(s->items[i].documents).text,
                units_count(s->items[i].rejects).text);
    }
    if (s->all > s->count)
        fprintf(out, "<tr><td>%s more</td><td class=\"n\">%s</td><td></td><td></td></tr>\n",
                units_count(s->all - s->count).text, units_count(s->tokens).text);
    fputs("</table></div></section>\n", out);
}

static enum leat_status add_part(struct sources *s, const struct info_page *p, uint64_t number, struct leat_error *err)
{
    struct leat_part part = LEAT_PART_INIT;
    enum leat_status status = leat_dataset_part(p->d, number, &part, err);
    struct source x = { .tokens = part.tokens, .documents = part.documents };

    for (uint64_t i = 0; status == LEAT_OK && i < part.inputs; i++) {
        struct leat_input input = LEAT_INPUT_INIT;

        status = leat_dataset_input(p->d, part.first_input + i, &input, err);
        x.rejects += input.rejects;
    }
    if (status != LEAT_OK)
        return status;
    x.name_bytes = strlen(part.name);
    x.name = strdup(part.name);
    if (!x.name)
        return status_no_memory(err, x.name_bytes);
    add_source(s, x);
    return LEAT_OK;
}

static enum leat_status add_input(struct sources *s, const struct info_page *p, uint64_t number, struct leat_error *err)
{
    struct leat_input input = LEAT_INPUT_INIT;
    struct source x = { .name = NULL };
    enum leat_status status = leat_dataset_input(p->d, number, &input, err);

    if (status != LEAT_OK)
        return status;
    x.name = commands_string(leat_dataset_input_path, p->d, number, &x.name_bytes, err);
    if (!x.name)
        return err->status;
    x.tokens = input.tokens;
    x.documents = input.documents;
    x.rejects = input.rejects;
    add_source(s, x);
    return LEAT_OK;
}

typedef enum leat_status add_call(struct sources *s, const struct info_page *p, uint64_t number,
                                  struct leat_error *err);

static enum leat_status put_all(FILE *out, const struct info_page *p, const char *title, add_call *add, uint64_t count,
                                struct leat_error *err)
{
    struct sources s = { .count = 0 };
    enum leat_status status = LEAT_OK;

    for (uint64_t i = 0; status == LEAT_OK && i < count; i++)
        status = add(&s, p, i, err);
    if (status == LEAT_OK && s.count > 0)
        put_sources(out, title, &s);
    for (size_t i = 0; i < s.count; i++)
        free(s.items[i].name);
    return status;
}

enum leat_status info_page_sources(FILE *out, const struct info_page *p, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    if (p->info->parts > 1)
        s = put_all(out, p, "Tokens by dataset", add_part, p->info->parts, err);
    return s == LEAT_OK ? put_all(out, p, "Tokens by input", add_input, p->info->inputs, err) : s;
}
