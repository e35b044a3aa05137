/* run_place.c: see run_place.h. */
#include "run_place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/grow.h"
#include "base/own_file.h"
#include "base/path.h"
#include "base/status.h"
#include "list/folder_list.h"
#include "remote/upload.h"

char *run_place_file(const struct run_place *p, const char *name, const char *suffix)
{
    return path_join(p->path, name, suffix, NULL);
}

static enum leat_status open_bucket(struct run_place *p, const char *output, struct leat_error *err)
{
    enum leat_status s;

    p->path = path_join(output, "", NULL); /* ends in the slash that makes it a folder */
    s = p->path ? url_parse(&p->url, p->path, err) : status_no_memory(err, strlen(output));
    if (s == LEAT_OK && !url_in_bucket(&p->url))
        s = status_set_in(err, LEAT_E_UNSUPPORTED, p->url.name,
                          "%s: a run can be pushed to a folder, s3://BUCKET/FOLDER, gs://BUCKET/FOLDER or "
                          "az://CONTAINER/FOLDER",
                          p->url.name);
    return s == LEAT_OK ? remote_open(&p->remote, NULL, err) : s;
}

/* Opens the folder at `path`, which the place owns afterwards. Files are removed by this descriptor: a link that
 * takes the folder's name leads nowhere. */
static enum leat_status open_folder(struct run_place *p, char *path, struct leat_error *err)
{
    int fd = path ? open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;

    p->path = path;
    p->folder = fd >= 0 ? fdopendir(fd) : NULL;
    if (p->folder)
        return LEAT_OK;
    return path ? status_set_os(err, errno, path, "cannot open the folder %s", path) : status_no_memory(err, 0);
}

enum leat_status run_place_open(struct run_place *p, const char *output, bool make, bool *made, struct leat_error *err)
{
    bool new = false;
    char *path;

    *p = (struct run_place) { 0 };
    if (made)
        *made = false;
    if (own_file_is_url(output))
        return open_bucket(p, output, err);
    if (make) {
        new = mkdir(output, 0777) == 0;
        if (!new &&errno != EEXIST)
            return status_set_os(err, errno, output, "cannot make the folder %s", output);
    }
    path = realpath(output, NULL);
    if (!path)
        return status_set_os(err, errno, output, "cannot find the folder %s", output);
    if (made)
        *made = new;
    return open_folder(p, path, err);
}

enum leat_status run_place_open_split(struct run_place *p, const struct run_place *outer, const char *name, bool make,
                                      struct leat_error *err)
{
    char *path = run_place_file(outer, name, NULL);
    struct stat st;
    enum leat_status s;

    *p = (struct run_place) { 0 };
    if (path && outer->remote) {
        s = open_bucket(p, path, err);
        free(path);
        return s;
    }
    if (path && make)
        (void)mkdir(path, 0777); /* opening reports what is wrong */
    s = open_folder(p, path, err);
    if (s != LEAT_OK && path && lstat(path, &st) == 0 && !S_ISDIR(st.st_mode))
        s = status_set_in(err, LEAT_E_EXISTS, path, "%s is %s, and is to be the folder of a split: move it away", path,
                          S_ISLNK(st.st_mode) ? "a symbolic link" : "a file");
    return s;
}

void run_place_close(struct run_place *p)
{
    if (p->folder)
        closedir(p->folder);
    remote_close(p->remote);
    url_free(&p->url);
    free(p->path);
    *p = (struct run_place) { 0 };
}

/* ---- Small files ------------------------------------------------------------------------------------------------- */

static enum leat_status read_object(struct run_place *p, const struct url *url, struct buffer *text,
                                    struct leat_error *err)
{
    struct remote_object object;
    enum leat_status s = remote_stat(p->remote, url, &object, err);

    if (s == LEAT_OK)
        s = object.size <= BUFFER_TEXT_MAX ? buffer_reserve(text, (size_t)object.size + 1, err)
                                           : status_too_large(err, url->name, BUFFER_TEXT_MAX);
    if (s == LEAT_OK)
        s = remote_read(p->remote, url, &object, 0, text->bytes, object.size, err);
    if (s == LEAT_OK)
        memcpy(p->etag, object.etag, sizeof p->etag);
    if (s == LEAT_OK)
        text->bytes[text->size = (size_t)object.size] = '\0';
    return s;
}

