/*
 * vocabulary_map.h: finds the number of a token in the spec by its bytes. It is an index over the spec's own text,
 * which must outlive it; only short tokens are copied, as keys.
 */
#ifndef LEAT_TOKENIZER_VOCABULARY_MAP_H
#define LEAT_TOKENIZER_VOCABULARY_MAP_H

#include "tokenizer/containers/hash_key.h"
#include "tokenizer/spec/spec.h"

/* Slots come in lines of four, which are filled from the first on; a full line goes on in the next. */
#define VOCABULARY_LINE 4

struct vocabulary_map {
    const struct tokenizer_spec *spec;
    uint64_t *keys;   /* key of each slot; VOCABULARY_FREE if it is free */
    uint32_t *tokens; /* token of each slot */
    void *memory;     /* memory of both */
    unsigned bits;    /* 2^bits lines */
    uint64_t hash_key;
};

/* Key that no text has. */
#define VOCABULARY_FREE UINT64_MAX

/* Makes a map of all tokens that are not foreign and not empty. */
enum leat_status vocabulary_map_make(struct vocabulary_map *m, const struct tokenizer_spec *spec,
                                     struct leat_error *err);
void vocabulary_map_free(struct vocabulary_map *m);

/* Returns the place in spec->tokens of the token with these bytes; SPEC_NONE if there is none. */
uint32_t vocabulary_map_find(const struct vocabulary_map *m, const uint8_t *bytes, size_t count);

/* Returns the place of a token that is all in its key. It does not branch on the place of a key in its line, which a
 * CPU could not foresee: loading a vocabulary calls it a million times. */
static inline uint32_t vocabulary_map_find_short(const struct vocabulary_map *m, uint64_t key)
{
    for (uint32_t line = text_key_place(key, m->hash_key, m->bits);;
         line = (line + 1) & (((uint32_t)1 << m->bits) - 1)) {
        const uint64_t *keys = m->keys + (size_t)line * VOCABULARY_LINE;
        unsigned found = (unsigned)(keys[0] == key) | (unsigned)(keys[1] == key) << 1 |
                         (unsigned)(keys[2] == key) << 2 | (unsigned)(keys[3] == key) << 3;

        if (found)
            return m->tokens[(size_t)line * VOCABULARY_LINE + (unsigned)__builtin_ctz(found)];
        if (keys[VOCABULARY_LINE - 1] == VOCABULARY_FREE)
            return SPEC_NONE;
    }
}

#endif
