/* golden.c: see golden.h. One table row a file. */
#include "golden.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Valid ones ---- */

static void no_documents(struct craft *c)
{
    craft_begin(c, 300, 299, LEAT_NONE);
}

static void text_u16(struct craft *c)
{
    struct leat_origin first = { .input = 0, .offset = 0 }, second = { .input = 0, .offset = 6 };

    craft_begin(c, 257, 256, LEAT_NONE);
    craft_tokenizer(c, "bytes", "", NULL);
    craft_input(c, "mill.txt", 13, 0, 0);
    craft_text_document(c, "water", &first);
    craft_text_document(c, "stones", &second);
}

static void wide_u32(struct craft *c)
{
    static const uint32_t ids[] = { 0, 69998, 65535, 65536, 69999 };

    craft_begin(c, 70000, 69999, LEAT_NONE);
    craft_document(c, ids, 5, NULL);
    craft_document(c, ids + 2, 2, NULL);
}

/* The largest vocabulary of each width: nothing to check of the ids. */
static void full_u16(struct craft *c)
{
    static const uint32_t ids[] = { 0, 65535, 65534 };

    craft_begin(c, 65536, LEAT_NONE, LEAT_NONE);
    craft_document(c, ids, 3, NULL);
}

static void full_u32(struct craft *c)
{
    static const uint32_t ids[] = { 0, UINT32_MAX, 65536 };

    craft_begin(c, (uint64_t)1 << 32, LEAT_NONE, LEAT_NONE);
    craft_document(c, ids, 3, NULL);
}

/* At the begin, between and at the end; no end token, so that they have no token at all. */
static void empty_documents(struct craft *c)
{
    craft_begin(c, 256, LEAT_NONE, LEAT_NONE);
    for (int i = 0; i < 12; i++)
        craft_text_document(c, i == 2 ? "water" : i == 3 ? "wheel" : i == 7 ? "!" : "", NULL);
}

static void only_empty_documents(struct craft *c)
{
    craft_begin(c, 256, LEAT_NONE, LEAT_NONE);
    for (int i = 0; i < 3; i++)
        craft_document(c, NULL, 0, NULL);
}

static uint32_t mixed(uint32_t i, uint32_t limit)
{
    return (uint32_t)((i * (uint64_t)2654435761u >> 7) % limit);
}

static void long_document(struct craft *c, uint32_t count, uint32_t limit, const struct leat_origin *origin)
{
    uint32_t *ids = malloc(count * sizeof *ids);

    for (uint32_t i = 0; i < count; i++)
        ids[i] = mixed(i, limit);
    craft_document(c, ids, count, origin);
    free(ids);
}

static void one_long_document(struct craft *c)
{
    craft_begin(c, 50000, LEAT_NONE, LEAT_NONE);
    long_document(c, 7 * 2048 + 5, 50000, NULL);
}

/* More than a chunk of the directory, documents that end at its edge, and chunks in which none begins. */
static void chunks_u16(struct craft *c)
{
    craft_begin(c, 100, 99, LEAT_NONE);
    long_document(c, 32767, 1, NULL); /* with its end token exactly a chunk */
    craft_document(c, NULL, 0, NULL);
    long_document(c, 32800, 1, NULL);
    craft_document(c, NULL, 0, NULL);
}

static void two_chunks(struct craft *c)
{
    craft_begin(c, 100, 99, LEAT_NONE);
    long_document(c, 32767, 1, NULL);
    craft_document(c, NULL, 0, NULL);
}

static void everything(struct craft *c, uint64_t vocabulary)
{
    struct leat_origin a = { .input = 0, .offset = 0, .line = 1, .id = "a", .id_bytes = 1 };
    struct leat_origin b = { .input = 0, .offset = 21, .line = 2 };
    struct leat_origin e = { .input = 1, .offset = 7, .line = LEAT_NONE, .id = "b7", .id_bytes = 2 };

    craft_begin(c, vocabulary, vocabulary - 1, vocabulary - 2);
    c->store_lines = c->store_ids = 1;
    c->created = 1700000000;
    craft_tokenizer(c, "t.json", "gpt2", "{\"a\":1}");
    craft_input(c, "in/a.jsonl", 40, 0, 0);
    craft_input(c, "in/b.jsonl.zst", 33, 2, 0x5a);
    craft_pair(c, "a", "");
    craft_pair(c, "b", "two\nlines");
    craft_text_document(c, "leat", &a);
    craft_text_document(c, "", &b);
    craft_text_document(c, "mill", &e);
    craft_text_document(c, "stream", NULL);
}

static void everything_u16(struct craft *c)
{
    everything(c, 300);
}

static void everything_u32(struct craft *c)
{
    everything(c, 100277);
}

