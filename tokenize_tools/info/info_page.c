/* info_page.c: see info_page.h. Sections in the order of questions: what is missing, how much, from where, how long, in
 * what language, twice, rejected, and which tokens. */
#include "info_page.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/units.h"
#include "info_damage.h"
#include "pages/chart.h"
#include "pages/page.h"

#define SHOWN_SCRIPTS 12u /* in the chart; the table has all */

static void put_row(FILE *out, const char *key, const char *text)
{
    fputs("<tr><th>", out);
    page_string(out, key);
    fputs("</th><td>", out);
    page_string(out, text);
    fputs("</td></tr>\n", out);
}

static void put_facts(FILE *out, const struct info_page *p)
{
    const struct leat_info *i = p->info;
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
                "<p class=\"soft\">What is said of texts and of tokens is from a sample of %s, read at equal "
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

static void put_repeated(FILE *out, const struct info_page *p)
{
    const struct leat_info *i = p->info;

    fputs("<section><h2>Duplicates</h2>\n<p>", out);
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

    fprintf(out, "<section><h2>Rejects</h2>\n<p>%s.</p>\n",
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
        fprintf(out,
                "<p class=\"soft\">Of %s the reason is not known: the file of rejects is not beside the "
                "dataset.</p>\n",
                units_counted(s->rejects - named, "record").text);
    fputs("</section>\n", out);
}

static enum leat_status put_page(FILE *out, const struct info_page *p, struct leat_error *err)
{
    enum leat_status s;

    chart_patterns(out);
    info_damage_page(p->damaged, out);
    put_facts(out, p);
    s = info_page_sources(out, p, err);
    if (s != LEAT_OK)
        return s;
    put_lengths(out, p->lengths);
    put_scripts(out, p->survey);
    put_repeated(out, p);
    put_rejects(out, p->survey);
    return info_page_tokens(out, p->survey, err);
}

enum leat_status info_page_write(const struct info_page *p, const char *path, struct leat_error *err)
{
    struct leat_error other;
    struct page page;
    enum leat_status s = page_open(&page, path, p->name, info_damage_style, err), closed;

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
