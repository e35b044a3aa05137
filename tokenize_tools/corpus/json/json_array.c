/* json_array.c: see json_array.h. */
#include "json_array.h"

#include <string.h>

#include "json_string.h"

enum state {
    STATE_BEGIN, /* before the array's [ */
    STATE_FIRST, /* a record, or the end */
    STATE_NEXT,  /* a record, after a comma */
    STATE_AFTER, /* a record */
    STATE_END,
    STATE_WORD, /* in a record that is neither a string nor has brackets: it will be rejected */
    STATE_OPEN, /* in brackets */
    STATE_STRING,
    STATE_ESCAPE
};

bool json_array_begins(const char *head, size_t bytes)
{
    size_t at = bytes >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

    while (at < bytes && json_is_space(head[at]))
        at++;
    if (at == bytes || head[at++] != '[')
        return false;
    while (at < bytes && json_is_space(head[at]))
        at++;
    return at == bytes || head[at] == '{' || head[at] == ']';
}

void json_array_begin(struct json_array *a, uint64_t offset)
{
    a->position = a->record = offset;
    a->state = offset == 0 ? STATE_BEGIN : STATE_AFTER;
    a->depth = 0;
}

/* Notes an open bracket; false: a closed one that does not fit. What is nested too deep will be rejected. */
static bool bracket(struct json_array *a, char c)
{
    bool open = c == '{' || c == '[', object = c == '{' || c == '}';
    uint64_t level = open ? a->depth++ : --a->depth, bit = UINT64_C(1) << level % 64;

    if (level >= JSON_RECORD_DEPTH)
        return true;
    if (!open)
        return !(a->is_object[level / 64] & bit) == !object;
    if (object)
        a->is_object[level / 64] |= bit;
    else
        a->is_object[level / 64] &= ~bit;
    return true;
}

static bool begin_record(struct json_array *a, char c, uint64_t position)
{
    if (c == ',' || c == ':' || c == ']' || c == '}')
        return false;
    a->record = position;
    a->state = c == '"' ? STATE_STRING : STATE_WORD;
    if (c == '{' || c == '[') {
        a->state = STATE_OPEN;
        bracket(a, c);
    }
    return true;
}

/* Takes a byte that is not white space, outside of records. */
static bool between(struct json_array *a, char c, uint64_t position)
{
    switch (a->state) {
    case STATE_BEGIN:
        if (c == '[')
            a->state = STATE_FIRST;
        return c == '[' || position < 3; /* a byte order mark */
    case STATE_AFTER:
        a->state = c == ',' ? STATE_NEXT : STATE_END;
        if (c == ',' || c == ']')
            return true;
        a->state = STATE_AFTER;
        return false;
    case STATE_END:
        return false;
    default: /* STATE_FIRST, STATE_NEXT */
        if (a->state == STATE_FIRST && c == ']') {
            a->state = STATE_END;
            return true;
        }
        return begin_record(a, c, position);
    }
}

/* Passes over what a string holds, valid or not; true: the quote after it was taken. */
static bool pass_string(struct json_array *a, const struct json_kernels *kernels, const char **at, const char *end)
{
    bool escaped = false;

    while (*at < end) {
        if (a->state == STATE_ESCAPE) {
            a->state = STATE_STRING;
            ++*at;
            continue;
        }
        *at = kernels->pass(*at, end, &escaped);
        if (*at == end)
            return false;
        if (**at == '\\')
            a->state = STATE_ESCAPE;
        if (*(*at)++ == '"')
            return true;
    }
    return false;
}

/* One step in a record. *ended: the record ends before *at. False: the byte at *at is wrong. */
static bool step(struct json_array *a, const char **at, const char *end, bool *ended)
{
    char c = **at;

    *ended = false;
    if (a->state == STATE_WORD) {
        *ended = json_is_space(c) || c == ',' || c == ']' || c == '}';
        *at += !*ended;
        return true;
    }
    if (a->state != STATE_OPEN) {
        if (pass_string(a, json_kernels(), at, end)) {
            *ended = a->depth == 0;
            a->state = STATE_OPEN;
        }
        return true;
    }
    if (c == '"')
        a->state = STATE_STRING;
    else if ((c == '{' || c == '[' || c == '}' || c == ']') && !bracket(a, c))
        return false;
    ++*at;
    *ended = a->depth == 0 && a->state == STATE_OPEN;
    return true;
}

enum json_array_found json_array_next(struct json_array *a, const char *bytes, size_t count)
{
    const char *at = bytes, *end = bytes + count;
    uint64_t first = a->position;
    bool fits = true, ended = false;

    while (fits && !ended && at < end) {
        if (a->state >= STATE_WORD) {
            fits = step(a, &at, end, &ended);
        } else {
            fits = json_is_space(*at) || between(a, *at, first + (uint64_t)(at - bytes));
            at += fits;
        }
    }
    a->position = first + (uint64_t)(at - bytes);
    if (ended)
        a->state = STATE_AFTER;
    return ended ? JSON_ARRAY_RECORD : fits ? JSON_ARRAY_MORE : JSON_ARRAY_BROKEN;
}

bool json_array_in_record(const struct json_array *a)
{
    return a->state >= STATE_WORD;
}

bool json_array_ended(const struct json_array *a)
{
    return a->state == STATE_END;
}

const char *json_array_expected(const struct json_array *a)
{
    switch (a->state) {
    case STATE_BEGIN:
        return "[";
    case STATE_FIRST:
        return "an object ({) or ]";
    case STATE_NEXT:
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
