/* encoder_valid.h: for the packer, which has checked that its texts are UTF-8, so that they are not checked twice;
 * which must not take more memory for any of them; and which reads what lies beside a vocabulary: chat templates. */
#ifndef LEAT_TOKENIZER_ENCODER_VALID_H
#define LEAT_TOKENIZER_ENCODER_VALID_H

#include "leat_pack.h"

/* All further texts of this encoder must be valid UTF-8, whether they come whole or in chunks; otherwise it may read
 * beyond their end. Chunks may still be cut anywhere. */
void encoder_valid(struct leat_encoder *e);

/* From now on the ids of a whole text count with all else that max_bytes allows, as those of a text in chunks do. */
void encoder_bound_ids(struct leat_encoder *e);

/* How much memory, in bytes, all encoders of the tokenizer may share for words that they have met. Otherwise it is an
 * eighth of the bound of the encoder that is first to have met many, and at most 160 MiB. */
void tokenizer_share(const struct leat_tokenizer *t, uint64_t bytes);

/* The path of the file that the tokenizer was read from; NULL: a built-in, or the tokenizer of a dataset. */
const char *tokenizer_path(const struct leat_tokenizer *t);

#endif
