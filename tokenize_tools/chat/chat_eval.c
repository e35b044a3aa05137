/* chat_eval.c: the values of expressions. */
#include <string.h>

#include "base/status.h"
#include "base/tiny.h"
#include "chat_run.h"

#define MAX_DEPTH 200
#define MAX_STEPS TINY_OR(2000000u, 20000000u)
#define ASK_STEPS 65536u /* milliseconds */

enum leat_status chat_fail(struct chat_run *r, const struct chat_node *at, const char *what)
{
    return status_set(r->err, LEAT_E_TEXT, "line %u of the chat template: %s", at->line, what);
}

enum leat_status chat_fail_kinds(struct chat_run *r, const struct chat_node *at, const char *what,
                                 const struct chat_value *a, const struct chat_value *b)
{
    if (a->kind == CHAT_BIG || b->kind == CHAT_BIG)
        what = "an integer beyond 64 bits is not supported here";
    else if (a->kind == CHAT_LIST && b->kind == CHAT_LIST)
        what = "lists with an operator other than +, == or in are not supported";
    else if (a->kind == CHAT_STRING && at->name && *at->name == '%')
        what = "% after a string is not supported";
    return chat_fail(r, at, what);
}

enum leat_status chat_work(struct chat_run *r, const struct chat_node *at, size_t characters)
{
    r->steps += 1 + characters / CHAT_STEP;
    if (r->steps > MAX_STEPS)
        return chat_fail(r, at, "rendering takes too many steps");
    if (r->steps - r->asked < ASK_STEPS)
        return LEAT_OK;
    r->asked = r->steps;
    return r->limits->stop && r->limits->stop(r->limits->context)
               ? status_set(r->err, LEAT_E_STOPPED, "rendering was stopped")
               : LEAT_OK;
}

struct chat_value *chat_lookup(struct chat_run *r, struct chat_string name)
{
    for (struct chat_scope *s = r->scope; s; s = s->up) {
        struct chat_value *v = chat_dict_find(&s->names, name);

        if (v)
            return v;
    }
    return NULL;
}

/* The value of a name: range, ... are below all scopes. */
static struct chat_value chat_name(struct chat_run *r, const struct chat_node *n)
{
    const struct chat_value *found = chat_lookup(r, n->name_codes);
    struct chat_value function = { .kind = CHAT_FUNCTION, .function = chat_function_named(n->name) };

    if (found)
        return *found;
    return function.function ? function : (struct chat_value) { .kind = CHAT_UNDEFINED };
}

static enum leat_status take_arguments(struct chat_run *r, const struct chat_node *n, struct chat_arguments *with)
{
    size_t count = 0;
    enum leat_status s = LEAT_OK;
    struct chat_value value;

    memset(with, 0, sizeof *with);
    for (const struct chat_node *a = n->b; a; a = a->next)
        count++;
    with->plain.items = chat_arena_get(r->arena, count * sizeof value, r->err);
    if (!with->plain.items)
        return r->err->status;
    for (const struct chat_node *a = n->b; s == LEAT_OK && a; a = a->next)
        s = chat_eval(r, a, &with->plain.items[with->plain.count++]);
    for (const struct chat_node *a = n->c; s == LEAT_OK && a; a = a->next) {
        s = chat_eval(r, a->a, &value);
        if (s == LEAT_OK)
            s = chat_dict_set(r->arena, &with->named, a->name_codes, &value, r->err);
    }
    return s;
}

static enum leat_status call(struct chat_run *r, const struct chat_node *n, struct chat_value *out)
{
    struct chat_arguments with;
    struct chat_value what;
    enum leat_status s = chat_eval(r, n->a, &what);

    if (s == LEAT_OK)
        s = take_arguments(r, n, &with);
    if (s != LEAT_OK)
        return s;
    if (what.kind == CHAT_METHOD)
        return chat_call_row(r, n, what.method.row, what.method.self, &with, out);
    if (what.kind == CHAT_FUNCTION)
        return chat_call_row(r, n, what.function, &what, &with, out);
    if (what.kind == CHAT_MACRO)
        return chat_call_macro(r, n, &what, &with, out);
    return chat_fail(r, n, "it calls what is not a function that is supported");
}

/* ---- Expressions ---- */

static enum leat_status make_list(struct chat_run *r, const struct chat_node *n, struct chat_value *out)
{
    size_t count = 0;
    enum leat_status s = LEAT_OK;

    for (const struct chat_node *i = n->a; i; i = i->next)
        count++;
    *out = (struct chat_value) { .kind = CHAT_LIST, .flags = (uint32_t)n->number };
    out->list.items = chat_arena_get(r->arena, count * sizeof *out, r->err);
    if (!out->list.items)
        return r->err->status;
    for (const struct chat_node *i = n->a; s == LEAT_OK && i; i = i->next)
        s = chat_eval(r, i, &out->list.items[out->list.count++]);
    return s;
}

static enum leat_status make_dict(struct chat_run *r, const struct chat_node *n, struct chat_value *out)
{
    enum leat_status s = LEAT_OK;
    struct chat_value key, value;

    *out = (struct chat_value) { .kind = CHAT_DICT };
    out->dict = chat_arena_get(r->arena, sizeof *out->dict, r->err);
    if (!out->dict)
        return r->err->status;
    for (const struct chat_node *i = n->a; s == LEAT_OK && i; i = i->next) {
        s = chat_eval(r, i->a, &key);
        if (s == LEAT_OK && key.kind != CHAT_STRING)
            s = chat_fail(r, i, "a key of a dict that is not a string is not supported");
        if (s == LEAT_OK)
            s = chat_eval(r, i->b, &value);
        if (s == LEAT_OK)
            s = chat_work(r, i, key.string.count);
        if (s == LEAT_OK)
            s = chat_dict_set(r->arena, out->dict, key.string, &value, r->err);
    }
    return s;
}

