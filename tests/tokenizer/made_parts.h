/* made_parts.h: what test_parts.c makes texts and tokenizer.json files of. */
#ifndef LEAT_TESTS_MADE_PARTS_H
#define LEAT_TESTS_MADE_PARTS_H

#include "t.h"

/* ---- Texts ---- */

/* What meets badly at a cut. */
static const char *const atoms[] = {
    "a",
    "b",
    "ab",
    "abc",
    "the",
    "The",
    "THE",
    " ",
    "  ",
    "   ",
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    "\t",
    "\xc2\xa0",
    "\xe3\x80\x80",
    "\xe2\x80\x83",
    "'s",
    "'S",
    "'ll",
    "'",
    "\xc5\xbf",
    "1",
    "12",
    "345",
    "\xc2\xbd",
    ".",
    "...",
    "!?",
    "/",
    "-",
    "e\xcc\x81",
    "\xcc\x81",
    "\xcc\xa3",
    "\xcc\x81\xcc\xa3",
    "\xc3\xa9",
    "\xef\xac\x81",
    "\xe2\x84\xab",
    "\xe2\x84\xaa",
    "\xc4\xb0",
    "\xce\xa3",
    "\xed\x95\x9c",
    "\xe1\x84\x92",
    "\xe1\x85\xa1",
    "\xe1\x86\xab",
    "\xe4\xb8\xad",
    "\xe6\x96\x87",
    "\xe3\x81\x8b\xe3\x82\x99",
    "\xef\xbd\xb6\xef\xbe\x9e",
    "\xe0\xa4\x95\xe0\xa5\x8d\xe0\xa4\xb7",
    "\xe2\x80\x8d",
    "\xe2\x96\x81",
    "\xe2\x96\x81\xe2\x96\x81",
    "\xf0\x9f\x98\x80",
    "\xf0\x9f\x91\xa8\xe2\x80\x8d\xf0\x9f\x91\xa9",
    "\xf0\x9f\x87\xa9\xf0\x9f\x87\xaa",
    "\xff",
    "\xe4\xb8",
    "\xe4",
    "\xf0\x9f\x98",
    "\xed\xa0\x80",
    "\xc0\x80",
    "\x80",
    "<l>",
    "<r>",
    "<w>",
    "<lr>",
    "<lr>s",
    "<l",
    "r>",
    "<",
    "Word",
    "word",
    "<s>",
    "</s>",
    "x<s>",
    "<|endoftext|>",
    "<|endof",
    "text|>",
    "<mask>",
    "\xc2\xad",
    "\0",
};

#define ATOMS (sizeof atoms / sizeof atoms[0])

/* What a text begins with now and then: a cluster of more bytes than a step looks ahead. */
#define ELEVEN "\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81"
#define MARKS  ELEVEN ELEVEN ELEVEN
static const char *const beginnings[] = { MARKS, "a" MARKS, "\xc2\xa9q" MARKS };

static size_t random_text(uint64_t *random, uint8_t *out, size_t max)
{
    const char *begin = t_below(random, 8) == 0 ? beginnings[t_below(random, 3)] : "";
    size_t size = strlen(begin), few = 1 + t_below(random, ATOMS), from = t_below(random, ATOMS);

    memcpy(out, begin, size);
    while (size + 20 < max && t_below(random, 24) > 0) {
        const char *atom = atoms[(from + t_below(random, few)) % ATOMS];
        size_t length = *atom ? strlen(atom) : 1;

        memcpy(out + size, atom, length);
        size += length;
    }
    return size;
}

/* ---- Normalizers, pre-tokenizers, added tokens ---- */

#define BYTE_LEVEL(prefix, regex)                                                                                      \
    "{\"type\":\"ByteLevel\",\"add_prefix_space\":" prefix ",\"trim_offsets\":true,\"use_regex\":" regex "}"
#define SPLIT(pattern, behavior, invert)                                                                               \
    "{\"type\":\"Split\",\"pattern\":{" pattern "},\"behavior\":\"" behavior "\",\"invert\":" invert "}"
#define METASPACE(prepend, split)                                                                                      \
    "{\"type\":\"Metaspace\",\"replacement\":\"\\u2581\",\"prepend_scheme\":\"" prepend "\",\"split\":" split "}"
#define REPLACE(pattern, content) "{\"type\":\"Replace\",\"pattern\":{" pattern "},\"content\":\"" content "\"}"
#define STRIP(left, right)        "{\"type\":\"Strip\",\"strip_left\":" left ",\"strip_right\":" right "}"
#define NORMAL(list)              "{\"type\":\"Sequence\",\"normalizers\":[" list "]}"
#define STEPS(list)               "{\"type\":\"Sequence\",\"pretokenizers\":[" list "]}"
#define STRING(text)              "\"String\":\"" text "\""
#define REGEX(text)               "\"Regex\":\"" text "\""
#define PREPEND                   "{\"type\":\"Prepend\",\"prepend\":\"\\u2581\"}"

