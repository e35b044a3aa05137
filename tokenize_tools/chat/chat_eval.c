/* chat_eval.c: the values of expressions. */
#include <string.h>

#include "base/status.h"
#include "chat_run.h"

#define MAX_DEPTH 200
#define MAX_STEPS 20000000u
#define MAX_RANGE 100000 /* as in Jinja's sandbox */

enum leat_status chat_fail(struct chat_run *r, const struct chat_node *at, const char *what)
{
    return status_set(r->err, LEAT_E_TEXT, "line %u of the chat template: %s", at->line, what);
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

/* ---- Functions ---- */

static enum leat_status raise_exception(struct chat_run *r, const struct chat_node *n,
                                        const struct chat_arguments *with)
{
    char text[400];
    struct chat_string message = { NULL, 0 };
    size_t count = 0;
    enum leat_status s = LEAT_OK;

    if (with->plain.count > 0)
        s = chat_to_string(r, n, &with->plain.items[0], &message);
    for (; s == LEAT_OK && count < message.count && count + 1 < sizeof text; count++)
        text[count] = (message.codes[count] & CHAT_CODE) < 0x7f ? (char)message.codes[count] : '?';
    text[count] = '\0';
    return s == LEAT_OK ? status_set(r->err, LEAT_E_TEXT, "the chat template refuses it: %s", text) : s;
}

static enum leat_status make_range(struct chat_run *r, const struct chat_node *n, const struct chat_arguments *with,
                                   struct chat_value *out)
{
    int64_t ends[3] = { 0, 0, 1 }, count;

    if (with->plain.count < 1 || with->plain.count > 2 || with->named.count > 0)
        return chat_fail(r, n, "range() is supported with one or two numbers");
    for (size_t i = 0; i < with->plain.count; i++) {
        if (with->plain.items[i].kind != CHAT_INT)
            return chat_fail(r, n, "range() takes numbers");
        ends[with->plain.count == 1 ? 1 : i] = with->plain.items[i].number;
    }
    count = ends[1] > ends[0] ? ends[1] - ends[0] : 0;
    if (count > MAX_RANGE || ends[0] < -MAX_RANGE || ends[1] > INT64_MAX / 2)
        return chat_fail(r, n, "range() is too big");
    *out = (struct chat_value) { .kind = CHAT_LIST };
    out->list.items = chat_arena_get(r->arena, (size_t)count * sizeof *out, r->err);
    if (!out->list.items)
        return r->err->status;
    for (out->list.count = 0; out->list.count < (size_t)count; out->list.count++)
        out->list.items[out->list.count] = chat_int(ends[0] + (int64_t)out->list.count);
    return LEAT_OK;
}

static enum leat_status make_namespace(struct chat_run *r, const struct chat_node *n, const struct chat_arguments *with,
                                       struct chat_value *out)
{
    out->kind = CHAT_NAMESPACE;
    out->dict = chat_arena_get(r->arena, sizeof *out->dict, r->err);
    if (!out->dict)
        return r->err->status;
    *out->dict = with->named;
    return with->plain.count > 0 ? chat_fail(r, n, "namespace() is supported with named members only") : LEAT_OK;
}

static enum leat_status call(struct chat_run *r, const struct chat_node *n, struct chat_value *out)
{
    const char *name = n->a->kind == CHAT_N_NAME ? n->a->name : "";
    struct chat_arguments with;
    struct chat_value what;
    enum leat_status s = take_arguments(r, n, &with);

    if (s != LEAT_OK)
        return s;
    if (n->a->kind == CHAT_N_NAME && !chat_lookup(r, n->a->name_codes)) {
        if (strcmp(name, "raise_exception") == 0)
            return raise_exception(r, n, &with);
        if (strcmp(name, "range") == 0)
            return make_range(r, n, &with, out);
        if (strcmp(name, "namespace") == 0)
            return make_namespace(r, n, &with, out);
    }
    s = chat_eval(r, n->a, &what);
    if (s != LEAT_OK)
        return s;
    if (what.kind == CHAT_METHOD)
        return chat_method(r, n, what.method.self, what.method.name->name, &with, out);
    if (what.kind == CHAT_MACRO)
        return chat_call_macro(r, n, what.macro, &with, out);
    return chat_fail(r, n, "it calls what is not a function that is supported");
}

/* ---- Expressions ---- */

static enum leat_status make_list(struct chat_run *r, const struct chat_node *n, struct chat_value *out)
{
    size_t count = 0;
    enum leat_status s = LEAT_OK;

    for (const struct chat_node *i = n->a; i; i = i->next)
        count++;
    *out = (struct chat_value) { .kind = CHAT_LIST };
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

    out->kind = CHAT_DICT;
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
            s = chat_dict_set(r->arena, out->dict, key.string, &value, r->err);
    }
    return s;
}

static enum leat_status eval_slice(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                   struct chat_value *out)
{
    const struct chat_node *const nodes[] = { n->b, n->c, n->d };
    struct chat_value ends[3] = { { .kind = CHAT_UNDEFINED } };
    enum leat_status s = LEAT_OK;

    for (unsigned i = 0; s == LEAT_OK && i < 3; i++) {
        ends[i].kind = CHAT_UNDEFINED;
        if (nodes[i])
            s = chat_eval(r, nodes[i], &ends[i]);
    }
    return s == LEAT_OK ? chat_slice(r, n, of, ends, out) : s;
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
        return s == LEAT_OK ? chat_filter(r, n, of, &with, out) : s;
    case CHAT_N_TEST:
        s = take_arguments(r, n, &with);
        if (s == LEAT_OK)
            s = chat_test(r, n, of, &with, &holds);
        *out = chat_bool(holds != (n->number != 0));
        return s;
    case CHAT_N_NOT:
        *out = chat_bool(!chat_truth(of));
        return LEAT_OK;
    case CHAT_N_MINUS:
        *out = chat_int(of->kind == CHAT_INT && of->number != INT64_MIN ? -of->number : 0);
        return of->kind == CHAT_INT && of->number != INT64_MIN
                   ? LEAT_OK
                   : chat_fail(r, n, "- stands before what is not a number, or too small");
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
    out->kind = CHAT_UNDEFINED;
    return n->c ? chat_eval(r, n->c, out) : LEAT_OK;
}

static enum leat_status eval(struct chat_run *r, const struct chat_node *n, struct chat_value *out)
{
    const struct chat_value *found;
    struct chat_value *of;
    enum leat_status s;

    switch (n->kind) {
    case CHAT_N_VALUE:
        *out = n->value;
        return LEAT_OK;
    case CHAT_N_NAME:
        found = chat_lookup(r, n->name_codes);
        *out = found ? *found : (struct chat_value) { .kind = CHAT_UNDEFINED };
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
    enum leat_status s;

    if (r->depth >= MAX_DEPTH || ++r->steps > MAX_STEPS)
        return chat_fail(r, n, "rendering takes too many steps, or is nested too deeply");
    r->depth++;
    s = eval(r, n, out);
    r->depth--;
    return s;
}
