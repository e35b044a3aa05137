/* chat_run.c: the statements of a template, one after another. */
#include "chat_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"

#define MAX_DEPTH 200

/* ---- Output ---- */

enum leat_status chat_to_string(struct chat_run *r, const struct chat_node *at, const struct chat_value *v,
                                struct chat_string *out)
{
    char number[CHAT_REAL_ROOM] = "";

    *out = (struct chat_string) { NULL, 0 };
    switch (v->kind) {
    case CHAT_BIG:
    case CHAT_STRING:
        *out = v->string;
        return LEAT_OK;
    case CHAT_UNDEFINED:
        return LEAT_OK;
    case CHAT_NONE:
        memcpy(number, "None", sizeof "None");
        break;
    case CHAT_BOOL:
        memcpy(number, v->truth ? "True" : "False", v->truth ? sizeof "True" : sizeof "False");
        break;
    case CHAT_INT:
        snprintf(number, sizeof number, "%" PRId64, v->number);
        break;
    case CHAT_FLOAT:
        chat_real_text(v->real, number);
        break;
    default:
        return status_set(r->err, LEAT_E_TEXT, "line %u of the chat template: %s as text is not supported", at->line,
                          chat_kind_name(v->kind));
    }
    return chat_string_make(r->arena, number, strlen(number), v->flags & CHAT_MARKS, out, r->err);
}

static enum leat_status write_text(struct chat_run *r, const struct chat_node *at, struct chat_string s)
{
    size_t from = r->out.count;
    enum leat_status status = chat_text_add(r->arena, &r->out, s, r->err);

    if (status == LEAT_OK)
        status = chat_work(r, at, s.count);

    for (size_t i = from; status == LEAT_OK && r->marks != 0 && i < r->out.count; i++)
        r->out.codes[i] |= r->marks;
    return status;
}

/* ---- Scopes ---- */

static enum leat_status set_name(struct chat_run *r, struct chat_string name, const struct chat_value *v)
{
    return chat_dict_set(r->arena, &r->scope->names, name, v, r->err);
}

static enum leat_status open_scope(struct chat_run *r, struct chat_scope *up)
{
    struct chat_scope *s = chat_arena_get(r->arena, sizeof *s, r->err);

    if (!s)
        return r->err->status;
    s->up = up;
    r->scope = s;
    return LEAT_OK;
}

/* One name, or as many as the value has items. */
static enum leat_status set_names(struct chat_run *r, const struct chat_node *names, const struct chat_value *v)
{
    struct chat_list items;
    size_t i = 0;
    enum leat_status s;

    if (names->kind == CHAT_N_NAME)
        return set_name(r, names->name_codes, v);
    s = chat_items(r, names, v, &items);
    for (const struct chat_node *n = names->a; s == LEAT_OK && n; n = n->next, i++)
        s = i < items.count ? set_name(r, n->name_codes, &items.items[i])
                            : chat_fail(r, n, "a value has fewer items than there are names");
    return s == LEAT_OK && i < items.count ? chat_fail(r, names, "a value has more items than there are names") : s;
}

static enum leat_status set_member(struct chat_run *r, const struct chat_node *n, const struct chat_value *value)
{
    const struct chat_value *space = chat_lookup(r, n->a->a->name_codes);

    if (!space || space->kind != CHAT_NAMESPACE)
        return chat_fail(r, n, "a member is set of what is not a namespace");
    return chat_dict_set(r->arena, space->dict, n->a->name_codes, value, r->err);
}

static enum leat_status run_set(struct chat_run *r, const struct chat_node *n)
{
    struct chat_value value;
    enum leat_status s = chat_eval(r, n->b, &value);

    if (s != LEAT_OK || n->a->kind != CHAT_N_MEMBER)
        return s == LEAT_OK ? set_names(r, n->a, &value) : s;
    return set_member(r, n, &value);
}

