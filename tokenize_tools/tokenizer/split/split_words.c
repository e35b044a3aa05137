/*
 * split_words.c: finds words. 64 bytes at a time become masks of white space, marks and letters. Characters beyond
 * ASCII are looked up one by one, and all bytes of a character get its bits. A word ends before a byte that begins a
 * character, after a mark, and after a letter that is followed by something else.
 */
#include "split_words.h"

#include <string.h>

#include "base/cpu.h"
#include "tokenizer/spec/spec.h"
#include "tokenizer/unicode/unicode.h"

extern const struct split_words_kernel split_words_kernel_words;
#if defined(__x86_64__)
extern const struct split_words_kernel split_words_kernel_avx2, split_words_kernel_avx512;
#elif defined(__aarch64__) && defined(__ARM_NEON)
extern const struct split_words_kernel split_words_kernel_neon;
#endif

static const struct cpu_row rows[] = {
#if defined(__x86_64__)
    { CPU_AVX512, &split_words_kernel_avx512 },
    { CPU_AVX2, &split_words_kernel_avx2 },
#elif defined(__aarch64__) && defined(__ARM_NEON)
    { CPU_PLAIN, &split_words_kernel_neon },
#endif
    { CPU_PLAIN, &split_words_kernel_words },
};

const struct split_words_kernel *split_words_block(void)
{
    return cpu_choose(rows);
}

/* The state between two blocks: the rest of a character that began in the block before, and its last character. */
struct carried {
    uint64_t spaces, marks;
    uint64_t mark, letter; /* 0 or 1 */
};

/* Adds characters beyond ASCII, and the bytes of one that began in the block before. */
static inline void add_others(struct split_words_block *b, const uint8_t *text, bool punctuation, struct carried *c)
{
    uint64_t spaces = b->spaces | c->spaces, marks = b->marks | c->marks;
    const struct char_test_table table = char_test_table;
    const uint8_t wanted = punctuation ? CHAR_WHITESPACE | CHAR_PUNCTUATION : CHAR_WHITESPACE;

    c->spaces = c->marks = 0;
    for (uint64_t leads = b->leads; leads; leads &= leads - 1) {
        unsigned i = (unsigned)__builtin_ctzll(leads);
        size_t length;
        uint32_t character = unicode_decode(text + i, &length);
        uint8_t tests = table.blocks[table.index[character >> 8]][character & 255];
        uint64_t bytes, over;

        if (!(tests & wanted))
            continue;
        bytes = ((uint64_t)1 << length) - 1;
        over = i + length > 64 ? bytes >> (64 - i) : 0;
        if (tests & CHAR_WHITESPACE) {
            spaces |= bytes << i;
            c->spaces = over;
        } else {
            marks |= bytes << i;
            c->marks = over;
        }
    }
    b->spaces = spaces;
    b->marks = marks;
}

/* Returns the places in 64 bytes before which a word ends. */
static inline uint64_t ends_of(const struct split_words_block *b, struct carried *c)
{
    uint64_t letters = ~(b->spaces | b->marks), before_mark = b->marks << 1 | c->mark;
    uint64_t before_letter = letters << 1 | c->letter;

    c->mark = b->marks >> 63;
    c->letter = letters >> 63;
    return (before_mark | (~letters & before_letter)) & ~(b->high & ~b->leads);
}

size_t split_words(const uint8_t *text, size_t bytes, bool punctuation, size_t *at, uint32_t *ends, size_t room)
{
    split_words_masks *masks = split_words_block()->masks;
    struct carried carried = { 0 };
    uint8_t copy[64 + 4] = { 0 }; /* the last block */
    size_t count = 0;

    for (size_t i = *at; i < bytes && count < room; i += 64) {
        size_t left = bytes - i;
        struct split_words_block b;
        uint64_t found;

        if (left < 64)
            memcpy(copy, text + i, left);
        masks(left < 64 ? copy : text + i, &b);
        if (!punctuation)
            b.marks = 0;
        if (b.high)
            add_others(&b, left < 64 ? copy : text + i, punctuation, &carried);
        found = ends_of(&b, &carried);
        if (left < 64)
            found &= ((uint64_t)1 << left) - 1;
        for (; found && count < room; found &= found - 1)
            ends[count++] = (uint32_t)i + (uint32_t)__builtin_ctzll(found);
    }
    if (count > 0)
        *at = ends[count - 1];
    return count;
}

size_t split_words_space(const uint8_t *text, size_t bytes)
{
    size_t at = 0, length;

    while (at < bytes && char_tests(unicode_decode(text + at, &length)) & CHAR_WHITESPACE)
        at += length;
    return at;
}

/* ---- Metaspace --------------------------------------------------------------------------------------------------- */

/* Returns true for first bytes of characters that may be white space or a mark. */
static bool is_odd(uint8_t byte, bool words)
{
    return byte == (uint8_t)SPEC_MARK[0] || (words && (byte <= ' ' || (byte >= 0xc2 && byte <= 0xe3)));
}

static bool is_space(const uint8_t *text, size_t *length)
{
    return (char_tests(unicode_decode(text, length)) & CHAR_WHITESPACE) != 0;
}

/* Copies the text before the next byte with which a mark begins, and moves *at there. */
static uint8_t *put_unmarked(uint8_t *to, const uint8_t *text, size_t bytes, size_t *at)
{
    const uint8_t *found = memchr(text + *at, (uint8_t)SPEC_MARK[0], bytes - *at);
    size_t count = found ? (size_t)(found - text) - *at : bytes - *at;

    memcpy(to, text + *at, count);
    *at += count;
    return to + count;
}

size_t split_spaces_write(uint8_t *to, const uint8_t *text, size_t bytes, bool words, bool *in_word)
{
    uint8_t *begin = to;
    bool odd[256];

    for (unsigned b = 0; b < 256; b++)
        odd[b] = is_odd((uint8_t)b, words);
    for (size_t at = 0, length; at < bytes;) {
        bool mark;

        if (!words)
            to = put_unmarked(to, text, bytes, &at);
        for (; at < bytes && !odd[text[at]] && (*in_word || !words); at++)
            *to++ = text[at];
        if (at == bytes)
            break;
        mark = spec_begins_with_mark(text + at, bytes - at);
        if (words && is_space(text + at, &length)) {
            *in_word = false;
            at += length;
            continue;
        }
        if (mark || (words && !*in_word))
            *to++ = ' ';
        *in_word = true;
        if (mark)
            at += SPEC_MARK_BYTES;
        else
            *to++ = text[at++];
    }
    return (size_t)(to - begin);
}

size_t split_spaces(const uint8_t *text, size_t bytes, size_t *at, uint32_t *places, size_t room)
{
    split_words_blanks *blanks = split_words_block()->blanks;
    size_t count = 0, i = *at + 1;

    for (; i < bytes && bytes - i >= 64 && count < room; i += 64)
        for (uint64_t found = blanks(text + i); found && count < room; found &= found - 1)
            places[count++] = (uint32_t)i + (uint32_t)__builtin_ctzll(found);
    /* there is no branch, since about every sixth byte is a space */
    for (; i < bytes && count < room; i++) {
        places[count] = (uint32_t)i;
        count += text[i] == ' ';
    }
    if (count > 0)
        *at = places[count - 1];
    return count;
}
