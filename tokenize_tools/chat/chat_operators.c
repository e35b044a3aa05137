/* chat_operators.c: operators, and parts of values, as Python has them. */
#include <string.h>

#include "chat_run.h"

/* ---- Operators ---- */

enum leat_status chat_escape(struct chat_run *r, struct chat_string s, struct chat_string *out)
{
    static const char signs[] = "&<>\"'";
    static const char *const names[] = { "&amp;", "&lt;", "&gt;", "&#34;", "&#39;" };
    struct chat_text text = { 0 };
    enum leat_status status = LEAT_OK;

    for (size_t i = 0; status == LEAT_OK && i < s.count; i++) {
        uint32_t code = s.codes[i] & CHAT_CODE, marks = s.codes[i] & ~CHAT_CODE;
        const char *found = code != 0 && code < 0x80 ? strchr(signs, (int)code) : NULL;

        if (!found)
            status = chat_text_add(r->arena, &text, chat_string_part(s, i, i + 1), r->err);
        for (const char *c = found ? names[found - signs] : ""; status == LEAT_OK && *c; c++) {
            code = (unsigned char)*c | marks;
            status = chat_text_add(r->arena, &text, (struct chat_string) { &code, 1 }, r->err);
        }
    }
    *out = (struct chat_string) { text.codes, text.count };
    return status;
}

/* Two strings, one after the other; what | safe gave makes the other one HTML, as Python's markupsafe does. */
static enum leat_status chat_join_two(struct chat_run *r, const struct chat_value *a, const struct chat_value *b,
                                      struct chat_value *out)
{
    struct chat_text text = { 0 };
    struct chat_string first = a->string, second = b->string;
    enum leat_status s = LEAT_OK;

    if (b->flags & CHAT_SAFE && !(a->flags & CHAT_SAFE))
        s = chat_escape(r, first, &first);
    if (s == LEAT_OK && a->flags & CHAT_SAFE && !(b->flags & CHAT_SAFE))
        s = chat_escape(r, second, &second);
    if (s == LEAT_OK)
        s = chat_text_add(r->arena, &text, first, r->err);
    if (s == LEAT_OK)
        s = chat_text_add(r->arena, &text, second, r->err);
    *out = chat_str((struct chat_string) { text.codes, text.count });
    out->flags = (a->flags | b->flags) & CHAT_SAFE;
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

/* A string or list, so many times. */
static enum leat_status repeat(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                               int64_t times, struct chat_value *out)
{
    bool text = of->kind == CHAT_STRING;
    size_t count = text ? of->string.count : of->list.count, size = text ? sizeof(uint32_t) : sizeof *out;
    const void *from = text ? (const void *)of->string.codes : of->list.items;
    size_t all;
    char *to;

