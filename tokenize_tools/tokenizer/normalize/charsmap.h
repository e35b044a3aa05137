/*
 * charsmap.h: the precompiled normalizer of sentencepiece ("precompiled_charsmap"): strings and what replaces them. It
 * is a u32 (bytes of the trie), a double-array trie of u32 units, and the replacements, each ended by NUL; all numbers
 * are little-endian.
 *
 * Its two users read it differently. sentencepiece replaces the longest key that the text begins with, place after
 * place. Hugging Face's tokenizers goes by grapheme clusters: if a cluster has less than six bytes and begins with a
 * key, all of it becomes the replacement of the *shortest* such key; else its characters are looked up one by one.
 */
#ifndef LEAT_TOKENIZER_CHARSMAP_H
#define LEAT_TOKENIZER_CHARSMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "leat.h"

struct charsmap;

enum charsmap_mode { CHARSMAP_LONGEST, CHARSMAP_GRAPHEMES };

/*
 * Reads a charsmap; the bytes are copied. All of it is checked, so that any text is safe. On success *out is the
 * caller's until charsmap_free(). Returns LEAT_E_RECORD if it is broken, or LEAT_E_NO_MEMORY; *out is then NULL.
 */
enum leat_status charsmap_create(struct charsmap **out, const uint8_t *bytes, size_t size, struct leat_error *err);

/* NULL is fine. */
void charsmap_free(struct charsmap *map);

/*
 * Finds the longest key that the text begins with. Returns its length, and sets *to and *to_bytes to its replacement,
 * which the map owns; returns 0 if there is none. A key that ends within a character of the text does not match. Sets
 * *open (may be NULL) if more text could make the key longer.
 */
size_t charsmap_longest(const struct charsmap *map, const uint8_t *text, size_t size, const uint8_t **to,
                        size_t *to_bytes, bool *open);

/* Returns the length of the prefix in which nothing is replaced: `size` if nothing changes. */
size_t charsmap_prefix(const struct charsmap *map, enum charsmap_mode mode, const uint8_t *text, size_t size);

/*
 * Appends the text, valid UTF-8, with its keys replaced. An open map never changes: any number of threads may use it.
 * Returns LEAT_E_NO_MEMORY on failure, with part of the text appended.
 */
enum leat_status charsmap_append(struct buffer *out, const struct charsmap *map, enum charsmap_mode mode,
                                 const uint8_t *text, size_t size, struct leat_error *err);

/* Appends a text by grapheme clusters. Unless `last`, the text may go on: sets *used to the length of the part that
 * later text cannot change. */
enum leat_status charsmap_append_graphemes(struct buffer *out, const struct charsmap *map, const uint8_t *text,
                                           size_t size, bool last, size_t *used, struct leat_error *err);

/* The characters of a text that come from the first one of the whole text; zeroed at its beginning. */
struct charsmap_places {
    uint64_t first, passed; /* number of these characters, and of places that have been passed */
    bool done;              /* true if the next character stands at a later place */
    bool open;              /* true if removing the next character can still move the last one that was written */
};

/* Returns how many bytes of the result of charsmap_append_graphemes() stand at the first p->first places, counted as in
 * the reference, which shifts all places if it removes the first characters. */
size_t charsmap_first(const struct charsmap *map, const uint8_t *text, size_t size, bool last, size_t used,
                      struct charsmap_places *p);

/* A text that charsmap_copy() copies to `to`. */
struct charsmap_text {
    const uint8_t *text;
    size_t at; /* place of the next byte to copy */
    uint8_t *to;
    bool single;      /* true if spaces after a space are dropped */
    bool after_space; /* true if the last character was a space */
};

/*
 * Copies characters that do not change, and ASCII characters that become others, up to text[end] at most;
 * text[0..bytes) can be read. Stops at other keys; with CHARSMAP_LONGEST at U+2581, with CHARSMAP_GRAPHEMES at a
 * cluster that may have more than one character (end < bytes if text may follow). It may stop early, since the caller
 * looks up the next character. Writes at most as many bytes as it reads, and 8 more. `map` is NULL if there are no
 * keys.
 */
void charsmap_copy(const struct charsmap *map, enum charsmap_mode mode, struct charsmap_text *t, size_t end,
                   size_t bytes);

/* Length of the longest key that is looked up. */
#define CHARSMAP_KEY_MAX ((size_t)1024)

#endif
