/*
 * json_fields.h: finds the text and the id of a record of JSON lines, and builds nothing: the line is checked once
 * from end to end (RFC 8259, nested up to JSON_RECORD_DEPTH deep), then the two strings are unescaped in place.
 * json_push.h does the same for records that come in chunks.
 *
 * NaN, Infinity and -Infinity are taken as values too, though they are no JSON: Python's json.dumps() writes them.
 *
 * If a member is given twice, the last one counts; names are compared after unescaping. Bytes of a string are not
 * changed, valid UTF-8 or not. A surrogate pair becomes its character, a surrogate outside of a pair becomes U+FFFD,
 * and \u0000 a zero byte.
 *
 * This room reads JSON records and nothing else: one scanner (json_scan) for lines and for chunks, and kernels per CPU
 * level for its hot loops. What may enter: what knows JSON. Where records come from, and what is done with the text,
 * is not known here.
 */
#ifndef LEAT_TOKENIZE_TOOLS_JSON_FIELDS_H
#define LEAT_TOKENIZE_TOOLS_JSON_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json_kernels.h"
#include "leat.h"

#define JSON_RECORD_DEPTH 1024
#define JSON_PATH_NAMES   32   /* names in a path at most */
#define JSON_NAME_BYTES   255u /* bytes of one at most */
#define JSON_ID_BYTES     ((size_t)64 << 10)

/* The field to find: a member's name, or the names that lead to it, joined by dots: "meta.text" is the member "text" of
 * the member "meta". */
struct json_path {
    const char *all; /* as given */
    unsigned names;
    const char *name[JSON_PATH_NAMES]; /* within `all`, each up to a dot or the end */
    uint8_t name_bytes[JSON_PATH_NAMES];
};

/* Prepared once, then constant: any number of threads may use it. */
struct json_fields {
    const struct json_kernels *kernels;
    struct json_path path[2]; /* of the text; of the id, with no names if none is wanted */
};

/* The outcome for a record. */
enum json_problem {
    JSON_FINE = 0,
    JSON_MALFORMED,  /* no valid JSON */
    JSON_NO_OBJECT,  /* valid JSON, and something else than an object */
    JSON_NO_FIELD,   /* no such member */
    JSON_NO_STRING,  /* the member is something else than a string */
    JSON_ID_TOO_LONG /* longer than JSON_ID_BYTES */
};

struct json_found {
    enum json_problem problem;
    uint64_t byte; /* of JSON_MALFORMED: where, from 1; the length and one more if the record ends too early */
    char *text;
    size_t text_bytes;
    const char *id; /* a string, unescaped, or a number's characters as they stand; NULL: neither is there */
    size_t id_bytes;
    bool has_nan; /* a member is NaN, Infinity or -Infinity: not JSON, but written by Python's json.dumps() */
};

/* Prepares the paths `text` and `id` (NULL: no id), which must outlive *fields. LEAT_E_ARGUMENT if one has too many or
 * too long names. */
enum leat_status json_fields_prepare(struct json_fields *fields, const char *text, const char *id,
                                     struct leat_error *err);

/*
 * Finds text and id of the record that `line` holds: one value, with nothing but white space around it. What is found
 * points into the line, of which only the bytes of these strings are overwritten, and nothing if it fails. LEAT_E_TEXT,
 * with found->problem and a sentence that names the byte (from 1) if there is one, for anything else.
 */
enum leat_status json_fields_find(const struct json_fields *fields, char *line, size_t bytes, struct json_found *found,
                                  struct leat_error *err);

#endif
