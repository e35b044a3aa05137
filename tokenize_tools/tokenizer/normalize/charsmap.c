/*
 * charsmap.c: the trie is Darts-clone's: node p has the child of label b at (p ^ offset(p)) ^ b, if the unit there
 * carries that label; its value, if it has one, stands at label 0. Looking up each character would cost a walk, so at
 * load a byte is made for each: whether it is a key, and whether longer keys begin with it. Most characters of most
 * texts are neither: they go through charsmap_copy().
 */
#include "charsmap.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/bytes64.h"
#include "base/status.h"
#include "base/utf8.h"
#include "tokenizer/unicode/grapheme.h"
#include "tokenizer/unicode/unicode.h"

/* Facts about a character that need no walk of the trie. */
enum {
    IS_KEY = 1,
    BEGINS_ASCII = 2, /* a longer key continues it with an ASCII character */
    BEGINS_OTHER = 4, /* a longer key continues it with another character */
    IS_SECOND = 8,    /* it continues a key after the key's first character */
    IS_PLAIN = 16     /* a cluster ends between two such characters (grapheme_is_plain()); for characters below
                         PLAIN_END */
};

/* Result for what is not an ASCII character: its high bit is set. */
#define CHARSMAP_NO_ASCII 0x80

/*
 * A bit for each character of at most three bytes, 64 of them in a word. For sentencepiece: whether it may be part
 * of a key, alone or with the character before it; U+2581 has its bit set, too. By clusters: whether it is a key, or
 * may be in one cluster with another character. In both, ASCII characters that do not become another character have
 * their bit set.
 */
#define CHARSMAP_STOPS 1024

/* Characters that are copied unchanged, or as one other ASCII character, without a look at the trie. */
struct charsmap_simple {
    uint8_t ascii[128]; /* result of an ASCII character before another one, or CHARSMAP_NO_ASCII */
    uint64_t stops[CHARSMAP_STOPS];
};

struct charsmap {
    uint32_t *units;
    size_t unit_count;
    uint8_t *pool; /* replacements, and a NUL */
    size_t pool_bytes;
    uint8_t *flags;                   /* facts by character */
    bool plain_ascii;                 /* true if all printable ASCII characters stay as they are */
    struct charsmap_simple simple[2]; /* by charsmap_mode */
};

/* A way through a text, from key to key. */
struct charsmap_walk {
    const struct charsmap *map;
    const uint8_t *text;
    size_t size;
    size_t at;          /* place of the next byte */
    size_t cluster_end; /* characters before it are looked up alone (CHARSMAP_GRAPHEMES) */
    uint32_t value;     /* value of the key found at `at` */
    bool open;          /* more text follows, which may lengthen a cluster (CHARSMAP_GRAPHEMES) */
    bool one;           /* stops at the end of a cluster (CHARSMAP_GRAPHEMES) */
};

/* ---- Copying ----------------------------------------------------------------------------------------------------- */

/*
 * charsmap_copy(), which copies most of a text. ASCII goes eight bytes at a time: unchanged, if these are printable,
 * else byte by byte through a table, without a branch on what becomes of them: line ends and runs of spaces, of
 * which source code has many, cost what others do. Other characters have flags that say whether a key may begin with
 * them.
 */

#define EIGHT(n) (n), (n) + 1, (n) + 2, (n) + 3, (n) + 4, (n) + 5, (n) + 6, (n) + 7

/* The facts without a map: no ASCII character changes, and only U+2581 is a stop. */
static const struct charsmap_simple all_simple = {
    .ascii = { EIGHT(0), EIGHT(8), EIGHT(16), EIGHT(24), EIGHT(32), EIGHT(40), EIGHT(48), EIGHT(56), EIGHT(64),
               EIGHT(72), EIGHT(80), EIGHT(88), EIGHT(96), EIGHT(104), EIGHT(112), EIGHT(120) },
    .stops = { [0x2581 / 64] = (uint64_t)1 << 0x2581 % 64 },
};

/* A text that is being copied. */
struct copying {
    const struct charsmap *map;
    const struct charsmap_simple *simple; /* of the map */
    struct charsmap_text *t;
    size_t end, bytes;
};

