/*
 * chat_build.c: texts made of several, and cut into several. What is put in place of characters of an answer, or
 * between two of them, belongs to the answer (chat_functions.h).
 */
#include <string.h>

#include "chat_functions.h"

/* Appends a string whose characters get these marks in addition to their own. */
static enum leat_status add_marked(struct chat_run *r, struct chat_text *to, struct chat_string s, uint32_t marks)
{
    size_t from = to->count;
    enum leat_status status = chat_text_add(r->arena, to, s, r->err);

    for (size_t i = from; status == LEAT_OK && marks != 0 && i < to->count; i++)
        to->codes[i] |= marks;
    return status;
}

/* What is put before character i of a string gets these: what its neighbours have in common. */
static uint32_t marks_before(struct chat_string s, size_t i)
{
    uint32_t marks = s.count > 0 ? CHAT_LEARNED : 0;

    marks &= i > 0 ? s.codes[i - 1] : marks;
    return i < s.count ? marks & s.codes[i] : marks;
}

static uint32_t marks_of(struct chat_string s)
{
    uint32_t marks = 0;

    for (size_t i = 0; i < s.count; i++)
        marks |= s.codes[i];
    return marks & CHAT_LEARNED;
}

/* ---- replace ---- */

static enum leat_status insert_between(struct chat_run *r, struct chat_string s, struct chat_string new, int64_t most,
                                       struct chat_text *text)
{
    enum leat_status status = LEAT_OK;

    for (size_t i = 0; status == LEAT_OK && i <= s.count; i++) {
        if (most < 0 || i < (uint64_t)most)
            status = add_marked(r, text, new, marks_before(s, i));
        if (status == LEAT_OK && i < s.count)
            status = chat_text_add(r->arena, text, chat_string_part(s, i, i + 1), r->err);
    }
    return status;
}

static enum leat_status replace(struct chat_run *r, struct chat_string s, struct chat_string old,
                                struct chat_string new, int64_t most, struct chat_value *out)
{
    struct chat_text text = { 0 };
    struct chat_search search;
    size_t at = 0, found = 0;
    enum leat_status status = chat_search_make(r->arena, old, &search, r->err);

    if (status == LEAT_OK && old.count == 0)
        status = insert_between(r, s, new, most, &text);
    while (status == LEAT_OK && old.count > 0 && found < s.count) {
        found = most == 0 ? s.count : chat_search_find(&search, s, at);
        found = found < s.count ? found : s.count;
        status = chat_text_add(r->arena, &text, chat_string_part(s, at, found), r->err);
        if (status != LEAT_OK || found == s.count)
            break;
        at = found + old.count;
        status = add_marked(r, &text, new, marks_of(chat_string_part(s, found, at)));
        most -= most > 0;
    }
    *out = chat_str((struct chat_string) { text.codes, text.count });
    return status;
}

enum leat_status chat_do_replace(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                 const struct chat_arguments *with, struct chat_value *out)
{
    struct chat_string s, old, new;
    int64_t most = -1;
    enum leat_status status = chat_to_string(r, n, of, &s);

    if (status == LEAT_OK)
        status = chat_to_string(r, n, chat_argument(with, 0), &old);
    if (status == LEAT_OK)
        status = chat_to_string(r, n, chat_argument(with, 1), &new);
    if (status == LEAT_OK)
        status = chat_int_argument(r, n, with, 2, -1, &most);
    return status == LEAT_OK ? replace(r, s, old, new, most, out) : status;
}

enum leat_status chat_do_replace_method(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                        const struct chat_arguments *with, struct chat_value *out)
{
    struct chat_string old, new;
    int64_t most = -1;
    enum leat_status status = chat_string_argument(r, n, with, 0, &old);

    if (status == LEAT_OK)
        status = chat_string_argument(r, n, with, 1, &new);
    if (status == LEAT_OK)
        status = chat_int_argument(r, n, with, 2, -1, &most);
    return status == LEAT_OK ? replace(r, of->string, old, new, most, out) : status;
}

/* ---- join ---- */