/* Begins what a template writes elsewhere first, until r->inside is less again. */
static void go_inside(struct chat_run *r)
{
    if (r->inside++ == 0)
        r->yielded = r->out.count;
}

/* Runs a body whose output becomes a value. */
static enum leat_status capture(struct chat_run *r, const struct chat_node *body, struct chat_value *out)
{
    struct chat_text kept = r->out;
    enum leat_status s;

    go_inside(r);
    r->out = (struct chat_text) { 0 };
    s = chat_run_body(r, body);
    r->inside--;
    *out = chat_str((struct chat_string) { r->out.codes, r->out.count });
    r->out = kept;
    return s;
}

static enum leat_status run_set_block(struct chat_run *r, const struct chat_node *n)
{
    struct chat_value value;
    struct chat_scope *scope = r->scope;
    uint32_t marks = r->marks;
    enum leat_status s = open_scope(r, scope);

    r->marks = 0; /* what is written where the value is, counts */
    if (s == LEAT_OK)
        s = capture(r, n->b, &value);
    r->marks = marks;
    r->scope = scope;
    if (s != LEAT_OK || r->jump != CHAT_GO_ON) /* it broke out of the loop around the block */
        return s;
    if (n->a->kind == CHAT_N_NAME)
        return set_name(r, n->a->name_codes, &value);
    return set_member(r, n, &value);
}

/* ---- Loops ---- */

static enum leat_status set_loop(struct chat_run *r, struct chat_list items, size_t i)
{
    const struct chat_value missing = { .kind = CHAT_UNDEFINED };
    const struct {
        const char *name;
        struct chat_value value;
    } members[] = { { "index", chat_int((int64_t)i + 1) },
                    { "index0", chat_int((int64_t)i) },
                    { "revindex", chat_int((int64_t)(items.count - i)) },
                    { "revindex0", chat_int((int64_t)(items.count - i) - 1) },
                    { "first", chat_bool(i == 0) },
                    { "last", chat_bool(i + 1 == items.count) },
                    { "length", chat_int((int64_t)items.count) },
                    { "depth", chat_int(1) },
                    { "depth0", chat_int(0) },
                    { "previtem", i > 0 ? items.items[i - 1] : missing },
                    { "nextitem", i + 1 < items.count ? items.items[i + 1] : missing } };
    struct chat_value loop = { .kind = CHAT_LOOP };
    struct chat_string name;
    enum leat_status s = LEAT_OK;

    loop.dict = chat_arena_get(r->arena, sizeof *loop.dict, r->err);
    if (!loop.dict)
        return r->err->status;
    for (size_t k = 0; s == LEAT_OK && k < sizeof members / sizeof *members; k++) {
        s = chat_string_ascii(r->arena, members[k].name, &name, r->err);
        if (s == LEAT_OK)
            s = chat_dict_set(r->arena, loop.dict, name, &members[k].value, r->err);
    }
    if (s == LEAT_OK)
        s = chat_string_ascii(r->arena, "loop", &name, r->err);
    return s == LEAT_OK ? set_name(r, name, &loop) : s;
}

/* Keeps the items for which the loop's condition holds. */
static enum leat_status choose_items(struct chat_run *r, const struct chat_node *n, struct chat_list *items)
{
    struct chat_scope *scope = r->scope;
    struct chat_list kept = { NULL, 0 };
    struct chat_value holds;
    enum leat_status s = LEAT_OK;

    if (!n->d)
        return LEAT_OK;
    kept.items = chat_arena_get(r->arena, items->count * sizeof *kept.items, r->err);
    if (!kept.items)
        return r->err->status;
    for (size_t i = 0; s == LEAT_OK && i < items->count; i++) {
        s = open_scope(r, scope);
        if (s == LEAT_OK)
            s = set_names(r, n->a, &items->items[i]);
        if (s == LEAT_OK)
            s = chat_eval(r, n->d, &holds);
        if (s == LEAT_OK && chat_truth(&holds))
            kept.items[kept.count++] = items->items[i];
    }
    r->scope = scope;
    *items = kept;
    return s;
}

