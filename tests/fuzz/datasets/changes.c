/* changes.c: see changes.h. Reads the files by the numbers of FORMAT.md, as the checker does. */
#include "changes.h"

#include <stdbool.h>

#include "checker.h"

/* ---- Places ---- */

uint8_t *changes_entry(const struct files *f, uint32_t which)
{
    uint32_t count;

    if (f->index.size < CHECKER_HEADER)
        return NULL;
    count = checker_u32(f->index.bytes + 108);
    if (count > CHECKER_SECTIONS)
        count = CHECKER_SECTIONS;
    return count == 0 ? NULL : f->index.bytes + CHECKER_TABLE + CHECKER_ENTRY * (which % count);
}

uint8_t *changes_section(const struct files *f, const uint8_t *entry, uint64_t *size)
{
    uint64_t offset;

    if (!entry)
        return NULL;
    offset = checker_u64(entry + 8);
    *size = checker_u64(entry + 16);
    return offset <= f->index.size && *size <= f->index.size - offset ? f->index.bytes + offset : NULL;
}

/* ---- Changes ---- */

/* The number at `at` becomes another: one given, one near, one at a limit, or one that stands beside it. */
static void change_number(const struct files *f, uint8_t *at, unsigned bytes, unsigned how, uint32_t value)
{
    static const uint64_t limits[] = { UINT64_MAX,
                                       UINT64_MAX - 1,
                                       (uint64_t)1 << 63,
                                       (uint64_t)1 << 62,
                                       (uint64_t)1 << 61,
                                       (uint64_t)1 << 59,
                                       ((uint64_t)1 << 32),
                                       ((uint64_t)1 << 31),
                                       65535,
                                       65536 };
    uint64_t number = checker_number(at, bytes);

    switch (how % 9) {
    case 0:
        number = value;
        break;
    case 1:
        number += value % 256;
        break;
    case 2:
        number -= value % 256;
        break;
    case 3:
        number = limits[value % (sizeof limits / sizeof limits[0])];
        break;
    case 4:
        number ^= (uint64_t)1 << value % (8 * bytes);
        break;
    case 5: /* the number before it, plus a little */
        if (at >= f->index.bytes + bytes && at < f->index.bytes + f->index.size)
            number = checker_number(at - bytes, bytes) + value % 4;
        break;
    case 6: /* a number of the header, minus a little: tokens, documents, ... */
        if (f->index.size >= CHECKER_HEADER)
            number = checker_u64(f->index.bytes + 48 + 8 * (value % 7)) - value / 7 % 4;
        break;
    case 7: /* in starts: the first token of a page or a cell */
        number = (uint64_t)value % 128 * 1024;
        break;
    default:
        number = (uint64_t)value << 40;
    }
    checker_put(at, number, bytes);
}

static void change_entry(const struct files *f, uint8_t *entry, uint16_t where, unsigned how, uint32_t value)
{
    static const struct {
        uint8_t at, bytes;
    } fields[] = { { 0, 4 }, { 4, 4 }, { 8, 8 }, { 16, 8 }, { 24, 8 }, { 48, 8 }, { 56, 8 } };
    unsigned n = where % (sizeof fields / sizeof fields[0]);

    change_number(f, entry + fields[n].at, fields[n].bytes, how, value);
}

static void change_section(const struct files *f, const uint8_t *entry, unsigned bytes, uint16_t where, unsigned how,
                           uint32_t value)
{
    uint64_t size;
    uint8_t *section = changes_section(f, entry, &size);

    if (section && size >= bytes)
        change_number(f, section + where % (size / bytes) * bytes, bytes, how, value);
}

/* The header knows of the new size, if it is to. */
static void change_size(struct files *f, bool index, bool said, unsigned how, uint32_t value)
{
    struct file *file = index ? &f->index : &f->tokens;
    uint8_t number[8];

    checker_put(number, file->size, 8);
    change_number(f, number, 8, how % 3, value);
    if (checker_u64(number) > file->room)
        return;
    if (checker_u64(number) > file->size)
        memset(file->bytes + file->size, 0, (size_t)(checker_u64(number) - file->size));
    file->size = checker_u64(number);
    if (said && f->index.size >= CHECKER_HEADER)
        checker_put(f->index.bytes + (index ? 48 : 56), file->size, 8);
}

/* ---- Metadata ---- */

