/*
 * format.c: parses and builds the header by the offsets below, which are the table of FORMAT.md, "The header".
 *
 * Parsing checks in an order that gives the right error: first what makes the page an index at all, then its
 * checksum, so that damage is not taken for a newer version, then versions and features, then the facts, then the
 * sections. Each section is compared with its row of a table of kinds (length of an entry, number of entries, flags)
 * and must lie after the one before it. A header that passes need not be checked against anything again.
 */
#include "format.h"

#include <string.h>

#include "base/bytes.h"
#include "base/options.h"
#include "base/status.h"

static const uint8_t magic[8] = { 'l', 'e', 'a', 't', '\r', '\n', 0x1a, '\n' };

enum {
    AT_MAGIC = 0,
    AT_VERSION = 8,
    AT_HEADER_BYTES = 12,
    AT_MUST_UNDERSTAND = 16,
    AT_IGNORABLE = 24,
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
    AT_CREATED = 144,
    AT_RESERVED = 152,
    AT_SECTIONS = 512,
    AT_RESERVED_2 = AT_SECTIONS + 64 * FORMAT_MAX_SECTIONS,
    AT_CHECKSUM = 4080,

    /* offsets in a section's entry */
    IN_KIND = 0,
    IN_FLAGS = 4,
    IN_OFFSET = 8,
    IN_BYTES = 16,
    IN_ENTRIES = 24,
    IN_SUM = 32,
    IN_RESERVED = 48,
    ENTRY_BYTES = 64
};

/* The rules of every known kind. */
static const struct {
    const char *name;
    uint32_t entry_bytes; /* bytes of an entry; 0: any length, which is counted in another way */
    uint32_t required;
    uint32_t flags; /* flags that may be set */
} kinds[FORMAT_KINDS] = {
    [FORMAT_DOCUMENTS] = { "documents", 8, 1, 0 },
    [FORMAT_DIRECTORY] = { "directory", 8, 1, 0 },
    [FORMAT_PAGES] = { "pages", 4, 1, 0 },
    [FORMAT_INPUTS] = { "inputs", FORMAT_INPUT_BYTES, 1, 0 },
    [FORMAT_INPUT_PATHS] = { "input paths", 1, 1, 0 },
    [FORMAT_ORIGINS] = { "origins", FORMAT_ORIGIN_BYTES, 1, FORMAT_ORDERED },
    [FORMAT_LINES] = { "lines", 8, 0, 0 },
    [FORMAT_ID_ENDS] = { "id ends", 8, 0, 0 },
    [FORMAT_IDS] = { "ids", 1, 0, 0 },
    [FORMAT_TOKENIZER] = { "tokenizer", 0, 0, 0 },
    [FORMAT_METADATA] = { "metadata", 0, 0, 0 },
    [FORMAT_TEXT_HASHES] = { "text hashes", FORMAT_HASH_BYTES, 0, 0 },
    [FORMAT_TOKEN_FILE] = { "token file", 0, 0, 0 },
    [FORMAT_MASK] = { "mask", 1, 0, 0 },
    [FORMAT_MASK_PAGES] = { "mask pages", 4, 0, 0 },
};

const char *format_section_name(unsigned kind)
{
    return kind < FORMAT_KINDS && kinds[kind].name ? kinds[kind].name : "unknown";
}

void format_info(const struct format_header *h, struct leat_info *info)
{
    struct leat_info full = {
        .tokens = h->tokens,
        .documents = h->documents,
        .sequences = h->documents,
        .inputs = h->sections[FORMAT_INPUTS].entries,
        .parts = 1,
        .vocabulary = h->vocabulary,
        .end_token = h->end_token,
        .begin_token = h->begin_token,
        .token_bytes = h->token_file_bytes,
        .index_bytes = h->index_bytes,
        .created = h->created,
        .token_width = h->token_width,
        .format_version = h->version,
        .stores_lines = h->sections[FORMAT_LINES].present,
        .stores_ids = h->sections[FORMAT_ID_ENDS].present,
        .stores_hashes = h->sections[FORMAT_TEXT_HASHES].present,
        .stores_mask = h->sections[FORMAT_MASK].present,
        .id_bytes = h->sections[FORMAT_IDS].bytes,
    };

    checksum_store(full.identity, h->identity);
    memcpy(full.fingerprint, h->fingerprint, sizeof full.fingerprint);
    options_fill(info, &full, sizeof full);
}

