/*
 * text_tokenizer.h: leat._leat.Tokenizer. The room: tokenizers, their encoders, and texts encoded by many threads
 * (text_batch.h); nothing here knows datasets.
 */
#ifndef LEAT_PYTHON_TEXT_TOKENIZER_H
#define LEAT_PYTHON_TEXT_TOKENIZER_H

#include "core/module.h"
#include "text_encoders.h"

struct text_tokenizer {
    PyObject_HEAD struct leat_tokenizer *tokenizer;
    struct text_encoders encoders;
};

/* The tokenizer of a leat._leat.Tokenizer; NULL with TypeError for anything else. */
struct text_tokenizer *text_tokenizer_of(PyObject *object);

int text_tokenizer_register(PyObject *module);

#endif
