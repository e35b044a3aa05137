/* cache_open.c: opens and closes a dataset of the cache: what the server has decides which folder is its own. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/own_file.h"
#include "base/status.h"
#include "cache_inside.h"
#include "checksum/checksum.h"

/* ---- The index --------------------------------------------------------------------------------------------------- */

/*
 * Opens the index of a dataset. It lies in the cache completely or not at all, because documents, directory and
 * hashes are asked for all the time, and are a hundredth of the tokens. One process fetches it; others wait, as long
 * as it makes progress. An index that is found is compared with its sums like one that arrived: a damaged one is
 * fetched again, since the server has the right one.
 */

#define PIECE   TINY_OR((uint64_t)8192, (uint64_t)64 << 20) /* in memory */
#define LOOK_MS 20L
/* how long the process that fetches the index may bring nothing: more than its requests take with their stalls and
 * waits */
#define SILENT_NS ((uint64_t)3600 * 1000000000)

static enum leat_status check_section(struct cache *c, int fd, const char *path, const struct format_place *place,
                                      struct leat_error *err)
{
    struct page_sum sum;
    enum leat_status s;

    page_sum_begin(&sum, 0, (struct hash128) { 0, 0 });
    s = page_sum_add_file(&sum, fd, place->offset, place->bytes, path, err);
    if (s == LEAT_OK && !checksum_equal(page_sum_now(&sum), place->sum))
        return status_set_at(
            err, LEAT_E_CHECKSUM, c->index_url.name, place->offset,
            "%s: the bytes from number %" PRIu64
            " on arrived damaged %u times; verify the dataset where it was made, and copy it to the server again",
            c->index_url.name, place->offset, REMOTE_DAMAGED_TRIES);
    return s;
}

static enum leat_status check_sections(struct cache *c, int fd, const char *path, struct leat_error *err)
{
    const struct format_header *h = &c->header;
    enum leat_status s = LEAT_OK;

    for (unsigned i = 0; i < FORMAT_KINDS && s == LEAT_OK; i++)
        if (h->sections[i].present)
            s = check_section(c, fd, path, &h->sections[i], err);
    for (unsigned i = 0; i < h->other_count && s == LEAT_OK; i++)
        s = check_section(c, fd, path, &h->others[i], err);
    return s;
}

static enum leat_status bring_bytes(struct cache *c, int fd, struct leat_error *err)
{
    uint64_t size = c->index.size, at = FORMAT_HEADER_BYTES, room = size - at < PIECE ? size - at : PIECE, count;
    uint8_t *buffer = malloc(room ? room : 1);
    enum leat_status s = buffer ? LEAT_OK : status_no_memory(err, room);

    if (s == LEAT_OK)
        s = file_write_at(fd, 0, c->first_page, FORMAT_HEADER_BYTES, c->paths[PATH_INDEX_PARTIAL], err);
    for (; at < size && s == LEAT_OK; at += count) {
        count = size - at < PIECE ? size - at : PIECE;
        s = remote_read(c->remote, &c->index_url, &c->index, at, buffer, count, err);
        if (s == LEAT_OK)
            s = file_write_at(fd, at, buffer, count, c->paths[PATH_INDEX_PARTIAL], err);
    }
    free(buffer);
    return s;
}

/* Fetches the index. The caller has the lock. */
static enum leat_status bring(struct cache *c, struct leat_error *err)
{
    const char *path = c->paths[PATH_INDEX_PARTIAL];
    enum leat_status s;
    unsigned tries = 0;
    int fd = -1;

    s = cache_open_file(&fd, path, err);
    for (bool again = s == LEAT_OK; again; again = s == LEAT_E_CHECKSUM && ++tries < REMOTE_DAMAGED_TRIES) {
        s = file_truncate(fd, 0, path, err); /* processes that wait for the index see it grow */
        if (s == LEAT_OK)
            s = bring_bytes(c, fd, err);
        if (s == LEAT_OK)
            s = check_sections(c, fd, path, err);
    }
    if (s == LEAT_OK)
        s = file_sync(fd, path, err);
    if (s == LEAT_OK)
        s = file_rename(path, c->paths[PATH_INDEX], true, err);
    if (s == LEAT_OK)
        s = file_sync_folder(path, err);
    file_close(&fd);
    return s;
}

