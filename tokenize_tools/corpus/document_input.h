/*
 * document_input.h: reads the documents of an input of text: the records of JSON lines, or the whole input as one
 * document. It serves people at a terminal and measurements: a record that cannot be read is an error with file and
 * line.
 *
 * This room knows what text looks like in files: its formats (record_format, a row each), its lines, inputs that are
 * read from start to end (text_input, document_input), and the inputs that the words of a command stand for (inputs).
 * Its inner rooms are streams/, which turns files into bytes, and json/, which reads JSON records. What may enter: code
 * that finds documents in bytes. The room knows neither packing nor tokens.
 */
#ifndef LEAT_TOKENIZE_TOOLS_DOCUMENT_INPUT_H
#define LEAT_TOKENIZE_TOOLS_DOCUMENT_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "leat.h"

/* ---- A text ------------------------------------------------------------------------------------------------------ */

/*
 * Reads a text for commands: a file or standard input, plain or compressed (byte_stream.h), line by line, whole or in
 * chunks. It needs memory for the longest line.
 */

struct text_input;

/* `path` "-" is standard input. On success *out is the caller's until text_input_close(); NULL on failure. */
enum leat_status text_input_open(struct text_input **out, const char *path, struct leat_error *err);
void text_input_close(struct text_input *in); /* NULL is fine */

/*
 * Gets the next line, without its newline; *found is false after the last one. The input owns *line until its next
 * call, but the caller may write over it. Returns LEAT_E_TRUNCATED or LEAT_E_TEXT if compressed data is cut off or
 * broken.
 */
enum leat_status text_input_line(struct text_input *in, char **line, size_t *bytes, bool *found,
                                 struct leat_error *err);

/* Puts the input's name before the sentence of `err`, and the number of the line given last if `line` is true.
 * Returns the status of `err`. */
enum leat_status text_input_blame(const struct text_input *in, bool line, struct leat_error *err);

/* ---- Its documents ----------------------------------------------------------------------------------------------- */

enum document_kind {
    DOCUMENT_BY_NAME, /* the rows of record_format.h; a file whose name fits none is one document */
    DOCUMENT_JSONL,
    DOCUMENT_WHOLE
};

struct document_input;

/* `path` "-" is standard input. `field` is what record_want_texts() takes, and must outlive the input. On success
 * *out is the caller's until document_input_close(); NULL on failure. */
enum leat_status document_input_open(struct document_input **out, const char *path, enum document_kind kind,
                                     const char *field, struct leat_error *err);
void document_input_close(struct document_input *in); /* NULL is fine */

/* Gives the next document; *found is false after the last one. *text is the input's until its next call. Blank lines
 * are skipped. Returns LEAT_E_TEXT for a record that is not a JSON object with such a string. */
enum leat_status document_input_next(struct document_input *in, const char **text, size_t *bytes, bool *found,
                                     struct leat_error *err);

/* Returns true if the whole input is one document. */
bool document_input_is_one(const struct document_input *in);

/* In place of document_input_next(): gives the input, whatever its format, in chunks that are cut anywhere; *bytes is 0
 * at its end. */
enum leat_status document_input_chunk(struct document_input *in, const char **text, size_t *bytes,
                                      struct leat_error *err);

/* Puts the place of the document given last before the sentence of `err`. Returns the status of `err`. */
enum leat_status document_input_blame(const struct document_input *in, struct leat_error *err);

#endif
