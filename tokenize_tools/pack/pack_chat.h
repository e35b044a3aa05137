/*
 * pack_chat.h: the chat templates of a run: found in the tokenizer's folder, or named; with the tokens that they use.
 */
#ifndef LEAT_PACK_CHAT_H
#define LEAT_PACK_CHAT_H

#include "checksum/checksum.h"
#include "leat_pack.h"
#include "render/render.h"

struct pack_chat {
    struct render_plan plan;
    struct hash128 sum;     /* of all that the plan holds, but for: */
    struct buffer learning; /* the options that say what is learned, a line each */
    char version[64];       /* of jinja2 */
    struct renderer *renderer;
};

/* Starts a renderer with these limits, which must outlive it. Reads what the options name, which have
 * pack_options_default(). LEAT_E_NOT_FOUND: the folder has none; LEAT_E_UNSUPPORTED: it cannot be used, or no
 * renderer can be had. Zeros before; pack_chat_free() also after a failure. */
enum leat_status pack_chat_open(struct pack_chat *chat, const struct leat_pack_options *options,
                                const struct render_limits *limits, struct leat_error *err);
void pack_chat_free(struct pack_chat *chat);

#endif
