/* lines.h: lines in a buffer of text. */
#ifndef LEAT_TOKENIZE_TOOLS_LINES_H
#define LEAT_TOKENIZE_TOOLS_LINES_H

#include <stdbool.h>
#include <stddef.h>

/* How many newlines there are. */
size_t lines_count(const char *bytes, size_t count);

/* Bytes up to the last newline and with it, which are whole lines; 0 if there is none. */
size_t lines_whole(const char *bytes, size_t count);

/*
 * The line that begins at *at, which is before `end`: its bytes without the newline, if there is one. *at moves to the
 * begin of the next one, or to `end`.
 */
size_t lines_next(const char **at, const char *end);

/* Whether a line holds nothing but white space as JSON means it: blanks, tabs, CR, LF. */
bool lines_blank(const char *line, size_t bytes);

#endif
