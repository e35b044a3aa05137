/* golden.c: see golden.h. One table row a file. */
#include "golden.h"

#include <stdlib.h>
#include <string.h>

#include "golden_contents.h"

/* ---- Valid ones ---- */

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
