/* pack_chat.h: the chat templates of a run, which are found in the tokenizer's folder, or named; with the tokens
 * that they use. */
#ifndef LEAT_PACK_CHAT_H
#define LEAT_PACK_CHAT_H

#include "checksum/checksum.h"
#include "leat_pack.h"
#include "render/render.h"

struct pack_chat {
    struct render_plan plan;
    struct hash128 sum;     /* hash of all that the plan holds but the member below */
    struct buffer learning; /* the options that say what is learned, one per line */
    char version[64];       /* of jinja2 */
    struct renderer *renderer;
};

/*
 * Starts a renderer with these limits, which must outlive it. Reads what the options name, after
 * pack_options_default(). Returns LEAT_E_NOT_FOUND if the folder has no template, and LEAT_E_UNSUPPORTED if it
 * cannot be used, or no renderer can be had. *c is zeroed before; pack_chat_free() must follow, on failure too.
 */
enum leat_status pack_chat_open(struct pack_chat *chat, const struct leat_pack_options *options,
                                const struct render_limits *limits, struct leat_error *err);
void pack_chat_free(struct pack_chat *chat);

#endif