struct pair {
    uint8_t *at; /* its two sizes, then its key */
    uint64_t key, value;
};

/* Pair `which` of the metadata and the one after it; false: there are no two. */
static bool find_pairs(const struct files *f, unsigned which, struct pair found[2])
{
    uint64_t size = 0, at = 0;
    uint8_t *section = NULL;
    unsigned count = 0;

    for (uint32_t i = 0; i < CHECKER_SECTIONS && !section; i++) {
        const uint8_t *entry = changes_entry(f, i);

        if (entry && checker_u32(entry) == CHECKER_METADATA)
            section = changes_section(f, entry, &size);
    }
    while (section && size - at >= 16 && count < 2 + which % 16) {
        struct pair p = { section + at, checker_u64(section + at), checker_u64(section + at + 8) };

        if (p.key > size - at - 16 || p.value > size - at - 16 - p.key)
            break;
        found[0] = found[1];
        found[1] = p;
        at += 16 + p.key + p.value;
        count++;
    }
    return count >= 2;
}

static void swap(uint8_t *a, uint8_t *b, uint64_t bytes)
{
    for (uint64_t i = 0; i < bytes; i++) {
        uint8_t byte = a[i];

        a[i] = b[i];
        b[i] = byte;
    }
}

/* What sorted pairs of different keys, which fill their section, can lose one at a time. */
static void change_metadata(const struct files *f, unsigned which, unsigned how, uint32_t value)
{
    struct pair p[2] = { { NULL, 0, 0 } };
    const struct pair *one = &p[value & 1];
    uint64_t bytes;

    if (!find_pairs(f, which, p))
        return;
    bytes = p[0].key < p[1].key ? p[0].key : p[1].key;
    switch (how % 6) {
    case 0: /* both keys begin alike, or are the same */
        memcpy(p[1].at + 16, p[0].at + 16, (size_t)bytes);
        break;
    case 1:
        swap(p[0].at + 16, p[1].at + 16, bytes);
        break;
    case 2: /* a key ends earlier, and its value starts there */
        bytes = value / 2 % (one->key + 1);
        checker_put(one->at + 8, one->value + one->key - bytes, 8);
        checker_put(one->at, bytes, 8);
        break;
    case 3: /* the key is empty */
        checker_put(one->at + 8, one->value + one->key, 8);
        checker_put(one->at, 0, 8);
        break;
    case 4: /* the pairs end before the section does, or after it */
        change_number(f, p[1].at + 8, 8, 1 + value % 2, 1);
        break;
    default: /* first bytes that differ in their sign */
        if (bytes > 0) {
            p[0].at[16] = (uint8_t)value;
            p[1].at[16] = p[0].at[16] ^ 0x80;
        }
    }
}

void changes_make(struct files *f, struct fuzz_bytes *in)
{
    unsigned what = fuzz_u8(in), which = fuzz_u8(in), where = fuzz_u16(in), how = fuzz_u8(in);
    uint32_t value = fuzz_u16(in);
    uint8_t *entry = changes_entry(f, which);

    value |= (uint32_t)fuzz_u8(in) << 16;
    switch (what % 11) {
    case 1: /* a field of the header */
        if (f->index.size >= CHECKER_HEADER)
            change_number(f, f->index.bytes + 8 * (where % 20), 8, how, value);
        break;
    case 2: /* any byte of the index */
        if (f->index.size > 0)
            change_number(f, f->index.bytes + where % f->index.size, 1, how, value);
        break;
    case 3:
        if (entry)
            change_entry(f, entry, (uint16_t)where, how, value);
        break;
    case 4: /* a number in a section */
    case 5:
        change_section(f, entry, what % 11 == 4 ? 8 : 1, (uint16_t)where, how, value);
        break;
    case 6: /* two bytes of a token */
        if (f->tokens.size >= 2)
            change_number(f, f->tokens.bytes + 2 * (where % (f->tokens.size / 2)), 2, how, value);
        break;
    case 7:
    case 8:
        change_size(f, what % 11 == 7, which & 1, how, value);
        break;
    case 9: /* two fields of the header that are half as wide */
        if (f->index.size >= CHECKER_HEADER)
            change_number(f, f->index.bytes + (where & 1 ? 104 : 108), 4, how, value);
        break;
    case 10:
        change_metadata(f, where, how, value);
        break;
    default:
        break;
    }
}