enum leat_status run_place_read(struct run_place *p, const char *name, struct buffer *text, struct leat_error *err)
{
    char *path = run_place_file(p, name, NULL);
    struct url url = { 0 };
    enum leat_status s = path ? LEAT_OK : status_no_memory(err, strlen(name));

    text->size = 0;
    if (s == LEAT_OK && p->remote)
        s = url_beside(&url, &p->url, name, err);
    if (s == LEAT_OK)
        s = p->remote ? read_object(p, &url, text, err) : buffer_read(text, path, BUFFER_TEXT_MAX, err);
    url_free(&url);
    free(path);
    return s;
}

static enum leat_status write_object(struct run_place *p, const char *name, const void *bytes, size_t count,
                                     bool replace, const char *etag, struct leat_error *err)
{
    struct url url;
    struct transfer t = {
        .method = TRANSFER_PUT, .body = bytes, .body_bytes = count, .only_new = !replace, .if_match = etag
    };
    enum leat_status s = url_beside(&url, &p->url, name, err);

    t.url = &url;
    if (s == LEAT_OK)
        s = remote_run(p->remote, &t, err);
    transfer_free(&t);
    url_free(&url);
    return s;
}

enum leat_status run_place_write(struct run_place *p, const char *name, const void *bytes, size_t count, bool replace,
                                 struct leat_error *err)
{
    enum leat_status s;
    char *path;

    if (p->remote)
        return write_object(p, name, bytes, count, replace, NULL, err);
    path = run_place_file(p, name, NULL);
    if (!path)
        return status_no_memory(err, strlen(name));
    s = replace ? own_file_replace(path, bytes, count, err) : own_file_publish(path, bytes, count, err);
    free(path);
    return s;
}

enum leat_status run_place_swap(struct run_place *p, const char *name, const void *bytes, size_t count,
                                struct leat_error *err)
{
    enum leat_status s = p->remote ? write_object(p, name, bytes, count, true, p->etag, err)
                                   : run_place_write(p, name, bytes, count, true, err);

    return p->remote && s == LEAT_E_MISMATCH ? LEAT_E_EXISTS : s;
}

static enum leat_status remove_object(struct run_place *p, const char *name, struct leat_error *err)
{
    struct url url;
    struct transfer t = { .method = TRANSFER_DELETE };
    enum leat_status s = url_beside(&url, &p->url, name, err);

    t.url = &url;
    if (s == LEAT_OK)
        s = remote_run(p->remote, &t, err);
    transfer_free(&t);
    url_free(&url);
    return s == LEAT_E_NO_FILE ? LEAT_OK : s;
}

enum leat_status run_place_remove(struct run_place *p, const char *name, struct leat_error *err)
{
    if (p->remote)
        return remove_object(p, name, err);
    if (unlinkat(dirfd(p->folder), name, 0) != 0 && errno != ENOENT)
        return status_set_os(err, errno, p->path, "cannot remove %s in %s", name, p->path);
    return LEAT_OK;
}

enum leat_status run_place_sync(struct run_place *p, struct leat_error *err)
{
    char *inside = p->remote ? NULL : run_place_file(p, "leat-run", NULL);
    enum leat_status s = inside ? file_sync_folder(inside, err) : LEAT_OK;

    if (!inside && !p->remote)
        s = status_no_memory(err, strlen(p->path));
    free(inside);
    return s;
}

/* ---- The list of files ------------------------------------------------------------------------------------------- */

/* The names that a server lists. They are collected first, since one transfer at a time is under way when `take`
 * removes a file. */
struct found {
    char **names;
    uint64_t *sizes;
    size_t count, room, size_room, skip;
};

static enum leat_status keep_object(void *context, const char *key, uint64_t size, const char *etag,
                                    struct leat_error *err)
{
    struct found *f = context;
    const char *slash = strlen(key) > f->skip ? strchr(key + f->skip, '/') : NULL;
    enum leat_status s;