uint32_t format_width(uint64_t vocabulary)
{
    return vocabulary <= 65536 ? 2 : 4;
}

struct hash128 format_identity(const struct format_header *h, const struct checksum_kernels *k)
{
    const struct format_place *mask = &h->sections[FORMAT_MASK];
    uint8_t text[112];

    bytes_store64(text, h->tokens);
    bytes_store64(text + 8, h->documents);
    bytes_store64(text + 16, h->vocabulary);
    bytes_store64(text + 24, h->end_token);
    bytes_store64(text + 32, h->begin_token);
    bytes_store64(text + 40, h->token_width);
    memcpy(text + 48, h->fingerprint, 16);
    checksum_store(text + 64, h->token_sum);
    checksum_store(text + 80, h->sections[FORMAT_DOCUMENTS].sum);
    checksum_store(text + 96, mask->sum);
    return k->hash(text, mask->present ? 112 : 96);
}

static void encode_section(uint8_t *entry, unsigned kind, const struct format_place *s)
{
    bytes_store32(entry + IN_KIND, kind);
    bytes_store32(entry + IN_FLAGS, s->flags);
    bytes_store64(entry + IN_OFFSET, s->offset);
    bytes_store64(entry + IN_BYTES, s->bytes);
    bytes_store64(entry + IN_ENTRIES, s->entries);
    checksum_store(entry + IN_SUM, s->sum);
}

void format_encode(uint8_t page[FORMAT_HEADER_BYTES], const struct format_header *h, const struct checksum_kernels *k)
{
    uint32_t count = 0;

    memset(page, 0, FORMAT_HEADER_BYTES);
    memcpy(page + AT_MAGIC, magic, sizeof magic);
    bytes_store32(page + AT_VERSION, h->version);
    bytes_store32(page + AT_HEADER_BYTES, FORMAT_HEADER_BYTES);
    bytes_store64(page + AT_MUST_UNDERSTAND, h->must_understand);
    bytes_store64(page + AT_IGNORABLE, h->ignorable);
    checksum_store(page + AT_IDENTITY, h->identity);
    bytes_store64(page + AT_INDEX_BYTES, h->index_bytes);
    bytes_store64(page + AT_TOKEN_FILE_BYTES, h->token_file_bytes);
    bytes_store64(page + AT_TOKENS, h->tokens);
    bytes_store64(page + AT_DOCUMENTS, h->documents);
    bytes_store64(page + AT_VOCABULARY, h->vocabulary);
    bytes_store64(page + AT_END_TOKEN, h->end_token);
    bytes_store64(page + AT_BEGIN_TOKEN, h->begin_token);
    bytes_store32(page + AT_TOKEN_WIDTH, h->token_width);
    memcpy(page + AT_FINGERPRINT, h->fingerprint, 16);
    checksum_store(page + AT_TOKEN_SUM, h->token_sum);
    bytes_store64(page + AT_CREATED, h->created);
    for (unsigned kind = 1; kind < FORMAT_KINDS; kind++)
        if (h->sections[kind].present)
            encode_section(page + AT_SECTIONS + ENTRY_BYTES * count++, kind, &h->sections[kind]);
    bytes_store32(page + AT_SECTION_COUNT, count);
    checksum_store(page + AT_CHECKSUM, k->hash(page, AT_CHECKSUM));
}

/* Checks that the page has this format, is whole, and has a known version and known features. */
static enum leat_status check_envelope(const uint8_t *page, uint64_t count, const char *path,
                                       const struct checksum_kernels *k, struct leat_error *err)
{
    if (count == 0)
        return status_set_at(err, LEAT_E_NOT_LEAT, path, 0,
                             "%s is empty: it was truncated, or copying it failed; restore it from its source", path);
    if (count < sizeof magic || memcmp(page, magic, sizeof magic) != 0)
        return status_set_at(err, LEAT_E_NOT_LEAT, path, 0,
                             "%s is not a leat index: it does not begin with leat's magic bytes; give the name of a "
                             "dataset (NAME.leat next to NAME.tokens)",
                             path);
    if (count < FORMAT_HEADER_BYTES)
        return status_set_at(err, LEAT_E_TRUNCATED, path, count,
                             "%s ends at byte %" PRIu64
                             ", inside its header: it was truncated; restore it from its source",
                             path, count);
    /* The header's checksum is here in every version, so that damage is not taken for a newer version. */
    if (!checksum_equal(k->hash(page, AT_CHECKSUM), checksum_load(page + AT_CHECKSUM)))
        return status_set_at(err, LEAT_E_CHECKSUM, path, AT_CHECKSUM,
                             "the header of %s is damaged: its checksum does not match; restore the file from its "
                             "source",
                             path);
    if (bytes_load32(page + AT_VERSION) != FORMAT_VERSION)
        return status_set_at(err, LEAT_E_VERSION, path, AT_VERSION,
                             "%s has format version %u; this library reads version %u: use a newer leat", path,
                             bytes_load32(page + AT_VERSION), FORMAT_VERSION);
    if ((bytes_load64(page + AT_MUST_UNDERSTAND) & ~(uint64_t)FORMAT_ELSEWHERE) != 0)
        return status_set_at(err, LEAT_E_FEATURE, path, AT_MUST_UNDERSTAND,
                             "%s needs features (bits %#" PRIx64 ") that this library does not know: use a newer leat",
                             path, bytes_load64(page + AT_MUST_UNDERSTAND));
    return LEAT_OK;
}

