/*
 * chat_functions.h: filters, methods and functions: rows of the tables in chat_functions.c, which checks how many
 * arguments they get and puts those with names into their places. Strings are in chat_strings.c, lists and dicts in
 * chat_lists.c and chat_select.c, the rest in chat_values.c.
 *
 * Marks (chat_value.h) stay with each character. What a function puts in place of others is learned if one of these
 * was; what it puts between others, if its neighbours on both sides were (at an end, the one that there is).
 */
#ifndef LEAT_TOKENIZE_TOOLS_CHAT_FUNCTIONS_H
#define LEAT_TOKENIZE_TOOLS_CHAT_FUNCTIONS_H

#include "chat_run.h"

typedef enum leat_status chat_function(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                       const struct chat_arguments *with, struct chat_value *out);

/* What becomes of it that a string is | safe. */
enum chat_safety { CHAT_PLAIN, CHAT_STAYS_SAFE, CHAT_NOT_OF_SAFE };

struct chat_row {
    const char *name;
    chat_function *run; /* NULL: not supported */
    unsigned least, most;
    const char
        *names; /* of arguments in order: "a,b"; NULL: they have none; "*": any names, which it looks at itself */
    enum chat_safety safety;
    bool changes; /* changes a list or dict */
};

/* An argument, or NULL. */
const struct chat_value *chat_argument(const struct chat_arguments *with, size_t i);
enum leat_status chat_string_argument(struct chat_run *r, const struct chat_node *n, const struct chat_arguments *with,
                                      size_t i, struct chat_string *out);

/* An integer; `usual`: it is not given, or none. */
enum leat_status chat_int_argument(struct chat_run *r, const struct chat_node *n, const struct chat_arguments *with,
                                   size_t i, int64_t usual, int64_t *out);

/* A list that grows. */
struct chat_growing {
    struct chat_list list;
    size_t room;
};
enum leat_status chat_add_item(struct chat_run *r, struct chat_growing *to, const struct chat_value *v);
struct chat_value chat_make_list(struct chat_list list, uint32_t flags);
enum leat_status chat_make_iterator(struct chat_run *r, struct chat_list list, struct chat_value *out);

/* What sorting, and unique, take for a value: its lower case, unless case counts. */
enum leat_status chat_fold(struct chat_run *r, const struct chat_node *n, const struct chat_value *v, bool case_counts,
                           struct chat_value *out);

/* The part of an item that attribute= of a filter names: "a.b", or a number. `usual`: in place of what is undefined, or
 * NULL. */
enum leat_status chat_attribute(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                                const struct chat_value *attribute, const struct chat_value *usual,
                                struct chat_value *out);

/* ---- chat_strings.c ---- */
chat_function chat_do_strip, chat_do_lstrip, chat_do_rstrip, chat_do_upper, chat_do_lower, chat_do_capitalize,
    chat_do_title, chat_do_title_method, chat_do_startswith, chat_do_endswith, chat_do_find, chat_do_rfind,
    chat_do_count_in, chat_do_removeprefix, chat_do_removesuffix, chat_do_isspace, chat_do_isdigit, chat_do_indent;

/* ---- chat_build.c ---- */
chat_function chat_do_replace, chat_do_replace_method, chat_do_join, chat_do_join_method, chat_do_split, chat_do_rsplit,
    chat_do_splitlines, chat_do_partition, chat_do_rpartition;

/* ---- chat_lists.c ---- */
chat_function chat_do_length, chat_do_list, chat_do_first, chat_do_last, chat_do_reverse, chat_do_items,
    chat_do_items_method, chat_do_keys, chat_do_values, chat_do_get, chat_do_copy, chat_do_list_count,
    chat_do_list_index, chat_do_sort, chat_do_dictsort, chat_do_unique, chat_do_min, chat_do_max, chat_do_sum;

/* ---- chat_select.c ---- */
chat_function chat_do_map, chat_do_select, chat_do_reject, chat_do_selectattr, chat_do_rejectattr;

/* ---- chat_values.c ---- */
chat_function chat_do_string, chat_do_safe, chat_do_escape, chat_do_default, chat_do_tojson, chat_do_int, chat_do_float,
    chat_do_abs, chat_do_range, chat_do_namespace, chat_do_dict, chat_do_raise, chat_do_strftime;

#endif
