/*
 * cache_folder.c: where the cache lies, and the files in a dataset's folder. The environment is read here only, since
 * ranks, commands and Python must find the same folder by themselves.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/bytes.h"
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
    } else if (base && base[0] == '/') { /* the specification says to ignore a relative path */
        *root = path_join(base, "leat", NULL);
    } else {
        base = variable("HOME");
        if (!base)
            return status_argument(err, "cache",
                                   "no folder for the cache of remote datasets: set LEAT_CACHE to one on a local disk");
        *root = path_join(base, ".cache/leat", NULL);
    }
    return *root ? LEAT_OK : status_no_memory(err, 0);
}

/* Returns the name of the dataset on its server: its URL, and where requests for it go. The caller frees it. */
static char *cache_server_text(const struct cache *c)
{
    const char *own = variable("AWS_ENDPOINT_URL_S3"), *any = variable("AWS_ENDPOINT_URL");
    const char *profile = variable("AWS_PROFILE"), *endpoint = own ? own : any ? any : "";
    char *azure = NULL, *text = NULL;
    size_t length;

    if (c->index_url.scheme == URL_AZURE) {
        if (remote_azure_server(&azure, &c->index_url, NULL) != LEAT_OK)
            return NULL;
        endpoint = azure;
        profile = NULL;
    }
    length = strlen(c->index_url.text) + strlen(endpoint) + (profile ? strlen(profile) : 0) + 3;
    text = malloc(length);
    if (text)
        snprintf(text, length, "%s\n%s\n%s", c->index_url.text, endpoint, profile ? profile : "");
    free(azure);
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
    return status_argument(err, "LEAT_CACHE_SIZE", "LEAT_CACHE_SIZE must be a size like 500GiB or 2TiB, not \"%.50s\"",
                           text);
}

enum leat_status cache_online(bool *online, bool given, struct leat_error *err)
{
    const char *text = variable("LEAT_ONLINE");

    *online = given || (text && strcmp(text, "1") == 0);
    if (given || !text || *online || strcmp(text, "0") == 0)
        return LEAT_OK;
    return status_argument(err, "LEAT_ONLINE", "LEAT_ONLINE must be 1 or 0, not \"%.50s\"", text);
}

/* Makes a folder and those above it; others cannot read it. */
static enum leat_status cache_make_folders(char *path, struct leat_error *err)
{
    struct stat st;

    if (stat(path, &st) == 0)
        return S_ISDIR(st.st_mode)
                   ? LEAT_OK
                   : status_set_in(err, LEAT_E_EXISTS, path, "the cache %s is not a folder" REMEDY, path);
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        int r;

        *slash = '\0';
        r = mkdir(path, 0700);
        *slash = '/';
        if (r != 0 && errno != EEXIST)
            break; /* the last folder decides, and its error says why */
    }
    if (mkdir(path, 0700) == 0 || errno == EEXIST)
        return LEAT_OK;
    return status_before(err, status_set_os(err, errno, path, "cannot make the folder %s", path), CANNOT);
}

enum leat_status cache_make_folder(struct cache *c, struct leat_error *err)
{
    uint8_t bytes[24];
    char name[2 * sizeof bytes + 2], *to = name;

    /* the bytes that identify the content, and the hash of the header, which has the sums of everything */
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

bool cache_is_dataset(const char *name)
{
    return strlen(name) == 49 && strspn(name, "0123456789abcdef") == 32 && name[32] == '-' &&
           strspn(name + 33, "0123456789abcdef") == 16;
}

enum leat_status cache_open_file(int *fd, const char *path, struct leat_error *err)
{
    enum leat_status s = own_file_create(fd, path, err);

    if (s == LEAT_E_PERMISSION || s == LEAT_E_IO)
        return status_before(err, s, CANNOT);
    return s;
}

enum leat_status cache_lock(int *fd, const char *path, bool shared, struct leat_error *err)
{
    bool named = false;
    enum leat_status s;
    int r;

