/* info_page.c: see info.h. Sections in the order of questions: what is missing, rejected, there twice; then how much,
 * from where, how long, in what language, and which tokens, in as many columns as the window has room for. */
#include "info.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "cli/cli.h"
#include "cli/units.h"
#include "commands/commands.h"
#include "pages/chart.h"
#include "pages/page.h"

#define SHOWN_SCRIPTS 12u /* in the chart; the table has all */

static const char page_style[] =
    "body{max-width:110rem}.first{display:flex;flex-wrap:wrap;gap:.8rem;margin-bottom:1.2rem}"
    ".first>section{flex:1 1 20rem;min-width:0;background:var(--box);border-left:.3rem solid var(--line);"
    "padding:.5rem .8rem}.first>.bad{border-color:var(--byte)}.first h2{margin:0 0 .3rem}"
    "#damaged.bad{flex-basis:100%}.all{columns:26rem;column-gap:2rem}.all>*{break-inside:avoid}"
    ".all h2{margin-top:0;padding-top:.6rem}"
    "@media(max-width:30rem){td:first-child{overflow-wrap:anywhere}}";

/* ---- Damaged inputs ---- */

static void put_number(FILE *out, uint64_t number)
{
    fprintf(out, "<td class=\"n\">%s</td>", number == LEAT_NONE ? "not known" : units_count(number).text);
}

static void put_damage(FILE *out, const struct info_facts *p)
{
    const struct damage_list *l = &p->damaged;
    char text[DAMAGE_LINE];

    if (l->count == 0 && p->info.inputs == 0)
        return; /* nobody looked */
    if (l->count == 0) {
        fputs("<section id=\"damaged\"><h2>Damaged inputs</h2>\n<p>No input was cut off or broken.</p></section>\n",
              out);
        return;
    }
    damage_say_all(l, text, sizeof text);
    fprintf(out,
            "<section id=\"damaged\" class=\"bad\"><h2>Damaged inputs</h2>\n<p>In this dataset %s.</p>\n"
            "<div class=\"wide\"><table>\n<tr><th>input</th><th class=\"n\">read up to byte</th><th class=\"n\">bytes "
            "not read</th><th>reason</th>"
            "</tr>\n",
            text);
    for (size_t i = 0; i < l->count; i++) {
        fputs("<tr><td>", out);
        page_string(out, l->items[i].input);
        fputs("</td>", out);
        put_number(out, l->items[i].offset);
        put_number(out, l->items[i].unread);
        fputs("<td>", out);
        page_string(out, l->items[i].reason);
        fprintf(out, "%s</td></tr>\n", l->items[i].unread == 0 ? "; " DAMAGE_MISSING : "");
    }
    fputs("</table></div></section>\n", out);
}

/* ---- Facts ---- */

static void put_row(FILE *out, const char *key, const char *text)
{
    fputs("<tr><th>", out);
    page_string(out, key);
    fputs("</th><td>", out);
    page_string(out, text);
    fputs("</td></tr>\n", out);
}

static void put_facts(FILE *out, const struct info_facts *p)
{
    const struct leat_info *i = &p->info;
    const struct survey *s = p->survey;
    char text[160];

    fputs("<div class=\"wide\"><table>\n", out);
    put_row(out, "tokens", units_count(i->tokens).text);
    put_row(out, "documents", i->documents == LEAT_NONE ? "not recorded" : units_count(i->documents).text);
    put_row(out, "tokenizer", p->tokenizer ? p->tokenizer->name : "not recorded");
    put_row(out, "vocabulary", units_count(i->vocabulary).text);
    if (s->text_tokens > 0) {
        snprintf(text, sizeof text, "%.3f tokens per byte of text, %.2f bytes per token",
                 (double)s->text_tokens / (double)s->text_bytes, (double)s->text_bytes / (double)s->text_tokens);
        put_row(out, "density", text);
    }
    snprintf(text, sizeof text, "%s of tokens, %s of index", units_bytes(i->token_bytes).text,
             units_bytes(i->index_bytes).text);
    put_row(out, "size", text);
    put_row(out, "identity", units_hex(i->identity, 16).text);
    fputs("</table></div>\n", out);
    if (s->counts && s->read < i->tokens)
        fprintf(out,
                "<p class=\"soft\">Figures on texts and tokens come from a sample of %s, read at equal "
                "distances.</p>\n",
                units_counted(s->read, "token").text);
}

