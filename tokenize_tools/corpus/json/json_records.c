/* json_records.c: finds the layout of a text, and counts brackets to the end of a record. */
#include "json_records.h"

#include <string.h>

#include "base/json_string.h"
#include "json_scan.h"

enum state {
    STATE_BEGIN, /* before the array's [ */
    STATE_ANY,   /* before a record, or the end of objects that lie in no array */
    STATE_FIRST, /* before a record, or the end */
    STATE_NEXT,  /* before a record, after a comma */
    STATE_AFTER, /* a record */
    STATE_END,
    STATE_WORD, /* in a record that is neither a string nor has brackets; it will be rejected */
    STATE_OPEN, /* in brackets */
    STATE_STRING,
    STATE_ESCAPE
};

/* ---- Layouts ---- */

static size_t pass_spaces(const char *text, size_t at, size_t bytes)
{
    while (at < bytes && json_is_space(text[at]))
        at++;
    return at;
}

/*
 * Returns true if the first object of the text, which begins at `at`, is valid as far as it goes, and is no line: it
 * goes over the end of a line, or another object follows it on the only line. Other text may be lines of which one
 * is broken, which costs one reject, while after a break between objects nothing can be read.
 */
static bool are_objects(const char *text, size_t at, size_t bytes)
{
    static const struct json_paths nothing;
    struct json_scan scan;
    const char *line_end;
    size_t next, end;

    json_scan_begin(&scan, &nothing, NULL);
    if (!json_scan_feed(&scan, text + at, bytes - at) && !json_scan_is_whole(&scan))
        return false;
    next = end = at + (size_t)scan.position;
    while (json_scan_is_whole(&scan) && json_is_space(text[end - 1]))
        end--;
    if (memchr(text + at, '\n', end - at))
        return true;
    if (next == bytes || text[next] != '{')
        return false;
    line_end = memchr(text + end, '\n', bytes - end);
    return !line_end || pass_spaces(text, (size_t)(line_end - text), bytes) == bytes;
}

enum json_layout json_layout(const char *head, size_t bytes, bool *more)
{
    size_t all = bytes < JSON_LONG_HEAD ? bytes : JSON_LONG_HEAD;
    size_t begin = pass_spaces(head, bytes >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0 ? 3 : 0, all), next;

    bytes = bytes < JSON_HEAD ? bytes : JSON_HEAD;
    *more = false;
    if (begin < bytes && head[begin] == '[') {
        next = pass_spaces(head, begin + 1, bytes);
        return next == bytes || head[next] == '{' || head[next] == ']' ? JSON_ARRAY : JSON_LINES;
    }
    if (begin >= bytes || head[begin] != '{')
        return JSON_LINES;
    if (!memchr(head + begin, '\n', bytes - begin)) {
        *more = bytes == JSON_HEAD && all < JSON_LONG_HEAD;
        bytes = all;
    }
    return are_objects(head, begin, bytes) ? JSON_OBJECTS : JSON_LINES;
}

/* ---- Records ---- */

void json_records_begin(struct json_records *r, enum json_layout layout, uint64_t offset)
{
    r->position = r->record = offset;
    r->array = layout == JSON_ARRAY;
    r->state = !r->array ? STATE_ANY : offset == 0 ? STATE_BEGIN : STATE_AFTER;
    r->depth = 0;
}

/* Notes an open bracket, or a closing one; returns false if that does not fit. A record that is nested too deeply
 * will be rejected. */
static bool bracket(struct json_records *r, char c)
{
    bool open = c == '{' || c == '[', object = c == '{' || c == '}';
    uint64_t level = open ? r->depth++ : --r->depth, bit = UINT64_C(1) << level % 64;

    if (level >= JSON_RECORD_DEPTH)
        return true;
    if (!open)
        return !(r->is_object[level / 64] & bit) == !object;
    if (object)
        r->is_object[level / 64] |= bit;
    else
        r->is_object[level / 64] &= ~bit;
    return true;
}

static bool begin_record(struct json_records *r, char c, uint64_t position)
{
    if (c == ',' || c == ':' || c == ']' || c == '}')
        return false;
    r->record = position;
    r->state = c == '"' ? STATE_STRING : STATE_WORD;
    if (c == '{' || c == '[') {
        r->state = STATE_OPEN;
        bracket(r, c);
    }
    return true;
}

