/*
 * part_remote.c: leat's own two files on a server, by a URL. Their copies in the node's cache are opened like files of
 * this machine: the index is complete, the token file may have holes, which the cache fills before they are read
 * (file_map_need()). A file with holes is not mapped, since what was read of it may be evicted. Once it is complete, it
 * is a file like any other.
 */
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "cache/cache.h"
#include "part_index.h"

struct remote_own {
    struct part_index index;
    struct file_map tokens;
    struct cache *cache;
};

static enum leat_status takes(const char *name, bool *takes, struct leat_error *err)
{
    (void)err;
    *takes = cache_takes(name);
    return LEAT_OK;
}

/* Messages name the dataset without what follows a ? in its URL, which may be a signature. */
static enum leat_status take_name(struct part *p, const struct remote_own *own, struct leat_error *err)
{
    char *name = strdup(cache_name(own->cache));

    if (!name)
        return status_no_memory(err, strlen(cache_name(own->cache)) + 1);
    free(p->name);
    p->name = name;
    return LEAT_OK;
}

static enum leat_status take_files(struct part *p, struct remote_own *own, const struct cache_files *files,
                                   enum leat_access access, struct leat_error *err)
{
    uint64_t bytes = files->token_bytes;
    enum leat_status s, t;

    s = file_map_take(&own->index.file, files->index_fd, files->index_bytes, files->index_path, access, err);
    t = file_map_take(&own->tokens, files->tokens_fd, bytes, files->tokens_path,
                      files->whole ? access : LEAT_ACCESS_READ, s == LEAT_OK ? err : NULL);
    if (s != LEAT_OK || t != LEAT_OK)
        return s != LEAT_OK ? s : t;
    if (!files->whole)
        own->tokens.cache = own->cache;
    p->data = (struct part_extent) { &own->tokens, 0, bytes };
    return part_index_take(p, &own->index, err);
}

static enum leat_status open_remote(struct part *p, enum leat_access access, struct leat_error *err)
{
    struct remote_own *own = p->own = calloc(1, sizeof *own);
    const struct cache_options options = { p->how->cache, p->how->cache_size, p->how->online };
    struct cache_files files;
    enum leat_status s;

    if (!own)
        return status_no_memory(err, sizeof *own);
    own->index.file.fd = own->tokens.fd = -1;
    s = cache_open(&own->cache, p->name, &options, &files, err);
    p->offline = s == LEAT_OK && files.offline;
    if (s == LEAT_OK)
        s = take_files(p, own, &files, access, err);
    return s == LEAT_OK ? take_name(p, own, err) : s;
}

static void close_remote(struct part *p)
{
    struct remote_own *own = p->own;

    if (!own)
        return;
    file_map_close(&own->index.file);
    file_map_close(&own->tokens);
    cache_close(own->cache);
    free(own);
}

const struct part_kind part_remote = { .name = "leat",
                                       .remedy = "remove its folder in the cache to fetch it again",
                                       .takes = takes,
                                       .open = open_remote,
                                       .close = close_remote,
                                       .starts = part_index_starts,
                                       .document_at = part_index_document_at,
                                       .near = part_index_near };
