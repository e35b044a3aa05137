/* fuse_file.c: see fuse_file.h. */
#include "fuse_file.h"

#include <errno.h>

#include "fuse_server.h"

#if defined(HAVE_FUSE)

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define MAX_FILES 8u
#define MAX_READ  FUSE_SERVER_MAX_READ
#define VALID     3600u /* seconds that the kernel may remember names and sizes */

/* Node numbers: 1 is the folder, 2 and so on its files, in the order in which they are asked for. */
struct server {
    int fuse, folder;
    struct fuse_file_board *board;
    pthread_mutex_t lock;
    char names[MAX_FILES][256];
    int files[MAX_FILES];
    unsigned count;
};

static void answer(const struct server *s, const struct fuse_request *q, int error, const void *body, size_t bytes)
{
    fuse_answer(s->fuse, q, error, body, bytes);
}

/* ---- What the kernel asks first ---- */

/* The descriptor of a node; -1: no such. */
static int node_file(struct server *s, uint64_t node)
{
    int fd = -1;

    pthread_mutex_lock(&s->lock);
    if (node == FUSE_ROOT_ID)
        fd = s->folder;
    else if (node >= 2 && node - 2 < s->count)
        fd = s->files[node - 2];
    pthread_mutex_unlock(&s->lock);
    return fd;
}

static bool fill_attributes(struct server *s, uint64_t node, struct fuse_attr *a)
{
    struct stat st;

    if (fstat(node_file(s, node), &st) != 0)
        return false;
    fuse_attributes(a, node, &st);
    return true;
}

/* The node of a name of the folder; 0: there is none. */
static uint64_t find_node(struct server *s, const char *name)
{
    unsigned i = 0;

    pthread_mutex_lock(&s->lock);
    while (i < s->count && strcmp(s->names[i], name) != 0)
        i++;
    if (i == s->count && i < MAX_FILES && strlen(name) < sizeof s->names[0]) {
        s->files[i] = openat(s->folder, name, O_RDONLY | O_CLOEXEC);
        if (s->files[i] >= 0)
            memcpy(s->names[s->count++], name, strlen(name) + 1);
    }
    i = i < s->count ? i + 2 : 0;
    pthread_mutex_unlock(&s->lock);
    return i;
}

static void look_up(struct server *s, const struct fuse_request *q)
{
    struct fuse_entry_out out = { .nodeid = find_node(s, q->name), .entry_valid = VALID, .attr_valid = VALID };

    if (q->head.nodeid != FUSE_ROOT_ID || out.nodeid == 0 || !fill_attributes(s, out.nodeid, &out.attr))
        answer(s, q, ENOENT, NULL, 0);
    else
        answer(s, q, 0, &out, sizeof out);
}

static void tell_attributes(struct server *s, const struct fuse_request *q)
{
    struct fuse_attr_out out = { .attr_valid = VALID };

    if (fill_attributes(s, q->head.nodeid, &out.attr))
        answer(s, q, 0, &out, sizeof out);
    else
        answer(s, q, ENOENT, NULL, 0);
}

static bool is_disturbed(struct server *s, uint64_t node)
{
    const char *end;

    if (node < 2 || node - 2 >= MAX_FILES)
        return false;
    pthread_mutex_lock(&s->lock);
    end = strrchr(s->names[node - 2], '.');
    pthread_mutex_unlock(&s->lock);
    return end && strcmp(end, ".tokens") == 0;
}

static void open_file(struct server *s, const struct fuse_request *q)
{
    bool direct = atomic_load(&s->board->direct) && is_disturbed(s, q->head.nodeid);
    struct fuse_open_out out = { .open_flags = direct ? FOPEN_DIRECT_IO : FOPEN_KEEP_CACHE };

    answer(s, q, 0, &out, sizeof out);
}

static void tell_system(const struct server *s, const struct fuse_request *q)
{
    struct fuse_statfs_out out = { .st = { .blocks = 1, .bsize = 4096, .namelen = 255, .frsize = 4096 } };

    answer(s, q, 0, &out, sizeof out);
}

/* ---- Reads ---- */

static bool is_due(const atomic_uint_fast64_t *every, uint64_t number)
{
    uint64_t n = atomic_load(every);

    return n > 0 && number % n == 0;
}

#define WAIT_US   500u
#define MAX_WAITS (120u * 1000000u / WAIT_US) /* which only pass where something is wrong */

static bool holds(struct fuse_file_board *b)
{
    return atomic_load(&b->hold_every) > 0 || atomic_load(&b->hold_byte) > 0;
}

/* Until others that were not answered before have been. */
static void hold(struct fuse_file_board *b)
{
    uint64_t before = atomic_load(&b->served);
    unsigned waited = 0;

    atomic_fetch_add(&b->held, 1);
    for (; waited < MAX_WAITS && holds(b); waited++) {
        if (atomic_load(&b->served) - before >= atomic_load(&b->hold_for))
            return;
        usleep(WAIT_US);
    }
    if (holds(b))
        atomic_fetch_add(&b->alone, 1);
}

static bool is_first_of_byte(struct fuse_file_board *b, uint64_t begin, uint64_t end)
{
    uint64_t byte = atomic_load(&b->hold_byte);

    return byte > begin && byte <= end && !atomic_exchange(&b->met_byte, true);
}

