/*
 * arrow_stream.h: arrays from any Python object that supports Arrow's PyCapsule interface. The producer's functions are
 * called without the GIL; it takes the GIL itself if it needs it.
 *
 * The room python/src/arrow/ reads columns of Arrow's C interface; it knows no tokenizer and no packer.
 */
#ifndef LEAT_PYTHON_ARROW_STREAM_H
#define LEAT_PYTHON_ARROW_STREAM_H

#include "arrow_abi.h"
#include "core/module.h"

struct arrow_stream {
    struct ArrowArrayStream stream; /* ours; release NULL: a single array */
    struct ArrowSchema schema;
    struct ArrowArray array; /* the one that is looked at */
    int single;              /* it is still to be given */
};

/*
 * Takes over the stream of a capsule (from __arrow_c_stream__()), or the array of a pair of capsules (from
 * __arrow_c_array__()), and asks for the schema. -1 with an exception; else the stream is the caller's to close.
 */
int arrow_stream_open(struct arrow_stream *s, PyObject *capsules);

/* The next array, in s->array; its release is NULL after the last one. The GIL must not be held. */
enum leat_status arrow_stream_next(struct arrow_stream *s, struct leat_error *err);

/* The GIL must be held. Arrays that were moved out of s->array belong to whoever moved them. */
void arrow_stream_close(struct arrow_stream *s);

#endif