/* Hashes of texts: one of a document that has none, and between sections that no version-1 reader knows. */
static void text_hashes(struct craft *c)
{
    static const uint8_t one[16] = { 1, 2, 3, 0xff }, two[16] = { [15] = 0x80 };
    struct leat_origin o = { .input = 0, .line = LEAT_NONE, .text_hash = one };

    craft_begin(c, 300, 299, LEAT_NONE);
    c->store_hashes = 1;
    craft_input(c, "a.jsonl", 70, 0, 0);
    craft_text_document(c, "leat", &o);
    o.offset = 20;
    craft_text_document(c, "leat", &o);
    craft_text_document(c, "from nowhere", NULL);
    o.offset = 40;
    o.text_hash = two;
    craft_text_document(c, "mill", &o);
}

static void text_hashes_among_unknown(struct craft *c)
{
    text_hashes(c);
    craft_other(c, CRAFT_COLUMN, 0, "column", 6);
    craft_other(c, CRAFT_COLUMN, 0, "column 2", 8);
    craft_other(c, 14, 0, "next", 4);
}

static void text_hashes_of_nothing(struct craft *c)
{
    craft_begin(c, 300, 299, LEAT_NONE);
    c->store_hashes = 1;
}

/* Of one document, some ids are to be learned; of the others all, and of one without ids. More than a page in all. */
static void mask(struct craft *c)
{
    static const uint8_t some[4] = { 0, 1, 255, 0 };
    static uint8_t many[5000];
    static uint32_t ids[5000];

    for (unsigned i = 0; i < 5000; i++) {
        ids[i] = i % 256;
        many[i] = (uint8_t)(i % 3);
    }
    craft_begin(c, 300, 299, 298);
    c->store_mask = 1;
    c->mask = some;
    craft_text_document(c, "leat", NULL);
    craft_text_document(c, "mill", NULL);
    craft_text_document(c, "", NULL);
    c->mask = many;
    craft_document(c, ids, 5000, NULL);
}

static void mask_of_nothing(struct craft *c)
{
    craft_begin(c, 300, 299, LEAT_NONE);
    c->store_mask = 1;
}

static void without_mask(struct craft *c)
{
    mask(c);
    c->without = 1u << CRAFT_MASK;
}

/* Origins that fall: the ordered flag is not set. */
static void shuffled(struct craft *c)
{
    struct leat_origin o = { .input = 1, .offset = 30 };

    craft_begin(c, 256, LEAT_NONE, LEAT_NONE);
    craft_input(c, "a", 0, 0, 0);
    craft_input(c, "b", 0, 0, 0);
    craft_text_document(c, "one", &o);
    o.offset = 10;
    craft_text_document(c, "two", &o);
    o = (struct leat_origin) { .input = 0, .offset = 20 };
    craft_text_document(c, "three", &o);
}

/* What a later version may add without harm. */
static void unknown_ignorable(struct craft *c)
{
    text_u16(c);
    c->ignorable = (uint64_t)1 << 63 | 1;
    craft_other(c, CRAFT_COLUMN, 0, "column", 6);
    craft_other(c, CRAFT_COLUMN, 0, "", 0);
    craft_other(c, 77, 4, "what is this?", 13);
}

/* In a file of llm.c. */
static void elsewhere(struct craft *c)
{
    static const uint32_t header[256] = { 20240520, 1, 2600 };
    uint8_t before[sizeof header];

    craft_begin(c, 50257, 50256, LEAT_NONE);
    for (unsigned i = 0; i < 256; i++)
        craft_store32(before + 4 * i, header[i]);
    craft_elsewhere(c, before, sizeof before);
    long_document(c, 2500, 50256, NULL);
    craft_text_document(c, "stream", NULL);
    long_document(c, 91, 50256, NULL);
}

static void elsewhere_without_section(struct craft *c)
{
    elsewhere(c);
    c->without = 1u << CRAFT_TOKEN_FILE;
}

static void three_pages(struct craft *c)
{
    craft_begin(c, 300, 299, LEAT_NONE);
    long_document(c, 3000, 299, NULL);
    long_document(c, 1200, 299, NULL);
    long_document(c, 99, 299, NULL);
}

static const struct {
    const char *name;
    void (*make)(struct craft *c);
} valid[] = {
    { "no_documents", no_documents },
    { "text_u16", text_u16 },
    { "wide_u32", wide_u32 },
    { "full_u16", full_u16 },
    { "full_u32", full_u32 },
    { "empty_documents", empty_documents },
    { "only_empty_documents", only_empty_documents },
    { "one_long_document", one_long_document },
    { "chunks_u16", chunks_u16 },
    { "three_pages", three_pages },
    { "everything_u16", everything_u16 },
    { "everything_u32", everything_u32 },
    { "shuffled", shuffled },
    { "text_hashes", text_hashes },
    { "text_hashes_among_unknown", text_hashes_among_unknown },
    { "text_hashes_of_nothing", text_hashes_of_nothing },
    { "mask", mask },
    { "mask_of_nothing", mask_of_nothing },
    { "unknown_ignorable", unknown_ignorable },
    { "elsewhere", elsewhere },
};
#define VALID_COUNT (sizeof valid / sizeof valid[0])

