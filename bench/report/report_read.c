/* report_read.c: results from files; see report.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "cli/units.h"
#include "report.h"
#include "tokenizer/load/jsontree.h"
#include "tokenizer/load/whole_file.h"

const struct report_kind report_kinds[] = {
    { "What the machine allows", { "page_cache", "disk" }, report_measurements },
    { "Opening and verifying", { "opening", "bytes" }, report_measurements },
    { "Samples of plans", { "permutation", "machine" }, report_measurements },
    { "Encoding", { "tokenizer", "checksum" }, report_encoding },
    { "Texts that are made to be slow", { "tokenizer", "rows" }, report_slow_texts },
    { "Packing", { "serial_seconds", "cores_of_use" }, report_packing },
    { "Loading", { "waits_s", "next_us" }, report_loading },
    { "Training runs", { "consumer", "batches" }, report_runs },
    { NULL, { NULL, NULL }, NULL },
};

/* ---- Members ---- */

uint32_t report_member(const struct report_item *x, uint32_t object, const char *name)
{
    return object == JSONTREE_NONE ? JSONTREE_NONE : jsontree_member(&x->tree, object, name);
}

double report_number(const struct report_item *x, uint32_t object, const char *name)
{
    uint32_t node = report_member(x, object, name);
    struct jsontree_text text;
    double value;

    if (node == JSONTREE_NONE || x->tree.nodes[node].kind != JSONTREE_NUMBER)
        return NAN;
    text = jsontree_string(&x->tree, node);
    return json_number(text.bytes, text.length, &value) ? value : NAN;
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
    enum leat_status s;

    if (r->count == r->room) {
        size_t room = 2 * r->room + 8;
        struct report_item *more = reallocarray(r->items, room, sizeof *more);

        if (!more)
            return status_no_memory(err, room * sizeof *more);
        r->items = more;
        r->room = room;
    }
    x.text = malloc((size_t)size + 1);
    if (!x.text)
        return status_no_memory(err, size);
    memcpy(x.text, text, (size_t)size);
    s = jsontree_parse(&x.tree, x.text, size, path, err);
    if (s == LEAT_OK && !find_kind(&x))
        s = status_set(err, LEAT_E_ARGUMENT,
                       "%s: line %u is not what leat-bench prints with --json, nor a loader's statistics", path, line);
    r->items[r->count++] = x; /* also after a failure, to be freed */
    return s;
}

static bool is_blank(const uint8_t *text, uint64_t size)
{
    for (uint64_t i = 0; i < size; i++)
        if (!strchr(" \t\r", text[i]))
            return false;
    return true;
}

enum leat_status report_read(struct report *r, const char *path, struct leat_error *err)
{
    uint8_t *text = NULL;
    uint64_t size = 0, end;
    unsigned line = 1;
    enum leat_status s = whole_file_read(&text, &size, path, err);

    for (uint64_t at = 0; s == LEAT_OK && at < size; at = end + 1, line++) {
        const uint8_t *newline = memchr(text + at, '\n', (size_t)(size - at));

        end = newline ? (uint64_t)(newline - text) : size;
        if (!is_blank(text + at, end - at))
            s = add_item(r, path, line, text + at, end - at, err);
    }
    free(text);
    return s;
}

void report_free(struct report *r)
{
    for (size_t i = 0; i < r->count; i++) {
        jsontree_free(&r->items[i].tree);
        free(r->items[i].text);
    }
    free(r->items);
}
