/* input_fields.c: reads the first records of inputs, and notes the fields that they have. */
#include "input_fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/file_kind.h"
#include "base/nearest.h"
#include "base/status.h"
#include "corpus/csv/csv_header.h"
#include "corpus/streams/byte_stream.h"
#include "inputs.h"
#include "lines.h"

/* ---- The fields of the first records ----------------------------------------------------------------------------- */

#define MAX_LISTED 600 /* most bytes of names in a sentence */

/* The fields that are looked for, by their use. */
static const struct looked_for {
    const char *holds; /* what the field holds, for sentences; NULL: it is not looked for */
    bool single;       /* an object or an array is the wrong member, if all records have one */
    bool needed;       /* each input needs it, not only one of them */
} looked_for[RECORD_USES] = {
    [RECORD_TEXT] = { "the text", true, true },
    [RECORD_MESSAGES] = { "the conversation", false, true },
    [RECORD_COMPLETION] = { "the completion", true, true },
    [RECORD_PROMPT] = { "the prompt", true, true },
    [RECORD_SPANS] = { "what is learned", false, false },
    [RECORD_BY] = { "the value that chooses a dataset", false, false },
    [RECORD_ID] = { "the id", false, false },
};

/* ---- Sentences ---- */

/* Writes "18 records", or "record". */
static const char *count_records(char text[32], uint64_t records)
{
    if (records == 1)
        return "record";
    snprintf(text, 32, "%" PRIu64 " records", records);
    return text;
}

/* Lists the names in quotes, with commas. Returns the nearest to `path` if it is near, or NULL. */
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

/* Returns true for a member whose own name is this path, with its dots. */
static bool is_dotted(const struct json_members *m, const char *path)
{
    bool dotted = false;

    for (unsigned i = 0; i < m->count; i++)
        dotted = dotted || (m->dotted[i] && strcmp(m->names[i], path) == 0);
    return dotted;
}

/* Appends the advice about the field `path`, which `holds` holds. */
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

static enum leat_status say_missing(const struct field_search *f, const struct record_want *want, enum json_kind kind,
                                    struct leat_error *err)
{
    const struct looked_for *w = &looked_for[want->use];
    const struct json_members *m = &f->members;
    const char *path = want->path, *nearest;
    enum leat_hint hint = record_hints[want->use];
    char names[MAX_LISTED + 16], number[32], advice[JSON_MEMBER_NAME + 64], others[64] = "";

    nearest = list_members(m, path, names, sizeof names);
    if (want->use == RECORD_TEXT &&
        (kind == JSON_KIND_ARRAY || strstr(names, "\"messages\"") || strstr(names, "\"conversations\"")))
        hint = LEAT_HINT_CHAT;
    advise(m, path, w->holds, nearest, advice, sizeof advice);
    count_records(number, f->path_records);
    if (f->inputs > 1)
        snprintf(others, sizeof others, " (nor in those of %" PRIu64 " other input%s)", f->inputs - 1,
                 f->inputs == 2 ? "" : "s");
    if (kind != JSON_KIND_NONE)
        return status_field(
            err,
            status_set_hint(err, LEAT_E_UNSUPPORTED, hint, f->path,
                            "%.300s: the member \"%.200s\" is %s, not a string, in the first %s%s; %s %s; %s", f->path,
                            path, json_scan_kind(kind), count_records(number, f->path_records), others,
                            f->path_records == 1 ? "it has" : "they have", names, advice),
            path);
    return status_field(err,
                        status_set_hint(err, LEAT_E_NOT_FOUND, hint, f->path,
                                        "%.300s: no member \"%.200s\" in the first %s%s; %s %s; %s", f->path, path,
                                        count_records(number, f->path_records), others,
                                        f->path_records == 1 ? "it has" : "they have", names, advice),
                        path);
}

/* ---- Records ---- */

struct stretch {
    size_t begin, end;
};

/* Counts the lines that are complete and not blank. */
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

/* Returns true if such first bytes of a text hold a whole record. */
static bool field_head_is_enough(const char *head, size_t bytes)
{
    struct stretch found[FIELD_RECORDS];

    return find_records(head, bytes, false, found) > 0;
}

enum leat_status field_search_begin(struct field_search *f, const struct record_fields *fields,
                                    const struct record_judges *judges, struct leat_error *err)
{
    *f = (struct field_search) { .judges = judges };
    for (size_t i = 0; i < fields->count; i++)
        if (looked_for[fields->wants[i].use].holds && fields->wants[i].needed) /* an id that may be missing is not
                                                                                  looked for */
            f->wants[fields->wants[i].use] = &fields->wants[i];
    return record_make(&f->record, fields, err);
}

