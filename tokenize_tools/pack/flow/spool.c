/* spool.c: see spool.h. */
#include "spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "base/path.h"
#include "base/status.h"
#include "base/tiny.h"

#define ZEROS TINY_OR(64, 1 << 16)

static const char name[] = "a temporary file";

/* Opens a file and removes its name at once, for file systems without nameless files. */
static int open_and_unlink(const char *folder)
{
    char *path = path_join(folder, ".leat-XXXXXX", NULL);
    int fd = -1;

    if (!path) {
        errno = ENOMEM;
        return -1;
    }
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    free(path);
    return fd;
}

enum leat_status spool_open(struct spool *s, const char *beside, struct leat_error *err)
{
    const char *slash = strrchr(beside, '/');
    char *folder = slash ? strndup(beside, slash == beside ? 1 : (size_t)(slash - beside)) : strdup(".");
    enum leat_status status = LEAT_OK;

    *s = (struct spool)SPOOL_NONE;
    if (!folder)
        return status_no_memory(err, strlen(beside));
#ifdef O_TMPFILE
    s->fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
#endif
    if (s->fd < 0)
        s->fd = open_and_unlink(folder);
    if (s->fd < 0)
        status = status_set_os(err, errno, folder, "cannot create a temporary file in %s", folder);
    free(folder);
    return status;
}

enum leat_status spool_append(struct spool *s, const void *bytes, size_t count, struct leat_error *err)
{
    enum leat_status status = file_write_at(s->fd, s->bytes, bytes, count, name, err);

    if (status == LEAT_OK)
        s->bytes += count;
    return status;
}

enum leat_status spool_read(const struct spool *s, uint64_t offset, void *out, size_t count, struct leat_error *err)
{
    return file_read_at(s->fd, offset, out, count, name, err);
}

void spool_close(struct spool *s)
{
    file_close(&s->fd);
    s->bytes = 0;
}

/* Writes zeros to the file before it is mapped: if the disk were full, writing to the map would end the process. */
static enum leat_status write_zeros(struct spool *s, size_t size, struct leat_error *err)
{
    static const char zeros[ZEROS];
    enum leat_status status = LEAT_OK;

    while (status == LEAT_OK && s->bytes < size)
        status = spool_append(s, zeros, size - s->bytes < ZEROS ? (size_t)(size - s->bytes) : ZEROS, err);
    return status;
}

enum leat_status spool_map(const char *beside, size_t size, void **memory, struct leat_error *err)
{
    struct spool s;
    enum leat_status status = spool_open(&s, beside, err);

    if (status == LEAT_OK)
        status = write_zeros(&s, size, err);
    if (status == LEAT_OK) {
        *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, s.fd, 0);
        if (*memory == MAP_FAILED)
            status = status_set_os(err, errno, NULL, "cannot map %s of %zu bytes", name, size);
    }
    spool_close(&s);
    return status;
}
