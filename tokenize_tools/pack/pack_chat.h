/* pack_chat.h: the chat template of a run: found in the tokenizer's folder, or named; with the tokens that it uses. */
#ifndef LEAT_PACK_CHAT_H
#define LEAT_PACK_CHAT_H

#include "pack_run.h"

/* Reads it, and makes the run's records conversations. LEAT_E_NOT_FOUND: the folder has none; LEAT_E_UNSUPPORTED: it
 * cannot be rendered exactly. */
enum leat_status pack_chat_take(struct pack_run *r, struct leat_error *err);

/* Adds it to the description of the run: what is resumed must have the same. */
enum leat_status pack_chat_describe(struct pack_run *r, struct leat_error *err);

void pack_chat_free(struct pack_run *r);

#endif
