/* first_text.h: how the first text of an input begins, for people who want to see before a long run what it packs. */
#ifndef LEAT_TOKENIZE_TOOLS_FIRST_TEXT_H
#define LEAT_TOKENIZE_TOOLS_FIRST_TEXT_H

#include "inputs.h"

/* Of the first record that is not blank, or of the first row with a text; `field` names it. Writes it to out[0..room),
 * cut between characters and ended by a zero; empty if that record has no text, or if it takes much memory to find. */
enum leat_status first_text(const struct input *in, const char *field, const struct input_stop *stop, char *out,
                            size_t room, struct leat_error *err);

#endif
