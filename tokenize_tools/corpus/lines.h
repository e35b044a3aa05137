/* lines.h: lines in a buffer of text, and the byte order mark that may stand before the first. */
#ifndef LEAT_TOKENIZE_TOOLS_LINES_H
#define LEAT_TOKENIZE_TOOLS_LINES_H

#include <stdbool.h>
#include <stddef.h>

/* Counts the newlines. */
size_t lines_count(const char *bytes, size_t count);

/* Returns the length of the byte order mark that some editors put at the start of a file, or 0. */
size_t lines_mark(const char *text, size_t bytes);

/* Returns true if a line holds only white space as JSON defines it: blanks, tabs, CR, LF. */
bool lines_blank(const char *line, size_t bytes);

#endif