/* Opens an index that is here. Returns LEAT_E_NO_FILE if there is none, it is not the server's, or it is damaged. */
static enum leat_status open_here(struct cache *c, struct leat_error *err)
{
    const char *path = c->paths[PATH_INDEX];
    uint8_t page[FORMAT_HEADER_BYTES];
    uint64_t size = 0;
    enum leat_status s = own_file_open(&c->index_fd, &size, path, OWN_FILE_READ, err);

    if (s == LEAT_OK && size == c->index.size)
        s = file_read_at(c->index_fd, 0, page, sizeof page, path, err);
    if (s == LEAT_OK && (size != c->index.size || memcmp(page, c->first_page, sizeof page) != 0))
        s = LEAT_E_NO_FILE;
    if (s == LEAT_OK)
        s = check_sections(c, c->index_fd, path, err);
    if (s != LEAT_OK)
        file_close(&c->index_fd);
    return s == LEAT_E_CHECKSUM ? LEAT_E_NO_FILE : s;
}

/* Writes this process's number into the file that it has locked, for those who wait for the index. */
static void leave_number(int lock)
{
    char text[24];
    int length = snprintf(text, sizeof text, "%ld\n", (long)getpid());

    if (ftruncate(lock, 0) == 0)
        (void)!pwrite(lock, text, (size_t)length, 0);
}

static long read_number(const char *path)
{
    char text[24] = { 0 };
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? pread(fd, text, sizeof text - 1, 0) : -1;

    file_close(&fd);
    return got > 0 ? strtol(text, NULL, 10) : 0;
}

/* Returns true if a process was stopped by SIGSTOP or a debugger. A process that is not seen from here counts as not
 * stopped. */
static bool is_stopped(long process)
{
    char path[40], text[128] = { 0 }, *end;
    ssize_t got = -1;
    int fd;

    snprintf(path, sizeof path, "/proc/%ld/stat", process);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        got = read(fd, text, sizeof text - 1);
    file_close(&fd);
    end = got > 0 ? strrchr(text, ')') : NULL; /* NUMBER (NAME) STATE */
    return end && end[1] == ' ' && (end[2] == 'T' || end[2] == 't');
}

struct patience {
    uint64_t size, since; /* bytes that have arrived, and the time when the last ones did */
};

/* Waits for the process that fetches the index. Fails if nothing arrives. */
static enum leat_status be_patient(const struct cache *c, struct patience *p, struct leat_error *err)
{
    const struct timespec wait = { 0, LOOK_MS * 1000000 };
    struct stat st = { .st_size = 0 };
    uint64_t silent;
    bool stopped;
    long process;

    (void)stat(c->paths[PATH_INDEX_PARTIAL], &st);
    if (p->since == 0 || (uint64_t)st.st_size != p->size)
        *p = (struct patience) { (uint64_t)st.st_size, clock_ns() };
    silent = clock_ns() - p->since;
    process = silent < STUCK_NS ? 0 : read_number(c->paths[PATH_FILLING]);
    stopped = process > 0 && is_stopped(process);
    if (silent < SILENT_NS && !stopped) {
        (void)nanosleep(&wait, NULL);
        return LEAT_OK;
    }
    return status_set_in(
        err, LEAT_E_BUSY, c->index_url.name,
        "%s: process %ld fetches this index into the cache, and %s for %" PRIu64 " s: %send it, and start again",
        c->index_url.name, process, stopped ? "is stopped: nothing has arrived" : "nothing has arrived",
        silent / 1000000000, stopped ? "let it go on (kill -CONT), or " : "");
}

/* Fetches the index if index.leat is missing, and opens it. */
static enum leat_status cache_bring_index(struct cache *c, struct leat_error *err)
{
    struct patience patience = { 0, 0 };
    struct leat_error why;
    enum leat_status s;
    int lock = -1;

    while ((s = open_here(c, &why)) == LEAT_E_NO_FILE) {
        s = cache_lock(&lock, c->paths[PATH_FILLING], false, &why);
        if (s == LEAT_E_BUSY) {
            s = be_patient(c, &patience, &why);
            if (s == LEAT_OK)
                continue;
            break;
        }
        if (s == LEAT_OK)
            s = open_here(c, &why); /* another process may have completed it meanwhile */
        if (s == LEAT_E_NO_FILE) {
            leave_number(lock);
            s = bring(c, &why);
        }
        own_file_unlock(&lock);
        if (s != LEAT_OK || c->index_fd >= 0)
            break;
    }
    if (s != LEAT_OK && err)
        *err = why;
    return s;
}

/* ---- Opening and closing ----------------------------------------------------------------------------------------- */

