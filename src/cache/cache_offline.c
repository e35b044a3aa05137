/*
 * cache_offline.c: opens a dataset whose server cannot be reached, from a complete copy. The cache's folder `urls`
 * has a file for each URL that was opened, named by a hash of it and of the endpoint, with the name of the dataset's
 * folder.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/own_file.h"
#include "base/path.h"
#include "base/status.h"
#include "cache_inside.h"

#define NAME_BYTES 49u /* of a dataset's folder */

/* The file for this URL; NULL: no memory, or the folder cannot be made. */
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

/* How much of the tokens is here. */
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

/* The header of the copy's index takes the place of the server's; LEAT_E_NO_FILE: there is none. */
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
            s = format_parse(&c->header, c->first_page, count, c->index.size, token_bytes, c->index_url.name,
                             c->tokens_url.name, c->kernels, err);
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
        return LEAT_E_IO; /* as the server's failure says */
    if (cache_recall_complete(folder)) {
        c->offline = true;
        return LEAT_OK;
    }
    all = c->header.token_file_bytes;
    here = count_here(folder, all);
    if (here == all)
        return status_before(err, LEAT_E_IO,
                             "the cache has all pages of %s.tokens, but nobody has checked them as a whole, and its "
                             "server cannot be reached",
                             c->name);
    return status_before(err, LEAT_E_IO, "the cache has %s of the %s of %s.tokens, and its server cannot be reached",
                         cache_size(here).text, cache_size(all).text, c->name);
}
