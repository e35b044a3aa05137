/* conversation.h: the messages and the tools of a record, for a chat template. */
#ifndef LEAT_TOKENIZE_TOOLS_CONVERSATION_H
#define LEAT_TOKENIZE_TOOLS_CONVERSATION_H

#include "record.h"

/* One value of JSON, checked, and of UTF-8. */
struct conversation_part {
    const char *at; /* NULL: the record has none */
    size_t bytes;
};

struct conversation {
    struct conversation_part messages, tools;
    char *own; /* the tools, if the record has them as a string with escapes */
};

/* Wants the messages as the text of each record, the id (NULL: none) and the tools (NULL: none; `tools_needed`: a table
 * must have that column). */
enum leat_status conversation_want(struct record_fields *fields, const char *messages, const char *id,
                                   const char *tools, bool tools_needed, struct leat_error *err);

/* Takes the messages, an array, and the tools: an array, or a string that holds JSON; null and blank strings are none.
 * They lie in the record. To be freed, whatever the outcome. LEAT_E_TEXT: the record is to be rejected. */
enum leat_status conversation_take(struct conversation *c, struct record *r, struct leat_error *err);
void conversation_free(struct conversation *c);

#endif
