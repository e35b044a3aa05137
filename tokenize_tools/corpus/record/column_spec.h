/*
 * column_spec.h: the columns that a run makes: NAME=FIELD:TYPE[xK][:document], and what of them documents bring.
 *
 * The values of a document are bytes: for each column per document, in their order, its numbers as the column stores
 * them, or a text after its length in 4 bytes; then, for each column per token, the numbers of all its ids.
 */
#ifndef LEAT_TOKENIZE_TOOLS_COLUMN_SPEC_H
#define LEAT_TOKENIZE_TOOLS_COLUMN_SPEC_H

#include <stdbool.h>
#include <stddef.h>

#include "leat_pack.h"

#define COLUMN_SPEC_MAX   64u            /* columns of a run */
#define COLUMN_SPEC_BYTES ((size_t)8192) /* bytes of all columns, as the options give them */
#define COLUMN_SPEC_TEXT  ((size_t)1024) /* bytes of a text of a category */

struct column_spec {
    char *name, *field; /* in one allocation, which `name` owns */
    uint32_t type, width, at;
    uint32_t bytes; /* of a value */
};

/* The columns of a run; a zeroed struct has none. */
struct column_specs {
    struct column_spec *items;
    size_t count;
};

/* Reads the options' columns. column_specs_free() must follow, on failure too. */
enum leat_status column_specs_make(struct column_specs *specs, const struct leat_pack_options *o,
                                   struct leat_error *err);
void column_specs_free(struct column_specs *specs);

#endif
