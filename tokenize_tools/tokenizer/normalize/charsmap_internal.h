/* charsmap_internal.h: the members of a map, for the files that make it and go through texts with it. */
#ifndef LEAT_TOKENIZER_CHARSMAP_INTERNAL_H
#define LEAT_TOKENIZER_CHARSMAP_INTERNAL_H

#include "charsmap.h"

/* What is known about a character without walking the trie. */
enum {
    IS_KEY = 1,
    BEGINS_ASCII = 2, /* a longer key goes on with an ASCII character */
    BEGINS_OTHER = 4, /* a longer key goes on with another */
    IS_SECOND = 8,    /* a key goes on with it after its first character */
    IS_PLAIN = 16     /* a cluster ends between two of these (grapheme_is_plain()); of characters below PLAIN_END */
};

/* Not an ASCII character: its high bit is set. */
#define CHARSMAP_NO_ASCII 0x80

/* A bit for each character of at most three bytes, 64 of them in a word. For sentencepiece: whether it may be part of a
 * key, or of one with the character before it; U+2581 has one too. By clusters: whether it is a key, or may be in one
 * cluster with another character. In both, ASCII characters that do not become another have one. */
#define CHARSMAP_STOPS 1024

/* What is copied as it stands, or as one other ASCII character, without a look at the trie. */
struct charsmap_simple {
    uint8_t ascii[128]; /* what becomes of an ASCII character before another: one, or CHARSMAP_NO_ASCII */
    uint64_t stops[CHARSMAP_STOPS];
};

struct charsmap {
    uint32_t *units;
    size_t unit_count;
    uint8_t *pool; /* replacements, and a NUL */
    size_t pool_bytes;
    uint8_t *flags;                   /* by character */
    bool plain_ascii;                 /* all ASCII characters that are printable stay as they are */
    struct charsmap_simple simple[2]; /* by charsmap_mode */
};

/* A way through a text, from key to key. */
struct charsmap_walk {
    const struct charsmap *map;
    const uint8_t *text;
    size_t size;
    size_t at;          /* what lies before is done */
    size_t cluster_end; /* characters before it are looked up alone (CHARSMAP_GRAPHEMES) */
    uint32_t value;     /* of the key found at `at` */
    bool open;          /* more text follows, which may lengthen a cluster (CHARSMAP_GRAPHEMES) */
    bool one;           /* go no further than to the end of a cluster (CHARSMAP_GRAPHEMES) */
};

/* Goes to the next key, by CHARSMAP_GRAPHEMES; returns how many bytes to replace there, 0 at the end of the text. */
size_t charsmap_next(struct charsmap_walk *w);

#endif
