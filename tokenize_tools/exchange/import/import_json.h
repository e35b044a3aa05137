/* import_json.h: the JSON that describes a dataset of another tool: index.json, state.json. */
#ifndef LEAT_IMPORT_JSON_H
#define LEAT_IMPORT_JSON_H

#include "import.h"
#include "tokenizer/notation/jsontree.h"

struct import_json {
    char *path;
    uint8_t *text;
    struct jsontree tree;
};

/* Reads FOLDER/NAME, or FOLDER itself if it is a file called so. *there is false, and nothing is open, if there is no
 * such file. LEAT_E_HEADER: it is not JSON. */
enum leat_status import_json_open(struct import_json *j, const char *folder, const char *name, bool *there,
                                  struct leat_error *err);
void import_json_close(struct import_json *j);

/* A format's takes(): whether there is an index.json with a list of this name. And the same file in open(). */
enum leat_status import_json_takes(const char *folder, const char *list, bool *takes, struct leat_error *err);
enum leat_status import_json_index(struct import_json *j, const char *folder, struct leat_error *err);

/* A string of the tree, or of any text, with a NUL; the caller's. NULL: no memory. */
char *import_json_string(const struct import_json *j, uint32_t node);

/* The kind of a node; JSONTREE_NULL for JSONTREE_NONE. */
enum jsontree_kind import_json_kind(const struct import_json *j, uint32_t node);

/* As jsontree_member(), jsontree_u64() and jsontree_is(), also for JSONTREE_NONE. */
uint32_t import_json_member(const struct import_json *j, uint32_t object, const char *name);
bool import_json_u64(const struct import_json *j, uint32_t node, uint64_t *value);
bool import_json_is(const struct import_json *j, uint32_t node, const char *text);

/* "PATH: WHAT is missing or not a NOUN". */
enum leat_status import_json_wrong(const struct import_json *j, const char *what, const char *noun,
                                   struct leat_error *err);

/* import_add_file() of the file beside this one that a string of the tree names. */
enum leat_status import_json_add_file(struct import_source *s, const struct import_json *j, uint32_t node,
                                      struct import_file **file, struct leat_error *err);

#endif
