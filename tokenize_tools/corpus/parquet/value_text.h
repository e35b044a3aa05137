/* value_text.h: writes values that are not texts as text. */
#ifndef LEAT_PARQUET_VALUE_TEXT_H
#define LEAT_PARQUET_VALUE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "schema.h"

#define DECIMAL_TEXT 32u

/* Writes the little-endian number of IEEE 754 at `bytes`, of 32 (`is_float`) or 64 bits, as the decimal with the fewest
 * digits that is read as this number again: a JSON number in any locale, or "NaN" or "Infinity". */
void decimal_of(bool is_float, const uint8_t *bytes, char text[DECIMAL_TEXT]);

/* Writes such a number as Python's json writes a value of pyarrow: 0.5, 3.0, 1e-05, NaN, -Infinity; 32 bits become
 * 64. */
void decimal_of_python(bool is_float, const uint8_t *bytes, char text[DECIMAL_TEXT]);

#define VALUE_TEXT 40u /* bytes of a number in decimal, or of a UUID, with a zero byte */

/* Makes a value of the column a text, which lies in `text` unless it is a text already. */
void value_text(const struct parquet_column *c, struct parquet_value *value, char text[VALUE_TEXT]);

#endif
