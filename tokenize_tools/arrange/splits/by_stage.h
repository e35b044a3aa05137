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
    char *name;                     /* the part of the name after "OUT." */
    char *final;                    /* OUT.name */
    bool tokens_named, index_named; /* true if the file has its final name */
};

struct by_stage {
    char *folder;
    const char *output;
    int base; /* length of the part of `output` that names begin with */
    struct leat_writer *lock;
    bool made; /* true if this process made the folder */
    struct by_staged *items;
    size_t count, room;
};

/* Makes the folder, or empties one that a killed run left. Keeps `output`. Returns LEAT_E_BUSY if another process uses
 * the folder. by_stage_close() must follow, on failure too. */
enum leat_status by_stage_open(struct by_stage *s, const char *output, struct leat_error *err);

/* Returns FOLDER/NAME and the suffix, which the caller frees; NULL if there is no memory. */
char *by_stage_path(const struct by_stage *s, const char *name, const char *suffix);

/* Adds the name of a dataset that will be made in the folder. Returns LEAT_E_EXISTS if its final name is taken, unless
 * `replace`. */
enum leat_status by_stage_add(struct by_stage *s, const char *name, bool replace, struct leat_error *err);

/* Gives all datasets their final names, durably. If one cannot get its name, removes those that have theirs. */
enum leat_status by_stage_commit(struct by_stage *s, bool replace, struct leat_error *err);

/* Moves the index of a dataset that has its final name back into the folder. So the dataset no more opens;
 * by_stage_close(), or the next by_stage_open(), removes its tokens. */
enum leat_status by_stage_take_back(const struct by_stage *s, const char *name, struct leat_error *err);

/* Removes the folder, unless another process uses it, and frees the struct's memory. */
void by_stage_close(struct by_stage *s);

/* Removes a folder that by_stage_close() could not remove, if that is possible now. */
void by_stage_clear(const char *output);

#endif
