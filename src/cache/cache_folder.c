/*
 * cache_folder.c: where the cache lies, and the files in a dataset's folder. The environment is read here only, since
 * ranks, commands and Python must find the same folder without being told.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/own_file.h"
#include "base/path.h"
#include "base/status.h"
#include "cache_inside.h"

#define REMEDY "; set LEAT_CACHE to a folder on a local disk that can be written"
#define CANNOT "the cache of remote datasets cannot be written; set LEAT_CACHE to another folder"

const char *const cache_file_names[PATHS] = { [PATH_INDEX] = "index.leat", [PATH_INDEX_PARTIAL] = "index.partial",
                                              [PATH_TOKENS] = "tokens",    [PATH_TOKENS_PARTIAL] = "tokens.partial",
                                              [PATH_MAP] = "map",          [PATH_FILLING] = "filling",
                                              [PATH_IN_USE] = "in-use" };

static const char *variable(const char *name)
{
    const char *value = getenv(name);

    return value && *value ? value : NULL;
}

enum leat_status cache_root(char **root, const char *folder, struct leat_error *err)
{
    const char *named = folder && *folder ? folder : variable("LEAT_CACHE"), *base = variable("XDG_CACHE_HOME");

    *root = NULL;
    if (named) {
        *root = strdup(named);
    } else if (base && base[0] == '/') { /* a relative one is to be ignored, says its specification */
        *root = path_join(base, "leat", NULL);
    } else {
        base = variable("HOME");
        if (!base)
            return status_set(err, LEAT_E_ARGUMENT,
                              "no folder for the cache of remote datasets: set LEAT_CACHE to one on a local disk");
        *root = path_join(base, ".cache/leat", NULL);
    }
    return *root ? LEAT_OK : status_no_memory(err, 0);
}

char *cache_server_text(const struct cache *c)
{
    const char *own = variable("AWS_ENDPOINT_URL_S3"), *any = variable("AWS_ENDPOINT_URL");
    const char *profile = variable("AWS_PROFILE"), *endpoint = own ? own : any ? any : "";
    size_t length = strlen(c->index_url.text) + strlen(endpoint) + (profile ? strlen(profile) : 0) + 3;
    char *text = malloc(length);

    if (text)
        snprintf(text, length, "%s\n%s\n%s", c->index_url.text, endpoint, profile ? profile : "");
    return text;
}

struct cache_size cache_size(uint64_t bytes)
{
    static const char *const units[] = { "KiB", "MiB", "GiB", "TiB" };
    double size = (double)bytes / 1024;
    struct cache_size out;
    unsigned i = 0;

    for (; size >= 1000 && i + 1 < sizeof units / sizeof *units; i++)
        size /= 1024;
    (void)snprintf(out.text, sizeof out.text, "%.1f %s", size, units[i]);
    return out;
}

enum leat_status cache_limit(uint64_t *limit, uint64_t given, struct leat_error *err)
{
    static const char *const units[] = { "", "KiB", "MiB", "GiB", "TiB" };
    const char *text = variable("LEAT_CACHE_SIZE"), *at = text;

    *limit = given;
    if (given > 0)
        return LEAT_OK;
    for (; at && *at >= '0' && *at <= '9' && *limit < (uint64_t)1 << 50; at++)
        *limit = *limit * 10 + (uint64_t)(*at - '0');
    for (unsigned i = 0; text && at > text && *limit > 0 && i < sizeof units / sizeof *units; i++)
        if (strcmp(at, units[i]) == 0 && *limit <= UINT64_MAX >> 10 * i) {
            *limit <<= 10 * i;
            return LEAT_OK;
        }
    if (!text)
        return LEAT_OK;
    return status_set(err, LEAT_E_ARGUMENT, "LEAT_CACHE_SIZE has to be a size like 500GiB or 2TiB, not \"%.50s\"",
                      text);
}

enum leat_status cache_online(bool *online, bool given, struct leat_error *err)
{
    const char *text = variable("LEAT_ONLINE");

    *online = given || (text && strcmp(text, "1") == 0);
    if (given || !text || *online || strcmp(text, "0") == 0)
        return LEAT_OK;
    return status_set(err, LEAT_E_ARGUMENT, "LEAT_ONLINE has to be 1 or 0, not \"%.50s\"", text);
}

enum leat_status cache_make_folders(char *path, struct leat_error *err)
{
    struct stat st;

    if (stat(path, &st) == 0)
        return S_ISDIR(st.st_mode) ? LEAT_OK
                                   : status_set(err, LEAT_E_EXISTS, "the cache %s is not a folder" REMEDY, path);
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        int r;

        *slash = '\0';
        r = mkdir(path, 0700);
        *slash = '/';
        if (r != 0 && errno != EEXIST)
            break; /* the last one says why */
    }
    if (mkdir(path, 0700) == 0 || errno == EEXIST)
        return LEAT_OK;
    return status_before(err, status_set_os(err, errno, "cannot make the folder %s", path), CANNOT);
}

enum leat_status cache_make_folder(struct cache *c, struct leat_error *err)
{
    uint8_t bytes[24];
    char name[2 * sizeof bytes + 2], *to = name;

    /* what identifies the content, and the hash of the header, which has the sums of everything */
    checksum_store(bytes, c->header.identity);
    memcpy(bytes + 16, c->first_page + FORMAT_HEADER_BYTES - 16, 8);
    for (unsigned i = 0; i < sizeof bytes; i++)
        to += snprintf(to, 4, "%s%02x", i == 16 ? "-" : "", bytes[i]);
    for (int i = 0; i < PATHS; i++)
        free(c->paths[i]);
    free(c->folder);
    memset(c->paths, 0, sizeof c->paths);
    c->folder = path_join(c->root, name, NULL);
    for (int i = 0; i < PATHS && c->folder; i++) {
        c->paths[i] = path_join(c->folder, cache_file_names[i], NULL);
        if (!c->paths[i])
            return status_no_memory(err, 0);
    }
    return c->folder ? cache_make_folders(c->folder, err) : status_no_memory(err, 0);
}

enum leat_status cache_open_file(int *fd, const char *path, struct leat_error *err)
{
    struct leat_error why;
    enum leat_status s = file_create(fd, path, &why);

    if (s == LEAT_E_EXISTS)
        s = own_file_open(fd, NULL, path, OWN_FILE_WRITE, &why);
    if (s != LEAT_OK && err)
        *err = why;
    if (s == LEAT_E_PERMISSION || s == LEAT_E_IO)
        return status_before(err, s, CANNOT);
    return s;
}

enum leat_status cache_lock(int *fd, const char *path, bool shared, struct leat_error *err)
{
    bool named = false;
    enum leat_status s;
    int r;

    /* who removes a dataset locks the file, and removes it: then this is no longer the file of that name */
    do {
        file_close(fd);
        s = cache_open_file(fd, path, err);
        if (s != LEAT_OK)
            return s;
        do
            r = flock(*fd, (shared ? LOCK_SH : LOCK_EX) | LOCK_NB);
        while (r != 0 && errno == EINTR);
        if (r != 0) {
            s = errno == EWOULDBLOCK ? status_set(err, LEAT_E_BUSY, "%s is locked by another process", path)
                                     : status_set_os(err, errno, "cannot lock %s", path);
            file_close(fd);
            return s;
        }
        s = own_file_is_named(*fd, path, &named, err);
    } while (s == LEAT_OK && !named);
    if (s != LEAT_OK)
        file_close(fd);
    return s;
}
