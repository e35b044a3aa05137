/*
 * csv_records.h: finds where records end in a table of delimited text: CSV (RFC 4180) with commas or tabs. The text
 * comes in chunks of any size, none of which is kept.
 *
 * The rules are those of Python's csv.reader(file, delimiter=..., strict=True), whose next row after an error begins
 * with the next line: fields are separated by the delimiter, records by LF, CR or CRLF. A field that begins with " ends
 * with the next " that is not doubled; other characters in it stand for themselves. A " anywhere else in a field is a
 * character. A line without any character is no record. A quote that ends a field must be followed by a delimiter or
 * the end of the line; otherwise the record is broken, and ends with that line.
 *
 * A quote that does not end within CSV_MAX_BYTES is taken for a stray one: the record ends with its line and is
 * rejected, and the next record begins after that line. So a stray quote costs one record, not the file.
 *
 * This room reads delimited text and nothing else. What may enter: code that knows its syntax, or its header.
 */
#ifndef LEAT_TOKENIZE_TOOLS_CSV_RECORDS_H
#define LEAT_TOKENIZE_TOOLS_CSV_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/tiny.h"

/* Limit of the bytes of a quoted field, and of a record that can be read, whatever the bound on memory. */
#define CSV_MAX_BYTES TINY_OR(32768, (uint64_t)4 << 20)
#define CSV_MAX_NAME  "4 MiB"

struct csv_records {
    uint64_t position; /* place of the next byte in the input */
    uint64_t record;   /* start of the last record that was met */
    uint64_t quote;    /* start of the last quoted field that was met */
    char delimiter;
    uint8_t state; /* enum state of csv_records.c */
};

enum csv_found {
    CSV_MORE,    /* all bytes were taken */
    CSV_RECORD,  /* a record ends there, with its line: [record, position) */
    CSV_UNCLOSED /* the quote at `quote` does not end: csv_records_begin() goes on after its line */
};

/* Begins at the start of an input, after its byte order mark; or right after a record that ended at `offset`. */
void csv_records_begin(struct csv_records *r, char delimiter, uint64_t offset);

/* Takes bytes, the first of which is at r->position, up to the end of a record. */
enum csv_found csv_records_next(struct csv_records *r, const char *bytes, size_t count);

/* Lets the record that has begun end with this line, whatever the line holds. */
void csv_records_break(struct csv_records *r);

/* Returns true if a record has begun and not ended. */
bool csv_records_in_record(const struct csv_records *r);

/* Returns true if a quoted field has begun and not ended. */
bool csv_records_in_quotes(const struct csv_records *r);

/* Returns the length of the first line of `text`, with its end; `bytes` if the line does not end there. */
size_t csv_line(const char *text, size_t bytes);

#endif
