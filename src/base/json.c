/*
 * json.c: see json.h. Strings are copied in stretches that need no escape. Bytes above ASCII are taken one whole UTF-8
 * character at a time, and what is malformed becomes one U+FFFD, because file names and ids may hold any bytes but
 * readers of JSON refuse such text. What people are not to see as it is (base/show.h) becomes an escape too. Numbers
 * are printed in the shortest form that reads back as the same.
 */
#include "json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "show.h"

static void put(FILE *out, const char *text)
{
    fwrite(text, 1, strlen(text), out);
}

void json_begin(struct json *j, FILE *out)
{
    memset(j, 0, sizeof *j);
    j->out = out;
}

void json_end(struct json *j)
{
    put(j->out, "\n");
}

/*
 * The bytes at `p` that belong together: a whole UTF-8 character, with *valid true; else the longest beginning of one
 * that breaks off here (at least one byte), which stands for one U+FFFD, as Unicode recommends and Python does.
 */
static size_t utf8_step(const uint8_t *p, size_t left, bool *valid)
{
    uint8_t lowest = 0x80, highest = 0xbf;
    size_t length;

    *valid = true;
    if (p[0] < 0x80)
        return 1;
    if (p[0] >= 0xc2 && p[0] <= 0xdf) {
        length = 2;
    } else if (p[0] >= 0xe0 && p[0] <= 0xef) {
        length = 3;
        if (p[0] == 0xe0)
            lowest = 0xa0; /* shorter forms exist */
        if (p[0] == 0xed)
            highest = 0x9f; /* surrogates */
    } else if (p[0] >= 0xf0 && p[0] <= 0xf4) {
        length = 4;
        if (p[0] == 0xf0)
            lowest = 0x90;
        if (p[0] == 0xf4)
            highest = 0x8f; /* beyond U+10FFFF */
    } else {
        *valid = false;
        return 1;
    }
    for (size_t i = 1; i < length; i++) {
        if (i >= left || p[i] < lowest || p[i] > highest) {
            *valid = false;
            return i;
        }
        lowest = 0x80;
        highest = 0xbf;
    }
    return length;
}

static void put_escape(FILE *out, uint32_t c)
{
    static const char *const short_form = "\"\"\\\\\bb\ff\nn\rr\tt"; /* pairs: the byte, the letter after \ */
    char text[24];

    for (const char *s = short_form; *s; s += 2)
        if ((uint8_t)*s == c) {
            snprintf(text, sizeof text, "\\%c", s[1]);
            put(out, text);
            return;
        }
    if (c > 0xffff) /* two halves */
        snprintf(text, sizeof text, "\\u%04x\\u%04x", 0xd7c0 + (c >> 10), 0xdc00 + (c & 0x3ff));
    else
        snprintf(text, sizeof text, "\\u%04x", c);
    put(out, text);
}

/* Whether a well-formed character needs an escape: for JSON, or because a terminal may get it; *c is its code point. */
static bool needs_escape(const uint8_t *p, size_t bytes, uint32_t *c)
{
    *c = bytes == 1 ? p[0] : show_hidden(p, bytes);
    return bytes == 1 ? *c < 0x20 || *c == 0x7f || *c == '"' || *c == '\\' : *c != 0;
}

static void put_string(FILE *out, const uint8_t *p, size_t count)
{
    size_t plain = 0; /* bytes before p that need nothing done */
    uint32_t c;
    bool valid;

    put(out, "\"");
    for (size_t i = 0; i < count;) {
        size_t step = utf8_step(p + i, count - i, &valid);

        if (valid && !needs_escape(p + i, step, &c)) {
            plain += step;
        } else {
            fwrite(p + i - plain, 1, plain, out);
            plain = 0;
            if (valid)
                put_escape(out, c);
            else
                put(out, "\xef\xbf\xbd");
        }
        i += step;
    }
    if (plain > 0)
        fwrite(p + count - plain, 1, plain, out);
    put(out, "\"");
}

/* What stands before a value: comma and key. */
static void lead_in(struct json *j, const char *key)
{
    if (j->filled[j->depth])
        put(j->out, ", ");
    j->filled[j->depth] = true;
    if (key) {
        put_string(j->out, (const uint8_t *)key, strlen(key));
        put(j->out, ": ");
    }
}

static void open_level(struct json *j, const char *key, const char *bracket)
{
    lead_in(j, key);
    put(j->out, bracket);
    j->depth += j->depth + 1 < JSON_DEPTH;
    j->filled[j->depth] = false;
}

static void close_level(struct json *j, const char *bracket)
{
    j->depth -= j->depth > 0;
    put(j->out, bracket);
}

void json_open_object(struct json *j, const char *key)
{
    open_level(j, key, "{");
}

void json_close_object(struct json *j)
{
    close_level(j, "}");
}

void json_open_array(struct json *j, const char *key)
{
    open_level(j, key, "[");
}

void json_close_array(struct json *j)
{
    close_level(j, "]");
}

void json_bytes(struct json *j, const char *key, const void *bytes, size_t count)
{
    lead_in(j, key);
    put_string(j->out, bytes, count);
}

void json_string(struct json *j, const char *key, const char *text)
{
    if (text)
        json_bytes(j, key, text, strlen(text));
    else
        json_null(j, key);
}

void json_u64(struct json *j, const char *key, uint64_t value)
{
    char text[24];

    snprintf(text, sizeof text, "%" PRIu64, value);
    lead_in(j, key);
    put(j->out, text);
}

void json_i64(struct json *j, const char *key, int64_t value)
{
    char text[24];

    snprintf(text, sizeof text, "%" PRId64, value);
    lead_in(j, key);
    put(j->out, text);
}

void json_double(struct json *j, const char *key, double value)
{
    char text[40];

    if (!isfinite(value)) {
        json_null(j, key);
        return;
    }
    lead_in(j, key);
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    /* a point or an exponent keeps it a floating-point number for readers that tell the two apart */
    put(j->out, text);
    put(j->out, strpbrk(text, ".e") ? "" : ".0");
}

void json_fixed(struct json *j, const char *key, uint64_t value, unsigned digits)
{
    uint64_t one = 1;
    char text[48];

    for (unsigned i = 0; i < digits; i++)
        one *= 10;
    snprintf(text, sizeof text, "%" PRIu64 ".%0*" PRIu64, value / one, (int)digits, value % one);
    lead_in(j, key);
    put(j->out, text);
}

void json_bool(struct json *j, const char *key, bool value)
{
    lead_in(j, key);
    put(j->out, value ? "true" : "false");
}

void json_null(struct json *j, const char *key)
{
    lead_in(j, key);
    put(j->out, "null");
}

void json_u64_or_null(struct json *j, const char *key, uint64_t value)
{
    if (value == UINT64_MAX)
        json_null(j, key);
    else
        json_u64(j, key, value);
}
