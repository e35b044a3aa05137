/* chat_operators.c: operators, and parts of values, as Python has them. */
#include <string.h>

#include "chat_run.h"

/* ---- Operators ---- */

static enum leat_status join_two(struct chat_run *r, struct chat_string a, struct chat_string b, struct chat_value *out)
{
    struct chat_text text = { 0 };
    enum leat_status s = chat_text_add(r->arena, &text, a, r->err);

    if (s == LEAT_OK)
        s = chat_text_add(r->arena, &text, b, r->err);
    *out = chat_str((struct chat_string) { text.codes, text.count });
    return s;
}

static enum leat_status add_lists(struct chat_run *r, struct chat_list a, struct chat_list b, struct chat_value *out)
{
    struct chat_value *items = chat_arena_get(r->arena, (a.count + b.count) * sizeof *items, r->err);

    if (!items)
        return r->err->status;
    if (a.count > 0)
        memcpy(items, a.items, a.count * sizeof *items);
    if (b.count > 0)
        memcpy(items + a.count, b.items, b.count * sizeof *items);
    *out = (struct chat_value) { .kind = CHAT_LIST };
    out->list = (struct chat_list) { items, a.count + b.count };
    return LEAT_OK;
}

static bool to_number(const struct chat_value *v, int64_t *number)
{
    *number = v->kind == CHAT_BOOL ? v->truth : v->number;
    return v->kind == CHAT_INT || v->kind == CHAT_BOOL;
}

static enum leat_status compute(struct chat_run *r, const struct chat_node *n, int64_t a, int64_t b, int64_t *out)
{
    bool overflows = false;

    switch (*n->name) {
    case '+':
        overflows = __builtin_add_overflow(a, b, out);
        break;
    case '-':
        overflows = __builtin_sub_overflow(a, b, out);
        break;
    case '*':
        overflows = __builtin_mul_overflow(a, b, out);
        break;
    default: /* // and %, which round down */
        if (b == 0 || (a == INT64_MIN && b == -1))
            return chat_fail(r, n, "a division by zero");
        *out = *n->name == '/' ? a / b - (a % b != 0 && (a < 0) != (b < 0))
                               : a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0);
    }
    return overflows ? chat_fail(r, n, "a number is too big") : LEAT_OK;
}

enum leat_status chat_binary(struct chat_run *r, const struct chat_node *n, const struct chat_value *a,
                             const struct chat_value *b, struct chat_value *out)
{
    struct chat_string x, y;
    int64_t i, j;
    enum leat_status s;

    if (*n->name == '~') {
        s = chat_to_string(r, n, a, &x);
        if (s == LEAT_OK)
            s = chat_to_string(r, n, b, &y);
        return s == LEAT_OK ? join_two(r, x, y, out) : s;
    }
    if (*n->name == '+' && a->kind == CHAT_STRING && b->kind == CHAT_STRING)
        return join_two(r, a->string, b->string, out);
    if (*n->name == '+' && a->kind == CHAT_LIST && b->kind == CHAT_LIST)
        return add_lists(r, a->list, b->list, out);
    if (!to_number(a, &i) || !to_number(b, &j))
        return chat_fail(r, n, "an operator stands between values that it does not take");
    out->kind = CHAT_INT;
    return compute(r, n, i, j, &out->number);
}

static int order_of(struct chat_string a, struct chat_string b)
{
    size_t i = 0;
    uint32_t x, y;

    while (i < a.count && i < b.count && (a.codes[i] & CHAT_CODE) == (b.codes[i] & CHAT_CODE))
        i++;
    x = i < a.count ? (a.codes[i] & CHAT_CODE) + 1 : 0;
    y = i < b.count ? (b.codes[i] & CHAT_CODE) + 1 : 0;
    return (x > y) - (x < y);
}

