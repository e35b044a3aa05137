/* json_paths.c: builds the tree of names. */
#include "json_paths.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/status.h"

static enum leat_status add_node(struct json_paths *p, struct json_node node, uint32_t *number, struct leat_error *err)
{
    enum leat_status s = GROW(p->nodes, p->count + 1, p->room, err);

    if (s != LEAT_OK)
        return s;
    *number = (uint32_t)p->count;
    p->nodes[p->count++] = node;
    return LEAT_OK;
}

/* Finds a name below `parent`, or adds it there. */
static enum leat_status step_down(struct json_paths *p, uint32_t parent, const char *name, size_t bytes,
                                  uint32_t *found, struct leat_error *err)
{
    struct json_node node = { .name = name, .name_bytes = (uint8_t)bytes, .place = JSON_NO_PLACE };
    enum leat_status s;

    for (*found = p->nodes[parent].child; *found != 0; *found = p->nodes[*found].next)
        if (p->nodes[*found].name_bytes == bytes && memcmp(p->nodes[*found].name, name, bytes) == 0)
            return LEAT_OK;
    node.next = p->nodes[parent].child;
    s = add_node(p, node, found, err);
    if (s == LEAT_OK)
        p->nodes[parent].child = *found;
    return s;
}

static enum leat_status check(const char *path, struct leat_error *err)
{
    size_t names = 1, bytes;

    for (const char *name = path;; name += bytes + 1, names++) {
        bytes = strcspn(name, ".");
        if (bytes > JSON_NAME_BYTES)
            return status_set(err, LEAT_E_ARGUMENT, "a name in the path \"%.200s\" is longer than %u bytes", path,
                              JSON_NAME_BYTES);
        if (name[bytes] == '\0')
            break;
    }
    if (names > JSON_PATH_NAMES)
        return status_set(err, LEAT_E_ARGUMENT, "the path \"%.200s\" has more than %d names", path, JSON_PATH_NAMES);
    return LEAT_OK;
}

enum leat_status json_paths_add(struct json_paths *paths, const char *path, uint32_t *place, struct leat_error *err)
{
    uint32_t at = 0;
    size_t bytes;
    enum leat_status s = check(path, err);

    paths->kernels = json_kernels();
    if (s == LEAT_OK && paths->count == 0)
        s = add_node(paths, (struct json_node) { .name = "", .place = JSON_NO_PLACE }, &at, err);
    for (const char *name = path; s == LEAT_OK; name += bytes + 1) {
        bytes = strcspn(name, ".");
        s = step_down(paths, at, name, bytes, &at, err);
        if (name[bytes] == '\0')
            break;
    }
    if (s != LEAT_OK)
        return s;
    if (paths->nodes[at].place == JSON_NO_PLACE)
        paths->nodes[at].place = paths->places++;
    *place = paths->nodes[at].place;
    return LEAT_OK;
}

void json_paths_free(struct json_paths *paths)
{
    free(paths->nodes);
    *paths = (struct json_paths) { 0 };
}
