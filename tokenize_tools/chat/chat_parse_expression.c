/* chat_parse_expression.c: expressions, with Jinja's precedences. */
#include <string.h>

#include "chat_parser.h"

static struct chat_node *parse_unary(struct parser *p, bool filters);

static struct chat_node *two(struct parser *p, enum chat_node_kind kind, struct chat_node *a, struct chat_node *b,
                             const char *name)
{
    struct chat_node *n = chat_node(p, kind);

    n->a = a;
    n->b = b;
    n->name = name;
    return n;
}

/* ---- Literals and calls ---- */

static struct chat_node *parse_list(struct parser *p, const char *end)
{
    struct chat_node *n = chat_node(p, CHAT_N_LIST), **last = &n->a;

    while (p->status == LEAT_OK && !chat_is_sign(p, end)) {
        *last = chat_parse_expression(p);
        last = &(*last)->next;
        if (!chat_pass_sign(p, ","))
            break;
    }
    chat_expect_sign(p, end);
    return n;
}

static struct chat_node *parse_dict(struct parser *p)
{
    struct chat_node *n = chat_node(p, CHAT_N_DICT), **last = &n->a;

    while (p->status == LEAT_OK && !chat_is_sign(p, "}")) {
        *last = chat_node(p, CHAT_N_ITEM);
        (*last)->a = chat_parse_expression(p);
        chat_expect_sign(p, ":");
        (*last)->b = chat_parse_expression(p);
        last = &(*last)->next;
        if (!chat_pass_sign(p, ","))
            break;
    }
    chat_expect_sign(p, "}");
    return n;
}

static struct chat_node *parse_name(struct parser *p)
{
    static const struct {
        const char *word;
        enum chat_kind kind;
        bool truth;
    } words[] = { { "true", CHAT_BOOL, true },   { "True", CHAT_BOOL, true },  { "false", CHAT_BOOL, false },
                  { "False", CHAT_BOOL, false }, { "none", CHAT_NONE, false }, { "None", CHAT_NONE, false } };
    struct chat_node *n = chat_node(p, CHAT_N_NAME);

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (chat_is_word(p, words[i].word)) {
            n->kind = CHAT_N_VALUE;
            n->value.kind = words[i].kind;
            n->value.truth = words[i].truth;
        }
    if (chat_is_word(p, "self"))
        chat_refuse(p, "it is not supported", p->at);
    if (chat_is_word(p, "varargs"))
        p->uses |= CHAT_USES_VARARGS & ~p->set;
    if (chat_is_word(p, "kwargs"))
        p->uses |= CHAT_USES_KWARGS & ~p->set;
    chat_take_name(p, n);
    return n;
}

/* Strings that follow each other are one. */
static struct chat_node *parse_string(struct parser *p)
{
    struct chat_node *n = chat_node(p, CHAT_N_VALUE);
    struct chat_text text = { 0 };

    for (; p->status == LEAT_OK && p->at->kind == CHAT_T_STRING; p->at++)
        p->status = chat_text_add(p->arena, &text, p->at->string, p->err);
    n->value = chat_str((struct chat_string) { text.codes, text.count });
    return n;
}

/* What is in parentheses: an expression, or a list of them. */
static struct chat_node *parse_parenthesis(struct parser *p)
{
    struct chat_node *n = chat_node(p, CHAT_N_LIST);

    n->number = CHAT_TUPLE;
    if (chat_pass_sign(p, ")"))
        return n;
    n = chat_parse_tuple(p, chat_parse_expression);
    chat_expect_sign(p, ")");
    return n;
}

static struct chat_node *parse_primary(struct parser *p)
{
    struct chat_node *n;

    if (p->at->kind == CHAT_T_NAME)
        return parse_name(p);
    if (p->at->kind == CHAT_T_STRING)
        return parse_string(p);
    if (p->at->kind == CHAT_T_NUMBER) {
        n = chat_node(p, CHAT_N_VALUE);
        n->value = p->at++->number;
        return n;
    }
    if (chat_pass_sign(p, "("))
        return parse_parenthesis(p);
    if (chat_pass_sign(p, "["))
        return parse_list(p, "]");
    if (chat_pass_sign(p, "{"))
        return parse_dict(p);
    chat_refuse(p, "an expression is expected", p->at);
    return chat_node(p, CHAT_N_VALUE);
}

