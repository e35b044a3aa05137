/* chat_lists.c: filters and methods of lists and dicts. */
#include <string.h>

#include "chat_functions.h"

/* ---- Lists ---- */

enum leat_status chat_do_length(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                const struct chat_arguments *with, struct chat_value *out)
{
    (void)with;
    *out = chat_int(of->kind == CHAT_STRING ? (int64_t)of->string.count
                    : of->kind == CHAT_LIST ? (int64_t)of->list.count
                    : of->kind == CHAT_DICT ? (int64_t)of->dict->count
                                            : 0);
    return of->kind == CHAT_STRING || of->kind == CHAT_LIST || of->kind == CHAT_DICT || of->kind == CHAT_UNDEFINED
               ? LEAT_OK
               : chat_fail(r, n, "the length of what has none");
}

enum leat_status chat_do_list(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                              const struct chat_arguments *with, struct chat_value *out)
{
    struct chat_list items;
    enum leat_status s = chat_items(r, n, of, &items);

    (void)with;
    *out = chat_make_list(items, 0);
    return s;
}

enum leat_status chat_do_first(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                               const struct chat_arguments *with, struct chat_value *out)
{
    struct chat_list items;
    enum leat_status s = chat_items(r, n, of, &items);

    (void)with;
    *out = s == LEAT_OK && items.count > 0 ? items.items[0] : (struct chat_value) { .kind = CHAT_UNDEFINED };
    if (s == LEAT_OK && of->kind == CHAT_ITERATOR && items.count > 0)
        *of->rest = (struct chat_list) { items.items + 1, items.count - 1 };
    return s;
}

enum leat_status chat_do_last(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                              const struct chat_arguments *with, struct chat_value *out)
{
    struct chat_list items;
    enum leat_status s = of->kind == CHAT_ITERATOR ? chat_fail(r, n, "the last item of an iterator: use | list | last")
                                                   : chat_items(r, n, of, &items);

    (void)with;
    *out =
        s == LEAT_OK && items.count > 0 ? items.items[items.count - 1] : (struct chat_value) { .kind = CHAT_UNDEFINED };
    return s;
}

enum leat_status chat_do_reverse(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                 const struct chat_arguments *with, struct chat_value *out)
{
    const struct chat_value backwards[3] = { { .kind = CHAT_ABSENT }, { .kind = CHAT_ABSENT }, chat_int(-1) };
    struct chat_list items;
    struct chat_value list;
    enum leat_status s;

    (void)with;
    if (of->kind == CHAT_STRING)
        return chat_slice(r, n, of, backwards, out);
    s = chat_items(r, n, of, &items);
    list = chat_make_list(items, 0);
    if (s == LEAT_OK)
        s = chat_slice(r, n, &list, backwards, out);
    return s == LEAT_OK && of->kind != CHAT_ITERATOR ? chat_make_iterator(r, out->list, out) : s;
}

enum leat_status chat_do_list_count(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                    const struct chat_arguments *with, struct chat_value *out)
{
    bool same = false;
    enum leat_status s = LEAT_OK;

    *out = chat_int(0);
    for (size_t i = 0; s == LEAT_OK && i < of->list.count; i++) {
        s = chat_same(r, n, &of->list.items[i], chat_argument(with, 0), true, &same);
        out->number += same;
    }
    return s;
}

enum leat_status chat_do_list_index(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                    const struct chat_arguments *with, struct chat_value *out)
{
    bool same = false;
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < of->list.count; i++) {
        s = chat_same(r, n, &of->list.items[i], chat_argument(with, 0), true, &same);
        if (s == LEAT_OK && same) {
            *out = chat_int((int64_t)i);
            return LEAT_OK;
        }
    }
    return s == LEAT_OK ? chat_fail(r, n, "index() of what is not in the list") : s;
}

/* ---- Dicts ---- */

enum leat_status chat_do_items_method(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                      const struct chat_arguments *with, struct chat_value *out)
{
    size_t count = of->dict->count;

