/*
 * chat_run.h: a parsed chat template at work: the inside of rendering. Values are computed by chat_eval.c, operators
 * and parts of values by chat_operators.c, filters, tests and methods by chat_functions.c; chat_run.c goes through the
 * statements. Whatever Jinja would raise, and what is not supported, is LEAT_E_TEXT: the conversation is rejected.
 */
#ifndef LEAT_TOKENIZE_TOOLS_CHAT_RUN_H
#define LEAT_TOKENIZE_TOOLS_CHAT_RUN_H

#include "chat_number.h"
#include "chat_parse.h"
#include "chat_template.h"

/* What a loop's body, a macro or a generation block sets is gone after it. */
struct chat_scope {
    struct chat_scope *up;
    struct chat_dict names;
};

struct chat_run {
    struct chat_arena *arena;
    struct chat_scope *scope;
    struct chat_text out;
    uint32_t marks; /* of what is written now */
    /* Where generation blocks begin and end, two numbers each, as chat_template_apply() has it. What is written inside
     * of a macro or of such a block is not yet in the text that transformers measures, of `yielded` characters. */
    struct chat_text generated;
    size_t yielded;
    unsigned inside;
    enum { CHAT_GO_ON, CHAT_BREAK, CHAT_CONTINUE } jump;
    unsigned depth;
    uint64_t steps, asked; /* `asked`: how many there were when the caller was asked whether to stop */
    const struct chat_limits *limits;
    struct leat_error *err;
};

/* Fails with a sentence about the node's line. */
enum leat_status chat_fail(struct chat_run *r, const struct chat_node *at, const char *what);

/* The same, unless one of the values is of a kind that Python takes here, and leat does not. */
enum leat_status chat_fail_kinds(struct chat_run *r, const struct chat_node *at, const char *what,
                                 const struct chat_value *a, const struct chat_value *b);

#define CHAT_STEP 64u /* characters that are one step */

/* Counts work: an expression is one step, and so are 64 characters. Fails if there was too much, or the caller wants to
 * stop. */
enum leat_status chat_work(struct chat_run *r, const struct chat_node *at, size_t characters);

/* The string of a value as {{ }} writes it. */
enum leat_status chat_to_string(struct chat_run *r, const struct chat_node *at, const struct chat_value *v,
                                struct chat_string *out);

/* ---- chat_eval.c ---- */
enum leat_status chat_eval(struct chat_run *r, const struct chat_node *n, struct chat_value *out);
struct chat_value *chat_lookup(struct chat_run *r, struct chat_string name);

/* Whether two values are equal, as `wanted`. */
enum leat_status chat_same(struct chat_run *r, const struct chat_node *at, const struct chat_value *a,
                           const struct chat_value *b, bool wanted, bool *holds);

/* ---- chat_operators.c ---- */
enum leat_status chat_binary(struct chat_run *r, const struct chat_node *n, const struct chat_value *a,
                             const struct chat_value *b, struct chat_value *out);
enum leat_status chat_compare(struct chat_run *r, const struct chat_node *operand, const struct chat_value *a,
                              const struct chat_value *b, bool *holds);
enum leat_status chat_member(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                             struct chat_value *out);
enum leat_status chat_index(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                            const struct chat_value *key, struct chat_value *out);

/* A part by a name, as filters have it: environment.getitem(). */
enum leat_status chat_part(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                           struct chat_string name, struct chat_value *out);

/* `ends`: begin, end, step; ABSENT: not given. */
enum leat_status chat_slice(struct chat_run *r, const struct chat_node *n, const struct chat_value *of,
                            const struct chat_value ends[3], struct chat_value *out);

/* The items that a loop goes over; an iterator is at its end then. */
enum leat_status chat_items(struct chat_run *r, const struct chat_node *at, const struct chat_value *of,
                            struct chat_list *items);

enum leat_status chat_escape(struct chat_run *r, struct chat_string s, struct chat_string *out);

/* < 0, 0, > 0: for strings and numbers. */
enum leat_status chat_order(struct chat_run *r, const struct chat_node *at, const struct chat_value *a,
                            const struct chat_value *b, int *order);

/* ---- chat_functions.c ---- */

/* Arguments in order, and those with names. */
struct chat_arguments {
    struct chat_list plain;
    struct chat_dict named;
};
enum leat_status chat_filter(struct chat_run *r, const struct chat_node *n, const char *name,
                             const struct chat_value *of, const struct chat_arguments *with, struct chat_value *out);
enum leat_status chat_test(struct chat_run *r, const struct chat_node *n, const char *name, const struct chat_value *of,
                           const struct chat_arguments *with, bool *holds);

/* Calls a method or a function. */
enum leat_status chat_call_row(struct chat_run *r, const struct chat_node *n, const struct chat_row *row,
                               const struct chat_value *of, const struct chat_arguments *with, struct chat_value *out);

/* The method of that name which a value has in Python; NULL: none. */
const struct chat_row *chat_method_of(const struct chat_value *v, const char *name);
const struct chat_row *chat_function_named(const char *name);
bool chat_is_changing(const struct chat_row *row); /* which the sandbox forbids */

/* ---- chat_json.c ---- */
struct chat_json_form {
    bool ascii;     /* other characters are written as \uXXXX */
    int64_t indent; /* -1: all in one line */
    struct chat_string comma, colon;
};
enum leat_status chat_to_json(struct chat_run *r, const struct chat_node *at, const struct chat_value *v,
                              const struct chat_json_form *form, struct chat_string *out);

/* ---- chat_run.c ---- */
enum leat_status chat_run_body(struct chat_run *r, const struct chat_node *body);
enum leat_status chat_call_macro(struct chat_run *r, const struct chat_node *at, const struct chat_value *macro,
                                 const struct chat_arguments *with, struct chat_value *out);

#endif
