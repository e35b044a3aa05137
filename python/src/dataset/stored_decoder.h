/* stored_decoder.h: the tokenizer that a dataset stores, open to decode its documents. */
#ifndef LEAT_PYTHON_STORED_DECODER_H
#define LEAT_PYTHON_STORED_DECODER_H

#include <leat_pack.h>

struct stored_decoder {
    struct leat_tokenizer *tokenizer;
    struct leat_encoder *encoder;
};

/* Opens the tokenizer that the dataset stores; the caller does not hold Python's lock. Returns LEAT_E_NOT_FOUND if
 * it stores none. stored_decoder_free() does nothing for NULL. */
enum leat_status stored_decoder_open(struct stored_decoder **out, const struct leat_dataset *d, struct leat_error *err);
void stored_decoder_free(struct stored_decoder *x);

#endif
