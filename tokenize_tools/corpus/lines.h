/* lines.h: lines in a buffer of text. */
#ifndef LEAT_TOKENIZE_TOOLS_LINES_H
#define LEAT_TOKENIZE_TOOLS_LINES_H

#include <stdbool.h>
#include <stddef.h>

/* How many newlines there are. */
size_t lines_count(const char *bytes, size_t count);

/* Whether a line holds nothing but white space as JSON means it: blanks, tabs, CR, LF. */
bool lines_blank(const char *line, size_t bytes);

#endif
