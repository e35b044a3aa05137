/* plan_bans.h: documents that are banned: from some sample on, their tokens have no loss. Rules name sources and
 * documents (docs/ORDER.md, "Bans"); an open plan knows the tokens, and finds those of a piece by binary search. */
#ifndef LEAT_PLAN_BANS_H
#define LEAT_PLAN_BANS_H

#include <stddef.h>
#include <stdint.h>

#include "leat.h"

struct plan_rules;

/* Documents [first, end) of a source, from sample `start` on. */
struct plan_ban_rule {
    char *name; /* name of the source, until the rules are finished; then NULL */
    uint32_t source;
    uint64_t start, first, end;
};

/* Adds bans as text: START:NAME:DOCUMENTS, with documents like 3,7,10-19. */
enum leat_status plan_bans_add(struct plan_rules *r, const char *text, size_t length, struct leat_error *err);

/* Finds the sources by their names, and brings the bans into their one form: by source, start and document, each
 * document once, with its least start. */
enum leat_status plan_bans_finish(struct plan_rules *r, struct leat_error *err);

/* A ban of an open plan, by source and document. */
struct plan_ban {
    uint64_t first, end;             /* documents */
    uint64_t first_token, end_token; /* range in the source's dataset */
    uint64_t start;
};

struct plan_bans {
    struct plan_ban *items;
    size_t *begins; /* index of each source's first item, and the end of the last one's; NULL: there is no ban */
};

struct leat_plan;

/* Looks up the documents' tokens. After a failure, plan_bans_free() frees what was made. */
enum leat_status plan_bans_open(struct leat_plan *plan, struct leat_error *err);
void plan_bans_free(struct plan_bans *bans);

/* Clears mask[i] where token first + i of a source's dataset is banned in sample `number`. */
void plan_bans_mask(const struct leat_plan *plan, uint32_t source, uint64_t number, uint64_t first, uint64_t count,
                    uint8_t *mask);

#endif
