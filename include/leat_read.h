/*
 * leat_read.h: reads datasets of leat without a library, in C99 or C++: a program copies this file and includes it. It
 * makes the checks of FORMAT.md, chapter 6, when a dataset is opened, finds documents, and compares each page of tokens
 * and of the mask with its hash before it gives anything of it. libleat is faster and does more: this is for programs
 * that want no dependency. It needs POSIX: open(), fstat(), mmap().
 *
 *     struct leat_read r;
 *     if (leat_read_open(&r, "corpus") != 0) { fprintf(stderr, "%s\n", r.error); exit(1); }
 *     for (d = 0; d < r.documents; d++)
 *         if (leat_read_document(&r, d, &first, &count) == 0 && leat_read_tokens(&r, first, count, ids) == 0)
 *             use(ids, count);
 *     leat_read_close(&r);
 *
 * A function that can fail returns 0, or -1 with a sentence in r.error and a word in r.status, which is the name that
 * libleat's leat_status_name() gives. A struct belongs to one thread at a time. A file that another process cuts off
 * while it is mapped ends the program with SIGBUS.
 *
 * Sections that have no function here, such as ids and origins, are in r.section: FORMAT.md says what they hold, and
 * what of it a reader must not trust. Only `leat verify` compares them with their sums.
 */
#ifndef LEAT_READ_H
#define LEAT_READ_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define LEAT_READ_NONE UINT64_MAX /* no value: no end token, no line, no input */

#define LEAT_READ_PAGE UINT64_C(4096)
#define LEAT_READ_CELL UINT64_C(65536)
#define LEAT_READ_KINDS 17

/* The kinds of sections; chapter 4 of FORMAT.md says what they hold. */
enum leat_read_kind {
    LEAT_READ_DOCUMENTS = 1, LEAT_READ_DIRECTORY, LEAT_READ_PAGES, LEAT_READ_INPUTS, LEAT_READ_INPUT_PATHS,
    LEAT_READ_ORIGINS, LEAT_READ_LINES, LEAT_READ_ID_ENDS, LEAT_READ_IDS, LEAT_READ_TOKENIZER, LEAT_READ_METADATA,
    LEAT_READ_TEXT_HASHES = 13, LEAT_READ_TOKEN_FILE, LEAT_READ_MASK, LEAT_READ_MASK_PAGES
};

struct leat_read_section {
    const unsigned char *bytes, *sum; /* NULL if the dataset has no such section */
    uint64_t size, entries;
};

struct leat_read {
    uint64_t tokens, documents, vocabulary, end_token, begin_token; /* LEAT_READ_NONE: no such token */
    uint32_t width;                                                 /* bytes per token: 2 or 4 */
    unsigned char identity[16], fingerprint[16];
    struct leat_read_section section[LEAT_READ_KINDS]; /* by kind */
    const unsigned char *token_bytes, *mask;           /* mask: NULL if the dataset has none */
    uint64_t token_size;
    const char *status; /* the last error, in a word and in a sentence */
    char error[512];
    /* this reader's own */
    unsigned char *index, *token_map, *seen; /* seen: a bit for each page of tokens, then of the mask */
    uint64_t index_size, token_map_size;
};

/* ---- XXH3-128 of xxHash, with seed 0 and the default secret ---------------------------------------------------- */

struct leat_read_hash {
    uint64_t low, high;
};

static const unsigned char leat_read_secret[192] = {
    0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c, 0xde, 0xd4, 0x6d,
    0xe9, 0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f, 0xcb, 0x79, 0xe6, 0x4e, 0xcc, 0xc0,
    0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21, 0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0,
    0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c, 0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb, 0x88, 0xd0, 0x65, 0x8b,
    0x1b, 0x53, 0x2e, 0xa3, 0x71, 0x64, 0x48, 0x97, 0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19, 0xef, 0x46, 0xa9, 0xde, 0xac,
    0xd8, 0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7, 0xc7, 0x0b, 0x4f, 0x1d, 0x8a, 0x51,
    0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31, 0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64, 0xea, 0xc5, 0xac, 0x83, 0x34,
    0xd3, 0xeb, 0xc3, 0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb, 0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49,
    0xd3, 0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e, 0x2b, 0x16, 0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc, 0x8f, 0xf8, 0xb8,
    0xd1, 0x7a, 0xd0, 0x31, 0xce, 0x45, 0xcb, 0x3a, 0x8f, 0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb, 0xca, 0xbb, 0x4b,
    0x40, 0x7e,
};