static enum leat_status wrong_field(struct leat_error *err, const char *path, uint64_t offset, const char *what)
{
    return status_set_at(err, LEAT_E_HEADER, path, offset,
                         "the header of %s is invalid at byte %" PRIu64 ": %s; write the dataset again", path, offset,
                         what);
}

static void load_fields(struct format_header *h, const uint8_t *page)
{
    h->version = bytes_load32(page + AT_VERSION);
    h->must_understand = bytes_load64(page + AT_MUST_UNDERSTAND);
    h->ignorable = bytes_load64(page + AT_IGNORABLE);
    h->identity = checksum_load(page + AT_IDENTITY);
    h->checksum = checksum_load(page + AT_CHECKSUM);
    h->index_bytes = bytes_load64(page + AT_INDEX_BYTES);
    h->token_file_bytes = bytes_load64(page + AT_TOKEN_FILE_BYTES);
    h->tokens = bytes_load64(page + AT_TOKENS);
    h->documents = bytes_load64(page + AT_DOCUMENTS);
    h->vocabulary = bytes_load64(page + AT_VOCABULARY);
    h->end_token = bytes_load64(page + AT_END_TOKEN);
    h->begin_token = bytes_load64(page + AT_BEGIN_TOKEN);
    h->token_width = bytes_load32(page + AT_TOKEN_WIDTH);
    memcpy(h->fingerprint, page + AT_FINGERPRINT, 16);
    h->token_sum = checksum_load(page + AT_TOKEN_SUM);
    h->created = bytes_load64(page + AT_CREATED);
}

static bool is_elsewhere(const struct format_header *h)
{
    return (h->must_understand & FORMAT_ELSEWHERE) != 0;
}

static enum leat_status check_fields(const struct format_header *h, const uint8_t *page, const char *path,
                                     struct leat_error *err)
{
    uint64_t bytes, fixed;

    if (bytes_load32(page + AT_HEADER_BYTES) != FORMAT_HEADER_BYTES)
        return wrong_field(err, path, AT_HEADER_BYTES, "the header's size is not 4096");
    if (h->index_bytes > FORMAT_MAX_BYTES)
        return wrong_field(err, path, AT_INDEX_BYTES, "the index's size is beyond 2^62 bytes");
    if (h->token_file_bytes > FORMAT_MAX_BYTES)
        return wrong_field(err, path, AT_TOKEN_FILE_BYTES, "the token file's size is beyond 2^62 bytes");
    if (h->vocabulary == 0 || h->vocabulary > FORMAT_MAX_VOCABULARY)
        return wrong_field(err, path, AT_VOCABULARY, "the vocabulary size is not between 1 and 2^32");
    /* Other tools use four bytes even where two are enough. */
    if (h->token_width != format_width(h->vocabulary) && !(is_elsewhere(h) && h->token_width == 4))
        return wrong_field(err, path, AT_TOKEN_WIDTH, "the token width does not fit the vocabulary size");
    if (!bytes_multiply(h->tokens, h->token_width, &bytes) || bytes != h->token_file_bytes)
        return wrong_field(err, path, AT_TOKENS, "token count times width is not the token file's size");
    if (h->end_token != LEAT_NONE && h->end_token >= h->vocabulary)
        return wrong_field(err, path, AT_END_TOKEN, "the end-of-document token is not below the vocabulary size");
    if (h->begin_token != LEAT_NONE && h->begin_token >= h->vocabulary)
        return wrong_field(err, path, AT_BEGIN_TOKEN, "the begin token is not below the vocabulary size");
    fixed = is_elsewhere(h) ? 0 : (h->end_token != LEAT_NONE) + (h->begin_token != LEAT_NONE);
    if (h->documents > FORMAT_MAX_BYTES / 8 || h->documents * fixed > h->tokens)
        return wrong_field(err, path, AT_DOCUMENTS, "it has more documents than the tokens allow");
    if (h->documents == 0 && h->tokens > 0)
        return wrong_field(err, path, AT_DOCUMENTS, "it has tokens but no documents");
    if (!bytes_all_zero(page + AT_RESERVED, AT_SECTIONS - AT_RESERVED))
        return wrong_field(err, path, AT_RESERVED, "reserved bytes are not zero");
    if (!bytes_all_zero(page + AT_RESERVED_2, AT_CHECKSUM - AT_RESERVED_2))
        return wrong_field(err, path, AT_RESERVED_2, "reserved bytes are not zero");
    return LEAT_OK;
}

