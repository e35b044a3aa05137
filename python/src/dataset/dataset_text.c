/* dataset_text.c: decodes tokens of a dataset with the tokenizer that it stores. */
#include <stdlib.h>

#include <leat_pack.h>

#include "core/args.h"
#include "dataset.h"

/* Kept by the object between calls: opening a tokenizer takes milliseconds. */
struct decoder {
    struct leat_tokenizer *tokenizer;
    struct leat_encoder *encoder;
};

void dataset_decoder_free(void *decoder)
{
    struct decoder *x = decoder;

    if (!x)
        return;
    leat_encoder_close(x->encoder);
    leat_tokenizer_close(x->tokenizer);
    free(x);
}

static enum leat_status open_decoder(struct decoder **out, const struct leat_dataset *d, struct leat_error *err)
{
    struct decoder *x = calloc(1, sizeof *x);
    struct leat_stored_tokenizer *stored = NULL;
    enum leat_status s;

    *out = NULL;
    if (!x) {
        err->status = LEAT_E_NO_MEMORY;
        snprintf(err->message, sizeof err->message, "no memory for a decoder");
        return LEAT_E_NO_MEMORY;
    }
    s = leat_dataset_tokenizer(d, &stored, err);
    if (s == LEAT_OK)
        s = leat_tokenizer_open_stored(&x->tokenizer, stored, err);
    leat_stored_tokenizer_free(stored);
    if (s == LEAT_OK)
        s = leat_encoder_open(&x->encoder, x->tokenizer, NULL, err);
    if (s == LEAT_OK)
        *out = x;
    else
        dataset_decoder_free(x);
    return s;
}

static enum leat_status decode(struct decoder **x, const struct leat_dataset *d, uint64_t first, uint64_t count,
                               const char **text, uint64_t *bytes, struct leat_error *err)
{
    enum leat_status s = *x ? LEAT_OK : open_decoder(x, d, err);
    uint32_t *ids;

    if (s != LEAT_OK)
        return s;
    ids = malloc((size_t)count * sizeof *ids + 1);
    if (!ids) {
        err->status = LEAT_E_NO_MEMORY;
        snprintf(err->message, sizeof err->message, "no memory for %llu tokens", (unsigned long long)count);
        return LEAT_E_NO_MEMORY;
    }
    s = leat_dataset_read_u32(d, first, count, ids, err);
    if (s == LEAT_OK)
        s = leat_encoder_decode((*x)->encoder, ids, count, text, bytes, err);
    free(ids);
    return s;
}

/* decode(first, count): the bytes that these tokens stand for; begin and end tokens are special ones, by their
 * names. */
PyObject *dataset_decode(PyObject *self, PyObject *args)
{
    struct dataset *object = (struct dataset *)(void *)self;
    struct leat_info info = LEAT_INFO_INIT;
    struct dataset_call call;
    uint64_t first, count, bytes = 0;
    const char *text = NULL;
    struct decoder *x;
    enum leat_status s;
    PyObject *result = NULL;

    if (!PyArg_ParseTuple(args, "O&O&:decode", args_u64, &first, args_u64, &count) || !dataset_begin(self, &call))
        return NULL;
    leat_dataset_info(call.d, &info);
    if (count > info.tokens)
        count = info.tokens + 1; /* out of range, without asking for memory */
    /* another thread that comes in the meantime opens its own */
    x = object->decoder;
    object->decoder = NULL;
    ARGS_UNLOCKED(s = decode(&x, call.d, first, count, &text, &bytes, &call.err));
    if (s == LEAT_OK)
        result = PyBytes_FromStringAndSize(text, (Py_ssize_t)bytes);
    if (object->decoder)
        dataset_decoder_free(x);
    else
        object->decoder = x;
    return dataset_end(&call, s, result);
}
