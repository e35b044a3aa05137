/*
 * charsmap.h: the precompiled normalizer of sentencepiece ("precompiled_charsmap"): strings and what replaces them. It
 * is a u32 (bytes of the trie), a double-array trie of u32 units, and the replacements, each ended by NUL; all numbers
 * are little-endian.
 *
 * Its two users read it differently. sentencepiece replaces the longest key that the text begins with, place after
 * place. Hugging Face's tokenizers goes by grapheme clusters: if a cluster has less than six bytes and begins with a
 * key, all of it is replaced by what the *shortest* such key stands for; else its characters are looked up one by one.
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
 * Reads a charsmap; the bytes are copied. All of it is checked, so that no text can make it misbehave. On success *out
 * is yours until charsmap_free(). Returns LEAT_E_RECORD if it makes no sense, or LEAT_E_NO_MEMORY; *out is then NULL.
 */
enum leat_status charsmap_create(struct charsmap **out, const uint8_t *bytes, size_t size, struct leat_error *err);

/* NULL is fine. */
void charsmap_free(struct charsmap *map);

/*
 * The longest key that the text begins with: its length, with *to and *to_bytes set to what replaces it (owned by the
 * map); 0 if there is none. A key that ends within a character of the text does not match. *open (may be NULL): if more
 * text followed the key could be a longer one.
 */
size_t charsmap_longest(const struct charsmap *map, const uint8_t *text, size_t size, const uint8_t **to,
                        size_t *to_bytes, bool *open);

/* The length of the prefix in which nothing is replaced: `size` if the text can be used as it is. */
size_t charsmap_prefix(const struct charsmap *map, enum charsmap_mode mode, const uint8_t *text, size_t size);

/*
 * Appends the text, valid UTF-8, with its keys replaced. An open map never changes: any number of threads may use it.
 * Returns LEAT_E_NO_MEMORY on failure, with part of the text appended.
 */
enum leat_status charsmap_append(struct buffer *out, const struct charsmap *map, enum charsmap_mode mode,
                                 const uint8_t *text, size_t size, struct leat_error *err);

/* The same by grapheme clusters, for a text that may go on (`last` false): *used is how much of it is done with,
 * whatever follows. */
enum leat_status charsmap_append_graphemes(struct buffer *out, const struct charsmap *map, const uint8_t *text,
                                           size_t size, bool last, size_t *used, struct leat_error *err);

/* How many characters at the beginning of a text come from the first one of the whole, and how many places have been
 * passed. All zero at the beginning. */
struct charsmap_places {
    uint64_t first, passed;
    bool done; /* what comes next stands at a later place */
    bool open; /* what is removed next may still move the last character that was written */
};

/* How many bytes, of what charsmap_append_graphemes() makes of the text that it used, stand at the first p->first
 * places. As in the reference, which shifts all places if it removes the first characters. */
size_t charsmap_first(const struct charsmap *map, const uint8_t *text, size_t size, bool last, size_t used,
                      struct charsmap_places *p);

/* A text that is copied, and where to. */
struct charsmap_text {
    const uint8_t *text;
    size_t at; /* what lies before is done with */
    uint8_t *to;
    bool single;      /* spaces after a space are dropped */
    bool after_space; /* the last character was one */
};

/*
 * Copies what stays as it is, and ASCII characters that become others, up to text[end] at most; text[0..bytes) is there
 * to look at. Stops at other keys; CHARSMAP_LONGEST at U+2581, CHARSMAP_GRAPHEMES where a cluster begins that may have
 * more than one character, and so may what follows the text (end < bytes, then). Stopping early is no harm: what comes
 * next is to be looked up. Writes as many bytes as it reads at most, and 8 more. `map` may be NULL: no keys.
 */
void charsmap_copy(const struct charsmap *map, enum charsmap_mode mode, struct charsmap_text *t, size_t end,
                   size_t bytes);

/* No key is longer, as far as they are looked for. */
#define CHARSMAP_KEY_MAX ((size_t)1024)

#endif