/* Says why the size is wrong. A file that is too short is a copy that ended early; to one that is too long,
 * something was appended. The size that the index states is right, since the index has a checksum. */
static const char *wrong_size(uint64_t bytes, uint64_t right)
{
    return bytes < right ? "the file is incomplete" : "the file is too long";
}

static enum leat_status check_sizes(const struct format_header *h, const struct format_found *f, struct leat_error *err)
{
    if (f->index_bytes != h->index_bytes)
        return status_set_at(err, LEAT_E_TRUNCATED, f->path, f->index_bytes,
                             "%s has %" PRIu64 " bytes, but its header says %" PRIu64
                             ": %s; restore it from its source",
                             f->path, f->index_bytes, h->index_bytes, wrong_size(f->index_bytes, h->index_bytes));
    if (f->token_file_bytes != h->token_file_bytes)
        return status_set_at(err, LEAT_E_TRUNCATED, f->token_path, f->token_file_bytes,
                             "%s has %" PRIu64 " bytes, but its index says %" PRIu64
                             ": %s, or the two files do not belong together; restore both from their source",
                             f->token_path, f->token_file_bytes, h->token_file_bytes,
                             wrong_size(f->token_file_bytes, h->token_file_bytes));
    return LEAT_OK;
}

static enum leat_status wrong_section(struct leat_error *err, const char *path, uint64_t offset, unsigned kind,
                                      const char *what)
{
    return status_set_at(err, LEAT_E_SECTION, path, offset,
                         "the section table of %s is invalid at byte %" PRIu64
                         " (section %u, %s): %s; write the dataset again",
                         path, offset, kind, format_section_name(kind), what);
}

/* Returns true if this library knows the kind. Other kinds may come more than once. If the tokens are in
 * NAME.tokens, no section says where they lie, so FORMAT_TOKEN_FILE is not known either. */
static bool is_known(const struct format_header *h, uint32_t kind)
{
    return kind < FORMAT_KINDS && kinds[kind].name != NULL && (kind != FORMAT_TOKEN_FILE || is_elsewhere(h));
}

/* Returns how many entries a section of this kind has; LEAT_NONE if the header does not say. */
static uint64_t expected_entries(const struct format_header *h, unsigned kind)
{
    switch (kind) {
    case FORMAT_DOCUMENTS:
        return h->documents + 1;
    case FORMAT_DIRECTORY:
        return bytes_divide_up(h->token_file_bytes, FORMAT_CELL_BYTES);
    case FORMAT_PAGES:
        return bytes_divide_up(h->token_file_bytes, FORMAT_PAGE_BYTES);
    case FORMAT_MASK:
        return h->tokens;
    case FORMAT_MASK_PAGES:
        return bytes_divide_up(h->tokens, FORMAT_PAGE_BYTES);
    case FORMAT_ORIGINS:
    case FORMAT_LINES:
    case FORMAT_ID_ENDS:
    case FORMAT_TEXT_HASHES:
        return h->documents;
    case FORMAT_TOKENIZER:
    case FORMAT_TOKEN_FILE:
        return 1;
    default:
        return LEAT_NONE;
    }
}

