/*
 * csv_header.h: what the header of a table in text says, its first record: where in each record the fields are that a
 * run wants; and how a record is read by it. A field that is wanted must have a column, but for an id that need not be
 * there, and tools; it is called as the column is, dots and all.
 */
#ifndef LEAT_TOKENIZE_TOOLS_CSV_HEADER_H
#define LEAT_TOKENIZE_TOOLS_CSV_HEADER_H

#include "corpus/record/record.h"
#include "csv_records.h"

struct csv_header;

/*
 * Reads the header in the first bytes of a table, where a byte order mark may be; `ended`: it has no more. On success
 * *out is the caller's until csv_header_free(), or NULL, where these hold no whole record. `fields` must outlive it.
 * LEAT_E_NOT_FOUND, with the columns that there are: one is missing. LEAT_E_UNSUPPORTED: two are called
 * like one that is wanted, or the header is broken.
 */
enum leat_status csv_header_read(struct csv_header **out, const struct record_fields *fields, const char *name,
                                 char delimiter, const char *head, size_t bytes, bool ended, struct leat_error *err);
void csv_header_free(struct csv_header *header); /* NULL is fine */

/* Where the header begins in the input; a record at this place is the header, not a document. */
uint64_t csv_header_at(const struct csv_header *header);

/*
 * Finds the values of a record, with the end of its line or without, by r->header. They are strings, where they stand:
 * doubled quotes become single ones there, whatever `record` says. Lists of messages and spans are JSON within. An
 * empty field counts as missing where a condition asks whether it exists. LEAT_E_TEXT with r->problem: the record is
 * broken, or has more or fewer fields than the header.
 */
enum leat_status csv_read(struct record *r, const char *record, size_t bytes, struct leat_error *err);

#endif
