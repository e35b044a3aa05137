/* chat_parser.h: what the parser's two files share. A failure is kept: every step after it does nothing. */
#ifndef LEAT_TOKENIZE_TOOLS_CHAT_PARSER_H
#define LEAT_TOKENIZE_TOOLS_CHAT_PARSER_H

#include "chat_lex.h"
#include "chat_parse.h"

struct parser {
    struct chat_arena *arena;
    const struct chat_token *at;
    unsigned depth, loops; /* of what is open */
    int uses, set;         /* CHAT_USES_...: what the macro that is open reads before it sets it, and what it sets */
    enum leat_status status;
    struct leat_error *err;
    struct chat_node nothing; /* what comes after a failure */
};

/* ---- chat_parse.c ---- */

/* Fails, naming the line of the token. */
void chat_refuse(struct parser *p, const char *what, const struct chat_token *token);

/* Whether the token is that sign or that name. */
bool chat_is_sign(const struct parser *p, const char *sign);
bool chat_is_word(const struct parser *p, const char *word);

/* The same, and passes it. */
bool chat_pass_sign(struct parser *p, const char *sign);
bool chat_pass_word(struct parser *p, const char *word);

/* It must be there. */
void chat_expect_sign(struct parser *p, const char *sign);

/* A node at this token; never NULL: after a failure one that is thrown away. */
struct chat_node *chat_node(struct parser *p, enum chat_node_kind kind);

/* Takes a name into the node. */
void chat_take_name(struct parser *p, struct chat_node *node);

/* ---- chat_parse_expression.c ---- */

struct chat_node *chat_parse_expression(struct parser *p);

/* The same without `a if b else c` around it, as the list of a loop is. */
struct chat_node *chat_parse_or(struct parser *p);

/* Expressions with commas between: one alone, or a list. */
struct chat_node *chat_parse_tuple(struct parser *p, struct chat_node *(*one)(struct parser *));

#endif
