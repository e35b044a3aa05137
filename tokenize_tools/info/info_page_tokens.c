/* info_page_tokens.c: which tokens occur, and how often; see info_page.h. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/status.h"
#include "cli/units.h"
#include "info_page.h"
#include "pages/chart.h"
#include "pages/page.h"

#define SHOWN_TOKENS 40u
#define SHOWN_UNUSED 200u

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
    fputs("<h3>Most frequent</h3>\n<div class=\"wide\"><table>\n<tr><th class=\"n\">id</th><th>token</th>"
          "<th class=\"n\">times</th><th class=\"n\">share</th></tr>\n",
          out);
    for (uint64_t i = 0; i < s->used && i < SHOWN_TOKENS; i++) {
        fprintf(out, "<tr><td class=\"n\">%" PRIu64 "</td><td>", ranks[i][1]);
        put_token(out, s, ranks[i][1]);
        fprintf(out, "</td><td class=\"n\">%s</td><td class=\"n\">%s</td></tr>\n", units_count(ranks[i][0]).text,
                units_share(ranks[i][0], s->read).text);
    }
    fputs("</table></div>\n", out);
}

static void put_unused(FILE *out, const struct survey *s)
{
    uint64_t unused = s->vocabulary - s->used, shown = 0;

    if (unused == 0)
        return;
    fprintf(out, "<details><summary>%s: %s%s</summary><p>", s->sampled ? "Not in the sample" : "Never used",
            units_counted(unused, "token").text, unused > SHOWN_UNUSED ? ", the first ones" : "");
    for (uint64_t id = 0; id < s->vocabulary && shown < SHOWN_UNUSED; id++) {
        if (s->counts[id] > 0)
            continue;
        fprintf(out, "%s%" PRIu64 "\u00a0", shown > 0 ? ", " : "", id);
        put_token(out, s, id);
        shown++;
    }
    fputs("</p></details>\n", out);
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

enum leat_status info_page_tokens(FILE *out, const struct survey *s, struct leat_error *err)
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
    put_frequent(out, s, (const uint64_t(*)[2])ranks);
    put_unused(out, s);
    fputs("</section>\n", out);
    free(ranks);
    return LEAT_OK;
}
