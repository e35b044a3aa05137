/* json_chat.h: finds the messages and the tools of a conversation in a record, for a chat template. */
#ifndef LEAT_TOKENIZE_TOOLS_JSON_CHAT_H
#define LEAT_TOKENIZE_TOOLS_JSON_CHAT_H

#include "json_scan.h"

/* A value of JSON, checked, and of UTF-8, with a byte after the `bytes` that there are. */
struct json_chat_value {
    const char *at; /* NULL: there is none */
    size_t bytes;
    bool alone; /* nothing follows the value */
};

struct json_chat {
    struct json_scan scan; /* its place[JSON_ID] is the id's */
    struct json_chat_value messages, tools;
    char *own; /* the tools, if the record has them as a string */
    size_t own_bytes;
};

/*
 * Finds the messages, an array, and the id. With `tools`, finds these too: an array, or a string that holds JSON. null
 * and blank strings are none. *found, which points into the record, is to be freed, whatever the outcome. LEAT_E_TEXT:
 * the record is to be rejected.
 */
enum leat_status json_chat_find(struct json_chat *found, const struct json_fields *messages,
                                const struct json_fields *tools, const char *record, size_t bytes,
                                struct leat_error *err);
void json_chat_free(struct json_chat *found);

/* The tools are this text, as they are where a record has them as a string; with a byte after it. */
enum leat_status json_chat_take_tools(struct json_chat *found, const struct json_fields *tools, const char *text,
                                      size_t bytes, struct leat_error *err);

#endif
