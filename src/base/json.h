/*
 * json.h: writes JSON to a stdio stream, one value on one line; jsontree.h reads it. Commas and nesting are kept here,
 * so that a caller only says what comes next. Strings may hold any bytes: what is not UTF-8 becomes U+FFFD, as in
 * Python's errors="replace". Errors of the stream are the stream's: who opened it checks at the end.
 */
#ifndef LEAT_BASE_JSON_H
#define LEAT_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_DEPTH 32

struct json {
    FILE *out;
    unsigned depth;
    bool filled[JSON_DEPTH]; /* at each depth: something stands there, so a comma comes first */
};

void json_begin(struct json *j, FILE *out);
void json_end(struct json *j); /* the newline after the value */

/* `key` comes before each value in an object, and is NULL in an array and at the top. */
void json_open_object(struct json *j, const char *key);
void json_close_object(struct json *j);
void json_open_array(struct json *j, const char *key);
void json_close_array(struct json *j);

void json_bytes(struct json *j, const char *key, const void *bytes, size_t count);
void json_string(struct json *j, const char *key, const char *text); /* NULL: null */
void json_u64(struct json *j, const char *key, uint64_t value);
void json_i64(struct json *j, const char *key, int64_t value);
void json_double(struct json *j, const char *key, double value); /* shortest that reads back; null if not finite */
/* value / 10^digits with so many digits after the point, in every locale. */
void json_fixed(struct json *j, const char *key, uint64_t value, unsigned digits);
void json_bool(struct json *j, const char *key, bool value);
void json_null(struct json *j, const char *key);

/* null for LEAT_NONE (UINT64_MAX), else the number. */
void json_u64_or_null(struct json *j, const char *key, uint64_t value);

#endif
