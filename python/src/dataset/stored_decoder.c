/* stored_decoder.c: opens the tokenizer of a dataset, and decodes tokens with it. */
#include "stored_decoder.h"

#include <stdlib.h>

#include "core/module.h"

void stored_decoder_free(struct stored_decoder *x)
{
    if (!x)
        return;
    leat_encoder_close(x->encoder);
    leat_tokenizer_close(x->tokenizer);
    free(x);
}

enum leat_status stored_decoder_open(struct stored_decoder **out, const struct leat_dataset *d, struct leat_error *err)
{
    struct stored_decoder *x = calloc(1, sizeof *x);
    struct leat_stored_tokenizer *stored = NULL;
    enum leat_status s;

    *out = NULL;
    if (!x)
        return errors_set(err, LEAT_E_NO_MEMORY, "no memory for a decoder");
    s = leat_dataset_tokenizer(d, &stored, err);
    if (s == LEAT_OK)
        s = leat_tokenizer_open_stored(&x->tokenizer, stored, err);
    leat_stored_tokenizer_free(stored);
    if (s == LEAT_OK)
        s = leat_encoder_open(&x->encoder, x->tokenizer, NULL, err);
    if (s == LEAT_OK)
        *out = x;
    else
        stored_decoder_free(x);
    return s;
}