#define LEAT_READ_P1 UINT64_C(0x9E3779B185EBCA87)
#define LEAT_READ_P2 UINT64_C(0xC2B2AE3D27D4EB4F)
#define LEAT_READ_P3 UINT64_C(0x165667B19E3779F9)
#define LEAT_READ_P4 UINT64_C(0x85EBCA77C2B2AE63)
#define LEAT_READ_P5 UINT64_C(0x27D4EB2F165667C5)
#define LEAT_READ_Q1 UINT64_C(0x9E3779B1)
#define LEAT_READ_Q2 UINT64_C(0x85EBCA77)
#define LEAT_READ_Q3 UINT64_C(0xC2B2AE3D)

static inline uint32_t leat_read_u32(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t leat_read_u64(const unsigned char *p)
{
    return leat_read_u32(p) | (uint64_t)leat_read_u32(p + 4) << 32;
}

static inline uint64_t leat_read_swap32(uint64_t n)
{
    return (n << 24 & 0xff000000) | (n << 8 & 0xff0000) | (n >> 8 & 0xff00) | (n >> 24 & 0xff);
}

/* Multiplies two numbers to one of 128 bits. */
static inline struct leat_read_hash leat_read_multiply(uint64_t a, uint64_t b)
{
    uint64_t low = (a & UINT32_MAX) * (b & UINT32_MAX), one = (a >> 32) * (b & UINT32_MAX);
    uint64_t other = (a & UINT32_MAX) * (b >> 32), high = (a >> 32) * (b >> 32);
    uint64_t middle = (low >> 32) + (one & UINT32_MAX) + other;
    struct leat_read_hash product;

    product.low = middle << 32 | (low & UINT32_MAX);
    product.high = (one >> 32) + (middle >> 32) + high;
    return product;
}

static inline uint64_t leat_read_fold(uint64_t a, uint64_t b)
{
    struct leat_read_hash product = leat_read_multiply(a, b);

    return product.low ^ product.high;
}

static inline uint64_t leat_read_avalanche(uint64_t h)
{
    h = (h ^ h >> 37) * UINT64_C(0x165667919E3779F9);
    return h ^ h >> 32;
}

static inline uint64_t leat_read_avalanche64(uint64_t h)
{
    h = (h ^ h >> 33) * LEAT_READ_P2;
    h = (h ^ h >> 29) * LEAT_READ_P3;
    return h ^ h >> 32;
}

/* Hashes at most 16 bytes. */
static inline struct leat_read_hash leat_read_hash16(const unsigned char *p, uint64_t size)
{
    const unsigned char *s = leat_read_secret;
    struct leat_read_hash h, m;

    if (size > 8) {
        uint64_t first = leat_read_u64(p), last = leat_read_u64(p + size - 8);

        m = leat_read_multiply(first ^ last ^ leat_read_u64(s + 32) ^ leat_read_u64(s + 40), LEAT_READ_P1);
        m.low += (size - 1) << 54;
        last ^= leat_read_u64(s + 48) ^ leat_read_u64(s + 56);
        m.high += last + (last & UINT32_MAX) * (LEAT_READ_Q2 - 1);
        m.low ^= leat_read_swap32(m.high) << 32 | leat_read_swap32(m.high >> 32);
        h = leat_read_multiply(m.low, LEAT_READ_P2);
        h.high += m.high * LEAT_READ_P2;
        h.low = leat_read_avalanche(h.low);
        h.high = leat_read_avalanche(h.high);
    } else if (size >= 4) {
        uint64_t both = leat_read_u32(p) | (uint64_t)leat_read_u32(p + size - 4) << 32;

        h = leat_read_multiply(both ^ leat_read_u64(s + 16) ^ leat_read_u64(s + 24), LEAT_READ_P1 + (size << 2));
        h.high += h.low << 1;
        h.low ^= h.high >> 3;
        h.low = (h.low ^ h.low >> 35) * UINT64_C(0x9FB21C651E98DF25);
        h.low ^= h.low >> 28;
        h.high = leat_read_avalanche(h.high);
    } else if (size > 0) {
        uint32_t all = (uint32_t)p[0] << 16 | (uint32_t)p[size >> 1] << 24 | p[size - 1] | (uint32_t)size << 8;
        uint32_t turned = (uint32_t)leat_read_swap32(all);

        turned = turned << 13 | turned >> 19;
        h.low = leat_read_avalanche64(all ^ leat_read_u32(s) ^ leat_read_u32(s + 4));
        h.high = leat_read_avalanche64(turned ^ leat_read_u32(s + 8) ^ leat_read_u32(s + 12));
    } else {
        h.low = leat_read_avalanche64(leat_read_u64(s + 64) ^ leat_read_u64(s + 72));
        h.high = leat_read_avalanche64(leat_read_u64(s + 80) ^ leat_read_u64(s + 88));
    }
    return h;
}

static inline void leat_read_mix32(struct leat_read_hash *h, const unsigned char *a, const unsigned char *b,
                            const unsigned char *s)
{
    uint64_t a0 = leat_read_u64(a), a1 = leat_read_u64(a + 8), b0 = leat_read_u64(b), b1 = leat_read_u64(b + 8);

    h->low = (h->low + leat_read_fold(a0 ^ leat_read_u64(s), a1 ^ leat_read_u64(s + 8))) ^ (b0 + b1);
    h->high = (h->high + leat_read_fold(b0 ^ leat_read_u64(s + 16), b1 ^ leat_read_u64(s + 24))) ^ (a0 + a1);
}

/* Hashes 17 to 240 bytes. */
static inline struct leat_read_hash leat_read_hash240(const unsigned char *p, uint64_t size)
{
    struct leat_read_hash h, mixed;
    uint64_t i;

    mixed.low = size * LEAT_READ_P1;
    mixed.high = 0;
    if (size <= 128) {
        for (i = (size - 1) / 32 + 1; i-- > 0;)
            leat_read_mix32(&mixed, p + 16 * i, p + size - 16 * (i + 1), leat_read_secret + 32 * i);
    } else {
        for (i = 32; i < 160; i += 32)
            leat_read_mix32(&mixed, p + i - 32, p + i - 16, leat_read_secret + i - 32);
        mixed.low = leat_read_avalanche(mixed.low);
        mixed.high = leat_read_avalanche(mixed.high);
        for (; i <= size; i += 32)
            leat_read_mix32(&mixed, p + i - 32, p + i - 16, leat_read_secret + 3 + i - 160);
        leat_read_mix32(&mixed, p + size - 16, p + size - 32, leat_read_secret + 103);
    }
    h.low = leat_read_avalanche(mixed.low + mixed.high);
    h.high = mixed.low * LEAT_READ_P1 + mixed.high * LEAT_READ_P4 + size * LEAT_READ_P2;
    h.high = UINT64_C(0) - leat_read_avalanche(h.high);
    return h;
}

static inline void leat_read_stripe(uint64_t state[8], const unsigned char *p, const unsigned char *s)
{
    for (int i = 0; i < 8; i++) {
        uint64_t n = leat_read_u64(p + 8 * i), keyed = n ^ leat_read_u64(s + 8 * i);

        state[i ^ 1] += n;
        state[i] += (keyed & UINT32_MAX) * (keyed >> 32);
    }
}

static inline uint64_t leat_read_merge(const uint64_t state[8], const unsigned char *s, uint64_t h)
{
    for (int i = 0; i < 4; i++)
        h += leat_read_fold(state[2 * i] ^ leat_read_u64(s + 16 * i), state[2 * i + 1] ^ leat_read_u64(s + 16 * i + 8));
    return leat_read_avalanche(h);
}

static inline struct leat_read_hash leat_read_hash(const unsigned char *p, uint64_t size)
{
    uint64_t state[8] = { LEAT_READ_Q3, LEAT_READ_P1, LEAT_READ_P2, LEAT_READ_P3,
                          LEAT_READ_P4, LEAT_READ_Q2, LEAT_READ_P5, LEAT_READ_Q1 };
    struct leat_read_hash h;

    if (size <= 16)
        return leat_read_hash16(p, size);
    if (size <= 240)
        return leat_read_hash240(p, size);
    for (uint64_t stripe = 0; stripe < (size - 1) / 64; stripe++) {
        leat_read_stripe(state, p + 64 * stripe, leat_read_secret + 8 * (stripe % 16));
        if (stripe % 16 == 15)
            for (int i = 0; i < 8; i++)
                state[i] = (state[i] ^ state[i] >> 47 ^ leat_read_u64(leat_read_secret + 128 + 8 * i)) * LEAT_READ_Q1;
    }
    leat_read_stripe(state, p + size - 64, leat_read_secret + 121);
    h.low = leat_read_merge(state, leat_read_secret + 11, size * LEAT_READ_P1);
    h.high = leat_read_merge(state, leat_read_secret + 117, ~(size * LEAT_READ_P2));
    return h;
}

/* ---- Opening --------------------------------------------------------------------------------------------------- */

static inline int leat_read_fail(struct leat_read *r, const char *status, const char *what, const char *name)
{
    r->status = status;
    snprintf(r->error, sizeof r->error, "%.400s: %.100s", name, what);
    return -1;
}

/* Maps a file, which may be empty: then *map is NULL. */
static inline int leat_read_map(struct leat_read *r, const char *path, unsigned char **map, uint64_t *size)
{
    int fd = open(path, O_RDONLY);
    struct stat info;
    void *at = NULL;

    if (fd < 0)
        return leat_read_fail(r, errno == ENOENT ? "no-file" : "io", strerror(errno), path);
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || (uint64_t)info.st_size > SIZE_MAX / 2)
        at = MAP_FAILED;
    else if (info.st_size > 0)
        at = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (at == MAP_FAILED)
        return leat_read_fail(r, "io", "it is no file that can be mapped", path);
    *map = (unsigned char *)at;
    *size = (uint64_t)info.st_size;
    return 0;
}