/* ---- Invalid ones ---- */

static void without_origins(struct craft *c)
{
    everything_u16(c);
    c->without = 1u << CRAFT_ORIGINS;
}

static void without_id_ends(struct craft *c)
{
    everything_u16(c);
    c->without = 1u << CRAFT_ID_ENDS;
}

/* A patch's place: the header or, later in the table, a section's bytes or its entry in the section table. */
enum { HEADER = 0, TOKENS = 99 };
#define IN(kind)    (100 + CRAFT_##kind)
#define ENTRY(kind) (200 + CRAFT_##kind)

/* Which checksums are repaired: as many as can be without hiding the defect. */
#define FIELD   (CRAFT_REPAIR_IDENTITY | CRAFT_REPAIR_HEADER)
#define SECTION (CRAFT_REPAIR_SUMS | FIELD)
#define ALL     CRAFT_REPAIR_ALL
#define NOTHING 0

struct patch {
    unsigned where, offset, bytes; /* bytes 0: no patch */
    uint64_t add;
};

/* In documents of everything_u16: tokens 0-5, 6-7, 8-13, 14-21; in three_pages: 0-3000, 3001-4201, 4202-4301. */
static const struct defect {
    const char *name;
    void (*make)(struct craft *c);
    struct patch patches[3];
    unsigned repair;
    int index_more, tokens_more; /* bytes; less if negative */
} defects[] = {
    /* the header by itself */
    { "header_magic_wrong", everything_u16, { { HEADER, 0, 1, 1 } }, FIELD, 0, 0 },
    { "header_magic_in_text_mode", everything_u16, { { HEADER, 4, 4, 0x000a1a0au - 0x0a1a0a0du } }, FIELD, 0, 0 },
    { "index_empty", everything_u16, { { 0 } }, NOTHING, -100000, 0 },
    { "header_cut", everything_u16, { { 0 } }, NOTHING, -1000, 0 },
    { "header_damaged", everything_u16, { { HEADER, 80, 8, 1 } }, NOTHING, 0, 0 },
    { "version_damaged", everything_u16, { { HEADER, 8, 4, 1 } }, NOTHING, 0, 0 },
    { "version_newer", everything_u16, { { HEADER, 8, 4, 1 } }, FIELD, 0, 0 },
    { "feature_must_understand", everything_u16, { { HEADER, 16, 8, (uint64_t)1 << 63 } }, FIELD, 0, 0 },
    { "header_size_wrong", everything_u16, { { HEADER, 12, 4, 4096 } }, FIELD, 0, 0 },
    { "index_size_beyond_limit", everything_u16, { { HEADER, 48, 8, (uint64_t)1 << 62 } }, FIELD, 0, 0 },
    { "token_size_beyond_limit", everything_u16, { { HEADER, 56, 8, (uint64_t)1 << 62 } }, FIELD, 0, 0 },
    { "vocabulary_zero", everything_u16, { { HEADER, 80, 8, (uint64_t)0 - 300 } }, FIELD, 0, 0 },
    { "vocabulary_too_large", everything_u16, { { HEADER, 80, 8, (uint64_t)1 << 32 } }, FIELD, 0, 0 },
    { "token_width_wrong", everything_u16, { { HEADER, 104, 4, 2 } }, FIELD, 0, 0 },
    { "token_count_wrong", everything_u16, { { HEADER, 64, 8, 1 } }, FIELD, 0, 0 },
    { "token_count_overflows", everything_u16, { { HEADER, 64, 8, (uint64_t)1 << 63 } }, FIELD, 0, 0 },
    { "end_token_beyond_vocabulary", everything_u16, { { HEADER, 88, 8, 1 } }, FIELD, 0, 0 },
    { "begin_token_beyond_vocabulary", everything_u16, { { HEADER, 96, 8, 2 } }, FIELD, 0, 0 },
    { "documents_more_than_tokens_allow", everything_u16, { { HEADER, 72, 8, 8 } }, FIELD, 0, 0 },
    { "documents_beyond_limit", full_u16, { { HEADER, 72, 8, (uint64_t)1 << 59 } }, FIELD, 0, 0 },
    { "tokens_without_documents", everything_u16, { { HEADER, 72, 8, (uint64_t)0 - 4 } }, FIELD, 0, 0 },
    { "reserved_not_zero", everything_u16, { { HEADER, 152, 1, 1 } }, FIELD, 0, 0 },
    { "reserved_end_not_zero", everything_u16, { { HEADER, 4079, 1, 1 } }, FIELD, 0, 0 },
    { "identity_wrong", everything_u16, { { HEADER, 32, 8, 1 } }, CRAFT_REPAIR_HEADER, 0, 0 },

    /* sizes */
    { "index_cut", everything_u16, { { 0 } }, NOTHING, -1, 0 },
    { "index_longer", everything_u16, { { 0 } }, NOTHING, 1, 0 },
    { "tokens_cut", everything_u16, { { 0 } }, NOTHING, 0, -2 },
    { "tokens_longer", everything_u16, { { 0 } }, NOTHING, 0, 2 },
    { "tokens_missing", everything_u16, { { 0 } }, NOTHING, 0, -100000 },

    /* the section table */
    { "section_count_too_large", everything_u16, { { HEADER, 108, 4, 45 } }, FIELD, 0, 0 },
    { "section_kind_zero", everything_u16, { { ENTRY(DOCUMENTS), 0, 4, UINT32_MAX } }, CRAFT_REPAIR_HEADER, 0, 0 },
    { "sections_unsorted", everything_u16, { { ENTRY(LINES), 0, 4, UINT32_MAX - 2 } }, FIELD, 0, 0 },
    { "section_twice", everything_u16, { { ENTRY(LINES), 0, 4, UINT32_MAX } }, FIELD, 0, 0 },
    { "sections_apart", everything_u16, { { ENTRY(DIRECTORY), 8, 8, 64 } }, FIELD, 0, 0 },
    { "sections_overlap", everything_u16, { { ENTRY(DIRECTORY), 8, 8, (uint64_t)0 - 64 } }, FIELD, 0, 0 },
    { "section_beyond_end", everything_u16, { { ENTRY(METADATA), 16, 8, 64 } }, FIELD, 0, 0 },
    { "section_size_overflows", everything_u16, { { ENTRY(METADATA), 16, 8, (uint64_t)0 - 100 } }, FIELD, 0, 0 },
    { "section_reserved_not_zero", everything_u16, { { ENTRY(PAGES), 63, 1, 1 } }, FIELD, 0, 0 },
    { "section_hashes_twice", text_hashes_among_unknown, { { HEADER, 512 + 64 * 9, 4, UINT32_MAX } }, FIELD, 0, 0 },
    { "section_hashes_not_documents",
      text_hashes,
      { { ENTRY(TEXT_HASHES), 16, 8, (uint64_t)0 - 16 }, { ENTRY(TEXT_HASHES), 24, 8, (uint64_t)0 - 1 } },
      SECTION,
      0,
      0 },
    { "section_hashes_flags", text_hashes, { { ENTRY(TEXT_HASHES), 4, 4, 2 } }, FIELD, 0, 0 },
    { "section_mask_not_tokens",
      mask,
      { { ENTRY(MASK), 16, 8, (uint64_t)0 - 1 }, { ENTRY(MASK), 24, 8, (uint64_t)0 - 1 } },
      SECTION,
      0,
      0 },
    { "section_mask_missing", without_mask, { { 0 } }, NOTHING, 0, 0 },
    { "section_must_understand", unknown_ignorable, { { ENTRY(COLUMN), 4, 4, 1 } }, FIELD, 0, 0 },
    { "section_flags_unknown", everything_u16, { { ENTRY(PAGES), 4, 4, 2 } }, FIELD, 0, 0 },
    { "section_size_not_its_entries", everything_u16, { { ENTRY(INPUTS), 24, 8, 1 } }, FIELD, 0, 0 },
    { "section_entries_overflow", everything_u16, { { ENTRY(INPUTS), 24, 8, (uint64_t)1 << 58 } }, FIELD, 0, 0 },
    { "section_entries_not_documents",
      everything_u16,
      { { ENTRY(LINES), 16, 8, (uint64_t)0 - 8 }, { ENTRY(LINES), 24, 8, (uint64_t)0 - 1 } },
      SECTION,
      0,
      0 },
    { "section_tokenizer_twice", everything_u16, { { ENTRY(TOKENIZER), 24, 8, 1 } }, FIELD, 0, 0 },
    { "section_missing", without_origins, { { 0 } }, NOTHING, 0, 0 },
    { "section_id_ends_missing", without_id_ends, { { 0 } }, NOTHING, 0, 0 },
    { "index_longer_than_its_sections", everything_u16, { { HEADER, 48, 8, 64 } }, FIELD, 64, 0 },
    { "section_table_end_not_zero", everything_u16, { { HEADER, 512 + 64 * 11 + 32, 1, 1 } }, FIELD, 0, 0 },

    /* found at open, beyond the header */
    { "first_document_not_at_0", everything_u16, { { IN(DOCUMENTS), 0, 8, 1 } }, SECTION, 0, 0 },
    { "last_document_ends_elsewhere", everything_u16, { { IN(DOCUMENTS), 32, 8, (uint64_t)0 - 1 } }, SECTION, 0, 0 },
    { "last_document_ends_beyond", everything_u16, { { IN(DOCUMENTS), 32, 8, 1 } }, SECTION, 0, 0 },
    { "pages_from_other_run", everything_u16, { { IN(PAGES), 0, 4, 1 } }, SECTION, 0, 0 },
    { "first_page_damaged", three_pages, { { TOKENS, 8, 1, 1 } }, NOTHING, 0, 0 },
    { "last_page_damaged", three_pages, { { TOKENS, 8590, 1, 1 } }, NOTHING, 0, 0 },

    /* tokens elsewhere */
    { "elsewhere_unnamed",
      elsewhere,
      { { HEADER, 48, 8, (uint64_t)0 - 21 }, { ENTRY(TOKEN_FILE), 16, 8, (uint64_t)0 - 21 } },
      SECTION,
      -21,
      0 },
    { "elsewhere_without_section", elsewhere_without_section, { { 0 } }, NOTHING, 0, 0 },
    { "elsewhere_not_said", elsewhere, { { HEADER, 16, 8, (uint64_t)0 - 1 } }, FIELD, 0, 0 },
    { "elsewhere_begins_later", elsewhere, { { IN(TOKEN_FILE), 0, 8, 2 } }, SECTION, 0, 0 },
    { "elsewhere_begins_earlier", elsewhere, { { IN(TOKEN_FILE), 0, 8, (uint64_t)0 - 2 } }, SECTION, 0, 0 },
    { "elsewhere_offset_overflows", elsewhere, { { IN(TOKEN_FILE), 0, 8, (uint64_t)0 - 1025 } }, SECTION, 0, 0 },
    { "elsewhere_path_with_zero", elsewhere, { { IN(TOKEN_FILE), 10, 1, (uint64_t)0 - 's' } }, SECTION, 0, 0 },
    { "elsewhere_missing", elsewhere, { { IN(TOKEN_FILE), 8, 1, 1 } }, SECTION, 0, 0 },
    { "elsewhere_cut", elsewhere, { { 0 } }, NOTHING, 0, -1 },
    { "elsewhere_damaged", elsewhere, { { TOKENS, 4200, 1, 1 } }, NOTHING, 0, 0 },
    { "elsewhere_token_not_below_vocabulary", elsewhere, { { TOKENS, 0, 2, 50257 } }, ALL, 0, 0 },
    { "elsewhere_end_token_missing", elsewhere, { { TOKENS, 5000, 2, (uint64_t)0 - 1 } }, ALL, 0, 0 },

    /* found by verify: the token file */
    { "middle_page_damaged", three_pages, { { TOKENS, 5000, 1, 1 } }, NOTHING, 0, 0 },
    { "two_pages_damaged", one_long_document, { { TOKENS, 9000, 1, 1 }, { TOKENS, 21000, 1, 1 } }, NOTHING, 0, 0 },
    { "token_sum_wrong", three_pages, { { HEADER, 128, 8, 1 } }, FIELD, 0, 0 },
    { "token_not_below_vocabulary", everything_u16, { { TOKENS, 4, 2, 300 - 'e' } }, ALL, 0, 0 },
    { "token_not_below_vocabulary_u32", everything_u32, { { TOKENS, 8, 4, 100277 - 'e' } }, ALL, 0, 0 },
    { "end_token_missing", everything_u16, { { TOKENS, 10, 2, (uint64_t)0 - 2 } }, ALL, 0, 0 },
    { "begin_token_missing", everything_u16, { { TOKENS, 16, 2, (uint64_t)0 - 2 } }, ALL, 0, 0 },
    { "document_without_its_tokens",
      everything_u16,
      { { IN(DOCUMENTS), 16, 8, (uint64_t)0 - 2 },
        { IN(INPUTS), 32, 8, (uint64_t)0 - 2 },
        { IN(INPUTS), 64 + 32, 8, 2 } },
      SECTION,
      0,
      0 },
    { "last_document_without_end_token", three_pages, { { IN(DOCUMENTS), 16, 8, 100 } }, SECTION, 0, 0 },

    /* found by verify: documents and the directory */
    { "documents_not_monotone", everything_u16, { { IN(DOCUMENTS), 16, 8, (uint64_t)0 - 3 } }, SECTION, 0, 0 },
    { "document_beyond_tokens", everything_u16, { { IN(DOCUMENTS), 16, 8, 1000 } }, SECTION, 0, 0 },
    { "directory_wrong", everything_u16, { { IN(DIRECTORY), 0, 8, 1 } }, SECTION, 0, 0 },
    { "directory_beyond_documents", everything_u16, { { IN(DIRECTORY), 0, 8, 5 } }, SECTION, 0, 0 },
    { "directory_early", two_chunks, { { IN(DIRECTORY), 8, 8, (uint64_t)0 - 1 } }, SECTION, 0, 0 },
    { "directory_late", two_chunks, { { IN(DIRECTORY), 8, 8, 1 } }, SECTION, 0, 0 },

    /* found by verify: damaged sections */
    { "documents_damaged", everything_u16, { { IN(DOCUMENTS), 16, 8, 1 } }, NOTHING, 0, 0 },
    { "pages_damaged", three_pages, { { IN(PAGES), 4, 4, 1 } }, NOTHING, 0, 0 },
    { "lines_damaged", everything_u16, { { IN(LINES), 8, 8, 1 } }, NOTHING, 0, 0 },
    { "text_hashes_damaged", text_hashes, { { IN(TEXT_HASHES), 17, 1, 1 } }, NOTHING, 0, 0 },
    { "mask_damaged", mask, { { IN(MASK), 7, 1, 1 } }, NOTHING, 0, 0 },
    { "mask_page_wrong", mask, { { IN(MASK_PAGES), 4, 4, 1 } }, SECTION, 0, 0 },
    { "unknown_section_damaged", unknown_ignorable, { { IN(COLUMN), 0, 1, 1 } }, NOTHING, 0, 0 },
    { "padding_not_zero", everything_u16, { { IN(DOCUMENTS), 63, 1, 1 } }, NOTHING, 0, 0 },

    /* found by verify: inputs and origins */
    { "origin_names_no_input", everything_u16, { { IN(ORIGINS), 8, 8, 2 } }, SECTION, 0, 0 },
    { "origins_not_in_order",
      everything_u16,
      { { IN(ORIGINS), 16, 8, (uint64_t)0 - 21 }, { IN(ORIGINS), 0, 8, 21 } },
      SECTION,
      0,
      0 },
    { "line_zero", everything_u16, { { IN(LINES), 8, 8, (uint64_t)0 - 2 } }, SECTION, 0, 0 },
    { "input_counts_wrong", everything_u16, { { IN(INPUTS), 24, 8, 1 } }, SECTION, 0, 0 },
    { "input_tokens_wrong", everything_u16, { { IN(INPUTS), 64 + 32, 8, 1 } }, SECTION, 0, 0 },
    { "input_path_elsewhere", everything_u16, { { IN(INPUTS), 64, 8, 1 } }, SECTION, 0, 0 },
    { "input_path_beyond", everything_u16, { { IN(INPUTS), 64 + 8, 8, 1 } }, SECTION, 0, 0 },
    { "input_paths_longer", everything_u16, { { IN(INPUTS), 64 + 8, 8, (uint64_t)0 - 1 } }, SECTION, 0, 0 },
    { "id_ends_falling", everything_u16, { { IN(ID_ENDS), 0, 8, 1 } }, SECTION, 0, 0 },
    { "ids_end_beyond", everything_u16, { { IN(ID_ENDS), 24, 8, 1 } }, SECTION, 0, 0 },
    { "ids_longer",
      everything_u16,
      { { IN(ID_ENDS), 16, 8, (uint64_t)0 - 1 }, { IN(ID_ENDS), 24, 8, (uint64_t)0 - 1 } },
      SECTION,
      0,
      0 },

    /* found by verify: tokenizer and metadata */
    { "tokenizer_sizes_lie", everything_u16, { { IN(TOKENIZER), 16, 8, 1 } }, SECTION, 0, 0 },
    { "tokenizer_sizes_overflow",
      everything_u16,
      { { IN(TOKENIZER), 0, 8, (uint64_t)1 << 63 }, { IN(TOKENIZER), 8, 8, (uint64_t)1 << 63 } },
      SECTION,
      0,
      0 },
    { "tokenizer_form_unknown", everything_u16, { { IN(TOKENIZER), 24, 8, 1 } }, SECTION, 0, 0 },
    { "tokenizer_built_in_with_file", everything_u16, { { IN(TOKENIZER), 24, 8, (uint64_t)0 - 1 } }, SECTION, 0, 0 },
    { "tokenizer_name_empty",
      everything_u16,
      { { IN(TOKENIZER), 0, 8, (uint64_t)0 - 6 }, { IN(TOKENIZER), 8, 8, 6 } },
      SECTION,
      0,
      0 },
    { "tokenizer_name_with_zero", everything_u16, { { IN(TOKENIZER), 33, 1, (uint64_t)0 - '.' } }, SECTION, 0, 0 },
    { "tokenizer_shorter_than_its_record",
      everything_u16,
      { { ENTRY(TOKENIZER), 16, 8, (uint64_t)0 - 20 } },
      SECTION,
      0,
      0 },
    { "metadata_unsorted", everything_u16, { { IN(METADATA), 16, 1, 2 } }, SECTION, 0, 0 },
    { "metadata_key_twice", everything_u16, { { IN(METADATA), 16, 1, 1 } }, SECTION, 0, 0 },
    { "metadata_key_empty",
      everything_u16,
      { { IN(METADATA), 0, 8, (uint64_t)0 - 1 }, { IN(METADATA), 8, 8, 1 } },
      SECTION,
      0,
      0 },
    { "metadata_value_beyond", everything_u16, { { IN(METADATA), 25, 8, 1 } }, SECTION, 0, 0 },
    { "metadata_count_too_large", everything_u16, { { ENTRY(METADATA), 24, 8, 100 } }, SECTION, 0, 0 },
    { "metadata_one_pair_more", everything_u16, { { IN(METADATA), 25, 8, (uint64_t)0 - 9 } }, SECTION, 0, 0 },
    { "metadata_one_pair_less", everything_u16, { { ENTRY(METADATA), 24, 8, (uint64_t)0 - 1 } }, SECTION, 0, 0 },
    { "metadata_count_zero", everything_u16, { { ENTRY(METADATA), 24, 8, (uint64_t)0 - 2 } }, SECTION, 0, 0 },
};
#define DEFECT_COUNT (sizeof defects / sizeof defects[0])

