/*
 * outputs.h: the datasets that are written together: one per split, then OUTPUT itself, with the rest. Either all of
 * them are finished or none, as far as several files can get their names at once.
 */
#ifndef LEAT_ARRANGE_OUTPUTS_H
#define LEAT_ARRANGE_OUTPUTS_H

#include <stdbool.h>
#include <stdint.h>

#include "document_reader.h"
#include "mask/learned.h"
#include "merge_columns.h"
#include "merge_parts.h"
#include "sorting/helpers.h"

struct batch;

/* Full batches on their way to writers. The caller reads and arranges documents, and gives each full batch its
 * place, in order; then a helper checks, copies, hashes and writes it. If all helpers have enough to do, the caller
 * does it. */
struct batch_queue {
    struct helpers helpers; /* helpers that also do other jobs of a merge */
    pthread_mutex_t lock;   /* guards `spare` and `waiting` */
    struct batch *spare;    /* list of batches to fill again */
    unsigned waiting;       /* batches that no helper has begun to write */
};

struct output {
    char *name;
    struct leat_writer *writer;   /* NULL once the writer has finished or was abandoned */
    struct batch *batch;          /* the batch that is being filled, or NULL */
    bool direct;                  /* true if the open document is too large for a batch and goes to the writer */
    struct merge_sources sources; /* of the last documents, if the parts have columns */
};

struct outputs {
    const struct merge_parts *parts;
    struct output *items; /* one output per split, then OUTPUT */
    size_t count;
    uint32_t width;      /* bytes per token */
    struct learned from; /* sum over the parts; its roles are those of no token if a part does not say it */
    struct batch_queue queue;
};

/* Opens the writers of OUTPUT and of its splits, whose names merge_into() says. outputs_abandon() must follow, on
 * failure too. */
enum leat_status outputs_open(struct outputs *o, const char *name, bool folders, const struct merge_parts *parts,
                              const struct leat_merge_options *options, struct leat_error *err);

/* Opens the writers of the datasets `names`. Takes over the names that it sets to NULL. outputs_abandon() must follow,
 * on failure too. */
enum leat_status outputs_open_each(struct outputs *o, char **names, size_t count, const struct merge_parts *parts,
                                   const struct leat_merge_options *options, struct leat_error *err);

/* Copies the reader's document to output i. */
enum leat_status outputs_copy(struct outputs *o, size_t i, const struct document *d, struct document_reader *reader,
                              struct leat_error *err);

/* Appends ids in the stored width to the open document of output i, with their mask (or NULL). */
enum leat_status outputs_append(struct outputs *o, size_t i, const void *ids, const uint8_t *mask, uint64_t count,
                                struct leat_error *err);

/* Ends the open document of output i, which is document `number` in the order of the parts. */
enum leat_status outputs_end_document(struct outputs *o, size_t i, uint64_t number, const struct leat_origin *origin,
                                      struct leat_error *err);

/* Call the writer's function of that name for all outputs. */
enum leat_status outputs_add_input(struct outputs *o, const char *path, struct leat_error *err);
enum leat_status outputs_set_input(struct outputs *o, uint64_t number, const struct leat_input *input,
                                   struct leat_error *err);
enum leat_status outputs_set_metadata(struct outputs *o, const char *key, const char *value, struct leat_error *err);

/* Completes all outputs and makes their columns, then gives them their names. Fills `splits` (may be NULL) and `info`
 * as leat_writer_finish() does. */
enum leat_status outputs_finish(struct outputs *o, struct leat_info *splits, struct leat_info *info, struct pace *pace,
                                struct leat_error *err);

/* Removes the outputs that are not finished, and frees everything. */
void outputs_abandon(struct outputs *o);

#endif
