/*
 * byte_alphabet.h: GPT-2's way to write bytes as printable characters: '!' to '~', U+00A1 to U+00AC and U+00AE to
 * U+00FF stand for themselves, the other 68 bytes, in order, for U+0100 to U+0143.
 */
#ifndef LEAT_TOKENIZER_BYTE_ALPHABET_H
#define LEAT_TOKENIZER_BYTE_ALPHABET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BYTE_ALPHABET_CODES 0x144u

struct byte_alphabet {
    int16_t byte_of[BYTE_ALPHABET_CODES]; /* by code point; -1: not in the alphabet */
    uint16_t code_of[256];
};

void byte_alphabet_init(struct byte_alphabet *a);

/*
 * Undoes the mapping: `out` has room for `length` bytes, and *bytes is set to how many there are. Returns false if a
 * character is not in the alphabet (`out` is then half written). `text` is valid UTF-8.
 */
bool byte_alphabet_decode(const struct byte_alphabet *a, uint8_t *out, uint32_t *bytes, const uint8_t *text,
                          uint32_t length);

#endif
