/*
 * pattern_symbols.h: the symbols of an expression: the classes of characters that its sets tell apart, each one byte.
 */
#ifndef LEAT_TOKENIZER_PATTERN_SYMBOLS_H
#define LEAT_TOKENIZER_PATTERN_SYMBOLS_H

#include "leat.h"
#include "pattern_parse.h"

struct pattern_symbols {
    uint16_t index[PATTERN_SET_POINTS / 256]; /* block of 256 code points -> its table */
    uint8_t (*blocks)[256];
    unsigned count; /* symbols, at most 256 */
};

/* LEAT_E_UNSUPPORTED if there are more than 256. `out` is for pattern_symbols_free() in any case. */
enum leat_status pattern_symbols_make(struct pattern_symbols *out, const struct pattern_text *text,
                                      struct leat_error *err);
void pattern_symbols_free(struct pattern_symbols *s);

static inline uint8_t pattern_symbol(const struct pattern_symbols *s, uint32_t c)
{
    return s->blocks[s->index[c >> 8]][c & 255];
}

/* The expression over bytes: each marker is written as a class of symbols. NULL if memory is short; free() it. */
char *pattern_symbols_write(const struct pattern_symbols *s, const struct pattern_text *text, size_t *length);

#endif
