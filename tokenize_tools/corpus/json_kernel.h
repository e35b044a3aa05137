/*
 * json_kernel.h: the body of one CPU level's kernels over JSON strings. Included once by each json_kernels_<level>.c,
 * which is compiled for that level and defines JSON_ROW, the name of the row.
 */
#include <stdbool.h>

#include "byte_block.h"
#include "json_kernels.h"
#include "json_string.h"

/* The first quote, backslash or control character at or after `p`. */
static inline const char *find_special(const char *p, const char *end)
{
    uint64_t mask;

    for (; (size_t)(end - p) >= BLOCK_BYTES; p += BLOCK_BYTES)
        if ((mask = block_special(block_load(p))) != 0)
            return p + block_first(mask);
    for (; (size_t)(end - p) >= WORD_BYTES; p += WORD_BYTES)
        if ((mask = word_special(bytes_load64(p))) != 0)
            return p + word_first(mask);
    while (p < end && *p != '"' && *p != '\\' && (unsigned char)*p >= 0x20)
        p++;
    return p;
}

/* Bytes of the escape at `p`; 0 if it is invalid or cut off. */
static inline unsigned escape_bytes(const char *p, const char *end)
{
    if (end - p >= 2 && json_escape_meaning(p[1]))
        return 2;
    if (end - p >= 6 && p[1] == 'u' && json_is_hex(p[2]) && json_is_hex(p[3]) && json_is_hex(p[4]) && json_is_hex(p[5]))
        return 6;
    return 0;
}

static const char *pass(const char *at, const char *end, bool *escaped)
{
    for (;;) {
        at = find_special(at, end);
        if (at == end || *at != '\\')
            return at;
        /* escapes stand next to each other where a text has no Latin letters */
        do {
            unsigned bytes = escape_bytes(at, end);

            if (bytes == 0)
                return at;
            *escaped = true;
            at += bytes;
        } while (at < end && *at == '\\');
    }
}

/*
 * Copies up to the next backslash or the end. A block is stored whole where nothing unread lies under it: `to` is a
 * block or more behind, or elsewhere. Else, at the begin of a string that is unescaped in place, byte by byte: each
 * escape leaves `to` further behind.
 */
static inline void copy_plain(char **to, const char **from, const char *end)
{
    const char *p = *from;
    char *out = *to;
    uint64_t mask;

    while ((size_t)(end - p) >= BLOCK_BYTES) {
        byte_block b = block_load(p);

        mask = block_equal(b, '\\');
        if (mask != 0 && (uintptr_t)p - (uintptr_t)out < BLOCK_BYTES)
            break;
        block_store(out, b);
        out += mask ? block_first(mask) : BLOCK_BYTES;
        p += mask ? block_first(mask) : BLOCK_BYTES;
        if (mask) {
            *to = out;
            *from = p;
            return;
        }
    }
    while (p < end && *p != '\\')
        *out++ = *p++;
    *to = out;
    *from = p;
}

static char *unescape(char *to, const char *from, const char *end)
{
    for (;;) {
        copy_plain(&to, &from, end);
        if (from == end)
            return to;
        do {
            if (from[1] == 'u') {
                to += json_put_utf8(json_take_code(&from, end), to);
            } else {
                *to++ = json_escape_meaning(from[1]);
                from += 2;
            }
        } while (from < end && *from == '\\');
    }
}

/* Sums of bytes, which the compiler adds by whole vectors; 255 of them fit. */
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

extern const struct json_kernels JSON_ROW;
const struct json_kernels JSON_ROW = { JSON_NAME, pass, unescape, count_newlines };
