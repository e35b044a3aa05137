/* packer_judge.h: the conditions of a packer (`keep`) on the rows of a program: the fields that they name, and
 * whether they hold for the values of a row. They are the conditions that files have, too (corpus/record/judge.h). */
#ifndef LEAT_PACK_PACKER_JUDGE_H
#define LEAT_PACK_PACKER_JUDGE_H

#include "corpus/parquet/value_text.h"
#include "corpus/record/judge.h"

/* The conditions of a packer. A zeroed struct has none. */
struct packer_judge {
    struct record_fields fields;
    struct record_judges judges;
    struct record record;
    struct leat_field *list;   /* list of the fields, as the caller sees them */
    char (*texts)[VALUE_TEXT]; /* text of each field that is a number */
    const char **keep;         /* copy of the conditions */
    uint64_t rows;             /* number of rows that stay, and whose documents are still to be added */
};

/* Gives the options conditions of its own. packer_judge_free() must follow, on failure too. */
enum leat_status packer_judge_open(struct packer_judge *j, struct leat_pack_options *options, struct leat_error *err);
void packer_judge_free(struct packer_judge *j);

/* As leat_packer_judge(). */
enum leat_status packer_judge_row(struct packer_judge *j, const struct leat_value *values, uint32_t *keep,
                                  struct leat_error *err);

/* Notes that so many documents are added. Returns LEAT_E_ARGUMENT if their rows were not judged. */
enum leat_status packer_judge_take(struct packer_judge *j, uint64_t documents, struct leat_error *err);

#endif
