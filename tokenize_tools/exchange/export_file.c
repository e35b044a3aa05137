/* export_file.c: the files of an export, complete before the first of them gets its name; see export.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/own_file.h"
#include "base/status.h"
#include "base/tiny.h"
#include "export.h"

#define BUFFER_BYTES TINY_OR((size_t)16, (size_t)64 << 10)

static char *join(const char *base, size_t length, const char *suffix, const char *more)
{
    size_t room = length + strlen(suffix) + strlen(more) + 1;
    char *path = malloc(room);

    if (path)
        snprintf(path, room, "%.*s%s%s", (int)length, base, suffix, more);
    return path;
}

static enum leat_status check_free(const struct export_file *f, bool replace, struct leat_error *err)
{
    struct file_identity there;
    enum leat_status s = own_file_check_name(f->path, err);

    if (s == LEAT_OK)
        s = file_identify(f->path, &there, err);
    if (s == LEAT_OK && there.exists && !replace)
        return status_set_hint(err, LEAT_E_EXISTS, LEAT_HINT_REPLACE,
                               "%s already exists: choose another name or replace it", f->path);
    return s;
}

enum leat_status export_file_begin(struct export_file *f, const char *base, size_t length, const char *suffix,
                                   bool replace, struct leat_error *err)
{
    enum leat_status s;

    f->fd = -1;
    f->path = join(base, length, suffix, "");
    f->partial = join(base, length, suffix, ".partial");
    f->buffer = malloc(BUFFER_BYTES);
    if (!f->path || !f->partial || !f->buffer)
        return status_no_memory(err, BUFFER_BYTES);
    s = check_free(f, replace, err);
    return s == LEAT_OK ? own_file_begin(&f->fd, f->partial, err) : s;
}

static enum leat_status flush(struct export_file *f, struct leat_error *err)
{
    enum leat_status s = file_write_at(f->fd, f->bytes, f->buffer, f->used, f->partial, err);

    f->bytes += f->used;
    f->used = 0;
    return s;
}

enum leat_status export_put(struct export_file *f, const void *bytes, size_t count, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    if (count > BUFFER_BYTES - f->used)
        s = flush(f, err);
    if (s == LEAT_OK && count > BUFFER_BYTES) {
        s = file_write_at(f->fd, f->bytes, bytes, count, f->partial, err);
        f->bytes += count;
        return s;
    }
    memcpy(f->buffer + f->used, bytes, count);
    f->used += count;
    return s;
}

enum leat_status export_put_number(struct export_file *f, uint64_t value, unsigned bytes, struct leat_error *err)
{
    value = bytes_le64(value); /* the low bytes come first */
    return export_put(f, &value, bytes, err);
}

enum leat_status export_file_complete(struct export_file *f, struct leat_error *err)
{
    enum leat_status s = flush(f, err);

    return s == LEAT_OK ? file_sync(f->fd, f->partial, err) : s;
}

static enum leat_status name_all(struct export_file *files, unsigned count, bool replace, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (unsigned i = count; s == LEAT_OK && replace && i-- > 1;)
        s = file_remove(files[i].path, err);
    for (unsigned i = 0; s == LEAT_OK && i < count; i++) {
        if (files[i].none)
            continue;
        s = file_rename(files[i].partial, files[i].path, replace, err);
        files[i].named = s == LEAT_OK;
        if (s == LEAT_OK)
            s = file_sync_folder(files[i].path, err);
    }
    return s;
}

enum leat_status export_files_name(struct export_file *files, unsigned count, bool replace, struct leat_error *err)
{
    enum leat_status s = name_all(files, count, replace, err);

    /* all or nothing */
    for (unsigned i = count; s != LEAT_OK && i-- > 0;)
        if (files[i].named)
            file_remove(files[i].path, NULL);
    return s;
}

void export_file_close(struct export_file *f)
{
    if (f->fd >= 0 && !f->named)
        file_remove(f->partial, NULL);
    file_close(&f->fd);
    free(f->path);
    free(f->partial);
    free(f->buffer);
}
