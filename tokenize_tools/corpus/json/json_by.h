/*
 * json_by.h: the value of a record's field that decides which dataset the record goes to. A string is its characters,
 * unescaped; a number, true and false are their JSON as it stands, so that 1 and "1" are one value, 1 and 1.0 are two.
 */
#ifndef LEAT_TOKENIZE_TOOLS_JSON_BY_H
#define LEAT_TOKENIZE_TOOLS_JSON_BY_H

#include <stddef.h>

#include "json_scan.h"

#define JSON_BY_BYTES ((size_t)1024)      /* of a value, at most */
#define JSON_BY_RAW   (6 * JSON_BY_BYTES) /* each of which may be escaped with six */

struct json_by {
    size_t bytes;
    char value[JSON_BY_RAW];
};

/* Finds the value of `field`, which was prepared as the text's, in a whole record. LEAT_E_TEXT with the reason: the
 * record is to be rejected. The value of what is no valid object is empty: that is rejected anyway. */
enum leat_status json_by_find(struct json_by *by, const struct json_fields *field, const char *record, size_t bytes,
                              struct leat_error *err);

/* The same of a record that was scanned in chunks: first whether the place can hold a value, then the value, of the
 * place's bytes. */
enum leat_status json_by_check(const struct json_fields *field, const struct json_place *place, struct leat_error *err);
enum leat_status json_by_take(struct json_by *by, const struct json_fields *field, const struct json_place *place,
                              const char *bytes, struct leat_error *err);

/* LEAT_E_TEXT for a value that cannot name a dataset, wherever it comes from. */
enum leat_status json_by_judge(const char *field, const void *value, size_t bytes, struct leat_error *err);

#endif