static inline int leat_read_zeros(const unsigned char *p, uint64_t size)
{
    while (size > 0 && p[size - 1] == 0)
        size--;
    return size == 0;
}

/* Checks each field of the header, and takes what readers need. */
static inline int leat_read_header(struct leat_read *r, const char *name)
{
    const unsigned char *p = r->index;
    struct leat_read_hash h;
    uint64_t ends;

    if (r->index_size < 8 || memcmp(p, "leat\r\n\x1a\n", 8) != 0)
        return leat_read_fail(r, "not-leat", "it is not a leat index", name);
    if (r->index_size < LEAT_READ_PAGE)
        return leat_read_fail(r, "truncated", "it ends inside its header", name);
    h = leat_read_hash(p, 4080);
    if (h.low != leat_read_u64(p + 4080) || h.high != leat_read_u64(p + 4088))
        return leat_read_fail(r, "checksum", "its header is damaged", name);
    if (leat_read_u32(p + 8) != 1)
        return leat_read_fail(r, "version", "it has a format version that this reader does not know", name);
    if (leat_read_u64(p + 16) > 1)
        return leat_read_fail(r, "feature", "it needs a feature that this reader does not know", name);
    memcpy(r->identity, p + 32, 16);
    memcpy(r->fingerprint, p + 112, 16);
    r->token_size = leat_read_u64(p + 56);
    r->tokens = leat_read_u64(p + 64);
    r->documents = leat_read_u64(p + 72);
    r->vocabulary = leat_read_u64(p + 80);
    r->end_token = leat_read_u64(p + 88);
    r->begin_token = leat_read_u64(p + 96);
    r->width = leat_read_u32(p + 104);
    ends = (uint64_t)(r->end_token != LEAT_READ_NONE) + (r->begin_token != LEAT_READ_NONE);
    if (leat_read_u32(p + 12) != LEAT_READ_PAGE || leat_read_u64(p + 48) >> 62 > 0 || r->token_size >> 62 > 0 ||
        r->vocabulary == 0 || r->vocabulary > (uint64_t)1 << 32 || (r->width != 2 && r->width != 4) ||
        (r->width == 2 ? r->vocabulary > 65536 : r->vocabulary <= 65536 && !(p[16] & 1)) ||
        r->tokens > r->token_size || r->tokens * r->width != r->token_size ||
        (r->end_token != LEAT_READ_NONE && r->end_token >= r->vocabulary) ||
        (r->begin_token != LEAT_READ_NONE && r->begin_token >= r->vocabulary) ||
        r->documents > (uint64_t)1 << 59 || (r->documents * ends > r->tokens && !(p[16] & 1)) ||
        (r->documents == 0 && r->tokens > 0) || leat_read_u32(p + 108) > 55 || !leat_read_zeros(p + 152, 360) ||
        !leat_read_zeros(p + 4032, 48))
        return leat_read_fail(r, "header", "a field of its header is invalid", name);
    if (leat_read_u64(p + 48) != r->index_size)
        return leat_read_fail(r, "truncated", "it is not as long as its header says", name);
    return 0;
}