enum leat_status chat_same(struct chat_run *r, const struct chat_node *at, const struct chat_value *a,
                           const struct chat_value *b, bool wanted, bool *holds)
{
    int equal = chat_equal(a, b);

    *holds = (equal == 1) == wanted;
    return equal >= 0 ? LEAT_OK : chat_fail(r, at, "values are compared that are too large, or nested too deeply");
}

enum leat_status chat_contains(struct chat_run *r, const struct chat_node *at, const struct chat_value *part,
                               const struct chat_value *whole, bool *holds)
{
    enum leat_status s = LEAT_OK;

    *holds = false;
    switch (whole->kind) {
    case CHAT_STRING:
        if (part->kind != CHAT_STRING)
            return chat_fail(r, at, "what is not a string is looked for in a string");
        *holds = part->string.count == 0 || chat_string_find(whole->string, part->string, 0) < whole->string.count;
        return LEAT_OK;
    case CHAT_LIST:
        for (size_t i = 0; s == LEAT_OK && !*holds && i < whole->list.count; i++)
            s = chat_same(r, at, &whole->list.items[i], part, true, holds);
        return s;
    case CHAT_DICT:
        *holds = part->kind == CHAT_STRING && chat_dict_find(whole->dict, part->string);
        return LEAT_OK;
    case CHAT_UNDEFINED:
        return LEAT_OK;
    default:
        return chat_fail(r, at, "something is looked for in what is neither a string, a list nor a dict");
    }
}

enum leat_status chat_compare(struct chat_run *r, const struct chat_node *operand, const struct chat_value *a,
                              const struct chat_value *b, bool *holds)
{
    const char *name = operand->name;
    int64_t i, j;
    int order;
    enum leat_status s;

    if (strcmp(name, "in") == 0 || strcmp(name, "not in") == 0) {
        s = chat_contains(r, operand, a, b, holds);
        *holds = *holds == (*name == 'i');
        return s;
    }
    if (name[1] == '=' && (*name == '=' || *name == '!'))
        return chat_same(r, operand, a, b, *name == '=', holds);
    if (to_number(a, &i) && to_number(b, &j))
        order = (i > j) - (i < j);
    else if (a->kind == CHAT_STRING && b->kind == CHAT_STRING)
        order = order_of(a->string, b->string);
    else
        return chat_fail(r, operand, "values are compared that have no order");
    *holds = *name == '<' ? order < 0 : order > 0;
    *holds = *holds || (order == 0 && name[1] == '=');
    return LEAT_OK;
}

/* ---- Parts ---- */

enum leat_status chat_member(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                             struct chat_value *out)
{
    const struct chat_value *found = NULL;

    out->kind = CHAT_UNDEFINED;
    switch (of->kind) {
    case CHAT_UNDEFINED:
        return chat_fail(r, n, "a member of what is undefined");
    case CHAT_DICT:
    case CHAT_STRING:
    case CHAT_LIST:
        if (chat_has_method(of->kind, n->name)) {
            out->kind = CHAT_METHOD;
            out->method.self = of;
            out->method.name = n;
            return LEAT_OK;
        }
        if (of->kind != CHAT_DICT)
            return chat_fail(r, n, "a member of a string or list that is not supported");
        found = chat_dict_find(of->dict, n->name_codes);
        break;
    case CHAT_NAMESPACE:
        found = chat_dict_find(of->dict, n->name_codes);
        break;
    default:
        break;
    }
    if (found)
        *out = *found;
    return LEAT_OK;
}

static struct chat_value one_of(struct chat_string s, size_t i)
{
    return chat_str((struct chat_string) { s.codes + i, 1 });
}

enum leat_status chat_index(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                            const struct chat_value *key, struct chat_value *out)
{
    size_t count = of->kind == CHAT_STRING ? of->string.count : of->kind == CHAT_LIST ? of->list.count : 0;
    const struct chat_value *found;
    int64_t at = key->number;