static void parse_arguments(struct parser *p, struct chat_node *call)
{
    struct chat_node **last = &call->b, **last_named = &call->c;

    while (p->status == LEAT_OK && !chat_is_sign(p, ")")) {
        if (p->at->kind == CHAT_T_NAME && p->at[1].kind == CHAT_T_SIGN && p->at[1].bytes == 1 && *p->at[1].at == '=') {
            *last_named = chat_node(p, CHAT_N_NAMED);
            chat_take_name(p, *last_named);
            p->at++;
            (*last_named)->a = chat_parse_expression(p);
            last_named = &(*last_named)->next;
        } else if (chat_is_sign(p, "*") || chat_is_sign(p, "**")) {
            chat_refuse(p, "arguments with * are not supported", p->at);
        } else {
            *last = chat_parse_expression(p);
            last = &(*last)->next;
        }
        if (!chat_pass_sign(p, ","))
            break;
    }
    chat_expect_sign(p, ")");
}

static struct chat_node *parse_subscript(struct parser *p, struct chat_node *of)
{
    struct chat_node *n = chat_node(p, CHAT_N_INDEX);

    n->a = of;
    if (!chat_is_sign(p, ":"))
        n->b = chat_parse_expression(p);
    if (chat_pass_sign(p, ":")) {
        n->kind = CHAT_N_SLICE;
        if (!chat_is_sign(p, ":") && !chat_is_sign(p, "]"))
            n->c = chat_parse_expression(p);
        if (chat_pass_sign(p, ":") && !chat_is_sign(p, "]"))
            n->d = chat_parse_expression(p);
    }
    chat_expect_sign(p, "]");
    return n;
}

static struct chat_node *parse_call(struct parser *p, struct chat_node *of)
{
    struct chat_node *n = chat_node(p, CHAT_N_CALL);

    n->a = of;
    parse_arguments(p, n);
    return n;
}

static struct chat_node *parse_postfix(struct parser *p, struct chat_node *n)
{
    while (p->status == LEAT_OK) {
        if (chat_pass_sign(p, ".")) {
            struct chat_node *of = n;

            n = chat_node(p, CHAT_N_MEMBER);
            n->a = of;
            chat_take_name(p, n);
        } else if (chat_pass_sign(p, "[")) {
            n = parse_subscript(p, n);
        } else if (chat_pass_sign(p, "(")) {
            n = parse_call(p, n);
        } else {
            break;
        }
    }
    return n;
}

/* ---- Filters and tests ---- */

static struct chat_node *parse_filter(struct parser *p, struct chat_node *of)
{
    struct chat_node *n = chat_node(p, CHAT_N_FILTER);
    const struct chat_token *at = p->at;

    n->a = of;
    chat_take_name(p, n);
    if (p->status == LEAT_OK && !chat_knows_filter(n->name))
        chat_refuse(p, "the filter is not supported", at);
    if (chat_pass_sign(p, "("))
        parse_arguments(p, n);
    return n;
}

/* Whether an argument of a test follows it without parentheses. */
static bool has_argument(const struct parser *p)
{
    static const char *const signs[] = { "(", "[", "{" };

    if (p->at->kind == CHAT_T_NAME)
        return !chat_is_word(p, "else") && !chat_is_word(p, "or") && !chat_is_word(p, "and");
    if (p->at->kind == CHAT_T_STRING || p->at->kind == CHAT_T_NUMBER)
        return true;
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (chat_is_sign(p, signs[i]))
            return true;
    return false;
}

static struct chat_node *parse_test(struct parser *p, struct chat_node *of)
{
    struct chat_node *n = chat_node(p, CHAT_N_TEST);
    const struct chat_token *at;

    n->a = of;
    n->number = chat_pass_word(p, "not");
    at = p->at;
    chat_take_name(p, n);
    if (p->status == LEAT_OK && !chat_knows_test(n->name))
        chat_refuse(p, "the test is not supported", at);
    if (chat_pass_sign(p, "("))
        parse_arguments(p, n);
    else if (p->status == LEAT_OK && has_argument(p))
        n->b = parse_postfix(p, parse_primary(p));
    return n;
}

static struct chat_node *parse_filters(struct parser *p, struct chat_node *n)
{
    while (p->status == LEAT_OK) {
        if (chat_pass_sign(p, "|"))
            n = parse_filter(p, n);
        else if (chat_pass_word(p, "is"))
            n = parse_test(p, n);
        else if (chat_pass_sign(p, "("))
            n = parse_call(p, n);
        else
            break;
    }
    return n;
}

/* ---- Operators ---- */

static struct chat_node *parse_unary(struct parser *p, bool filters)
{
    struct chat_node *n;