static inline uint64_t leat_read_parts(uint64_t size, uint64_t part)
{
    return size / part + (size % part > 0);
}

/* Returns true if a section has as many entries as its kind wants, and as many bytes as its entries take. */
static inline int leat_read_fits(const struct leat_read *r, uint32_t kind, uint64_t size, uint64_t entries)
{
    const unsigned char bytes[LEAT_READ_KINDS] = { 0, 8, 8, 4, 64, 1, 16, 8, 8, 1, 0, 0, 0, 16, 0, 1, 4 };
    const uint64_t any = entries, all = r->documents;
    const uint64_t wanted[LEAT_READ_KINDS] = {
        0, all + 1, leat_read_parts(r->token_size, LEAT_READ_CELL), leat_read_parts(r->token_size, LEAT_READ_PAGE),
        any, any, all, all, all, any, 1, any, 0, all, 1, r->tokens, leat_read_parts(r->tokens, LEAT_READ_PAGE),
    };

    if (entries != wanted[kind] || (bytes[kind] > 0 && (entries > size || size != entries * bytes[kind])))
        return 0;
    return kind != LEAT_READ_TOKEN_FILE || (size > 8 && size <= 4104);
}

static inline int leat_read_sections(struct leat_read *r, const char *name)
{
    uint32_t count = leat_read_u32(r->index + 108), last = 0, i;
    uint64_t end = LEAT_READ_PAGE;

    for (i = 0; i < count; i++) {
        const unsigned char *p = r->index + 512 + 64 * i;
        uint32_t kind = leat_read_u32(p), flags = leat_read_u32(p + 4);
        uint64_t offset = leat_read_u64(p + 8), size = leat_read_u64(p + 16), entries = leat_read_u64(p + 24);
        int known = (kind >= 1 && kind <= 11) || (kind == 14 && (r->index[16] & 1)) ||
                    (kind >= 13 && kind < LEAT_READ_KINDS && kind != 14);

        if (kind == 0 || kind < last || (known && kind == last) || offset != (end + 63) / 64 * 64 ||
            offset > r->index_size || size > r->index_size - offset || !leat_read_zeros(p + 48, 16))
            return leat_read_fail(r, "section", "its section table is invalid", name);
        if (!known && (flags & 1))
            return leat_read_fail(r, "feature", "it has a section that this reader does not know", name);
        if (known && (flags > (kind == LEAT_READ_ORIGINS ? 3U : 1U) || !leat_read_fits(r, kind, size, entries)))
            return leat_read_fail(r, "section", "a section has another size than the header wants", name);
        if (known) {
            r->section[kind].bytes = r->index + offset;
            r->section[kind].sum = p + 32;
            r->section[kind].size = size;
            r->section[kind].entries = entries;
        }
        last = kind;
        end = offset + size;
    }
    if (end != r->index_size || !leat_read_zeros(r->index + 512 + 64 * count, 3520 - 64 * (uint64_t)count))
        return leat_read_fail(r, "header", "its last section is not the end of the index", name);
    for (i = LEAT_READ_DOCUMENTS; i <= LEAT_READ_ORIGINS && r->section[i].bytes; i++)
        continue;
    if (i <= LEAT_READ_ORIGINS || !r->section[LEAT_READ_IDS].bytes != !r->section[LEAT_READ_ID_ENDS].bytes ||
        !r->section[LEAT_READ_MASK].bytes != !r->section[LEAT_READ_MASK_PAGES].bytes ||
        ((r->index[16] & 1) && !r->section[LEAT_READ_TOKEN_FILE].bytes))
        return leat_read_fail(r, "section", "a section is missing", name);
    r->mask = r->section[LEAT_READ_MASK].bytes;
    return 0;
}

