/* report_read.c: results from files; see report.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/status.h"
#include "cli/cli.h"
#include "cli/units.h"
#include "report.h"
#include "tokenizer/load/whole_file.h"
#include "tokenizer/notation/jsontree.h"

#define NOT_JSON LEAT_E_VOCABULARY /* as jsontree_parse() has it */

const struct report_kind report_kinds[] = {
    { "What the machine allows", { "page_cache", "disk" }, report_measurements },
    { "Opening and verifying", { "opening", "bytes" }, report_measurements },
    { "Samples of plans", { "permutation", "machine" }, report_measurements },
    { "Encoding", { "tokenizer", "checksum" }, report_encoding },
    { "Texts that are made to be slow", { "tokenizer", "rows" }, report_slow_texts },
    { "Packing", { "serial_seconds", "cores_of_use" }, report_packing },
    { "Loading", { "waits_s", "next_us" }, report_loading },
    { "Beside other tools", { "peers", "work" }, report_peers },
    { "Training runs", { "consumer", "batches" }, report_runs },
    { NULL, { NULL, NULL }, NULL },
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
    const char *slash = strrchr(x->file, '/');
    int n = snprintf(out, room, "%s%s%.*s", slash ? slash + 1 : x->file, more.length > 0 ? ", " : "",
                     (int)(more.length < 200 ? more.length : 200), (const char *)more.bytes);

    return n < 0 ? 0 : (size_t)n < room ? (size_t)n : room - 1;
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

/* ---- Files ---- */

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
        s = status_set(err, LEAT_E_ARGUMENT,
                       "%s: line %u is no result of leat-bench limits, dataset, order, encode, hostile, pack or load "
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
                      "%s: line %u is of rank %.0f, line %u of rank %.0f: give each rank a stats_file of its own, or "
                      "copy the lines of each to a file",
                      b->file, a->line, one, b->line, other);
}

enum leat_status report_read(struct report *r, const char *path, struct leat_error *err)
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
            cli_error("%s: line %u is not JSON, and is left out", path, line);
            torn = line;
            why = *err;
            s = LEAT_OK;
        }
    }
    if (s == LEAT_OK && torn > 0 && r->count == first) { /* no line of it is */
        *err = why;
        s = NOT_JSON;
    }
    if (s == LEAT_OK && r->count == first)
        s = status_set(err, LEAT_E_ARGUMENT, "%s is empty: measure again, or leave it out", path);
    free(text);
    return s;
}

void report_free(struct report *r)
{
    while (r->count > 0)
        drop_item(r);
    free(r->items);
}
