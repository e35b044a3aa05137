/*
 * damage.h: small datasets with every kind of section, in memory, and whether damage to them is found: by opening, or
 * by verifying what opened.
 */
#ifndef LEAT_TESTS_DAMAGE_H
#define LEAT_TESTS_DAMAGE_H

#include "craft.h"

/* Three pages of tokens, several documents, all sections; of vocabulary `vocabulary`, which decides the width. */
void damage_dataset(struct craft *c, uint64_t vocabulary);

/* What opening, and then verifying, says of these bytes. `err` (may be NULL) has the sentence. */
enum leat_status damage_outcome(const void *index, uint64_t index_bytes, const void *tokens, uint64_t token_bytes,
                                struct leat_error *err);

#endif
