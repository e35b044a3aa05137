/* conversation.h: the messages and the tools of a record, for a chat template. */
#ifndef LEAT_TOKENIZE_TOOLS_CONVERSATION_H
#define LEAT_TOKENIZE_TOOLS_CONVERSATION_H

#include "base/buffer.h"
#include "record.h"

/* One value of JSON in UTF-8, which was checked. */
struct conversation_part {
    const char *at; /* text of the part; NULL if the record has none */
    size_t bytes;
};

struct conversation {
    struct conversation_part messages, tools;
    char *own;          /* memory of the tools, if the record has them as a string with escapes */
    struct buffer pair; /* memory of the messages, if the record is a pair: a list of its two lists */
};

/* Wants the messages as the text of each record, and the id (or NULL). */
enum leat_status conversation_want(struct record_fields *fields, const char *messages, const char *id,
                                   struct leat_error *err);

/* Wants the tools; `needed` says that a table must have their column. */
enum leat_status conversation_want_tools(struct record_fields *fields, const char *tools, bool needed,
                                         struct leat_error *err);

/* Takes the messages, an array, and the tools: an array, or a string that holds JSON; null and blank strings are no
 * tools. They lie in the record. Returns LEAT_E_TEXT if the record must be rejected. conversation_free() must follow,
 * on failure too. */
enum leat_status conversation_take(struct conversation *c, struct record *r, struct leat_error *err);
void conversation_free(struct conversation *c);

#endif