    (void)with;
    *out = chat_make_list((struct chat_list) { NULL, 0 }, CHAT_VIEW);
    out->list.items = chat_arena_get(r->arena, 3 * count * sizeof *out, r->err);
    if (!out->list.items)
        return r->err->status;
    for (size_t i = 0; i < count; i++) {
        struct chat_value *pair = out->list.items + count + 2 * i;

        pair[0] = chat_str(of->dict->pairs[i].key);
        pair[1] = of->dict->pairs[i].value;
        out->list.items[i] = chat_make_list((struct chat_list) { pair, 2 }, CHAT_TUPLE);
    }
    out->list.count = count;
    return chat_work(r, n, 64 * count);
}

enum leat_status chat_do_items(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                               const struct chat_arguments *with, struct chat_value *out)
{
    enum leat_status s;

    if (of->kind == CHAT_UNDEFINED)
        return chat_make_iterator(r, (struct chat_list) { NULL, 0 }, out);
    if (of->kind != CHAT_DICT)
        return chat_fail(r, n, "items of what is not a dict");
    s = chat_do_items_method(r, n, of, with, out);
    return s == LEAT_OK ? chat_make_iterator(r, out->list, out) : s;
}

enum leat_status chat_do_values(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                const struct chat_arguments *with, struct chat_value *out)
{
    enum leat_status s = chat_do_items_method(r, n, of, with, out);

    for (size_t i = 0; s == LEAT_OK && i < out->list.count; i++)
        out->list.items[i] = out->list.items[i].list.items[1];
    return s;
}

enum leat_status chat_do_keys(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                              const struct chat_arguments *with, struct chat_value *out)
{
    enum leat_status s = chat_do_list(r, n, of, with, out);

    out->flags = CHAT_VIEW;
    return s;
}

enum leat_status chat_do_copy(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                              const struct chat_arguments *with, struct chat_value *out)
{
    (void)r;
    (void)n;
    (void)with;
    *out = *of; /* nothing changes a dict */
    return LEAT_OK;
}

enum leat_status chat_do_get(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                             const struct chat_arguments *with, struct chat_value *out)
{
    const struct chat_value *key = chat_argument(with, 0), *found = NULL, *usual = chat_argument(with, 1);

    if (key->kind == CHAT_LIST || key->kind == CHAT_DICT)
        return chat_fail(r, n, "get() of a list or dict");
    if (key->kind == CHAT_STRING)
        found = chat_dict_find(of->dict, key->string);
    found = found ? found : usual;
    *out = found ? *found : (struct chat_value) { .kind = CHAT_NONE };
    return key->kind == CHAT_STRING ? chat_work(r, n, key->string.count) : LEAT_OK;
}

/* ---- In order ---- */

struct sorting {
    struct chat_run *run;
    const struct chat_node *at;
    bool reverse, equal_first; /* Jinja's sort compares lists of keys, so that any equal ones may stand side by side */
    enum leat_status status;
};

static enum leat_status order_keys(struct sorting *w, const struct chat_value *a, const struct chat_value *b,
                                   int *order)
{
    bool same = false;
    enum leat_status s = w->equal_first ? chat_same(w->run, w->at, a, b, true, &same) : LEAT_OK;

    *order = 0;
    return s == LEAT_OK && !same ? chat_order(w->run, w->at, a, b, order) : s;
}

/* Merges two stretches of keys and items, which lie one after the other; equal ones keep their order. */
static void merge(struct sorting *w, struct chat_value (*from)[2], size_t middle, size_t end,
                  struct chat_value (*to)[2])
{
    size_t i = 0, k = middle, at = 0;
    int order = 0;

    while (w->status == LEAT_OK && at < end) {
        if (i < middle && k < end)
            w->status = order_keys(w, &from[i][0], &from[k][0], &order);
        if (w->status == LEAT_OK && i < middle && k < end && order == 2)
            w->status = chat_fail(w->run, w->at, "sorting NaN is not supported");
        if (k == end || (i < middle && (w->reverse ? order >= 0 : order <= 0)))
            memcpy(to[at++], from[i++], sizeof *to);
        else
            memcpy(to[at++], from[k++], sizeof *to);
    }
}

