/*
 * part_found.h: documents of files that have no index: found by the token that ends or begins each, in one pass over
 * the file, and kept beside it in FILE.documents, so that only the first opening takes that time.
 */
#ifndef LEAT_PART_FOUND_H
#define LEAT_PART_FOUND_H

#include "part.h"

struct part_found {
    struct file_map file; /* FILE.documents, or memory */
    uint64_t *memory;     /* what cannot be kept: NULL otherwise */
    uint64_t offset;      /* of the starts in it: documents + 1 of 8 bytes */
};

/*
 * Finds the documents of the part, whose end or begin token is set, and sets their number. The side file is used if it
 * was made of a file of this size and modification time, else made anew; where it cannot be written, the starts stay in
 * memory. A begun `found` may be closed at any time; zeroed with fd -1 it is begun.
 */
enum leat_status part_found_open(struct part_found *found, struct part *p, enum leat_access access,
                                 struct leat_error *err);
void part_found_close(struct part_found *found);

/* As in struct part_kind. */
enum leat_status part_found_starts(struct part_found *found, struct part *p, uint64_t first, uint64_t count,
                                   uint64_t *starts, struct leat_error *err);

#endif
