/* valid_text.h: from random bytes to a text that a tokenizer may be given. */
#ifndef LEAT_TESTS_TOKENIZER_VALID_TEXT_H
#define LEAT_TESTS_TOKENIZER_VALID_TEXT_H

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "t.h"

/* Valid UTF-8 of these bytes, which it frees, in memory that ends with it: the caller's to free. */
static inline uint8_t *valid_text(struct buffer *some, size_t *bytes)
{
    struct buffer valid = { 0 };
    uint8_t *text;

    T_OK(buffer_append_repaired(&valid, some->bytes, some->size, NULL, &t_err));
    *bytes = valid.size;
    text = malloc(valid.size);
    memcpy(text, valid.bytes, valid.size);
    buffer_free(some);
    buffer_free(&valid);
    return text;
}

#endif
