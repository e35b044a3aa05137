/*
 * text_input.h: reads a text for commands: a file or standard input, plain or compressed (byte_stream.h), line by line,
 * whole or in chunks. It needs memory for the longest line.
 */
#ifndef LEAT_TOKENIZE_TOOLS_TEXT_INPUT_H
#define LEAT_TOKENIZE_TOOLS_TEXT_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "leat.h"

struct text_input;

/* `path` "-" is standard input. On success *out is the caller's until text_input_close(); NULL on failure. */
enum leat_status text_input_open(struct text_input **out, const char *path, struct leat_error *err);
void text_input_close(struct text_input *in); /* NULL is fine */

/*
 * The next line, without its newline; *found is false after the last one. *line is the input's until its next call, and
 * the caller may write over it. LEAT_E_TRUNCATED or LEAT_E_TEXT if the compressed data is cut off or broken.
 */
enum leat_status text_input_line(struct text_input *in, char **line, size_t *bytes, bool *found,
                                 struct leat_error *err);

/* All that is left; *text is the input's until its next call. */
enum leat_status text_input_rest(struct text_input *in, char **text, size_t *bytes, struct leat_error *err);

/* Gives a chunk of what is left, cut anywhere; *bytes is 0 at its end. *text is the input's until its next call. */
enum leat_status text_input_chunk(struct text_input *in, char **text, size_t *bytes, struct leat_error *err);

/* The number of the line given last, from 1. */
uint64_t text_input_line_number(const struct text_input *in);

/* Puts the input's name before the sentence of `err`, and the number of the line given last if `line` is true.
 * Returns the status of `err`. */
enum leat_status text_input_blame(const struct text_input *in, bool line, struct leat_error *err);

#endif
