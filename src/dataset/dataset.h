/*
 * dataset.h: the inside of struct leat_dataset: parts joined end to end, and finding the part that a number falls in.
 */
#ifndef LEAT_DATASET_H
#define LEAT_DATASET_H

#include "part.h"

struct leat_dataset {
    struct part *parts; /* at least one */
    uint64_t part_count;
    uint64_t tokens, documents, inputs; /* of all parts */
};

/* A dataset over one part that the caller has opened; takes it over, also on failure. */
enum leat_status dataset_of_part(struct leat_dataset **out, const struct part *part, struct leat_error *err);

/* `err` says that the dataset's files are not there: adds what is, in the folder where it was looked for. */
void dataset_say_missing(const char *name, struct leat_error *err);

/* The part that holds this document or input, which the caller has checked to be below the dataset's count. */
struct part *dataset_part_of_document(const struct leat_dataset *d, uint64_t document);
struct part *dataset_part_of_input(const struct leat_dataset *d, uint64_t input);

/* LEAT_E_RANGE unless [first, first + count) lies below `size`; `what` is "token", "document", ... */
enum leat_status dataset_check_range(uint64_t first, uint64_t count, uint64_t size, const char *what,
                                     struct leat_error *err);

#endif
