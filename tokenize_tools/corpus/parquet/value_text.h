/* value_text.h: writes values that are not texts as text. */
#ifndef LEAT_PARQUET_VALUE_TEXT_H
#define LEAT_PARQUET_VALUE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "schema.h"

#define DECIMAL_TEXT 32u

/* Writes a little-endian IEEE 754 number at `bytes`, which has 32 bits (`is_float`) or 64 bits. The text is the decimal
 * with the fewest digits that reads back as the same number. It is a JSON number in any locale, or "NaN" or
 * "Infinity". */
void decimal_of(bool is_float, const uint8_t *bytes, char text[DECIMAL_TEXT]);

/* Writes the number at `bytes` as Python's json writes the value that pyarrow returns for it: 0.5, 3.0, 1e-05, NaN,
 * -Infinity. A number of 32 bits is widened to 64 bits first. */
void decimal_of_python(bool is_float, const uint8_t *bytes, char text[DECIMAL_TEXT]);

#define VALUE_TEXT 40u /* bytes of a number in decimal, or of a UUID, with a zero byte */

/* Turns a value of the column into a text. A value that is a text already stays where it is; any other text is written
 * to `text`. */
void value_text(const struct parquet_column *c, struct parquet_value *value, char text[VALUE_TEXT]);

#endif
