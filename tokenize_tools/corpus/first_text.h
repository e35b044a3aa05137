/* first_text.h: shows how the first text of an input begins, to people who start a long run. */
#ifndef LEAT_TOKENIZE_TOOLS_FIRST_TEXT_H
#define LEAT_TOKENIZE_TOOLS_FIRST_TEXT_H

#include "inputs.h"

/* Copies the start of the text `field` of the first record that is not blank, or of the first row with a text, to
 * out[0..room), cut between characters and ended by a zero. The copy is empty if that record has no text, or if finding
 * it would take much memory. */
enum leat_status first_text(const struct input *in, const char *field, const struct input_stop *stop, char *out,
                            size_t room, struct leat_error *err);

#endif
