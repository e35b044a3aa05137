/*
 * json_scan.h: the only scanner of JSON records. It is fed chunks of any size and keeps none of them: it checks the
 * grammar once from end to end (RFC 8259, nested up to JSON_RECORD_DEPTH deep) and notes where the wanted members are.
 *
 * NaN, Infinity and -Infinity are taken as values too, though they are no JSON: Python's json.dumps() writes them.
 *
 * If a member is given twice, the last one counts; names are compared after unescaping. Bytes of a string are not
 * changed, valid UTF-8 or not. A surrogate pair becomes its character, a surrogate outside of a pair becomes U+FFFD,
 * and \u0000 a zero byte.
 */
#ifndef LEAT_TOKENIZE_TOOLS_JSON_SCAN_H
#define LEAT_TOKENIZE_TOOLS_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json_string.h"
#include "json_paths.h"

#define JSON_RECORD_DEPTH 1024

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

/* The member of a path that was met last. */
struct json_place {
    enum json_kind kind;
    bool escaped;   /* a string holds escapes */
    uint64_t begin; /* of what stands between a string's quotes; of any other value's characters */
    uint64_t bytes; /* so far, while it is still open */
};

/* What became of a record. */
enum json_problem {
    JSON_FINE = 0,
    JSON_MALFORMED, /* no valid JSON */
    JSON_NO_OBJECT  /* valid JSON, and something else than an object */
};

struct json_scan {
    const struct json_kernels *kernels;
    const struct json_node *nodes; /* of the paths */
    struct json_place *places;     /* one per path */
    uint32_t place_count;
    uint64_t position; /* bytes fed */
    uint8_t state;     /* enum json_scan_state */
    uint8_t seen;      /* digits of \u, or letters of a word */
    bool is_name;      /* the string that is open is a member's name */
    bool escaped;      /* it has an escape */
    bool bad;
    bool has_nan; /* or an infinity */
    enum json_kind root;
    enum json_kind kind;                        /* of the value that is open, a string, number or word */
    uint64_t begin;                             /* of that value */
    uint32_t depth;                             /* of what is open */
    uint32_t on_way;                            /* so many of the outermost open objects lead to wanted members: */
    uint32_t way[JSON_PATH_NAMES];              /* their nodes */
    uint32_t role;                              /* the node of the next value; 0: it is not wanted */
    uint32_t held, held_depth;                  /* the place of an array or object that is open, and its depth, or 0 */
    size_t name_bytes;                          /* of `name`; more than it has room for: the name is longer */
    uint64_t is_object[JSON_RECORD_DEPTH / 64]; /* bit d: what is open at depth d + 1 */
    char name[JSON_RAW_NAME_BYTES]; /* of a member's name that does not lie in one chunk, what there is so far */
};

/* `places` has room for the places of `paths`; both must outlive the scan. */
void json_scan_begin(struct json_scan *scan, const struct json_paths *paths, struct json_place *places);

/* Returns false if the record is bad: all further bytes are ignored, and scan->position is that of the wrong byte. */
bool json_scan_feed(struct json_scan *scan, const char *bytes, size_t count);

/* After the last byte: what became of the record, with a sentence unless it is fine. *byte: where it is malformed, from
 * 1; its length and one more if it ends too early; else 0. */
enum json_problem json_scan_end(struct json_scan *scan, uint64_t *byte, struct leat_error *err);

/* Whether a whole value has been met; scan->position is then where something else begins, or that of all bytes fed. */
bool json_scan_is_whole(const struct json_scan *scan);

/* "a string", "null", ... for a sentence; of a word, the word. */
const char *json_scan_kind(enum json_kind kind);

/* The kind of a text that is one JSON value with nothing but white space around it; JSON_KIND_NONE: it is not. */
enum json_kind json_kind_of(const char *text, size_t bytes);

#endif
