/* value_text.c: see value_text.h. */
#include "value_text.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "decimal.h"

_Static_assert(VALUE_TEXT >= DECIMAL_TEXT, "a number fits");

void value_text(const struct parquet_column *c, struct parquet_value *value, char text[VALUE_TEXT])
{
    const uint8_t *b = value->bytes;
    int64_t number = 0;

    if (c->form == PARQUET_AS_IT_IS || c->form == PARQUET_UNREAD || !b)
        return;
    if (c->form == PARQUET_SIGNED || c->form == PARQUET_UNSIGNED)
        number = c->type == PARQUET_INT64    ? (int64_t)bytes_load64(b)
                 : c->form == PARQUET_SIGNED ? (int32_t)bytes_load32(b)
                                             : (int64_t)bytes_load32(b);
    if (c->form == PARQUET_UUID)
        snprintf(text, VALUE_TEXT, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1],
                 b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
    else if (c->form == PARQUET_DECIMAL)
        decimal_of(c->type == PARQUET_FLOAT, b, text);
    else if (c->form == PARQUET_TRUTH)
        snprintf(text, VALUE_TEXT, "%s", *b ? "true" : "false");
    else if (c->form == PARQUET_SIGNED)
        snprintf(text, VALUE_TEXT, "%lld", (long long)number);
    else
        snprintf(text, VALUE_TEXT, "%llu", (unsigned long long)number);
    *value = (struct parquet_value) { (const uint8_t *)text, strlen(text) };
}
