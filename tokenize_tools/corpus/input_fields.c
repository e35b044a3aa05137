/* input_fields.c: see input_fields.h. */
#include "input_fields.h"

#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "base/status.h"
#include "lines.h"

#define MAX_LISTED 600 /* bytes of names in a sentence */

/* ---- Sentences ---- */

/* "18 records", or "record". */
static const char *count_records(char text[32], uint64_t records)
{
    if (records == 1)
        return "record";
    snprintf(text, 32, "%llu records", (unsigned long long)records);
    return text;
}

/* The names in quotes, with commas; returns the nearest to `path` if it is near, or NULL. */
static const char *list_members(const struct json_members *m, const char *path, char *text, size_t room)
{
    size_t used = 0, least = SIZE_MAX;
    unsigned listed = 0;
    const char *best = NULL;

    for (unsigned i = 0; i < m->count; i++) {
        size_t bytes = strlen(m->names[i]) + 4, distance = nearest_distance(path, m->names[i]);

        if (!m->dotted[i] && distance < least) {
            least = distance;
            best = m->names[i];
        }
        if (listed == i && used + bytes < room)
            used += (size_t)snprintf(text + used, room - used, "%s\"%s\"", listed++ > 0 ? ", " : "", m->names[i]);
    }
    if (m->count + m->more > listed)
        snprintf(text + used, room - used, "%sothers", listed > 0 ? " and " : "");
    return best && nearest_is_near(path, best, least) ? best : NULL;
}

/* A member that is called so, dots and all. */
static bool is_dotted(const struct json_members *m, const char *path)
{
    bool dotted = false;

    for (unsigned i = 0; i < m->count; i++)
        dotted = dotted || (m->dotted[i] && strcmp(m->names[i], path) == 0);
    return dotted;
}

/* What to do: of the field `path`, and what holds it. */
static void advise(const struct json_members *m, const char *path, const char *holds, const char *nearest, char *text,
                   size_t room)
{
    if (is_dotted(m, path))
        snprintf(text, room, "dots lead into objects: rename a member that has them in its own name");
    else if (nearest && strcmp(nearest, path) != 0)
        snprintf(text, room, "did you mean \"%s\"?", nearest);
    else
        snprintf(text, room, "name the one that holds %s", holds);
}

static enum leat_status say_missing(const struct field_search *f, const struct field_wish *w, enum json_kind kind,
                                    struct leat_error *err)
{
    const struct json_members *m = &f->members;
    const char *path = w->fields.path[JSON_TEXT].all, *nearest;
    char names[MAX_LISTED + 16], number[32], advice[JSON_MEMBER_NAME + 64], others[64] = "";

    nearest = list_members(m, path, names, sizeof names);
    advise(m, path, w->holds, nearest, advice, sizeof advice);
    count_records(number, f->path_records);
    if (f->inputs > 1)
        snprintf(others, sizeof others, " (nor in those of %llu other input%s)", (unsigned long long)f->inputs - 1,
                 f->inputs == 2 ? "" : "s");
    if (kind != JSON_KIND_NONE)
        return status_set_hint(err, LEAT_E_UNSUPPORTED, w->hint,
                               "%.300s: the member \"%.200s\" is %s, not a string, in the first %s%s; %s %s; %s",
                               f->path, path, json_scan_kind(kind), count_records(number, f->path_records), others,
                               f->path_records == 1 ? "it has" : "they have", names, advice);
    return status_set_hint(err, LEAT_E_NOT_FOUND, w->hint, "%.300s: no member \"%.200s\" in the first %s%s; %s %s; %s",
                           f->path, path, count_records(number, f->path_records), others,
                           f->path_records == 1 ? "it has" : "they have", names, advice);
}

/* ---- Records ---- */

struct stretch {
    size_t begin, end;
};

