/*
 * vocabulary_map.h: from the bytes of a token to its number in the spec. An index over the spec's own text: it copies
 * nothing, and must not outlive the spec.
 */
#ifndef LEAT_TOKENIZER_VOCABULARY_MAP_H
#define LEAT_TOKENIZER_VOCABULARY_MAP_H

#include "spec.h"

struct vocabulary_map {
    const struct tokenizer_spec *spec;
    struct vocabulary_slot *slots;
    uint32_t mask;
};

/* Over all tokens that are not foreign and not empty. */
enum leat_status vocabulary_map_make(struct vocabulary_map *m, const struct tokenizer_spec *spec,
                                     struct leat_error *err);
void vocabulary_map_free(struct vocabulary_map *m);

/* The place in spec->tokens of the token with these bytes; SPEC_NONE if there is none. */
uint32_t vocabulary_map_find(const struct vocabulary_map *m, const uint8_t *bytes, size_t count);

/* The same in two steps, so that memory can be fetched ahead between them. */
uint64_t vocabulary_map_hash(const struct vocabulary_map *m, const uint8_t *bytes, size_t count);
uint32_t vocabulary_map_find_hashed(const struct vocabulary_map *m, uint64_t hash, const uint8_t *bytes, size_t count);

#endif
