/*
 * json_scan.h: the only scanner of JSON records. It is fed chunks of any size and keeps none of them: it checks the
 * grammar once from end to end (RFC 8259, nested up to JSON_RECORD_DEPTH deep) and notes the places of wanted members.
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

/* length of an escaped name, each byte of which may take six */
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

/* The last member of a path that was met. */
struct json_place {
    enum json_kind kind;
    bool escaped;   /* true if a string holds escapes */
    uint64_t begin; /* start of the value; of a string, the place after its quote */
    uint64_t bytes; /* length of the value, without quotes; the length so far while it is open */
};

/* The result of a scan. */
enum json_problem {
    JSON_FINE = 0,
    JSON_MALFORMED, /* invalid JSON */
    JSON_NO_OBJECT  /* valid JSON, but no object */
};

struct json_scan {
    const struct json_kernels *kernels;
    const struct json_node *nodes; /* nodes of the paths */
    struct json_place *places;     /* one per path */
    uint64_t position;             /* bytes fed */
    uint8_t state;                 /* enum json_scan_state */
    uint8_t seen;                  /* digits of \u, or letters of a word, so far */
    bool is_name;                  /* true if the open string is a member's name */
    bool escaped;                  /* true if the open string has an escape */
    bool bad;
    bool has_nan; /* true if a value is NaN or an infinity */
    enum json_kind root;
    enum json_kind kind;                        /* kind of the open string, number or word */
    uint64_t begin;                             /* start of the open string, number or word */
    uint32_t depth;                             /* number of open arrays and objects */
    uint32_t on_way;                            /* number of the outermost open objects that lead to wanted members */
    uint32_t way[JSON_PATH_NAMES];              /* nodes of these objects */
    uint32_t role;                              /* node of the next value; 0 if it is not wanted */
    uint32_t held, held_depth;                  /* place and depth of an open array or object that is wanted, or 0 */
    size_t name_bytes;                          /* length of `name`; greater than its size if the name is longer */
    uint64_t is_object[JSON_RECORD_DEPTH / 64]; /* bit d: an object, not an array, is open at depth d + 1 */
    char name[JSON_RAW_NAME_BYTES];             /* start of a member's name that is cut by the end of a chunk */
};

/* Begins a scan. `places` has room for the places of `paths`; both must outlive the scan. */
void json_scan_begin(struct json_scan *scan, const struct json_paths *paths, struct json_place *places);

/* Returns false if the record is bad: all further bytes are ignored, and scan->position is that of the wrong byte. */
bool json_scan_feed(struct json_scan *scan, const char *bytes, size_t count);

/* Ends the scan after the last byte, and fills the error unless the record is fine. Sets *byte to the place, counted
 * from 1, of the first wrong byte; to the record's length plus 1 if it ends too early; otherwise to 0. */
enum json_problem json_scan_end(struct json_scan *scan, uint64_t *byte, struct leat_error *err);

/* Returns true if a whole value has been met. scan->position is then the place of the byte after it and its white
 * space, or that of all bytes fed. */
bool json_scan_is_whole(const struct json_scan *scan);

/* Names a kind in a sentence: "a string", "null", ... */
const char *json_scan_kind(enum json_kind kind);

/* Returns the kind of a text that is one JSON value with only white space around it; otherwise JSON_KIND_NONE. */
enum json_kind json_kind_of(const char *text, size_t bytes);

#endif