/* Sorts pairs of a key and an item by the keys; the result is in one of the two memories. */
static struct chat_value (*sort_pairs(struct sorting *w, struct chat_value (*pairs)[2], struct chat_value (*other)[2],
                                      size_t count))[2]
{
    for (size_t step = 1; w->status == LEAT_OK && step < count; step *= 2) {
        struct chat_value(*swap)[2] = pairs;

        for (size_t at = 0; at < count; at += 2 * step) {
            size_t end = count - at < 2 * step ? count - at : 2 * step;

            merge(w, pairs + at, step < end ? step : end, end, other + at);
        }
        pairs = other;
        other = swap;
    }
    return pairs;
}

static bool is_true(const struct chat_arguments *with, size_t i)
{
    const struct chat_value *v = chat_argument(with, i);

    return v && chat_truth(v);
}

/* What sorting looks at of an item. */
static enum leat_status make_key(struct chat_run *r, const struct chat_node *n, const struct chat_value *item,
                                 const struct chat_value *attribute, bool case_counts, struct chat_value *out)
{
    struct chat_value part = *item;
    enum leat_status s = LEAT_OK;

    if (attribute && attribute->kind != CHAT_NONE)
        s = chat_attribute(r, n, item, attribute, NULL, &part);
    return s == LEAT_OK ? chat_fold(r, n, &part, case_counts, out) : s;
}

static enum leat_status sort_items(struct chat_run *r, const struct chat_node *n, struct chat_list items,
                                   const struct chat_value *attribute, bool case_counts, struct sorting w,
                                   struct chat_value *out)
{
    struct chat_value(*pairs)[2] = chat_arena_get(r->arena, items.count * sizeof *pairs, r->err);
    struct chat_value(*other)[2] = pairs ? chat_arena_get(r->arena, items.count * sizeof *pairs, r->err) : NULL;
    struct chat_growing sorted = { .room = 0 };

    if (!other)
        return r->err->status;
    for (size_t i = 0; w.status == LEAT_OK && i < items.count; i++) {
        w.status = make_key(r, n, &items.items[i], attribute, case_counts, &pairs[i][0]);
        pairs[i][1] = items.items[i];
    }
    pairs = sort_pairs(&w, pairs, other, items.count);
    for (size_t i = 0; w.status == LEAT_OK && i < items.count; i++)
        w.status = chat_add_item(r, &sorted, &pairs[i][1]);
    *out = chat_make_list(sorted.list, 0);
    return w.status;
}

static bool has_comma(const struct chat_value *attribute)
{
    for (size_t i = 0; attribute && attribute->kind == CHAT_STRING && i < attribute->string.count; i++)
        if ((attribute->string.codes[i] & CHAT_CODE) == ',')
            return true;
    return false;
}

enum leat_status chat_do_sort(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                              const struct chat_arguments *with, struct chat_value *out)
{
    struct chat_list items;
    enum leat_status s = chat_items(r, n, of, &items);

    if (has_comma(chat_argument(with, 2)))
        return chat_fail(r, n, "sort by several attributes is not supported");
    return s == LEAT_OK
               ? sort_items(r, n, items, chat_argument(with, 2), is_true(with, 1),
                            (struct sorting) { .run = r, .at = n, .reverse = is_true(with, 0), .equal_first = true },
                            out)
               : s;
}

enum leat_status chat_do_dictsort(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                  const struct chat_arguments *with, struct chat_value *out)
{
    const struct chat_value *by = chat_argument(with, 1);
    struct chat_value attribute = chat_int(0), items;
    enum leat_status s;

    if (of->kind != CHAT_DICT)
        return chat_fail(r, n, "dictsort of what is not a dict");
    if (by && (by->kind != CHAT_STRING || !chat_string_is(by->string, "key")))
        attribute.number = 1;
    if (attribute.number == 1 && (by->kind != CHAT_STRING || !chat_string_is(by->string, "value")))
        return chat_fail(r, n, "dictsort by what is neither \"key\" nor \"value\"");
    s = chat_do_items_method(r, n, of, with, &items);
    return s == LEAT_OK ? sort_items(r, n, items.list, &attribute, is_true(with, 0),
                                     (struct sorting) { .run = r, .at = n, .reverse = is_true(with, 2) }, out)
                        : s;
}

