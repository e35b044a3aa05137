/*
 * test_format.c: random headers are encoded, taken apart and come out the same; every field set outside its range, with
 * all checksums right, is refused with the status it must give; random pages are refused.
 */
#include "t.h"
#include "format/format.h"
#include "support/craft.h"

static const struct checksum_kernels *kernels;

static struct hash128 random_hash(uint64_t *random)
{
    struct hash128 h = { t_random(random), t_random(random) };

    return h;
}

/* Up to 2^limit, small ones as likely as large ones. */
static uint64_t any_size(uint64_t *random, unsigned limit)
{
    return t_random(random) >> (64 - limit + t_below(random, limit));
}

static void place(struct format_header *h, unsigned kind, uint64_t bytes, uint64_t entries, uint64_t *random)
{
    h->sections[kind] = (struct format_place) { .offset = format_align(h->index_bytes),
                                                .bytes = bytes,
                                                .entries = entries,
                                                .sum = bytes ? random_hash(random) : (struct hash128) { 0, 0 },
                                                .present = 1 };
    h->index_bytes = h->sections[kind].offset + bytes;
}

static void random_header(struct format_header *h, uint64_t *random)
{
    uint64_t inputs = any_size(random, 30), fixed;

    memset(h, 0, sizeof *h);
    h->version = FORMAT_VERSION;
    h->vocabulary = t_below(random, 4) ? 1 + any_size(random, 31) : (uint64_t)1 << (t_below(random, 2) ? 32 : 16);
    h->token_width = h->vocabulary <= 65536 ? 2 : 4;
    h->end_token = t_below(random, 2) ? LEAT_NONE : t_below(random, h->vocabulary);
    h->begin_token = t_below(random, 2) ? LEAT_NONE : t_below(random, h->vocabulary);
    h->tokens = any_size(random, 54);
    h->token_file_bytes = h->tokens * h->token_width;
    fixed = (h->end_token != LEAT_NONE) + (h->begin_token != LEAT_NONE);
    h->documents = fixed ? h->tokens / fixed / (1 + any_size(random, 20)) : any_size(random, 55);
    if (h->documents == 0)
        h->tokens = h->token_file_bytes = 0;
    h->token_sum = random_hash(random);
    h->created = t_below(random, 2) ? 0 : t_random(random);
    h->ignorable = t_below(random, 2) ? 0 : t_random(random);
    checksum_store(h->fingerprint, random_hash(random));
    h->index_bytes = FORMAT_HEADER_BYTES;
    place(h, FORMAT_DOCUMENTS, 8 * (h->documents + 1), h->documents + 1, random);
    place(h, FORMAT_DIRECTORY, (h->token_file_bytes + 65535) / 65536 * 8, (h->token_file_bytes + 65535) / 65536,
          random);
    place(h, FORMAT_PAGES, (h->token_file_bytes + 4095) / 4096 * 4, (h->token_file_bytes + 4095) / 4096, random);
    place(h, FORMAT_INPUTS, 64 * inputs, inputs, random);
    inputs *= t_below(random, 50);
    place(h, FORMAT_INPUT_PATHS, inputs, inputs, random);
    place(h, FORMAT_ORIGINS, 16 * h->documents, h->documents, random);
    h->sections[FORMAT_ORIGINS].flags = t_below(random, 2) ? FORMAT_ORDERED : 0;
    if (t_below(random, 2))
        place(h, FORMAT_LINES, 8 * h->documents, h->documents, random);
    if (t_below(random, 2)) {
        uint64_t ids = any_size(random, 40);

        place(h, FORMAT_ID_ENDS, 8 * h->documents, h->documents, random);
        place(h, FORMAT_IDS, ids, ids, random);
    }
    if (t_below(random, 2))
        place(h, FORMAT_TOKENIZER, 33 + any_size(random, 30), 1, random);
    if (t_below(random, 2))
        place(h, FORMAT_METADATA, 17 + any_size(random, 30), 1 + any_size(random, 10), random);
    if (t_below(random, 2))
        place(h, FORMAT_TEXT_HASHES, 16 * h->documents, h->documents, random);
    if (t_below(random, 2)) {
        place(h, FORMAT_MASK, h->tokens, h->tokens, random);
        place(h, FORMAT_MASK_PAGES, (h->tokens + 4095) / 4096 * 4, (h->tokens + 4095) / 4096, random);
    }
    h->identity = format_identity(h, kernels);
}

