/* read_unigram.h: the section "model" of type Unigram in a tokenizer.json. */
#ifndef LEAT_TOKENIZER_READ_UNIGRAM_H
#define LEAT_TOKENIZER_READ_UNIGRAM_H

#include "tokenizer/load/load_hf.h"

enum leat_status read_unigram(struct load_hf *h, uint32_t node);

#endif
