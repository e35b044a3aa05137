/* chat_strings.c: what a string is asked, and what takes characters away from it or changes their case. */
#include <string.h>

#include "chat_functions.h"

/* ---- Ends ---- */

static bool is_stripped(uint32_t code, const struct chat_value *these)
{
    if (!these || these->kind != CHAT_STRING)
        return chat_is_space(code);
    for (size_t i = 0; i < these->string.count; i++)
        if ((these->string.codes[i] & CHAT_CODE) == (code & CHAT_CODE))
            return true;
    return false;
}

static enum leat_status strip(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                              const struct chat_arguments *with, bool left, bool right, struct chat_value *out)
{
    const struct chat_value *these = chat_argument(with, 0);
    struct chat_string s;
    size_t begin = 0, cost = 0; /* of a character */
    enum leat_status status = chat_to_string(r, n, of, &s);

    if (status != LEAT_OK)
        return status;
    if (these && these->kind != CHAT_STRING && these->kind != CHAT_NONE)
        return chat_fail(r, n, "an argument that is not a string");
    if (these && these->kind == CHAT_STRING)
        cost = these->string.count;
    status = chat_work(r, n, cost);
    for (; status == LEAT_OK && right && s.count > 0 && is_stripped(s.codes[s.count - 1], these); s.count--)
        status = chat_work(r, n, cost);
    for (; status == LEAT_OK && left && begin < s.count && is_stripped(s.codes[begin], these); begin++)
        status = chat_work(r, n, cost);
    *out = chat_str(chat_string_part(s, begin, s.count));
    return status;
}

enum leat_status chat_do_strip(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                               const struct chat_arguments *with, struct chat_value *out)
{
    return strip(r, n, of, with, true, true, out);
}

enum leat_status chat_do_lstrip(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                const struct chat_arguments *with, struct chat_value *out)
{
    return strip(r, n, of, with, true, false, out);
}

enum leat_status chat_do_rstrip(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                const struct chat_arguments *with, struct chat_value *out)
{
    return strip(r, n, of, with, false, true, out);
}

static bool begins_with(struct chat_string s, struct chat_string part)
{
    return part.count <= s.count && chat_string_equal(chat_string_part(s, 0, part.count), part);
}

static bool ends_with(struct chat_string s, struct chat_string part)
{
    return part.count <= s.count && chat_string_equal(chat_string_part(s, s.count - part.count, s.count), part);
}

/* One string, or a tuple of them. */
static enum leat_status has_end(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                const struct chat_arguments *with, bool (*has)(struct chat_string, struct chat_string),
                                struct chat_value *out)
{
    const struct chat_value *parts = chat_argument(with, 0);
    size_t count = 1;
    bool found = false;

    if (parts->kind == CHAT_LIST && parts->flags == CHAT_TUPLE) {
        count = parts->list.count;
        parts = parts->list.items;
    }
    for (size_t i = 0; i < count && !found; i++) {
        if (parts[i].kind != CHAT_STRING)
            return chat_fail(r, n, "an argument that is not a string");
        found = has(of->string, parts[i].string);
    }
    *out = chat_bool(found);
    return LEAT_OK;
}

enum leat_status chat_do_startswith(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                    const struct chat_arguments *with, struct chat_value *out)
{
    return has_end(r, n, of, with, begins_with, out);
}

enum leat_status chat_do_endswith(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                  const struct chat_arguments *with, struct chat_value *out)
{
    return has_end(r, n, of, with, ends_with, out);
}

enum leat_status chat_do_removeprefix(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                      const struct chat_arguments *with, struct chat_value *out)
{
    struct chat_string part, s = of->string;
    enum leat_status status = chat_string_argument(r, n, with, 0, &part);

    if (status == LEAT_OK)
        *out = chat_str(chat_string_part(s, begins_with(s, part) ? part.count : 0, s.count));
    return status;
}

enum leat_status chat_do_removesuffix(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                      const struct chat_arguments *with, struct chat_value *out)
{
    struct chat_string part, s = of->string;
    enum leat_status status = chat_string_argument(r, n, with, 0, &part);

    if (status == LEAT_OK)
        *out = chat_str(chat_string_part(s, 0, s.count - (ends_with(s, part) ? part.count : 0)));
    return status;
}

/* ---- Places ---- */

/* How often a part stands in it, without overlaps; *first and *last: where it stands first, and last, or -1. */
static enum leat_status look_for(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                 const struct chat_arguments *with, bool overlaps, int64_t *first, int64_t *last,
                                 int64_t *count)
{
    struct chat_search search;
    struct chat_string part;
    enum leat_status s = chat_string_argument(r, n, with, 0, &part);
    size_t at = 0;

    *first = *last = -1;
    *count = 0;
    if (s == LEAT_OK)
        s = chat_search_make(r->arena, part, &search, r->err);
    while (s == LEAT_OK && (at = chat_search_find(&search, of->string, at)) != SIZE_MAX) {
        *first = *count == 0 ? (int64_t)at : *first;
        *last = (int64_t)at;
        ++*count;
        at += overlaps || part.count == 0 ? 1 : part.count;
        s = chat_work(r, n, overlaps ? CHAT_STEP * part.count : 0); /* each search begins anew */
    }
    return s;
}