static enum leat_status parse(struct format_header *h, const uint8_t *page, const struct format_header *sizes)
{
    struct format_found found = { page,     FORMAT_HEADER_BYTES, sizes->index_bytes, sizes->token_file_bytes,
                                  "x.leat", "x.tokens" };

    return format_parse(h, &found, kernels, &t_err);
}

static void check_same(const struct format_header *a, const struct format_header *b)
{
    T_CHECK(a->version == b->version && a->ignorable == b->ignorable && a->tokens == b->tokens);
    T_CHECK(a->documents == b->documents && a->vocabulary == b->vocabulary && a->end_token == b->end_token);
    T_CHECK(a->begin_token == b->begin_token && a->token_width == b->token_width && a->created == b->created);
    T_CHECK(a->index_bytes == b->index_bytes && a->token_file_bytes == b->token_file_bytes);
    T_CHECK(checksum_equal(a->identity, b->identity) && checksum_equal(a->token_sum, b->token_sum));
    T_CHECK(memcmp(a->fingerprint, b->fingerprint, 16) == 0);
    for (unsigned kind = 0; kind < FORMAT_KINDS; kind++) {
        const struct format_place *x = &a->sections[kind], *y = &b->sections[kind];

        T_CHECK(x->present == y->present && x->offset == y->offset && x->bytes == y->bytes);
        T_CHECK(x->entries == y->entries && x->flags == y->flags && checksum_equal(x->sum, y->sum));
    }
    T_EQ(b->other_count, 0);
}

/* The page's identity and checksum, as FORMAT.md has them: by the helper of the tests, not by format.c. */
static void repair(uint8_t *page)
{
    struct craft c = { 0 };

    c.index.bytes = page;
    c.index.count = FORMAT_HEADER_BYTES;
    craft_repair(&c, CRAFT_REPAIR_IDENTITY | CRAFT_REPAIR_HEADER);
}

static void set(uint8_t *page, unsigned offset, unsigned bytes, uint64_t value)
{
    for (unsigned i = 0; i < bytes; i++)
        page[offset + i] = (uint8_t)(value >> 8 * i);
}

