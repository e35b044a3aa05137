/* csv_records.c: a machine of a few states that takes one stretch of characters at a time. */
#include "csv_records.h"

#include <string.h>

enum state {
    STATE_BETWEEN, /* before a record: ends of lines are skipped, so that \r\n is one */
    STATE_FIELD,   /* at the beginning of a field */
    STATE_PLAIN,   /* in a field without quotes */
    STATE_QUOTES,
    STATE_QUOTE, /* after a quote inside quotes: it ends the field, or is the first of two */
    STATE_BROKEN /* in a record that ends with its line, whatever the line holds */
};

static bool ends_line(char c)
{
    return c == '\n' || c == '\r';
}

size_t csv_line(const char *text, size_t bytes)
{
    size_t at = 0;

    while (at < bytes && !ends_line(text[at]))
        at++;
    return at < bytes ? at + 1 : bytes;
}

void csv_records_begin(struct csv_records *r, char delimiter, uint64_t offset)
{
    *r = (struct csv_records) { .position = offset, .record = offset, .delimiter = delimiter };
}

void csv_records_break(struct csv_records *r)
{
    r->state = STATE_BROKEN;
}

bool csv_records_in_record(const struct csv_records *r)
{
    return r->state != STATE_BETWEEN;
}

bool csv_records_in_quotes(const struct csv_records *r)
{
    return r->state == STATE_QUOTES;
}

/* Goes on after a field. Returns true if the record ends. */
static bool end_field(struct csv_records *r, char c)
{
    r->state = c == r->delimiter ? STATE_FIELD : STATE_BETWEEN;
    return c != r->delimiter;
}

static const char *pass_plain(const struct csv_records *r, const char *at, const char *end)
{
    while (at < end && *at != r->delimiter && !ends_line(*at))
        at++;
    return at;
}

/* Passes over the inside of quotes, whose first byte is at `position`. Returns false if it is too long. */
static bool pass_quotes(struct csv_records *r, uint64_t position, const char **at, const char *end)
{
    uint64_t stop = r->quote + CSV_MAX_BYTES, left = stop > position ? stop - position : 0;
    size_t most = (uint64_t)(end - *at) < left ? (size_t)(end - *at) : (size_t)left;
    const char *quote = memchr(*at, '"', most);

    *at = quote ? quote + 1 : *at + most;
    if (quote)
        r->state = STATE_QUOTE;
    return quote || most < left;
}

/* Makes one step in a record. Sets *ended if the record ends before *at. Returns false if its quote does not end. */
static bool step_in_record(struct csv_records *r, uint64_t position, const char **at, const char *end, bool *ended)
{
    char c = **at;

    switch ((enum state)r->state) {
    case STATE_BETWEEN:
        if (ends_line(c)) {
            ++*at;
            return true;
        }
        r->record = position;
        r->state = STATE_FIELD;
        return true;
    case STATE_FIELD:
        r->state = c == '"' ? STATE_QUOTES : STATE_PLAIN;
        r->quote = position;
        *at += c == '"';
        return true;
    case STATE_PLAIN:
        *at = pass_plain(r, *at, end);
        if (*at < end)
            *ended = end_field(r, *(*at)++);
        return true;
    case STATE_QUOTES:
        return pass_quotes(r, position, at, end);
    case STATE_QUOTE:
        if (c == '"')
            r->state = STATE_QUOTES;
        else if (c == r->delimiter || ends_line(c))
            *ended = end_field(r, c);
        else
            r->state = STATE_BROKEN;
        ++*at;
        return true;
    default: /* STATE_BROKEN */
        *at += csv_line(*at, (size_t)(end - *at));
        *ended = ends_line((*at)[-1]);
        if (*ended)
            r->state = STATE_BETWEEN;
        return true;
    }
}

enum csv_found csv_records_next(struct csv_records *r, const char *bytes, size_t count)
{
    const char *at = bytes, *end = bytes + count;
    uint64_t first = r->position;
    bool ended = false, closes = true;

    while (!ended && closes && at < end)
        closes = step_in_record(r, first + (uint64_t)(at - bytes), &at, end, &ended);
    r->position = first + (uint64_t)(at - bytes);
    return ended ? CSV_RECORD : closes ? CSV_MORE : CSV_UNCLOSED;
}