/* Maps the tokens: NAME.tokens, or the file that the index names, relative to the folder of the index. */
static inline int leat_read_token_file(struct leat_read *r, const char *name, char *path, size_t room)
{
    const struct leat_read_section *s = &r->section[LEAT_READ_TOKEN_FILE];
    const char *slash = strrchr(name, '/');
    uint64_t begin = 0;

    if (!s->bytes) {
        snprintf(path, room, "%s.tokens", name);
    } else {
        int length = (int)(s->size - 8), folder = s->bytes[8] == '/' || !slash ? 0 : (int)(slash - name) + 1;

        if (memchr(s->bytes + 8, 0, (size_t)length))
            return leat_read_fail(r, "record", "the path of its token file has a zero byte", name);
        begin = leat_read_u64(s->bytes);
        snprintf(path, room, "%.*s%.*s", folder, name, length, (const char *)s->bytes + 8);
    }
    if (leat_read_map(r, path, &r->token_map, &r->token_map_size) != 0)
        return -1;
    if (s->bytes ? begin > r->token_map_size || r->token_size > r->token_map_size - begin
                 : r->token_size != r->token_map_size)
        return leat_read_fail(r, "truncated", "it is not as long as its index says", path);
    r->token_bytes = r->token_size > 0 ? r->token_map + begin : NULL;
    return 0;
}

