/*
 * utf8.h: UTF-8 from files: finds how much of it is well-formed, and writes characters. Surrogates,
 * values above U+10FFFF and forms longer than needed are malformed, as in Python.
 */
#ifndef LEAT_BASE_UTF8_H
#define LEAT_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

#include "bytes.h"
#include "cpu.h"
#include "leat.h"

#define UTF8_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/* Returns the length of the longest prefix that is well-formed: `size` if all of the text is. An empty text may be
 * NULL, here and in all functions below, but not for the functions of the rows. */
size_t utf8_valid_prefix(const uint8_t *text, size_t size);

/* A function that finds this prefix, for one level of CPUs; the plain row defines the right answer. */
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

/* Returns how many bytes at the text's end are an unfinished character, which what follows may complete: at most 3. */
size_t utf8_open_end(const uint8_t *text, size_t size);

/*
 * Returns how many bytes one U+FFFD replaces at a place that is malformed: the longest beginning of a character there,
 * or one byte. That is bytes.decode("utf-8", "replace") of Python, and the practice that Unicode recommends.
 */
size_t utf8_malformed_part(const uint8_t *text, size_t size);

/* Returns how many parts of the text are malformed: the number of U+FFFD that buffer_append_repaired() inserts. */
uint64_t utf8_malformed(const uint8_t *text, size_t size);

/* Returns the length of the character at text[0], which is not ASCII; 0 if it is malformed. */
size_t utf8_character(const uint8_t *text, size_t size);

/* Writes a character, which must not be a surrogate; returns its length, 4 at most. */
static inline size_t utf8_encode(uint8_t *out, uint32_t c)
{
    if (c < 0x80) {
        out[0] = (uint8_t)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (uint8_t)(0xc0 | c >> 6);
        out[1] = (uint8_t)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (uint8_t)(0xe0 | c >> 12);
        out[1] = (uint8_t)(0x80 | (c >> 6 & 0x3f));
        out[2] = (uint8_t)(0x80 | (c & 0x3f));
        return 3;
    }
    out[0] = (uint8_t)(0xf0 | c >> 18);
    out[1] = (uint8_t)(0x80 | (c >> 12 & 0x3f));
    out[2] = (uint8_t)(0x80 | (c >> 6 & 0x3f));
    out[3] = (uint8_t)(0x80 | (c & 0x3f));
    return 4;
}

/* Returns how many bytes a character has. */
static inline unsigned utf8_size(uint32_t c)
{
    return c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
}

/* Returns how many characters begin in the text. */
static inline size_t utf8_characters(const uint8_t *text, size_t bytes)
{
    size_t count = 0;

    for (size_t i = 0; i < bytes; i++)
        count += (text[i] & 0xc0) != 0x80;
    return count;
}

/* Returns the start of the last character before `end`, which is not 0. */
static inline size_t utf8_before(const uint8_t *text, size_t end)
{
    do
        end--;
    while (end > 0 && (text[end] & 0xc0) == 0x80);
    return end;
}

/* Returns how many bytes are ASCII before the first that is not. */
static inline size_t utf8_ascii_prefix(const uint8_t *text, size_t size)
{
    size_t at = 0;

    while (size - at >= 8 && (bytes_load64(text + at) & 0x8080808080808080u) == 0)
        at += 8;
    while (at < size && text[at] < 0x80)
        at++;
    return at;
}

#endif