    if (times < 0 || count == 0)
        times = 0;
    if (__builtin_mul_overflow(count, (uint64_t)times, &all) || all > SIZE_MAX / 4 / size)
        return chat_fail(r, n, "something is repeated too often");
    to = chat_arena_get(r->arena, all * size, r->err);
    if (!to)
        return r->err->status;
    for (size_t i = 0; i < all; i += count)
        memcpy(to + i * size, from, count * size);
    *out = *of;
    if (text)
        out->string = (struct chat_string) { (uint32_t *)(void *)to, all };
    else
        out->list = (struct chat_list) { (struct chat_value *)(void *)to, all };
    return chat_work(r, n, all * size / sizeof(uint32_t));
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
    return overflows ? chat_fail(r, n, "an integer beyond 64 bits is not supported") : LEAT_OK;
}

#define EXACT ((int64_t)1 << 53) /* integers up to this are doubles */

static enum leat_status divide(struct chat_run *r, const struct chat_node *n, const struct chat_value *a,
                               const struct chat_value *b, struct chat_value *out)
{
    const struct chat_value *const both[] = { a, b };
    int64_t i;

    for (unsigned k = 0; k < 2; k++)
        if (chat_to_int(both[k], &i) && (i > EXACT || i < -EXACT))
            return chat_fail(r, n, "a division of a number beyond 2^53 is not supported");
    if (chat_to_real(b) == 0)
        return chat_fail(r, n, "a division by zero");
    *out = chat_real(chat_to_real(a) / chat_to_real(b));
    return LEAT_OK;
}

static enum leat_status compute_real(struct chat_run *r, const struct chat_node *n, double a, double b,
                                     struct chat_value *out)
{
    if (n->name[0] == '/' || n->name[0] == '%')
        return chat_fail(r, n, "// and % of a number with a fraction are not supported");
    *out = chat_real(*n->name == '+' ? a + b : *n->name == '-' ? a - b : a * b);
    return LEAT_OK;
}

enum leat_status chat_binary(struct chat_run *r, const struct chat_node *n, const struct chat_value *a,
                             const struct chat_value *b, struct chat_value *out)
{
    bool lists = a->kind == CHAT_LIST && b->kind == CHAT_LIST && a->flags == b->flags && a->flags <= CHAT_TUPLE;
    struct chat_value x = { .kind = CHAT_STRING }, y = x, sum;
    int64_t i, j;
    enum leat_status s;

    if (*n->name == '~') {
        s = chat_to_string(r, n, a, &x.string);
        if (s == LEAT_OK)
            s = chat_to_string(r, n, b, &y.string);
        return s == LEAT_OK ? chat_join_two(r, &x, &y, out) : s;
    }
    if (*n->name == '+' && a->kind == CHAT_STRING && b->kind == CHAT_STRING)
        return chat_join_two(r, a, b, out);
    if (*n->name == '+' && lists) {
        s = add_lists(r, a->list, b->list, &sum);
        sum.flags = a->flags;
        *out = sum;
        return s;
    }
    if (*n->name == '*' && chat_to_int(b, &j) &&
        (a->kind == CHAT_STRING || (a->kind == CHAT_LIST && a->flags <= CHAT_TUPLE)))
        return repeat(r, n, a, j, out);
    if (*n->name == '*' && chat_to_int(a, &i) &&
        (b->kind == CHAT_STRING || (b->kind == CHAT_LIST && b->flags <= CHAT_TUPLE)))
        return repeat(r, n, b, i, out);
    if (!chat_is_number(a) || !chat_is_number(b))
        return chat_fail_kinds(r, n, "an operator stands between values that it does not take", a, b);
    sum = chat_int(0);
    if (strcmp(n->name, "/") == 0)
        s = divide(r, n, a, b, &sum);
    else if (!chat_to_int(a, &i) || !chat_to_int(b, &j))
        s = compute_real(r, n, chat_to_real(a), chat_to_real(b), &sum);
    else
        s = compute(r, n, i, j, &sum.number);
    sum.flags = a->flags | b->flags;
    *out = sum;
    return s;
}

static int chat_string_order(struct chat_string a, struct chat_string b)
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
    unsigned steps;
    int equal = chat_equal(a, b, &steps);

    *holds = (equal == 1) == wanted;
    if (equal < 0)
        return chat_fail(r, at, "values are compared that are too large, nested too deeply, or not supported");
    return chat_work(r, at, (size_t)steps * 64);
}

static enum leat_status find_in(struct chat_run *r, const struct chat_node *at, const struct chat_value *part,
                                struct chat_string whole, bool *holds)
{
    struct chat_search search;
    enum leat_status s = part->kind == CHAT_STRING ? chat_search_make(r->arena, part->string, &search, r->err)
                                                   : chat_fail(r, at, "what is not a string is looked for in a string");

    if (s != LEAT_OK)
        return s;
    *holds = chat_search_find(&search, whole, 0) != SIZE_MAX;
    return chat_work(r, at, whole.count + part->string.count);
}

