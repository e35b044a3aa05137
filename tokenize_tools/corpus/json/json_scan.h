/*
 * json_scan.h: the only scanner of JSON records. It is fed chunks of any size and keeps none of them: it checks the
 * grammar and notes where the strings of the two paths are. json_fields.c feeds it a whole line, json_push.c a record
 * in chunks.
 */
#ifndef LEAT_TOKENIZE_TOOLS_JSON_SCAN_H
#define LEAT_TOKENIZE_TOOLS_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json_fields.h"
#include "json_string.h"

#define JSON_TEXT 0 /* the numbers of the two paths */
#define JSON_ID   1

/* an escaped name, of which every byte may take six */
#define JSON_RAW_NAME_BYTES (6 * JSON_NAME_BYTES)

enum json_kind {
    JSON_KIND_NONE,
    JSON_KIND_STRING,
    JSON_KIND_NUMBER,
    JSON_KIND_OBJECT,
    JSON_KIND_ARRAY,
    JSON_KIND_TRUE,
    JSON_KIND_FALSE,
    JSON_KIND_NULL,
    JSON_KIND_NAN, /* these two are not JSON, but Python's json.dumps() writes them */
    JSON_KIND_INFINITY
};

/* What the next value is to a path. */
enum json_role {
    JSON_ROLE_OTHER,
    JSON_ROLE_ON_WAY, /* the member is inside, if this is an object */
    JSON_ROLE_MEMBER
};

/* The member of a path that was met last. */
struct json_place {
    enum json_kind kind;
    bool escaped;   /* a string holds escapes */
    uint64_t begin; /* of a number's characters, or of what stands between a string's quotes */
    uint64_t bytes; /* so far, while it is still open */
};

struct json_scan {
    const struct json_fields *fields;
    uint64_t position; /* bytes fed */
    uint8_t state;     /* enum json_scan_state */
    uint8_t seen;      /* digits of \u, or letters of a word */
    bool is_name;      /* the string that is open is a member's name */
    bool escaped;      /* it has an escape */
    bool bad;
    bool has_nan; /* or an infinity */
    enum json_kind root;
    enum json_kind kind; /* of the value that is open, a string, number or word */
    uint64_t begin;      /* of that value */
    uint32_t depth;      /* of what is open */
    uint32_t on_way[2];  /* so many of the outermost open objects are on the way of a path */
    uint8_t role[2];     /* of the next value */
    struct json_place place[2];
    size_t name_bytes;                          /* of `name`; more than it has room for: the name is longer */
    uint64_t is_object[JSON_RECORD_DEPTH / 64]; /* bit d: what is open at depth d + 1 */
    char name[JSON_RAW_NAME_BYTES]; /* of a member's name that does not lie in one chunk, what there is so far */
};

void json_scan_begin(struct json_scan *scan, const struct json_fields *fields);

/* Returns false if the record is bad: all further bytes are ignored, and scan->position is that of the wrong byte. */
bool json_scan_feed(struct json_scan *scan, const char *bytes, size_t count);

/* After the last byte: what became of the record, and, of JSON_MALFORMED, the byte. */
enum json_problem json_scan_end(struct json_scan *scan, uint64_t *byte, struct leat_error *err);

/* After the last byte: whether the record is valid, and an object. */
bool json_scan_is_object(const struct json_scan *scan);

/* Whether a whole value has been met; scan->position is then where something else begins, or that of all bytes fed. */
bool json_scan_is_whole(const struct json_scan *scan);

/* "a string", "null", ... for a sentence; of a word, the word. */
const char *json_scan_kind(enum json_kind kind);

/* Whether the id that was found in this record has more than JSON_ID_BYTES, unescaped. */
bool json_scan_id_is_long(const struct json_scan *scan, const char *record);

/* The sentence of JSON_ID_TOO_LONG. */
enum leat_status json_scan_long_id(const struct json_scan *scan, struct leat_error *err);

#endif
