/*
 * own_outputs.h: the files of a run's outputs that exist already: datasets, unfinished ones, rejects. A run does not
 * read them as inputs, whatever name leads to them.
 */
#ifndef LEAT_TOKENIZE_TOOLS_OWN_OUTPUTS_H
#define LEAT_TOKENIZE_TOOLS_OWN_OUTPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "leat.h"

struct own_output {
    dev_t device;
    ino_t inode;
    char *name; /* name in its folder */
};

struct own_outputs {
    struct own_output *items;
    size_t count;
};

/* Adds the files of dataset `name` (without .leat), and the targets of links among them. */
enum leat_status own_outputs_add(struct own_outputs *own, const char *name, struct leat_error *err);
void own_outputs_free(struct own_outputs *own);

/* Returns the output file with this device and inode, or NULL. */
const struct own_output *own_outputs_find(const struct own_outputs *own, const struct stat *st);

#endif
