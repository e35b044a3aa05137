/* checker.c: the rules of FORMAT.md for the header and the section table, chapters 2 and 3; see checker.h. */
#include "checker.h"

#include <stdbool.h>
#include <stddef.h>

#define MAX_FILE      ((uint64_t)1 << 62)
#define MAX_DOCUMENTS ((uint64_t)1 << 59)

static bool is_token_or_none(uint64_t token, uint64_t vocabulary)
{
    return token == CHECKER_NONE || token < vocabulary;
}

/* Fields that need no other field: the magic to the header size, features, reserved bytes, the checksum. */
static const char *check_frame(const struct checker *c)
{
    static const uint8_t magic[8] = { 0x6c, 0x65, 0x61, 0x74, 0x0d, 0x0a, 0x1a, 0x0a };
    uint8_t sum[16];

    if (c->index_size < CHECKER_HEADER)
        return "the index has at least 4096 bytes";
    if (memcmp(c->index, magic, sizeof magic) != 0)
        return "the index starts with the magic";
    checker_hash(c->index, 4080, sum);
    if (memcmp(c->index + 4080, sum, sizeof sum) != 0)
        return "the header's checksum is that of its bytes";
    if (checker_u32(c->index + 8) != 1)
        return "the version is 1";
    if (checker_u32(c->index + 12) != 4096)
        return "the header size is 4096";
    if (checker_u64(c->index + 16) != 0)
        return "no feature that must be understood is set";
    if (!checker_all_zero(c->index + 152, 360) || !checker_all_zero(c->index + 4032, 48))
        return "reserved bytes of the header are 0";
    return NULL;
}

static const char *check_counts(struct checker *c)
{
    uint64_t least;

    c->tokens = checker_u64(c->index + 64);
    c->documents = checker_u64(c->index + 72);
    c->vocabulary = checker_u64(c->index + 80);
    c->end_token = checker_u64(c->index + 88);
    c->begin_token = checker_u64(c->index + 96);
    c->width = checker_u32(c->index + 104);
    c->sections = checker_u32(c->index + 108);
    if (c->vocabulary < 1 || c->vocabulary > (uint64_t)1 << 32)
        return "the vocabulary has 1 to 2^32 tokens";
    if (!is_token_or_none(c->end_token, c->vocabulary) || !is_token_or_none(c->begin_token, c->vocabulary))
        return "end and begin token are below the vocabulary, or NONE";
    if (c->width != (c->vocabulary <= 65536 ? 2 : 4))
        return "the token width is 2 if the vocabulary is at most 65536, else 4";
    if (c->sections > CHECKER_SECTIONS)
        return "there are at most 55 sections";
    if (c->documents > MAX_DOCUMENTS || (c->documents == 0 && c->tokens != 0))
        return "there are at most 2^59 documents, and 0 only if there are no tokens";
    least = (c->end_token != CHECKER_NONE) + (c->begin_token != CHECKER_NONE);
    if (c->documents * least > c->tokens)
        return "each document has room for its begin and end token";
    return NULL;
}

static const char *check_files(const struct checker *c)
{
    uint64_t token_file_size = checker_u64(c->index + 56);
    uint8_t sum[16];

    if (checker_u64(c->index + 48) != c->index_size || c->index_size > MAX_FILE)
        return "the index has the size that its header says, at most 2^62";
    if (token_file_size != c->token_file_size || token_file_size > MAX_FILE)
        return "the token file has the size that the header says, at most 2^62";
    if (token_file_size % c->width != 0 || token_file_size / c->width != c->tokens)
        return "the token file has T * W bytes";
    checker_page_sum(c->token_file, token_file_size, sum);
    if (memcmp(c->index + 128, sum, sizeof sum) != 0)
        return "the token sum is the page sum of the token file";
    return NULL;
}

static bool is_known(uint32_t kind)
{
    return kind < CHECKER_KINDS && kind != 12 && kind != 14;
}

/* Size and entries of a section that has entries of one size; `entries` is CHECKER_NONE where any number will do. */
static bool has_entries(const struct checker_section *s, uint64_t size, uint64_t entries)
{
    return s->size % size == 0 && s->size / size == s->entries && (entries == CHECKER_NONE || s->entries == entries);
}

static bool right_entries(const struct checker *c, uint32_t kind, const struct checker_section *s)
{
    switch (kind) {
    case CHECKER_DOCUMENTS:
        return has_entries(s, 8, c->documents + 1);
    case CHECKER_DIRECTORY:
        return has_entries(s, 8, checker_divide_up(c->token_file_size, CHECKER_CELL));
    case CHECKER_PAGES:
        return has_entries(s, 4, checker_divide_up(c->token_file_size, CHECKER_PAGE));
    case CHECKER_INPUTS:
        return has_entries(s, 64, CHECKER_NONE);
    case CHECKER_PATHS:
    case CHECKER_IDS:
        return has_entries(s, 1, CHECKER_NONE);
    case CHECKER_ORIGINS:
    case CHECKER_TEXT_HASHES:
        return has_entries(s, 16, c->documents);
    case CHECKER_LINES:
    case CHECKER_ID_ENDS:
        return has_entries(s, 8, c->documents);
    case CHECKER_MASK:
        return has_entries(s, 1, c->tokens);
    case CHECKER_MASK_PAGES:
        return has_entries(s, 4, checker_divide_up(c->tokens, CHECKER_PAGE));
    case CHECKER_TOKENIZER:
        return s->entries == 1;
    default:
        return true; /* metadata: the pairs are counted later */
    }
}

