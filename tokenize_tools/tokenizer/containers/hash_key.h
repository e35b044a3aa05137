/*
 * hash_key.h: a number that nobody can foresee, for a table whose keys a file chooses. If the hash were known, a file
 * could have keys that all have one place: 200,000 such tokens take 24.8 s to open, others 0.05 s.
 */
#ifndef LEAT_TOKENIZER_HASH_KEY_H
#define LEAT_TOKENIZER_HASH_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/random_words.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* Returns another odd number at each call. Results of a search in a table must not depend on it. */
static inline uint64_t hash_key_new(void)
{
    uint64_t key;

    random_words(&key, 1);
    return key | 1;
}

/*
 * Returns the place of a number in a table of 2^bits places, bits at least 1. If `key` is odd and unknown, two numbers
 * have one place with a chance of at most 2 in 2^bits (Dietzfelbinger and others, 1997).
 */
static inline uint64_t hash_key_place(uint64_t number, uint64_t key, unsigned bits)
{
    return number * key >> (64 - bits);
}

/* ---- Keys of texts ---- */

/*
 * The key of a text is a number to find it by. A text of at most TEXT_KEY_SHORT bytes is all in its key, with its
 * length, so equal keys are equal texts; most tokens are that short. The key of a longer text is a hash, marked as
 * such, that nobody can foresee.
 */
#define TEXT_KEY_SHORT ((size_t)7)

/* Makes a key of the lowest `length` bytes of `word`, at most TEXT_KEY_SHORT. */
static inline uint64_t text_key_of_word(uint64_t word, size_t length)
{
    return (word & (((uint64_t)1 << 8 * length) - 1)) | (uint64_t)length << 56;
}

/* Returns at most eight bytes of text as the low bytes of a word, and reads no other bytes. */
static inline uint64_t text_word(const uint8_t *text, size_t length)
{
    if (length >= 4)
        return bytes_load32(text) | (uint64_t)bytes_load32(text + length - 4) << 8 * (length - 4);
    if (length == 0)
        return 0;
    return text[0] | (uint64_t)text[length / 2] << 8 * (length / 2) | (uint64_t)text[length - 1] << 8 * (length - 1);
}

static inline bool text_key_is_text(uint64_t key)
{
    return key >> 63 == 0;
}

/* Makes the key of a text. `hash_key` is the table's. */
static inline uint64_t text_key(const uint8_t *text, size_t length, uint64_t hash_key)
{
    if (length <= TEXT_KEY_SHORT)
        return text_word(text, length) | (uint64_t)length << 56;
    return XXH3_64bits_withSeed(text, length, hash_key) | (uint64_t)1 << 63;
}

/* Returns the place of a key in a table of 2^bits places, bits at least 1. */
static inline uint32_t text_key_place(uint64_t key, uint64_t hash_key, unsigned bits)
{
    return (uint32_t)hash_key_place(key ^ key >> 32, hash_key, bits);
}

#endif