static enum leat_status eval_slice(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                   struct chat_value *out)
{
    const struct chat_node *const nodes[] = { n->b, n->c, n->d };
    struct chat_value ends[3];
    enum leat_status s = LEAT_OK;

    for (unsigned i = 0; s == LEAT_OK && i < 3; i++) {
        ends[i] = (struct chat_value) { .kind = CHAT_ABSENT };
        if (nodes[i])
            s = chat_eval(r, nodes[i], &ends[i]);
    }
    return s == LEAT_OK ? chat_slice(r, n, of, ends, out) : s;
}

static enum leat_status with_sign(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                  struct chat_value *out)
{
    bool minus = n->kind == CHAT_N_MINUS;
    int64_t number;

    if (of->kind == CHAT_FLOAT) {
        *out = chat_real(minus ? -of->real : of->real);
        out->flags = of->flags;
        return LEAT_OK;
    }
    if (!chat_to_int(of, &number) || (minus && number == INT64_MIN))
        return chat_fail_kinds(r, n, "a sign before what is not a number, or too small", of, of);
    *out = chat_int(minus ? -number : number);
    out->flags = of->flags;
    return LEAT_OK;
}

/* Those that have one value to begin with. */
static enum leat_status eval_with(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                  struct chat_value *out)
{
    struct chat_arguments with;
    struct chat_value other;
    bool holds = false;
    enum leat_status s;

    switch (n->kind) {
    case CHAT_N_MEMBER:
        return chat_member(r, n, of, out);
    case CHAT_N_INDEX:
        s = chat_eval(r, n->b, &other);
        return s == LEAT_OK ? chat_index(r, n, of, &other, out) : s;
    case CHAT_N_SLICE:
        return eval_slice(r, n, of, out);
    case CHAT_N_FILTER:
        s = take_arguments(r, n, &with);
        return s == LEAT_OK ? chat_filter(r, n, n->name, of, &with, out) : s;
    case CHAT_N_TEST:
        s = take_arguments(r, n, &with);
        if (s == LEAT_OK)
            s = chat_test(r, n, n->name, of, &with, &holds);
        *out = chat_bool(holds != (n->number != 0));
        return s;
    case CHAT_N_NOT:
        *out = chat_bool(!chat_truth(of));
        return LEAT_OK;
    case CHAT_N_MINUS:
    case CHAT_N_PLUS:
        return with_sign(r, n, of, out);
    case CHAT_N_AND:
    case CHAT_N_OR:
        *out = *of;
        return chat_truth(of) == (n->kind == CHAT_N_AND) ? chat_eval(r, n->b, out) : LEAT_OK;
    default: /* CHAT_N_BINARY */
        s = chat_eval(r, n->b, &other);
        return s == LEAT_OK ? chat_binary(r, n, of, &other, out) : s;
    }
}

static enum leat_status eval_compare(struct chat_run *r, const struct chat_node *n, struct chat_value *out)
{
    struct chat_value left, right;
    bool holds = true;
    enum leat_status s = chat_eval(r, n->a, &left);

    for (const struct chat_node *o = n->b; s == LEAT_OK && holds && o; o = o->next) {
        s = chat_eval(r, o->a, &right);
        if (s == LEAT_OK)
            s = chat_compare(r, o, &left, &right, &holds);
        left = right;
    }
    *out = chat_bool(holds);
    return s;
}

static enum leat_status eval_choice(struct chat_run *r, const struct chat_node *n, struct chat_value *out)
{
    struct chat_value condition;
    enum leat_status s = chat_eval(r, n->b, &condition);

    if (s != LEAT_OK)
        return s;
    if (chat_truth(&condition))
        return chat_eval(r, n->a, out);
    *out = (struct chat_value) { .kind = CHAT_UNDEFINED };
    return n->c ? chat_eval(r, n->c, out) : LEAT_OK;
}

static enum leat_status eval(struct chat_run *r, const struct chat_node *n, struct chat_value *out)
{
    struct chat_value *of;
    enum leat_status s;

    switch (n->kind) {
    case CHAT_N_VALUE:
        *out = n->value;
        return LEAT_OK;
    case CHAT_N_NAME:
        *out = chat_name(r, n);
        return LEAT_OK;
    case CHAT_N_LIST:
        return make_list(r, n, out);
    case CHAT_N_DICT:
        return make_dict(r, n, out);
    case CHAT_N_CALL:
        return call(r, n, out);
    case CHAT_N_CHOICE:
        return eval_choice(r, n, out);
    case CHAT_N_COMPARE:
        return eval_compare(r, n, out);
    default:
        of = chat_arena_get(r->arena, sizeof *of, r->err); /* a method keeps it */
        if (!of)
            return r->err->status;
        s = chat_eval(r, n->a, of);
        return s == LEAT_OK ? eval_with(r, n, of, out) : s;
    }
}

enum leat_status chat_eval(struct chat_run *r, const struct chat_node *n, struct chat_value *out)
{
    enum leat_status s = chat_work(r, n, 0);

    if (s != LEAT_OK)
        return s;
    if (r->depth >= MAX_DEPTH)
        return chat_fail(r, n, "rendering is nested too deeply");
    r->depth++;
    s = eval(r, n, out);
    r->depth--;
    return s;
}
