/*
 * builtin_data.h: the compressed vocabularies that builtin_data.c puts into the library, and for each a list of which
 * merge makes each token (spec->splits). `make splits` writes these lists and test_splits.c checks them; without them,
 * finding it out takes half of the time of loading.
 */
#ifndef LEAT_TOKENIZER_BUILTIN_DATA_H
#define LEAT_TOKENIZER_BUILTIN_DATA_H

#include <stdint.h>

extern const unsigned char builtin_r50k[];
extern const uint64_t builtin_r50k_bytes;
extern const unsigned char builtin_r50k_splits[];
extern const uint64_t builtin_r50k_splits_bytes;
extern const unsigned char builtin_cl100k[];
extern const uint64_t builtin_cl100k_bytes;
extern const unsigned char builtin_cl100k_splits[];
extern const uint64_t builtin_cl100k_splits_bytes;
extern const unsigned char builtin_o200k[];
extern const uint64_t builtin_o200k_bytes;
extern const unsigned char builtin_o200k_splits[];
extern const uint64_t builtin_o200k_splits_bytes;

#endif
