/* chat_number.h: numbers as Python has them: integers of 64 bits and floats; how they compare, and their texts. */
#ifndef LEAT_TOKENIZE_TOOLS_CHAT_NUMBER_H
#define LEAT_TOKENIZE_TOOLS_CHAT_NUMBER_H

#include "chat_value.h"

/* An integer, a boolean or a float. */
bool chat_is_number(const struct chat_value *v);

/* The integer that an integer or a boolean is; false: it is neither. */
bool chat_to_int(const struct chat_value *v, int64_t *number);
double chat_to_real(const struct chat_value *number);

/* Less than 0, 0, or more, exactly; 2: one of the two is not a number (NaN). */
int chat_number_order(const struct chat_value *a, const struct chat_value *b);

/* Reads a number of JSON's, or of a template's, form. A CHAT_BIG has no digits yet. */
enum leat_status chat_number_read(struct chat_arena *a, const char *text, size_t bytes, struct chat_value *out,
                                  struct leat_error *err);

/* repr() of a float, with a NUL. */
#define CHAT_REAL_ROOM 64
void chat_real_text(double real, char text[CHAT_REAL_ROOM]);

#endif
