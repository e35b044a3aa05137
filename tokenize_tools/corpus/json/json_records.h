/*
 * json_records.h: finds the layout of a JSON text, and the end of each record if records are not lines: in one array,
 * or one object after another. The text comes in chunks of any size. The search only knows brackets and strings.
 * json_scan.h checks whether a record is valid JSON, so a bad record is rejected as a bad line is, and the next one is
 * found.
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

/* Number of first bytes that show the layout of a text; the second one if the first line is longer. */
#define JSON_HEAD      ((size_t)4096)
#define JSON_LONG_HEAD ((size_t)256 << 10)

/*
 * Returns the layout of a text that begins with `head`. Sets *more if JSON_LONG_HEAD bytes are needed, or the whole
 * text if it is shorter.
 *
 * An array begins with [ and then { or ], white space aside; lines that are arrays of other values are lines. The
 * layout is objects if the first object, as far as it is there, is valid, and goes over the end of a line, or is
 * followed by another one on the only line. So lines of which one is broken stay lines.
 */
enum json_layout json_layout(const char *head, size_t bytes, bool *more);

struct json_records {
    uint64_t position; /* place of the next byte in the input */
    uint64_t record;   /* start of the last record that was met */
    uint8_t state;     /* enum state of json_records.c */
    bool array;        /* true if records lie in an array */
    uint64_t depth;    /* number of brackets that are open in the record */
    uint64_t is_object[JSON_RECORD_DEPTH / 64];
};

enum json_records_found {
    JSON_RECORDS_MORE,   /* all bytes were taken */
    JSON_RECORDS_RECORD, /* a record ends there: [record, position) */
    JSON_RECORDS_BROKEN  /* the byte at `position` is wrong; no record follows */
};

/* Begins at the start of an input of this layout, which is not lines; or, if `offset` is not 0, right after a record
 * that ended there. */
void json_records_begin(struct json_records *r, enum json_layout layout, uint64_t offset);

/* Takes bytes, the first of which is at r->position, up to the end of a record. */
enum json_records_found json_records_next(struct json_records *r, const char *bytes, size_t count);

/* Returns true if a record has begun and not ended. */
bool json_records_in_record(const struct json_records *r);

/* Returns true if the input may end here. */
bool json_records_may_end(const struct json_records *r);

/* Returns what should come next, for messages: "a comma or ]". */
const char *json_records_expected(const struct json_records *r);

#endif
