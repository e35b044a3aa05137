/* fuse_file.c: see fuse_file.h. */
#include "fuse_file.h"

#include <errno.h>

#if defined(__linux__) && defined(__has_include)
#if __has_include(<linux/fuse.h>)
#define HAVE_FUSE 1
#endif
#endif

#if defined(HAVE_FUSE)

#include <fcntl.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS   8u
#define MAX_FILES 8u
#define REQUEST   16384u /* room for one: the kernel wants 8 KiB at least, and more than max_write */
#define MAX_READ  ((size_t)1 << 20)
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

struct request {
    struct fuse_in_header head;
    union {
        struct fuse_init_in init;
        struct fuse_read_in read;
        char name[REQUEST - sizeof(struct fuse_in_header)];
    };
};

static void answer(const struct server *s, const struct request *q, int error, const void *body, size_t bytes)
{
    struct fuse_out_header head = { .len = (uint32_t)(sizeof head + (error ? 0 : bytes)),
                                    .error = -error,
                                    .unique = q->head.unique };
    struct iovec parts[2] = { { &head, sizeof head }, { (void *)(uintptr_t)body, bytes } };

    if (writev(s->fuse, parts, error || bytes == 0 ? 1 : 2) < 0 && errno != ENOENT && errno != ENODEV)
        perror("an answer of the file system"); /* ENOENT: the process that asked was interrupted */
}

/* ---- What the kernel asks first ---- */

static void begin(const struct server *s, const struct request *q)
{
    struct fuse_init_out out = { .major = FUSE_KERNEL_VERSION, .minor = FUSE_KERNEL_MINOR_VERSION };

    out.max_readahead = (uint32_t)MAX_READ;
    out.flags = q->init.flags & (FUSE_ASYNC_READ | FUSE_MAX_PAGES | FUSE_ASYNC_DIO | FUSE_PARALLEL_DIROPS);
    out.max_background = 256;
    out.congestion_threshold = 256;
    out.max_write = 4096;
    out.max_pages = (uint16_t)(MAX_READ / (size_t)sysconf(_SC_PAGESIZE));
    out.time_gran = 1;
    answer(s, q, 0, &out, sizeof out);
}

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
    memset(a, 0, sizeof *a);
    a->ino = node;
    a->size = (uint64_t)st.st_size;
    a->blocks = (uint64_t)st.st_blocks;
    a->blksize = 4096;
    a->mode = st.st_mode;
    a->nlink = 1;
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

static void look_up(struct server *s, const struct request *q)
{
    struct fuse_entry_out out = { .nodeid = find_node(s, q->name), .entry_valid = VALID, .attr_valid = VALID };

    if (q->head.nodeid != FUSE_ROOT_ID || out.nodeid == 0 || !fill_attributes(s, out.nodeid, &out.attr))
        answer(s, q, ENOENT, NULL, 0);
    else
        answer(s, q, 0, &out, sizeof out);
}

static void tell_attributes(struct server *s, const struct request *q)
{
    struct fuse_attr_out out = { .attr_valid = VALID };

    if (fill_attributes(s, q->head.nodeid, &out.attr))
        answer(s, q, 0, &out, sizeof out);
    else
        answer(s, q, ENOENT, NULL, 0);
}

static void open_file(struct server *s, const struct request *q)
{
    struct fuse_open_out out = { .open_flags = atomic_load(&s->board->direct) ? FOPEN_DIRECT_IO : FOPEN_KEEP_CACHE };

    answer(s, q, 0, &out, sizeof out);
}

static void tell_system(const struct server *s, const struct request *q)
{
    struct fuse_statfs_out out = { .st = { .blocks = 1, .bsize = 4096, .namelen = 255, .frsize = 4096 } };

    answer(s, q, 0, &out, sizeof out);
}

/* ---- Reads ---- */

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

static bool is_due(const atomic_uint_fast64_t *every, uint64_t number)
{
    uint64_t n = atomic_load(every);

    return n > 0 && number % n == 0;
}

