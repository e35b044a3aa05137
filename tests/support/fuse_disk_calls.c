/* fuse_disk_calls.c: see fuse_disk_calls.h. */
#include "fuse_disk_calls.h"

#if defined(HAVE_FUSE)

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* ---- Nodes ---- */

static int node_fd(const struct disk *d, uint64_t node)
{
    return node < MAX_NODES ? d->nodes[node].fd : -1;
}

static bool node_stat(const struct disk *d, uint64_t node, struct stat *st)
{
    if (fstat(node_fd(d, node), st) != 0)
        return false;
    if (S_ISREG(st->st_mode))
        st->st_size += atomic_load(&d->board->size_lie);
    return true;
}

void fuse_disk_begin(struct disk *d, const char *from)
{
    for (uint64_t i = MAX_NODES - 1; i > 0; i--) {
        d->nodes[i] = (struct node) { .fd = -1, .reading = -1, .next = d->free };
        d->free = i == FUSE_ROOT_ID ? d->free : i;
    }
    d->nodes[FUSE_ROOT_ID].fd = open(from, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* The number of what a name stands for; 0: errno says why not. */
static uint64_t find_node(struct disk *d, uint64_t folder, const char *name)
{
    int fd = openat(node_fd(d, folder), name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    uint64_t *bucket, free = d->free;
    struct stat st;

    if (fd < 0 || fstat(fd, &st) != 0)
        return 0;
    bucket = &d->bucket[st.st_ino % BUCKETS];
    for (uint64_t i = *bucket; i > 0; i = d->nodes[i].next) {
        struct node *n = &d->nodes[i];

        if (n->device == st.st_dev && n->inode == st.st_ino) {
            close(fd);
            n->known++;
            return i;
        }
    }
    if (free > 0) {
        d->free = d->nodes[free].next;
        d->nodes[free] = (struct node) {
            .fd = fd, .reading = -1, .device = st.st_dev, .inode = st.st_ino, .known = 1, .next = *bucket
        };
        *bucket = free;
    }
    errno = ENFILE;
    return free;
}

static void drop_node(struct disk *d, uint64_t node)
{
    struct node *n = &d->nodes[node];
    uint64_t *at = &d->bucket[n->inode % BUCKETS];

    while (*at != node)
        at = &d->nodes[*at].next;
    *at = n->next;
    close(n->fd);
    if (n->reading >= 0)
        close(n->reading);
    free(n->pages);
    *n = (struct node) { .fd = -1, .reading = -1, .next = d->free };
    d->free = node;
}

void fuse_disk_forget(struct disk *d, uint64_t node, uint64_t times)
{
    struct node *n = &d->nodes[node < MAX_NODES ? node : 0];

    if (n->fd < 0 || node == FUSE_ROOT_ID || node >= MAX_NODES)
        return;
    n->known -= times < n->known ? times : n->known;
    if (n->known == 0)
        drop_node(d, node);
}

unsigned long fuse_disk_read_twice(struct disk *d, uint64_t node, uint64_t offset, size_t bytes)
{
    struct node *n = &d->nodes[node < MAX_NODES ? node : 0];
    uint64_t last = (offset + bytes + 4095) / 4096;
    unsigned long twice = 0;

    if (last > n->page_count) {
        n->pages = realloc(n->pages, last / 8 + 1);
        memset(n->pages + n->page_count / 8 + (n->page_count > 0), 0,
               last / 8 - n->page_count / 8 + (n->page_count == 0));
        n->page_count = last;
    }
    for (uint64_t page = offset / 4096; page < last; page++) {
        twice += n->pages[page / 8] >> page % 8 & 1 ? 4096 : 0;
        n->pages[page / 8] |= (uint8_t)(1u << page % 8);
    }
    return twice;
}

void fuse_disk_forget_many(struct disk *d, const struct fuse_request *q)
{
    const struct fuse_forget_one *one = (const void *)(&q->forget_many + 1);

    for (uint32_t i = 0; i < q->forget_many.count; i++)
        fuse_disk_forget(d, one[i].nodeid, one[i].nlookup);
}

/* A descriptor for reading and writing of a node; the kernel, which may write later, may read what is only written. */
static int open_node(const struct disk *d, uint64_t node, int flags)
{
    char path[64];

    if ((flags & O_ACCMODE) == O_WRONLY)
        flags = (flags & ~O_ACCMODE) | O_RDWR;
    snprintf(path, sizeof path, "/proc/self/fd/%d", node_fd(d, node));
    return open(path, (flags & ~(O_APPEND | O_DIRECT | O_NOFOLLOW | O_CREAT | O_EXCL)) | O_CLOEXEC);
}

/* ---- What a call does: each returns an errno, and what it answers ---- */

static int result(bool done)
{
    return done ? 0 : errno;
}

/* For how long the kernel may remember a name or what stat says: seconds, and the rest. */
static uint64_t valid(const struct disk *d)
{
    return atomic_load(&d->board->remember) ? 3600 : atomic_load(&d->board->valid_ms) / 1000;
}

static uint32_t valid_rest(const struct disk *d)
{
    return (uint32_t)(atomic_load(&d->board->valid_ms) % 1000 * 1000000);
}

static int find(struct disk *d, const struct fuse_request *q, const char *name, struct answer *a)
{
    struct stat st;

    a->entry.nodeid = find_node(d, q->head.nodeid, name);
    a->entry.entry_valid = a->entry.attr_valid = valid(d);
    a->entry.entry_valid_nsec = a->entry.attr_valid_nsec = valid_rest(d);
    a->bytes = sizeof a->entry;
    if (a->entry.nodeid == 0 || !node_stat(d, a->entry.nodeid, &st))
        return errno;
    fuse_attributes(&a->entry.attr, a->entry.nodeid, &st);
    return 0;
}

static int tell_attributes(const struct disk *d, uint64_t node, struct answer *a)
{
    struct stat st;

    if (!node_stat(d, node, &st))
        return errno;
    fuse_attributes(&a->attr.attr, node, &st);
    a->attr.attr_valid = valid(d);
    a->attr.attr_valid_nsec = valid_rest(d);
    a->bytes = sizeof a->attr;
    return 0;
}

static int set_attributes(const struct disk *d, const struct fuse_request *q, struct answer *a)
{
    int fd = q->setattr.valid & FATTR_SIZE ? open_node(d, q->head.nodeid, O_RDWR) : -1, error = 0;

    if (q->setattr.valid & FATTR_SIZE)
        error = result(fd >= 0 && ftruncate(fd, (off_t)q->setattr.size) == 0);
    if (fd >= 0)
        close(fd);
    return error ? error : tell_attributes(d, q->head.nodeid, a);
}

/* A handle is a descriptor and 1, for it alone; 0: the one of all who only read. */
static void opened(const struct disk *d, struct fuse_open_out *o, int fd)
{
    o->fh = (uint64_t)(fd + 1);
    o->open_flags = atomic_load(&d->board->direct) ? FOPEN_DIRECT_IO : 0;
    if (atomic_load(&d->board->valid_ms) > 0)
        o->open_flags |= FOPEN_KEEP_CACHE;
}

static int open_file(struct disk *d, const struct fuse_request *q, struct answer *a)
{
    bool shared = ((int)q->open.flags & (O_ACCMODE | O_TRUNC)) == O_RDONLY;
    struct node *n = &d->nodes[q->head.nodeid];
    int fd = shared ? n->reading : -1;

    if (fd < 0)
        fd = open_node(d, q->head.nodeid, (int)q->open.flags);
    if (shared)
        n->reading = fd;
    opened(d, &a->open, shared ? -1 : fd);
    a->bytes = sizeof a->open;
    return result(fd >= 0);
}

static int handle_fd(const struct disk *d, uint64_t node, uint64_t handle)
{
    return handle > 0 ? (int)handle - 1 : d->nodes[node].reading;
}

static int create(struct disk *d, const struct fuse_request *q, struct answer *a)
{
    const char *name = (const char *)(&q->create + 1);
    int fd = openat(node_fd(d, q->head.nodeid), name, O_RDWR | O_CREAT | O_CLOEXEC | ((int)q->create.flags & O_EXCL),
                    q->create.mode);
    int error = fd < 0 ? errno : find(d, q, name, a);

    if (error && fd >= 0)
        close(fd);
    opened(d, &a->made.open, fd);
    a->bytes = sizeof a->made;
    return error;
}

static int make_folder(struct disk *d, const struct fuse_request *q, struct answer *a)
{
    const char *name = (const char *)(&q->mkdir + 1);

    return mkdirat(node_fd(d, q->head.nodeid), name, q->mkdir.mode) == 0 ? find(d, q, name, a) : errno;
}

static int read_file(const struct disk *d, const struct fuse_request *q, char *room, bool half, struct answer *a)
{
    size_t bytes = q->read.size < FUSE_SERVER_MAX_READ ? q->read.size : FUSE_SERVER_MAX_READ;
    ssize_t got = pread(handle_fd(d, q->head.nodeid, q->read.fh), room, bytes, (off_t)q->read.offset);

    a->body = room;
    a->bytes = got > 0 ? (size_t)(half && got > 1 ? got / 2 : got) : 0;
    return result(got >= 0);
}

static int write_file(const struct disk *d, const struct fuse_request *q, bool half, struct answer *a)
{
    const char *bytes = (const char *)(&q->write + 1);
    size_t size = half && q->write.size > 1 ? q->write.size / 2 : q->write.size;
    ssize_t put = pwrite(handle_fd(d, q->head.nodeid, q->write.fh), bytes, size, (off_t)q->write.offset);

    a->write.size = put > 0 ? (uint32_t)put : 0;
    a->bytes = sizeof a->write;
    return result(put >= 0);
}

static int rename_file(const struct disk *d, const struct fuse_request *q, uint64_t folder, unsigned flags,
                       const char *from)
{
    return result(renameat2(node_fd(d, q->head.nodeid), from, node_fd(d, folder), from + strlen(from) + 1, flags) == 0);
}

static int link_file(struct disk *d, const struct fuse_request *q, struct answer *a)
{
    const char *name = (const char *)(&q->link + 1);
    char path[64];

    snprintf(path, sizeof path, "/proc/self/fd/%d", node_fd(d, q->link.oldnodeid));
    if (linkat(AT_FDCWD, path, node_fd(d, q->head.nodeid), name, AT_SYMLINK_FOLLOW) != 0)
        return errno;
    return find(d, q, name, a);
}

static int open_folder(const struct disk *d, const struct fuse_request *q, struct answer *a)
{
    int fd = openat(node_fd(d, q->head.nodeid), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    a->open.fh = (uint64_t)(uintptr_t)(fd >= 0 ? fdopendir(fd) : NULL);
    a->bytes = sizeof a->open;
    return result(a->open.fh != 0);
}

static int list(const struct fuse_request *q, char *room, struct answer *a)
{
    DIR *dir = (DIR *)(uintptr_t)q->read.fh;
    size_t used = 0;
    const struct dirent *e;

    seekdir(dir, (long)q->read.offset);
    while ((e = readdir(dir))) {
        struct fuse_dirent *to = (struct fuse_dirent *)(void *)(room + used);
        size_t length = strlen(e->d_name), size = FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET + length);

        if (used + size > q->read.size)
            break;
        memset(to, 0, size);
        *to = (struct fuse_dirent) {
            .ino = e->d_ino, .off = (uint64_t)telldir(dir), .namelen = (uint32_t)length, .type = e->d_type
        };
        memcpy(to->name, e->d_name, length);
        used += size;
    }
    a->body = room;
    a->bytes = used;
    return 0;
}

static int tell_system(const struct disk *d, struct answer *a)
{
    struct statvfs s;

    if (fstatvfs(node_fd(d, FUSE_ROOT_ID), &s) != 0)
        return errno;
    a->system.st = (struct fuse_kstatfs) { .blocks = s.f_blocks,
                                           .bfree = s.f_bfree,
                                           .bavail = s.f_bavail,
                                           .bsize = (uint32_t)s.f_bsize,
                                           .namelen = 255,
                                           .frsize = (uint32_t)s.f_frsize };
    a->bytes = sizeof a->system;
    return 0;
}

int fuse_disk_call(struct disk *d, const struct fuse_request *q, char *room, bool half, struct answer *a)
{
    int at = node_fd(d, q->head.nodeid);

    switch (q->head.opcode) {
    case FUSE_LOOKUP:
        return find(d, q, q->name, a);
    case FUSE_GETATTR:
        return tell_attributes(d, q->head.nodeid, a);
    case FUSE_SETATTR:
        return set_attributes(d, q, a);
    case FUSE_OPEN:
        return open_file(d, q, a);
    case FUSE_CREATE:
        return create(d, q, a);
    case FUSE_MKDIR:
        return make_folder(d, q, a);
    case FUSE_READ:
        return read_file(d, q, room, half, a);
    case FUSE_WRITE:
        return write_file(d, q, half, a);
    case FUSE_RENAME:
        return rename_file(d, q, q->rename.newdir, 0, (const char *)(&q->rename + 1));
    case FUSE_RENAME2:
        return rename_file(d, q, q->rename2.newdir, q->rename2.flags, (const char *)(&q->rename2 + 1));
    case FUSE_LINK:
        return link_file(d, q, a);
    case FUSE_UNLINK:
        return result(unlinkat(at, q->name, 0) == 0);
    case FUSE_RMDIR:
        return result(unlinkat(at, q->name, AT_REMOVEDIR) == 0);
    case FUSE_OPENDIR:
        return open_folder(d, q, a);
    case FUSE_READDIR:
        return list(q, room, a);
    case FUSE_STATFS:
        return tell_system(d, a);
    case FUSE_RELEASE:
        if (q->release.fh > 0)
            close((int)q->release.fh - 1);
        return 0;
    case FUSE_RELEASEDIR:
        closedir((DIR *)(uintptr_t)q->release.fh);
        return 0;
    default: /* flush and both kinds of fsync: nothing is kept here */
        return 0;
    }
}

#endif
