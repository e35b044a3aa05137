/* value_text.h: values that are not texts, as text. */
#ifndef LEAT_PARQUET_VALUE_TEXT_H
#define LEAT_PARQUET_VALUE_TEXT_H

#include "schema.h"

#define VALUE_TEXT 40u /* bytes of a number in decimal, or a UUID, with a zero byte */

/* Makes a value of the column a text, which lies in `text` unless it is one already. */
void value_text(const struct parquet_column *c, struct parquet_value *value, char text[VALUE_TEXT]);

#endif