static inline int leat_read_identity(struct leat_read *r, const char *name)
{
    const struct leat_read_section *s = &r->section[LEAT_READ_DOCUMENTS];
    unsigned char all[112] = { 0 };
    struct leat_read_hash h;

    memcpy(all, r->index + 64, 40);
    all[40] = (unsigned char)r->width;
    memcpy(all + 48, r->fingerprint, 16);
    memcpy(all + 64, r->index + 128, 16);
    memcpy(all + 80, s->sum, 16);
    if (r->mask)
        memcpy(all + 96, r->section[LEAT_READ_MASK].sum, 16);
    h = leat_read_hash(all, r->mask ? 112 : 96);
    if (h.low != leat_read_u64(r->identity) || h.high != leat_read_u64(r->identity + 8))
        return leat_read_fail(r, "header", "its identity does not match its content", name);
    if (leat_read_u64(s->bytes) != 0 || leat_read_u64(s->bytes + 8 * r->documents) != r->tokens)
        return leat_read_fail(r, "documents", "its documents do not begin and end with the tokens", name);
    return 0;
}

/* Compares a page of the tokens or of the mask with its hash, once. */
static inline int leat_read_page(struct leat_read *r, uint64_t page, int of_mask)
{
    uint64_t size = of_mask ? r->tokens : r->token_size, begin = page * LEAT_READ_PAGE;
    uint64_t bit = page + (of_mask ? r->section[LEAT_READ_PAGES].entries : 0);
    const unsigned char *bytes = (of_mask ? r->mask : r->token_bytes) + begin;
    const unsigned char *hash = r->section[of_mask ? LEAT_READ_MASK_PAGES : LEAT_READ_PAGES].bytes + 4 * page;
    char what[96];

    if (r->seen[bit / 8] >> bit % 8 & 1)
        return 0;
    size = size - begin < LEAT_READ_PAGE ? size - begin : LEAT_READ_PAGE;
    if ((uint32_t)leat_read_hash(bytes, size).low != leat_read_u32(hash)) {
        snprintf(what, sizeof what, "page %llu does not match its hash: it is damaged", (unsigned long long)page);
        return leat_read_fail(r, "checksum", what, of_mask ? "the mask" : "the tokens");
    }
    r->seen[bit / 8] |= (unsigned char)(1 << bit % 8);
    return 0;
}

static inline void leat_read_close(struct leat_read *r)
{
    if (r->index)
        munmap(r->index, (size_t)r->index_size);
    if (r->token_map)
        munmap(r->token_map, (size_t)r->token_map_size);
    free(r->seen);
    r->index = r->token_map = r->seen = NULL;
}

static inline int leat_read_open_files(struct leat_read *r, const char *name, char *path, size_t room)
{
    uint64_t pages;

    snprintf(path, room, "%s.leat", name);
    if (leat_read_map(r, path, &r->index, &r->index_size) != 0 || leat_read_header(r, path) != 0 ||
        leat_read_sections(r, path) != 0 || leat_read_identity(r, path) != 0 ||
        leat_read_token_file(r, name, path, room) != 0)
        return -1;
    pages = r->section[LEAT_READ_PAGES].entries;
    r->seen = (unsigned char *)calloc((size_t)((pages + r->section[LEAT_READ_MASK_PAGES].entries) / 8 + 1), 1);
    if (!r->seen)
        return leat_read_fail(r, "no-memory", "there is no memory for a bit for each of its pages", name);
    if (pages > 0 && (leat_read_page(r, 0, 0) != 0 || leat_read_page(r, pages - 1, 0) != 0))
        return leat_read_fail(r, "mismatch", "the first or last page of its tokens does not match the index", name);
    return 0;
}

