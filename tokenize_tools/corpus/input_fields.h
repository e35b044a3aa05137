/*
 * input_fields.h: whether the records of JSON have the fields that a run needs: the first ones of its inputs are looked
 * at, so that a wrong name is found out before any work, with the names that there are. A record that lacks a field
 * among others that have it is for the run to reject.
 */
#ifndef LEAT_TOKENIZE_TOOLS_INPUT_FIELDS_H
#define LEAT_TOKENIZE_TOOLS_INPUT_FIELDS_H

#include "json/json_fields.h"
#include "json/json_keep.h"
#include "json/json_members.h"
#include "json/json_records.h"

#define FIELD_RECORDS 100 /* of an input are looked at, at most */

struct field_wish {
    struct json_fields fields; /* as the text's */
    enum leat_hint hint;
    const char *holds; /* "the text" */
    bool single;       /* an object or an array of them all is the wrong member */
    bool needed;       /* in each input, not only in one of them */
};

#define FIELD_WISHES 4
struct field_wishes {
    struct field_wish of[FIELD_WISHES];
    unsigned count;
    struct json_keep *keep; /* only records for which it holds count; NULL: all */
};

/* Whether such first bytes of a text hold a whole record. */
bool field_head_is_enough(const char *head, size_t bytes);

/* What was found so far. */
struct field_search {
    const struct field_wishes *wishes;
    bool met[FIELD_WISHES];          /* a record has it */
    enum json_kind of[FIELD_WISHES]; /* the object or array that one has; JSON_KIND_NONE: none has */
    uint64_t records, inputs;        /* looked at; with records */
    const char *path;                /* of one of them */
    uint64_t path_records;
    struct json_members members; /* of its records */
};

/* Looks at the first records of an input, whose text begins with `head`; `ended`: and ends with it. LEAT_E_NOT_FOUND,
 * or LEAT_E_UNSUPPORTED for what is no text, if all of them lack a field that is needed, and are FIELD_RECORDS. Without
 * a whole record there is nothing to be said. */
enum leat_status field_search_add(struct field_search *f, const char *path, const char *head, size_t bytes, bool ended,
                                  struct leat_error *err);

/* The same, if no record has a field, and they are FIELD_RECORDS, or no others matter (`all`). */
enum leat_status field_search_end(struct field_search *f, bool all, struct leat_error *err);

#endif
