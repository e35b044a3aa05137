/* lines.h: lines in a buffer of text, and what may stand before the first. */
#ifndef LEAT_TOKENIZE_TOOLS_LINES_H
#define LEAT_TOKENIZE_TOOLS_LINES_H

#include <stdbool.h>
#include <stddef.h>

/* The number of newlines. */
size_t lines_count(const char *bytes, size_t count);

/* Bytes of the byte order mark that some editors put at the start of a file; 0: none. */
size_t lines_mark(const char *text, size_t bytes);

/* Whether a line holds only white space as JSON defines it: blanks, tabs, CR, LF. */
bool lines_blank(const char *line, size_t bytes);

#endif
