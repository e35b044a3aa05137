/* chat_json.h: JSON as values. */
#ifndef LEAT_TOKENIZE_TOOLS_CHAT_JSON_H
#define LEAT_TOKENIZE_TOOLS_CHAT_JSON_H

#include "chat_value.h"

/* Reads one value, which has been checked to be JSON and UTF-8, and ends within `bytes`, with a byte after it; *json
 * goes to its end. `unescape` writes what a string's characters mean, and returns the end. Strings get the marks.
 * LEAT_E_TEXT: it is nested too deeply, or too big, or has NaN or an infinity. */
enum leat_status chat_read_json(struct chat_arena *a, const char **json, size_t bytes, uint32_t marks,
                                char *(*unescape)(char *to, const char *from, const char *end), struct chat_value *out,
                                struct leat_error *err);

#endif