/* Reads one entry of the table. *end is where the sections before it end; it moves to the end of this one. */
static enum leat_status parse_section(struct format_header *h, const uint8_t *entry, uint64_t at, uint64_t *end,
                                      const char *path, struct leat_error *err)
{
    uint32_t kind = bytes_load32(entry + IN_KIND);
    struct format_place s = {
        .offset = bytes_load64(entry + IN_OFFSET),
        .bytes = bytes_load64(entry + IN_BYTES),
        .entries = bytes_load64(entry + IN_ENTRIES),
        .sum = checksum_load(entry + IN_SUM),
        .flags = bytes_load32(entry + IN_FLAGS),
        .present = 1,
    };
    uint64_t bytes, expected;

    if (s.offset != format_align(*end))
        return wrong_section(err, path, at + IN_OFFSET, kind, "it does not follow the previous one directly");
    if (!bytes_inside(s.offset, s.bytes, h->index_bytes))
        return wrong_section(err, path, at + IN_BYTES, kind, "it reaches beyond the end of the file");
    if (!bytes_all_zero(entry + IN_RESERVED, ENTRY_BYTES - IN_RESERVED))
        return wrong_section(err, path, at + IN_RESERVED, kind, "reserved bytes are not zero");
    *end = s.offset + s.bytes;
    if (!is_known(h, kind)) {
        if (s.flags & FORMAT_MUST_UNDERSTAND)
            return status_set_at(err, LEAT_E_FEATURE, path, at + IN_KIND,
                                 "%s has a section of kind %u that must be understood, but this library does not know "
                                 "it: use a newer leat",
                                 path, kind);
        h->others[h->other_count++] = s;
        return LEAT_OK;
    }
    if (s.flags & ~(kinds[kind].flags | FORMAT_MUST_UNDERSTAND))
        return wrong_section(err, path, at + IN_FLAGS, kind, "it has unknown flags");
    if (kinds[kind].entry_bytes && (!bytes_multiply(s.entries, kinds[kind].entry_bytes, &bytes) || bytes != s.bytes))
        return wrong_section(err, path, at + IN_ENTRIES, kind, "its size does not match its number of entries");
    expected = expected_entries(h, kind);
    if (expected != LEAT_NONE && s.entries != expected)
        return wrong_section(err, path, at + IN_ENTRIES, kind, "its number of entries does not match the header");
    h->sections[kind] = s;
    return LEAT_OK;
}

static enum leat_status parse_sections(struct format_header *h, const uint8_t *page, const char *path,
                                       struct leat_error *err)
{
    uint32_t count = bytes_load32(page + AT_SECTION_COUNT), last = 0;
    uint64_t end = FORMAT_HEADER_BYTES;
    enum leat_status s;

    memset(h->sections, 0, sizeof h->sections);
    h->other_count = 0;
    if (count > FORMAT_MAX_SECTIONS)
        return wrong_field(err, path, AT_SECTION_COUNT, "more than 55 sections");
    for (uint32_t i = 0; i < count; i++) {
        uint64_t at = AT_SECTIONS + (uint64_t)ENTRY_BYTES * i;
        uint32_t kind = bytes_load32(page + at);

        if (kind < last || (kind == last && (kind == 0 || is_known(h, kind))))
            return wrong_section(err, path, at, kind, "kinds must increase, starting at 1");
        last = kind;
        s = parse_section(h, page + at, at, &end, path, err);
        if (s != LEAT_OK)
            return s;
    }
    if (end != h->index_bytes)
        return wrong_field(err, path, AT_INDEX_BYTES, "the index's size is not the end of its last section");
    if (!bytes_all_zero(page + AT_SECTIONS + ENTRY_BYTES * count, ENTRY_BYTES * (FORMAT_MAX_SECTIONS - count)))
        return wrong_field(err, path, AT_SECTIONS + (uint64_t)ENTRY_BYTES * count,
                           "unused entries of the section table are not zero");
    for (unsigned kind = 1; kind < FORMAT_KINDS; kind++)
        if (kinds[kind].required && !h->sections[kind].present)
            return wrong_section(err, path, AT_SECTIONS, kind, "it is missing");
    if (is_elsewhere(h) && h->sections[FORMAT_TOKEN_FILE].bytes <= 8)
        return wrong_section(err, path, AT_SECTIONS, FORMAT_TOKEN_FILE, "it is missing or names no file");
    if (h->sections[FORMAT_ID_ENDS].present != h->sections[FORMAT_IDS].present)
        return wrong_section(err, path, AT_SECTIONS, FORMAT_IDS, "ids and id ends must appear together");
    if (h->sections[FORMAT_MASK].present != h->sections[FORMAT_MASK_PAGES].present)
        return wrong_section(err, path, AT_SECTIONS, FORMAT_MASK, "a mask and its pages must appear together");
    return LEAT_OK;
}

