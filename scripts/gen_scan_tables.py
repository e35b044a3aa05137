#!/usr/bin/env python3
"""gen_scan_tables.py: writes scan_tables.h of tokenize_tools/tokenizer/, the characters that scanners need not look up.

    scripts/gen_scan_tables.py > tokenize_tools/tokenizer/scan/scan_tables.h

A vector looks up 16 entries at once, by four bits of a byte. So a set of characters can be told by vectors alone if it
is a box: each half of each of its first three bytes lies in a set of its own. The boxes below are chosen by hand, after
how often the scripts occur; each bit of a table is one. tests/tokenizer/test_scan_rows.c tries every character.
"""
ANY = "0123456789abcdef"

# name, comment, boxes: halves of the first, second and third byte
TABLES = [
    ("letters", "letters of any case", [
        ("e 56789bc", None, None),           # Han from U+5000, Hangul from U+B000
        ("e 456789abcd", "8b 012345689abcdef", None),
        ("e 3456789bcd", "89ab 125", "8ab 123456789abcdef"),  # hiragana, katakana
        ("e 03456789abcd", "8 135", "89ab 123456789acdef"),   # katakana, and others
        ("c 3456789ae", "9ab 0134568 9abcde", None),          # Latin, Greek
        ("cd 0158a", "ab", None),            # Cyrillic, Arabic
        ("d 013459abe", "8 0123456789a", None),
        ("c 3456789af", "8a", None),
    ]),
    ("either", "letters without case", [
        ("e 56789bc", None, None),
        ("e 456789abcd", "8b 012345689abcdef", None),
        ("e 3456789bcd", "89ab 125", "8ab 123456789abcdef"),
        ("e 03456789abcd", "8 135", "89ab 123456789acdef"),
        ("d 8", "ab", None),
        ("d 9", "8 0123456789a", None),
    ]),
    ("cases", "capitals, in the first three bits, and small letters", [
        ("c 3", "8", None),
        ("d 0", "9a", None),
        ("c e", "9 13456789abcdef", None),
        ("c 3", "a", None),
        ("d 0", "b", None),
        ("d 1", "8", None),
        ("c e", "b", None),
        ("c f", "8 0123456789abcde", None),
    ]),
    ("symbols", "punctuation and symbols", [
        ("e 23", "8 0", "9"),
        ("e 3", "8 0", "8 12389abcdef"),
        ("e 2", "8 0", "a 01234567"),
        ("e f", "b c", "8 123456789abcdef"),
        ("e f", "b c", "9 abcdef"),
    ]),
]


def halves(text):
    if text is None:
        return ANY, ANY
    high, _, low = text.partition(" ")
    return high, low.replace(" ", "") or ANY


def rows(boxes):
    """Returns six rows of 16 entries: high and low half of the first, second and third byte."""
    out = [[0] * 16 for _ in range(6)]
    for bit, box in enumerate(boxes):
        for byte, text in enumerate(box):
            for half, digits in enumerate(halves(text)):
                for digit in digits:
                    out[2 * byte + half][int(digit, 16)] |= 1 << bit
    return out


def main():
    print("""/*
 * scan_tables.h: characters that vectors tell by themselves; see scan_blocks.c. A character belongs to a set if six
 * rows, by the high and low halves of its first three bytes, have a bit in common.
 *
 * Made by scripts/gen_scan_tables.py, which has the sets in words; do not edit.
 */
/* clang-format off */
#ifndef LEAT_TOKENIZER_SCAN_TABLES_H
#define LEAT_TOKENIZER_SCAN_TABLES_H

#include <stdint.h>""")
    for name, comment, boxes in TABLES:
        print(f"\n/* {comment[0].upper() + comment[1:]}. */\nstatic const uint8_t scan_set_{name}[6][16] = {{")
        for row in rows(boxes):
            print("    { " + ", ".join(f"0x{x:02x}" for x in row) + " },")
        print("};")
    print("\n#endif\n/* clang-format on */")


if __name__ == "__main__":
    main()
