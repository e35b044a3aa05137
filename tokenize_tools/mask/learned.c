/* learned.c: adds, writes and reads what training learns of a dataset. */
#include "learned.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/jsontree.h"

const char *const learned_roles[LEARNED_ROLES] = { "assistant", "user",     "system", "developer",
                                                   "tool",      "function", "other" };

static uint64_t of_roles(const struct learned *l)
{
    uint64_t tokens = 0;

    for (unsigned i = 0; i < LEARNED_ROLES; i++)
        tokens += l->by_role[i];
    return tokens;
}

void learned_choose_roles(struct learned *some, const struct learned *all)
{
    const struct learned from = *all;
    bool known = of_roles(&from) == from.tokens;

    for (unsigned i = 0; i < LEARNED_ROLES; i++)
        some->by_role[i] = known && some->tokens == from.tokens      ? from.by_role[i]
                           : known && from.by_role[i] == from.tokens ? some->tokens
                                                                     : 0;
}

void learned_add(struct learned *sum, const struct learned *more)
{
    sum->tokens += more->tokens;
    sum->documents_without += more->documents_without;
    for (unsigned i = 0; i < LEARNED_ROLES; i++)
        sum->by_role[i] += more->by_role[i];
    learned_choose_roles(sum, sum);
}

void learned_print(const struct learned *l, char text[LEARNED_TEXT])
{
    const char *comma = "";
    int used = snprintf(text, LEARNED_TEXT, "{\"tokens\":%" PRIu64 ",\"documents_without\":%" PRIu64 ",\"by_role\":{",
                        l->tokens, l->documents_without);

    for (unsigned i = 0; i < LEARNED_ROLES; i++)
        if (l->by_role[i] > 0) {
            used += snprintf(text + used, LEARNED_TEXT - (size_t)used, "%s\"%s\":%" PRIu64, comma, learned_roles[i],
                             l->by_role[i]);
            comma = ",";
        }
    snprintf(text + used, LEARNED_TEXT - (size_t)used, "}}");
}

static bool take_count(const struct jsontree *j, uint32_t object, const char *key, uint64_t *count)
{
    uint32_t node = jsontree_member(j, object, key);

    return node != JSONTREE_NONE && jsontree_u64(j, node, count);
}

bool learned_read(struct learned *l, const char *text)
{
    struct jsontree j;
    uint32_t roles;
    bool good = jsontree_parse(&j, (const uint8_t *)text, strlen(text), LEARNED_KEY, NULL) == LEAT_OK;

    *l = (struct learned) { 0 };
    roles = good ? jsontree_member(&j, 0, "by_role") : JSONTREE_NONE;
    good = roles != JSONTREE_NONE && take_count(&j, 0, "tokens", &l->tokens) &&
           take_count(&j, 0, "documents_without", &l->documents_without);
    for (unsigned i = 0; good && i < LEARNED_ROLES; i++)
        good = jsontree_member(&j, roles, learned_roles[i]) == JSONTREE_NONE ||
               take_count(&j, roles, learned_roles[i], &l->by_role[i]);
    jsontree_free(&j);
    if (!good)
        *l = (struct learned) { 0 };
    return good;
}

bool learned_join(char sum[LEARNED_TEXT], const char *more)
{
    struct learned all, one;

    (void)learned_read(&all, sum);
    if (!learned_read(&one, more))
        return false;
    learned_add(&all, &one);
    learned_print(&all, sum);
    return true;
}
