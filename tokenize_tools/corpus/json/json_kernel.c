/*
 * json_kernel.c: the kernels over JSON strings of one CPU level; compiled once for each.
 *
 * pass() and unescape() go by masks of 64 bytes where the target has them (byte_masks.h), and near the end or elsewhere
 * by blocks and words. In the masks of pass(), escapes of two characters cost no branch of their own. \u is taken
 * escape by escape (pass_escapes(), take_escapes()): a text without Latin letters that was escaped to ASCII has little
 * else, and a mask would stop at each. unescape() may work in place, and stores whole blocks only where no unread byte
 * lies under them.
 */
#include <stdbool.h>

#include "base/cpu.h"
#include "base/json_string.h"
#include "byte_block.h"
#include "byte_masks.h"
#include "json_kernels.h"

static inline bool is_plain(char c)
{
    return c != '"' && c != '\\' && (unsigned char)c >= 0x20;
}

/* Returns the first character at or after `p` that is not plain. */
static inline const char *find_special(const char *p, const char *end)
{
    uint64_t mask;

    for (; (size_t)(end - p) >= BLOCK_BYTES; p += BLOCK_BYTES)
        if ((mask = block_special(block_load(p))) != 0)
            return p + block_first(mask);
    for (; (size_t)(end - p) >= WORD_BYTES; p += WORD_BYTES)
        if ((mask = word_special(bytes_load64(p))) != 0)
            return p + word_first(mask);
    while (p < end && is_plain(*p))
        p++;
    return p;
}