/* One field at a time. */
static void check_fields(const struct format_header *h, const uint8_t *page)
{
    uint64_t fixed = (h->end_token != LEAT_NONE) + (h->begin_token != LEAT_NONE);
    const struct {
        unsigned offset, bytes;
        uint64_t value;
        enum leat_status status;
    } wrong[] = {
        { 0, 1, 'L', LEAT_E_NOT_LEAT },
        { 7, 1, '\r', LEAT_E_NOT_LEAT },
        { 8, 4, 0, LEAT_E_VERSION },
        { 8, 4, 2, LEAT_E_VERSION },
        { 8, 4, UINT32_MAX, LEAT_E_VERSION },
        { 12, 4, 0, LEAT_E_HEADER },
        { 12, 4, 8192, LEAT_E_HEADER },
        { 16, 8, 1, LEAT_E_SECTION }, /* tokens elsewhere, and no section says where */
        { 16, 8, 2, LEAT_E_FEATURE },
        { 16, 8, (uint64_t)1 << 63, LEAT_E_FEATURE },
        { 48, 8, FORMAT_MAX_BYTES + 1, LEAT_E_HEADER },
        { 48, 8, h->index_bytes + 1, LEAT_E_TRUNCATED },
        { 48, 8, h->index_bytes - 1, LEAT_E_TRUNCATED },
        { 56, 8, FORMAT_MAX_BYTES + 4, LEAT_E_HEADER },
        { 56, 8, h->token_file_bytes + h->token_width, LEAT_E_HEADER },
        { 64, 8, h->tokens + 1, LEAT_E_HEADER },
        { 64, 8, h->tokens + ((uint64_t)1 << 63), LEAT_E_HEADER },
        { 64, 8, h->tokens + ((uint64_t)1 << 62), LEAT_E_HEADER },
        { 72, 8, ((uint64_t)1 << 59) + 1, LEAT_E_HEADER },
        { 72, 8, UINT64_MAX, LEAT_E_HEADER },
        { 72, 8, h->tokens + 1, fixed > 0 ? LEAT_E_HEADER : LEAT_E_SECTION },
        { 72, 8, h->documents + 1, fixed * (h->documents + 1) > h->tokens ? LEAT_E_HEADER : LEAT_E_SECTION },
        { 80, 8, 0, LEAT_E_HEADER },
        { 80, 8, FORMAT_MAX_VOCABULARY + 1, LEAT_E_HEADER },
        { 80, 8, UINT64_MAX, LEAT_E_HEADER },
        { 80, 8, h->vocabulary <= 65536 ? 65537 : 65536, LEAT_E_HEADER },
        { 88, 8, h->vocabulary, LEAT_E_HEADER },
        { 88, 8, UINT64_MAX - 1, LEAT_E_HEADER },
        { 96, 8, h->vocabulary, LEAT_E_HEADER },
        { 96, 8, UINT64_MAX - 1, LEAT_E_HEADER },
        { 104, 4, 0, LEAT_E_HEADER },
        { 104, 4, 1, LEAT_E_HEADER },
        { 104, 4, 6 - h->token_width, LEAT_E_HEADER },
        { 108, 4, 0, LEAT_E_HEADER }, /* the index then ends before its size */
        { 108, 4, 56, LEAT_E_HEADER },
        { 108, 4, UINT32_MAX, LEAT_E_HEADER },
        { 152, 1, 0x80, LEAT_E_HEADER },
        { 511, 1, 1, LEAT_E_HEADER },
        { 4032, 1, 1, LEAT_E_HEADER },
        { 4079, 1, 1, LEAT_E_HEADER },
        { 512 + 64 * 14, 1, 1, LEAT_E_HEADER }, /* after the last entry that can be used */
        { 512 + 64 * 55 - 1, 1, 1, LEAT_E_HEADER },
        { 512, 4, 0, LEAT_E_SECTION },
        { 512 + 64, 4, 1, LEAT_E_SECTION },
        { 512 + 64, 4, 3, LEAT_E_SECTION },
        { 512 + 4, 4, 2, LEAT_E_SECTION },
        { 512 + 64 * 5 + 4, 4, 4, LEAT_E_SECTION },
        { 512 + 8, 8, 4096 + 64, LEAT_E_SECTION },
        { 512 + 8, 8, 0, LEAT_E_SECTION },
        { 512 + 64 + 8, 8, UINT64_MAX - 63, LEAT_E_SECTION },
        { 512 + 16, 8, UINT64_MAX - 4095, LEAT_E_SECTION },
        { 512 + 16, 8, FORMAT_MAX_BYTES, LEAT_E_SECTION },
        { 512 + 24, 8, h->documents + 2, LEAT_E_SECTION },
        { 512 + 24, 8, h->documents + 1 + ((uint64_t)1 << 61), LEAT_E_SECTION },
        { 512 + 48, 1, 1, LEAT_E_SECTION },
        { 512 + 63, 1, 1, LEAT_E_SECTION },
    };

    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        uint8_t copy[FORMAT_HEADER_BYTES];
        struct format_header out;
        enum leat_status s;

        memcpy(copy, page, sizeof copy);
        set(copy, wrong[i].offset, wrong[i].bytes, wrong[i].value);
        if (memcmp(copy, page, sizeof copy) == 0)
            continue; /* a random header can have that value */
        if (craft_load32(copy + 512) == 1)
            repair(copy);
        else
            craft_hash(copy + 4080, copy, 4080);
        s = parse(&out, copy, h);
        if (s != wrong[i].status)
            T_FAIL("%u bytes at %u set to %#" PRIx64 ": %s instead of %s: %s", wrong[i].bytes, wrong[i].offset,
                   wrong[i].value, leat_status_name(s), leat_status_name(wrong[i].status), t_err.message);
    }
}

