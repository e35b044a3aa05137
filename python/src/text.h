/* text.h: what the files text_*.c share: the way of texts from Python to tokenizers and packers, and of ids back. */
#ifndef LEAT_PYTHON_TEXT_H
#define LEAT_PYTHON_TEXT_H

#include <leat_pack.h>
#include <stdbool.h>

#include "module.h"

/* ---- Texts (text_views.c) ---- */

/* Bytes of somebody else's. */
struct text_view {
    const char *at;
    uint64_t bytes;
};

/*
 * Points at the UTF-8 of a str or the bytes of a bytes. It lasts as long as the object and *kept, which is NULL or a
 * reference for the caller: a str with lone surrogates is read as UTF-16 reads it, with U+FFFD in their place, as
 * tiktoken does. -1 with an exception (TypeError for any other type).
 */
int text_view_of(PyObject *object, struct text_view *view, PyObject **kept);

/* The same of a sequence's items. It owns what keeps them alive. */
struct text_views {
    struct text_view *items;
    size_t count;
    uint64_t bytes;   /* of all */
    PyObject *tuple;  /* the objects themselves, so that nobody can take them out of a list meanwhile */
    PyObject *others; /* a list of what text_view_of() kept; NULL: nothing */
};
int text_views_take(struct text_views *views, PyObject *sequence);
void text_views_free(struct text_views *views);

/* ---- Ids (text_ids.c) ---- */

/* Ids in one allocation; {0} is empty. */
struct text_ids {
    uint32_t *at;
    size_t count, room;
};
/* Needs no GIL. LEAT_E_NO_MEMORY. */
enum leat_status text_ids_append(struct text_ids *ids, const uint32_t *more, uint64_t count, struct leat_error *err);
void text_ids_free(struct text_ids *ids);

/* What Python gives as ids: a list or tuple of ints, or a pair (bytes, type code of struct.unpack: one of "bBhHiIlLqQ").
 * -1 with OverflowError or TypeError. */
int text_ids_take(struct text_ids *ids, PyObject *object);

/* In what form ids are returned: a list of ints, or a bytearray of uint32 (which numpy views without a copy). */
enum text_form { TEXT_LIST = 0, TEXT_BYTES = 1 };
PyObject *text_ids_give(const uint32_t *ids, size_t count, enum text_form form);

/* ---- Encoders (text_encoders.c) ---- */

/*
 * Encoders that wait for their next text: they are dear to make and a thread's own. The GIL guards the pool, so that a
 * fork finds it in order.
 */
#define TEXT_POOL_MAX 64
struct text_encoders {
    struct leat_encoder *waiting[2][TEXT_POOL_MAX]; /* by whether strings of special tokens become these */
    unsigned count[2];
};
enum leat_status text_encoders_take(struct text_encoders *pool, const struct leat_tokenizer *t, bool special,
                                    struct leat_encoder **out, struct leat_error *err);
void text_encoders_give(struct text_encoders *pool, bool special, struct leat_encoder *e);
void text_encoders_free(struct text_encoders *pool);

/* ---- Tokenizers (text_tokenizer.c) ---- */

struct text_tokenizer {
    PyObject_HEAD struct leat_tokenizer *tokenizer;
    struct text_encoders encoders;
};

/* The tokenizer of a leat._leat.Tokenizer; NULL with TypeError for anything else. */
struct text_tokenizer *text_tokenizer_of(PyObject *object);

/* ---- Many texts at once (text_batch.c) ---- */

struct text_batch_result {
    struct text_ids *pieces; /* the ids of all texts, in stretches */
    size_t piece_count;
    uint64_t *counts;   /* ids of each text */
    uint64_t *specials; /* strings of special tokens in each text */
    uint64_t total;     /* ids */
};

/* Encodes with that many threads (0: all cores), without the GIL. -1 with an exception, KeyboardInterrupt too. */
int text_batch_run(struct text_tokenizer *t, const struct text_view *texts, size_t count, bool special,
                   unsigned threads, struct text_batch_result *result);
void text_batch_free(struct text_batch_result *result);

/* ---- Options of packing (text_options.c) ---- */

/* The path of a str, bytes or PathLike as bytes; a converter of PyArg_ParseTuple(), whose reference the caller drops. None
 * is NULL. */
int text_path(PyObject *object, void *bytes);

#define TEXT_SPLITS 64
struct text_pack_options {
    struct leat_pack_options options;
    struct leat_split splits[TEXT_SPLITS];
};
/* From the tuple that python/leat/packing.py makes, and which must outlive it. -1 with an exception. */
int text_options_take(struct text_pack_options *o, const struct text_tokenizer *t, PyObject *tuple);
/* The same of a list of pairs of str; the number of them, or -1. */
Py_ssize_t text_splits_take(struct leat_split splits[TEXT_SPLITS], PyObject *list);

/* What a run did, as a dict; `infos` has an entry for each split. */
PyObject *text_report(const struct leat_pack_report *report);
PyObject *text_infos(const struct leat_info *infos, size_t count);

/* ---- What each file adds to the module ---- */

int text_tokenizer_register(PyObject *module);
int text_packer_register(PyObject *module);
int text_pack_register(PyObject *module);
int arrow_rows_register(PyObject *module);

#endif