/* Lines that are whole, and not blank. */
static unsigned find_lines(const char *head, size_t bytes, bool ended, struct stretch found[FIELD_RECORDS])
{
    unsigned count = 0;

    for (size_t at = lines_mark(head, bytes), end; count < FIELD_RECORDS && at < bytes; at = end + 1) {
        const char *newline = memchr(head + at, '\n', bytes - at);

        end = newline ? (size_t)(newline - head) : bytes;
        if ((newline || ended) && !lines_blank(head + at, end - at))
            found[count++] = (struct stretch) { at, end };
    }
    return count;
}

static unsigned find_records(const char *head, size_t bytes, bool ended, struct stretch found[FIELD_RECORDS])
{
    struct json_records r;
    unsigned count = 0;
    bool more;
    enum json_layout layout = json_layout(head, bytes, &more);

    if (layout == JSON_LINES)
        return find_lines(head, bytes, ended, found);
    json_records_begin(&r, layout, 0);
    while (count < FIELD_RECORDS &&
           json_records_next(&r, head + r.position, bytes - (size_t)r.position) == JSON_RECORDS_RECORD)
        found[count++] = (struct stretch) { (size_t)r.record, (size_t)r.position };
    return count;
}

bool field_head_is_enough(const char *head, size_t bytes)
{
    struct stretch found[FIELD_RECORDS];

    return find_records(head, bytes, false, found) > 0;
}

/* Scans a record for a wish; false: it is no valid object. */
static bool look_at(const struct field_wish *w, const char *record, size_t bytes, bool *met, enum json_kind *kind)
{
    const struct json_place *place;
    struct json_scan scan;

    json_scan_begin(&scan, &w->fields);
    json_scan_feed(&scan, record, bytes);
    if (!json_scan_is_object(&scan))
        return false;
    place = &scan.place[JSON_TEXT];
    if (w->single && (place->kind == JSON_KIND_OBJECT || place->kind == JSON_KIND_ARRAY))
        *kind = place->kind;
    else
        *met = *met || place->kind != JSON_KIND_NONE;
    return true;
}

enum leat_status field_search_add(struct field_search *f, const char *path, const char *head, size_t bytes, bool ended,
                                  struct leat_error *err)
{
    const struct field_wishes *wishes = f->wishes;
    struct stretch found[FIELD_RECORDS];
    unsigned count = find_records(head, bytes, ended, found), records = 0;
    bool met[FIELD_WISHES] = { false };
    enum json_kind kinds[FIELD_WISHES] = { JSON_KIND_NONE };
    struct json_members members = { 0 };

    for (unsigned i = 0; i < count; i++) {
        const char *record = head + found[i].begin;
        size_t length = found[i].end - found[i].begin;
        bool valid = !wishes->keep || json_keep_holds(wishes->keep, record, length);

        for (unsigned w = 0; valid && w < wishes->count; w++)
            valid = look_at(&wishes->of[w], record, length, &met[w], &kinds[w]);
        if (valid) /* one without members has nothing to be said of it */
            valid = json_members_add(&members, record, length);
        records += valid;
    }
    if (records == 0)
        return LEAT_OK;
    f->path = path;
    f->path_records = records;
    f->members = members;
    f->records += records;
    f->inputs++;
    for (unsigned w = 0; w < wishes->count; w++) {
        f->met[w] = f->met[w] || met[w];
        f->of[w] = f->of[w] == JSON_KIND_NONE ? kinds[w] : f->of[w];
        if (!met[w] && wishes->of[w].needed && records == FIELD_RECORDS) {
            f->inputs = 1;
            return say_missing(f, &wishes->of[w], kinds[w], err);
        }
    }
    return LEAT_OK;
}

enum leat_status field_search_end(struct field_search *f, bool all, struct leat_error *err)
{
    for (unsigned w = 0; f->records > 0 && w < f->wishes->count; w++)
        if (!f->met[w] && (all || f->records >= FIELD_RECORDS))
            return say_missing(f, &f->wishes->of[w], f->of[w], err);
    return LEAT_OK;
}
