/* encoder_valid.h: functions for the packer alone, which has checked that its texts are UTF-8, has a bound of memory
 * for each text, and reads chat templates beside a vocabulary. */
#ifndef LEAT_TOKENIZER_ENCODER_VALID_H
#define LEAT_TOKENIZER_ENCODER_VALID_H

#include "leat_pack.h"

/* Stops checking texts, whole or in chunks, which must be valid UTF-8 from now on: otherwise the encoder may read
 * beyond their end. Chunks may still be cut anywhere. */
void encoder_valid(struct leat_encoder *e);

/* Counts the ids of whole texts for max_bytes from now on, as those of texts in chunks. */
void encoder_bound_ids(struct leat_encoder *e);

/* Sets the bytes of memory that all encoders of the tokenizer may share for words that they have met. Otherwise it is
 * an eighth of the bound of the first encoder that has met many, and at most 160 MiB. */
void tokenizer_share(const struct leat_tokenizer *t, uint64_t bytes);

/* Returns the path of the file that the tokenizer was read from; NULL for a built-in, or the tokenizer of a dataset. */
const char *tokenizer_path(const struct leat_tokenizer *t);

#endif
