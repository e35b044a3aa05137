/* batch.h: leat._leat.Batch is a batch that the library gives. Its numbers are there while it is held, and its facts
 * also afterwards. Its outputs always come in the order of enum batch_output. The room python/src/loader/ has
 * loaders, their batches and statistics; python/leat/frameworks.py makes arrays of frameworks. */
#ifndef LEAT_PYTHON_BATCH_H
#define LEAT_PYTHON_BATCH_H

#include "core/array.h"

/* Lists the outputs: LEAT_OUTPUT_name, the field of struct leat_outputs, its name in Python, and the kind of its
 * numbers. New rows come last. All Python code reads this table, except the types of leat.Batch in batch.pyi. */
#define BATCH_EACH(row)                                                                                                \
    row(INPUTS, inputs, "inputs", BATCH_NUMBERS) row(LABELS, labels, "labels", BATCH_NUMBERS)                          \
        row(POSITION_IDS, position_ids, "position_ids", BATCH_NUMBERS)                                                 \
            row(DOCUMENT_IDS, document_ids, "document_ids", BATCH_NUMBERS)                                             \
                row(LOSS_MASK, loss_mask, "loss_mask", BATCH_MASK)                                                     \
                    row(ATTENTION_MASK, attention_mask, "attention_mask", BATCH_MASK)                                  \
                        row(CU_SEQLENS, cu_seqlens, "cu_seqlens", BATCH_LIST)                                          \
                            row(LOSS_WEIGHTS, loss_weights, "loss_weights", BATCH_FLOATS)                              \
                                row(SOURCE_IDS, source_ids, "source_ids", BATCH_NUMBERS)                               \
                                    row(AHEAD_LABELS, ahead_labels, "ahead_labels", BATCH_AHEAD)                       \
                                        row(PLACES, places, "places", BATCH_WIDE)

enum batch_kind {
    BATCH_NUMBERS, /* has rows x length signed integers */
    BATCH_MASK,    /* has rows x length booleans */
    BATCH_FLOATS,  /* has rows x length floats of 32 bits */
    BATCH_LIST,    /* is one list of 32-bit integers */
    BATCH_AHEAD,   /* has ahead x rows x length signed integers */
    BATCH_WIDE     /* has rows x length signed integers of 64 bits */
};

#define BATCH_NUMBER(name, field, python, kind) BATCH_##name,
enum batch_output { BATCH_EACH(BATCH_NUMBER) BATCH_OUTPUTS };

/* Columns of the loader are numbered after the outputs. */
#define BATCH_COLUMNS 64u
#define BATCH_ALL     (BATCH_OUTPUTS + BATCH_COLUMNS)

/* The form of a loader's numbers, which is constant while the loader is open. */
struct batch_form {
    uint32_t wanted; /* bits of enum leat_output */
    uint32_t number_bytes, unshifted, mask_first;
    uint64_t cu_seqlens_room; /* numbers that cu_seqlens has room for; 0 means as many as the batch has */
    int device_type, device;
    unsigned count; /* number of outputs and columns */
    struct batch_column {
        uint32_t type, width; /* enum leat_column_type; numbers per place */
    } columns[BATCH_COLUMNS];
};

/* The memory of a batch's outputs. */
struct batch_memory {
    struct leat_outputs outputs;
    void *columns[BATCH_COLUMNS];
};

int batch_wants(const struct batch_form *form, unsigned which);

/* Makes an object for a batch of this loader and plan. If it is `held`, the batch is released with the object or
 * before. On failure it releases the batch and returns NULL with an exception set. */
PyObject *batch_make(struct handle *loader, struct handle *plan, const struct leat_batch *batch,
                     const struct batch_form *form, int held);

/* Returns the name of the dtype of a column's type. */
const char *batch_dtype(uint32_t type);

/* Returns the shape and kind of an output of a batch. */
struct array_shape batch_shape(const struct leat_batch *batch, const struct batch_form *form, unsigned which);

/* Makes outputs of this form, and stores the address of one of them. */
void batch_begin(struct batch_memory *m, const struct batch_form *form);
void batch_set_output(struct batch_memory *m, unsigned which, void *memory);

int batch_register(PyObject *module);
int loader_register(PyObject *module); /* loader.c */
int turn_register(PyObject *module);   /* turn.c */

#endif
