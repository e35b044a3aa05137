/* column_numbers.h: converts numbers to the types of columns; a number that a type does not hold is found. */
#ifndef LEAT_COLUMN_NUMBERS_H
#define LEAT_COLUMN_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "leat.h"

/* Returns the bytes of a value; 0 if there is no such type. */
uint32_t column_type_bytes(uint32_t type);

/* Returns true if a column can have this type. */
static inline bool column_type_is_stored(uint32_t type)
{
    return type >= LEAT_COLUMN_U8 && type <= LEAT_COLUMN_CATEGORY;
}

/* Converts `count` numbers of this machine to little-endian ones. Returns how many it converted: fewer than `count` if
 * the next one does not fit. */
uint64_t column_convert(void *out, uint32_t to, const void *values, uint32_t from, uint64_t count);

/* Writes a number as people read it. */
void column_show(char text[48], const void *value, uint32_t type);

#endif
