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

/* Writes the shortest decimal that gives a stored, little-endian value, as a number of JSON. Returns false for NaN and
 * infinity. */
bool column_decimal(char text[48], const void *value, uint32_t type);

/* The values of a type, sorted: place 0 is the least. NaN lies at the ends. column_place() gives the place of a stored
 * value, and column_at_place() writes the value at a place. */
uint64_t column_place(const void *value, uint32_t type);
void column_at_place(uint8_t value[8], uint64_t place, uint32_t type);

/* Sets *first and *last to the places of the least and the greatest finite number. */
void column_finite_places(uint32_t type, uint64_t *first, uint64_t *last);

#endif
