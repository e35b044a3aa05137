/* part_leat.c: opens leat's own two files, NAME.leat and NAME.tokens; also the same content in memory, or with the
 * tokens inside another file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/path.h"
#include "base/status.h"
#include "cache/cache.h"
#include "dataset.h"
#include "part_index.h"

/* ---- Files ------------------------------------------------------------------------------------------------------- */

/* characters of a name that a sentence shows */
#define SHOWN_BYTES 200u

#define PAIR_TRIES                                                                                                     \
    10u /* tries to open two files of one dataset, each after another process has replaced it in
                           between */

struct own {
    struct part_index index;
    struct file_map tokens;
};

static enum leat_status make_own(struct part *p, struct own **own, struct leat_error *err)
{
    *own = p->own = calloc(1, sizeof **own);
    if (!*own)
        return status_no_memory(err, sizeof **own);
    (*own)->index.file.fd = (*own)->tokens.fd = -1;
    return LEAT_OK;
}

/* Takes the tokens, when both files are open. */
static enum leat_status take_tokens(struct part *p, struct own *own, uint64_t offset, uint64_t bytes,
                                    struct leat_error *err)
{
    p->data = (struct part_extent) { &own->tokens, offset, bytes };
    return part_index_take(p, &own->index, err);
}

static enum leat_status open_file(struct file_map *f, const struct part *p, const char *suffix, enum leat_access access,
                                  struct leat_error *err)
{
    char *path = path_append(p->name, strlen(p->name), suffix, NULL);
    enum leat_status s;

    if (!path)
        return status_no_memory(err, strlen(p->name));
    s = file_map_open(f, p->mounts, path, access, err);
    free(path);
    return s;
}

/* Cuts a suffix off the name, which may be that of one of the two files. */
static enum leat_status cut_name(struct part *p, struct leat_error *err)
{
    size_t length = file_dataset_length(p->name, strlen(p->name));

    if (file_ends_with(p->name, length, ".partial"))
        return status_argument(err, "name", "%.*s is not a dataset: names that end in .partial are unfinished",
                               (int)(length < SHOWN_BYTES ? length : SHOWN_BYTES), p->name);
    p->name[length] = '\0';
    return LEAT_OK;
}

/* Opens the token file that the index names: absolute, or from the index's folder. */
static enum leat_status open_elsewhere(struct part *p, struct own *own, const char *path, uint64_t offset,
                                       enum leat_access access, struct leat_error *err)
{
    uint64_t bytes = own->index.header.token_file_bytes;
    const char *slash = strrchr(p->name, '/');
    size_t folder = slash && path[0] != '/' ? (size_t)(slash + 1 - p->name) : 0;
    char *whole = path_append(p->name, folder, path, NULL);
    enum leat_status s;

    if (!whole)
        return status_no_memory(err, folder + strlen(path));
    s = file_map_open(&own->tokens, p->mounts, whole, access, err);
    if (s == LEAT_OK && !bytes_inside(offset, bytes, own->tokens.size))
        s = status_set_at(err, LEAT_E_TRUNCATED, whole, own->tokens.size,
                          "%s has %" PRIu64 " bytes, but %s says that its tokens are %" PRIu64 " from byte %" PRIu64
                          ": it is cut, or another file; restore it from its source, or adopt it again",
                          whole, own->tokens.size, own->index.file.path, bytes, offset);
    free(whole);
    if (s != LEAT_OK)
        return s == LEAT_E_NO_FILE ? status_before(err, s, "%s holds no tokens itself", own->index.file.path) : s;
    return take_tokens(p, own, offset, bytes, err);
}

/* Sets *replaced if NAME.leat is another file than the one that is open. Its name may be a link. */
static enum leat_status is_replaced(const struct file_map *index, bool *replaced, struct leat_error *err)
{
    struct file_identity now;
    enum leat_status s = file_identify_target(index->path, &now, err);

    *replaced = s == LEAT_OK && !file_same(now, index->identity);
    return s;
}

/*
 * Opens NAME.leat and NAME.tokens. A dataset is replaced in this order (writer.c, pull.c, by_stage.c): the old
 * index is removed, the new tokens get their name, then the new index does. So these are the tokens of this index if it
 * still has its name after they were opened; else *replaced is true. For an index of another tool's file, *path and
 * *offset are set, and no tokens are opened.
 */
