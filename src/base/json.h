/*
 * json.h: writes JSON, to a stream of stdio or to a buffer. Commas are kept here, so that a caller only says what comes
 * next. What reads JSON is jsontree.h.
 *
 *     struct json j;
 *     json_begin(&j, stdout);
 *     json_open_object(&j, NULL);
 *     json_u64(&j, "documents", 7);
 *     json_close_object(&j);
 *     json_end(&j);
 */
#ifndef LEAT_BASE_JSON_H
#define LEAT_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "buffer.h"

/*
 * A writer. Strings may hold any bytes: what is not UTF-8 becomes U+FFFD, as in Python's errors="replace", and what a
 * terminal would obey becomes an escape (show.h). A `verbatim` writer keeps all bytes but those that JSON forbids.
 */
struct json {
    void (*put)(struct json *j, const void *bytes, size_t size); /* appends to `to` */
    void *to;
    enum leat_status status; /* first failure of a buffer, after which nothing is appended; LEAT_OK for a stream */
    struct leat_error *err;
    bool spaced;   /* a blank follows each comma and colon */
    bool verbatim; /* see above */
    bool filled;   /* a comma comes before the next value */
};

/* Begins to write to a stream, with blanks. Errors of the stream are the stream's: who opened it checks them. */
void json_begin(struct json *j, FILE *out);

/* Begins to append to a buffer, without blanks; j->status says whether there was memory. */
void json_begin_in(struct json *j, struct buffer *out, struct leat_error *err);

/* Ends the line after a value; another value may follow. */
void json_end(struct json *j);

/* Writes a key that is not a C string; the next value then has no key of its own. */
void json_key(struct json *j, const void *bytes, size_t count);

/* `key` comes before each value in an object, and is NULL in an array and at the top. */
void json_open_object(struct json *j, const char *key);
void json_close_object(struct json *j);
void json_open_array(struct json *j, const char *key);
void json_close_array(struct json *j);

void json_bytes(struct json *j, const char *key, const void *bytes, size_t count);
void json_string(struct json *j, const char *key, const char *text); /* NULL: null */
void json_u64(struct json *j, const char *key, uint64_t value);
void json_i64(struct json *j, const char *key, int64_t value);
void json_double(struct json *j, const char *key, double value); /* shortest digits that read back as the value; null
                                                                    if it is not finite */
/* Writes value / 10^digits with `digits` digits after the point, in every locale. */
void json_fixed(struct json *j, const char *key, uint64_t value, unsigned digits);
void json_bool(struct json *j, const char *key, bool value);
void json_null(struct json *j, const char *key);

/* Writes null for LEAT_NONE (UINT64_MAX), else the number. */
void json_u64_or_null(struct json *j, const char *key, uint64_t value);

/* Writes a value that is JSON already. */
void json_value(struct json *j, const char *key, const void *text, size_t size);

#endif
