/*
 * hub_splits.h: the splits (train, validation, test, ...) of a folder from the Hugging Face Hub, found as the package
 * datasets finds them: by its README.md, or else by the names of its files. The answer depends on these names and the
 * bytes of README.md alone, wherever the folder is.
 *
 * This room knows the meaning of folders on the Hub. What may enter: names, patterns, README.md; but no file system and
 * no list of inputs.
 *
 * A *hub split* is a set of files of a folder from the Hub: train, test. A *split* alone is a share of the documents or
 * tokens that leat divides off.
 */
#ifndef LEAT_TOKENIZE_TOOLS_HUB_SPLITS_H
#define LEAT_TOKENIZE_TOOLS_HUB_SPLITS_H

#include <stddef.h>

#include "corpus/fetch/fetch.h"
#include "hub_card.h"

struct hub_split {
    char *name;    /* NULL only if a caller has added a split of that name */
    size_t *files; /* numbers of the names, in order; a name may be in several splits, or in none */
    size_t count, room;
};

struct hub_splits {
    struct hub_split *items; /* splits with files: train, validation and test, and then others that names say */
    size_t count, room;      /* count is 0 if neither README.md nor a name says anything */
};

/*
 * Finds the splits of `count` names, which are paths in the folder: folders named train, files named train-0001, ... in
 * all ways of datasets. `stop` is asked often.
 */
enum leat_status hub_splits_by_names(struct hub_splits *splits, const char *const *names, size_t count,
                                     const struct input_stop *stop, struct leat_error *err);

/*
 * Finds the splits of the configuration in README.md that has files among the names; by names if none has. If several
 * configurations have files, there are no splits, and *configs is an array of their numbers of files, in the order of
 * the card, which the caller frees; otherwise *configs is NULL.
 */
enum leat_status hub_splits_find(struct hub_splits *splits, const char *const *names, size_t count,
                                 const struct hub_card *card, size_t **configs, const struct input_stop *stop,
                                 struct leat_error *err);

/* Appends a file to the split of this name, which is made if it is new. NULL is a name, too. */
enum leat_status hub_splits_add(struct hub_splits *splits, const char *name, size_t name_bytes, size_t file,
                                struct leat_error *err);

void hub_splits_free(struct hub_splits *splits);

#endif