/* Meaning of each letter after a backslash; LETTER_U for u, 0 for letters without a meaning. */
#define LETTER_U 1
static const char letters[256] = { ['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',    ['f'] = '\f',
                                   ['n'] = '\n', ['r'] = '\r',  ['t'] = '\t', ['u'] = LETTER_U };

/* A table that is 0 for hexadecimal digits. */
static const uint8_t no_digit[256] = {
#define NO_16 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1
    NO_16, NO_16, NO_16, 0, 0, 0, 0, 0, 0, 0, 0,     0,     0,     1,     1,     1,     1,     1,     1,    1, 0,
    0,     0,     0,     0, 0, 1, 1, 1, 1, 1, 1,     1,     1,     1,     NO_16, 1,     0,     0,     0,    0, 0,
    0,     1,     1,     1, 1, 1, 1, 1, 1, 1, NO_16, NO_16, NO_16, NO_16, NO_16, NO_16, NO_16, NO_16, NO_16
#undef NO_16
};

/* Returns the bytes of the escape at `p`, or 0 if it is invalid or cut off. */
static inline unsigned escape_bytes(const char *p, const char *end)
{
    const unsigned char *u = (const unsigned char *)p;

    if (end - p >= 6 && u[1] == 'u')
        return no_digit[u[2]] | no_digit[u[3]] | no_digit[u[4]] | no_digit[u[5]] ? 0 : 6;
    return end - p >= 2 && letters[u[1]] > LETTER_U ? 2 : 0;
}

/*
 * Passes over escapes, and the one or two characters between them: a text without Latin letters that was escaped to
 * ASCII has little else. `at` is a backslash. Returns false if it stopped at an escape that is invalid or cut off.
 */
static inline bool pass_escapes(const char **at, const char *end)
{
    const char *p = *at;
    unsigned bytes;

    for (;; p += bytes) {
        if (p < end && *p == '\\') {
            bytes = escape_bytes(p, end);
            if (bytes == 0)
                break;
        } else if (end - p >= 3 && is_plain(*p) && (p[1] == '\\' || (is_plain(p[1]) && p[2] == '\\'))) {
            bytes = p[1] == '\\' ? 1 : 2;
        } else {
            *at = p;
            return true;
        }
    }
    *at = p;
    return false;
}

#if defined(BYTE_MASKS)
/* Does the work of pass() in steps of sixty-four bytes: up to a place at which to stop, and then sets *stopped; or
 * until fewer bytes are left. Usual escapes cost no branch of their own. */
static inline const char *pass_masks(const char *at, const char *end, bool *escaped, bool *stopped)
{
    while (end - at >= (ptrdiff_t)MASK_BYTES) {
        struct byte_masks m = masks_load(at);
        uint64_t special = masks_special(&m), slashes, behind, stops, others;
        bool cut;

        if (special == 0) {
            at += MASK_BYTES;
            continue;
        }
        slashes = masks_equal(&m, '\\');
        behind = masks_escaped(slashes, &cut);
        stops = special & ~slashes & ~behind;
        others = behind & ~masks_letters(&m); /* \u, and invalid escapes */
        if ((stops | others) == 0) {
            *escaped = true;
            at += MASK_BYTES - cut;
            continue;
        }
        if ((stops & -stops) - 1 < (others & -others) - 1) { /* the lower of both places; without a bit, the number
                                                                is the greatest */
            unsigned first = (unsigned)__builtin_ctzll(stops);

            *escaped |= (slashes & ((UINT64_C(1) << first) - 1)) != 0;
            *stopped = true;
            return at + first;
        }
        *escaped = true;
        at += __builtin_ctzll(others) - 1;
        if (!pass_escapes(&at, end)) {
            *stopped = true;
            return at;
        }
    }
    return at;
}
#endif

static const char *pass(const char *at, const char *end, bool *escaped)
{
#if defined(BYTE_MASKS)
    bool stopped = false;

    at = pass_masks(at, end, escaped, &stopped);
    if (stopped)
        return at;
#endif
    for (;;) {
        const char *slash = at = find_special(at, end);

        if (at == end || *at != '\\')
            return at;
        if (!pass_escapes(&at, end)) {
            *escaped |= at != slash;
            return at;
        }
        *escaped = true;
    }
}

/* ---- Unescaping -------------------------------------------------------------------------------------------------- */

/* Unescapes the escape \u at *from, or two of them. *to has room for six bytes. */
static inline void take_code(char **to, const char **from, const char *end)
{
    uint32_t code = json_four_digits(*from + 2), two, three;

    if (code < 0x80 || (code >= 0xd800 && code <= 0xdfff)) {
        *to += utf8_encode((uint8_t *)*to, json_take_code(from, end));
        return;
    }
    /* Both forms, of two and of three bytes, are made without a branch, since alphabets mix and a branch would often
     * be guessed wrong. */
    two = 0x80c0 | code >> 6 | (code & 0x3f) << 8;
    three = 0x8080e0 | code >> 12 | (code >> 6 & 0x3f) << 8 | (code & 0x3f) << 16;
    bytes_store32(*to, code < 0x800 ? two : three);
    *to += code < 0x800 ? 2 : 3;
    *from += 6;
}

/* Unescapes the escapes that pass_escapes() skips. */
static inline void take_escapes(char **to, const char **from, const char *end)
{
    const char *p = *from;
    char *out = *to;

    for (;;) {
        if (p < end && *p == '\\') {
            if (p[1] == 'u') {
                take_code(&out, &p, end);
            } else {
                *out++ = letters[(unsigned char)p[1]];
                p += 2;
            }
        } else if (end - p >= 3 && (p[1] == '\\' || p[2] == '\\')) {
            *out++ = *p++;
            if (*p != '\\')
                *out++ = *p++;
        } else {
            break;
        }
    }
    *to = out;
    *from = p;
}

/*
 * Copies up to the next backslash or the end. A block with a backslash is stored whole if no unread byte lies under
 * it: `to` is a block or more before `from`, or in other memory. At the start of a string that is unescaped in place
 * this is not so, but each escape leaves `to` further behind.
 */
static inline void copy_plain(char **to, const char **from, const char *end)
{
    const char *p = *from;
    char *out = *to;
    uint64_t mask = 0;
    size_t count;

    while ((size_t)(end - p) >= BLOCK_BYTES && mask == 0) {
        byte_block b = block_load(p);

        mask = block_equal(b, '\\');
        count = mask ? block_first(mask) : BLOCK_BYTES;
        if (mask == 0 || (uintptr_t)p - (uintptr_t)out >= BLOCK_BYTES)
            block_store(out, b);
        else
            block_move(out, p, count);
        out += count;
        p += count;
    }
    while (mask == 0 && (size_t)(end - p) >= WORD_BYTES) {
        uint64_t word = bytes_load64(p);

        mask = word_equal(word, '\\');
        count = mask ? word_first(mask) : WORD_BYTES;
        if (mask == 0)
            bytes_store64(out, word);
        for (size_t i = 0; mask != 0 && i < count; i++)
            out[i] = p[i];
        out += count;
        p += count;
    }
    while (mask == 0 && p < end && *p != '\\')
        *out++ = *p++;
    *to = out;
    *from = p;
}

#if defined(BYTE_MASKS)
/* Copies `count` bytes, up to sixty-four. At least sixty-four bytes may be read, and up to a block more may be
 * stored. */
static inline void copy_segment(char *to, const char *from, size_t count)
{
    for (size_t i = 0; i < count; i += BLOCK_BYTES)
        block_store(to + i, block_load(from + i));
}

/* Unescapes in steps of sixty-four bytes, as long as `to` is that far before `from` or in other memory, and as many
 * more bytes are left. */
static inline void unescape_masks(char **to, const char **from, const char *end)
{
    const char *p = *from;
    char *out = *to;

    while (end - p >= (ptrdiff_t)(2 * MASK_BYTES) && (uintptr_t)p - (uintptr_t)out >= MASK_BYTES) {
        struct byte_masks m = masks_load(p);
        uint64_t slashes = masks_equal(&m, '\\'), begins;
        unsigned done = 0;
        bool cut;

        if (slashes == 0) {
            masks_store(out, &m);
            p += MASK_BYTES;
            out += MASK_BYTES;
            continue;
        }
        for (begins = slashes & ~masks_escaped(slashes, &cut); begins != 0; begins &= begins - 1) {
            unsigned at = (unsigned)__builtin_ctzll(begins);

            copy_segment(out, p + done, at - done);
            out += at - done;
            done = at;
            if (at == MASK_BYTES - 1 || p[at + 1] == 'u')
                break;
            *out++ = letters[(unsigned char)p[at + 1]];
            done += 2;
        }
        if (begins == 0) {
            copy_segment(out, p + done, MASK_BYTES - done);
            out += MASK_BYTES - done;
            done = MASK_BYTES;
        }
        p += done;
        if (begins != 0)
            take_escapes(&out, &p, end);
    }
    *to = out;
    *from = p;
}
#endif

static char *unescape(char *to, const char *from, const char *end)
{
    for (;;) {
#if defined(BYTE_MASKS)
        unescape_masks(&to, &from, end);
#endif
        copy_plain(&to, &from, end);
        if (from == end)
            return to;
        take_escapes(&to, &from, end);
    }
}

/* Counts newlines by sums of bytes, which the compiler adds by whole vectors; 255 of them fit a byte. */
static size_t count_newlines(const char *bytes, size_t count)
{
    size_t all = 0;

    while (count > 0) {
        uint8_t sums[64] = { 0 };
        size_t rounds = count / sizeof sums < 255 ? count / sizeof sums : 255;

        for (size_t r = 0; r < rounds; r++)
            for (size_t i = 0; i < sizeof sums; i++)
                sums[i] = (uint8_t)(sums[i] + (bytes[r * sizeof sums + i] == '\n'));
        for (size_t i = 0; i < sizeof sums; i++)
            all += sums[i];
        bytes += rounds * sizeof sums;
        count -= rounds * sizeof sums;
        for (; rounds == 0 && count > 0; count--)
            all += *bytes++ == '\n';
    }
    return all;
}

extern const struct json_kernels LEVEL_NAME(json_kernels);
const struct json_kernels LEVEL_NAME(json_kernels) = { LEVEL_TEXT, pass, unescape, count_newlines };
