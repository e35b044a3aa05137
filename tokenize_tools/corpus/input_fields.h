/*
 * input_fields.h: whether the records of JSON have the fields that a run needs: the first ones of its inputs are looked
 * at, so that a wrong name is found out before any work, with the names that there are. A record that lacks a field
 * among others that have it is for the run to reject.
 */
#ifndef LEAT_TOKENIZE_TOOLS_INPUT_FIELDS_H
#define LEAT_TOKENIZE_TOOLS_INPUT_FIELDS_H

#include "record/judge.h"
#include "json/json_members.h"
#include "json/json_records.h"

#define FIELD_RECORDS 100 /* of an input are looked at, at most */

/* What was found so far; to be freed. */
struct field_search {
    const struct record_judges *judges;           /* only records that they do not keep out count */
    struct record record;                         /* with the fields of the run */
    const struct record_want *wants[RECORD_USES]; /* that are looked for, by what they are for */
    struct field_met {
        bool any;            /* a record has it */
        enum json_kind kind; /* of the object or array that one has where there should be one value; NONE: none has */
    } met[RECORD_USES];
    uint64_t records, inputs; /* looked at; with records */
    const char *path;         /* of one of them */
    uint64_t path_records;
    struct json_members members; /* of its records */
};

enum leat_status field_search_begin(struct field_search *f, const struct record_fields *fields,
                                    const struct record_judges *judges, struct leat_error *err);
void field_search_free(struct field_search *f);

/* Looks at the first records of an input, whose text begins with `head`; `ended`: and ends with it. LEAT_E_NOT_FOUND,
 * or LEAT_E_UNSUPPORTED for what is no text, if all of them lack a field that is needed, and are FIELD_RECORDS. Without
 * a whole record there is nothing to be said. */
enum leat_status field_search_add(struct field_search *f, const char *path, const char *head, size_t bytes, bool ended,
                                  struct leat_error *err);

/* The same, if no record has a field, and they are FIELD_RECORDS, or no others matter (`all`). */
enum leat_status field_search_end(struct field_search *f, bool all, struct leat_error *err);

/* Writes the name of a field that the first records of JSON have, kept out or not, and that is near to `path`; "" if
 * there is none. */
struct input_list;
struct input_stop;
void inputs_nearest_field(const struct input_list *list, const struct record_fields *fields, const char *path,
                          const struct input_stop *stop, char nearest[JSON_MEMBER_NAME]);

#endif