enum leat_status chat_do_find(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                              const struct chat_arguments *with, struct chat_value *out)
{
    int64_t first, last, count;
    enum leat_status s = look_for(r, n, of, with, false, &first, &last, &count);

    *out = chat_int(first);
    return s;
}

enum leat_status chat_do_rfind(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                               const struct chat_arguments *with, struct chat_value *out)
{
    int64_t first, last, count;
    enum leat_status s = look_for(r, n, of, with, true, &first, &last, &count);

    *out = chat_int(last);
    return s;
}

enum leat_status chat_do_count_in(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                  const struct chat_arguments *with, struct chat_value *out)
{
    int64_t first, last, count;
    enum leat_status s = look_for(r, n, of, with, false, &first, &last, &count);

    *out = chat_int(count);
    return s;
}

/* ---- Letters ---- */

static bool is_upper(uint32_t c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_letter(uint32_t c)
{
    return is_upper(c) || (c >= 'a' && c <= 'z');
}

enum cases { LOWER, UPPER, CAPITALIZE, TITLE, TITLE_METHOD };

/* Whether the character after `before` is upper case. */
static bool is_raised(enum cases to, size_t i, uint32_t before)
{
    switch (to) {
    case CAPITALIZE:
        return i == 0;
    case TITLE: /* what Jinja takes for the beginning of a word */
        return i == 0 || chat_is_space(before) || before == '-' || before == '(' || before == '{' || before == '[' ||
               before == '<';
    case TITLE_METHOD:
        return i == 0 || !is_letter(before);
    default:
        return to == UPPER;
    }
}

static enum leat_status change_case(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                    enum cases to, struct chat_value *out)
{
    struct chat_string s;
    enum leat_status status = chat_to_string(r, n, of, &s);
    uint32_t *codes = status == LEAT_OK ? chat_arena_get(r->arena, s.count * sizeof *codes, r->err) : NULL;

    if (!codes)
        return status == LEAT_OK ? r->err->status : status;
    for (size_t i = 0; i < s.count; i++) {
        uint32_t c = s.codes[i] & CHAT_CODE;
        bool raised = is_raised(to, i, i > 0 ? s.codes[i - 1] & CHAT_CODE : 0);

        if (c >= 0x80)
            return chat_fail(r, n, "upper and lower case of other than ASCII letters are not supported");
        codes[i] = s.codes[i] ^ (is_letter(c) && is_upper(c) != raised ? 0x20u : 0);
    }
    *out = chat_str((struct chat_string) { codes, s.count });
    return LEAT_OK;
}

enum leat_status chat_fold(struct chat_run *r, const struct chat_node *n, const struct chat_value *v, bool case_counts,
                           struct chat_value *out)
{
    *out = *v;
    return v->kind == CHAT_STRING && !case_counts ? change_case(r, n, v, LOWER, out) : LEAT_OK;
}

enum leat_status chat_do_upper(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                               const struct chat_arguments *with, struct chat_value *out)
{
    (void)with;
    return change_case(r, n, of, UPPER, out);
}

enum leat_status chat_do_lower(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                               const struct chat_arguments *with, struct chat_value *out)
{
    (void)with;
    return change_case(r, n, of, LOWER, out);
}

enum leat_status chat_do_capitalize(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                    const struct chat_arguments *with, struct chat_value *out)
{
    (void)with;
    return change_case(r, n, of, CAPITALIZE, out);
}

enum leat_status chat_do_title(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                               const struct chat_arguments *with, struct chat_value *out)
{
    (void)with;
    return change_case(r, n, of, TITLE, out);
}

enum leat_status chat_do_title_method(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                      const struct chat_arguments *with, struct chat_value *out)
{
    (void)with;
    return change_case(r, n, of, TITLE_METHOD, out);
}

enum leat_status chat_do_isspace(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                 const struct chat_arguments *with, struct chat_value *out)
{
    bool all = of->string.count > 0;

    (void)r;
    (void)n;
    (void)with;
    for (size_t i = 0; i < of->string.count && all; i++)
        all = chat_is_space(of->string.codes[i]);
    *out = chat_bool(all);
    return LEAT_OK;
}

enum leat_status chat_do_isdigit(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                 const struct chat_arguments *with, struct chat_value *out)
{
    bool all = of->string.count > 0;

    (void)with;
    for (size_t i = 0; i < of->string.count; i++) {
        uint32_t c = of->string.codes[i] & CHAT_CODE;

        if (c >= 0x80)
            return chat_fail(r, n, "isdigit() of other than ASCII characters is not supported");
        all = all && c >= '0' && c <= '9';
    }
    *out = chat_bool(all);
    return LEAT_OK;
}