enum leat_status format_parse(struct format_header *h, const struct format_found *found,
                              const struct checksum_kernels *k, struct leat_error *err)
{
    const uint8_t *page = found->page;
    const char *path = found->path;
    enum leat_status s = check_envelope(page, found->count, path, k, err);

    if (s != LEAT_OK)
        return s;
    load_fields(h, page);
    s = check_fields(h, page, path, err);
    if (s == LEAT_OK)
        s = check_sizes(h, found, err);
    if (s == LEAT_OK)
        s = parse_sections(h, page, path, err);
    if (s != LEAT_OK)
        return s;
    if (!checksum_equal(h->identity, format_identity(h, k)))
        return wrong_field(err, path, AT_IDENTITY, "the identity does not match the content");
    return LEAT_OK;
}

bool format_peek_elsewhere(const uint8_t page[FORMAT_HEADER_BYTES], uint64_t *token_bytes)
{
    *token_bytes = bytes_load64(page + AT_TOKEN_FILE_BYTES);
    return (bytes_load64(page + AT_MUST_UNDERSTAND) & FORMAT_ELSEWHERE) != 0;
}

/* ---- Records of sections ----------------------------------------------------------------------------------------- */

void records_store_input(uint8_t out[64], const struct records_input *input)
{
    bytes_store64(out, input->path_offset);
    bytes_store64(out + 8, input->path_bytes);
    bytes_store64(out + 16, input->bytes);
    bytes_store64(out + 24, input->documents);
    bytes_store64(out + 32, input->tokens);
    bytes_store64(out + 40, input->rejects);
    memcpy(out + 48, input->hash, 16);
}

void records_load_input(struct records_input *input, const uint8_t in[64])
{
    input->path_offset = bytes_load64(in);
    input->path_bytes = bytes_load64(in + 8);
    input->bytes = bytes_load64(in + 16);
    input->documents = bytes_load64(in + 24);
    input->tokens = bytes_load64(in + 32);
    input->rejects = bytes_load64(in + 40);
    memcpy(input->hash, in + 48, 16);
}

void records_store_tokenizer(uint8_t out[32], const struct records_tokenizer *t)
{
    bytes_store64(out, t->name_bytes);
    bytes_store64(out + 8, t->pattern_bytes);
    bytes_store64(out + 16, t->file_bytes);
    bytes_store64(out + 24, t->is_file ? 2 : 1);
}

bool records_load_tokenizer(struct records_tokenizer *t, const uint8_t in[32], uint64_t section_bytes)
{
    uint64_t form = bytes_load64(in + 24), sum;

    t->name_bytes = bytes_load64(in);
    t->pattern_bytes = bytes_load64(in + 8);
    t->file_bytes = bytes_load64(in + 16);
    t->is_file = form == 2;
    return (form == 1 || form == 2) && (t->is_file || t->file_bytes == 0) && t->name_bytes > 0 &&
           bytes_add(t->name_bytes, t->pattern_bytes, &sum) && bytes_add(sum, t->file_bytes, &sum) &&
           bytes_add(sum, 32, &sum) && sum == section_bytes;
}

/* Compares two texts as memcmp() does over their common length, then by their lengths. */
static int compare(const char *a, uint64_t a_bytes, const char *b, uint64_t b_bytes)
{
    int order = memcmp(a, b, a_bytes < b_bytes ? a_bytes : b_bytes);

    return order ? order : (a_bytes > b_bytes) - (a_bytes < b_bytes);
}

bool records_next_pair(struct leat_metadata_pair *pair, const uint8_t *text, uint64_t bytes, uint64_t *at)
{
    struct leat_metadata_pair next;
    uint64_t left;

    if (!bytes_inside(*at, 16, bytes))
        return false;
    next.key_bytes = bytes_load64(text + *at);
    next.value_bytes = bytes_load64(text + *at + 8);
    *at += 16;
    left = bytes - *at;
    if (next.key_bytes == 0 || next.key_bytes > left || next.value_bytes > left - next.key_bytes)
        return false;
    next.key = (const char *)text + *at;
    next.value = next.key + next.key_bytes;
    *at += next.key_bytes + next.value_bytes;
    if (pair->key && compare(pair->key, pair->key_bytes, next.key, next.key_bytes) >= 0)
        return false;
    *pair = next;
    return true;
}
