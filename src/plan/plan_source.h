/*
 * plan_source.h: a source of a plan: its datasets joined, the used range of each cut into blocks; finds the place of a
 * block and the block of a place. Only opening reads files.
 *
 * Orders number the documents and tokens of a source as its dataset does or, if it has a choice, as the choice does
 * (src/choose/): these are the source's *own numbers*. Pieces and samples have those of the dataset.
 */
#ifndef LEAT_PLAN_SOURCE_H
#define LEAT_PLAN_SOURCE_H

#include <stdatomic.h>

#include "choose/choose.h"
#include "leat.h"
#include "plan_rules.h"

/* The used range of one dataset of a source's list. */
struct plan_part {
    uint64_t first_block; /* first block of the part, counted in the source */
    uint64_t blocks;
    uint64_t list_token; /* first token of the dataset in the list */
    uint64_t begin, end; /* tokens of the dataset that are used */
    uint64_t first;      /* the source's own number of the first token that is used */
    uint64_t used;       /* tokens that are used, of chosen documents only */
    uint8_t identity[16];
};

/* A dataset that a plan opened by name. Changed plans made from it share it. */
struct plan_opened {
    struct leat_dataset *dataset;
    atomic_uint plans; /* number of plans that use it; the last one closes it */
};

struct plan_source {
    const struct leat_dataset *dataset;
    struct plan_opened *opened; /* dataset that the plan has opened; NULL: it is the caller's */
    struct choice *choice;      /* NULL: all documents, once */
    struct plan_part *parts;
    uint32_t part_count;
    bool split; /* a range of each part is used: only the documents that begin in it */
    uint64_t blocks, tokens, dropped;
    uint64_t documents, left_out, cut; /* see struct leat_plan_source_info */
    /* The part to look at first: that of block (number << hint_shift). */
    uint32_t *hints;
    unsigned hint_shift;
};

void plan_source_close(struct plan_source *s);

/* Returns the part that has this token of the list. */
uint32_t plan_source_part_of_token(const struct plan_source *s, uint64_t token);

/* Sets [*first, *end) to the source's own numbers of a part's used documents: those that begin in its used range. */
enum leat_status plan_source_used(const struct plan_source *s, uint32_t part, uint64_t *first, uint64_t *end,
                                  struct leat_error *err);

/* Sets [*low, *high) to the source's own numbers of documents [first, end) of its dataset, with all copies. */
enum leat_status plan_source_own(const struct plan_source *s, uint64_t first, uint64_t end, uint64_t *low,
                                 uint64_t *high, struct leat_error *err);

/* Writes the own starts of `count` documents, by the source's own numbers, as leat_dataset_starts() does. */
enum leat_status plan_source_starts(const struct plan_source *s, uint64_t number, uint64_t count, uint64_t *starts,
                                    struct leat_error *err);

/* Returns the document of the dataset that has this number of the source's own. */
static inline uint64_t plan_source_document(const struct plan_source *s, uint64_t number)
{
    return s->choice ? choice_document(s->choice, number) : number;
}

/* Returns the number of the part that has this block, below s->blocks. */
static inline uint32_t plan_source_part(const struct plan_source *s, uint64_t block)
{
    uint32_t part = s->hints[block >> s->hint_shift];

    while (block - s->parts[part].first_block >= s->parts[part].blocks)
        part++;
    return part;
}

#endif