/* A joined text: what stands between the characters of its parts since `gap` waits for its neighbours. */
struct joined {
    struct chat_text text;
    size_t gap;
    bool begun; /* a part had characters */
};

static void mark_gap(struct joined *j, uint32_t marks)
{
    marks &= j->gap > 0 ? j->text.codes[j->gap - 1] : CHAT_LEARNED;
    for (size_t i = j->gap; i < j->text.count; i++)
        j->text.codes[i] |= marks & CHAT_LEARNED;
}

static enum leat_status add_part(struct chat_run *r, struct joined *j, struct chat_string by, struct chat_string part,
                                 bool first)
{
    enum leat_status s = first ? LEAT_OK : chat_text_add(r->arena, &j->text, by, r->err);

    if (s != LEAT_OK || part.count == 0)
        return s;
    mark_gap(j, part.codes[0]);
    s = chat_text_add(r->arena, &j->text, part, r->err);
    j->gap = j->text.count;
    j->begun = true;
    return s;
}

enum leat_status chat_do_join(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                              const struct chat_arguments *with, struct chat_value *out)
{
    const struct chat_value *d = chat_argument(with, 0), *attribute = chat_argument(with, 1);
    struct chat_string by = { NULL, 0 }, part;
    struct joined j = { .begun = false };
    struct chat_list items;
    enum leat_status s = chat_items(r, n, of, &items);

    if (s == LEAT_OK && d)
        s = chat_to_string(r, n, d, &by);
    for (size_t i = 0; s == LEAT_OK && i < items.count; i++) {
        struct chat_value item = items.items[i];

        if (attribute && attribute->kind != CHAT_NONE)
            s = chat_attribute(r, n, &items.items[i], attribute, NULL, &item);
        if (s == LEAT_OK)
            s = chat_to_string(r, n, &item, &part);
        if (s == LEAT_OK)
            s = chat_work(r, n, part.count + by.count);
        if (s == LEAT_OK)
            s = add_part(r, &j, by, part, i == 0);
    }
    if (s == LEAT_OK && j.begun)
        mark_gap(&j, CHAT_LEARNED);
    *out = chat_str((struct chat_string) { j.text.codes, j.text.count });
    return s;
}

/* by.join(items): all of them strings. */
enum leat_status chat_do_join_method(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                     const struct chat_arguments *with, struct chat_value *out)
{
    struct chat_value by = *of;
    struct chat_arguments turned = { .plain = { &by, 1 } };
    struct chat_list items;
    struct chat_value list;
    enum leat_status s = chat_items(r, n, chat_argument(with, 0), &items);

    for (size_t i = 0; s == LEAT_OK && i < items.count; i++)
        if (items.items[i].kind != CHAT_STRING)
            return chat_fail(r, n, "join() of what is not a string");
    list = chat_make_list(items, 0);
    return s == LEAT_OK ? chat_do_join(r, n, &list, &turned, out) : s;
}

/* ---- split ---- */

static enum leat_status add_string(struct chat_run *r, struct chat_growing *to, struct chat_string s)
{
    struct chat_value v = chat_str(s);

    return chat_add_item(r, to, &v);
}

/* At white space, of which any length counts as one place. */
static enum leat_status split_at_space(struct chat_run *r, struct chat_string s, int64_t most,
                                       struct chat_growing *parts)
{
    enum leat_status status = LEAT_OK;
    size_t at = 0, begin;

    while (status == LEAT_OK) {
        while (at < s.count && chat_is_space(s.codes[at]))
            at++;
        if (at == s.count)
            break;
        begin = at;
        if (most >= 0 && parts->list.count >= (uint64_t)most) /* with the space at its end, as Python has it */
            return add_string(r, parts, chat_string_part(s, begin, s.count));
        while (at < s.count && !chat_is_space(s.codes[at]))
            at++;
        status = add_string(r, parts, chat_string_part(s, begin, at));
    }
    return status;
}

static enum leat_status split_by(struct chat_run *r, struct chat_string s, struct chat_string by, int64_t most,
                                 struct chat_growing *parts)
{
    struct chat_search search;
    size_t at = 0;
    enum leat_status status = chat_search_make(r->arena, by, &search, r->err);