/* What a kind says of its entry. */
static const char *check_kind(struct checker *c, uint32_t kind, const struct checker_section *s)
{
    if (!is_known(kind))
        return (s->flags & 1) ? "a section that must be understood is known" : NULL;
    if ((s->flags & ~(kind == CHECKER_ORIGINS ? 3u : 1u)) != 0)
        return "only bit 0 of the flags may be set, and bit 1 of the origins'";
    if (!right_entries(c, kind, s))
        return "a section has the size and the entries of its kind";
    c->known[kind] = *s;
    return NULL;
}

/* One entry of the table; *end is where the section before it ends, and becomes where this one does. */
static const char *check_entry(struct checker *c, uint32_t number, uint64_t *end)
{
    const uint8_t *entry = c->index + CHECKER_TABLE + CHECKER_ENTRY * number;
    uint32_t kind = checker_u32(entry), before = number > 0 ? checker_u32(entry - CHECKER_ENTRY) : 0;
    struct checker_section s = { .size = checker_u64(entry + 16),
                                 .entries = checker_u64(entry + 24),
                                 .flags = checker_u32(entry + 4) };
    uint64_t offset = checker_u64(entry + 8), place = checker_divide_up(*end, 64) * 64;
    uint8_t sum[16];

    if (kind == 0 || kind < before || (kind == before && is_known(kind)))
        return "kinds are not 0 and increase; only unknown ones may appear more than once";
    if (offset != place || offset > c->index_size || s.size > c->index_size - offset)
        return "a section follows the one before it and lies inside of the index";
    if (!checker_all_zero(entry + 48, 16))
        return "reserved bytes of an entry are 0";
    if (!checker_all_zero(c->index + *end, place - *end))
        return "the bytes between sections are 0";
    s.bytes = c->index + offset;
    checker_page_sum(s.bytes, s.size, sum);
    if (memcmp(entry + 32, sum, sizeof sum) != 0)
        return "a section's sum is the page sum of its bytes";
    *end = offset + s.size;
    return check_kind(c, kind, &s);
}

static const char *check_table(struct checker *c)
{
    uint64_t end = CHECKER_HEADER;

    for (uint32_t i = 0; i < c->sections; i++) {
        const char *broken = check_entry(c, i, &end);

        if (broken)
            return broken;
    }
    if (!checker_all_zero(c->index + CHECKER_TABLE + CHECKER_ENTRY * c->sections,
                          CHECKER_ENTRY * (CHECKER_SECTIONS - c->sections)))
        return "unused entries are 0";
    if (end != c->index_size)
        return "the index ends where its last section does";
    for (unsigned kind = CHECKER_DOCUMENTS; kind <= CHECKER_ORIGINS; kind++)
        if (!c->known[kind].bytes)
            return "needed sections are present";
    if (!c->known[CHECKER_ID_ENDS].bytes != !c->known[CHECKER_IDS].bytes)
        return "ids and id ends appear together or not at all";
    if (!c->known[CHECKER_MASK].bytes != !c->known[CHECKER_MASK_PAGES].bytes)
        return "a mask and its pages appear together or not at all";
    for (uint64_t page = 0; page < c->known[CHECKER_MASK_PAGES].entries; page++)
        if (checker_u32(c->known[CHECKER_MASK_PAGES].bytes + 4 * page) !=
            checker_page_hash(c->known[CHECKER_MASK].bytes, c->tokens, page))
            return "mask pages are the hashes of the mask's pages";
    return NULL;
}

/* The sum of the mask, in its entry; NULL: there is no mask. */
static const uint8_t *mask_sum(const struct checker *c)
{
    const uint8_t *entry = c->index + CHECKER_TABLE;

    if (!c->known[CHECKER_MASK].bytes)
        return NULL;
    while (checker_u32(entry) != CHECKER_MASK)
        entry += CHECKER_ENTRY;
    return entry + 32;
}

/* The documents are the first section of every index that has passed check_table(). */
static const char *check_identity(const struct checker *c)
{
    uint8_t identity[16];

    checker_identity(c->index, c->index + CHECKER_TABLE + 32, mask_sum(c), identity);
    return memcmp(c->index + 32, identity, sizeof identity) == 0 ? NULL : "the identity is that of the dataset";
}

const char *checker_broken_rule(const void *index, uint64_t index_size, const void *token_file,
                                uint64_t token_file_size)
{
    struct checker c = {
        .index = index, .token_file = token_file, .index_size = index_size, .token_file_size = token_file_size
    };
    const char *broken = check_frame(&c);

    if (!broken)
        broken = check_counts(&c);
    if (!broken)
        broken = check_files(&c);
    if (!broken)
        broken = check_table(&c);
    if (!broken)
        broken = check_identity(&c);
    return broken ? broken : checker_sections(&c);
}