/* The first of the least, or of the greatest. */
static enum leat_status find_end(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                 const struct chat_arguments *with, int sign, struct chat_value *out)
{
    struct chat_value key, best = { .kind = CHAT_UNDEFINED };
    struct chat_list items;
    int order = 0;
    enum leat_status s = chat_items(r, n, of, &items);

    *out = best;
    for (size_t i = 0; s == LEAT_OK && i < items.count; i++) {
        s = make_key(r, n, &items.items[i], chat_argument(with, 1), is_true(with, 0), &key);
        if (s == LEAT_OK && i > 0)
            s = chat_order(r, n, &key, &best, &order);
        if (s != LEAT_OK || (i > 0 && (order == 2 || order * sign <= 0)))
            continue;
        best = key;
        *out = items.items[i];
    }
    return s;
}

enum leat_status chat_do_min(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                             const struct chat_arguments *with, struct chat_value *out)
{
    return find_end(r, n, of, with, -1, out);
}

enum leat_status chat_do_max(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                             const struct chat_arguments *with, struct chat_value *out)
{
    return find_end(r, n, of, with, 1, out);
}

enum leat_status chat_do_sum(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                             const struct chat_arguments *with, struct chat_value *out)
{
    const struct chat_value *attribute = chat_argument(with, 0), *start = chat_argument(with, 1);
    struct chat_list items;
    int64_t sum = 0, number;
    uint32_t marks = start ? start->flags : 0;
    enum leat_status s = chat_items(r, n, of, &items);

    if (start && !chat_to_int(start, &sum))
        return chat_fail(r, n, "the sum of what is not an integer is not supported");
    for (size_t i = 0; s == LEAT_OK && i < items.count; i++) {
        struct chat_value item = items.items[i];

        if (attribute && attribute->kind != CHAT_NONE)
            s = chat_attribute(r, n, &items.items[i], attribute, NULL, &item);
        if (s == LEAT_OK && (!chat_to_int(&item, &number) || __builtin_add_overflow(sum, number, &sum)))
            return chat_fail(r, n, "the sum of what is not an integer, or too big, is not supported");
        marks |= item.flags;
    }
    *out = chat_int(sum);
    out->flags = marks & CHAT_MARKS;
    return s;
}

/* Whether a key was seen; strings are found in a dict, other values one by one. */
static enum leat_status was_seen(struct chat_run *r, const struct chat_node *n, const struct chat_value *key,
                                 struct chat_dict *strings, struct chat_growing *others, bool *seen)
{
    enum leat_status s = LEAT_OK;

    *seen = false;
    if (key->kind == CHAT_LIST || key->kind == CHAT_DICT)
        return chat_fail(r, n, "unique of lists or dicts");
    if (key->kind == CHAT_STRING) {
        *seen = chat_dict_find(strings, key->string) != NULL;
        s = *seen ? LEAT_OK : chat_dict_set(r->arena, strings, key->string, key, r->err);
        return s == LEAT_OK ? chat_work(r, n, key->string.count) : s;
    }
    for (size_t i = 0; s == LEAT_OK && !*seen && i < others->list.count; i++)
        s = chat_same(r, n, &others->list.items[i], key, true, seen);
    return s == LEAT_OK && !*seen ? chat_add_item(r, others, key) : s;
}

enum leat_status chat_do_unique(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                const struct chat_arguments *with, struct chat_value *out)
{
    struct chat_growing others = { .room = 0 }, kept = { .room = 0 };
    struct chat_dict strings = { .count = 0 };
    struct chat_value key;
    struct chat_list items;
    bool seen;
    enum leat_status s = chat_items(r, n, of, &items);

    for (size_t i = 0; s == LEAT_OK && i < items.count; i++) {
        s = make_key(r, n, &items.items[i], chat_argument(with, 1), is_true(with, 0), &key);
        if (s == LEAT_OK)
            s = was_seen(r, n, &key, &strings, &others, &seen);
        if (s == LEAT_OK && !seen)
            s = chat_add_item(r, &kept, &items.items[i]);
    }
    return s == LEAT_OK ? chat_make_iterator(r, kept.list, out) : s;
}