    while (status == LEAT_OK && at <= s.count) {
        bool last = most >= 0 && parts->list.count >= (uint64_t)most;
        size_t found = last ? SIZE_MAX : chat_search_find(&search, s, at);
        size_t end = found == SIZE_MAX ? s.count : found;

        status = add_string(r, parts, chat_string_part(s, at, end));
        at = found == SIZE_MAX ? s.count + 1 : found + by.count;
    }
    return status;
}

/* split() and rsplit() differ only if there is a limit, and of what several separators in a row give. */
static enum leat_status split(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                              const struct chat_arguments *with, int64_t *most, struct chat_value *out)
{
    const struct chat_value *by = chat_argument(with, 0);
    struct chat_growing parts = { .room = 0 };
    struct chat_string separator;
    enum leat_status s = chat_int_argument(r, n, with, 1, -1, most);

    if (s == LEAT_OK && (!by || by->kind == CHAT_NONE)) {
        s = split_at_space(r, of->string, *most, &parts);
    } else if (s == LEAT_OK) {
        s = chat_string_argument(r, n, with, 0, &separator);
        if (s == LEAT_OK && separator.count == 0)
            return chat_fail(r, n, "split() at an empty string");
        if (s == LEAT_OK)
            s = split_by(r, of->string, separator, *most, &parts);
    }
    *out = chat_make_list(parts.list, 0);
    return s;
}

enum leat_status chat_do_split(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                               const struct chat_arguments *with, struct chat_value *out)
{
    int64_t most;

    return split(r, n, of, with, &most, out);
}

static enum leat_status reversed(struct chat_run *r, struct chat_string s, struct chat_string *out)
{
    uint32_t *codes = chat_arena_get(r->arena, s.count * sizeof *codes, r->err);

    if (!codes)
        return r->err->status;
    for (size_t i = 0; i < s.count; i++)
        codes[i] = s.codes[s.count - 1 - i];
    *out = (struct chat_string) { codes, s.count };
    return LEAT_OK;
}

/* The same, from the end on: of the text and the separator read backwards. */
enum leat_status chat_do_rsplit(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                const struct chat_arguments *with, struct chat_value *out)
{
    struct chat_value text = *of, turned[2] = { { .kind = CHAT_ABSENT }, { .kind = CHAT_ABSENT } }, swap;
    struct chat_arguments arguments = { .plain = { turned, 2 } };
    enum leat_status s = reversed(r, of->string, &text.string);
    int64_t most;

    for (size_t i = 0; i < 2; i++)
        turned[i] = chat_argument(with, i) ? *chat_argument(with, i) : turned[i];
    if (s == LEAT_OK && turned[0].kind == CHAT_STRING)
        s = reversed(r, turned[0].string, &turned[0].string);
    if (s == LEAT_OK)
        s = split(r, n, &text, &arguments, &most, out);
    for (size_t i = 0, k = s == LEAT_OK ? out->list.count : 0; s == LEAT_OK && i < k; i++)
        s = reversed(r, out->list.items[i].string, &out->list.items[i].string);
    for (size_t i = 0, k = s == LEAT_OK ? out->list.count : 0; i + 1 < k; i++, k--) {
        swap = out->list.items[i];
        out->list.items[i] = out->list.items[k - 1];
        out->list.items[k - 1] = swap;
    }
    return s;
}

static bool is_line_end(uint32_t code)
{
    code &= CHAT_CODE;
    return (code >= 10 && code <= 13) || (code >= 0x1c && code <= 0x1e) || code == 0x85 || code == 0x2028 ||
           code == 0x2029;
}

enum leat_status chat_do_splitlines(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                    const struct chat_arguments *with, struct chat_value *out)
{
    const struct chat_value *keeps = chat_argument(with, 0);
    struct chat_string s = of->string;
    struct chat_growing parts = { .room = 0 };
    size_t at = 0, end, next;
    enum leat_status status = LEAT_OK;