#define OFFLINE_TRIES 3u

bool cache_takes(const char *name)
{
    return url_is(name);
}

const char *cache_name(const struct cache *c)
{
    return c->name;
}

static bool wants_stop(void *context)
{
    struct cache *c = context;

    return atomic_load(&c->stop);
}

/* Reads the URLs of both files, and the dataset's name. */
static enum leat_status read_url(struct cache *c, const char *text, struct leat_error *err)
{
    enum leat_status s = url_dataset(text, &c->index_url, &c->tokens_url, err);

    if (s != LEAT_OK)
        return s;
    c->name = strndup(c->index_url.name, strlen(c->index_url.name) - strlen(".leat"));
    return c->name ? LEAT_OK : status_no_memory(err, strlen(c->index_url.name));
}

static enum leat_status open_remote(struct cache *c, uint32_t tries, struct leat_error *err)
{
    struct remote_options options = { .max_tries = tries, .stop = wants_stop, .context = c };

    remote_close(c->remote);
    return remote_open(&c->remote, &options, err);
}

/* Reads the header, and reads it again if it is wrong, until it is right or arrives twice alike: then the server's
 * own is wrong. */
static enum leat_status read_header(struct cache *c, struct leat_error *err)
{
    uint8_t first, before[FORMAT_HEADER_BYTES];
    enum leat_status s = LEAT_OK;

    for (unsigned tries = 0; tries < REMOTE_DAMAGED_TRIES; tries++) {
        struct remote_look looks[2] = { { .url = &c->index_url, .first = c->first_page, .count = FORMAT_HEADER_BYTES },
                                        { .url = &c->tokens_url, .first = &first, .count = 1 } };
        enum leat_status got = remote_look(c->remote, looks, 2, err);

        c->index = looks[0].object;
        c->tokens = looks[1].object;
        if (got != LEAT_OK || (tries > 0 && memcmp(before, c->first_page, sizeof before) == 0))
            return got != LEAT_OK ? got : s;
        s = cache_parse_header(c, looks[0].count, c->tokens.size, err);
        if (s == LEAT_OK)
            break;
        memcpy(before, c->first_page, sizeof before);
    }
    return s;
}

static enum leat_status look_at_server(struct cache *c, struct leat_error *err)
{
    enum leat_status s = read_header(c, err);

    if (s == LEAT_OK && (c->header.must_understand & FORMAT_ELSEWHERE))
        return status_set_in(err, LEAT_E_UNSUPPORTED, c->index_url.name,
                             "%s is an index for tokens in another tool's file; fetch both files by other means",
                             c->index_url.name);
    c->pages = bytes_divide_up(c->header.token_file_bytes, PAGE);
    return s;
}

/* Asks the server what the dataset is; if the server does not answer, a complete copy says that. If there is such a
 * copy, few tries are made. */
static enum leat_status find_out(struct cache *c, bool online, bool *few, struct leat_error *err)
{
    char *folder = NULL;
    bool complete = cache_recall(c, &folder) && cache_recall_complete(folder);
    enum leat_status s;

    *few = complete && !online;
    s = open_remote(c, *few ? OFFLINE_TRIES : 0, err);

    if (s == LEAT_OK)
        s = look_at_server(c, err);
    if (s == LEAT_E_IO && online && complete && err)
        status_after(err, "; the cache has a complete copy, but the option online, or LEAT_ONLINE=1, forbids using it");
    else if (s == LEAT_E_IO && !online && folder)
        s = cache_take_offline(c, folder, err);
    free(folder);
    return s;
}

/* Opens the dataset's folder. A folder that cannot be written is good enough if everything is in it. */
static enum leat_status open_folder(struct cache *c, struct leat_error *err)
{
    const uint64_t began = clock_ns();
    struct leat_error why;
    enum leat_status s, locked;