static enum leat_status run_for(struct chat_run *r, const struct chat_node *n)
{
    struct chat_scope *scope = r->scope;
    struct chat_value list;
    struct chat_list items;
    bool whole = false; /* the end of the body was reached: in Jinja else is for loops in which that never happened */
    enum leat_status s = chat_eval(r, n->b, &list);

    if (s == LEAT_OK)
        s = chat_items(r, n, &list, &items);
    if (s == LEAT_OK)
        s = choose_items(r, n, &items);
    for (size_t i = 0; s == LEAT_OK && i < items.count && r->jump != CHAT_BREAK; i++) {
        r->jump = CHAT_GO_ON;
        s = open_scope(r, scope);
        if (s == LEAT_OK)
            s = set_loop(r, items, i);
        if (s == LEAT_OK)
            s = set_names(r, n->a, &items.items[i]);
        if (s == LEAT_OK)
            s = chat_run_body(r, n->c);
        whole = whole || r->jump == CHAT_GO_ON;
    }
    r->jump = CHAT_GO_ON;
    r->scope = scope;
    if (s != LEAT_OK || whole || !n->e)
        return s;
    s = open_scope(r, scope);
    if (s == LEAT_OK)
        s = chat_run_body(r, n->e);
    r->scope = scope;
    return s;
}

/* ---- Macros and generation ---- */

static enum leat_status set_ascii(struct chat_run *r, const char *name, const struct chat_value *v)
{
    struct chat_string string;
    enum leat_status s = chat_string_ascii(r->arena, name, &string, r->err);

    return s == LEAT_OK ? set_name(r, string, v) : s;
}

/* What a macro's parameters leave of its arguments: varargs and kwargs, if it uses them. */
static enum leat_status set_rest(struct chat_run *r, const struct chat_node *at, const struct chat_node *macro,
                                 const struct chat_arguments *with, size_t parameters)
{
    size_t taken = with->plain.count < parameters ? with->plain.count : parameters, i = 0;
    struct chat_value rest = { .kind = CHAT_LIST, .flags = CHAT_TUPLE };
    struct chat_value named = { .kind = CHAT_DICT };
    enum leat_status s = LEAT_OK;

    rest.list = (struct chat_list) { with->plain.items + taken, with->plain.count - taken };
    named.dict = chat_arena_get(r->arena, sizeof *named.dict, r->err);
    if (!named.dict)
        return r->err->status;
    for (size_t k = 0; s == LEAT_OK && k < with->named.count; k++) {
        const struct chat_pair *pair = &with->named.pairs[k];
        const struct chat_node *p = macro->a;

        for (i = 0; p && !(i >= with->plain.count && chat_string_equal(p->name_codes, pair->key)); p = p->next)
            i++;
        if (!p)
            s = chat_dict_set(r->arena, named.dict, pair->key, &pair->value, r->err);
    }
    if (s == LEAT_OK && ((rest.list.count > 0 && !(macro->number & CHAT_USES_VARARGS)) ||
                         (named.dict->count > 0 && !(macro->number & CHAT_USES_KWARGS))))
        return chat_fail(r, at, "a macro is called with arguments that it does not have");
    if (s == LEAT_OK && macro->number & CHAT_USES_VARARGS)
        s = set_ascii(r, "varargs", &rest);
    return s == LEAT_OK && macro->number & CHAT_USES_KWARGS ? set_ascii(r, "kwargs", &named) : s;
}