static uint8_t *place_of(struct craft *c, const struct patch *p)
{
    if (p->where == TOKENS)
        return c->tokens.bytes + p->offset;
    if (p->where >= 200)
        return c->index.bytes + craft_entry(c, p->where - 200) + p->offset;
    if (p->where >= 100)
        return c->index.bytes + craft_place(c, p->where - 100) + p->offset;
    return c->index.bytes + p->offset;
}

static void apply(struct craft *c, const struct patch *p)
{
    uint8_t *at = place_of(c, p);
    uint64_t v = 0;

    for (unsigned i = 0; i < p->bytes; i++)
        v |= (uint64_t)at[i] << 8 * i;
    v += p->add;
    for (unsigned i = 0; i < p->bytes; i++)
        at[i] = (uint8_t)(v >> 8 * i);
}

/* By so many bytes, zeros if it grows. */
static void resize(struct craft_text *t, int more)
{
    uint64_t count = more < 0 ? t->count - ((uint64_t)-more < t->count ? (uint64_t)-more : t->count) : t->count;

    if (more > 0) {
        t->bytes = realloc(t->bytes, t->count + (uint64_t)more);
        memset(t->bytes + t->count, 0, (uint64_t)more);
        count = t->room = t->count + (uint64_t)more;
    }
    t->count = count;
}