/* Returns true if eight bytes are printable ASCII; with `single`, none must be a space after a space. */
static inline bool is_plain(uint64_t word, bool single, bool after_space)
{
    uint64_t spaces = ~((word ^ BYTES_EACH(' ')) + BYTES_EACH(0x7f)) & BYTES_EACH(0x80);

    if ((word | (word + BYTES_EACH(1)) | ~(word + BYTES_EACH(0x60))) & BYTES_EACH(0x80))
        return false;
    return !single || !(spaces & (spaces << 8 | (uint64_t)after_space << 7));
}

/* Copies ASCII characters, without spaces that are dropped. Returns false, and copies nothing, if one becomes
 * another character. */
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

/* Copies ASCII up to the next other character. */
static void copy_all_ascii(const struct copying *c, bool plain)
{
    struct charsmap_text *t = c->t;

    while (t->at + 8 < c->end) {
        uint64_t word = bytes_load64(t->text + t->at);

        if ((word | (uint64_t)t->text[t->at + 8]) & BYTES_EACH(0x80))
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

/*
 * Copies characters that are in no key, whatever follows them; the last one only if an ASCII character follows that
 * is in no key either. Selecting by masks instead of branching on how many bytes a character has was 4 % slower over
 * multilingual text: neighbours are mostly of one script.
 */
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

/* Copies characters from one beyond ASCII, or before one, as long as such characters follow. */
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

/* End of the table: characters beyond it are too rare to be worth the time of loading. */
#define PLAIN_END 0x30000u

/* ---- Units ------------------------------------------------------------------------------------------------------- */

static bool unit_is_value(uint32_t unit)
{
    return unit >> 31;
}

static bool unit_has_value(uint32_t unit)
{
    return unit >> 8 & 1;
}

static uint32_t unit_offset(uint32_t unit)
{
    return (unit >> 10) << ((unit & 1u << 9) >> 6);
}

/* Returns the label of a unit. Bit 31 of a value unit makes it differ from all labels. */
static uint32_t unit_label(uint32_t unit)
{
    return unit & (1u << 31 | 0xff);
}

/* Moves *base from a node's children to those of its child of label b. Returns false if there is no such child. */
static bool enter_child(const struct charsmap *map, size_t *base, uint8_t b, uint32_t *unit)
{
    *unit = map->units[*base ^ b];
    if (b == 0 || unit_label(*unit) != b)
        return false;
    *base = *base ^ b ^ unit_offset(*unit);
    return true;
}

static size_t root(const struct charsmap *map)
{
    return unit_offset(map->units[0]);
}

static uint32_t value_at(const struct charsmap *map, size_t base)
{
    return map->units[base] & ~(1u << 31);
}

/* ---- Loading ----------------------------------------------------------------------------------------------------- */

/* Returns true if every unit leads to places within the array, and every value to the first byte of a character. */
static bool units_make_sense(const struct charsmap *map)
{
    for (size_t i = 0; i < map->unit_count; i++) {
        uint32_t unit = map->units[i];
        size_t base = i ^ unit_offset(unit);

        if (unit_is_value(unit))
            continue;
        if ((base | 255) >= map->unit_count)
            return false;
        if (unit_has_value(unit)) {
            uint32_t value = value_at(map, base);

            if (!unit_is_value(map->units[base]) || value >= map->pool_bytes || (map->pool[value] & 0xc0) == 0x80)
                return false;
        }
    }
    return !unit_is_value(map->units[0]);
}

static uint8_t character_flags(const struct charsmap *map, uint32_t c)
{
    uint8_t text[4], flags = 0;
    size_t bytes = utf8_encode(text, c), base = root(map);
    uint32_t unit = 0;

    for (size_t i = 0; i < bytes; i++)
        if (!enter_child(map, &base, text[i], &unit))
            return 0;
    if (unit_has_value(unit))
        flags |= IS_KEY;
    for (unsigned b = 1; b < 256; b++)
        if (unit_label(map->units[base ^ b]) == b)
            flags |= b < 0x80 ? BEGINS_ASCII : BEGINS_OTHER;
    return flags;
}

/* Notes the characters with which keys go on from a node. `c` has the bytes of a character so far. Stops when there
 * are no steps left, as in a trie that goes round in circles. */
static void note_seconds(struct charsmap *map, size_t base, uint32_t c, unsigned more, uint32_t *left)
{
    for (unsigned b = more ? 0x80 : 1; b < (more ? 0xc0 : 0x100); b++) {
        unsigned length = b < 0x80 ? 1 : b < 0xc0 ? 0 : b < 0xe0 ? 2 : b < 0xf0 ? 3 : 4;
        uint32_t next = more ? c << 6 | (b & 0x3f) : length == 1 ? b : b & (0x7f >> length), unit;
        size_t to = base;

        *left -= *left > 0;
        if ((!more && length == 0) || *left == 0 || !enter_child(map, &to, (uint8_t)b, &unit))
            continue;
        if (more > 1 || length > 1)
            note_seconds(map, to, next, more ? more - 1 : length - 1, left);
        else if (next < 0x110000)
            map->flags[next] |= IS_SECOND;
    }
}

/* Limit of steps, far more than real maps take. */
#define SECOND_STEPS ((uint32_t)1 << 24)

static void find_seconds(struct charsmap *map)
{
    uint32_t left = SECOND_STEPS;

    for (uint32_t c = 0; c < 0x110000; c++)
        if (map->flags[c] & (BEGINS_ASCII | BEGINS_OTHER)) {
            uint8_t text[4];
            size_t bytes = utf8_encode(text, c), base = root(map);
            uint32_t unit;

            for (size_t i = 0; i < bytes; i++)
                enter_child(map, &base, text[i], &unit);
            note_seconds(map, base, 0, 0, &left);
        }
    for (uint32_t c = 0; left == 0 && c < 0x110000; c++)
        map->flags[c] |= IS_SECOND;
}

static void fill_ascii(struct charsmap *map)
{
    uint8_t any = 0;

    for (uint32_t c = 0; c < 0x80; c++) {
        const uint8_t text = (uint8_t)c, *to = &text;
        uint8_t becomes;
        size_t bytes = 1;

        charsmap_longest(map, &text, 1, &to, &bytes, NULL);
        becomes = bytes == 1 && !(map->flags[c] & BEGINS_ASCII) ? *to : CHARSMAP_NO_ASCII;
        map->simple[CHARSMAP_LONGEST].ascii[c] = becomes;
        map->simple[CHARSMAP_GRAPHEMES].ascii[c] = c == '\r' ? CHARSMAP_NO_ASCII : becomes; /* CR LF is a cluster */
        any |= c >= ' ' && c < 0x7f ? becomes ^ text : 0;
    }
    map->plain_ascii = any == 0;
}

static void fill_stops(struct charsmap *map)
{
    for (uint32_t c = 0; c < 64 * CHARSMAP_STOPS; c++) {
        uint8_t flags = map->flags[c];
        bool joins[2] = { flags & IS_SECOND || c == 0x2581, !(flags & IS_PLAIN) }; /* by mode */

        for (unsigned mode = 0; mode < 2; mode++) {
            struct charsmap_simple *s = &map->simple[mode];

            if (joins[mode] || (c < 0x80 ? s->ascii[c] & CHARSMAP_NO_ASCII : flags & IS_KEY))
                s->stops[c / 64] |= (uint64_t)1 << c % 64;
        }
    }
}

static void fill_flags(struct charsmap *map)
{
    for (uint32_t c = 0; c < 0x110000; c++) {
        /* 64 characters have all bytes but the last in common */
        if (c >= 0x80 && (c & 63) == 0) {
            uint8_t text[4];
            size_t bytes = utf8_encode(text, c), base = root(map), i = 0;
            uint32_t unit;

            while (i + 1 < bytes && enter_child(map, &base, text[i], &unit))
                i++;
            if (i + 1 < bytes) {
                c += 63;
                continue;
            }
        }
        map->flags[c] = character_flags(map, c);
    }
}

static enum leat_status load(struct charsmap *map, const uint8_t *bytes, size_t size, struct leat_error *err)
{
    uint32_t trie = size >= 4 ? bytes_load32(bytes) : 0;
    const char *what = NULL;

    if (trie == 0 || trie % 4 != 0 || trie > size - 4)
        return status_set(err, LEAT_E_RECORD, "precompiled_charsmap: it has %lu bytes and claims a trie of %lu",
                          (unsigned long)size, (unsigned long)trie);
    map->unit_count = trie / 4;
    map->pool_bytes = size - 4 - trie;
    map->units = malloc(trie);
    map->pool = malloc(map->pool_bytes + 1);
    map->flags = calloc(0x110000, 1);
    if (!map->units || !map->pool || !map->flags)
        return status_no_memory(err, size + 0x110000);
    for (size_t i = 0; i < map->unit_count; i++)
        map->units[i] = bytes_load32(bytes + 4 + 4 * i);
    memcpy(map->pool, bytes + 4 + trie, map->pool_bytes);
    map->pool[map->pool_bytes] = 0;
    if (utf8_valid_prefix(map->pool, map->pool_bytes) != map->pool_bytes)
        what = "its replacements are not UTF-8";
    else if (!units_make_sense(map))
        what = "its trie points outside itself";
    if (what)
        return status_set(err, LEAT_E_RECORD, "precompiled_charsmap: %s", what);
    fill_flags(map);
    for (uint32_t c = 0; c < PLAIN_END; c++)
        map->flags[c] |= grapheme_is_plain(c) ? IS_PLAIN : 0;
    find_seconds(map);
    fill_ascii(map);
    fill_stops(map);
    return LEAT_OK;
}

enum leat_status charsmap_create(struct charsmap **out, const uint8_t *bytes, size_t size, struct leat_error *err)
{
    struct charsmap *map = calloc(1, sizeof *map);
    enum leat_status s;

    *out = NULL;
    if (!map)
        return status_no_memory(err, sizeof *map);
    s = load(map, bytes, size, err);
    if (s != LEAT_OK) {
        charsmap_free(map);
        return s;
    }
    *out = map;
    return LEAT_OK;
}

void charsmap_free(struct charsmap *map)
{
    if (!map)
        return;
    free(map->units);
    free(map->pool);
    free(map->flags);
    free(map);
}

/* ---- Looking up -------------------------------------------------------------------------------------------------- */

/* Longest key that is looked for. A trie may go round in circles, and then without a limit each place of a text
 * would be looked up to the text's end. Keys of real maps are a few characters. */
#define KEY_MAX CHARSMAP_KEY_MAX

/* Returns the length of the longest or the shortest key that the text begins with, or 0, and sets where its
 * replacement is. *open, if not NULL, is set if more text could lengthen it. */
static size_t find_key(const struct charsmap *map, const uint8_t *text, size_t size, bool longest, uint32_t *value,
                       bool *open)
{
    size_t base = root(map), found = 0, i = 0, end = size < KEY_MAX ? size : KEY_MAX;
    uint32_t unit;

    for (; i < end && enter_child(map, &base, text[i], &unit); i++) {
        if (!unit_has_value(unit) || (i + 1 < size && (text[i + 1] & 0xc0) == 0x80))
            continue;
        *value = value_at(map, base);
        found = i + 1;
        if (!longest)
            break;
    }
    if (open)
        *open = i == size && size < KEY_MAX;
    return found;
}

size_t charsmap_longest(const struct charsmap *map, const uint8_t *text, size_t size, const uint8_t **to,
                        size_t *to_bytes, bool *open)
{
    uint32_t value = 0;
    size_t bytes = find_key(map, text, size, true, &value, open);

    if (bytes > 0) {
        *to = map->pool + value;
        *to_bytes = strlen((const char *)*to);
    }
    return bytes;
}

/* ---- Going through a text ---------------------------------------------------------------------------------------- */

/* Passes ASCII characters before another ASCII character, while they have none of these flags and are not `stop`. */
static void skip_ascii(struct charsmap_walk *w, uint8_t mask, uint8_t stop)
{
    const uint8_t *text = w->text, *flags = w->map->flags;
    size_t at = w->at;

    while (at + 1 < w->size && (text[at] | text[at + 1]) < 0x80 && !(flags[text[at]] & mask) && text[at] != stop)
        at++;
    w->at = at;
}

/* Goes to the next key. Returns how many bytes to replace there, or 0 at the end of the text. */
static size_t next_longest(struct charsmap_walk *w)
{
    const uint8_t *flags = w->map->flags;

    for (;;) {
        const uint8_t *text;
        size_t left, bytes, key;
        uint8_t f;

        skip_ascii(w, IS_KEY | BEGINS_ASCII, 0x80);
        if (w->at == w->size)
            return 0;
        text = w->text + w->at;
        left = w->size - w->at;
        f = flags[unicode_decode(text, &bytes)];
        if (left > bytes && !(f & (text[bytes] < 0x80 ? BEGINS_ASCII : BEGINS_OTHER)))
            f &= IS_KEY;
        if (f) {
            key = find_key(w->map, text, left, true, &w->value, NULL);
            if (key > 0)
                return key;
        }
        w->at += bytes;
    }
}

/* Passes characters that are clusters by themselves and no keys. `at` is where a cluster begins, before and after. */
static void skip_plain(struct charsmap_walk *w)
{
    const uint8_t *text = w->text, *flags = w->map->flags;
    size_t at = w->at, bytes, next;
    uint8_t f;

    if (at == w->size)
        return;
    f = flags[unicode_decode(text + at, &bytes)];
    while ((f & (IS_PLAIN | IS_KEY)) == IS_PLAIN && at + bytes < w->size) {
        f = flags[unicode_decode(text + at + bytes, &next)];
        if (!(f & IS_PLAIN))
            break;
        at += bytes;
        bytes = next;
    }
    w->at = at;
}

static size_t next_by_grapheme(struct charsmap_walk *w)
{
    const uint8_t *flags = w->map->flags;
    size_t begin = w->at;

    for (;;) {
        const uint8_t *text;
        size_t left, bytes;
        uint32_t c;

        if (w->one && w->at > begin && w->at >= w->cluster_end)
            return 0;
        /* two ASCII characters are two clusters, except CR LF */
        if (w->at >= w->cluster_end && !w->one) {
            skip_ascii(w, IS_KEY, '\r');
            skip_plain(w);
        }
        if (w->at == w->size)
            return 0;
        text = w->text + w->at;
        left = w->size - w->at;
        c = unicode_decode(text, &bytes);
        if (w->at >= w->cluster_end) {
            size_t cluster = grapheme_length(text, left);

            if (w->open && cluster == left)
                return 0;
            if (cluster > bytes && cluster < 6 && flags[c] && find_key(w->map, text, cluster, false, &w->value, NULL))
                return cluster;
            w->cluster_end = w->at + cluster;
        }
        if ((flags[c] & IS_KEY) && find_key(w->map, text, bytes, false, &w->value, NULL))
            return bytes;
        w->at += bytes;
    }
}

static size_t next_key(struct charsmap_walk *w, enum charsmap_mode mode)
{
    return mode == CHARSMAP_LONGEST ? next_longest(w) : next_by_grapheme(w);
}

size_t charsmap_prefix(const struct charsmap *map, enum charsmap_mode mode, const uint8_t *text, size_t size)
{
    struct charsmap_walk w = { .map = map, .text = text, .size = size };

    next_key(&w, mode);
    return w.at;
}

/* Appends the text before the next key, and the key's replacement. */
static enum leat_status append_key(struct buffer *out, struct charsmap_walk *w, enum charsmap_mode mode,
                                   struct leat_error *err)
{
    size_t from = w->at, key = next_key(w, mode);
    enum leat_status s = buffer_append(out, w->text + from, w->at - from, err);

    if (s == LEAT_OK && key > 0) {
        const char *to = (const char *)w->map->pool + w->value;

        s = buffer_append(out, to, strlen(to), err);
        w->at += key;
    }
    return s;
}

/* Bytes between two checks of the room. */
#define BLOCK ((size_t)4096)

/* Appends simple characters, if a cluster begins here; but not the last byte, which later text may change. */
static enum leat_status append_simple(struct buffer *out, struct charsmap_walk *w, struct leat_error *err)
{
    size_t end = w->size - 1 - w->at < BLOCK ? w->size - 1 : w->at + BLOCK;
    enum leat_status s = buffer_reserve(out, BLOCK + 8, err);
    struct charsmap_text t = { .text = w->text, .at = w->at };

    if (s != LEAT_OK || w->at < w->cluster_end)
        return s;
    t.to = out->bytes + out->size;
    charsmap_copy(w->map, CHARSMAP_GRAPHEMES, &t, end, w->size);
    out->size = (size_t)(t.to - out->bytes);
    w->at = t.at;
    return s;
}

static enum leat_status append_graphemes(struct buffer *out, struct charsmap_walk *w, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    size_t from = w->at + 1;

    while (s == LEAT_OK && w->at < w->size && w->at != from) {
        from = w->at;
        s = append_simple(out, w, err);
        if (s == LEAT_OK && w->at - from < BLOCK / 2)
            s = append_key(out, w, CHARSMAP_GRAPHEMES, err);
    }
    return s;
}

enum leat_status charsmap_append(struct buffer *out, const struct charsmap *map, enum charsmap_mode mode,
                                 const uint8_t *text, size_t size, struct leat_error *err)
{
    struct charsmap_walk w = { .map = map, .text = text, .size = size, .one = true };
    enum leat_status s = LEAT_OK;

    if (mode == CHARSMAP_GRAPHEMES)
        return append_graphemes(out, &w, err);
    while (s == LEAT_OK && w.at < size)
        s = append_key(out, &w, mode, err);
    return s;
}

enum leat_status charsmap_append_graphemes(struct buffer *out, const struct charsmap *map, const uint8_t *text,
                                           size_t size, bool last, size_t *used, struct leat_error *err)
{
    struct charsmap_walk w = { .map = map, .text = text, .size = size, .open = !last, .one = true };
    enum leat_status s = append_graphemes(out, &w, err);

    *used = w.at;
    return s;
}

/* ---- Places ------------------------------------------------------------------------------------------------------ */

/* Counts the places of characters in the result. The reference keeps the place of each character. The functions below
 * stop counting at the place of the text's first character. */

/* A character that is written. It stands at the next place and moves on by `passes` places; or, if `passes` is not
 * positive, it stands at the place before. */
struct placed {
    size_t bytes;   /* 0: none yet */
    int64_t passes; /* places */
};

struct placing {
    struct charsmap_places *p;
    struct placed last; /* the last character, whose place may still change if characters after it are removed */
    size_t bytes;       /* bytes at the first places */
};

static void place_last(struct placing *l)
{
    uint64_t at = l->last.passes > 0 || l->p->passed == 0 ? l->p->passed : l->p->passed - 1;

    if (l->last.bytes == 0 || l->p->done)
        return;
    l->p->done = at >= l->p->first && (l->last.passes > 0 || l->p->passed > 0);
    if (!l->p->done)
        l->bytes += l->last.bytes;
    l->p->passed += (uint64_t)l->last.passes;
    l->last.bytes = 0;
}

static void place(struct placing *l, size_t bytes, int64_t passes)
{
    place_last(l);
    l->last = (struct placed) { bytes, passes };
}

/* Places a key of `from` characters and its replacement. */
static void place_key(struct placing *l, const uint8_t *to, size_t from)
{
    size_t bytes = strlen((const char *)to), count = utf8_characters(to, bytes), size;

    for (size_t i = 0; i < count; i++, to += size) {
        unicode_decode(to, &size);
        place(l, size, i >= from ? 0 : i + 1 == count ? (int64_t)(from - i) : 1);
    }
    if (count == 0 && l->last.bytes > 0)
        l->last.passes += (int64_t)from;
}

size_t charsmap_first(const struct charsmap *map, const uint8_t *text, size_t size, bool last, size_t used,
                      struct charsmap_places *p)
{
    struct charsmap_walk w = { .map = map, .text = text, .size = size, .open = !last, .one = true };
    struct placing l = { .p = p };
    size_t from = w.at + 1;

    while (!p->done && w.at < used && w.at != from) {
        size_t key, bytes;

        from = w.at;
        key = next_by_grapheme(&w);
        for (size_t at = from; at < w.at && !p->done; at += bytes) {
            unicode_decode(text + at, &bytes);
            place(&l, bytes, 1);
        }
        if (key > 0)
            place_key(&l, map->pool + w.value, utf8_characters(text + w.at, key));
        w.at += key;
    }
    p->open = !p->done && l.last.bytes > 0;
    place_last(&l);
    return l.bytes;
}