void field_search_free(struct field_search *f)
{
    record_free(&f->record);
}

static void look_at(const struct record_want *want, const struct record_value *value, struct field_met *met)
{
    if (looked_for[want->use].single && !want->list &&
        (value->kind == JSON_KIND_OBJECT || value->kind == JSON_KIND_ARRAY))
        met->kind = value->kind;
    else
        met->any = met->any || value->kind != JSON_KIND_NONE;
}

/* Adds what a record has. Returns false if it is no valid object, is kept out, or has no members, so that it says
 * nothing. */
static bool add_record(struct field_search *f, const char *json, size_t bytes, struct field_met met[RECORD_USES],
                       struct json_members *members)
{
    struct record *r = &f->record;

    if (record_read(r, json, bytes, NULL) != LEAT_OK || judges_keep_out(f->judges, r))
        return false;
    for (enum record_use use = 0; use < RECORD_USES; use++)
        if (f->wants[use])
            look_at(f->wants[use], record_value(r, (uint32_t)(f->wants[use] - r->fields->wants)), &met[use]);
    return json_members_add(members, json, bytes);
}

enum leat_status field_search_add(struct field_search *f, const char *path, const char *head, size_t bytes, bool ended,
                                  struct leat_error *err)
{
    struct stretch found[FIELD_RECORDS];
    unsigned count = find_records(head, bytes, ended, found), records = 0;
    struct field_met met[RECORD_USES] = { { false, JSON_KIND_NONE } };
    struct json_members members = { 0 };

    for (unsigned i = 0; i < count; i++)
        records += add_record(f, head + found[i].begin, found[i].end - found[i].begin, met, &members);
    if (records == 0)
        return LEAT_OK;
    f->path = path;
    f->path_records = records;
    f->members = members;
    f->records += records;
    f->inputs++;
    for (size_t use = 0; use < RECORD_USES; use++) {
        f->met[use].any = f->met[use].any || met[use].any;
        f->met[use].kind = f->met[use].kind == JSON_KIND_NONE ? met[use].kind : f->met[use].kind;
        if (f->wants[use] && looked_for[use].needed && !met[use].any && records == FIELD_RECORDS) {
            f->inputs = 1;
            return say_missing(f, f->wants[use], met[use].kind, err);
        }
    }
    return LEAT_OK;
}

enum leat_status field_search_end(struct field_search *f, bool all, struct leat_error *err)
{
    for (size_t use = 0; f->records > 0 && use < RECORD_USES; use++)
        if (f->wants[use] && !f->met[use].any && (all || f->records >= FIELD_RECORDS))
            return say_missing(f, f->wants[use], f->met[use].kind, err);
    return LEAT_OK;
}

/* ---- The heads of all inputs ------------------------------------------------------------------------------------- */

/* Implements inputs_check_heads(): what the JSON of an input begins like, whatever its name or compression, and
 * whether its first records have the wanted fields. */

/* Time for looking, so that a run over a hundred thousand files on a slow disk begins at once, too. */
#define LONGEST_NS      ((uint64_t)250000000)
#define LEAST_LOOKS     16 /* looks that are made in any case, but not for longer than this: */
#define LONGEST_LOOK_NS ((uint64_t)4000000000)

/* Returns true if lines begin like JSON. Their bytes are not judged, since they are text in any encoding. */
static bool begins_like_json(const uint8_t *head, size_t bytes)
{
    size_t at = lines_mark((const char *)head, bytes);

    while (at < bytes && strchr(" \t\r\n", head[at]))
        at++;
    return at < bytes && strchr("{[", head[at]) && !memchr(head, 0, bytes);
}

/* Returns the advice about a file of this kind in a compressed input. */
static const char *cure_within(const struct file_kind *kind)
{
    return kind->what == FILE_COMPRESSED ? "decompress it first, or compress it once only"
           : kind->what == FILE_PARQUET  ? "decompress it first, and name the file"
                                         : kind->cure;
}