static void make(struct golden *g, void (*content)(struct craft *c))
{
    struct craft *c = &g->craft;

    content(c);
    if (c->before.count > 0) {
        craft_token_file(c, g->name);
        craft_token_file(c, ".bin");
    }
    craft_index(c);
}

static void make_defect(struct golden *g, const struct defect *d)
{
    struct craft *c = &g->craft;

    make(g, d->make);
    for (unsigned i = 0; i < 3; i++)
        if (d->patches[i].bytes > 0)
            apply(c, &d->patches[i]);
    craft_repair(c, d->repair);
    resize(&c->index, d->index_more);
    resize(&c->tokens, d->tokens_more);
    g->no_tokens = strcmp(d->name, "tokens_missing") == 0;
}

unsigned golden_count(void)
{
    return VALID_COUNT + DEFECT_COUNT;
}

void golden_make(struct golden *g, unsigned i)
{
    memset(g, 0, sizeof *g);
    if (i < VALID_COUNT) {
        g->folder = "valid";
        g->name = valid[i].name;
        make(g, valid[i].make);
    } else {
        g->folder = "invalid";
        g->name = defects[i - VALID_COUNT].name;
        make_defect(g, &defects[i - VALID_COUNT]);
    }
}

const char *golden_suffix(const struct golden *g)
{
    return g->craft.before.count > 0 ? "bin" : "tokens";
}

