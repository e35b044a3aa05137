/*
 * json_records.h: how records lie in a JSON text, and where each ends if they do not lie in lines: in one array, or one
 * object after another. The text comes in chunks of any size. The search only looks where each record ends: brackets
 * that fit, and strings. Whether a record is valid JSON is for json_scan.h to say, so that a bad one
 * is rejected as a bad line is, and the next one is found.
 */
#ifndef LEAT_TOKENIZE_TOOLS_JSON_RECORDS_H
#define LEAT_TOKENIZE_TOOLS_JSON_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json_scan.h"

enum json_layout {
    JSON_LINES,  /* a record per line */
    JSON_ARRAY,  /* one array, whose elements are the records */
    JSON_OBJECTS /* one object after another, over several lines or several on one */
};

/* So many first bytes of a text tell its layout; if they are all of one line, so many. */
#define JSON_HEAD      ((size_t)4096)
#define JSON_LONG_HEAD ((size_t)256 << 10)

/*
 * The layout of a text that begins so; *more: JSON_LONG_HEAD bytes are needed, if there are as many.
 *
 * An array begins with [ and then { or ], white space aside; lines that are arrays of something else are lines. Objects
 * are told by the first one, if it is valid as far as these bytes go: it goes over the end of a line, or another one
 * follows it on the only line. So lines of which one is broken stay lines.
 */
enum json_layout json_layout(const char *head, size_t bytes, bool *more);

struct json_records {
    uint64_t position; /* of the next byte in the input */
    uint64_t record;   /* where the record begins that was met last */
    uint8_t state;     /* enum state of json_records.c */
    bool array;        /* they lie in an array */
    uint64_t depth;    /* of what is open in the record */
    uint64_t is_object[JSON_RECORD_DEPTH / 64];
};

enum json_records_found {
    JSON_RECORDS_MORE,   /* all bytes were taken */
    JSON_RECORDS_RECORD, /* a record ends there: [record, position) */
    JSON_RECORDS_BROKEN  /* the byte at `position` cannot stand there; there is nothing after it */
};

/* Begins at the start of an input of this layout, which is not lines; or, if `offset` is not 0, right after a record
 * that ended there. */
void json_records_begin(struct json_records *r, enum json_layout layout, uint64_t offset);

/* Takes bytes, the first of which is at r->position, up to the end of a record. */
enum json_records_found json_records_next(struct json_records *r, const char *bytes, size_t count);

/* Whether a record has begun, and not ended; and whether the input may end there. */
bool json_records_in_record(const struct json_records *r);
bool json_records_may_end(const struct json_records *r);

/* What should come next: "a comma or ]". */
const char *json_records_expected(const struct json_records *r);

#endif