static enum leat_status set_parameters(struct chat_run *r, const struct chat_node *at, const struct chat_node *macro,
                                       const struct chat_arguments *with)
{
    const struct chat_value missing = { .kind = CHAT_UNDEFINED };
    size_t i = 0;
    enum leat_status s = LEAT_OK;

    for (const struct chat_node *p = macro->a; s == LEAT_OK && p; p = p->next, i++)
        s = set_name(r, p->name_codes, &missing); /* a default that names a later one finds none */
    if (s == LEAT_OK)
        s = set_rest(r, at, macro, with, i);
    i = 0;
    for (const struct chat_node *p = macro->a; s == LEAT_OK && p; p = p->next, i++) {
        const struct chat_value *given =
            i < with->plain.count ? &with->plain.items[i] : chat_dict_find(&with->named, p->name_codes);
        struct chat_value value = missing;

        if (given)
            value = *given;
        else if (p->b)
            s = chat_eval(r, p->b, &value);
        if (s == LEAT_OK)
            s = set_name(r, p->name_codes, &value);
    }
    return s;
}

enum leat_status chat_call_macro(struct chat_run *r, const struct chat_node *at, const struct chat_value *macro,
                                 const struct chat_arguments *with, struct chat_value *out)
{
    struct chat_scope *scope = r->scope;
    uint32_t marks = r->marks;
    enum leat_status s = open_scope(r, macro->macro.scope);

    if (s == LEAT_OK)
        s = set_parameters(r, at, macro->macro.node, with);
    r->marks = 0;
    if (s == LEAT_OK)
        s = capture(r, macro->macro.node->c, out);
    r->marks = marks;
    r->scope = scope;
    return s;
}

static enum leat_status run_generation(struct chat_run *r, const struct chat_node *n)
{
    struct chat_scope *scope = r->scope;
    uint32_t marks = r->marks;
    size_t from = r->out.count;
    uint32_t place[2];
    enum leat_status s = open_scope(r, scope);

    go_inside(r);
    r->marks |= CHAT_GENERATION;
    if (s == LEAT_OK)
        s = chat_run_body(r, n->a);
    r->marks = marks;
    r->inside--;
    r->scope = scope;
    place[0] = (uint32_t)r->yielded; /* a run's memory has fewer characters than 2^32 */
    place[1] = (uint32_t)(r->yielded + r->out.count - from);
    return s == LEAT_OK ? chat_text_add(r->arena, &r->generated, (struct chat_string) { place, 2 }, r->err) : s;
}

/* ---- Statements ---- */

static enum leat_status run_one(struct chat_run *r, const struct chat_node *n)
{
    struct chat_value value = { .kind = CHAT_UNDEFINED };
    struct chat_string string;
    enum leat_status s;

    switch (n->kind) {
    case CHAT_N_TEXT:
        return write_text(r, n, n->value.string);
    case CHAT_N_PRINT:
        s = chat_eval(r, n->a, &value);
        if (s == LEAT_OK)
            s = chat_to_string(r, n, &value, &string);
        return s == LEAT_OK ? write_text(r, n, string) : s;
    case CHAT_N_IF:
        s = chat_eval(r, n->a, &value);
        return s == LEAT_OK ? chat_run_body(r, chat_truth(&value) ? n->b : n->c) : s;
    case CHAT_N_FOR:
        return run_for(r, n);
    case CHAT_N_SET:
        return run_set(r, n);
    case CHAT_N_SET_BLOCK:
        return run_set_block(r, n);
    case CHAT_N_MACRO:
        value = (struct chat_value) { .kind = CHAT_MACRO, .macro = { n, r->scope } };
        return set_name(r, n->name_codes, &value);
    case CHAT_N_GENERATION:
        return run_generation(r, n);
    default:
        r->jump = n->kind == CHAT_N_BREAK ? CHAT_BREAK : CHAT_CONTINUE;
        return LEAT_OK;
    }
}

enum leat_status chat_run_body(struct chat_run *r, const struct chat_node *body)
{
    enum leat_status s = LEAT_OK;

    if (body && r->depth >= MAX_DEPTH)
        return chat_fail(r, body, "rendering is nested too deeply");
    r->depth++;
    for (; s == LEAT_OK && body && r->jump == CHAT_GO_ON; body = body->next)
        s = run_one(r, body);
    r->depth--;
    return s;
}
