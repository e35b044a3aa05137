/* base64.h: standard base64 (RFC 4648, section 4), as vocabularies hold their bytes, and Azure its keys. */
#ifndef LEAT_BASE_BASE64_H
#define LEAT_BASE_BASE64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most bytes that `length` characters can stand for. */
#define BASE64_ROOM(length) ((size_t)(length) / 4 * 3 + 3)

/*
 * Decodes into `out`, which has BASE64_ROOM(length) bytes, and sets *bytes. Strict: groups of four, padded at the end,
 * no other characters. A lone "=" stands for no bytes, as in Python (some published vocabularies have such a line).
 */
bool base64_decode(uint8_t *out, size_t *bytes, const uint8_t *text, size_t length);

/* How many characters `bytes` bytes become, with the NUL. */
#define BASE64_TEXT(bytes) (((size_t)(bytes) + 2) / 3 * 4 + 1)

/* Writes BASE64_TEXT(bytes) characters. */
void base64_encode(char *out, const uint8_t *from, size_t bytes);

#endif
