/* nasty.h: random texts of characters that scanners of text get wrong, for tests. */
#ifndef LEAT_TESTS_NASTY_H
#define LEAT_TESTS_NASTY_H

#include "t.h"

/* Code points that some class, some border or some reference treats in its own way. */
static const uint32_t nasty[] = {
    '\'',   '\'',   '\'',   's',    't',    'm',    'd',    'r',     'e',     'v',     'l',     'S',     'T',
    'M',    'D',    'R',    'E',    'V',    'L',    'a',    'z',     'A',     'Z',     'i',     'I',     'k',
    'K',    ' ',    ' ',    ' ',    '\t',   '\n',   '\n',   '\r',    0x0b,    0x0c,    0x85,    0x2028,  0x2029,
    0xa0,   0x1680, 0x2003, 0x202f, 0x3000, 0x200b, 0x200c, 0x200d,  0xfeff,  0x180e,  0,       1,       0x1f,
    0x7f,   '0',    '1',    '9',    0xb2,   0xb9,   0xbd,   0x660,   0x966,   0xe53,   0x2167,  0x2460,  0x3007,
    '_',    '/',    '\\',   '-',    '.',    ',',    '!',    '?',     '(',     ')',     '[',     ']',     '{',
    '}',    '@',    '`',    '~',    '^',    '$',    '+',    '*',     ':',     ';',     '"',     '#',     '|',
    0x2019, 0x2bc,  0xff07, 0x17f,  0x212a, 0x149,  0xdf,   0xfb06,  0x1e9e,  0x4e00,  0x4dff,  0x9fa5,  0x9fa6,
    0x9fff, 0x3040, 0x3042, 0x3097, 0x3099, 0x309b, 0x309f, 0x30a0,  0x30a2,  0x30fb,  0x30fc,  0x30ff,  0x3100,
    0x3005, 0x302a, 0x2e80, 0x2f00, 0xf900, 0xac00, 0x1100, 0x301,   0x300,   0x20dd,  0x93e,   0xbcd,   0xfe0f,
    0x1c5,  0x1f88, 0x2b0,  0xaa,   0x5d0,  0x627,  0xe01,  0x10d0,  0x1c90,  0x13a0,  0xab70,  0xe9,    0xc9,
    0x416,  0x436,  0x3c2,  0x130,  0x131,  0x345,  0x24b6, 0x20000, 0x1f600, 0x1f468, 0x1f1e9, 0x2764,  0xa9,
    0x20ac, 0x3001, 0xff01, 0xff11, 0xff21, 0xe000, 0xfffd, 0xffff,  0x378,   0x1e900, 0x1e922, 0xe0001, 0x10ffff,
};

#define NASTY     (sizeof nasty / sizeof nasty[0])
#define NASTY_MAX 4096

static inline size_t nasty_put(uint8_t *to, uint32_t c)
{
    if (c < 0x80)
        return to[0] = (uint8_t)c, 1;
    if (c < 0x800)
        return to[0] = (uint8_t)(0xc0 | c >> 6), to[1] = (uint8_t)(0x80 | (c & 63)), 2;
    if (c < 0x10000)
        return to[0] = (uint8_t)(0xe0 | c >> 12), to[1] = (uint8_t)(0x80 | (c >> 6 & 63)),
               to[2] = (uint8_t)(0x80 | (c & 63)), 3;
    return to[0] = (uint8_t)(0xf0 | c >> 18), to[1] = (uint8_t)(0x80 | (c >> 12 & 63)),
           to[2] = (uint8_t)(0x80 | (c >> 6 & 63)), to[3] = (uint8_t)(0x80 | (c & 63)), 4;
}

/* A text of a few characters drawn again and again, up to `most` times: a small alphabet makes the rules meet. It lies
 * at the end of the NASTY_MAX bytes, so that a byte read behind it can be seen; *text is where. */
static inline size_t nasty_text(uint8_t *to, const uint8_t **text, size_t max, uint64_t *state)
{
    uint32_t alphabet[10];
    size_t letters = 1 + t_below(state, 10), characters = 1 + t_below(state, max), n = 0;

    for (size_t i = 0; i < letters; i++) {
        alphabet[i] = nasty[t_below(state, NASTY)];
        if (t_below(state, 40) == 0)
            do
                alphabet[i] = (uint32_t)t_below(state, t_below(state, 2) ? 0x110000 : 0x3000);
            while (alphabet[i] >= 0xd800 && alphabet[i] < 0xe000);
    }
    while (characters-- > 0) {
        uint32_t c = alphabet[t_below(state, letters)];
        size_t times = t_below(state, 6) ? 1 : 1 + t_below(state, 9);

        while (times-- > 0 && n + 4 <= NASTY_MAX)
            n += nasty_put(to + n, c);
    }
    *text = memmove(to + NASTY_MAX - n, to, n);
    return n;
}

#endif
