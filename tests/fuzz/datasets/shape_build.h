/* shape_build.h: a dataset while shape.c puts it together from a description, and shape_repair.c repairs its contents:
 * the places of FORMAT.md, the sections that are given, and where they come to lie. */
#ifndef LEAT_TESTS_FUZZ_SHAPE_BUILD_H
#define LEAT_TESTS_FUZZ_SHAPE_BUILD_H

#include <stdbool.h>

#include "base/bytes.h"
#include "format/format.h"
#include "shape.h"

#define HEADER_GIVEN 152u

/* Offsets in the header, and in an entry of the section table. */
enum {
    AT_VERSION = 8,
    AT_HEADER_BYTES = 12,
    AT_MUST_UNDERSTAND = 16,
    AT_IDENTITY = 32,
    AT_INDEX_BYTES = 48,
    AT_TOKEN_FILE_BYTES = 56,
    AT_TOKENS = 64,
    AT_DOCUMENTS = 72,
    AT_VOCABULARY = 80,
    AT_END_TOKEN = 88,
    AT_BEGIN_TOKEN = 96,
    AT_TOKEN_WIDTH = 104,
    AT_SECTION_COUNT = 108,
    AT_FINGERPRINT = 112,
    AT_TOKEN_SUM = 128,
    AT_SECTIONS = 512,
    AT_CHECKSUM = 4080,
    ENTRY = 64,
    IN_KIND = 0,
    IN_FLAGS = 4,
    IN_OFFSET = 8,
    IN_BYTES = 16,
    IN_ENTRIES = 24,
    IN_SUM = 32
};

/* A section: what the description gives of it, and where it comes to lie. */
struct piece {
    uint32_t kind;
    uint64_t taken; /* bytes given */
    const uint8_t *from;
    uint64_t bytes, offset, run;
};

struct build {
    unsigned repairs;
    bool loose;
    uint8_t header[HEADER_GIVEN];
    struct piece pieces[FORMAT_MAX_SECTIONS];
    unsigned count;
    uint64_t run, step, tokens, width, documents, vocabulary, end, begin;
    uint8_t *index, *token_bytes;
    uint64_t index_size, token_size; /* whole, before any cut */
    uint64_t claimed;                /* bytes after the last section that the header knows of */
    const struct checksum_kernels *kernels;
};

static inline bool repairs(const struct build *b, unsigned what)
{
    return (b->repairs & what) != 0;
}

static inline uint64_t min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline struct piece *find(struct build *b, uint32_t kind)
{
    for (unsigned i = 0; i < b->count; i++)
        if (b->pieces[i].kind == kind)
            return &b->pieces[i];
    return NULL;
}

static inline uint64_t get(const struct build *b, const struct piece *p, uint64_t i)
{
    return bytes_load64(b->index + p->offset + 8 * i);
}

static inline void set(struct build *b, const struct piece *p, uint64_t i, uint64_t value)
{
    bytes_store64(b->index + p->offset + 8 * i, value);
}

static inline uint64_t token_at(const struct build *b, uint64_t i)
{
    return b->width == 2 ? bytes_load16(b->token_bytes + 2 * i) : bytes_load32(b->token_bytes + 4 * i);
}

static inline void put_token(struct build *b, uint64_t at, uint64_t id)
{
    if (b->width == 2) {
        b->token_bytes[2 * at] = (uint8_t)id;
        b->token_bytes[2 * at + 1] = (uint8_t)(id >> 8);
    } else {
        bytes_store32(b->token_bytes + 4 * at, (uint32_t)id);
    }
}

/* Repairs what is in the sections, as the description asks for; says whether the origins are in order, and how many
 * pairs of metadata there are. */
void shape_repair_contents(struct build *b, bool *ordered, uint64_t *pairs);

#endif
