/*
 * adopt_end.h: the end token of files that are adopted. Where a file does not record its documents, they are found by
 * it; where it does, each document is checked to end with it.
 *
 * The room src/adopt/ writes indexes for tokens that lie in files of other tools. Reading such files belongs to
 * src/dataset/, the bytes of an index to src/writer/.
 */
#ifndef LEAT_ADOPT_END_H
#define LEAT_ADOPT_END_H

#include "dataset/part.h"

/* Opens `name`; with an end token (LEAT_NONE: none) as if the name said it, if names of that kind can say it. `beside`:
 * also tokens that have an index, which is not looked at. */
enum leat_status adopt_open(struct part *p, const char *name, uint64_t end_token, bool beside, struct leat_error *err);

/* Sets *end_token to that of the part, or to the one that is given. LEAT_E_ARGUMENT: they are not the same. */
enum leat_status adopt_take_end(uint64_t given, const struct part *p, uint64_t *end_token, struct leat_error *err);

/* Goes through the ends of documents while tokens are read. */
struct adopt_ends {
    uint64_t token;    /* LEAT_NONE: nothing is checked */
    uint64_t document; /* the first one that is not checked yet */
    uint64_t first, count;
    uint64_t starts[257]; /* of `count` documents from `first` on, and the end of the last one */
};

/* Begins at the document that holds token `token`. */
enum leat_status adopt_ends_begin(struct adopt_ends *e, struct part *p, uint64_t token, struct leat_error *err);

/* Checks documents that end in `count` tokens from `first` on. LEAT_E_TOKEN. */
enum leat_status adopt_ends_check(struct adopt_ends *e, struct part *p, uint64_t first, const uint8_t *bytes,
                                  uint64_t count, struct leat_error *err);

#endif
