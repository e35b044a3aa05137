/*
 * private.h: what libleat_pack needs of libleat and no front end sets. No program includes it, and it is not installed.
 * Its symbols have the version LEAT_PRIVATE (leat.map): they may change with each release, as both libraries come from
 * one.
 */
#ifndef LEAT_PRIVATE_H
#define LEAT_PRIVATE_H

#include <stdbool.h>

#include "leat.h"

/* ---- Writing a dataset with several threads ---- */

/*
 * leat_writer_add() in two steps, for programs whose threads make ids side by side. leat_writer_place() decides where
 * documents go; calls of it, and of all functions of leat/writer.h, come from one thread at a time, in the order of the
 * documents. leat_writer_put() then writes them, and may be called by several threads at once, in any order: exactly
 * once for each place, with the same documents. Checkpoints and finishing wait until all documents with a place are
 * written.
 */

/* Where documents go: the number of the first one, its first token, and numbers of the writer's own. */
struct leat_place {
    uint64_t token, document, id_byte, cell;
};

LEAT_API enum leat_status leat_writer_place(struct leat_writer *w, const struct leat_documents *documents,
                                            struct leat_place *place, struct leat_error *err);

/* Writes documents at their place. If it fails, the writer fails; also with LEAT_E_TOKEN for an id that is not below
 * the vocabulary size, and LEAT_E_ARGUMENT for an origin in an input that was not declared. */
LEAT_API enum leat_status leat_writer_put(struct leat_writer *w, const struct leat_documents *documents,
                                          const struct leat_place *place, struct leat_error *err);

/*
 * Lets tokens go to the disk past the page cache from byte `from` of NAME.tokens on (0: never; 1: all), if the file
 * system says that it can do that (ext4, XFS; Linux 6.1): threads that put documents then do not wait for each other in
 * the kernel, which also copies nothing, but the next reader of the file finds it on the disk. The bytes are the same.
 * Up to 4 threads of the writer write up to 4 MiB beside the caller's. Follows leat_writer_open() or _resume().
 */
LEAT_API void leat_writer_write_direct(struct leat_writer *w, uint64_t from);

/* Returns how many bytes of tokens this writer has written past the page cache. */
LEAT_API uint64_t leat_writer_direct_bytes(const struct leat_writer *w);

/* Returns true if the dataset stores a mask; then sets the number of tokens that training learns, and of documents
 * without one. Waits until all documents with a place are written. */
LEAT_API bool leat_writer_learned(struct leat_writer *w, uint64_t *tokens, uint64_t *documents_without);

/*
 * Does all of leat_writer_finish() except naming the files: completes the index and makes both files durable, so that
 * finishing can no longer fail for lack of space. For several datasets that should be finished all or none. After it
 * only leat_writer_finish(), _suspend() and _abandon() are allowed; other calls return LEAT_E_STATE.
 */
LEAT_API enum leat_status leat_writer_prepare(struct leat_writer *w, struct leat_error *err);

/* ---- Values beside the documents ---- */

/*
 * Bytes that a program writes beside the documents, to make columns of them when the dataset is complete. They lie in
 * NAME.partial.values, belong to checkpoints as the documents do, and go with the other partial files.
 *
 * leat_writer_keep_values() follows leat_writer_open() or _resume(). Like leat_writer_place(),
 * leat_writer_place_values() gives bytes their place, in turn, and leat_writer_put_values() writes them, from any
 * thread: before leat_writer_put() of the documents that they belong to.
 */
LEAT_API enum leat_status leat_writer_keep_values(struct leat_writer *w, struct leat_error *err);
LEAT_API uint64_t leat_writer_place_values(struct leat_writer *w, uint64_t bytes);
LEAT_API enum leat_status leat_writer_put_values(struct leat_writer *w, uint64_t at, const void *bytes, uint64_t count,
                                                 struct leat_error *err);

/* Between leat_writer_prepare() and leat_writer_finish(), leat_dataset_open_unfinished() opens the dataset by the name
 * leat_writer_unfinished(), NAME.partial, and the values can be read. Columns that are attached to it then become the
 * dataset's: finishing gives them their names before the dataset has its own. */
LEAT_API const char *leat_writer_unfinished(const struct leat_writer *w);
LEAT_API enum leat_status leat_dataset_open_unfinished(struct leat_dataset **out, const char *name,
                                                       struct leat_error *err);
LEAT_API enum leat_status leat_writer_read_values(const struct leat_writer *w, uint64_t at, void *out, uint64_t count,
                                                  struct leat_error *err);

/* ---- Columns ---- */

/* leat_column_check() checks the options of a column, and sets *bytes (may be NULL) to the bytes of a value.
 * leat_column_convert() converts `count` numbers of this machine, of the type `from`, to little-endian ones of the type
 * `to`, as leat_column_writer_add() does. It returns how many: fewer than `count` if `to` does not hold the next. */
LEAT_API enum leat_status leat_column_check(const struct leat_column_options *o, uint32_t *bytes,
                                            struct leat_error *err);
LEAT_API uint64_t leat_column_convert(void *out, uint32_t to, const void *values, uint32_t from, uint64_t count);

/* Returns LEAT_E_UNSUPPORTED if a part of the dataset has columns, for work (`what`: "merging") that would leave them
 * out without a word. */
LEAT_API enum leat_status leat_dataset_refuse_columns(const struct leat_dataset *d, const char *what,
                                                      struct leat_error *err);

/* Opens the column of several parts of datasets as one, whose entries are counted through, as leat_column_open() does
 * for a list. */
struct leat_column_part {
    const struct leat_dataset *dataset;
    uint64_t part;
};
LEAT_API enum leat_status leat_column_join(struct leat_column **out, const struct leat_column_part *parts,
                                           uint64_t count, const char *name, struct leat_error *err);

/* ---- Checking a dataset ---- */

/* Does what leat_dataset_verify() does for each NAME.leat alone: tokens are not read. */
LEAT_API enum leat_status leat_dataset_verify_index(const struct leat_dataset *d,
                                                    const struct leat_verify_options *options, struct leat_error *err);

#endif
