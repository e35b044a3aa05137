/*
 * choose.h: chooses documents of a dataset by a condition on its columns, and how often each is shown (docs/ORDER.md,
 * "Choosing documents"). The chosen documents are numbered from 0, and copies of a document follow it; their tokens are
 * numbered in the same way. Orders run over these numbers as over those of a dataset. This room makes the choice, and
 * translates its numbers.
 *
 * A *choice* has a count per document, 0 to 255. For each block of 512 documents it stores how many chosen documents
 * and tokens come before the block. Within a block, they are counted when they are needed.
 *
 *   choose.c        making: conditions, columns, counts
 *   choose_find.c   numbers of chosen documents and tokens, and back
 *
 * Orders, sources and rows do not belong here: src/plan/ asks this room for documents and tokens.
 */
#ifndef LEAT_CHOOSE_H
#define LEAT_CHOOSE_H

#include <stdatomic.h>

#include "leat.h"

#define CHOOSE_VERSION   1u
#define CHOOSE_MAX_COUNT 255u
#define CHOOSE_BLOCK     512u /* documents of a block; fewer at the end of a part */

/* What comes before a block. */
struct choice_block {
    uint64_t document; /* documents of the dataset, which is the number of the block's first document */
    uint64_t number;   /* chosen documents */
    uint64_t token;    /* their tokens */
};

struct choice {
    atomic_uint owners;
    const struct leat_dataset *dataset;
    uint64_t documents, tokens;  /* chosen documents and their tokens */
    uint64_t sum;                /* hash of the counts (docs/ORDER.md) */
    uint8_t *counts;             /* one per document of the dataset */
    struct choice_block *blocks; /* one more than block_count, for the end */
    uint64_t block_count;
};

/* The texts of a choice; an empty `where` chooses all documents, and an empty `repeat` is 1. */
struct choice_rule {
    const char *where, *repeat;
};

/* Makes the choice of a dataset, which is called `name` in errors and must stay open. choice_drop() releases it.
 * Returns LEAT_E_ARGUMENT for texts that are wrong, for counts that are not whole numbers from 0 to 255, and if no
 * document is chosen; LEAT_E_NOT_FOUND for an unknown column. */
enum leat_status choice_make(struct choice **out, const struct leat_dataset *d, const char *name,
                             const struct choice_rule *rule, struct leat_error *err);

/* choice_share() adds an owner and returns `c`. choice_drop() removes an owner; the last one frees the choice. `c` may
 * be NULL. */
struct choice *choice_share(struct choice *c);
void choice_drop(struct choice *c);

/* Checks the texts of a rule without a dataset. */
enum leat_status choice_check(const struct choice_rule *rule, struct leat_error *err);

/* ---- Numbers ---- */

/* Counts the chosen documents, and their tokens, before a document of the dataset or before the dataset's end. */
enum leat_status choice_before(const struct choice *c, uint64_t document, uint64_t *number, uint64_t *token,
                               struct leat_error *err);

/* Returns the document of the dataset that a chosen document is. */
uint64_t choice_document(const struct choice *c, uint64_t number);

/* Writes the number of the first token, as the choice numbers tokens, for each of `count` chosen documents from
 * `number` on. The number after the last chosen document is valid too: its start is c->tokens. */
enum leat_status choice_starts(const struct choice *c, uint64_t number, uint64_t count, uint64_t *starts,
                               struct leat_error *err);

/* Consecutive tokens of the dataset. */
struct choice_stretch {
    uint64_t token, count;
};

/* Finds the stretches of the dataset that hold chosen tokens [token, token + count). Writes at most `room` of them, and
 * sets *stretches to the number of all. */
enum leat_status choice_stretches(const struct choice *c, uint64_t token, uint64_t count, struct choice_stretch *out,
                                  uint64_t room, uint64_t *stretches, struct leat_error *err);

#endif
