/* chat_select.c: filters that go through a list: map, select, reject, selectattr, rejectattr. What they give is an
 * iterator, which is true even if it has no items, has no length, and is gone through once. */
#include <string.h>

#include "chat_functions.h"

#define NAME_ROOM 32

/* The name of a filter or test, in ASCII; "" if the value is longer than all names. */
static enum leat_status take_name(struct chat_run *r, const struct chat_node *n, const struct chat_value *v,
                                  char name[NAME_ROOM])
{
    if (v->kind != CHAT_STRING)
        return chat_fail(r, n, "the name of a filter or test that is not a string");
    name[0] = '\0';
    for (size_t i = 0; i < v->string.count && v->string.count < NAME_ROOM; i++) {
        uint32_t c = v->string.codes[i] & CHAT_CODE;

        name[i] = c < 0x80 ? (char)c : '?';
        name[i + 1] = '\0';
    }
    return LEAT_OK;
}

/* ---- Attributes ---- */

/* One step of "a.b.0". */
static enum leat_status take_step(struct chat_run *r, const struct chat_node *n, struct chat_value *at,
                                  struct chat_string name)
{
    struct chat_value of = *at, number = chat_int(0);
    bool digits = name.count > 0 && name.count < 10;

    for (size_t i = 0; digits && i < name.count; i++) {
        uint32_t c = name.codes[i] & CHAT_CODE;

        digits = c >= '0' && c <= '9';
        number.number = 10 * number.number + (int64_t)(c - '0');
    }
    return digits ? chat_index(r, n, &of, &number, at) : chat_part(r, n, &of, name, at);
}

enum leat_status chat_attribute(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                const struct chat_value *attribute, const struct chat_value *usual,
                                struct chat_value *out)
{
    enum leat_status s = LEAT_OK;
    size_t begin = 0;

    *out = *of;
    if (attribute->kind != CHAT_STRING) {
        s = attribute->kind == CHAT_INT ? chat_index(r, n, of, attribute, out)
                                        : chat_fail(r, n, "an attribute that is neither a string nor a number");
        if (s == LEAT_OK && out->kind == CHAT_UNDEFINED && usual)
            *out = *usual;
        return s;
    }
    for (size_t i = 0; s == LEAT_OK && i <= attribute->string.count; i++) {
        if (i < attribute->string.count && (attribute->string.codes[i] & CHAT_CODE) != '.')
            continue;
        s = take_step(r, n, out, chat_string_part(attribute->string, begin, i));
        begin = i + 1;
        if (s == LEAT_OK && out->kind == CHAT_UNDEFINED && usual)
            *out = *usual;
    }
    return s;
}

/* ---- map ---- */

static enum leat_status map_attribute(struct chat_run *r, const struct chat_node *n, struct chat_list items,
                                      const struct chat_dict *named, struct chat_growing *made)
{
    const struct chat_value *attribute = NULL, *usual = NULL;
    struct chat_value part;
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; i < named->count; i++) {
        if (chat_string_is(named->pairs[i].key, "attribute"))
            attribute = &named->pairs[i].value;
        else if (chat_string_is(named->pairs[i].key, "default"))
            usual = &named->pairs[i].value;
        else
            return chat_fail(r, n, "map with an argument that it does not have");
    }
    if (!attribute)
        return chat_fail(r, n, "map without a filter or an attribute");
    usual = usual && usual->kind != CHAT_NONE ? usual : NULL;
    for (size_t i = 0; s == LEAT_OK && i < items.count; i++) {
        s = chat_attribute(r, n, &items.items[i], attribute, usual, &part);
        if (s == LEAT_OK)
            s = chat_add_item(r, made, &part);
    }
    return s;
}

static enum leat_status map_filter(struct chat_run *r, const struct chat_node *n, struct chat_list items,
                                   const struct chat_arguments *with, struct chat_growing *made)
{
    struct chat_arguments rest = { .plain = { with->plain.items + 1, with->plain.count - 1 }, .named = with->named };
    char name[NAME_ROOM];
    enum leat_status s = take_name(r, n, &with->plain.items[0], name);

    for (size_t i = 0; s == LEAT_OK && i < items.count; i++) {
        struct chat_value result;

        s = chat_filter(r, n, name, &items.items[i], &rest, &result);
        if (s == LEAT_OK)
            s = chat_add_item(r, made, &result);
    }
    return s;
}

enum leat_status chat_do_map(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                             const struct chat_arguments *with, struct chat_value *out)
{
    struct chat_growing made = { .room = 0 };
    struct chat_list items = { NULL, 0 };
    enum leat_status s = chat_truth(of) ? chat_items(r, n, of, &items) : LEAT_OK;

    if (s == LEAT_OK && items.count > 0)
        s = with->plain.count == 0 ? map_attribute(r, n, items, &with->named, &made)
                                   : map_filter(r, n, items, with, &made);
    return s == LEAT_OK ? chat_make_iterator(r, made.list, out) : s;
}

/* ---- select ---- */

/* `offset`: 1 if the first argument names an attribute. */
static enum leat_status choose(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                               const struct chat_arguments *with, size_t offset, bool wanted, struct chat_value *out)
{
    bool tests = with->plain.count > offset;
    struct chat_arguments rest = { .plain = { NULL, 0 } };
    struct chat_growing kept = { .room = 0 };
    struct chat_list items = { NULL, 0 };
    char name[NAME_ROOM] = "";
    enum leat_status s = chat_truth(of) ? chat_items(r, n, of, &items) : LEAT_OK;

    if (s == LEAT_OK && tests && items.count > 0)
        s = take_name(r, n, &with->plain.items[offset], name);
    if (tests)
        rest.plain = (struct chat_list) { with->plain.items + offset + 1, with->plain.count - offset - 1 };
    for (size_t i = 0; s == LEAT_OK && i < items.count; i++) {
        struct chat_value part = items.items[i];
        bool holds = false;

        if (offset == 1)
            s = chat_attribute(r, n, &items.items[i], &with->plain.items[0], NULL, &part);
        if (s == LEAT_OK && tests)
            s = chat_test(r, n, name, &part, &rest, &holds);
        else
            holds = chat_truth(&part);
        if (s == LEAT_OK && holds == wanted)
            s = chat_add_item(r, &kept, &items.items[i]);
    }
    return s == LEAT_OK ? chat_make_iterator(r, kept.list, out) : s;
}

enum leat_status chat_do_select(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                const struct chat_arguments *with, struct chat_value *out)
{
    return choose(r, n, of, with, 0, true, out);
}

enum leat_status chat_do_reject(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                const struct chat_arguments *with, struct chat_value *out)
{
    return choose(r, n, of, with, 0, false, out);
}

enum leat_status chat_do_selectattr(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                    const struct chat_arguments *with, struct chat_value *out)
{
    return choose(r, n, of, with, 1, true, out);
}

enum leat_status chat_do_rejectattr(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                    const struct chat_arguments *with, struct chat_value *out)
{
    return choose(r, n, of, with, 1, false, out);
}