/* ---- Lengths ---- */

static void put_lengths(FILE *out, const struct length_histogram *h)
{
    double counts[HISTOGRAM_BUCKETS];
    unsigned first, last;

    if (!length_histogram_range(h, &first, &last))
        return;
    for (unsigned k = first; k <= last; k++)
        counts[k - first] = (double)h->buckets[k];
    fputs("<section><h2>Lengths of documents</h2>\n", out);
    fprintf(out, "<p>Shortest %s, longest %s, mean %s tokens%s.</p>\n", units_count(h->shortest).text,
            units_count(h->longest).text, units_mean(length_histogram_mean(h)).text,
            h->sampled ? ", from a sample" : "");
    chart_columns(out, &(struct chart_columns) { .title = "Documents by length",
                                                 .of = "documents",
                                                 .unit = "tokens per document; each column reaches to twice its number",
                                                 .first = (double)length_histogram_min(first),
                                                 .counts = counts,
                                                 .count = last - first + 1 });
    fputs("<details><summary>as a table</summary><div class=\"wide\"><table>\n<tr><th class=\"n\">from</th>"
          "<th class=\"n\">to</th><th class=\"n\">documents</th><th class=\"n\">share</th></tr>\n",
          out);
    for (unsigned k = first; k <= last; k++)
        fprintf(out,
                "<tr><td class=\"n\">%s</td><td class=\"n\">%s</td><td class=\"n\">%s</td><td class=\"n\">%s</td>"
                "</tr>\n",
                units_count(length_histogram_min(k)).text, units_count(length_histogram_max(k)).text,
                units_count(h->buckets[k]).text, units_share(h->buckets[k], h->documents).text);
    fputs("</table></div></details></section>\n", out);
}

/* ---- Texts ---- */

static int compare_bars(const void *a, const void *b)
{
    const struct chart_bar *x = a, *y = b;

    return x->value < y->value ? 1 : x->value > y->value ? -1 : 0;
}

/* What the bar shows: no more digits than anybody reads. */
static void put_percent(struct chart_bar *bar)
{
    if (bar->value >= 0.01)
        snprintf(bar->shown, sizeof bar->shown, "%.*f %%", bar->value < 0.1 ? 2 : 1, bar->value);
    else
        snprintf(bar->shown, sizeof bar->shown, "less than 0.01 %%");
}

static void put_scripts(FILE *out, const struct survey *s)
{
    struct chart_bar bars[SURVEY_SCRIPTS];
    size_t count = 0;

    for (unsigned i = 0; survey_script(i); i++)
        if (s->scripts[i] > 0) {
            const char *name = survey_script(i);

            bars[count++] = (struct chart_bar) { .label = name,
                                                 .label_bytes = strlen(name),
                                                 .value = 100.0 * (double)s->scripts[i] / (double)s->characters };
            put_percent(&bars[count - 1]);
        }
    if (count == 0)
        return;
    qsort(bars, count, sizeof *bars, compare_bars);
    fputs("<section><h2>Scripts</h2>\n<p>Of the characters that belong to one script; digits, blanks and punctuation "
          "belong to none.</p>\n",
          out);
    chart_bars(out, "Scripts", "percent of characters", bars, count < SHOWN_SCRIPTS ? count : SHOWN_SCRIPTS);
    fputs("<details><summary>as a table</summary><div class=\"wide\"><table>\n<tr><th>script</th>"
          "<th class=\"n\">percent of characters</th></tr>\n",
          out);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "<tr><td>%s</td><td class=\"n\">%.2f</td></tr>\n", bars[i].label, bars[i].value);
    fputs("</table></div></details></section>\n", out);
}

static void put_repeated(FILE *out, const struct info_facts *p)
{
    const struct leat_info *i = &p->info;

    fprintf(out, "<section%s><h2>Duplicates</h2>\n<p>", p->survey->repeated > 0 ? " class=\"bad\"" : "");
    if (p->survey->hashes)
        fprintf(out, "%s of %s (%s) have a text that another one before them has, by its hash.",
                units_count(p->survey->repeated).text, units_counted(i->documents, "document").text,
                units_share(p->survey->repeated, i->documents).text);
    else if (i->stores_hashes)
        fprintf(out, "Not counted: there are more than %s documents, or one dataset of the list has no hashes.",
                units_count(SURVEY_HASHES).text);
    else
        fputs("Not known: the dataset stores no hashes of texts.", out);
    fputs("</p></section>\n", out);
}

