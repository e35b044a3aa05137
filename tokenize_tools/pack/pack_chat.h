/*
 * pack_chat.h: the chat templates of a run: found in the tokenizer's folder, or named; with the tokens that they use.
 */
#ifndef LEAT_PACK_CHAT_H
#define LEAT_PACK_CHAT_H

#include "chat/chat_template.h"
#include "checksum/checksum.h"
#include "leat_pack.h"

struct pack_chat {
    struct chat_template *usual;
    struct chat_template *with_tools; /* for conversations with tools; NULL: the usual one */
    struct hash128 sum;               /* of the templates and the tokens that they may use */
};

/* Reads what the options name, which have pack_options_default(). LEAT_E_NOT_FOUND: the folder has none;
 * LEAT_E_UNSUPPORTED: it cannot be rendered exactly. Zeros before; pack_chat_free() also after a failure. */
enum leat_status pack_chat_open(struct pack_chat *chat, const struct leat_pack_options *options,
                                struct leat_error *err);
void pack_chat_free(struct pack_chat *chat);

#endif
