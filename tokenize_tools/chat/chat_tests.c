/* chat_tests.c: what may follow `is`. */
#include <string.h>

#include "chat_run.h"

static const char *const names[] = { "==",     "boolean", "defined",  "divisibleby", "eq",      "equalto",  "even",
                                     "false",  "in",      "integer",  "iterable",    "mapping", "ne",       "none",
                                     "number", "odd",     "sequence", "string",      "true",    "undefined" };

bool chat_knows_test(const char *name)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* Those of the kind alone; false if it is another one. */
static bool test_kind(const char *name, const struct chat_value *v, bool *holds)
{
    enum chat_kind k = v->kind;
    bool has_items = k == CHAT_STRING || k == CHAT_LIST || k == CHAT_DICT || k == CHAT_UNDEFINED;

    *holds = (strcmp(name, "defined") == 0 && k != CHAT_UNDEFINED) ||
             (strcmp(name, "undefined") == 0 && k == CHAT_UNDEFINED) || (strcmp(name, "none") == 0 && k == CHAT_NONE) ||
             (strcmp(name, "string") == 0 && k == CHAT_STRING) || (strcmp(name, "mapping") == 0 && k == CHAT_DICT) ||
             (strcmp(name, "boolean") == 0 && k == CHAT_BOOL) || (strcmp(name, "integer") == 0 && k == CHAT_INT) ||
             (strcmp(name, "true") == 0 && k == CHAT_BOOL && v->truth) ||
             (strcmp(name, "false") == 0 && k == CHAT_BOOL && !v->truth) ||
             (strcmp(name, "number") == 0 && (k == CHAT_INT || k == CHAT_BOOL || k == CHAT_FLOAT)) ||
             (strcmp(name, "iterable") == 0 && has_items) || (strcmp(name, "sequence") == 0 && has_items);
    return strcmp(name, "odd") != 0 && strcmp(name, "even") != 0 && strcmp(name, "divisibleby") != 0;
}

enum leat_status chat_test(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                           const struct chat_arguments *with, bool *holds)
{
    static const char *const compares[] = { "==", "eq", "equalto", "ne", "in", "divisibleby" };
    const struct chat_value *other = with->plain.items;
    size_t wants = 0;
    int64_t by = 2;

    for (size_t i = 0; i < sizeof compares / sizeof *compares; i++)
        wants = strcmp(compares[i], n->name) == 0 ? 1 : wants;
    if (with->plain.count != wants || with->named.count > 0)
        return chat_fail(r, n, "a test with arguments that are not supported");
    if (strcmp(n->name, "in") == 0)
        return chat_contains(r, n, of, other, holds);
    if (wants == 1 && strcmp(n->name, "divisibleby") != 0) {
        return chat_same(r, n, of, other, strcmp(n->name, "ne") != 0, holds);
    }
    if (test_kind(n->name, of, holds))
        return LEAT_OK;
    if (wants == 1)
        by = other->kind == CHAT_INT ? other->number : 0;
    if (of->kind != CHAT_INT || by == 0 || by == -1)
        return chat_fail(r, n, "a test of what is not a number");
    *holds = (of->number % by == 0) == (strcmp(n->name, "odd") != 0);
    return LEAT_OK;
}