/* What is done to the read of these bytes, whose result so far is `got`. */
static ssize_t disturb(struct fuse_file_board *b, uint64_t begin, uint64_t end, ssize_t got)
{
    uint64_t number = atomic_fetch_add(&b->reads, 1) + 1;

    if (is_due(&b->slow_every, number))
        usleep(20000);
    if (is_due(&b->hold_every, number) || is_first_of_byte(b, begin, end))
        hold(b);
    atomic_fetch_add(&b->served, 1);
    if (begin < atomic_load(&b->fail_end) && end > atomic_load(&b->fail_begin)) {
        atomic_fetch_add(&b->failed, 1);
        return -1;
    }
    if (is_due(&b->short_every, number) && got > 1) {
        atomic_fetch_add(&b->shortened, 1);
        got /= 2;
    }
    if (got > 0) {
        atomic_fetch_add(&b->bytes, (uint64_t)got);
        atomic_fetch_add(&b->large_bytes, (uint64_t)got >= FUSE_FILE_LARGE ? (uint64_t)got : 0);
    }
    return got;
}

static void read_file(struct server *s, const struct fuse_request *q, char *room)
{
    size_t bytes = q->read.size < MAX_READ ? q->read.size : MAX_READ;
    ssize_t got = pread(node_file(s, q->head.nodeid), room, bytes, (off_t)q->read.offset);

    if (atomic_load(&s->board->refuse_direct) && q->read.flags & O_DIRECT) {
        atomic_fetch_add(&s->board->refused, 1);
        answer(s, q, EINVAL, NULL, 0);
        return;
    }
    if (is_disturbed(s, q->head.nodeid))
        got = disturb(s->board, q->read.offset, q->read.offset + bytes, got);
    answer(s, q, got < 0 ? EIO : 0, room, got < 0 ? 0 : (size_t)got);
}

/* ---- The server ---- */

static void serve(void *server, const struct fuse_request *q, char *room)
{
    struct server *s = server;

    switch (q->head.opcode) {
    case FUSE_LOOKUP:
        look_up(s, q);
        break;
    case FUSE_GETATTR:
        tell_attributes(s, q);
        break;
    case FUSE_OPEN:
    case FUSE_OPENDIR:
        open_file(s, q);
        break;
    case FUSE_READ:
        read_file(s, q, room);
        break;
    case FUSE_STATFS:
        tell_system(s, q);
        break;
    case FUSE_RELEASE:
    case FUSE_RELEASEDIR:
        answer(s, q, 0, NULL, 0);
        break;
    case FUSE_FORGET:
    case FUSE_BATCH_FORGET:
    case FUSE_INTERRUPT:
        break; /* want no answer */
    default:
        answer(s, q, ENOSYS, NULL, 0);
    }
}

static void *begin(int fuse, const char *from, void *board)
{
    struct server *s = calloc(1, sizeof *s);

    if (!s)
        _exit(1);
    *s = (struct server) { .fuse = fuse, .board = board };
    pthread_mutex_init(&s->lock, NULL);
    s->folder = open(from, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return s;
}

#define FLAGS (FUSE_ASYNC_READ | FUSE_MAX_PAGES | FUSE_PARALLEL_DIROPS)
#define KIND(more)                                                                                                     \
    {                                                                                                                  \
        .flags = FLAGS | (more), .max_write = 4096, .mount = MS_RDONLY, .threads = 8,                                  \
        .board_bytes = sizeof(struct fuse_file_board), .begin = begin, .serve = serve                                  \
    }

static const struct fuse_kind files = KIND(FUSE_ASYNC_DIO), in_turn = KIND(0);

/* What an administrator does: the kernel's 128 KiB are for disks. */
static bool raise_read_ahead(const char *at)
{
    char path[128];
    struct stat st;
    bool raised;
    int fd;

    if (stat(at, &st) != 0)
        return false;
    snprintf(path, sizeof path, "/sys/class/bdi/%u:%u/read_ahead_kb", major(st.st_dev), minor(st.st_dev));
    fd = open(path, O_WRONLY | O_CLOEXEC);
    raised = fd >= 0 && write(fd, "1024", 4) == 4;
    if (fd >= 0)
        close(fd);
    return raised;
}

static bool mount_kind(struct fuse_file *f, const struct fuse_kind *kind, const char *from, const char *at)
{
    if (!fuse_server_mount(&f->server, kind, from, at))
        return false;
    f->board = f->server.board;
    f->reads_far = raise_read_ahead(at);
    return true;
}

bool fuse_file_mount(struct fuse_file *f, const char *from, const char *at)
{
    return mount_kind(f, &files, from, at);
}

bool fuse_file_mount_in_turn(struct fuse_file *f, const char *from, const char *at)
{
    return mount_kind(f, &in_turn, from, at);
}

void fuse_file_unmount(struct fuse_file *f)
{
    atomic_store(&f->board->hold_every, 0);
    atomic_store(&f->board->hold_byte, 0);
    fuse_server_unmount(&f->server);
}

#else

bool fuse_file_mount(struct fuse_file *f, const char *from, const char *at)
{
    (void)f;
    (void)from;
    (void)at;
    errno = ENOSYS;
    return false;
}

bool fuse_file_mount_in_turn(struct fuse_file *f, const char *from, const char *at)
{
    return fuse_file_mount(f, from, at);
}

void fuse_file_unmount(struct fuse_file *f)
{
    (void)f;
}

#endif
