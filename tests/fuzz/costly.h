/*
 * costly.h: a tokenizer.json that is made to be expensive, and a text for it, both chosen by a fuzzer's bytes: lists of
 * normalizers, pre-tokenizers and decoders, long ones of one and the same too; expressions; added tokens; vocabularies;
 * nesting; compressed or not. So nearly every input is a file that loads, or is refused by what it asks for.
 */
#ifndef LEAT_TESTS_FUZZ_COSTLY_H
#define LEAT_TESTS_FUZZ_COSTLY_H

#include "base/tiny.h"
#include "fuzz.h"

#define COSTLY_FILE TINY_OR((size_t)1 << 13, (size_t)1 << 17)
#define COSTLY_TEXT TINY_OR((size_t)1 << 9, (size_t)1 << 12)

struct costly {
    uint8_t file[COSTLY_FILE], text[COSTLY_TEXT];
    size_t file_bytes, text_bytes;
    uint32_t ids;       /* 1 more than the highest, of tokens that are not added ones */
    size_t plain_bytes; /* of the file before it was compressed */
    uint64_t growth;    /* a byte of a text becomes at most so many when it is normalized; COSTLY_GROWTH: or more */
    uint64_t searches;  /* expressions that go through a text */
};

#define COSTLY_GROWTH ((uint64_t)1 << 40)

void costly_make(struct costly *c, struct fuzz_bytes *b);

#endif
