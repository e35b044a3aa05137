/*
 * bytes.h: the only loads and stores of multi-byte numbers, and the only checked sums and products. Files hold
 * little-endian numbers; sizes that come from a file go through here before they are used.
 */
#ifndef LEAT_BASE_BYTES_H
#define LEAT_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define BYTES_BIG_ENDIAN 1
#else
#define BYTES_BIG_ENDIAN 0
#endif

static inline uint16_t bytes_swap16(uint16_t v)
{
    return (uint16_t)(v << 8 | v >> 8);
}

static inline uint32_t bytes_swap32(uint32_t v)
{
    return v << 24 | (v << 8 & 0xff0000u) | (v >> 8 & 0xff00u) | v >> 24;
}

static inline uint64_t bytes_swap64(uint64_t v)
{
    return (uint64_t)bytes_swap32((uint32_t)v) << 32 | bytes_swap32((uint32_t)(v >> 32));
}

/* Reverses the bytes of each of `count` numbers of `width` bytes. */
static inline void bytes_swap_each(uint8_t *numbers, uint64_t count, uint32_t width)
{
    for (uint64_t i = 0; i < count; i++, numbers += width)
        for (uint32_t k = 0; k < width / 2; k++) {
            uint8_t kept = numbers[k];

            numbers[k] = numbers[width - 1 - k];
            numbers[width - 1 - k] = kept;
        }
}

/* Convert between this machine's order of bytes and little-endian, in either direction. */
static inline uint16_t bytes_le16(uint16_t v)
{
    return BYTES_BIG_ENDIAN ? bytes_swap16(v) : v;
}

static inline uint32_t bytes_le32(uint32_t v)
{
    return BYTES_BIG_ENDIAN ? bytes_swap32(v) : v;
}

static inline uint64_t bytes_le64(uint64_t v)
{
    return BYTES_BIG_ENDIAN ? bytes_swap64(v) : v;
}

static inline uint16_t bytes_load16(const void *p)
{
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return bytes_le16(v);
}

static inline uint32_t bytes_load32(const void *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return bytes_le32(v);
}

static inline uint64_t bytes_load64(const void *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return bytes_le64(v);
}

static inline void bytes_store32(void *p, uint32_t v)
{
    v = bytes_le32(v);
    memcpy(p, &v, sizeof v);
}

static inline void bytes_store64(void *p, uint64_t v)
{
    v = bytes_le64(v);
    memcpy(p, &v, sizeof v);
}

/* Sets *sum to a + b, and returns false if that does not fit. */
static inline bool bytes_add(uint64_t a, uint64_t b, uint64_t *sum)
{
    *sum = a + b;
    return *sum >= a;
}

/* Sets *product to a * b, and returns false if that does not fit. */
static inline bool bytes_multiply(uint64_t a, uint64_t b, uint64_t *product)
{
    *product = a * b;
    return a == 0 || *product / a == b;
}

/* Returns how many pieces of `unit` bytes hold `bytes`. Cannot overflow. */
static inline uint64_t bytes_divide_up(uint64_t bytes, uint64_t unit)
{
    return bytes / unit + (bytes % unit != 0);
}

/* Returns true if [first, first + count) lies in [0, size). */
static inline bool bytes_inside(uint64_t first, uint64_t count, uint64_t size)
{
    return first <= size && count <= size - first;
}

static inline bool bytes_all_zero(const void *p, uint64_t count)
{
    const uint8_t *b = p;
    uint8_t any = 0;

    for (uint64_t i = 0; i < count; i++)
        any |= b[i];
    return any == 0;
}

/* Returns true if one of the bytes is 0x80 or more. */
static inline bool bytes_any_high(const uint8_t *bytes, size_t count)
{
    uint64_t all = 0;
    size_t at = 0;

    for (; at + 8 <= count; at += 8)
        all |= bytes_load64(bytes + at);
    for (; at < count; at++)
        all |= (uint64_t)bytes[at] << 56;
    return (all & 0x8080808080808080u) != 0;
}

/* Returns the value of a hexadecimal digit in ASCII, else -1. */
static inline int bytes_hex_digit(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

#endif
