/*
 * learned.h: how many tokens of a dataset with a mask training learns, and of which role. The datasets that the packer
 * writes and leat_merge() arranges say it in their metadata, as FORMAT.md describes.
 */
#ifndef LEAT_TOKENIZE_TOOLS_LEARNED_H
#define LEAT_TOKENIZE_TOOLS_LEARNED_H

#include <stdbool.h>

#include "leat_pack.h"

#define LEARNED_KEY "leat.learned"
enum { LEARNED_TEXT = sizeof((struct leat_pack_report *)0)->learned };

/* The roles that learned tokens are counted by; all others are one. */
enum { LEARNED_ROLES = 7 };
extern const char *const learned_roles[LEARNED_ROLES];

struct learned {
    uint64_t tokens;
    uint64_t documents_without;      /* documents without such a token */
    uint64_t by_role[LEARNED_ROLES]; /* tokens; all 0 if the roles are not known */
};

/* Adds the counts of another dataset. The roles are known only if those of both are. */
void learned_add(struct learned *sum, const struct learned *more);

/* Adds a value of LEARNED_KEY to another one, or to "". Returns false, and adds nothing, if it is not one. */
bool learned_join(char sum[LEARNED_TEXT], const char *more);

/* Sets the roles of documents that are some of those of `all`, if these decide them: they are all of these, or all have
 * one role. */
void learned_choose_roles(struct learned *some, const struct learned *all);

/* Writes the value of LEARNED_KEY, a JSON object. */
void learned_print(const struct learned *l, char text[LEARNED_TEXT]);

/* Reads such a value. Returns false, and sets all to 0, if it is not one. */
bool learned_read(struct learned *l, const char *text);

#endif
