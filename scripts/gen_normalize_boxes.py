#!/usr/bin/env python3
"""gen_normalize_boxes.py: writes normalize_boxes.h of tokenize_tools/tokenizer/: what NFC must examine.

    scripts/gen_normalize_boxes.py > tokenize_tools/tokenizer/unicode/normalize_boxes.h

The boxes (gen_scan_tables.py) contain each character that NFC may change, move or compose with another, in the Unicode
that normalize_tables.h has, and few other common ones: of the characters beyond ASCII in 39 MB of 50 languages, 3.2 %
are in a box, and 1.2 % must be. They are chosen by hand; the script fails if one of these characters is in no box.
"""
import os
import re
import sys

from gen_scan_tables import halves, rows

TABLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tokenize_tools", "tokenizer", "unicode",
                      "normalize_tables.h")
NFC_OR_CLASS = 0x1FF

# halves of the first, second and third byte
BOXES = [
    ("cd cd", None, None),                  # marks, archaic Greek, Syriac
    ("cd 27e", "8 1234567", None),          # a middle dot, Cyrillic and Hebrew marks
    ("d 689b", "9", None),                  # Hebrew and Arabic marks
    ("d 6bf", "ab", None),  # Hebrew and Arabic marks, marks of N'Ko
    ("d 79", "8b 0bcdef", None),            # Arabic marks
    ("e 0", "a 0123", None),                # Samaritan to Arabic Extended-A
    ("e 0", "ab 02468ace", "b 36bce"),  # South Asian: nukta, composed vowels
    ("e 0", "ab 13579bdf", "8 d"),          # virama
    ("e 0", "ab 13579bdf", "9"),            # accents, lengths
    ("e 0", "b 379b", "8 289abf"),          # Kannada, Sinhala, tones of Thai and Lao
    ("e 0", "b 8a", "b 89a"),               # vowels below of Thai and Lao
    ("e 01", "b cdef", None),               # Tibetan; Greek Extended
    ("e 1", "8 02", "8ab 79ade"),           # Myanmar
    ("e 1", "8 4567d", None),               # Hangul's letters, Ethiopic marks
    ("e 1", "9 cdf", "9b 24d"),             # Philippine, Khmer
    ("e 12", "ab 01234567", None),          # Mongolian to Sundanese, marks; Coptic, Tifinagh, Cyrillic marks
    ("e 12", "a 89abcdef", None),           # Tai Tham to Batak; a symbol
    ("e 2", "8 0", "8 01"),                 # two spaces
    ("e 2", "8 34c", "9ab"),                # marks of symbols; ohm, kelvin, angstrom; angle brackets
    ("e 3", "8 02", "9a 9abcdef"),          # marks of Han and kana
    ("e af", "89a", None),                  # Vai to Meetei Mayek; Han for compatibility, Hebrew presentation forms
    ("e f", "b 8", "a"),                    # half marks
    ("f 0", "9 0123456789abcde", None),     # from U+10000 up to emoji
    ("f 0", "a f", None),                   # Han for compatibility
]


def numbers(text, name):
    body = re.search(name + r"\[.*?\] = \{(.*?)\n\};", text, re.S).group(1)
    return [int(x) for x in re.findall(r"\d+", body)]


def normal_words():
    with open(TABLES) as f:
        text = f.read()
    index, blocks = numbers(text, "normal_index"), numbers(text, "normal_blocks")
    return [blocks[256 * index[c >> 8] + (c & 255)] for c in range(0x110000)]


def in_box(box, utf8):
    return all(f"{byte:02x}"[0] in high and f"{byte:02x}"[1] in low
               for byte, (high, low) in zip(utf8, map(halves, box)))


def table(lists, indent):
    return "".join(indent + "{ " + ", ".join(f"0x{x:02x}" for x in row) + " },\n" for row in lists)


def main():
    firsts = set()
    for c, word in enumerate(normal_words()):
        if word & NFC_OR_CLASS:
            firsts.add(chr(c).encode()[0])
            if not any(in_box(box, chr(c).encode()) for box in BOXES):
                sys.exit(f"U+{c:04X} is in no box")
    by_high = [(f"{high:x} " + "".join(f"{b & 15:x}" for b in sorted(firsts) if b >> 4 == high), None, None)
               for high in range(12, 16)]
    print("""/*
 * normalize_boxes.h: boxes of characters (char_boxes.h) that contain all that NFC may change, move or compose, and few
 * others that are common.
 *
 * Made by scripts/gen_normalize_boxes.py, which has them in words; do not edit.
 */
/* clang-format off */
#ifndef LEAT_TOKENIZER_NORMALIZE_BOXES_H
#define LEAT_TOKENIZER_NORMALIZE_BOXES_H

#include <stdint.h>
""")
    print("/* The first bytes of those: two rows of a table. */\n"
          f"static const uint8_t normalize_firsts[2][16] = {{\n{table(rows(by_high)[:2], '    ')}}};\n")
    print(f"static const uint8_t normalize_boxes[{len(BOXES) // 8}][6][16] = {{")
    for first in range(0, len(BOXES), 8):
        print(f"    {{\n{table(rows(BOXES[first:first + 8]), '        ')}    }},")
    print("};\n\n#endif\n/* clang-format on */")


if __name__ == "__main__":
    main()