    /* a process that removes a dataset locks this file and removes it, and then the open file no longer has the name */
    do {
        file_close(fd);
        s = cache_open_file(fd, path, err);
        if (s != LEAT_OK)
            return s;
        do
            r = flock(*fd, (shared ? LOCK_SH : LOCK_EX) | LOCK_NB);
        while (r != 0 && errno == EINTR);
        if (r != 0) {
            s = errno == EWOULDBLOCK ? status_set_in(err, LEAT_E_BUSY, path, "%s is locked by another process", path)
                                     : status_set_os(err, errno, path, "cannot lock %s", path);
            file_close(fd);
            return s;
        }
        s = own_file_is_named(*fd, path, &named, err);
    } while (s == LEAT_OK && !named);
    if (s != LEAT_OK)
        file_close(fd);
    return s;
}

/* ---- Names of datasets whose server cannot be reached ------------------------------------------------------------ */

/*
 * Opens a dataset whose server cannot be reached, from a complete copy. The cache's folder `urls`
 * has a file for each URL that was opened, named by a hash of it and of the endpoint, with the name of the dataset's
 * folder.
 */

#define NAME_BYTES 49u /* length of the name of a dataset's folder */

/* Returns the file for this URL; NULL: no memory, or the folder cannot be made. */
static char *path_of(const struct cache *c)
{
    char *text = cache_server_text(c), *folder = path_join(c->root, "urls", NULL), *path = NULL, name[33], *to = name;
    uint8_t bytes[16];

    if (text && folder && cache_make_folders(folder, NULL) == LEAT_OK) {
        checksum_store(bytes, c->kernels->hash((const uint8_t *)text, strlen(text)));
        for (unsigned i = 0; i < sizeof bytes; i++)
            to += snprintf(to, 3, "%02x", bytes[i]);
        path = path_join(folder, name, NULL);
    }
    free(text);
    free(folder);
    return path;
}

void cache_remember(const struct cache *c)
{
    const char *name = strrchr(c->folder, '/') + 1;
    char *path = path_of(c);
    char found[NAME_BYTES] = "";
    int fd = -1;

    if (path && cache_open_file(&fd, path, NULL) == LEAT_OK &&
        (file_read_at(fd, 0, found, sizeof found, path, NULL) != LEAT_OK || memcmp(found, name, sizeof found) != 0))
        (void)file_write_at(fd, 0, name, NAME_BYTES, path, NULL);
    file_close(&fd);
    free(path);
}

bool cache_recall(const struct cache *c, char **folder)
{
    char name[NAME_BYTES + 1] = "", *path = path_of(c);
    int fd = -1;

    *folder = NULL;
    if (path && own_file_open(&fd, NULL, path, OWN_FILE_READ, NULL) == LEAT_OK &&
        file_read_at(fd, 0, name, NAME_BYTES, path, NULL) == LEAT_OK && cache_is_dataset(name))
        *folder = path_join(c->root, name, NULL);
    file_close(&fd);
    free(path);
    return *folder;
}

static bool look_at(const char *folder, enum cache_path file, int *fd, uint64_t *size)
{
    char *path = path_join(folder, cache_file_names[file], NULL);
    bool here = path && own_file_open(fd, size, path, OWN_FILE_READ, NULL) == LEAT_OK;

    free(path);
    return here;
}

bool cache_recall_complete(const char *folder)
{
    uint64_t size;
    int fd = -1;
    bool complete = look_at(folder, PATH_TOKENS, &fd, &size);

    file_close(&fd);
    return complete;
}

/* Returns how much of the tokens is here. */
static uint64_t count_here(const char *folder, uint64_t token_bytes)
{
    uint64_t pages = bytes_divide_up(token_bytes, PAGE), found = 0, size = 0;
    uint8_t marks[4096];
    int fd = -1;

    if (look_at(folder, PATH_MAP, &fd, &size))
        for (uint64_t done = 0, here; done < pages && done < size; done += here) {
            here = pages - done < sizeof marks ? pages - done : sizeof marks;
            if (file_read_at(fd, done, marks, here, folder, NULL) != LEAT_OK)
                break;
            for (uint64_t i = 0; i < here; i++)
                found += marks[i] == 1;
        }
    file_close(&fd);
    return found * PAGE < token_bytes ? found * PAGE : token_bytes;
}

enum leat_status cache_parse_header(struct cache *c, uint64_t count, uint64_t token_bytes, struct leat_error *err)
{
    struct format_found found = { c->first_page,     count, c->index.size, token_bytes, c->index_url.name,
                                  c->tokens_url.name };

    return format_parse(&c->header, &found, c->kernels, err);
}

/* Takes the header of the copy's index in place of the server's. Returns LEAT_E_NO_FILE if there is no copy. */
static enum leat_status take_header(struct cache *c, const char *folder, struct leat_error *err)
{
    uint64_t token_bytes = 0, count;
    int index = -1, tokens = -1;
    enum leat_status s = LEAT_E_NO_FILE;

    if (look_at(folder, PATH_INDEX, &index, &c->index.size) &&
        (look_at(folder, PATH_TOKENS, &tokens, &token_bytes) ||
         look_at(folder, PATH_TOKENS_PARTIAL, &tokens, &token_bytes))) {
        count = c->index.size < FORMAT_HEADER_BYTES ? c->index.size : FORMAT_HEADER_BYTES;
        s = file_read_at(index, 0, c->first_page, count, folder, err);
        if (s == LEAT_OK)
            s = cache_parse_header(c, count, token_bytes, err);
        c->pages = bytes_divide_up(c->header.token_file_bytes, PAGE);
    }
    file_close(&index);
    file_close(&tokens);
    return s;
}

enum leat_status cache_take_offline(struct cache *c, const char *folder, struct leat_error *err)
{
    struct leat_error why;
    uint64_t all, here;

