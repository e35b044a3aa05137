/*
 * small_charsmap.h: a charsmap (tokenizer/charsmap.h) made by hand, with the keys "a", "ab", "a" U+0301, U+00A9
 * and "q", which becomes nothing.
 */
#ifndef LEAT_TESTS_SMALL_CHARSMAP_H
#define LEAT_TESTS_SMALL_CHARSMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/bytes.h"

#define SMALL_CHARSMAP_ROOM 2048

/* Writes it and returns its length. 256 units are enough for its keys. */
static inline size_t small_charsmap(uint8_t *bytes)
{
    /* label, or the value with bit 31; then base << 10 | "has a value" << 8, as the offset from the unit's own place */
    static const struct {
        uint32_t at, label, base;
        bool value;
    } nodes[] = {
        { 0, 0, 1, false },           /* root: children at 1 ^ b */
        { 1 ^ 'a', 'a', 8, true },    /* a */
        { 8 ^ 'b', 'b', 3, true },    /* ab */
        { 8 ^ 0xcc, 0xcc, 4, false }, /* a CC */
        { 4 ^ 0x81, 0x81, 5, true },  /* a CC 81 */
        { 1 ^ 0xc2, 0xc2, 6, false }, /* C2 */
        { 6 ^ 0xa9, 0xa9, 7, true },  /* C2 A9 */
        { 1 ^ 'q', 'q', 9, true },    /* q */
    };
    static const uint32_t values[][2] = { { 8, 0 }, { 3, 2 }, { 5, 5 }, { 7, 8 }, { 9, 1 } };
    static const char pool[] = "1\0"
                               "22\0"
                               "33\0"
                               "(c)"; /* ended by the map's own NUL */

    memset(bytes, 0, 4 + 1024);
    bytes_store32(bytes, 1024);
    for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; i++)
        bytes_store32(bytes + 4 + 4 * nodes[i].at,
                      nodes[i].label | (nodes[i].value ? 0x100u : 0) | (nodes[i].at ^ nodes[i].base) << 10);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        bytes_store32(bytes + 4 + 4 * values[i][0], values[i][1] | 1u << 31);
    memcpy(bytes + 4 + 1024, pool, sizeof pool - 1);
    return 4 + 1024 + sizeof pool - 1;
}

#endif
