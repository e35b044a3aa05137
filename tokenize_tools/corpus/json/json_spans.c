/* json_spans.c: see json_spans.h. The record has been checked to be JSON, so that only the shape can be wrong. */
#include "json_spans.h"

#include "base/status.h"

static void pass_space(const char **at)
{
    while (json_is_space(**at))
        ++*at;
}

/* Passes a character, and white space around it; false if it is not there. */
static bool pass(const char **at, char c)
{
    pass_space(at);
    if (**at != c)
        return false;
    ++*at;
    pass_space(at);
    return true;
}

/* A number without a sign, a point or an exponent; texts are shorter than UINT32_MAX characters. */
static bool take_number(const char **at, uint64_t *number)
{
    const char *digits = *at;

    for (*number = 0; **at >= '0' && **at <= '9' && *number <= UINT32_MAX; ++*at)
        *number = *number * 10 + (uint64_t)(**at - '0');
    return *at > digits && **at != '.' && (**at | 0x20) != 'e';
}

static bool take_span(const char **at, struct leat_span *span)
{
    return pass(at, '[') && take_number(at, &span->begin) && pass(at, ',') && take_number(at, &span->end) &&
           pass(at, ']');
}

static enum leat_status refuse(const char *field, struct leat_error *err)
{
    return status_set(
        err, LEAT_E_TEXT,
        "\"%.200s\" is not a list of [begin, end] places in the text, in order and apart: it says what is "
        "learned",
        field);
}

enum leat_status json_spans_find(struct buffer *spans, const struct json_fields *field, const char *record,
                                 size_t bytes, struct leat_error *err)
{
    const char *name = field->path[JSON_TEXT].all, *at;
    struct leat_span span = { 0, 0 };
    uint64_t before = 0;
    struct json_scan scan; /* its large arrays need no zeros */
    enum leat_status s = LEAT_OK;

    json_scan_begin(&scan, field);
    json_scan_feed(&scan, record, bytes);
    if (!json_scan_is_object(&scan))
        return LEAT_OK;
    if (scan.place[JSON_TEXT].kind == JSON_KIND_NONE)
        return status_set(err, LEAT_E_TEXT, "the record has no \"%.200s\" that says what is learned", name);
    at = record + scan.place[JSON_TEXT].begin;
    if (scan.place[JSON_TEXT].kind != JSON_KIND_ARRAY || !pass(&at, '['))
        return refuse(name, err);
    while (s == LEAT_OK && *at != ']') {
        if (!take_span(&at, &span) || span.begin < before || span.end < span.begin || (*at != ']' && !pass(&at, ',')))
            return refuse(name, err);
        before = span.end;
        s = buffer_append(spans, &span, sizeof span, err);
    }
    return s;
}

enum leat_status json_spans_settle(struct leat_span *spans, size_t count, const char *text, size_t bytes,
                                   struct leat_error *err)
{
    uint64_t character = 0, byte = 0;

    for (size_t i = 0; i < 2 * count; i++) {
        uint64_t *place = i % 2 == 0 ? &spans[i / 2].begin : &spans[i / 2].end;

        while (character < *place && byte < bytes) {
            byte++;
            while (byte < bytes && ((unsigned char)text[byte] & 0xc0) == 0x80)
                byte++;
            character++;
        }
        if (character < *place)
            return status_set(err, LEAT_E_TEXT,
                              "a span of the mask ends at %llu, after the text, which has %llu character%s",
                              (unsigned long long)*place, (unsigned long long)character, character == 1 ? "" : "s");
        *place = byte;
    }
    return LEAT_OK;
}