    if (++p->depth > 200) {
        chat_refuse(p, "it is nested too deeply", p->at);
        return chat_node(p, CHAT_N_VALUE);
    }
    if (chat_pass_sign(p, "-"))
        n = two(p, CHAT_N_MINUS, parse_unary(p, false), NULL, NULL);
    else if (chat_pass_sign(p, "+"))
        n = two(p, CHAT_N_PLUS, parse_unary(p, false), NULL, NULL);
    else
        n = parse_primary(p);
    n = parse_postfix(p, n);
    if (chat_is_sign(p, "**"))
        chat_refuse(p, "the operator is not supported", p->at);
    n = filters ? parse_filters(p, n) : n;
    p->depth--;
    return n;
}

static const char *pass_one_of(struct parser *p, const char *const *signs)
{
    for (; *signs; signs++)
        if (chat_pass_sign(p, *signs))
            return *signs;
    return NULL;
}

static struct chat_node *parse_product(struct parser *p)
{
    static const char *const signs[] = { "*", "//", "/", "%", NULL };
    struct chat_node *n = parse_unary(p, true);
    const char *sign;

    while (p->status == LEAT_OK && (sign = pass_one_of(p, signs)) != NULL)
        n = two(p, CHAT_N_BINARY, n, parse_unary(p, true), sign);
    return n;
}

static struct chat_node *parse_joined(struct parser *p)
{
    struct chat_node *n = parse_product(p);

    while (p->status == LEAT_OK && chat_pass_sign(p, "~"))
        n = two(p, CHAT_N_BINARY, n, parse_product(p), "~");
    return n;
}

static struct chat_node *parse_sum(struct parser *p)
{
    static const char *const signs[] = { "+", "-", NULL };
    struct chat_node *n = parse_joined(p);
    const char *sign;

    while (p->status == LEAT_OK && (sign = pass_one_of(p, signs)) != NULL)
        n = two(p, CHAT_N_BINARY, n, parse_joined(p), sign);
    return n;
}

static struct chat_node *parse_compare(struct parser *p)
{
    static const char *const signs[] = { "==", "!=", "<=", ">=", "<", ">", NULL };
    struct chat_node *n = parse_sum(p), *all = NULL, **last = NULL;

    while (p->status == LEAT_OK) {
        const char *sign = pass_one_of(p, signs);

        if (!sign && chat_pass_word(p, "in"))
            sign = "in";
        if (!sign && chat_is_word(p, "not") && p->at[1].kind == CHAT_T_NAME && p->at[1].bytes == 2 &&
            memcmp(p->at[1].at, "in", 2) == 0) {
            p->at += 2;
            sign = "not in";
        }
        if (!sign)
            break;
        if (!all) {
            all = two(p, CHAT_N_COMPARE, n, NULL, NULL);
            last = &all->b;
        }
        *last = two(p, CHAT_N_OPERAND, parse_sum(p), NULL, sign);
        last = &(*last)->next;
    }
    return all ? all : n;
}

static struct chat_node *parse_not(struct parser *p)
{
    struct chat_node *n;

    if (!chat_pass_word(p, "not"))
        return parse_compare(p);
    if (++p->depth > 200)
        chat_refuse(p, "it is nested too deeply", p->at);
    n = p->status == LEAT_OK ? two(p, CHAT_N_NOT, parse_not(p), NULL, NULL) : chat_node(p, CHAT_N_VALUE);
    p->depth--;
    return n;
}

static struct chat_node *parse_and(struct parser *p)
{
    struct chat_node *n = parse_not(p);

    while (p->status == LEAT_OK && chat_pass_word(p, "and"))
        n = two(p, CHAT_N_AND, n, parse_not(p), NULL);
    return n;
}

struct chat_node *chat_parse_or(struct parser *p)
{
    struct chat_node *n = parse_and(p);

    while (p->status == LEAT_OK && chat_pass_word(p, "or"))
        n = two(p, CHAT_N_OR, n, parse_and(p), NULL);
    return n;
}

struct chat_node *chat_parse_expression(struct parser *p)
{
    struct chat_node *n = chat_parse_or(p);

    while (p->status == LEAT_OK && chat_pass_word(p, "if")) {
        n = two(p, CHAT_N_CHOICE, n, chat_parse_or(p), NULL);
        if (chat_pass_word(p, "else"))
            n->c = chat_parse_expression(p);
    }
    return n;
}

struct chat_node *chat_parse_tuple(struct parser *p, struct chat_node *(*one)(struct parser *))
{
    struct chat_node *first = one(p), *list, **last;

    if (!chat_is_sign(p, ","))
        return first;
    list = two(p, CHAT_N_LIST, first, NULL, NULL);
    list->number = CHAT_TUPLE;
    for (last = &first->next; p->status == LEAT_OK && chat_pass_sign(p, ",") && !chat_is_sign(p, ")");
         last = &(*last)->next)
        *last = one(p);
    return list;
}
