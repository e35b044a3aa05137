/* input_changes.c: compares two lists of inputs, which are sorted by name and walked side by side. */
#include "input_changes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

#define MAX_NAMED 10u /* of each kind */

/* A line of an input: its facts when it was looked at, and its name. */
struct input_line {
    const char *about, *name;
    size_t about_bytes, name_bytes, at;
};

struct input_lines {
    struct input_line *items;
    size_t count, room;
};

static int by_name(const void *left, const void *right)
{
    const struct input_line *a = left, *b = right;
    size_t least = a->name_bytes < b->name_bytes ? a->name_bytes : b->name_bytes;
    int order = memcmp(a->name, b->name, least);

    return order != 0 ? order : (a->name_bytes > b->name_bytes) - (a->name_bytes < b->name_bytes);
}

/* Orders lines by name, then by place, since an input may come twice. */
static int by_name_and_place(const void *left, const void *right)
{
    const struct input_line *a = left, *b = right;
    int order = by_name(left, right);

    return order != 0 ? order : (a->at > b->at) - (a->at < b->at);
}

static enum leat_status add_line(struct input_lines *l, const char *line, size_t bytes, struct leat_error *err)
{
    const char *format = bytes > 6 && memcmp(line, "input ", 6) == 0 ? line + 6 : NULL;
    const char *about = format ? memchr(format, ' ', bytes - 6) : NULL; /* the facts begin after the format, which an
                                                                           option gives */
    const char *ranges = about ? memmem(about, (size_t)(line + bytes - about), ", bytes ", 8) : NULL;
    const char *name = ranges ? memmem(ranges, (size_t)(line + bytes - ranges), ": ", 2) : NULL;
    enum leat_status s = name ? GROW(l->items, l->count + 1, l->room, err) : LEAT_OK;

    if (name && s == LEAT_OK) {
        l->items[l->count] = (struct input_line) { about, name + 2, (size_t)(ranges - about),
                                                   (size_t)(line + bytes - name) - 2, l->count };
        l->count++;
    }
    return s;
}

static enum leat_status sort_lines(struct input_lines *l, const struct buffer *text, struct leat_error *err)
{
    const char *at = (const char *)text->bytes, *end = at + text->size;
    enum leat_status s = LEAT_OK;

    while (s == LEAT_OK && at < end) {
        const char *next = memchr(at, '\n', (size_t)(end - at));

        s = add_line(l, at, (size_t)((next ? next : end) - at), err);
        at = next ? next + 1 : end;
    }
    if (s == LEAT_OK && l->count > 0)
        qsort(l->items, l->count, sizeof *l->items, by_name_and_place);
    return s;
}

/* The inputs of one kind of change. */
struct some {
    const char *what;
    size_t count;
    const struct input_line *first[MAX_NAMED];
};

static void note_line(struct some *some, const struct input_line *line)
{
    if (some->count < MAX_NAMED)
        some->first[some->count] = line;
    some->count++;
}

/* Appends the inputs of one kind to `text`, with as many names as leave `spare` bytes of it. */
static void say(char text[INPUT_CHANGES], size_t spare, const struct some *some)
{
    size_t used = strlen(text), named = 0;

    if (some->count == 0)
        return;
    used += (size_t)snprintf(text + used, INPUT_CHANGES - used, "%s%s: ", used > 0 ? "; " : "", some->what);
    for (; named < some->count && named < MAX_NAMED; named++) {
        const struct input_line *line = some->first[named];

        if (used + line->name_bytes + spare >= INPUT_CHANGES)
            break;
        used += (size_t)snprintf(text + used, INPUT_CHANGES - used, "%s%.*s", named > 0 ? ", " : "",
                                 (int)line->name_bytes, line->name);
    }
    if (named < some->count)
        snprintf(text + used, INPUT_CHANGES - used, "%s%zu%s", named > 0 ? " and " : "", some->count - named,
                 named > 0 ? " more" : "");
}

enum leat_status input_changes_say(char text[INPUT_CHANGES], const struct buffer *then, const struct buffer *now,
                                   struct leat_error *err)
{
    struct input_lines a = { 0 }, b = { 0 };
    struct some missing = { .what = "missing now" }, new = { .what = "new" };
    struct some changed = { .what = "changed (size, time or etag)" };
    enum leat_status s = sort_lines(&a, then, err);

    text[0] = '\0';
    if (s == LEAT_OK)
        s = sort_lines(&b, now, err);
    for (size_t i = 0, j = 0; s == LEAT_OK && (i < a.count || j < b.count);) {
        const struct input_line *x = a.items + i, *y = b.items + j;
        int order = i == a.count ? 1 : j == b.count ? -1 : by_name(x, y);

        if (order < 0)
            note_line(&missing, x);
        else if (order > 0)
            note_line(&new, y);
        else if (x->about_bytes != y->about_bytes || memcmp(x->about, y->about, x->about_bytes) != 0)
            note_line(&changed, x);
        i += order <= 0;
        j += order >= 0;
    }
    say(text, 200, &missing);
    say(text, 120, &new);
    say(text, 40, &changed);
    free(a.items);
    free(b.items);
    return s;
}
