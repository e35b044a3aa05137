/*
 * input_fields.h: looks at the first records of JSON for the fields that a run needs, so that a wrong name is found
 * before any work, and the error lists the names that exist. The run itself rejects a record that lacks a field if
 * other records have it.
 */
#ifndef LEAT_TOKENIZE_TOOLS_INPUT_FIELDS_H
#define LEAT_TOKENIZE_TOOLS_INPUT_FIELDS_H

#include "record/judge.h"
#include "json/json_members.h"
#include "json/json_records.h"

#define FIELD_RECORDS 100 /* most records of an input that are looked at */

/* The fields that were found in records so far. */
struct field_search {
    const struct record_judges *judges;           /* conditions: records that they keep out do not count */
    struct record record;                         /* a record with the fields of the run */
    const struct record_want *wants[RECORD_USES]; /* the fields that are searched, by their use */
    struct field_met {
        bool any;            /* true if a record has it */
        enum json_kind kind; /* kind of an object or array in place of a value, if a record has one; else NONE */
    } met[RECORD_USES];
    uint64_t records; /* records that were looked at */
    uint64_t inputs;  /* inputs with records */
    const char *path; /* path of one of these inputs */
    uint64_t path_records;
    struct json_members members; /* members of the records of that input */
};

enum leat_status field_search_begin(struct field_search *f, const struct record_fields *fields,
                                    const struct record_judges *judges, struct leat_error *err);
void field_search_free(struct field_search *f);

/* Looks at the first records of an input, whose text begins with `head`, and ends with it if `ended`. If all of its
 * first FIELD_RECORDS lack a needed field, returns LEAT_E_NOT_FOUND, or LEAT_E_UNSUPPORTED if the field is no text. */
enum leat_status field_search_add(struct field_search *f, const char *path, const char *head, size_t bytes, bool ended,
                                  struct leat_error *err);

/* Fails as field_search_add() does if no record of any input has a needed field, and FIELD_RECORDS were looked at, or
 * all that matter (`all`). */
enum leat_status field_search_end(struct field_search *f, bool all, struct leat_error *err);

/* Writes the name of a field of the first records of JSON that is similar to `path`, or "". Records that are kept out
 * count, too. */
struct input_list;
struct input_stop;
void inputs_nearest_field(const struct input_list *list, const struct record_fields *fields, const char *path,
                          const struct input_stop *stop, char nearest[JSON_MEMBER_NAME]);

#endif
