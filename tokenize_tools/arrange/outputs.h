/*
 * outputs.h: the datasets that are written together: one for each split, then OUTPUT itself, with the rest. All of them
 * are finished or none, as far as several files can get their names at once.
 */
#ifndef LEAT_ARRANGE_OUTPUTS_H
#define LEAT_ARRANGE_OUTPUTS_H

#include "sources.h"

struct output {
    char *name;
    struct leat_writer *writer; /* NULL once it has ended */
};

struct outputs {
    struct output *items;
    size_t count; /* the last one is OUTPUT */
    uint32_t width;
};

/* Opens the writers. On failure too outputs_abandon() must follow. */
enum leat_status outputs_open(struct outputs *o, const char *name, const struct sources *sources,
                              const struct leat_merge_options *options, struct leat_error *err);

/* Ids in the stored width. */
enum leat_status outputs_append(struct outputs *o, size_t i, const void *ids, uint64_t count, struct leat_error *err);
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
