/* import_json.c: see import_json.h. */
#include "import_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/status.h"
#include "tokenizer/load/whole_file.h"

static char *path_of(const char *folder, const char *name)
{
    size_t length = strlen(folder), size = length + strlen(name) + 2;
    char *path;

    if (file_ends_with(folder, length, name) && folder[length - strlen(name) - 1] == '/')
        return strdup(folder);
    path = malloc(size);
    if (path)
        snprintf(path, size, "%s%s%s", folder, length > 0 && folder[length - 1] == '/' ? "" : "/", name);
    return path;
}

/* The readers are those of tokenizers. */
static enum leat_status no_vocabulary(enum leat_status s, struct leat_error *err)
{
    if (s != LEAT_E_VOCABULARY)
        return s;
    if (err)
        err->status = LEAT_E_HEADER;
    return LEAT_E_HEADER;
}

enum leat_status import_json_open(struct import_json *j, const char *folder, const char *name, bool *there,
                                  struct leat_error *err)
{
    enum leat_status s;
    struct stat st;
    uint64_t size;

    *j = (struct import_json) { .path = path_of(folder, name) };
    *there = false;
    if (!j->path)
        return status_no_memory(err, strlen(folder));
    if (stat(j->path, &st) != 0 || !S_ISREG(st.st_mode)) {
        import_json_close(j);
        return LEAT_OK;
    }
    s = whole_file_read(&j->text, &size, j->path, err);
    if (s == LEAT_OK)
        s = jsontree_parse(&j->tree, j->text, size, j->path, err);
    *there = s == LEAT_OK;
    if (s != LEAT_OK)
        import_json_close(j);
    return no_vocabulary(s, err);
}

void import_json_close(struct import_json *j)
{
    jsontree_free(&j->tree);
    free(j->text);
    free(j->path);
    *j = (struct import_json) { 0 };
}

enum leat_status import_json_takes(const char *folder, const char *list, bool *takes, struct leat_error *err)
{
    struct import_json j;
    enum leat_status s = import_json_open(&j, folder, "index.json", takes, err);

    *takes = *takes && import_json_kind(&j, import_json_member(&j, 0, list)) == JSONTREE_ARRAY;
    if (s == LEAT_OK)
        import_json_close(&j);
    return s;
}

enum leat_status import_json_index(struct import_json *j, const char *folder, struct leat_error *err)
{
    bool there;
    enum leat_status s = import_json_open(j, folder, "index.json", &there, err);

    return s != LEAT_OK || there ? s : status_set(err, LEAT_E_NO_FILE, "%s has no index.json any more", folder);
}

char *import_json_string(const struct import_json *j, uint32_t node)
{
    struct jsontree_text t = jsontree_string(&j->tree, node);

    return strndup((const char *)t.bytes, t.length);
}

enum jsontree_kind import_json_kind(const struct import_json *j, uint32_t node)
{
    return node == JSONTREE_NONE ? JSONTREE_NULL : (enum jsontree_kind)j->tree.nodes[node].kind;
}

uint32_t import_json_member(const struct import_json *j, uint32_t object, const char *name)
{
    return object == JSONTREE_NONE ? JSONTREE_NONE : jsontree_member(&j->tree, object, name);
}

bool import_json_u64(const struct import_json *j, uint32_t node, uint64_t *value)
{
    return node != JSONTREE_NONE && jsontree_u64(&j->tree, node, value);
}

bool import_json_is(const struct import_json *j, uint32_t node, const char *text)
{
    return node != JSONTREE_NONE && jsontree_is(&j->tree, node, text);
}

enum leat_status import_json_wrong(const struct import_json *j, const char *what, const char *noun,
                                   struct leat_error *err)
{
    return status_set(err, LEAT_E_HEADER, "%s: \"%s\" is missing or not %s; restore the file from its source", j->path,
                      what, noun);
}

enum leat_status import_json_add_file(struct import_source *s, const struct import_json *j, uint32_t node,
                                      struct import_file **file, struct leat_error *err)
{
    char *folder = file_folder(j->path), *name = import_json_string(j, node);
    enum leat_status status = folder && name ? import_add_file(s, folder, name, file, err) : status_no_memory(err, 1);

    free(folder);
    free(name);
    return status;
}
