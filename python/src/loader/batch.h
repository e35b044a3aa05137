/*
 * batch.h: leat._leat.Batch: a batch that the library has given, while it is held, and its facts afterwards. Its
 * outputs always come in the order of enum batch_output.
 *
 * The room python/src/loader/ has loaders, their batches and statistics; frameworks are the concern of
 * python/leat/frameworks.py.
 */
#ifndef LEAT_PYTHON_BATCH_H
#define LEAT_PYTHON_BATCH_H

#include "core/array.h"

/* The outputs: LEAT_OUTPUT_name, the field of struct leat_outputs, its name in Python, and what batch_shape() says
 * about a number. New rows come last. All of Python goes by these rows, except the types of leat.Batch in batch.pyi. */
#define BATCH_EACH(row)                                                                                                \
    row(INPUTS, inputs, "inputs", BATCH_NUMBERS) row(LABELS, labels, "labels", BATCH_NUMBERS)                          \
        row(POSITION_IDS, position_ids, "position_ids", BATCH_NUMBERS)                                                 \
            row(DOCUMENT_IDS, document_ids, "document_ids", BATCH_NUMBERS)                                             \
                row(LOSS_MASK, loss_mask, "loss_mask", BATCH_MASK)                                                     \
                    row(ATTENTION_MASK, attention_mask, "attention_mask", BATCH_MASK)                                  \
                        row(CU_SEQLENS, cu_seqlens, "cu_seqlens", BATCH_LIST)                                          \
                            row(LOSS_WEIGHTS, loss_weights, "loss_weights", BATCH_FLOATS)                              \
                                row(SOURCE_IDS, source_ids, "source_ids", BATCH_NUMBERS)                               \
                                    row(AHEAD_LABELS, ahead_labels, "ahead_labels", BATCH_AHEAD)

enum batch_kind {
    BATCH_NUMBERS, /* rows x length, signed */
    BATCH_MASK,    /* the same, true or false */
    BATCH_FLOATS,  /* the same, floats of 32 bits */
    BATCH_LIST,    /* one after another, of 32 bits */
    BATCH_AHEAD    /* numbers of each label ahead: ahead x rows x length */
};

#define BATCH_NUMBER(name, field, python, kind) BATCH_##name,
enum batch_output { BATCH_EACH(BATCH_NUMBER) BATCH_OUTPUTS };

/* The form in which a loader's numbers are wanted: constant while it lives. */
struct batch_form {
    uint32_t wanted; /* bits of enum leat_output */
    uint32_t number_bytes, unshifted, mask_first;
    uint64_t cu_seqlens_room; /* 0: as many as the batch has */
    int device_type, device;
};

int batch_wants(const struct batch_form *form, enum batch_output which);

/* An object for a batch of this loader and plan; `held`: it is released with the object, or before. NULL: an exception
 * is set, and the batch is released. */
PyObject *batch_make(struct handle *loader, struct handle *plan, const struct leat_batch *batch,
                     const struct batch_form *form, int held);

/* Shape and kind of an output of a batch. */
struct array_shape batch_shape(const struct leat_batch *batch, const struct batch_form *form, enum batch_output which);

/* Where an output goes, in the library's struct. */
void batch_set_output(struct leat_outputs *o, enum batch_output which, void *memory);

int batch_register(PyObject *module);
int loader_register(PyObject *module); /* loader.c */
int turn_register(PyObject *module);   /* turn.c */

#endif