static void check_sizes(const struct format_header *h, const uint8_t *page)
{
    struct format_header out, sizes = *h;

    sizes.index_bytes++;
    T_STATUS(parse(&out, page, &sizes), LEAT_E_TRUNCATED);
    sizes.index_bytes -= 2;
    T_STATUS(parse(&out, page, &sizes), LEAT_E_TRUNCATED);
    sizes = *h;
    sizes.token_file_bytes++;
    T_STATUS(parse(&out, page, &sizes), LEAT_E_TRUNCATED);
    T_STATUS(format_parse(&out, &(struct format_found) { page, 4095, 4095, 0, "x", "y" }, kernels, &t_err),
             LEAT_E_TRUNCATED);
    T_STATUS(format_parse(&out, &(struct format_found) { page, 8, 8, 0, "x", "y" }, kernels, &t_err), LEAT_E_TRUNCATED);
    T_STATUS(format_parse(&out, &(struct format_found) { page, 7, 7, 0, "x", "y" }, kernels, &t_err), LEAT_E_NOT_LEAT);
    T_STATUS(format_parse(&out, &(struct format_found) { page, 0, 0, 0, "x", "y" }, kernels, &t_err), LEAT_E_NOT_LEAT);
}

/* Noise in the header, with the checksum right: refused or harmless, and never outside the file. */
static void check_noise(const struct format_header *h, const uint8_t *page, uint64_t *random)
{
    for (unsigned i = 0; i < 2000; i++) {
        uint8_t copy[FORMAT_HEADER_BYTES];
        struct format_header out;

        memcpy(copy, page, sizeof copy);
        for (uint64_t n = 1 + t_below(random, 3); n > 0; n--) {
            static const uint64_t odd[] = { 0, 1, 63, 64, 4096, (uint64_t)1 << 32, (uint64_t)1 << 62, UINT64_MAX - 63 };
            unsigned at = (unsigned)t_below(random, 2) ? 8 * (unsigned)t_below(random, 20)
                                                       : 512 + 8 * (unsigned)t_below(random, 96);
            uint64_t value = t_below(random, 2) ? odd[t_below(random, 8)] : t_random(random) >> t_below(random, 64);

            set(copy, at, 8, value);
        }
        craft_hash(copy + 4080, copy, 4080);
        if (parse(&out, copy, h) != LEAT_OK)
            continue;
        for (unsigned kind = 1; kind < FORMAT_KINDS; kind++)
            T_CHECK(out.sections[kind].offset + out.sections[kind].bytes <= h->index_bytes);
    }
}

int main(void)
{
    uint64_t random = t_seed();
    uint8_t page[FORMAT_HEADER_BYTES];
    struct format_header h, out;

    kernels = checksum_kernels();
    for (unsigned i = 0; i < 2000; i++) {
        random_header(&h, &random);
        format_encode(page, &h, kernels);
        T_OK(parse(&out, page, &h));
        check_same(&h, &out);
        if (i % 10 == 0) {
            check_fields(&h, page);
            check_sizes(&h, page);
        }
        if (i % 100 == 0)
            check_noise(&h, page, &random);
        for (unsigned b = 0; b < sizeof page; b++)
            page[b] = (uint8_t)t_random(&random);
        T_STATUS(parse(&out, page, &h), LEAT_E_NOT_LEAT);
    }
    T_EQ(format_width(1), 2);
    T_EQ(format_width(65536), 2);
    T_EQ(format_width(65537), 4);
    T_EQ(format_align(4096), 4096);
    T_EQ(format_align(4097), 4160);
    T_STR(format_section_name(FORMAT_ID_ENDS), "id ends");
    T_STR(format_section_name(FORMAT_COLUMN), "unknown");
    T_STR(format_section_name(1000), "unknown");
    return t_end();
}
