/*
 * batch.h: leat._leat.Batch: a batch that the library has given, while it is held, and what is known of it afterwards.
 * The numbers that are made of it always come in the order of enum batch_output.
 */
#ifndef LEAT_PYTHON_BATCH_H
#define LEAT_PYTHON_BATCH_H

#include "array.h"
#include "handle.h"
#include "module.h"

enum batch_output {
    BATCH_INPUTS,
    BATCH_LABELS,
    BATCH_POSITIONS,
    BATCH_DOCUMENTS,
    BATCH_LOSS_MASK,
    BATCH_ATTENTION_MASK,
    BATCH_SEQUENCES,
    BATCH_OUTPUTS
};

/* How a loader's numbers are wanted: constant while it lives. */
struct batch_form {
    uint32_t wanted; /* bits of enum leat_output */
    uint32_t number_bytes, unshifted, mask_first;
    uint64_t sequences_room; /* 0: as many as the batch has */
    int device_type, device;
};

int batch_wants(const struct batch_form *form, enum batch_output which);

/* An object for a batch of this loader and plan; `held`: it is released with the object, or before. NULL: an exception is
 * set, and the batch is released. */
PyObject *batch_make(struct handle *loader, struct handle *plan, const struct leat_batch *batch,
                     const struct batch_form *form, int held);

/* Shape and kind of an output of a batch. */
struct array_shape batch_shape(const struct leat_batch *batch, const struct batch_form *form, enum batch_output which);

/* Where an output goes, in the library's struct. */
void batch_set_output(struct leat_outputs *o, enum batch_output which, void *memory);
void *batch_get_output(const struct leat_outputs *o, enum batch_output which);

#endif