static enum leat_status open_once(struct part *p, struct own *own, enum leat_access access, char **path,
                                  uint64_t *offset, bool *replaced, struct leat_error *err)
{
    enum leat_status s = open_file(&own->index.file, p, ".leat", access, err), named;

    *replaced = false;
    if (s == LEAT_E_NO_FILE)
        dataset_say_missing(p->name, err);
    if (s != LEAT_OK)
        return s;
    s = part_index_elsewhere(p, &own->index, offset, path, err);
    if (*path || s != LEAT_OK)
        return s;
    s = open_file(&own->tokens, p, ".tokens", access, err);
    named = is_replaced(&own->index.file, replaced, s == LEAT_OK ? err : NULL);
    if (s == LEAT_E_NO_FILE && !*replaced)
        dataset_say_missing(p->name, err);
    return s == LEAT_OK ? named : s;
}

static enum leat_status open_pair(struct part *p, enum leat_access access, struct leat_error *err)
{
    enum leat_status s = cut_name(p, err);
    bool replaced = true;
    uint64_t offset = 0;
    char *path = NULL;
    struct own *own;

    if (s == LEAT_OK)
        s = make_own(p, &own, err);
    if (s != LEAT_OK)
        return s;
    for (unsigned tries = 0; tries < PAIR_TRIES && replaced; tries++) {
        file_map_close(&own->index.file);
        file_map_close(&own->tokens);
        s = open_once(p, own, access, &path, &offset, &replaced, err);
    }
    if (replaced)
        s = status_set_in(err, LEAT_E_MISMATCH, p->name, "%s.leat was replaced each of the %u times that it was opened",
                          p->name, PAIR_TRIES);
    else if (s == LEAT_OK)
        s = path ? open_elsewhere(p, own, path, offset, access, err) : take_tokens(p, own, 0, own->tokens.size, err);
    free(path);
    return s;
}

static void close_pair(struct part *p)
{
    struct own *own = p->own;

    if (!own)
        return;
    file_map_close(&own->index.file);
    file_map_close(&own->tokens);
    free(own);
}

const struct part_kind part_leat = { .name = "leat",
                                     .suffix = ".leat",
                                     .open = open_pair,
                                     .close = close_pair,
                                     .starts = part_index_starts,
                                     .document_at = part_index_document_at,
                                     .near = part_index_near };

/* ---- Without their names ---- */

static enum leat_status begin_part(struct part *p, const char *name, struct own **own, struct leat_error *err)
{
    *p = (struct part) { .kind = &part_leat, .kernels = checksum_kernels(), .name = strdup(name) };
    return p->name ? make_own(p, own, err) : status_no_memory(err, strlen(name) + 1);
}

static enum leat_status end_part(struct part *p, enum leat_status s)
{
    if (s != LEAT_OK)
        part_close(p);
    return s;
}

enum leat_status part_open_memory(struct part *p, const void *index, uint64_t index_bytes, const void *tokens,
                                  uint64_t token_bytes, struct leat_error *err)
{
    struct own *own;
    enum leat_status s = begin_part(p, "memory", &own, err);

    if (s == LEAT_OK)
        s = file_map_memory(&own->index.file, "memory.leat", index, index_bytes, err);
    if (s == LEAT_OK)
        s = file_map_memory(&own->tokens, "memory.tokens", tokens, token_bytes, err);
    if (s == LEAT_OK)
        s = take_tokens(p, own, 0, token_bytes, err);
    if (s == LEAT_OK && p->adopted)
        s = status_set(err, LEAT_E_FEATURE,
                       "an index in memory names another file for its tokens: open it by its name");
    return end_part(p, s);
}

enum leat_status part_open_at(struct part *p, const char *name, const char *token_path, uint64_t offset, uint64_t bytes,
                              enum leat_access access, struct leat_error *err)
{
    struct own *own;
    enum leat_status s = begin_part(p, name, &own, err);

    if (s == LEAT_OK)
        s = open_file(&own->index.file, p, ".leat", access, err);
    if (s == LEAT_OK)
        s = file_map_open(&own->tokens, p->mounts, token_path, access, err);
    if (s == LEAT_OK && !bytes_inside(offset, bytes, own->tokens.size))
        s = status_set_at(err, LEAT_E_TRUNCATED, token_path, own->tokens.size,
                          "%s has %" PRIu64 " bytes, but the tokens of %s need %" PRIu64 " from byte %" PRIu64
                          "; restore it from its source",
                          token_path, own->tokens.size, name, bytes, offset);
    return end_part(p, s == LEAT_OK ? take_tokens(p, own, offset, bytes, err) : s);
}

/* ---- On a server ------------------------------------------------------------------------------------------------- */

/*
 * Leat's own two files on a server, by a URL. Their copies in the node's cache are opened like files of this machine:
 * the index is complete, the token file may have holes, which the cache fills before they are read (file_map_need()). A
 * file with holes is not mapped, since what was read of it may be evicted. Once it is complete, it is a file like any
 * other.
 */

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

/* Takes the name for messages, without what follows a ? in the URL, which may be a signature. */
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
