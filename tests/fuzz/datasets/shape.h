/*
 * shape.h: the description that fuzz_dataset mutates, and what it expands to: the two files of a dataset.
 *
 * A mutator that worked on the files themselves would spend its life on zeros and on checksums. So the description has
 * no padding and no zero runs of the header, and its first bits choose what is put right once the hostile bytes are in
 * place: with none of them the files are the bytes as given; with all, nearly any bytes make a dataset that verifies.
 *
 *   at    bytes
 *     0       2  repairs, see enum shape_repair
 *     2       1  what the fuzzer does with it (its own); 0x80: repaired starts need have no room for end and begin
 *     3       1  step of the run of documents
 *     4       1  length of that run: so many starts, each a step beyond the one before, follow those given
 *     5       1  LONG, else the next is nothing: few inputs shall be long, for they take long
 *     6       2  tokens are repeated until they fill 4 times so many bytes (if they do not already)
 *     8       2  the index file is cut by so many bytes; 0x8000 + n: n mod 256 zeros longer; 0xc000 + n: so that the
 *                header knows of it
 *    10       2  the same for the token file
 *    12       4  seed of what the fuzzer asks for
 *    16      12  4 times: place in the index (2), value (1): a byte to be set, if not 0
 *    28     152  the header's begin, up to its reserved bytes
 *   180  32 x n  the section table, n as the header says: each entry's begin: kind, flags, offset, bytes, entries
 *                each section's bytes: as many as its entry says, and as there are
 *                tokens: the rest
 * All numbers are little-endian, as in the files. A description that ends early goes on with zeros.
 */
#ifndef LEAT_TESTS_FUZZ_SHAPE_H
#define LEAT_TESTS_FUZZ_SHAPE_H

#include <stddef.h>
#include <stdint.h>

#define SHAPE_LONG  0x4c
#define SHAPE_LOOSE 0x80

enum shape_repair {
    SHAPE_HEAD = 1 << 0,      /* magic, version, features, token width; end and begin token below the vocabulary */
    SHAPE_LAYOUT = 1 << 1,    /* sizes of files; places and entries of sections */
    SHAPE_COUNTS = 1 << 2,    /* number of documents, and the length of what has an entry for each or for tokens */
    SHAPE_STARTS = 1 << 3,    /* documents rise from 0 to the number of tokens, each with room for end and begin */
    SHAPE_TOKENS = 1 << 4,    /* ids are below the vocabulary size, documents begin and end as they must */
    SHAPE_DIRECTORY = 1 << 5, /* is made from the documents */
    SHAPE_PAGES = 1 << 6,     /* page hashes, and the sum of the tokens */
    SHAPE_ORIGINS = 1 << 7,   /* name inputs that exist; are called ordered only if they are */
    SHAPE_INPUTS = 1 << 8,    /* count what the origins name; paths follow each other */
    SHAPE_IDS = 1 << 9,       /* ends rise to the length of the ids */
    SHAPE_STORED = 1 << 10,   /* lengths in tokenizer and metadata */
    SHAPE_SUMS = 1 << 11,     /* of sections */
    SHAPE_IDENTITY = 1 << 12,
    SHAPE_CHECKSUM = 1 << 13,  /* of the header */
    SHAPE_POKE_LAST = 1 << 14, /* bytes are set after all this, else before the header's checksum */
    SHAPE_POKE_FIRST = 1 << 15 /* in sections, before their sums are made: one wrong byte where all else is right */
};
#define SHAPE_ALL (SHAPE_POKE_LAST - 1)

struct shape {
    uint8_t *index, *tokens; /* allocated to the byte */
    uint64_t index_bytes, token_bytes;
    uint32_t act; /* what to do */
    uint64_t seed;
};

/* On success shape_free() must follow. -1: too short, or no memory. */
int shape_expand(struct shape *s, const uint8_t *data, size_t size);
void shape_free(struct shape *s);

#endif
