/*
 * json_paths.h: the members of JSON records that someone wants, as a tree of names, so that a record is scanned once
 * for all of them. A path is a member's name, or the names that lead to it, joined by dots: "meta.text" is the member
 * "text" of the member "meta".
 *
 * This room reads JSON records and nothing else: one scanner (json_scan) for records in memory and in chunks, strings
 * (json_unescape), the ends of records that are not lines (json_records), and kernels per CPU level for the hot loops.
 * What may enter: code that knows JSON. The room does not know where records come from, what their members mean, or
 * what is done with them.
 */
#ifndef LEAT_TOKENIZE_TOOLS_JSON_PATHS_H
#define LEAT_TOKENIZE_TOOLS_JSON_PATHS_H

#include <stddef.h>
#include <stdint.h>

#include "json_kernels.h"
#include "leat.h"

#define JSON_PATH_NAMES 32   /* most names in a path */
#define JSON_NAME_BYTES 255u /* most bytes of a name */
#define JSON_NO_PLACE   UINT32_MAX

/* A name on a path. */
struct json_node {
    const char *name; /* points into the path as given; ends at a dot or the end */
    uint8_t name_bytes;
    uint32_t child, next; /* first node below this one, and next node beside it; 0 for none */
    uint32_t place;       /* number of the path that ends here; JSON_NO_PLACE if none does */
};

/* A tree of names, zeroed at first. It is constant once all paths are added, so any number of threads may use it. */
struct json_paths {
    const struct json_kernels *kernels;
    struct json_node *nodes; /* the first is the record itself */
    size_t count, room;
    uint32_t places;
};

/* Adds a path, which must outlive *paths, and sets *place to its number: that of an equal path, or the next one.
 * Returns LEAT_E_ARGUMENT if it has too many or too long names. */
enum leat_status json_paths_add(struct json_paths *paths, const char *path, uint32_t *place, struct leat_error *err);
void json_paths_free(struct json_paths *paths);

#endif