static void put_rejects(FILE *out, const struct survey *s)
{
    uint64_t named = s->other_reasons;

    fprintf(out, "<section%s><h2>Rejects</h2>\n<p>%s.</p>\n", s->rejects > 0 ? " class=\"bad\"" : "",
            s->rejects > 0 ? units_counted(s->rejects, "record").text : "No record was rejected");
    if (s->reason_count > 0)
        fputs("<div class=\"wide\"><table>\n<tr><th>reason</th><th class=\"n\">records</th></tr>\n", out);
    for (unsigned i = 0; i < s->reason_count; i++) {
        fputs("<tr><td>", out);
        page_string(out, s->reasons[i].text);
        fprintf(out, "</td><td class=\"n\">%s</td></tr>\n", units_count(s->reasons[i].count).text);
        named += s->reasons[i].count;
    }
    if (s->other_reasons > 0)
        fprintf(out, "<tr><td>others</td><td class=\"n\">%s</td></tr>\n", units_count(s->other_reasons).text);
    if (s->reason_count > 0)
        fputs("</table></div>\n", out);
    if (named < s->rejects)
        fprintf(
            out,
            "<p class=\"soft\">The reason for %s is not known: the file of rejects is not beside the dataset.</p>\n",
            units_counted(s->rejects - named, "record").text);
    fputs("</section>\n", out);
}

/* ---- Where documents come from ---- */

/*
 * Where tokens come from: the datasets of a list, and the inputs.
 */

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

static enum leat_status add_part(struct sources *s, const struct info_facts *p, uint64_t number, struct leat_error *err)
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

static enum leat_status add_input(struct sources *s, const struct info_facts *p, uint64_t number,
                                  struct leat_error *err)
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

typedef enum leat_status add_call(struct sources *s, const struct info_facts *p, uint64_t number,
                                  struct leat_error *err);

