/*
 * by_stage.h: the folder OUT.partial.by, in which the datasets of a division are finished one after another, before all
 * of them get their names. So any number of them takes no open files and no memory, and until the last one is complete
 * and durable, none exists.
 */
#ifndef LEAT_ARRANGE_BY_STAGE_H
#define LEAT_ARRANGE_BY_STAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "leat_pack.h"

struct by_staged {
    char *name;                     /* what follows "OUT." */
    char *final;                    /* OUT.name */
    bool tokens_named, index_named; /* as OUT.name */
};

struct by_stage {
    char *folder;
    const char *output;
    int base; /* how much of it names begin with */
    struct leat_writer *lock;
    bool made; /* the folder, by this process */
    struct by_staged *items;
    size_t count, room;
};

/* Makes the folder, or takes one that a killed run left and removes what is in it. LEAT_E_BUSY: another process uses
 * it. `output` is kept. On failure too by_stage_close() must follow. */
enum leat_status by_stage_open(struct by_stage *s, const char *output, struct leat_error *err);

/* FOLDER/NAME and a suffix, or OUT.NAME and a suffix; the caller frees it. NULL: no memory. */
char *by_stage_path(const struct by_stage *s, const char *name, const char *suffix);

/* Names a dataset that is to be made in the folder. LEAT_E_EXISTS if its final name is taken, unless `replace`. */
enum leat_status by_stage_add(struct by_stage *s, const char *name, bool replace, struct leat_error *err);

/* Gives all datasets their final names, durably. If one cannot have its name, those that had got theirs are removed. */
enum leat_status by_stage_commit(struct by_stage *s, bool replace, struct leat_error *err);

/* Moves the index of a dataset that has its name back into the folder: the dataset is gone, and by_stage_close(), or
 * the next by_stage_open(), removes its tokens. */
enum leat_status by_stage_take_back(const struct by_stage *s, const char *name, struct leat_error *err);

/* Removes the folder, unless another process uses it, and frees. */
void by_stage_close(struct by_stage *s);

/* Removes a folder that by_stage_close() could not remove, if that is possible now. */
void by_stage_clear(const char *output);

#endif
