/*
 * json.c: writes JSON. Strings are copied in stretches that need no escape. What is malformed in them becomes U+FFFD,
 * because file names and ids may hold any bytes but readers of JSON refuse such text. Numbers are printed in the
 * shortest form that reads back as the same.
 */
#include "json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json_string.h"
#include "show.h"
#include "utf8.h"

static void put_to_file(struct json *j, const void *bytes, size_t size)
{
    (void)fwrite(bytes, 1, size, j->to);
}

static void put_to_buffer(struct json *j, const void *bytes, size_t size)
{
    if (j->status == LEAT_OK)
        j->status = buffer_append(j->to, bytes, size, j->err);
}

void json_begin(struct json *j, FILE *out)
{
    *j = (struct json) { .put = put_to_file, .to = out, .spaced = true };
}

void json_begin_in(struct json *j, struct buffer *out, struct leat_error *err)
{
    *j = (struct json) { .put = put_to_buffer, .to = out, .err = err };
}

void json_end(struct json *j)
{
    j->put(j, "\n", 1);
    j->filled = false;
}

/* ---- Strings ---- */

static void put_escape(struct json *j, uint32_t c)
{
    char text[16] = { '\\', c < 0x80 ? json_escape_letter((char)c) : '\0' };

    if (c > 0xffff) /* two halves */
        snprintf(text, sizeof text, "\\u%04x\\u%04x", 0xd7c0 + (c >> 10), 0xdc00 + (c & 0x3ff));
    else if (!text[1])
        snprintf(text, sizeof text, "\\u%04x", c);
    j->put(j, text, strlen(text));
}

/* Returns true if a character needs an escape, because JSON demands it or because a terminal would obey it. Sets *c
 * to its code point. */
static bool needs_escape(const struct json *j, const uint8_t *p, size_t bytes, uint32_t *c)
{
    *c = bytes == 1 ? p[0] : show_hidden(p, bytes);
    return bytes == 1 ? *c < 0x20 || *c == '"' || *c == '\\' || (*c == 0x7f && !j->verbatim) : *c != 0;
}

/* Writes characters that are well-formed; a verbatim writer takes each byte for one. */
static void put_characters(struct json *j, const uint8_t *p, size_t count)
{
    const uint8_t *plain = p, *end = p + count; /* text from `plain` on is copied without a change */
    uint32_t c;

    for (size_t bytes; p < end; p += bytes) {
        bytes = *p < 0x80 || j->verbatim ? 1 : utf8_character(p, (size_t)(end - p));
        if (!needs_escape(j, p, bytes, &c))
            continue;
        j->put(j, plain, (size_t)(p - plain));
        put_escape(j, c);
        plain = p + bytes;
    }
    if (p > plain)
        j->put(j, plain, (size_t)(p - plain));
}

static void put_string(struct json *j, const uint8_t *p, size_t count)
{
    j->put(j, "\"", 1);
    for (size_t good; count > 0; p += good, count -= good) {
        good = j->verbatim ? count : utf8_valid_prefix(p, count);
        put_characters(j, p, good);
        if (good == count)
            break;
        j->put(j, UTF8_REPLACEMENT, 3);
        good += utf8_malformed_part(p + good, count - good);
    }
    j->put(j, "\"", 1);
}

/* ---- Values ---- */

void json_key(struct json *j, const void *bytes, size_t count)
{
    if (j->filled)
        j->put(j, ", ", 1 + j->spaced);
    put_string(j, bytes, count);
    j->put(j, ": ", 1 + j->spaced);
    j->filled = false;
}

/* Writes what stands before a value: comma and key. */
static void lead_in(struct json *j, const char *key)
{
    if (key)
        json_key(j, key, strlen(key));
    if (j->filled)
        j->put(j, ", ", 1 + j->spaced);
    j->filled = true;
}

void json_value(struct json *j, const char *key, const void *text, size_t size)
{
    lead_in(j, key);
    j->put(j, text, size);
}

static void put_word(struct json *j, const char *key, const char *word)
{
    json_value(j, key, word, strlen(word));
}

void json_open_object(struct json *j, const char *key)
{
    put_word(j, key, "{");
    j->filled = false;
}

void json_close_object(struct json *j)
{
    j->put(j, "}", 1);
    j->filled = true;
}

void json_open_array(struct json *j, const char *key)
{
    put_word(j, key, "[");
    j->filled = false;
}

void json_close_array(struct json *j)
{
    j->put(j, "]", 1);
    j->filled = true;
}

void json_bytes(struct json *j, const char *key, const void *bytes, size_t count)
{
    lead_in(j, key);
    put_string(j, bytes, count);
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
    put_word(j, key, text);
}

void json_i64(struct json *j, const char *key, int64_t value)
{
    char text[24];

    snprintf(text, sizeof text, "%" PRId64, value);
    put_word(j, key, text);
}

void json_double(struct json *j, const char *key, double value)
{
    char text[40];

    if (!isfinite(value)) {
        json_null(j, key);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    put_word(j, key, text);
    if (!strpbrk(text, ".e")) /* a point, so that readers which tell integers apart still see a floating-point number */
        j->put(j, ".0", 2);
}

void json_fixed(struct json *j, const char *key, uint64_t value, unsigned digits)
{
    uint64_t one = 1;
    char text[48];

    for (unsigned i = 0; i < digits; i++)
        one *= 10;
    snprintf(text, sizeof text, "%" PRIu64 ".%0*" PRIu64, value / one, (int)digits, value % one);
    put_word(j, key, text);
}

void json_bool(struct json *j, const char *key, bool value)
{
    put_word(j, key, value ? "true" : "false");
}

void json_null(struct json *j, const char *key)
{
    put_word(j, key, "null");
}

void json_u64_or_null(struct json *j, const char *key, uint64_t value)
{
    if (value == UINT64_MAX)
        json_null(j, key);
    else
        json_u64(j, key, value);
}
