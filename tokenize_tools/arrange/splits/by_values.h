/*
 * by_values.h: the values of the field that documents are divided by, and the name of each value's dataset.
 *
 * Until documents are divided, the value of each stands before its id, with a zero byte between them: so it is written,
 * checkpointed, checked and joined with all that is known of the document, and the format needs nothing new. The
 * metadata BY_METADATA_IDS of such a dataset is the field.
 */
#ifndef LEAT_ARRANGE_BY_VALUES_H
#define LEAT_ARRANGE_BY_VALUES_H

#include <stdbool.h>
#include <stddef.h>

#include "leat_pack.h"

#define BY_MAX_VALUES      1024u

#define BY_METADATA_IDS    "leat.by.ids"    /* the field whose values stand before the ids */
#define BY_METADATA        "leat.by"        /* the field by which the dataset was divided off */
#define BY_METADATA_VALUE  "leat.by.value"  /* the value of the field in this dataset */
#define BY_METADATA_VALUES "leat.by.values" /* the number of values, which is that of datasets */

struct by_values {
    char **items; /* sorted as bytes */
    size_t count, room;
};

/* Adds a value, unless it is there, and sets *at to its place. Returns LEAT_E_UNSUPPORTED if there are too many; the
 * error names `field` and `documents`, the number of documents that were read. */
enum leat_status by_values_add(struct by_values *v, const char *value, const char *field, uint64_t documents,
                               size_t *at, bool *is_new, struct leat_error *err);
void by_values_free(struct by_values *v);

/* Returns the place of a value; v->count if it is not there. */
size_t by_values_find(const struct by_values *v, const char *value);

/* Returns the length of the value that stands before an id; SIZE_MAX if none does. */
size_t by_values_before(const char *id, uint64_t id_bytes);

/*
 * The part of the name of a value's dataset after "OUT.": letters, digits, - and _ as they are, other bytes as %XX, in
 * at most BY_NAME_BYTES. Names also differ on file systems that do not tell capitals apart, and no name is that of a
 * file of OUT itself. by_values_name() knows all values: if several differ in capitals only, it writes their capitals
 * as %XX, too.
 */
#define BY_NAME_BYTES 100u
struct by_name {
    char text[BY_NAME_BYTES];
};
void by_name_make(struct by_name *name, const char *value, bool escape_capitals);
void by_values_name(const struct by_values *v, size_t at, struct by_name *name);

#endif
