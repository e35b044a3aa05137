/*
 * charsmap_copy.c: charsmap_copy(), which most of a text goes through.
 *
 * ASCII goes eight bytes at a time: as it is, if these are printable, else byte by byte through a table, without a
 * branch on what becomes of them: line ends and runs of spaces, of which source code has many, cost what others do.
 * Other characters have flags that say whether a key may begin with them.
 */
#include "charsmap_internal.h"

#include <string.h>

#include "base/bytes.h"
#include "tokenizer/unicode/unicode.h"

#define EIGHT(n) (n), (n) + 1, (n) + 2, (n) + 3, (n) + 4, (n) + 5, (n) + 6, (n) + 7

/* Without a map: all ASCII characters remain, and only U+2581 is a stop. */
static const struct charsmap_simple all_simple = {
    .ascii = { EIGHT(0), EIGHT(8), EIGHT(16), EIGHT(24), EIGHT(32), EIGHT(40), EIGHT(48), EIGHT(56), EIGHT(64),
               EIGHT(72), EIGHT(80), EIGHT(88), EIGHT(96), EIGHT(104), EIGHT(112), EIGHT(120) },
    .stops = { [0x2581 / 64] = (uint64_t)1 << 0x2581 % 64 },
};

#define EACH(byte) (0x0101010101010101u * (byte))

/* A text on its way. */
struct copying {
    const struct charsmap *map;
    const struct charsmap_simple *simple; /* of the map */
    struct charsmap_text *t;
    size_t end, bytes;
};

/* Whether eight bytes are printable ASCII, if `single` without a space after another. */
static inline bool is_plain(uint64_t word, bool single, bool after_space)
{
    uint64_t spaces = ~((word ^ EACH(' ')) + EACH(0x7f)) & EACH(0x80);

    if ((word | (word + EACH(1)) | ~(word + EACH(0x60))) & EACH(0x80))
        return false;
    return !single || !(spaces & (spaces << 8 | (uint64_t)after_space << 7));
}

/* Copies ASCII characters, but for spaces that are dropped; false, and nothing done, if one becomes something else. */
static inline bool copy_ascii(const struct copying *c, size_t count)
{
    struct charsmap_text *t = c->t;
    uint8_t *to = t->to, all = 0;
    bool after_space = t->after_space;

    for (size_t i = 0; i < count; i++) {
        uint8_t byte = c->simple->ascii[t->text[t->at + i]];
        bool space = byte == ' ';

        all |= byte;
        *to = byte;
        to += !(t->single & space & after_space);
        after_space = space;
    }
    if (all & CHARSMAP_NO_ASCII)
        return false;
    t->to = to;
    t->at += count;
    t->after_space = after_space;
    return true;
}

/* As far as ASCII follows. */
static void copy_all_ascii(const struct copying *c, bool plain)
{
    struct charsmap_text *t = c->t;

    while (t->at + 8 < c->end) {
        uint64_t word = bytes_load64(t->text + t->at);

        if ((word | (uint64_t)t->text[t->at + 8]) & EACH(0x80))
            break;
        if (plain && is_plain(word, t->single, t->after_space)) {
            memcpy(t->to, t->text + t->at, 8);
            t->to += 8;
            t->at += 8;
            t->after_space = t->text[t->at - 1] == ' ';
        } else if (!copy_ascii(c, 8)) {
            break;
        }
    }
    while (t->at < c->end && t->text[t->at] < 0x80 && (t->at + 1 == c->bytes || t->text[t->at + 1] < 0x80))
        if (!copy_ascii(c, 1))
            break;
}

/* Copies characters that are in no key, whatever follows them; the last one only if ASCII follows that is in none
 * either. Selecting by masks instead of branching on how many bytes a character has was 4 % slower over multilingual
 * text: neighbours are mostly of one script. */
static void copy_common(const struct copying *c)
{
    struct charsmap_text *t = c->t;
    const uint8_t *text = t->text;
    const uint8_t *ascii = c->simple->ascii;
    const uint64_t *stops = c->simple->stops;
    const bool single = t->single;
    size_t at = t->at, last = at;
    uint8_t *to = t->to, *last_to = to;
    bool after_space = t->after_space, last_after = after_space;

    while (at + 4 <= c->end) {
        uint32_t word = bytes_load32(text + at), first = word & 0xff, high, low, length;
        uint8_t byte = 0;
        bool space;

        if (first >= 0xe0) {
            high = (first & 15) << 6 | (word >> 8 & 63);
            low = word >> 16 & 63;
            length = 3;
        } else if (first >= 0x80) {
            high = first & 31;
            low = word >> 8 & 63;
            length = 2;
        } else {
            high = first >> 6;
            low = first & 63;
            length = 1;
            byte = ascii[first];
            word = byte | (word & 0x8000);
        }
        if (first >= 0xf0 || stops[high] >> low & 1)
            break;
        last = at;
        last_to = to;
        last_after = after_space;
        if (!(word & 0x8080)) /* ASCII follows: copy_all_ascii() is faster */
            break;
        space = byte == ' ';
        bytes_store32(to, word);
        to += length - (single & space & after_space);
        at += length;
        after_space = space;
    }
    t->at = last;
    t->to = last_to;
    t->after_space = last_after;
}

/* From a character beyond ASCII, or before one, as far as such follow. */
static void copy_others(const struct copying *c)
{
    struct charsmap_text *t = c->t;
    size_t length, next = 1;
    uint32_t character = unicode_decode(t->text + t->at, &length), after;

    for (; length <= c->end - t->at; character = after, length = next) {
        size_t left = c->bytes - t->at;
        uint8_t flags = c->map ? c->map->flags[character] : 0;

        after = left > length ? unicode_decode(t->text + t->at + length, &next) : 0;
        if (flags & (BEGINS_ASCII | BEGINS_OTHER) && left > length && c->map->flags[after] & IS_SECOND)
            return;
        if (character < 0x80) {
            if (!copy_ascii(c, 1))
                return;
        } else {
            if (flags & IS_KEY || character == 0x2581)
                return;
            memcpy(t->to, t->text + t->at, left >= 4 ? 4 : length);
            t->to += length;
            t->at += length;
            t->after_space = false;
        }
        if (after < 0x80)
            return;
    }
}

void charsmap_copy(const struct charsmap *map, enum charsmap_mode mode, struct charsmap_text *t, size_t end,
                   size_t bytes)
{
    const struct copying c = { map, map ? &map->simple[mode] : &all_simple, t, end, bytes };
    bool plain = !map || map->plain_ascii;
    size_t before;

    do {
        before = t->at;
        copy_all_ascii(&c, plain);
        copy_common(&c);
        if (t->at < end && mode == CHARSMAP_LONGEST)
            copy_others(&c);
    } while (t->at > before && t->at < end);
}