    (void)n;
    while (status == LEAT_OK && at < s.count) {
        for (end = at; end < s.count && !is_line_end(s.codes[end]);)
            end++;
        next = end + (end < s.count);
        if (next < s.count && (s.codes[end] & CHAT_CODE) == '\r' && (s.codes[next] & CHAT_CODE) == '\n')
            next++;
        status = add_string(r, &parts, chat_string_part(s, at, keeps && chat_truth(keeps) ? next : end));
        at = next;
    }
    *out = chat_make_list(parts.list, 0);
    return status;
}

/* Before a separator, the separator, and after it; or all of it at one end. */
static enum leat_status partition(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                  const struct chat_arguments *with, bool last, struct chat_value *out)
{
    struct chat_string by, s = of->string;
    struct chat_growing parts = { .room = 0 };
    struct chat_value place;
    size_t begin, end;
    enum leat_status status = chat_string_argument(r, n, with, 0, &by);

    if (status == LEAT_OK && by.count == 0)
        return chat_fail(r, n, "partition() at an empty string");
    if (status == LEAT_OK)
        status = (last ? chat_do_rfind : chat_do_find)(r, n, of, with, &place);
    if (status != LEAT_OK)
        return status;
    begin = place.number >= 0 ? (size_t)place.number : last ? 0 : s.count;
    end = begin + (place.number >= 0 ? by.count : 0);
    status = add_string(r, &parts, chat_string_part(s, 0, begin));
    if (status == LEAT_OK)
        status = add_string(r, &parts, chat_string_part(s, begin, end));
    if (status == LEAT_OK)
        status = add_string(r, &parts, chat_string_part(s, end, s.count));
    *out = chat_make_list(parts.list, CHAT_TUPLE);
    return status;
}

enum leat_status chat_do_partition(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                   const struct chat_arguments *with, struct chat_value *out)
{
    return partition(r, n, of, with, false, out);
}

enum leat_status chat_do_rpartition(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                    const struct chat_arguments *with, struct chat_value *out)
{
    return partition(r, n, of, with, true, out);
}

/* ---- indent ---- */

/* Puts its width of spaces before each line but the first one, and those without characters. */
enum leat_status chat_do_indent(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                const struct chat_arguments *with, struct chat_value *out)
{
    static const uint32_t space = ' ';
    const struct chat_value *width = chat_argument(with, 0), *first = chat_argument(with, 1),
                            *blank = chat_argument(with, 2);
    struct chat_string s = of->string, by = { NULL, 0 };
    struct chat_text text = { 0 }, spaces = { 0 };
    int64_t count = 4;
    enum leat_status status = LEAT_OK;

    if (of->kind != CHAT_STRING)
        return chat_fail(r, n, "indent of what is not a string");
    if (width && width->kind == CHAT_STRING)
        by = width->string;
    else
        status = chat_int_argument(r, n, with, 0, 4, &count);
    if (status == LEAT_OK && count > 10000)
        return chat_fail(r, n, "an indent that is too big");
    for (int64_t i = 0; status == LEAT_OK && !(width && width->kind == CHAT_STRING) && i < count; i++) {
        status = chat_text_add(r->arena, &spaces, (struct chat_string) { &space, 1 }, r->err);
        by = (struct chat_string) { spaces.codes, spaces.count };
    }
    for (size_t i = 0; status == LEAT_OK && i <= s.count; i++) {
        bool begins = i == 0 ? first && chat_truth(first) : (s.codes[i - 1] & CHAT_CODE) == '\n';
        bool empty = i == s.count || (s.codes[i] & CHAT_CODE) == '\n';

        if (i < s.count && is_line_end(s.codes[i]) && !empty)
            return chat_fail(r, n, "indent of a text with other line ends than \\n is not supported");
        if (begins && (i == 0 || !empty || (blank && chat_truth(blank))))
            status = add_marked(r, &text, by, marks_before(s, i));
        if (status == LEAT_OK && i < s.count)
            status = chat_text_add(r->arena, &text, chat_string_part(s, i, i + 1), r->err);
    }
    *out = chat_str((struct chat_string) { text.codes, text.count });
    return status;
}