    if (take_header(c, folder, &why) != LEAT_OK)
        return LEAT_E_IO; /* the status of the server's failure */
    if (cache_recall_complete(folder)) {
        c->offline = true;
        return LEAT_OK;
    }
    all = c->header.token_file_bytes;
    here = count_here(folder, all);
    if (here == all)
        return status_before(err, LEAT_E_IO,
                             "the cache has all pages of %s.tokens, but they were never checked as a whole, and its "
                             "server cannot be reached",
                             c->name);
    return status_before(err, LEAT_E_IO, "the cache has %s of the %s of %s.tokens, and its server cannot be reached",
                         cache_size(here).text, cache_size(all).text, c->name);
}

/* ---- Lists ------------------------------------------------------------------------------------------------------- */

/* Lists the datasets below a URL that ends in /, as a folder on a disk is listed. */

#define SUFFIX ".leat"
#define RUN    "leat-run" /* file in the folder of a run that was packed in parts */

struct listing {
    const struct url *url;
    cache_list_take *take;
    void *context;
    const char *file; /* name of an object that is read as a whole, too */
    bool has_run, has_file;
};

/* Takes an object if it is a dataset that opens: it does not lie deeper, and is neither hidden nor unfinished. */
static enum leat_status take_key(void *context, const char *key, uint64_t size, const char *etag,
                                 struct leat_error *err)
{
    struct listing *l = context;
    const char *name = key + strlen(l->url->key);
    size_t length = strlen(name), stem = length - strlen(SUFFIX), before = strlen(l->url->name);
    enum leat_status s;
    char *whole;

    (void)size, (void)etag;
    l->has_run |= strcmp(name, RUN) == 0;
    l->has_file |= strcmp(name, l->file) == 0;
    if (strchr(name, '/') || name[0] == '.' || !file_ends_with(name, length, SUFFIX) ||
        file_ends_with(name, stem, ".partial"))
        return LEAT_OK;
    whole = malloc(before + stem + 1);
    if (!whole)
        return status_no_memory(err, before + stem + 1);
    memcpy(whole, l->url->name, before);
    memcpy(whole + before, name, stem);
    whole[before + stem] = '\0';
    s = l->take(l->context, whole, err);
    free(whole);
    return s;
}

/* Reads the start of the run's plan. */
static enum leat_status read_run(struct remote *r, const struct url *folder, char *run, size_t room,
                                 struct leat_error *err)
{
    struct remote_object object;
    struct url url;
    enum leat_status s = url_beside(&url, folder, RUN, err);

    if (s == LEAT_OK)
        s = remote_stat(r, &url, &object, err);
    if (s == LEAT_OK)
        s = remote_read(r, &url, &object, 0, run, object.size < room - 1 ? object.size : room - 1, err);
    url_free(&url);
    return s;
}

static enum leat_status read_file(struct remote *r, const struct url *folder, const char *name, char **file,
                                  size_t *size, struct leat_error *err)
{
    struct remote_object object;
    struct url url;
    enum leat_status s = url_beside(&url, folder, name, err);

    if (s == LEAT_OK)
        s = remote_stat(r, &url, &object, err);
    if (s == LEAT_OK && object.size > BUFFER_TEXT_MAX)
        s = status_too_large(err, url.name, BUFFER_TEXT_MAX);
    if (s == LEAT_OK) {
        *size = (size_t)object.size;
        *file = malloc(*size + 1);
        s = *file ? remote_read(r, &url, &object, 0, *file, *size, err) : status_no_memory(err, object.size);
    }
    url_free(&url);
    if (s == LEAT_OK)
        return s;
    free(*file);
    *file = NULL;
    return s;
}

enum leat_status cache_list(const char *folder, cache_list_take *take, void *context, char *run, size_t room,
                            const char *name, char **file, size_t *size, struct leat_error *err)
{
    struct listing l = { .take = take, .context = context, .file = name };
    struct remote *r = NULL;
    struct url url;
    enum leat_status s = url_parse(&url, folder, err);

    memset(run, 0, room);
    *file = NULL;
    if (s != LEAT_OK)
        return s;
    l.url = &url;
    s = remote_open(&r, NULL, err);
    if (s == LEAT_OK)
        s = remote_list(r, &url, take_key, &l, err);
    if (s == LEAT_OK && l.has_file)
        s = read_file(r, &url, name, file, size, err);
    else if (s == LEAT_OK && l.has_run)
        s = read_run(r, &url, run, room, err);
    remote_close(r);
    url_free(&url);
    return s;
}

enum leat_status cache_read(const char *folder, const char *name, char **file, size_t *size, struct leat_error *err)
{
    struct remote *r = NULL;
    struct url url;
    enum leat_status s = url_parse(&url, folder, err);

    *file = NULL;
    if (s != LEAT_OK)
        return s;
    s = remote_open(&r, NULL, err);
    if (s == LEAT_OK)
        s = read_file(r, &url, name, file, size, err);
    remote_close(r);
    url_free(&url);
    return s;
}
