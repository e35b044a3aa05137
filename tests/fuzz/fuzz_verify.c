/*
 * fuzz_verify.c: two opinions on one dataset: opening and verifying it must call it good if and only if checker.h, a
 * second verify made from FORMAT.md alone, finds no broken rule.
 *
 * A wrong checksum hides every other mistake. So the dataset that shape.h expands is changed in up to four places, and
 * then all checksums are made anew: page hashes, sums of sections and tokens, the identity, the header's. Where the two
 * disagree, FORMAT.md says which one is wrong; if it does not, the page is. What is on disk is also opened by
 * leat_read.h, which must say what the library says.
 *
 *   at   bytes
 *    0       1  enum option: the files are on disk, verified by two threads, a kind of checksum is not made anew;
 *               wild: the description is taken as it is, else shape.h repairs all that it can and cuts nothing
 *    1   4 x 8  changes (changes.h): what (1), which of them (1), where (2), how (1), value (3)
 *   33          a description for shape.h
 */
#include <stdbool.h>

#include "dataset/dataset.h"
#include "datasets/changes.h"
#include "datasets/checker.h"
#include "datasets/shape.h"
#include "files.h"
#include "fuzz.h"
#include "support/read_again.h"

#define CHANGES   4u
#define GIVEN     (1u + CHANGES_BYTES * CHANGES)
#define DESCRIBED 28u /* the header follows so many bytes of a description */

enum option {
    ON_DISK = 1,
    KEEP_PAGES = 2,
    KEEP_TOKEN_SUM = 4,
    KEEP_SUMS = 8,
    KEEP_IDENTITY = 16,
    KEEP_CHECKSUM = 32,
    THREADS = 64,
    WILD = 128
};

static struct file take_file(uint8_t *bytes, uint64_t size)
{
    struct file f = { realloc(bytes, (size_t)size + CHANGES_GROWTH), size, size + CHANGES_GROWTH };

    FUZZ_CHECK(f.bytes);
    memset(f.bytes + size, 0, CHANGES_GROWTH);
    return f;
}

/* ---- Checksums ---- */

static void repair_pages(struct files *f)
{
    for (uint32_t i = 0; i < CHECKER_SECTIONS; i++) {
        uint8_t *entry = changes_entry(f, i);
        uint64_t size;
        uint8_t *section = changes_section(f, entry, &size);

        if (!section || checker_u32(entry) != CHECKER_PAGES)
            continue;
        for (uint64_t page = 0; page < size / 4 && page * CHECKER_PAGE < f->tokens.size; page++)
            checker_put(section + 4 * page, checker_page_hash(f->tokens.bytes, f->tokens.size, page), 4);
        return;
    }
}

static void repair_sums(struct files *f)
{
    for (uint32_t i = 0; i < CHECKER_SECTIONS; i++) {
        uint8_t *entry = changes_entry(f, i);
        uint64_t size;
        uint8_t *section = changes_section(f, entry, &size);

        if (section)
            checker_page_sum(section, size, entry + 32);
    }
}

/* The sum of the mask, in its entry; NULL: there is no mask. */
static const uint8_t *mask_sum(struct files *f)
{
    for (uint32_t i = 0; i < CHECKER_SECTIONS; i++)
        if (changes_entry(f, i) && checker_u32(changes_entry(f, i)) == CHECKER_MASK)
            return changes_entry(f, i) + 32;
    return NULL;
}

static void repair(struct files *f)
{
    if (f->index.size < CHECKER_HEADER)
        return;
    if (!(f->options & KEEP_PAGES))
        repair_pages(f);
    if (!(f->options & KEEP_TOKEN_SUM))
        checker_page_sum(f->tokens.bytes, f->tokens.size, f->index.bytes + 128);
    if (!(f->options & KEEP_SUMS))
        repair_sums(f);
    if (!(f->options & KEEP_IDENTITY))
        checker_identity(f->index.bytes, f->index.bytes + CHECKER_TABLE + 32, mask_sum(f), f->index.bytes + 32);
    if (!(f->options & KEEP_CHECKSUM))
        checker_hash(f->index.bytes, 4080, f->index.bytes + 4080);
}