enum leat_status inputs_check_head(const struct input *in, const struct byte_stream *stream, const uint8_t *head,
                                   size_t bytes, bool allow_binary, struct leat_error *err)
{
    size_t seen = bytes < FILE_KIND_HEAD ? bytes : FILE_KIND_HEAD;
    const struct file_kind *kind = begins_like_json(head, seen) ? NULL : file_kind_of_bytes(head, seen);
    bool plain = byte_stream_form(stream) == BYTE_FORM_PLAIN, alone = strcmp(in->path, "-") == 0;

    if (kind && kind->what == FILE_PARQUET && alone && plain)
        return status_set(err, LEAT_E_UNSUPPORTED,
                          "standard input is a Parquet file, which is read from its end: save it, and name the file");
    if (!kind || allow_binary || (kind->what == FILE_BINARY && !alone))
        return LEAT_OK;
    return status_set_hint(err, LEAT_E_UNSUPPORTED, LEAT_HINT_BINARY, byte_stream_name(stream), "%s is %s%s: %s",
                           byte_stream_name(stream), plain ? "" : "compressed, and what it holds is ", kind->name,
                           plain ? kind->cure : cure_within(kind));
}

struct look_end {
    uint64_t at;
    const struct input_stop *stop;
    bool stopped;
};

static bool is_over(void *look_end)
{
    struct look_end *end = look_end;

    end->stopped = end->stopped || (end->stop && end->stop->asked && end->stop->asked(end->stop->context));
    return end->stopped || clock_ns() >= end->at;
}

static void say_waits(void *look_end, const char *why)
{
    const struct look_end *end = look_end;

    if (end->stop && end->stop->waits)
        end->stop->waits(end->stop->context, why);
}

enum leat_status inputs_read_records(struct byte_stream *stream, struct buffer *head, size_t least, size_t most,
                                     bool *ended, struct leat_error *err)
{
    bool whole = false;
    enum leat_status s = LEAT_OK;

    *ended = false;
    for (size_t want = least; s == LEAT_OK && !*ended && !whole && want <= most; want *= 4) {
        if (head->size < want)
            s = buffer_reserve(head, want - head->size, err);
        while (s == LEAT_OK && !*ended && head->size < want) {
            size_t got = 0;

            s = byte_stream_read(stream, head->bytes + head->size, want - head->size, &got, err);
            head->size += got;
            *ended = s == LEAT_OK && got == 0;
        }
        whole = field_head_is_enough((char *)head->bytes, head->size);
    }
    return s;
}

/* Looks at the first records of an input, and sets *looked if it did. A failure to read is ignored here, since packing
 * fails again and says so. Leaves out bzip2, of which a whole block would have to be decompressed, and stops at
 * compressed data that goes on for long without any text. */
static enum leat_status look_at_input(const struct input *in, const struct input_stop *over, bool allow_binary,
                                      struct field_search *search, bool *looked, struct leat_error *err)
{
    struct buffer head = { 0 };
    struct byte_stream *stream;
    enum leat_status s = LEAT_OK, read;
    bool ended;

    *looked = false;
    if (byte_stream_open_stoppable(&stream, in->place, in->path, NULL, NULL, over, NULL) != LEAT_OK)
        return LEAT_OK;
    if (byte_stream_form(stream) != BYTE_FORM_BZIP2) {
        read = inputs_read_records(stream, &head, FIELD_HEAD, FIELD_LONG_HEAD, &ended, NULL);
        if (read == LEAT_OK || !over->asked(over->context)) /* otherwise there may be more of its head */
            s = inputs_check_head(in, stream, head.bytes, head.size, allow_binary, err);
        if (s == LEAT_OK && read == LEAT_OK) {
            *looked = true;
            s = field_search_add(search, in->path, (char *)head.bytes, head.size, ended, err);
        }
    }
    byte_stream_close(stream);
    buffer_free(&head);
    return s;
}

/* Looks at the header of a table in text. */
static enum leat_status look_at_header(const struct input *in, const struct input_stop *over, bool allow_binary,
                                       const struct record_fields *fields, struct leat_error *err)
{
    struct buffer head = { 0 };
    struct csv_header *header = NULL;
    struct byte_stream *stream;
    enum leat_status s;

    if (byte_stream_open_stoppable(&stream, in->place, in->path, NULL, NULL, over, NULL) != LEAT_OK)
        return LEAT_OK;
    s = inputs_look_for_header(in, stream, fields, over, &header, &head, err);
    if (s == LEAT_E_NOT_FOUND || s == LEAT_E_UNSUPPORTED || s == LEAT_OK) {
        struct leat_error why;
        enum leat_status kind = inputs_check_head(in, stream, head.bytes, head.size, allow_binary, &why);

        if (kind != LEAT_OK) { /* the status says why it has no such column */
            s = kind;
            if (err)
                *err = why;
        }
    } else {
        s = LEAT_OK;
    }
    csv_header_free(header);
    byte_stream_close(stream);
    buffer_free(&head);
    return s;
}

