/* step_chat.h: conversations on their way from records to ids and their masks. */
#ifndef LEAT_PACK_STEP_CHAT_H
#define LEAT_PACK_STEP_CHAT_H

#include "steps.h"

/* Takes the conversation of a record, to be rendered with others. `as_read` says where the record is; the record must
 * stay until step_chat_end(), and may be written over. What is no conversation becomes a reject. */
enum leat_status step_chat_record(struct pack_worker *w, struct unit *u, const struct unit_document *as_read,
                                  char *record, size_t bytes, struct leat_error *err);

/* Renders and encodes all that have been taken: they become the unit's last documents, or rejects. */
enum leat_status step_chat_end(struct pack_worker *w, struct unit *u, struct leat_error *err);

/* Frees what a worker keeps for that. */
void step_chat_free(struct pack_worker *w);

#endif
