/* integers.h: integers of any type in memory that need not be aligned. A type is its letter in struct.unpack,
 * numpy's dtype.char and the array module: lower case if it is signed. */
#ifndef LEAT_PYTHON_INTEGERS_H
#define LEAT_PYTHON_INTEGERS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A row of a type has its letter, its type in C, and a word for names. */
#define INTEGERS_EACH(each)                                                                                            \
    each('b', signed char, s8) each('B', unsigned char, u8) each('h', short, s16) each('H', unsigned short, u16)       \
        each('i', int, s32) each('I', unsigned, u32) each('l', long, slong) each('L', unsigned long, ulong)            \
            each('q', long long, s64) each('Q', unsigned long long, u64)

/* integers_u8() and the other functions of this name return number i of an array. For a number below zero, they
 * return it plus 2^64. */
#define INTEGERS_DEFINE(letter, type, name)                                                                            \
    static inline uint64_t integers_##name(const void *numbers, uint64_t i)                                            \
    {                                                                                                                  \
        type number;                                                                                                   \
                                                                                                                       \
        memcpy(&number, (const char *)numbers + i * sizeof number, sizeof number);                                     \
        return (uint64_t)number;                                                                                       \
    }
INTEGERS_EACH(INTEGERS_DEFINE)
#undef INTEGERS_DEFINE

/* Returns number i of an array whose type is known at run time; UINT64_MAX if the type is unknown. */
static inline uint64_t integers_load(char letter, const void *numbers, uint64_t i)
{
    switch (letter) {
#define INTEGERS_LOAD(letter, type, name)                                                                              \
    case letter:                                                                                                       \
        return integers_##name(numbers, i);
        INTEGERS_EACH(INTEGERS_LOAD)
#undef INTEGERS_LOAD
    default:
        return UINT64_MAX;
    }
}

/* Returns the bytes of a number of this type, or 0 if the type is unknown. */
static inline size_t integers_width(char letter)
{
    switch (letter) {
#define INTEGERS_WIDTH(letter, type, name)                                                                             \
    case letter:                                                                                                       \
        return sizeof(type);
        INTEGERS_EACH(INTEGERS_WIDTH)
#undef INTEGERS_WIDTH
    default:
        return 0;
    }
}

/* Returns 1 if a number of the type, as integers_load() returns it, is below zero. */
static inline int integers_negative(char letter, uint64_t number)
{
    return letter >= 'a' && number > INT64_MAX;
}

#endif