/* The error about the first input that lacks a field, and how many other inputs lack one. */
struct lacking {
    enum leat_status status; /* LEAT_OK: none does */
    struct leat_error why;
    char others[400];
    size_t used, named, count;
};

static void add_lacking(struct lacking *l, enum leat_status s, const struct leat_error *why, const char *path)
{
    if (l->status == LEAT_OK) {
        l->status = s;
        l->why = *why;
        return;
    }
    if (l->named == l->count && l->used + strlen(path) + 2 < sizeof l->others) {
        l->used +=
            (size_t)snprintf(l->others + l->used, sizeof l->others - l->used, "%s%s", l->count > 0 ? ", " : "", path);
        l->named++;
    }
    l->count++;
}

static enum leat_status say_lacking(struct lacking *l, struct leat_error *err)
{
    size_t used = strlen(l->why.message), room = sizeof l->why.message;

    if (l->count > l->named)
        snprintf(l->others + l->used, sizeof l->others - l->used, "%s%zu %s", l->named > 0 ? " and " : "",
                 l->count - l->named, l->named > 0 ? "more" : "inputs");
    if (l->count > 0 && used < room)
        snprintf(l->why.message + used, room - used, "; the same is wrong with %s", l->others);
    if (err)
        *err = l->why;
    return l->status;
}

/* Looks at the last inputs first, whose mistakes would be found latest. */
enum leat_status inputs_check_heads(struct input_list *list, struct field_search *search, bool allow_binary, bool whole,
                                    const struct input_stop *stop, struct leat_error *err)
{
    struct seldom_stop seldom;
    const struct input_stop seldom_asked = seldom_stop(&seldom, stop);
    uint64_t begun = clock_ns(), until = begun + LONGEST_NS;
    struct look_end last = { .at = begun + LONGEST_LOOK_NS, .stop = &seldom_asked };
    const struct input_stop over = { is_over, &last, say_waits };
    enum leat_status s = LEAT_OK;
    uint64_t texts = 0; /* inputs that are one document, which has no fields */
    struct lacking lacking = { .status = LEAT_OK };
    struct leat_error why;
    bool all = true;

    for (size_t i = list->count, looks = 0; s == LEAT_OK && i-- > 0;) {
        struct input *in = &list->items[i];
        bool can = (in->format->is_json || in->format->delimiter) && !in->object && strcmp(in->path, "-") != 0;

        if (can && !in->looked && (looks++ < LEAST_LOOKS || clock_ns() < until) && !is_over(&last))
            s = in->format->delimiter ? look_at_header(in, &over, allow_binary, search->record.fields, &why)
                                      : look_at_input(in, &over, allow_binary, search, &in->looked, &why);
        if (last.stopped)
            return status_set(err, LEAT_E_STOPPED, "looking into inputs was stopped");
        if ((s == LEAT_E_NOT_FOUND || s == LEAT_E_UNSUPPORTED) && why.field[0]) {
            add_lacking(&lacking, s, &why, in->path);
            s = LEAT_OK;
        } else if (s != LEAT_OK && err) {
            *err = why;
        }
        texts += in->format->whole;
        all = all && (in->looked || in->format->whole);
    }
    if (s == LEAT_OK && lacking.status != LEAT_OK)
        return say_lacking(&lacking, err);
    return s == LEAT_OK && whole ? field_search_end(search, all && search->records > texts, err) : s;
}

void inputs_nearest_field(const struct input_list *list, const struct record_fields *fields, const char *path,
                          const struct input_stop *stop, char nearest[JSON_MEMBER_NAME])
{
    static const struct record_judges none;
    struct field_search search;
    char names[MAX_LISTED + 16];
    const char *found;
    bool looked;

    if (field_search_begin(&search, fields, &none, NULL) == LEAT_OK)
        for (size_t i = 0; search.records == 0 && i < list->count; i++)
            if (list->items[i].format->is_json && !list->items[i].object && strcmp(list->items[i].path, "-") != 0)
                look_at_input(&list->items[i], stop, true, &search, &looked, NULL);
    found = list_members(&search.members, path, names, sizeof names);
    snprintf(nearest, JSON_MEMBER_NAME, "%s", found && strcmp(found, path) != 0 ? found : "");
    field_search_free(&search);
}
