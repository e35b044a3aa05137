/*
 * json_paths.h: the members of JSON records that someone wants, as a tree of names, so that a record is scanned once
 * for all of them. A path is a member's name, or the names that lead to it, joined by dots: "meta.text" is the member
 * "text" of the member "meta".
 *
 * This room reads JSON records and nothing else: one scanner (json_scan) for records in memory and in chunks, strings
 * (json_unescape), where records end that are not lines (json_records), and kernels per CPU level for the hot loops.
 * What may enter: what knows JSON. Where records come from, what their members mean, and what is done with them, is not
 * known here.
 */
#ifndef LEAT_TOKENIZE_TOOLS_JSON_PATHS_H
#define LEAT_TOKENIZE_TOOLS_JSON_PATHS_H

#include <stddef.h>
#include <stdint.h>

#include "json_kernels.h"
#include "leat.h"

#define JSON_PATH_NAMES 32   /* names in a path at most */
#define JSON_NAME_BYTES 255u /* bytes of one at most */
#define JSON_NO_PLACE   UINT32_MAX

/* A name on a path. */
struct json_node {
    const char *name; /* within the path as given, up to a dot or the end */
    uint8_t name_bytes;
    uint32_t child, next; /* the first name below it; the next one beside it; 0: none */
    uint32_t place;       /* the number of the path that ends here; JSON_NO_PLACE: none does */
};

/* All zero at first; constant once all paths are added: any number of threads may use it. */
struct json_paths {
    const struct json_kernels *kernels;
    struct json_node *nodes; /* the first is the record itself */
    size_t count, room;
    uint32_t places;
};

/* Adds a path, which must outlive *paths, and gives its number: that of an equal one if there is one, else the next.
 * LEAT_E_ARGUMENT: it has too many or too long names. */
enum leat_status json_paths_add(struct json_paths *paths, const char *path, uint32_t *place, struct leat_error *err);
void json_paths_free(struct json_paths *paths);

#endif