/* ---- The same content through the library's writer ---- */

static char *copy_text(const uint8_t *bytes, uint64_t count)
{
    char *text = malloc(count + 1);

    memcpy(text, bytes, count);
    text[count] = '\0';
    return text;
}

static enum leat_status write_inputs(struct leat_writer *w, const struct craft *c)
{
    const uint8_t *paths = c->parts[CRAFT_INPUT_PATHS].bytes;
    enum leat_status s = LEAT_OK;

    for (uint64_t i = 0; s == LEAT_OK && i < c->inputs; i++) {
        const uint8_t *r = c->parts[CRAFT_INPUTS].bytes + 64 * i;
        struct leat_input input = LEAT_INPUT_INIT;
        char *path = copy_text(paths + craft_load64(r), craft_load64(r + 8));

        input.bytes = craft_load64(r + 16);
        input.rejects = craft_load64(r + 40);
        memcpy(input.hash, r + 48, 16);
        s = leat_writer_add_input(w, path, NULL, NULL);
        if (s == LEAT_OK)
            s = leat_writer_set_input(w, i, &input, NULL);
        free(path);
    }
    return s;
}

static enum leat_status write_document(struct leat_writer *w, const struct craft *c, uint64_t number)
{
    const uint8_t *starts = c->parts[CRAFT_DOCUMENTS].bytes + 8 * number;
    const uint8_t *origins = c->parts[CRAFT_ORIGINS].bytes + 16 * number;
    const uint8_t *id_ends = c->parts[CRAFT_ID_ENDS].bytes + 8 * number;
    uint64_t from = craft_load64(starts) + (c->begin_token != LEAT_NONE);
    uint64_t to = craft_load64(starts + 8) - (c->end_token != LEAT_NONE);
    uint64_t id = number > 0 ? craft_load64(id_ends - 8) : 0;
    struct leat_origin o = { .input = craft_load64(origins + 8),
                             .offset = craft_load64(origins),
                             .line = craft_load64(c->parts[CRAFT_LINES].bytes + 8 * number),
                             .id = c->parts[CRAFT_IDS].bytes ? (const char *)c->parts[CRAFT_IDS].bytes + id : "",
                             .id_bytes = craft_load64(id_ends) - id,
                             .text_hash = c->parts[CRAFT_TEXT_HASHES].bytes + 16 * number };
    uint32_t *ids = malloc((to - from + 1) * sizeof *ids);
    enum leat_status s;