static enum leat_status put_all(FILE *out, const struct info_facts *p, const char *title, add_call *add, uint64_t count,
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

static enum leat_status put_all_sources(FILE *out, const struct info_facts *p, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    if (p->info.parts > 1)
        s = put_all(out, p, "Tokens by dataset", add_part, p->info.parts, err);
    return s == LEAT_OK ? put_all(out, p, "Tokens by input", add_input, p->info.inputs, err) : s;
}

/* ---- Tokens ---- */

#define SHOWN_TOKENS 40u
#define SHOWN_UNUSED 12u

static void put_token(FILE *out, const struct survey *s, uint64_t id)
{
    struct leat_token t = LEAT_TOKEN_INIT;

    fputs("<code>", out);
    if (s->tokenizer && leat_tokenizer_token(s->tokenizer, (uint32_t)id, &t, NULL) == LEAT_OK)
        for (uint64_t at = 0, end; at < t.bytes; at = end) { /* a blank would not be seen */
            for (end = at; end < t.bytes && t.text[end] != ' ';)
                end++;
            page_text(out, t.text + at, end - at);
            for (; end < t.bytes && t.text[end] == ' '; end++)
                fputs("\u2423", out);
        }
    fputs("</code>", out);
}

/* Ids by how often they occur; the id decides between equal ones. */
static int compare_counts(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    if (x[0] != y[0])
        return x[0] < y[0] ? 1 : -1;
    return x[1] < y[1] ? -1 : 1;
}

static void put_frequent(FILE *out, const struct survey *s, const uint64_t (*ranks)[2])
{
    fputs("<section><h2>Most frequent</h2>\n<div class=\"wide\"><table>\n<tr><th class=\"n\">id</th><th>token</th>"
          "<th class=\"n\">times</th><th class=\"n\">share</th></tr>\n",
          out);
    for (uint64_t i = 0; i < s->used && i < SHOWN_TOKENS; i++) {
        fprintf(out, "<tr><td class=\"n\">%" PRIu64 "</td><td>", ranks[i][1]);
        put_token(out, s, ranks[i][1]);
        fprintf(out, "</td><td class=\"n\">%s</td><td class=\"n\">%s</td></tr>\n", units_count(ranks[i][0]).text,
                units_share(ranks[i][0], s->read).text);
    }
    fputs("</table></div></section>\n", out);
}

static void put_unused(FILE *out, const struct survey *s)
{
    uint64_t unused = s->vocabulary - s->used, shown = 0;

    if (unused == 0)
        return;
    fprintf(out, "<p>%s: %s%s: ", s->sampled ? "Not in the sample" : "Never used", units_counted(unused, "token").text,
            unused > SHOWN_UNUSED ? ", the first ones" : "");
    for (uint64_t id = 0; id < s->vocabulary && shown < SHOWN_UNUSED; id++) {
        if (s->counts[id] > 0)
            continue;
        fprintf(out, "%s%" PRIu64 "\u00a0", shown > 0 ? ", " : "", id);
        put_token(out, s, id);
        shown++;
    }
    fputs("</p>\n", out);
}

/* How often the token of each rank occurs, at ranks that double. */
static void put_ranks(FILE *out, const struct survey *s, const uint64_t (*ranks)[2])
{
    double x[32], y[32];
    struct chart_line line = {
        .title = "Tokens by rank",
        .x_unit = "rank of the token",
        .y_unit = "times",
        .log_x = 1,
        .log_y = 1,
        .x = x,
        .y = y,
    };

    for (uint64_t rank = 1; rank <= s->used && line.count < 32; rank *= 2) {
        x[line.count] = (double)rank;
        y[line.count++] = (double)ranks[rank - 1][0];
    }
    chart_line(out, &line);
}

static enum leat_status put_tokens(FILE *out, const struct survey *s, struct leat_error *err)
{
    uint64_t(*ranks)[2], n = 0;

    if (!s->counts || s->used == 0)
        return LEAT_OK;
    ranks = malloc((size_t)s->used * sizeof *ranks);
    if (!ranks)
        return status_no_memory(err, s->used * sizeof *ranks);
    for (uint64_t id = 0; id < s->vocabulary; id++)
        if (s->counts[id] > 0) {
            ranks[n][0] = s->counts[id];
            ranks[n++][1] = id;
        }
    qsort(ranks, (size_t)n, sizeof *ranks, compare_counts);
    fprintf(out, "<section><h2>Tokens</h2>\n<p>%s of %s (%s) occur%s.</p>\n", units_count(s->used).text,
            units_counted(s->vocabulary, "token").text, units_share(s->used, s->vocabulary).text,
            s->sampled ? " in the sample" : "");
    put_ranks(out, s, (const uint64_t(*)[2])ranks);
    put_unused(out, s);
    fputs("</section>\n", out);
    put_frequent(out, s, (const uint64_t(*)[2])ranks);
    free(ranks);
    return LEAT_OK;
}

/* ---- The page ---- */

static enum leat_status put_page(FILE *out, const struct info_facts *p, struct leat_error *err)
{
    enum leat_status s;

    fputs("<div class=\"first\">\n", out);
    put_damage(out, p);
    put_rejects(out, p->survey);
    put_repeated(out, p);
    fputs("</div>\n<div class=\"all\">\n", out);
    put_facts(out, p);
    s = put_all_sources(out, p, err);
    if (s == LEAT_OK) {
        put_lengths(out, &p->lengths);
        put_scripts(out, p->survey);
        s = put_tokens(out, p->survey, err);
    }
    fputs("</div>\n", out);
    return s;
}

enum leat_status info_page_write(const struct info_facts *p, const char *path, struct leat_error *err)
{
    struct leat_error other;
    struct page page;
    enum leat_status s = page_open(&page, path, p->name, page_style, err), closed;

    if (s != LEAT_OK)
        return s;
    s = put_page(page.out, p, err);
    closed = page_close(&page, s != LEAT_OK, &other);
    if (s == LEAT_OK && closed != LEAT_OK)
        *err = other;
    s = s != LEAT_OK ? s : closed;
    if (s == LEAT_OK && page.bytes > 0)
        cli_say("%s: a page on %s, %s.", path, p->name, units_bytes(page.bytes).text);
    return s;
}
