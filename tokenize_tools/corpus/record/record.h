/*
 * record.h: a record of an input, whatever its format: the values of the fields that a run wants, found in one pass.
 *
 * A run says once which fields it wants, and what for (record_want()). Each format fills a struct record: of JSON, the
 * places in the record, found by one scan; of a row of a table, the bytes of its columns. What judges a record
 * (judge.h) and what takes its text, id or conversation knows no format.
 *
 * What may enter this room: a field that a run can want of a record; what judges records, a row each in judges.c. Where
 * records come from, and what is done with them, is not known here.
 */
#ifndef LEAT_TOKENIZE_TOOLS_RECORD_H
#define LEAT_TOKENIZE_TOOLS_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "corpus/json/json_scan.h"

#define RECORD_ID_BYTES  ((size_t)64 << 10) /* of an id, at most */
#define RECORD_RAW_BYTES 6u                 /* of JSON for each of a string's, at most: an escape */
#define RECORD_NONE      UINT32_MAX         /* no field */

/* ---- What a run wants -------------------------------------------------------------------------------------------- */

/* What a field is for: it decides which types a column may have, and what is said of a field that is missing. */
enum record_use {
    RECORD_TEXT,
    RECORD_MESSAGES, /* a conversation: an array; of a column, JSON */
    RECORD_SPANS,    /* which stretches of the text are learned: an array; of a column, JSON */
    RECORD_BY,       /* the value that chooses a dataset */
    RECORD_ID,
    RECORD_TOOLS,  /* an array, or a string that holds one as JSON */
    RECORD_VALUE,  /* to be compared */
    RECORD_EXISTS, /* whether it is there */
    RECORD_USES
};

struct record_want {
    const char *path;
    enum record_use use;
    bool needed;    /* a table must have this column */
    size_t most;    /* so many bytes of its value decide, as they stand in JSON; SIZE_MAX: all */
    uint32_t place; /* of JSON: among those of the paths */
};

/* The hint of an error about a missing field, by what it is for. */
extern const enum leat_hint record_hints[RECORD_USES];

/* All zero at first; constant once all fields are wanted: any number of threads may use it. */
struct record_fields {
    struct record_want *wants;
    size_t count, room;
    struct json_paths paths;
    uint32_t text, id, tools; /* the numbers of these, by record_want_texts(), or RECORD_NONE; text: or messages */
};

/* Wants a field, whose path must outlive *fields, and gives its number: that of an equal want if there is one.
 * LEAT_E_ARGUMENT: its path has too many or too long names. */
enum leat_status record_want(struct record_fields *fields, const struct record_want *want, uint32_t *number,
                             struct leat_error *err);

/* Wants the text, and the id (NULL: none; one that is called "id" need not be there). */
enum leat_status record_want_texts(struct record_fields *fields, const char *text, const char *id,
                                   struct leat_error *err);
enum leat_status record_want_id(struct record_fields *fields, const char *id, struct leat_error *err);
void record_fields_free(struct record_fields *fields);

/* ---- A record ---------------------------------------------------------------------------------------------------- */

struct record_value {
    enum json_kind kind;   /* JSON_KIND_NONE: the record has no such field */
    bool escaped;          /* a string of JSON with escapes, which `at` still has */
    bool untyped;          /* a string of a table in text: a number, where one is compared with */
    uint64_t begin, bytes; /* in a record of JSON; of a string, what stands between its quotes */
    const char *at;        /* NULL: not in memory */
    size_t held;           /* so many of its bytes are at `at`: all, unless the record is too big for memory */
};

enum record_problem {
    RECORD_FINE = JSON_FINE,
    RECORD_MALFORMED = JSON_MALFORMED, /* no valid JSON */
    RECORD_NO_OBJECT = JSON_NO_OBJECT, /* valid JSON, and something else than an object */
    RECORD_NO_FIELD,                   /* it has no text */
    RECORD_NO_STRING,                  /* its text is something else than a string */
    RECORD_ID_TOO_LONG                 /* longer than RECORD_ID_BYTES */
};

struct csv_header;

struct record {
    const struct record_fields *fields;
    const struct csv_header *header; /* of the input that it is from, if that is a table in text */
    struct record_value *values;     /* by the numbers of wants */
    struct json_place *places;
    struct json_scan scan;
    enum record_problem problem;
    uint64_t byte; /* of RECORD_MALFORMED: where, from 1; the length and one more if the record ends too early */
    bool has_nan;  /* a member is NaN, Infinity or -Infinity: not JSON, but written by Python's json.dumps() */
};

/* For any number of records, one after another. `fields` must outlive it. record_free() also after a failure. */
enum leat_status record_make(struct record *r, const struct record_fields *fields, struct leat_error *err);
void record_free(struct record *r); /* one that is all zero is fine */

/* Finds the values of a record of JSON: one value, with nothing but white space around it. They are at their places in
 * `json`. LEAT_E_TEXT with r->problem: it is no valid object. */
enum leat_status record_read(struct record *r, const char *json, size_t bytes, struct leat_error *err);

/* The same for a record that comes in chunks: its values have no bytes. record_feed() returns false if it is bad, and
 * the rest of it need not come. */
void record_begin(struct record *r);
bool record_feed(struct record *r, const char *bytes, size_t count);
enum leat_status record_end(struct record *r, struct leat_error *err);

/* How many bytes of a value are needed to judge the record; and these bytes, which must stay. */
size_t record_needs(const struct record *r, uint32_t want);
void record_hold(struct record *r, uint32_t want, const char *at, size_t held);

/* Gives a row a value, of its kind, as it is; bytes NULL: null. A row begins with no values. */
void record_begin_row(struct record *r);
void record_put(struct record *r, uint32_t want, enum json_kind kind, const void *bytes, size_t count);

/* The same for a column of JSON, whose kind is looked for: what is not JSON is a string. */
void record_put_json(struct record *r, uint32_t want, const void *bytes, size_t count);

/* The value of a field that is wanted; or, of RECORD_NONE, of one that the record lacks. */
const struct record_value *record_value(const struct record *r, uint32_t want);

/* Whether it has a text, and an id that is not too long: else LEAT_E_TEXT with r->problem. */
enum leat_status record_check(struct record *r, struct leat_error *err);

/* Unescapes the text of a record that was found fine where it stands, in memory that may be written; returns it. */
char *record_take_text(struct record *r, size_t *bytes);

/* The same with the id, after the text: a string, or the characters of a number. NULL: it has neither. */
const char *record_take_id(struct record *r, size_t *bytes);

#endif
