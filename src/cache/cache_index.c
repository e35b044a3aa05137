/*
 * cache_index.c: the index of a dataset. It lies in the cache completely or not at all, because documents, directory
 * and hashes are asked for all the time, and are a hundredth of the tokens. One process brings it; others wait, as long
 * as it gets on. One that is found is compared with its sums like one that arrived: a damaged one is fetched again,
 * since the server has the right one.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/own_file.h"
#include "base/status.h"
#include "cache_inside.h"
#include "checksum/page_sum.h"

#define PIECE   TINY_OR((uint64_t)8192, (uint64_t)64 << 20) /* in memory */
#define LOOK_MS 20L
/* without a byte from the process that brings the index: more than its requests take with their stalls and waits */
#define SILENT_NS ((uint64_t)3600 * 1000000000)

static enum leat_status check_section(struct cache *c, int fd, const char *path, const struct format_place *place,
                                      struct leat_error *err)
{
    struct page_sum sum;
    enum leat_status s;

    page_sum_begin(&sum, 0, (struct hash128) { 0, 0 });
    s = page_sum_add_file(&sum, fd, place->offset, place->bytes, path, err);
    if (s == LEAT_OK && !checksum_equal(page_sum_now(&sum), place->sum))
        return status_set_at(err, LEAT_E_CHECKSUM, place->offset,
                             "%s: what arrived from byte %llu on was damaged %u times; verify the dataset where it "
                             "was made, and copy it to the server again",
                             c->index_url.name, (unsigned long long)place->offset, REMOTE_DAMAGED_TRIES);
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

/* With the lock. */
static enum leat_status bring(struct cache *c, struct leat_error *err)
{
    const char *path = c->paths[PATH_INDEX_PARTIAL];
    enum leat_status s;
    unsigned tries = 0;
    int fd = -1;

    s = cache_open_file(&fd, path, err);
    for (bool again = s == LEAT_OK; again; again = s == LEAT_E_CHECKSUM && ++tries < REMOTE_DAMAGED_TRIES) {
        s = file_truncate(fd, 0, path, err); /* whoever waits for it sees it grow */
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

/* Opens an index that is here. LEAT_E_NO_FILE: it is not, is not that of the server, or is damaged. */
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

/* The process that brings the index writes its number into the file that it has locked, for those who wait. */
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

/* By SIGSTOP, or a debugger. False also of a process that is not seen from here. */
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
    uint64_t size, since; /* what has arrived, and since when no more did */
};

/* Waits for the process that brings the index; an error if nothing arrives. */
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
    return status_set(err, LEAT_E_BUSY,
                      "%s: process %ld fetches this index into the cache, and %s for %llu s: %send it, and start again",
                      c->index_url.name, process, stopped ? "is stopped: nothing has arrived" : "nothing has arrived",
                      (unsigned long long)(silent / 1000000000), stopped ? "let it go on (kill -CONT), or " : "");
}

enum leat_status cache_bring_index(struct cache *c, struct leat_error *err)
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
            s = open_here(c, &why); /* it may have come meanwhile */
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
