/*
 * csv_header.h: the header of a table in text, which is its first record. It says where in each record the fields are
 * that a run wants. Each wanted field must have a column, except tools and an id that may be missing; its name is the
 * column's whole name, with any dots.
 */
#ifndef LEAT_TOKENIZE_TOOLS_CSV_HEADER_H
#define LEAT_TOKENIZE_TOOLS_CSV_HEADER_H

#include "corpus/record/record.h"
#include "csv_records.h"

struct csv_header;

/*
 * Reads the header in the first bytes of a table, where a byte order mark may be; `ended` says that these are all
 * bytes. On success the caller frees *out by csv_header_free(); *out is NULL if the bytes hold no whole record.
 * `fields` must outlive it. Returns LEAT_E_NOT_FOUND, with a list of the columns, if one is missing. Returns
 * LEAT_E_UNSUPPORTED if two columns have the name of a wanted field, or the header is broken.
 */
enum leat_status csv_header_read(struct csv_header **out, const struct record_fields *fields, const char *name,
                                 char delimiter, const char *head, size_t bytes, bool ended, struct leat_error *err);
void csv_header_free(struct csv_header *header); /* NULL is fine */

/* Returns the place in the input at which the header begins; the record there is no document. */
uint64_t csv_header_at(const struct csv_header *header);

/*
 * Finds the values of a record, with or without the end of its line, by r->header. They are strings that lie in the
 * record; doubled quotes become single ones there, so the record is changed. Lists of messages and spans are strings of
 * JSON. An empty field counts as missing if a condition asks whether it exists. Returns LEAT_E_TEXT with r->problem if
 * the record is broken, or has more or fewer fields than the header.
 */
enum leat_status csv_read(struct record *r, const char *record, size_t bytes, struct leat_error *err);

#endif
