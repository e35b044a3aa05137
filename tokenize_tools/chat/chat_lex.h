/* chat_lex.h: a Jinja template as tokens, with the white space rules of transformers: trim_blocks and lstrip_blocks. */
#ifndef LEAT_TOKENIZE_TOOLS_CHAT_LEX_H
#define LEAT_TOKENIZE_TOOLS_CHAT_LEX_H

#include "chat_value.h"

enum chat_token_kind {
    CHAT_T_TEXT,        /* outside of tags */
    CHAT_T_BLOCK_BEGIN, /* {% */
    CHAT_T_BLOCK_END,
    CHAT_T_PRINT_BEGIN, /* {{ */
    CHAT_T_PRINT_END,
    CHAT_T_NAME,
    CHAT_T_STRING,
    CHAT_T_NUMBER,
    CHAT_T_SIGN, /* operators and brackets: of one or two characters */
    CHAT_T_END
};

struct chat_token {
    enum chat_token_kind kind;
    unsigned line;
    const char *at; /* of names and signs, in the template */
    size_t bytes;
    union {
        struct chat_string string; /* texts and strings */
        struct chat_value number;
    };
};

/* *tokens is of the arena; the last one is CHAT_T_END. LEAT_E_UNSUPPORTED names a construct and its line. */
enum leat_status chat_lex(struct chat_arena *a, const char *source, size_t bytes, struct chat_token **tokens,
                          struct leat_error *err);

#endif