    out->kind = CHAT_UNDEFINED;
    if (of->kind == CHAT_UNDEFINED)
        return chat_fail(r, n, "a part of what is undefined");
    if (of->kind == CHAT_DICT && key->kind == CHAT_STRING) {
        found = chat_dict_find(of->dict, key->string);
        if (found)
            *out = *found;
        return LEAT_OK;
    }
    if ((of->kind != CHAT_STRING && of->kind != CHAT_LIST) || key->kind != CHAT_INT)
        return chat_fail(r, n, "a part of a value by a key that it does not have");
    at += at < 0 ? (int64_t)count : 0;
    if (at >= 0 && (uint64_t)at < count)
        *out = of->kind == CHAT_STRING ? one_of(of->string, (size_t)at) : of->list.items[at];
    return LEAT_OK;
}

/* An end of a slice, as Python clips it. */
static int64_t clip(const struct chat_value *v, int64_t count, int64_t step, int64_t usual)
{
    int64_t at = v->number, least = step < 0 ? -1 : 0, most = step < 0 ? count - 1 : count;

    if (v->kind != CHAT_INT)
        return usual;
    if (at < 0)
        at = at < -count ? -1 : at + count;
    if (at < least)
        at = least;
    return at > most ? most : at;
}

enum leat_status chat_slice(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                            const struct chat_value ends[3], struct chat_value *out)
{
    bool text = of->kind == CHAT_STRING;
    int64_t count = (int64_t)(text ? of->string.count : of->list.count), step, begin, end;
    size_t taken = 0, room;
    void *memory;

    if (!text && of->kind != CHAT_LIST)
        return chat_fail(r, n, "a stretch of what is neither a string nor a list");
    for (unsigned i = 0; i < 3; i++)
        if (ends[i].kind != CHAT_INT && ends[i].kind != CHAT_UNDEFINED && ends[i].kind != CHAT_NONE)
            return chat_fail(r, n, "an end of a stretch that is not a number");
    step = ends[2].kind == CHAT_INT ? ends[2].number : 1;
    if (step == 0 || step < -1000000 || step > 1000000)
        return chat_fail(r, n, "a step that is not supported");
    begin = clip(&ends[0], count, step, step < 0 ? count - 1 : 0);
    end = clip(&ends[1], count, step, step < 0 ? -1 : count);
    room = step > 0 ? (end > begin ? (size_t)(end - begin) : 0) : (begin > end ? (size_t)(begin - end) : 0);
    memory = chat_arena_get(r->arena, room * (text ? sizeof(uint32_t) : sizeof *out), r->err);
    if (!memory)
        return r->err->status;
    for (int64_t i = begin; step > 0 ? i < end : i > end; i += step, taken++) {
        if (text)
            ((uint32_t *)memory)[taken] = of->string.codes[i];
        else
            ((struct chat_value *)memory)[taken] = of->list.items[i];
    }
    *out = (struct chat_value) { .kind = of->kind };
    if (text)
        out->string = (struct chat_string) { memory, taken };
    else
        out->list = (struct chat_list) { memory, taken };
    return LEAT_OK;
}

enum leat_status chat_items(struct chat_run *r, const struct chat_node *at, const struct chat_value *of,
                            struct chat_list *items)
{
    size_t count = of->kind == CHAT_STRING ? of->string.count : of->kind == CHAT_DICT ? of->dict->count : 0;

    *items = (struct chat_list) { NULL, 0 };
    if (of->kind == CHAT_UNDEFINED)
        return LEAT_OK;
    if (of->kind == CHAT_LIST) {
        *items = of->list;
        return LEAT_OK;
    }
    if (of->kind != CHAT_STRING && of->kind != CHAT_DICT)
        return chat_fail(r, at, "a loop over what has no items");
    items->items = chat_arena_get(r->arena, count * sizeof *items->items, r->err);
    if (!items->items)
        return r->err->status;
    for (; items->count < count; items->count++)
        items->items[items->count] =
            of->kind == CHAT_STRING ? one_of(of->string, items->count) : chat_str(of->dict->pairs[items->count].key);
    return LEAT_OK;
}
