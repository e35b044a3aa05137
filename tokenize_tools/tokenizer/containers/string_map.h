/*
 * string_map.h: a map from strings to numbers, used while loading. The caller owns the strings. A look-up has two
 * steps, hash and find, so that a caller with many strings can fetch the memory ahead (string_map_prefetch()):
 * vocabularies have hundreds of thousands of merges, and each look-up is a cache miss.
 *
 * The room containers/ has maps, lists and large buffers, which know nothing about tokenizers.
 */
#ifndef LEAT_TOKENIZER_STRING_MAP_H
#define LEAT_TOKENIZER_STRING_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hash_key.h"

#define STRING_MAP_NONE UINT32_MAX

struct string_map_entry {
    const uint8_t *bytes;
    uint32_t length;
    uint32_t value;
};

struct string_map_slot {
    uint64_t key;
    uint32_t entry; /* number of the entry plus 1; 0 if the slot is free */
};

struct string_map {
    struct string_map_entry *entries; /* in the order of insertion */
    uint32_t count;
    struct string_map_slot *slots;
    unsigned bits; /* 2^bits slots */
    uint64_t hash_key;
};

/* Makes an empty map for at most `room` strings. Returns false if there is no memory. */
bool string_map_init(struct string_map *m, uint32_t room);

/* Frees a map; a zeroed or freed one is fine. */
void string_map_free(struct string_map *m);

/* Returns the hash of a string for this map only. */
static inline uint64_t string_map_hash(const struct string_map *m, const void *bytes, size_t length)
{
    return text_key((const uint8_t *)bytes, length, m->hash_key);
}

static inline void string_map_prefetch(const struct string_map *m, uint64_t hash)
{
    __builtin_prefetch(&m->slots[text_key_place(hash, m->hash_key, m->bits)]);
}

/* Prefetches the entry of a long string, after its slot was prefetched. */
static inline void string_map_prefetch_entry(const struct string_map *m, uint64_t hash)
{
    uint32_t entry = text_key_is_text(hash) ? 0 : m->slots[text_key_place(hash, m->hash_key, m->bits)].entry;

    if (entry)
        __builtin_prefetch(&m->entries[entry - 1]);
}

/* Prefetches the string of an entry, after the entry was prefetched. */
static inline void string_map_prefetch_string(const struct string_map *m, uint64_t hash)
{
    uint32_t entry = text_key_is_text(hash) ? 0 : m->slots[text_key_place(hash, m->hash_key, m->bits)].entry;

    if (entry)
        __builtin_prefetch(m->entries[entry - 1].bytes);
}

/* Returns the number of the string's entry, or STRING_MAP_NONE. */
uint32_t string_map_find(const struct string_map *m, uint64_t hash, const void *bytes, size_t length);

/* Adds a string, unless it is in the map already. Returns its entry's number; *found says whether it was there. The map
 * must have room. */
uint32_t string_map_add(struct string_map *m, uint64_t hash, const uint8_t *bytes, uint32_t length, bool *found);

#endif
