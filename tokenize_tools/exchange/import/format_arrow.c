/*
 * format_arrow.c: Arrow files (IPC streams and files, Feather 2), and folders that Hugging Face datasets saved. A row
 * is a document: the column of its ids is one of lists of integers.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "arrow_reader.h"
#include "base/file.h"
#include "base/status.h"
#include "import_json.h"

static bool is_folder(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* A folder by what datasets wrote beside the data, a file by its first bytes. */
static enum leat_status takes(const char *path, bool *takes, struct leat_error *err)
{
    struct import_json j;
    uint8_t head[8] = { 0 };
    uint64_t size;
    int fd = -1;
    enum leat_status s;

    *takes = false;
    if (is_folder(path)) {
        s = import_json_open(&j, path, "state.json", takes, err);
        if (s == LEAT_OK && !*takes)
            s = import_json_open(&j, path, "dataset_dict.json", takes, err);
        if (s == LEAT_OK)
            import_json_close(&j);
        return s;
    }
    s = file_open_read(&fd, &size, path, err);
    if (s == LEAT_OK && size >= sizeof head)
        s = file_read_at(fd, 0, head, sizeof head, path, err);
    file_close(&fd);
    *takes = memcmp(head, "ARROW1\0", sizeof head) == 0 || bytes_load32(head) == UINT32_MAX;
    return s;
}

static enum leat_status take_state(struct import_source *s, const struct import_json *j, struct leat_error *err)
{
    uint32_t files = import_json_member(j, 0, "_data_files"), file = files + 1;
    enum leat_status status = LEAT_OK;
    struct import_file *added;

    if (import_json_kind(j, files) != JSONTREE_ARRAY)
        return import_json_wrong(j, "_data_files", "a list", err);
    if (import_json_kind(j, import_json_member(j, 0, "_indices_data_files")) == JSONTREE_ARRAY ||
        import_json_kind(j, import_json_member(j, 0, "_indices_files")) == JSONTREE_ARRAY)
        return status_set(err, LEAT_E_UNSUPPORTED,
                          "%s: the dataset is a selection of rows: save it after flatten_indices()", j->path);
    for (uint64_t i = 0; status == LEAT_OK && i < j->tree.nodes[files].length; i++) {
        uint32_t name = import_json_member(j, file, "filename");

        if (import_json_kind(j, name) != JSONTREE_STRING)
            return import_json_wrong(j, "_data_files", "a list of filename", err);
        status = import_json_add_file(s, j, name, &added, err);
        file = jsontree_next(&j->tree, file);
    }
    return status;
}

static enum leat_status arrow_open(struct import_source *s, struct leat_error *err)
{
    struct arrow_reader *r = malloc(sizeof *r);
    struct import_file *file;
    struct import_json j;
    enum leat_status status;
    bool there;

    s->own = r;
    if (!r)
        return status_no_memory(err, sizeof *r);
    arrow_reader_begin(r);
    if (!is_folder(s->path))
        return import_add_file(s, NULL, s->path, &file, err);
    status = import_json_open(&j, s->path, "state.json", &there, err);
    if (status == LEAT_OK && !there)
        return status_set(err, LEAT_E_UNSUPPORTED, "%s holds several splits of a dataset: name the folder of one",
                          s->path);
    if (status == LEAT_OK) {
        status = take_state(s, &j, err);
        import_json_close(&j);
    }
    return status;
}

static void arrow_close(struct import_source *s)
{
    if (s->own)
        arrow_reader_close(s->own);
    free(s->own);
}

static enum leat_status arrow_begin(struct import_source *s, const struct import_file *file, struct leat_error *err)
{
    return arrow_reader_open(s->own, s, file->path, 0, LEAT_NONE, err);
}

static enum leat_status arrow_next(struct import_source *s, struct import_document *d, bool *any,
                                   struct leat_error *err)
{
    return arrow_reader_next(s->own, d, any, err);
}

const struct import_format import_arrow = { "arrow", takes, arrow_open, arrow_close, arrow_begin, arrow_next };
