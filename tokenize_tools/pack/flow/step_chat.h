/* step_chat.h: a conversation on its way from a record to ids and their mask. */
#ifndef LEAT_PACK_STEP_CHAT_H
#define LEAT_PACK_STEP_CHAT_H

#include "steps.h"

/* Renders and encodes the conversation of a record; it becomes the unit's last document, or a reject. `as_read` says
 * where the record is; reading it may write over it. */
enum leat_status step_chat_record(struct pack_worker *w, struct unit *u, const struct unit_document *as_read,
                                  char *record, size_t bytes, struct leat_error *err);

#endif