    for (uint64_t i = from; i < to; i++) {
        const uint8_t *at = c->tokens.bytes + i * c->width;

        ids[i - from] = c->width == 2 ? (uint32_t)at[0] | (uint32_t)at[1] << 8 : craft_load32(at);
    }
    s = leat_writer_add_masked(w, ids, 4, c->store_mask ? c->parts[CRAFT_MASK].bytes + from : NULL, to - from, &o,
                               NULL);
    free(ids);
    return s;
}

static enum leat_status write_metadata(struct leat_writer *w, const struct craft *c)
{
    const uint8_t *at = c->parts[CRAFT_METADATA].bytes;
    enum leat_status s = LEAT_OK;

    for (uint64_t i = 0; s == LEAT_OK && i < c->pairs; i++) {
        uint64_t key_bytes = craft_load64(at), value_bytes = craft_load64(at + 8);
        char *key = copy_text(at + 16, key_bytes), *value = copy_text(at + 16 + key_bytes, value_bytes);

        s = leat_writer_set_metadata(w, key, value, NULL);
        free(key);
        free(value);
        at += 16 + key_bytes + value_bytes;
    }
    return s;
}

/* The file of the other tool is there. */
static bool adopt(const struct golden *g, const char *path)
{
    struct leat_adopt_options options = LEAT_ADOPT_OPTIONS_INIT;
    char name[1200];

    snprintf(name, sizeof name, "llmc:%s.bin", path);
    options.vocabulary = g->craft.vocabulary;
    options.end_token = g->craft.end_token;
    options.output = path;
    return leat_adopt(name, &options, NULL, NULL) == LEAT_OK;
}

