/* dataset_origin.h: records of inputs, origins and ids, read and checked one by one, for dataset_origin.c and its
 * inverse. */
#ifndef LEAT_DATASET_ORIGIN_H
#define LEAT_DATASET_ORIGIN_H

#include "base/tiny.h"
#include "format/records.h"
#include "part_index.h"

/* A scan over records reads this many bytes of the index at a time. */
#define DATASET_SCAN_BYTES TINY_OR(64u, 16384u)

struct dataset_place {
    uint64_t input, offset;
};

/* Numbers of inputs and documents count within the part. LEAT_E_RECORD: a record is impossible. */
enum leat_status dataset_read_input(struct part *p, uint64_t number, struct records_input *input,
                                    struct leat_error *err);
enum leat_status dataset_read_places(struct part *p, uint64_t first, uint64_t count, struct dataset_place *places,
                                     struct leat_error *err);

/* Whether a document's id can lie at [start, end) of the ids. */
enum leat_status dataset_check_id(const struct part *p, uint64_t document, uint64_t start, uint64_t end,
                                  struct leat_error *err);

#endif
