/* chat_parse.h: a Jinja template as a tree: statements and expressions. */
#ifndef LEAT_TOKENIZE_TOOLS_CHAT_PARSE_H
#define LEAT_TOKENIZE_TOOLS_CHAT_PARSE_H

#include "chat_value.h"

enum chat_node_kind {
    /* statements; `next` is the one that follows */
    CHAT_N_TEXT,       /* value */
    CHAT_N_PRINT,      /* a */
    CHAT_N_IF,         /* a: condition, b: body, c: else */
    CHAT_N_FOR,        /* a: names, b: list, c: body, d: condition or NULL, e: else or NULL */
    CHAT_N_SET,        /* a: name, list of names or member; b: value */
    CHAT_N_SET_BLOCK,  /* a: name; b: body */
    CHAT_N_MACRO,      /* name; a: parameters (b of each: default or NULL), c: body; number: CHAT_USES_... */
    CHAT_N_GENERATION, /* a: body */
    CHAT_N_BREAK,
    CHAT_N_CONTINUE,
    /* expressions */
    CHAT_N_VALUE,  /* value */
    CHAT_N_NAME,   /* name */
    CHAT_N_LIST,   /* a: items, by next; number: flags of the value */
    CHAT_N_DICT,   /* a: items, by next: a of each is the key, b the value */
    CHAT_N_ITEM,   /* of a dict */
    CHAT_N_MEMBER, /* a.name */
    CHAT_N_INDEX,  /* a[b] */
    CHAT_N_SLICE,  /* a[b:c:d], each may be NULL */
    CHAT_N_CALL,   /* a: what, b: arguments by next, c: arguments with names (a: value) */
    CHAT_N_FILTER, /* a | name(b, c) */
    CHAT_N_TEST,   /* a is name(b); number 1: is not */
    CHAT_N_NAMED,  /* an argument: name = a */
    CHAT_N_NOT,    /* a */
    CHAT_N_MINUS,  /* a */
    CHAT_N_PLUS,
    CHAT_N_AND, /* a, b */
    CHAT_N_OR,
    CHAT_N_CHOICE,  /* a if b else c; c may be NULL */
    CHAT_N_COMPARE, /* a: first; b: list of OPERANDs */
    CHAT_N_OPERAND, /* name: the operator; a: value */
    CHAT_N_BINARY   /* name: the operator; a, b */
};

/* What a macro's body uses: arguments beyond its parameters are allowed then. */
#define CHAT_USES_VARARGS 1
#define CHAT_USES_KWARGS  2

struct chat_node {
    enum chat_node_kind kind;
    unsigned line;
    struct chat_node *a, *b, *c, *d, *e, *next;
    const char *name; /* with a NUL, of the arena */
    struct chat_string name_codes;
    struct chat_value value;
    int64_t number;
};

/* *tree: the first statement, or NULL. LEAT_E_UNSUPPORTED names what is not known, or wrong, and its line. */
enum leat_status chat_parse(struct chat_arena *a, const char *source, size_t bytes, struct chat_node **tree,
                            struct leat_error *err);

/* Of chat_functions.c: whether it can be done. */
bool chat_knows_filter(const char *name);
bool chat_knows_test(const char *name);

#endif
