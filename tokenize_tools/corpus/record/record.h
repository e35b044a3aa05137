/*
 * record.h: a record of an input, whatever its format: the values of the fields that a run wants, found in one pass.
 *
 * A run says once which fields it wants, and what for (record_want()). Each format fills a struct record: for JSON,
 * with places in the record that one scan finds; for a row of a table, with the bytes of its columns. Judges (judge.h),
 * and code that takes a text, id or conversation, know no format.
 *
 * What may enter this room: a field that a run can want of a record; a judge of records, as a row in judges.c. The room
 * does not know where records come from, or what is done with them.
 */
#ifndef LEAT_TOKENIZE_TOOLS_RECORD_H
#define LEAT_TOKENIZE_TOOLS_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "corpus/json/json_scan.h"

#define RECORD_ID_BYTES  ((size_t)64 << 10) /* the most bytes of an id */
#define RECORD_RAW_BYTES 6u                 /* the most bytes of JSON for one byte of a string: an escape */
#define RECORD_NONE      UINT32_MAX         /* no field */

/* ---- Wanted fields ----------------------------------------------------------------------------------------------- */

/* The use of a field decides which types a column may have, and what messages say of a missing field. */
enum record_use {
    RECORD_TEXT,
    RECORD_MESSAGES, /* a conversation: an array; in a column, JSON */
    RECORD_COMPLETION,
    RECORD_PROMPT,
    RECORD_CONTEXT, /* a further text of a prompt, which may be missing or empty */
    RECORD_SPANS,   /* stretches of the text to learn: an array; in a column, JSON */
    RECORD_TOOLS,   /* an array, or a string that holds one as JSON */
    RECORD_BY,      /* the value that chooses a dataset; from here on, values are short */
    RECORD_ID,
    RECORD_VALUE,  /* a value that a condition compares, or a weight */
    RECORD_EXISTS, /* a field that a condition asks for */
    RECORD_NUMBER, /* a value for a column, exactly; the next are a list of them, in a column JSON, and a text */
    RECORD_NUMBERS,
    RECORD_CATEGORY,
    RECORD_USES
};

struct record_want {
    const char *path;
    enum record_use use;
    bool needed;    /* true if a table must have this column */
    bool list;      /* true if it is a list of messages; in a column, JSON */
    size_t most;    /* the first bytes of its value that decide, as in JSON; SIZE_MAX: all */
    uint32_t place; /* number of its path in JSON */
};

/* The hints of errors about missing fields, by the use of a field. */
extern const enum leat_hint record_hints[RECORD_USES];

/* The wanted fields, zeroed at first; constant once all are wanted, so any number of threads may use it. */
struct record_fields {
    struct record_want *wants;
    size_t count, room;
    struct json_paths paths;
    uint32_t text, id, tools; /* numbers of the text or messages, the id and the tools, or RECORD_NONE */
    uint32_t prompt, context; /* of pairs, whose completion is the text */
};

/* Wants a field, whose path must outlive *fields, and sets *number to its number: that of an equal want, or a new one.
 * Returns LEAT_E_ARGUMENT if its path has too many or too long names. */
enum leat_status record_want(struct record_fields *fields, const struct record_want *want, uint32_t *number,
                             struct leat_error *err);

/* Wants the text, and the id (or NULL); a field that is called "id" may be missing. */
enum leat_status record_want_texts(struct record_fields *fields, const char *text, const char *id,
                                   struct leat_error *err);
enum leat_status record_want_id(struct record_fields *fields, const char *id, struct leat_error *err);
void record_fields_free(struct record_fields *fields);

/* ---- A record ---------------------------------------------------------------------------------------------------- */

struct record_value {
    enum json_kind kind;   /* JSON_KIND_NONE if the record has no such field */
    bool escaped;          /* true for a string of JSON with escapes, which are still in `at` */
    bool untyped;          /* true for a string of a table in text, which is a number if it is compared with one */
    uint64_t begin, bytes; /* place and length in a record of JSON; those of a string do not count its quotes */
    const char *at;        /* bytes of the value; NULL if it is not in memory */
    size_t held;           /* number of its bytes at `at`: all, unless the record is too big for memory */
};

enum record_problem {
    RECORD_FINE = JSON_FINE,
    RECORD_MALFORMED = JSON_MALFORMED, /* the record is invalid JSON */
    RECORD_NO_OBJECT = JSON_NO_OBJECT, /* the record is valid JSON, but no object */
    RECORD_NO_FIELD,                   /* the text is missing */
    RECORD_NO_STRING,                  /* the text is no string */
    RECORD_ID_TOO_LONG                 /* the id is longer than RECORD_ID_BYTES */
};

struct csv_header;

struct record {
    const struct record_fields *fields;
    const struct csv_header *header; /* header of its input, if that is a table in text */
    struct record_value *values;     /* values by the numbers of wants */
    struct json_place *places;
    struct json_scan scan;
    enum record_problem problem;
    bool joined;   /* true if the text holds the prompt of the pair already */
    uint64_t byte; /* number of the wrong byte if RECORD_MALFORMED, from 1; the length plus 1 if the record ends too
                      early */
    bool has_nan;  /* true if a member is NaN, Infinity or -Infinity: not JSON, but written by Python's json.dumps() */
};

/* Makes room for any number of records, one after another. `fields` must outlive it. record_free() must follow, on
 * failure too. */
enum leat_status record_make(struct record *r, const struct record_fields *fields, struct leat_error *err);
void record_free(struct record *r); /* a zeroed struct is fine */

/* Finds the values of a record of JSON: one value with only white space around it. They lie in `json`. Returns
 * LEAT_E_TEXT with r->problem if it is no valid object. */
enum leat_status record_read(struct record *r, const char *json, size_t bytes, struct leat_error *err);

/* Find the values of a record that comes in chunks. The values have places, but no bytes. record_feed() returns false
 * if the record is bad; the rest of it need not come. */
void record_begin(struct record *r);
bool record_feed(struct record *r, const char *bytes, size_t count);
enum leat_status record_end(struct record *r, struct leat_error *err);

/* Returns how many bytes of a value are needed to judge the record. */
size_t record_needs(const struct record *r, uint32_t want);

/* Gives a value its first bytes, which must stay. */
void record_hold(struct record *r, uint32_t want, const char *at, size_t held);

/* Begins a row, without values. */
void record_begin_row(struct record *r);

/* Gives the row a value of this kind; `bytes` NULL means null. */
void record_put(struct record *r, uint32_t want, enum json_kind kind, const void *bytes, size_t count);

/* Gives the row a value of JSON, whose kind is found out; if it is not JSON, it is a string. */
void record_put_json(struct record *r, uint32_t want, const void *bytes, size_t count);

/* Returns the value of a wanted field; for RECORD_NONE, a value that is missing. */
const struct record_value *record_value(const struct record *r, uint32_t want);

/* Returns LEAT_E_TEXT with r->problem unless the record has a text, or both of a pair, and its id is not too long. */
enum leat_status record_check(struct record *r, struct leat_error *err);

/* Unescapes the text of a record that was checked, in place, in memory that may be written; returns it. */
char *record_take_text(struct record *r, size_t *bytes);

/* Unescapes the id in place, after the text was taken. Returns a string, or the characters of a number; NULL if the
 * record has neither. */
const char *record_take_id(struct record *r, size_t *bytes);

#endif