/* Until others that were not answered before have been. */
static void hold(struct fuse_file_board *b)
{
    uint64_t before = atomic_load(&b->served);
    unsigned waited = 0;

    atomic_fetch_add(&b->held, 1);
    for (; waited < 20000 && atomic_load(&b->hold_every) > 0; waited++) {
        if (atomic_load(&b->served) - before >= atomic_load(&b->hold_for))
            return;
        usleep(500);
    }
    if (atomic_load(&b->hold_every) > 0)
        atomic_fetch_add(&b->alone, 1);
}

/* What is done to the read of these bytes, whose result so far is `got`. */
static ssize_t disturb(struct fuse_file_board *b, uint64_t begin, uint64_t end, ssize_t got)
{
    uint64_t number = atomic_fetch_add(&b->reads, 1) + 1;

    if (is_due(&b->slow_every, number))
        usleep(20000);
    if (is_due(&b->hold_every, number))
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

static void read_file(struct server *s, const struct request *q, char *room)
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

static void serve_one(struct server *s, const struct request *q, char *room)
{
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

static void *serve(void *server)
{
    struct server *s = server;
    struct request *q = calloc(1, REQUEST);
    char *room = malloc(MAX_READ);

    for (;;) {
        ssize_t got = read(s->fuse, q, REQUEST);

        if (got >= (ssize_t)sizeof q->head)
            serve_one(s, q, room);
        else if (got < 0 && errno != EINTR && errno != EAGAIN && errno != ENOENT)
            break; /* ENODEV: it is not mounted any more */
    }
    free(room);
    free(q);
    return NULL;
}

/* The process of the server: ends with the mount, or with the test. */
static void run_server(int fuse, const char *from, struct fuse_file_board *board)
{
    struct server s = { .fuse = fuse, .board = board };
    pthread_t threads[THREADS];

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pthread_mutex_init(&s.lock, NULL);
    s.folder = open(from, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (unsigned i = 1; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, serve, &s) != 0)
            _exit(1);
    serve(&s);
    for (unsigned i = 1; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    _exit(0);
}

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

/* The first request, before there is a server. False: an unknown one, as under an emulator of a machine whose
 * bytes stand the other way round. */
static bool answer_first(int fuse)
{
    struct server s = { .fuse = fuse };
    struct request *q = calloc(1, REQUEST);
    bool known = q && read(fuse, q, REQUEST) >= (ssize_t)sizeof q->head && q->head.opcode == FUSE_INIT;

    if (known)
        begin(&s, q);
    free(q);
    return known;
}

bool fuse_file_mount(struct fuse_file *f, const char *from, const char *at)
{
    int fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    char options[128];

    if (fuse < 0)
        return false;
    snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=%u,group_id=%u", fuse, (unsigned)getuid(),
             (unsigned)getgid());
    snprintf(f->at, sizeof f->at, "%s", at);
    f->board = mmap(NULL, sizeof *f->board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (f->board == MAP_FAILED || mount("leat-test", at, "fuse", MS_RDONLY | MS_NOSUID | MS_NODEV, options) != 0) {
        int error = errno;

        close(fuse);
        errno = error;
        return false;
    }
    if (!answer_first(fuse)) {
        close(fuse);
        umount2(at, MNT_DETACH);
        errno = ENOTSUP;
        return false;
    }
    f->server = fork();
    if (f->server == 0)
        run_server(fuse, from, f->board);
    close(fuse);
    f->reads_far = raise_read_ahead(at);
    return f->server > 0;
}

void fuse_file_unmount(struct fuse_file *f)
{
    int status;

    atomic_store(&f->board->hold_every, 0);
    if (umount2(f->at, 0) != 0)
        umount2(f->at, MNT_DETACH);
    waitpid(f->server, &status, 0);
    munmap(f->board, sizeof *f->board);
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

void fuse_file_unmount(struct fuse_file *f)
{
    (void)f;
}

#endif
