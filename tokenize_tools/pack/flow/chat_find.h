/* chat_find.h: finds what a chat template gets of a record. */
#ifndef LEAT_PACK_CHAT_FIND_H
#define LEAT_PACK_CHAT_FIND_H

#include "chat/chat_template.h"
#include "corpus/json/json_scan.h"
#include "pack_setup.h"
#include "unit.h"

struct chat_found {
    struct json_scan scan;   /* its place[JSON_ID] is the id's */
    struct chat_record what; /* it points into the record, or to `own` */
    char *own;               /* the tools, if the record has them as a string */
    size_t own_bytes;
};

/*
 * Finds the conversation, its id and its tools, which may be a list, or a string that holds one as JSON; null and
 * blank strings are none. A row's tools lie in the unit's spans. *found is to be freed, whatever the outcome.
 * LEAT_E_TEXT: the record is to be rejected.
 */
enum leat_status chat_find(const struct pack_setup *setup, const struct unit *u, const struct unit_document *as_read,
                           const char *record, size_t bytes, struct chat_found *found, struct leat_error *err);
void chat_found_free(struct chat_found *found);

#endif
