/* chat_tests.c: what may follow `is`. */
#include <string.h>

#include "chat_run.h"

/* Those of the kind alone. */
static bool is_defined(const struct chat_value *v)
{
    return v->kind != CHAT_UNDEFINED;
}

static bool is_undefined(const struct chat_value *v)
{
    return v->kind == CHAT_UNDEFINED;
}

static bool is_none(const struct chat_value *v)
{
    return v->kind == CHAT_NONE;
}

static bool is_string(const struct chat_value *v)
{
    return v->kind == CHAT_STRING;
}

static bool is_mapping(const struct chat_value *v)
{
    return v->kind == CHAT_DICT;
}

static bool is_boolean(const struct chat_value *v)
{
    return v->kind == CHAT_BOOL;
}

static bool is_integer(const struct chat_value *v)
{
    return v->kind == CHAT_INT || v->kind == CHAT_BIG;
}

static bool is_float(const struct chat_value *v)
{
    return v->kind == CHAT_FLOAT;
}

static bool is_number(const struct chat_value *v)
{
    return chat_is_number(v) || v->kind == CHAT_BIG;
}

static bool is_true(const struct chat_value *v)
{
    return v->kind == CHAT_BOOL && v->truth;
}

static bool is_false(const struct chat_value *v)
{
    return v->kind == CHAT_BOOL && !v->truth;
}

static bool is_sequence(const struct chat_value *v)
{
    return v->kind == CHAT_STRING || (v->kind == CHAT_LIST && v->flags != CHAT_VIEW) || v->kind == CHAT_DICT ||
           v->kind == CHAT_UNDEFINED;
}

static bool is_iterable(const struct chat_value *v)
{
    return is_sequence(v) || v->kind == CHAT_LIST || v->kind == CHAT_ITERATOR || v->kind == CHAT_LOOP;
}

/* Undefined values can be called, in Jinja: that fails then. */
static bool is_callable(const struct chat_value *v)
{
    return v->kind == CHAT_MACRO || v->kind == CHAT_METHOD || v->kind == CHAT_FUNCTION || v->kind == CHAT_UNDEFINED ||
           v->kind == CHAT_LOOP;
}

static const struct {
    const char *name;
    bool (*holds)(const struct chat_value *v);
} kinds[] = { { "boolean", is_boolean },   { "callable", is_callable },  { "defined", is_defined },
              { "false", is_false },       { "float", is_float },        { "integer", is_integer },
              { "iterable", is_iterable }, { "mapping", is_mapping },    { "none", is_none },
              { "number", is_number },     { "sequence", is_sequence },  { "string", is_string },
              { "true", is_true },         { "undefined", is_undefined } };

/* Those that compare it with an argument: by the operator of that name. */
static const struct {
    const char *name, *operator;
} compares[] = { { "==", "==" },      { "eq", "==" }, { "equalto", "==" }, { "!=", "!=" },
                 { "ne", "!=" },      { ">", ">" },   { "gt", ">" },       { "greaterthan", ">" },
                 { ">=", ">=" },      { "ge", ">=" }, { "<", "<" },        { "lt", "<" },
                 { "lessthan", "<" }, { "<=", "<=" }, { "le", "<=" },      { "in", "in" } };

static const char *const others[] = { "divisibleby", "even", "lower", "odd", "sameas", "upper" };

bool chat_knows_test(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return true;
    for (size_t i = 0; i < sizeof compares / sizeof *compares; i++)
        if (strcmp(compares[i].name, name) == 0)
            return true;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(others[i], name) == 0)
            return true;
    return false;
}

static enum leat_status test_remainder(struct chat_run *r, const struct chat_node *n, const char *name,
                                       const struct chat_value *of, const struct chat_value *other, bool *holds)
{
    int64_t number, by = 2;

    if (of->kind == CHAT_FLOAT || (other && other->kind == CHAT_FLOAT))
        return chat_fail(r, n, "the test is not supported of numbers with a fraction");
    if (!chat_to_int(of, &number) || (other && !chat_to_int(other, &by)))
        return chat_fail_kinds(r, n, "a test of what is not an integer", of, other ? other : of);
    if (by == 0)
        return chat_fail(r, n, "a division by zero");
    *holds = (by == -1 ? 0 : number % by) == 0;
    *holds = *holds == (strcmp(name, "odd") != 0);
    return LEAT_OK;
}

/* Python's islower() and isupper(), of ASCII. */
static enum leat_status test_case(struct chat_run *r, const struct chat_node *n, const char *name,
                                  const struct chat_value *of, bool *holds)
{
    struct chat_string s;
    bool lower = false, upper = false;
    enum leat_status status = chat_to_string(r, n, of, &s);

    for (size_t i = 0; status == LEAT_OK && i < s.count; i++) {
        uint32_t c = s.codes[i] & CHAT_CODE;

        if (c >= 0x80)
            return chat_fail(r, n, "upper and lower case of other than ASCII letters are not supported");
        lower = lower || (c >= 'a' && c <= 'z');
        upper = upper || (c >= 'A' && c <= 'Z');
    }
    *holds = *name == 'l' ? lower && !upper : upper && !lower;
    return status;
}

/* The same object: certain of what there is one of. */
static enum leat_status test_same(struct chat_run *r, const struct chat_node *n, const struct chat_value *a,
                                  const struct chat_value *b, bool *holds)
{
    *holds = a->kind == b->kind && (a->kind != CHAT_BOOL || a->truth == b->truth);
    return a->kind <= CHAT_BOOL && a->kind != CHAT_UNDEFINED ? LEAT_OK
           : b->kind <= CHAT_BOOL && b->kind != CHAT_UNDEFINED
               ? LEAT_OK
               : chat_fail(r, n, "sameas is supported of true, false and none only");
}

enum leat_status chat_test(struct chat_run *r, const struct chat_node *n, const char *name, const struct chat_value *of,
                           const struct chat_arguments *with, bool *holds)
{
    const struct chat_value *other = with->plain.count > 0 ? with->plain.items : NULL;
    bool compared = strcmp(name, "divisibleby") == 0 || strcmp(name, "sameas") == 0;
    struct chat_node operand = *n;

    *holds = false;
    for (size_t i = 0; i < sizeof compares / sizeof *compares; i++) {
        if (strcmp(compares[i].name, name) != 0)
            continue;
        compared = true;
        operand.name = compares[i].operator;
    }
    if (!chat_knows_test(name) || with->plain.count != compared || with->named.count > 0)
        return chat_fail(r, n, "a test that is not supported, or with such arguments");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, name) == 0) {
            *holds = kinds[i].holds(of);
            return LEAT_OK;
        }
    if (strcmp(name, "sameas") == 0)
        return test_same(r, n, of, other, holds);
    if (strcmp(name, "lower") == 0 || strcmp(name, "upper") == 0)
        return test_case(r, n, name, of, holds);
    if (compared && strcmp(name, "divisibleby") != 0)
        return chat_compare(r, &operand, of, other, holds);
    return test_remainder(r, n, name, of, other, holds);
}