/* Takes a byte that is not white space, outside of records. */
static bool between(struct json_records *r, char c, uint64_t position)
{
    switch (r->state) {
    case STATE_BEGIN:
        if (c == '[')
            r->state = STATE_FIRST;
        return c == '[' || position < 3; /* a byte order mark is skipped */
    case STATE_ANY:
        return position < 3 && (uint8_t)c >= 0x80 ? true : begin_record(r, c, position);
    case STATE_AFTER:
        r->state = c == ',' ? STATE_NEXT : STATE_END;
        if (c == ',' || c == ']')
            return true;
        r->state = STATE_AFTER;
        return false;
    case STATE_END:
        return false;
    default: /* STATE_FIRST, STATE_NEXT */
        if (r->state == STATE_FIRST && c == ']') {
            r->state = STATE_END;
            return true;
        }
        return begin_record(r, c, position);
    }
}

/* Skips the inside of a string, valid or not. Returns true if the quote after it was taken. */
static bool pass_string(struct json_records *r, const struct json_kernels *kernels, const char **at, const char *end)
{
    bool escaped = false;

    while (*at < end) {
        if (r->state == STATE_ESCAPE) {
            r->state = STATE_STRING;
            ++*at;
            continue;
        }
        *at = kernels->pass(*at, end, &escaped);
        if (*at == end)
            return false;
        if (**at == '\\')
            r->state = STATE_ESCAPE;
        if (*(*at)++ == '"')
            return true;
    }
    return false;
}

/* Makes one step in a record. Sets *ended if the record ends before *at. Returns false if the byte at *at is wrong. */
static bool step_in_record(struct json_records *r, const char **at, const char *end, bool *ended)
{
    char c = **at;

    *ended = false;
    if (r->state == STATE_WORD) {
        *ended =
            json_is_space(c) || c == ',' || c == ']' || c == '}' || (!r->array && (c == '{' || c == '[' || c == '"'));
        *at += !*ended;
        return true;
    }
    if (r->state != STATE_OPEN) {
        if (pass_string(r, json_kernels(), at, end)) {
            *ended = r->depth == 0;
            r->state = STATE_OPEN;
        }
        return true;
    }
    if (c == '"')
        r->state = STATE_STRING;
    else if ((c == '{' || c == '[' || c == '}' || c == ']') && !bracket(r, c))
        return false;
    ++*at;
    *ended = r->depth == 0 && r->state == STATE_OPEN;
    return true;
}

enum json_records_found json_records_next(struct json_records *r, const char *bytes, size_t count)
{
    const char *at = bytes, *end = bytes + count;
    uint64_t first = r->position;
    bool fits = true, ended = false;

    while (fits && !ended && at < end) {
        if (r->state >= STATE_WORD) {
            fits = step_in_record(r, &at, end, &ended);
        } else {
            fits = json_is_space(*at) || between(r, *at, first + (uint64_t)(at - bytes));
            at += fits;
        }
    }
    r->position = first + (uint64_t)(at - bytes);
    if (ended)
        r->state = r->array ? STATE_AFTER : STATE_ANY;
    return ended ? JSON_RECORDS_RECORD : fits ? JSON_RECORDS_MORE : JSON_RECORDS_BROKEN;
}

bool json_records_in_record(const struct json_records *r)
{
    return r->state >= STATE_WORD;
}

bool json_records_may_end(const struct json_records *r)
{
    return r->state == STATE_END || r->state == STATE_ANY || (r->state == STATE_WORD && !r->array);
}

const char *json_records_expected(const struct json_records *r)
{
    switch (r->state) {
    case STATE_BEGIN:
        return "[";
    case STATE_FIRST:
        return "an object ({) or ]";
    case STATE_NEXT:
    case STATE_ANY:
        return "an object ({)";
    case STATE_AFTER:
    case STATE_WORD:
        return "a comma or ]";
    case STATE_END:
        return "the end of the file";
    case STATE_OPEN:
        return "the bracket that closes another one";
    default:
        return "the quote after a string";
    }
}