static enum leat_status chat_contains(struct chat_run *r, const struct chat_node *at, const struct chat_value *part,
                                      const struct chat_value *whole, bool *holds)
{
    enum leat_status s = LEAT_OK;

    *holds = false;
    switch (whole->kind) {
    case CHAT_STRING:
        return find_in(r, at, part, whole->string, holds);
    case CHAT_LIST:
        for (size_t i = 0; s == LEAT_OK && !*holds && i < whole->list.count; i++)
            s = chat_same(r, at, &whole->list.items[i], part, true, holds);
        return s;
    case CHAT_DICT:
        if (part->kind == CHAT_LIST || part->kind == CHAT_DICT)
            return chat_fail(r, at, "a list or dict is looked for in a dict");
        *holds = part->kind == CHAT_STRING && chat_dict_find(whole->dict, part->string);
        return part->kind == CHAT_STRING ? chat_work(r, at, part->string.count) : LEAT_OK;
    case CHAT_UNDEFINED:
        return LEAT_OK;
    default:
        return chat_fail(r, at, "something is looked for in what is neither a string, a list nor a dict");
    }
}

enum leat_status chat_order(struct chat_run *r, const struct chat_node *at, const struct chat_value *a,
                            const struct chat_value *b, int *order)
{
    if (chat_is_number(a) && chat_is_number(b)) {
        *order = chat_number_order(a, b);
        return LEAT_OK;
    }
    if (a->kind != CHAT_STRING || b->kind != CHAT_STRING)
        return chat_fail_kinds(r, at, "values are compared that have no order", a, b);
    *order = chat_string_order(a->string, b->string);
    return chat_work(r, at, a->string.count);
}

enum leat_status chat_compare(struct chat_run *r, const struct chat_node *operand, const struct chat_value *a,
                              const struct chat_value *b, bool *holds)
{
    const char *name = operand->name;
    int order = 0;
    enum leat_status s;

    if (strcmp(name, "in") == 0 || strcmp(name, "not in") == 0) {
        s = chat_contains(r, operand, a, b, holds);
        *holds = *holds == (*name == 'i');
        return s;
    }
    if (name[1] == '=' && (*name == '=' || *name == '!'))
        return chat_same(r, operand, a, b, *name == '=', holds);
    s = chat_order(r, operand, a, b, &order);
    *holds = order != 2 && (*name == '<' ? order < 0 : order > 0);
    *holds = *holds || (order == 0 && name[1] == '=');
    return s;
}

/* ---- Parts ---- */

/* What a dot finds. Python looks at a value's own members first, then at what it holds. */
static enum leat_status find_method(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                    const char *name, struct chat_value *out)
{
    struct chat_value *self;
    const struct chat_row *row = chat_method_of(of, name);

    *out = (struct chat_value) { .kind = CHAT_UNDEFINED };
    if (!row)
        return LEAT_OK;
    if (chat_is_changing(row))
        return chat_fail(r, n, "a method that changes a list or dict, which transformers forbids");
    self = chat_arena_get(r->arena, sizeof *self, r->err);
    if (!self)
        return r->err->status;
    *self = *of;
    *out = (struct chat_value) { .kind = CHAT_METHOD, .method = { self, row } };
    return LEAT_OK;
}

static const struct chat_value *held(const struct chat_value *of, struct chat_string name)
{
    return of->kind == CHAT_DICT || of->kind == CHAT_NAMESPACE || of->kind == CHAT_LOOP ? chat_dict_find(of->dict, name)
                                                                                        : NULL;
}

enum leat_status chat_member(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                             struct chat_value *out)
{
    const struct chat_value *found = held(of, n->name_codes);
    enum leat_status s;

    if (of->kind == CHAT_UNDEFINED)
        return chat_fail(r, n, "a member of what is undefined");
    if (strncmp(n->name, "__", 2) == 0 && !found)
        return chat_fail(r, n, "names that begin with __ are not supported");
    s = find_method(r, n, of, n->name, out);
    if (s == LEAT_OK && out->kind == CHAT_UNDEFINED && found)
        *out = *found;
    return s;
}

static struct chat_value one_of(struct chat_string s, size_t i)
{
    return chat_str((struct chat_string) { s.codes + i, 1 });
}

#define NAME_ROOM 32 /* for the names of methods */

enum leat_status chat_part(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                           struct chat_string name, struct chat_value *out)
{
    const struct chat_value *found = held(of, name);
    char text[NAME_ROOM];