static const char *const normalizers[] = {
    "null",
    "{\"type\":\"NFC\"}",
    "{\"type\":\"NFD\"}",
    "{\"type\":\"NFKC\"}",
    "{\"type\":\"NFKD\"}",
    "{\"type\":\"Lowercase\"}",
    STRIP("true", "true"),
    STRIP("true", "false"),
    STRIP("false", "true"),
    REPLACE(STRING(" "), "\\u2581"),
    REPLACE(STRING("ab"), "ba"),
    REPLACE(STRING("aba"), ""),
    REPLACE(STRING(""), "x"),
    REPLACE(REGEX(" {2,}"), " "),
    REPLACE(REGEX("a*"), "x"),
    REPLACE(REGEX("a+b?"), "b"),
    REPLACE(REGEX("a|(ba)*"), "x"), /* what may become an empty match right behind a match */
    REPLACE(REGEX("(?<=a)b"), "c"),
    REPLACE(REGEX("\\\\s+$"), "."),
    PREPEND,
    NORMAL(PREPEND "," REPLACE(STRING(" "), "\\u2581")),
    NORMAL(STRIP("true", "true") "," PREPEND ","
                                 "{\"type\":\"NFKC\"}"
                                 "," REPLACE(REGEX(" {2,}"), " ")),
    NORMAL("{\"type\":\"NFD\"}"
           ","
           "{\"type\":\"Lowercase\"}"
           "," REPLACE(REGEX("[\\u0300-\\u036f]"), "") ","
                                                       "{\"type\":\"NFC\"}"),
    NORMAL(STRIP("false", "true") "," REPLACE(STRING("a"), " ") "," STRIP("true", "false")),
    "@", /* Precompiled */
    NORMAL("@"
           "," STRIP("false", "true") "," REPLACE(REGEX(" {2,}"), "\\u2581")),
};

/* With ByteLevel: of byte-level files. */
static const char *const byte_level[] = {
    BYTE_LEVEL("false", "true"),
    BYTE_LEVEL("true", "true"),
    BYTE_LEVEL("true", "false"),
    STEPS("{\"type\":\"Digits\",\"individual_digits\":true}"
          "," BYTE_LEVEL("false", "true")),
    STEPS("{\"type\":\"Digits\",\"individual_digits\":false}"
          ","
          "{\"type\":\"Punctuation\",\"behavior\":\"Contiguous\"}"
          "," BYTE_LEVEL("false", "true")),
    STEPS(SPLIT(REGEX("\\\\p{N}{1,3}"), "Isolated", "false") "," SPLIT(REGEX("[a-z]+| ?\\\\s+"), "Isolated",
                                                                       "false") "," BYTE_LEVEL("false", "false")),
    STEPS(SPLIT(REGEX("(?<=a)b|c"), "Isolated", "false") "," BYTE_LEVEL("false", "false")),
    STEPS(SPLIT(STRING("ab"), "MergedWithNext", "false") "," BYTE_LEVEL("true", "false")),
    STEPS(BYTE_LEVEL("true", "false") "," SPLIT(STRING("\\u0120"), "MergedWithNext", "false")),
    STEPS(BYTE_LEVEL("false", "true") ","
                                      "{\"type\":\"Digits\",\"individual_digits\":true}"),
};

static const char *const others[] = {
    "null",
    METASPACE("always", "true"),
    METASPACE("first", "true"),
    METASPACE("never", "true"),
    METASPACE("always", "false"),
    METASPACE("first", "false"),
    METASPACE("never", "false"),
    SPLIT(STRING(" "), "MergedWithPrevious", "false"),
    SPLIT(STRING(" "), "MergedWithNext", "false"),
    SPLIT(STRING(" "), "Contiguous", "false"),
    SPLIT(STRING(" "), "Removed", "false"),
    SPLIT(STRING(" "), "Isolated", "true"),
    SPLIT(STRING(" "), "Removed", "true"),
    SPLIT(STRING("ab"), "Contiguous", "true"),
    SPLIT(STRING(""), "Isolated", "false"),
    SPLIT(STRING(""), "MergedWithNext", "false"),
    SPLIT(REGEX("a+|\\\\s"), "MergedWithPrevious", "false"),
    SPLIT(REGEX("a*"), "MergedWithNext", "true"),
    SPLIT(REGEX("a|(ba)*"), "Isolated", "false"),
    SPLIT(REGEX("\\\\s+(?!\\\\S)|\\\\w+"), "Removed", "true"),
    SPLIT(REGEX("a$|^b"), "Isolated", "false"),
    "{\"type\":\"Digits\",\"individual_digits\":true}",
    "{\"type\":\"Punctuation\",\"behavior\":\"MergedWithPrevious\"}",
    "{\"type\":\"Punctuation\",\"behavior\":\"Removed\"}",
    "{\"type\":\"Whitespace\"}",
    "{\"type\":\"WhitespaceSplit\"}",
    STEPS("{\"type\":\"WhitespaceSplit\"}"
          "," METASPACE("first", "true")),
    STEPS(METASPACE("first", "false") ","
                                      "{\"type\":\"Digits\",\"individual_digits\":false}"),
};

#define TOKEN(id, content, single, left, right, normalized, special)                                                   \
    "{\"id\":" #id ",\"content\":\"" content "\",\"single_word\":" single ",\"lstrip\":" left ",\"rstrip\":" right     \
    ",\"normalized\":" normalized ",\"special\":" special "}"
#define TOKENS(normalized)                                                                                             \
    TOKEN(1000, "<l>", "false", "true", "false", normalized, "false")                                                  \
    "," TOKEN(1001, "<r>", "false", "false", "true", normalized, "true") "," TOKEN(                                    \
        1002, "word", "true", "false", "false", normalized,                                                            \
        "false") "," TOKEN(1003, "<lr>", "false", "true", "true", normalized,                                          \
                           "true") "," TOKEN(1004, "<lr>s", "true", "true", "true", normalized, "false")

static const char *const added[] = {
    "",
    TOKENS("false"),
    TOKENS("true"),
    TOKENS("false") "," TOKEN(1005, "  ", "false", "false", "false", "false", "false"),
    TOKENS("false") "," TOKEN(1005, " a", "true", "false", "true", "true",
                              "false") "," TOKEN(1006, "\\n\\n", "false", "true", "false", "true", "false"),
};

#endif