bool golden_write_tokens(const struct golden *g, const char *path)
{
    const struct craft *c = &g->craft;
    char name[1200];
    FILE *f;

    snprintf(name, sizeof name, "%s.%s", path, golden_suffix(g));
    f = fopen(name, "wb");
    return f && fwrite(c->before.bytes, 1, c->before.count, f) == c->before.count &&
           fwrite(c->tokens.bytes, 1, c->tokens.count, f) == c->tokens.count && fclose(f) == 0;
}

bool golden_write(const struct golden *g, const char *path)
{
    struct leat_writer_options options = LEAT_WRITER_OPTIONS_INIT;
    struct leat_stored_tokenizer tokenizer = { 0 };
    const struct craft *c = &g->craft;
    const uint8_t *t = c->parts[CRAFT_TOKENIZER].bytes;
    char *name = NULL, *pattern = NULL;
    struct leat_writer *w = NULL;
    enum leat_status s;

    if (c->ignorable || c->other_count > 0)
        return false;
    if (c->before.count > 0)
        return golden_write_tokens(g, path) && adopt(g, path);
    options.vocabulary = c->vocabulary;
    options.end_token = c->end_token;
    options.begin_token = c->begin_token;
    options.created = c->created;
    options.store_lines = c->store_lines;
    options.store_ids = c->store_ids;
    options.store_hashes = c->store_hashes;
    options.store_mask = (uint32_t)c->store_mask;
    if (t) {
        tokenizer.name = name = copy_text(t + 32, craft_load64(t));
        tokenizer.pattern = pattern = copy_text(t + 32 + craft_load64(t), craft_load64(t + 8));
        tokenizer.file_bytes = craft_load64(t + 16);
        tokenizer.file = tokenizer.file_bytes ? t + 32 + craft_load64(t) + craft_load64(t + 8) : NULL;
        options.tokenizer = &tokenizer;
    }
    s = leat_writer_open(&w, path, &options, NULL);
    if (s == LEAT_OK)
        s = write_inputs(w, c);
    for (uint64_t i = 0; s == LEAT_OK && i < c->documents; i++)
        s = write_document(w, c, i);
    if (s == LEAT_OK)
        s = write_metadata(w, c);
    if (s == LEAT_OK)
        s = leat_writer_finish(w, NULL, NULL);
    free(name);
    free(pattern);
    return s == LEAT_OK;
}