    (void)etag;
    if (strlen(key) <= f->skip || (slash && strcmp(slash + 1, FOLDER_LIST) != 0))
        return LEAT_OK;
    s = GROW(f->names, f->count + 1, f->room, err);
    if (s == LEAT_OK)
        s = GROW(f->sizes, f->count + 1, f->size_room, err);
    if (s != LEAT_OK)
        return s;
    f->names[f->count] = strdup(key + f->skip);
    f->sizes[f->count] = size;
    return f->names[f->count++] ? LEAT_OK : status_no_memory(err, strlen(key));
}

/* Keeps a folder with a list. A link leads out of the place, and does not count. */
static enum leat_status keep_list(struct run_place *p, struct found *f, const char *name, struct leat_error *err)
{
    char *file = path_join(name, FOLDER_LIST, NULL);
    struct stat st;
    enum leat_status s = file ? LEAT_OK : status_no_memory(err, strlen(name));

    if (s == LEAT_OK && fstatat(dirfd(p->folder), name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode) &&
        faccessat(dirfd(p->folder), file, F_OK, 0) == 0)
        s = keep_object(f, file, 0, "", err);
    free(file);
    return s;
}

static enum leat_status list_folder(struct run_place *p, struct found *f, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    const char *name;

    rewinddir(p->folder);
    while (folder_next(p->folder, p->path, &name, &s, err)) {
        s = keep_object(f, name, 0, "", err);
        if (s == LEAT_OK && !strchr(name, '.')) /* names of splits have no dot */
            s = keep_list(p, f, name, err);
    }
    return s;
}

enum leat_status run_place_list(struct run_place *p, run_place_take *take, void *context, struct leat_error *err)
{
    struct found f = { .skip = p->remote ? strlen(p->url.key) : 0 };
    enum leat_status s = p->remote ? remote_list(p->remote, &p->url, keep_object, &f, err) : list_folder(p, &f, err);

    for (size_t i = 0; i < f.count; i++) {
        if (s == LEAT_OK)
            s = take(context, f.names[i], f.sizes[i], err);
        free(f.names[i]);
    }
    free(f.names);
    free(f.sizes);
    return s;
}

/* ---- Uploads ----------------------------------------------------------------------------------------------------- */

struct uploads {
    run_place_dead *dead;
    void *context;
    size_t skip, begin; /* characters of the place, and of the part that all names begin with, which may be that of a
                           split's folder */
};

static bool is_dead(void *context, const char *key)
{
    const struct uploads *u = context;

    return strlen(key) > u->skip + u->begin && !strchr(key + u->skip + u->begin, '/') &&
           u->dead(u->context, key + u->skip);
}

enum leat_status run_place_sweep_uploads(struct run_place *p, const char *begin, run_place_dead *dead, void *context,
                                         struct leat_error *err)
{
    struct uploads u = { .dead = dead, .context = context, .begin = strlen(begin) };
    struct url url;
    enum leat_status s;

    if (!p->remote)
        return LEAT_OK;
    u.skip = strlen(p->url.key);
    s = url_beside(&url, &p->url, begin, err);
    if (s == LEAT_OK)
        s = upload_sweep(p->remote, &url, is_dead, &u, err);
    url_free(&url);
    return s;
}

enum leat_status run_place_read_list(struct run_place *place, const char *name, struct folder_list *list,
                                     struct buffer *text, struct leat_error *err)
{
    struct leat_error why;
    char *path = run_place_file(place, name, NULL);
    enum leat_status s = path ? run_place_read(place, name, text, &why) : status_no_memory(&why, 0);

    *list = (struct folder_list) { 0 };
    if (s == LEAT_OK) {
        char *copy = malloc(text->size + 1);

        if (copy)
            memcpy(copy, text->bytes, text->size);
        s = copy ? folder_list_read(list, copy, text->size, path, &why) : status_no_memory(&why, text->size);
    } else if (s == LEAT_E_NO_FILE)
        s = LEAT_OK;
    if (s != LEAT_OK && err)
        *err = why;
    free(path);
    return s;
}
