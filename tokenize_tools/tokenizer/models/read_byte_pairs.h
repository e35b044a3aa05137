/*
 * read_byte_pairs.h: the section "model" of type BPE in a tokenizer.json.
 *
 * The room models/ has the kinds of models, a file each (spec/model.h); what only one kind needs stands beside it.
 */
#ifndef LEAT_TOKENIZER_READ_BYTE_PAIRS_H
#define LEAT_TOKENIZER_READ_BYTE_PAIRS_H

#include "tokenizer/load/load_hf.h"

enum leat_status read_byte_pairs(struct load_hf *h, uint32_t node);

#endif
