/* utf8_rows.h: utf8_valid_prefix() for each CPU level; the plain row defines the right answer. */
#ifndef LEAT_BASE_UTF8_ROWS_H
#define LEAT_BASE_UTF8_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "cpu.h"

typedef size_t utf8_function(const uint8_t *text, size_t size);

struct utf8_row {
    const char *name;
    enum cpu_level needs;
    utf8_function *valid_prefix;
};

extern utf8_function utf8_valid_prefix_avx512, utf8_valid_prefix_avx2, utf8_valid_prefix_neon, utf8_valid_prefix_words,
    utf8_valid_prefix_plain;

/* Fastest first; the last is the plain one. NULL past it. */
const struct utf8_row *utf8_row(size_t number);

#endif
