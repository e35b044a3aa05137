/*
 * checker.h: a second verify, made from the text of FORMAT.md alone and from no line of leat's own code, for
 * fuzz_verify.c. It is slow and plain on purpose: whole files in memory, one rule after the other, each as its chapter
 * says it. checker.c goes through the header and the section table, checker_sections.c through what is in the
 * sections, checker_sums.c has the hashes.
 */
#ifndef LEAT_TESTS_FUZZ_CHECKER_H
#define LEAT_TESTS_FUZZ_CHECKER_H

#include <stdint.h>
#include <string.h>

#define CHECKER_HEADER   4096u
#define CHECKER_TABLE    512u
#define CHECKER_ENTRY    64u
#define CHECKER_SECTIONS 55u
#define CHECKER_PAGE     4096u
#define CHECKER_CELL     65536u
#define CHECKER_NONE     UINT64_MAX

/* The kinds of chapter 4 that version 1 knows; 12, which is reserved, it does not, nor 14 beside a token file. */
enum checker_kind {
    CHECKER_DOCUMENTS = 1,
    CHECKER_DIRECTORY,
    CHECKER_PAGES,
    CHECKER_INPUTS,
    CHECKER_PATHS,
    CHECKER_ORIGINS,
    CHECKER_LINES,
    CHECKER_ID_ENDS,
    CHECKER_IDS,
    CHECKER_TOKENIZER,
    CHECKER_METADATA,
    CHECKER_TEXT_HASHES = 13,
    CHECKER_MASK = 15,
    CHECKER_MASK_PAGES,
    CHECKER_KINDS
};

/* Both files, and what has been found in them so far. */
struct checker {
    const uint8_t *index, *token_file;
    uint64_t index_size, token_file_size;
    uint64_t tokens, documents, inputs, vocabulary, end_token, begin_token;
    uint32_t width, sections;
    struct checker_section {
        const uint8_t *bytes; /* NULL: there is no such section */
        uint64_t size, entries;
        uint32_t flags;
    } known[CHECKER_KINDS];
};

/* The rule that the two files break, or NULL if they keep all of them. */
const char *checker_broken_rule(const void *index, uint64_t index_size, const void *token_file,
                                uint64_t token_file_size);

/* The rules for what is in the sections; header, table and sums have been checked. */
const char *checker_sections(struct checker *c);

/* Each writes 16 bytes, as they are stored. */
void checker_hash(const uint8_t *bytes, uint64_t size, uint8_t out[16]);
void checker_page_sum(const uint8_t *bytes, uint64_t size, uint8_t out[16]);
/* `mask_sum` NULL: no mask. */
void checker_identity(const uint8_t *header, const uint8_t documents_sum[16], const uint8_t *mask_sum, uint8_t out[16]);

/* The page hash of a token file's page. */
uint32_t checker_page_hash(const uint8_t *bytes, uint64_t size, uint64_t page);

/* ---- Numbers as they are stored, at any alignment ---- */

static inline uint64_t checker_number(const uint8_t *at, unsigned bytes)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)at[i] << 8 * i;
    return value;
}

static inline uint32_t checker_u32(const uint8_t *at)
{
    return (uint32_t)checker_number(at, 4);
}

static inline uint64_t checker_u64(const uint8_t *at)
{
    return checker_number(at, 8);
}

static inline void checker_put(uint8_t *at, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

static inline int checker_all_zero(const uint8_t *at, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (at[i] != 0)
            return 0;
    return 1;
}

/* a / b, rounded up. */
static inline uint64_t checker_divide_up(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

#endif
