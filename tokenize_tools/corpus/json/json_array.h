/*
 * json_array.h: finds the records of a file that is one JSON array, in a text that comes in chunks of any size. It only
 * looks where each record ends: brackets that fit, and strings. Whether a record is valid JSON is for json_fields.h and
 * json_push.h to say, so that a bad one is rejected as a bad line is, and the next one is found.
 */
#ifndef LEAT_TOKENIZE_TOOLS_JSON_ARRAY_H
#define LEAT_TOKENIZE_TOOLS_JSON_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json_fields.h"

#define JSON_ARRAY_HEAD ((size_t)4096) /* how many first bytes tell whether a file is an array */

struct json_array {
    uint64_t position; /* of the next byte in the input */
    uint64_t record;   /* where the record begins that was met last */
    uint8_t state;     /* enum state of json_array.c */
    uint64_t depth;    /* of what is open in the record */
    uint64_t is_object[JSON_RECORD_DEPTH / 64];
};

enum json_array_found {
    JSON_ARRAY_MORE,   /* all bytes were taken */
    JSON_ARRAY_RECORD, /* a record ends there: [record, position) */
    JSON_ARRAY_BROKEN  /* the byte at `position` cannot stand there; there is nothing after it */
};

/* Whether a file is an array of objects: it begins with [ and then { or ], with white space around. Lines of JSON that
 * are arrays of something else are no such file. */
bool json_array_begins(const char *head, size_t bytes);

/* Begins at the start of the input; or, if `offset` is not 0, right after a record that ended there. */
void json_array_begin(struct json_array *a, uint64_t offset);

/* Takes bytes, the first of which is at a->position, up to the end of a record. */
enum json_array_found json_array_next(struct json_array *a, const char *bytes, size_t count);

/* Whether a record has begun, and not ended; and whether the array has ended. */
bool json_array_in_record(const struct json_array *a);
bool json_array_ended(const struct json_array *a);

/* What should come next: "a comma or ]". */
const char *json_array_expected(const struct json_array *a);

#endif
