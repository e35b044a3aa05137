/* encoder_valid.h: for the packer, which checks itself that its texts are UTF-8, so that they are checked once. */
#ifndef LEAT_TOKENIZER_ENCODER_VALID_H
#define LEAT_TOKENIZER_ENCODER_VALID_H

#include "leat_pack.h"

/* From now on all texts of this encoder, whole or in chunks, are valid UTF-8, which is relied on: reading their
 * characters is not bounded by anything else. Parts may still be cut anywhere. */
void encoder_valid(struct leat_encoder *e);

#endif
