/*
 * outputs.h: the datasets that are written together: one per split, then OUTPUT itself, with the rest. Either all of
 * them are finished or none, as far as several files can get their names at once.
 */
#ifndef LEAT_ARRANGE_OUTPUTS_H
#define LEAT_ARRANGE_OUTPUTS_H

#include <stdbool.h>
#include <stdint.h>

#include "document_reader.h"
#include "merge_parts.h"
#include "sorting/helpers.h"

struct batch;

/* Helpers that write. The caller reads and arranges documents, and gives each full batch its place, in order; then a
 * helper checks, copies, hashes and writes it. If all of them have enough to do, the caller does it. */
struct crew {
    struct helpers helpers; /* for other jobs too */
    pthread_mutex_t lock;   /* for the rest: */
    struct batch *spare;
    unsigned waiting; /* batches that are to be put */
};

struct output {
    char *name;
    struct leat_writer *writer; /* NULL once it has ended */
    struct batch *batch;        /* that is being filled, or NULL */
    bool direct;                /* the open document is too large for a batch, and goes to the writer */
};

struct outputs {
    struct output *items;
    size_t count; /* the last one is OUTPUT */
    uint32_t width;
    struct crew crew;
};

/* Opens the writers. On failure too outputs_abandon() must follow. */
enum leat_status outputs_open(struct outputs *o, const char *name, const struct merge_parts *parts,
                              const struct leat_merge_options *options, struct leat_error *err);

/* The same for datasets with these names, which are taken over: those that are become NULL. */
enum leat_status outputs_open_each(struct outputs *o, char **names, size_t count, const struct merge_parts *parts,
                                   const struct leat_merge_options *options, struct leat_error *err);

/* Copies the reader's document to output i. */
enum leat_status outputs_copy(struct outputs *o, size_t i, const struct document *d, struct document_reader *reader,
                              struct leat_error *err);

/* Ids in the stored width, and their mask, or NULL. */
enum leat_status outputs_append(struct outputs *o, size_t i, const void *ids, const uint8_t *mask, uint64_t count,
                                struct leat_error *err);
enum leat_status outputs_end_document(struct outputs *o, size_t i, const struct leat_origin *origin,
                                      struct leat_error *err);

/* In all outputs. */
enum leat_status outputs_add_input(struct outputs *o, const char *path, struct leat_error *err);
enum leat_status outputs_set_input(struct outputs *o, uint64_t number, const struct leat_input *input,
                                   struct leat_error *err);
enum leat_status outputs_set_metadata(struct outputs *o, const char *key, const char *value, struct leat_error *err);

/* Completes all, then gives all their names; `splits` (may be NULL) and `info` are filled as by
 * leat_writer_finish(). */
enum leat_status outputs_finish(struct outputs *o, struct leat_info *splits, struct leat_info *info,
                                struct leat_error *err);

/* Removes what is not finished, and frees everything. */
void outputs_abandon(struct outputs *o);

#endif