    *out = (struct chat_value) { .kind = CHAT_UNDEFINED };
    if (of->kind == CHAT_UNDEFINED)
        return chat_fail(r, n, "a part of what is undefined");
    if (found)
        *out = *found;
    if (found || name.count + 1 > sizeof text)
        return chat_work(r, n, name.count);
    for (size_t i = 0; i < name.count; i++)
        text[i] = (name.codes[i] & CHAT_CODE) < 0x80 ? (char)(name.codes[i] & CHAT_CODE) : '?';
    text[name.count] = '\0';
    if (strncmp(text, "__", 2) == 0)
        return chat_fail(r, n, "names that begin with __ are not supported");
    return find_method(r, n, of, text, out);
}

enum leat_status chat_index(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                            const struct chat_value *key, struct chat_value *out)
{
    bool list = of->kind == CHAT_LIST && of->flags != CHAT_VIEW;
    size_t count = of->kind == CHAT_STRING ? of->string.count : list ? of->list.count : 0;
    int64_t at;

    if (key->kind == CHAT_STRING)
        return chat_part(r, n, of, key->string, out);
    *out = (struct chat_value) { .kind = CHAT_UNDEFINED };
    if (of->kind == CHAT_UNDEFINED)
        return chat_fail(r, n, "a part of what is undefined");
    if (!chat_to_int(key, &at))
        return LEAT_OK;
    at += at < 0 ? (int64_t)count : 0;
    if (at < 0 || (uint64_t)at >= count)
        return LEAT_OK;
    *out = list ? of->list.items[at] : one_of(of->string, (size_t)at);
    if (!list)
        out->flags = of->flags;
    return LEAT_OK;
}

/* An end of a slice, as Python clips it. */
static int64_t clip(const struct chat_value *v, int64_t count, int64_t step, int64_t usual)
{
    int64_t at, least = step < 0 ? -1 : 0, most = step < 0 ? count - 1 : count;

    if (!chat_to_int(v, &at))
        return usual;
    if (at < 0)
        at = at < -count ? -1 : at + count;
    if (at < least)
        at = least;
    return at > most ? most : at;
}

/* Whether Python takes a slice of it so. */
static bool can_slice(const struct chat_value *of, const struct chat_value ends[3])
{
    int64_t number;

    for (unsigned i = 0; i < 3; i++)
        if (!chat_to_int(&ends[i], &number) && ends[i].kind != CHAT_ABSENT && ends[i].kind != CHAT_NONE)
            return false;
    return of->kind == CHAT_STRING || (of->kind == CHAT_LIST && of->flags != CHAT_VIEW);
}

enum leat_status chat_slice(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                            const struct chat_value ends[3], struct chat_value *out)
{
    bool text = of->kind == CHAT_STRING;
    int64_t count = (int64_t)(text ? of->string.count : of->list.count), step, begin, end;
    size_t taken = 0, room;
    void *memory;

    if (!can_slice(of, ends))
        return chat_fail(r, n, "only slices of strings and lists, with integers, are supported");
    if (!chat_to_int(&ends[2], &step))
        step = 1;
    if (step == 0 || step < -1000000 || step > 1000000)
        return chat_fail(r, n, step == 0 ? "a slice with a step of 0" : "a step that is not supported");
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
    *out = (struct chat_value) { .kind = of->kind, .flags = of->flags };
    if (text)
        out->string = (struct chat_string) { memory, taken };
    else
        out->list = (struct chat_list) { memory, taken };
    return chat_work(r, n, room);
}

enum leat_status chat_items(struct chat_run *r, const struct chat_node *at, const struct chat_value *of,
                            struct chat_list *items)
{
    size_t count = of->kind == CHAT_STRING ? of->string.count : of->kind == CHAT_DICT ? of->dict->count : 0;

    *items = (struct chat_list) { NULL, 0 };
    if (of->kind == CHAT_UNDEFINED)
        return LEAT_OK;
    if (of->kind == CHAT_LIST || of->kind == CHAT_ITERATOR) {
        *items = of->kind == CHAT_LIST ? of->list : *of->rest;
        if (of->kind == CHAT_ITERATOR)
            of->rest->count = 0;
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
    return chat_work(r, at, 16 * count);
}
