/* packer_values.h: the values that a program gives for columns of its documents, before it adds these: as documents of
 * files bring them (corpus/record/column_spec.h). */
#ifndef LEAT_PACK_PACKER_VALUES_H
#define LEAT_PACK_PACKER_VALUES_H

#include "base/buffer.h"
#include "corpus/record/column_spec.h"

/* The values of a packer. A zeroed struct has no columns. */
struct packer_values {
    const struct column_specs *specs;
    struct packer_column *columns;
    const char **names; /* copy of the options */
};

/* Gives the options columns of their own. packer_values_free() must follow, on failure too. */
enum leat_status packer_values_open(struct packer_values *v, const struct column_specs *specs,
                                    struct leat_pack_options *options, struct leat_error *err);
void packer_values_free(struct packer_values *v);

/* As leat_packer_put_values(). */
enum leat_status packer_values_put(struct packer_values *v, const struct leat_column_values *columns, uint64_t count,
                                   struct leat_error *err);

/* Returns LEAT_E_ARGUMENT unless the values are of so many documents with so many ids together; LEAT_NONE: of texts. */
enum leat_status packer_values_check(const struct packer_values *v, uint64_t documents, uint64_t ids,
                                     struct leat_error *err);

/* Appends the values of the next document to `to`: of its `ids` ids those of the first `kept`. Passes over them if `to`
 * is NULL. */
enum leat_status packer_values_take(struct packer_values *v, uint64_t ids, uint64_t kept, struct buffer *to,
                                    struct leat_error *err);

/* Forgets values that were not taken. */
void packer_values_clear(struct packer_values *v);

#endif
