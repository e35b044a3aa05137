/*
 * json_line.h: finds the text of a record of JSON lines, and builds nothing: the line is checked once from end to end
 * (RFC 8259, depth up to JSON_LINE_DEPTH), and the string is unescaped where it stands.
 */
#ifndef LEAT_TOKENIZE_TOOLS_JSON_LINE_H
#define LEAT_TOKENIZE_TOOLS_JSON_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "leat.h"

#define JSON_LINE_DEPTH 1024

/* Whether the line holds nothing but white space. */
bool json_line_blank(const char *line, size_t bytes);

/*
 * Finds the string `field`: a member's name, or the names on the way to it with dots between them ("meta.text" is the
 * member "text" of the member "meta"). Of a member given twice the last one counts. Bytes of a string come out as they
 * are, valid UTF-8 or not; of escapes, surrogate pairs become their character and an unpaired surrogate becomes U+FFFD.
 *
 * On success *text points into the line, part of which is overwritten. LEAT_E_TEXT, with what is wrong and at which
 * byte (from 1), if the line is no JSON object or has no such string.
 */
enum leat_status json_line_find(char *line, size_t bytes, const char *field, char **text, size_t *text_bytes,
                                struct leat_error *err);

#endif