    for (;;) { /* a process that makes room may remove the folder in between */
        s = cache_make_folder(c, err);
        if (s != LEAT_OK)
            return s;
        locked = cache_lock(&c->in_use_fd, c->paths[PATH_IN_USE], true, &why);
        if (locked != LEAT_E_NO_FILE && locked != LEAT_E_BUSY)
            break;
        if (clock_ns() - began >= STUCK_NS)
            return status_set_in(
                err, LEAT_E_BUSY, c->name,
                "%s: a process that is removing it from the cache has made no progress for two minutes; "
                "is a process that uses the cache stopped?",
                c->name);
        (void)nanosleep(&(struct timespec) { 0, 10000000 }, NULL);
    }
    if (locked == LEAT_OK)
        (void)futimens(c->in_use_fd, NULL); /* opened now */
    if (locked == LEAT_E_NO_MEMORY) {
        if (err)
            *err = why;
        return locked;
    }
    s = cache_bring_index(c, locked == LEAT_OK ? err : NULL);
    if (s == LEAT_OK)
        s = cache_pages_open(c, locked == LEAT_OK ? err : NULL);
    if (s != LEAT_OK && locked != LEAT_OK) {
        if (err)
            *err = why;
        return locked;
    }
    return s == LEAT_E_NO_SPACE ? status_before(err, s, CACHE_FULL) : s;
}

/* Gives the caller descriptors of its own. Damage of a complete copy is named by its path, since the server has no
 * part in it. */
static enum leat_status give_files(const struct cache *c, struct cache_files *files, struct leat_error *err)
{
    *files = (struct cache_files) { .index_fd = fcntl(c->index_fd, F_DUPFD_CLOEXEC, 0),
                                    .tokens_fd = fcntl(c->tokens_fd, F_DUPFD_CLOEXEC, 0),
                                    .index_path = c->paths[PATH_INDEX],
                                    .tokens_path = c->whole ? c->paths[PATH_TOKENS] : c->tokens_url.name,
                                    .index_bytes = c->index.size,
                                    .token_bytes = c->header.token_file_bytes,
                                    .whole = c->whole,
                                    .offline = c->offline };
    if (files->index_fd >= 0 && files->tokens_fd >= 0)
        return LEAT_OK;
    status_set_os(err, errno, c->name, "cannot open the cached files of %s", c->name);
    file_close(&files->index_fd);
    file_close(&files->tokens_fd);
    return LEAT_E_IO;
}

enum leat_status cache_open(struct cache **out, const char *url, const struct cache_options *options,
                            struct cache_files *files, struct leat_error *err)
{
    struct cache *c = calloc(1, sizeof *c);
    enum leat_status s;
    bool few = false, online;

    *out = NULL;
    if (!c)
        return status_no_memory(err, sizeof *c);
    c->index_fd = c->tokens_fd = c->map_fd = c->in_use_fd = c->fill_fd = c->hold_fd = -1;
    c->owner = getpid();
    c->kernels = checksum_kernels();
    c->queue_end = &c->queue;
    pthread_mutex_init(&c->mutex, NULL);
    pthread_mutex_init(&c->hold_mutex, NULL);
    pthread_cond_init(&c->work, NULL);
    pthread_cond_init(&c->arrived, NULL);
    s = read_url(c, url, err);
    if (s == LEAT_OK)
        s = cache_root(&c->root, options->folder, err);
    if (s == LEAT_OK)
        s = cache_limit(&c->limit, options->limit, err);
    if (s == LEAT_OK)
        s = cache_online(&online, options->online, err);
    if (s == LEAT_OK)
        s = find_out(c, online, &few, err);
    if (s == LEAT_OK)
        s = open_folder(c, err);
    if (s == LEAT_OK && !c->whole && c->offline)
        s = status_set_in(err, LEAT_E_IO, c->name,
                          "%s: the copy in the cache was removed just now, and its server does not answer", c->name);
    if (s == LEAT_OK && !c->whole && few)
        s = open_remote(c, 0, err);
    if (s == LEAT_OK && !c->offline)
        cache_remember(c);
    if (s == LEAT_OK)
        s = give_files(c, files, err);
    if (s == LEAT_OK)
        *out = c;
    else
        cache_close(c);
    return s;
}

void cache_close(struct cache *c)
{
    if (!c)
        return;
    if (c->owner == getpid()) {
        cache_stop(c);
        remote_close(c->remote);
        own_file_unlock(&c->fill_fd);
        cache_release_all(c);
        if (c->held)
            (void)cache_lock_bytes(c->tokens_fd, F_UNLCK, 0, 0, c->name, NULL);
    } /* in a child of fork(), the thread and the connections are the parent's */
    cache_pages_close(c);
    file_close(&c->index_fd);
    file_close(&c->in_use_fd);
    file_close(&c->fill_fd);
    file_close(&c->hold_fd);
    url_free(&c->index_url);
    url_free(&c->tokens_url);
    for (int i = 0; i < PATHS; i++)
        free(c->paths[i]);
    free(c->folder);
    free(c->root);
    free(c->name);
    free(c);
}