/* Opens the dataset NAME: the files NAME.leat and NAME.tokens. On failure nothing is left to be closed. */
static inline int leat_read_open(struct leat_read *r, const char *name)
{
    size_t room = strlen(name) + 4096 + 16;
    char *path = (char *)malloc(room);
    int failed;

    memset(r, 0, sizeof *r);
    failed = path ? leat_read_open_files(r, name, path, room)
                  : leat_read_fail(r, "no-memory", "there is no memory for its path", name);
    free(path);
    if (failed)
        leat_read_close(r);
    return failed;
}

/* ---- Reading --------------------------------------------------------------------------------------------------- */

/* Says where a document's tokens begin, and how many there are. */
static inline int leat_read_document(struct leat_read *r, uint64_t document, uint64_t *first, uint64_t *count)
{
    const unsigned char *start = r->section[LEAT_READ_DOCUMENTS].bytes;
    uint64_t end;

    if (document >= r->documents)
        return leat_read_fail(r, "range", "there is no such document", "the dataset");
    *first = leat_read_u64(start + 8 * document);
    end = leat_read_u64(start + 8 * document + 8);
    if (*first > end || end > r->tokens)
        return leat_read_fail(r, "documents", "a document ends before it begins, or beyond the tokens", "the dataset");
    *count = end - *first;
    return 0;
}

/* Finds the document that a token belongs to. */
static inline int leat_read_document_at(struct leat_read *r, uint64_t token, uint64_t *document)
{
    const struct leat_read_section *cells = &r->section[LEAT_READ_DIRECTORY];
    uint64_t cell, low, high, first, count;

    if (token >= r->tokens)
        return leat_read_fail(r, "range", "there is no such token", "the dataset");
    cell = token * r->width / LEAT_READ_CELL;
    low = leat_read_u64(cells->bytes + 8 * cell);
    high = cell + 1 < cells->entries ? leat_read_u64(cells->bytes + 8 * cell + 8) : r->documents;
    low -= low > 0;
    if (low >= high || high > r->documents)
        return leat_read_fail(r, "documents", "its directory is invalid", "the dataset");
    while (high - low > 1) { /* document low begins at the token or before it, document high after it */
        uint64_t middle = low + (high - low) / 2;

        if (leat_read_u64(r->section[LEAT_READ_DOCUMENTS].bytes + 8 * middle) <= token)
            low = middle;
        else
            high = middle;
    }
    *document = low;
    if (leat_read_document(r, low, &first, &count) != 0)
        return -1;
    if (token < first || token - first >= count)
        return leat_read_fail(r, "documents", "its directory is invalid", "the dataset");
    return 0;
}

/* Compares the pages of tokens, or of their bytes in the mask, with their hashes. */
static inline int leat_read_check(struct leat_read *r, uint64_t first, uint64_t count, int of_mask)
{
    uint64_t width = of_mask ? 1 : r->width, page;

    if (first > r->tokens || count > r->tokens - first)
        return leat_read_fail(r, "range", "there are no such tokens", "the dataset");
    for (page = first * width / LEAT_READ_PAGE; page * LEAT_READ_PAGE < (first + count) * width; page++)
        if (leat_read_page(r, page, of_mask) != 0)
            return -1;
    return 0;
}

/* Copies tokens, of whose pages each is compared with its hash when it is first read. */
static inline int leat_read_tokens(struct leat_read *r, uint64_t first, uint64_t count, uint32_t *out)
{
    if (leat_read_check(r, first, count, 0) != 0)
        return -1;
    for (uint64_t i = 0; i < count; i++) {
        const unsigned char *p = r->token_bytes + (first + i) * r->width;

        out[i] = r->width == 2 ? (uint32_t)(p[0] | p[1] << 8) : leat_read_u32(p);
        if (out[i] >= r->vocabulary)
            return leat_read_fail(r, "token", "a token is not below the vocabulary size", "the dataset");
    }
    return 0;
}

/* Copies the mask's bytes of tokens: 0 for one that is not learned, else its weight in 255ths. Without a mask, each
 * token has 255. */
static inline int leat_read_weights(struct leat_read *r, uint64_t first, uint64_t count, unsigned char *out)
{
    if (leat_read_check(r, first, count, r->mask ? 1 : 0) != 0)
        return -1;
    if (!r->mask)
        memset(out, 255, (size_t)count);
    else if (count > 0)
        memcpy(out, r->mask + first, (size_t)count);
    return 0;
}

#endif