/* ---- Opinions ---- */

static struct leat_dataset *open_memory(const struct files *f, struct leat_error *err)
{
    struct leat_dataset *d = NULL;
    struct part part;

    if (part_open_memory(&part, f->index.bytes, f->index.size, f->tokens.bytes, f->tokens.size, err) == LEAT_OK)
        FUZZ_CHECK(dataset_of_part(&d, &part, err) == LEAT_OK);
    return d;
}

static struct leat_dataset *open_disk(const struct files *f, struct leat_error *err)
{
    struct leat_dataset *d = NULL;

    files_begin();
    files_write("v.leat", f->index.bytes, (size_t)f->index.size);
    files_write("v.tokens", f->tokens.bytes, (size_t)f->tokens.size);
    leat_dataset_open(&d, files_path("v"), NULL, err);
    return d;
}

/* leat's opinion; *err says what is wrong. */
static bool good(const struct files *f, struct leat_error *err)
{
    struct leat_verify_options options = LEAT_VERIFY_OPTIONS_INIT;
    struct leat_dataset *d = f->options & ON_DISK ? open_disk(f, err) : open_memory(f, err);
    const char *differs = NULL;
    bool whole = false;

    options.threads = f->options & THREADS ? 2 : 1;
    if (d)
        whole = leat_dataset_verify(d, &options, NULL, err) == LEAT_OK;
    if (f->options & ON_DISK)
        differs = read_again(files_path("v"), d, err->status, whole, 64);
    if (differs) {
        fprintf(stderr, "leat: %s\nleat_read.h: %s\n", d ? "opens" : err->message, differs);
        abort();
    }
    leat_dataset_close(d);
    return whole;
}

/* What shape.h does not repair, and what would end most opinions at the header: see shape.h for the places. */
static void tame(uint8_t *description, size_t size)
{
    uint8_t *header = description + DESCRIBED;

    checker_put(description, SHAPE_ALL, 2);
    checker_put(description + 8, 0, 4); /* nothing is cut */
    if (description[5] != SHAPE_LONG)
        description[4] %= 8; /* documents that are more than the tokens */
    if (size < DESCRIBED + 112)
        return;
    if (checker_u64(header + 80) - 1 >= (uint64_t)1 << 32)
        checker_put(header + 80, 1 + checker_number(header + 80, 2), 8);
    header[108] %= CHECKER_SECTIONS + 1;
    checker_put(header + 109, 0, 3);
}

/* Makes the dataset before its changes; -1: the description makes no dataset. */
static int expand(struct shape *s, const uint8_t *description, size_t size, bool wild)
{
    uint8_t *changed;
    int result;

    if (wild || size < DESCRIBED)
        return shape_expand(s, description, size);
    changed = malloc(size);
    FUZZ_CHECK(changed);
    memcpy(changed, description, size);
    tame(changed, size);
    result = shape_expand(s, changed, size);
    free(changed);
    return result;
}

FUZZ_TARGET(verify)
{
    struct fuzz_bytes in = { data, size };
    struct leat_error err = { 0 };
    const char *broken;
    struct files f = { .options = fuzz_u8(&in) };
    struct shape s;
    bool whole;

    if (size < GIVEN || expand(&s, data + GIVEN, size - GIVEN, f.options & WILD) != 0)
        return -1;
    f.index = take_file(s.index, s.index_bytes);
    f.tokens = take_file(s.tokens, s.token_bytes);
    for (unsigned i = 0; i < CHANGES; i++)
        changes_make(&f, &in);
    repair(&f);
    broken = checker_broken_rule(f.index.bytes, f.index.size, f.tokens.bytes, f.tokens.size);
    whole = good(&f, &err);
    if (whole != !broken) {
        fprintf(stderr, "leat: %s\nFORMAT.md: %s\n", whole ? "good" : err.message, broken ? broken : "good");
        abort();
    }
    free(f.index.bytes);
    free(f.tokens.bytes);
    return 0;
}
