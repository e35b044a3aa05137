/* fuse_server.c: see fuse_server.h. */
#include "fuse_server.h"

#if defined(HAVE_FUSE)

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_THREADS 16u

void fuse_answer(int fuse, const struct fuse_request *q, int error, const void *body, size_t bytes)
{
    struct fuse_out_header head = { .len = (uint32_t)(sizeof head + (error ? 0 : bytes)),
                                    .error = -error,
                                    .unique = q->head.unique };
    struct iovec parts[2] = { { &head, sizeof head }, { (void *)(uintptr_t)body, bytes } };

    if (writev(fuse, parts, error || bytes == 0 ? 1 : 2) < 0 && errno != ENOENT && errno != ENODEV)
        perror("an answer of the file system"); /* ENOENT: the process that asked was interrupted */
}

void fuse_attributes(struct fuse_attr *a, uint64_t node, const struct stat *st)
{
    memset(a, 0, sizeof *a);
    a->ino = node;
    a->size = (uint64_t)st->st_size;
    a->blocks = (uint64_t)st->st_blocks;
    a->blksize = 4096;
    a->mode = st->st_mode;
    a->nlink = (uint32_t)st->st_nlink;
    a->uid = st->st_uid;
    a->gid = st->st_gid;
    a->atime = (uint64_t)st->st_atim.tv_sec;
    a->atimensec = (uint32_t)st->st_atim.tv_nsec;
    a->mtime = (uint64_t)st->st_mtim.tv_sec;
    a->mtimensec = (uint32_t)st->st_mtim.tv_nsec;
    a->ctime = (uint64_t)st->st_ctim.tv_sec;
    a->ctimensec = (uint32_t)st->st_ctim.tv_nsec;
}

/* ---- The server ---- */

struct running {
    const struct fuse_kind *kind;
    int fuse;
    void *fs;
};

static void *serve(void *running)
{
    const struct running *r = running;
    struct fuse_request *q = calloc(1, sizeof *q);
    char *room = malloc(FUSE_SERVER_MAX_READ);

    for (;;) {
        ssize_t got = read(r->fuse, q, sizeof *q);

        if (got >= (ssize_t)sizeof q->head)
            r->kind->serve(r->fs, q, room);
        else if (got < 0 && errno != EINTR && errno != EAGAIN && errno != ENOENT)
            break; /* ENODEV: it is not mounted any more */
    }
    free(room);
    free(q);
    return NULL;
}

/* Leaves the mounts of the test, if it may. The last process that has them ends only when they are gone, and what lies
 * on this file system could not be unmounted without the server. */
static int first_mounts = -1; /* those that the program began with */

__attribute__((constructor)) static void keep_first_mounts(void)
{
    first_mounts = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
}

static void leave_mounts(void)
{
    if (first_mounts >= 0)
        setns(first_mounts, CLONE_NEWNS);
}

/* The process of the server: ends with the mount, or with the test. */
static void run_server(const struct fuse_kind *kind, int fuse, const char *from, void *board)
{
    struct running r = { kind, fuse, NULL };
    pthread_t threads[MAX_THREADS];

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    r.fs = kind->begin(fuse, from, board);
    leave_mounts();
    for (unsigned i = 1; i < kind->threads; i++)
        if (pthread_create(&threads[i], NULL, serve, &r) != 0)
            _exit(1);
    serve(&r);
    for (unsigned i = 1; i < kind->threads; i++)
        pthread_join(threads[i], NULL);
    _exit(0);
}

/* The first request, before there is a server. False: an unknown one, as under an emulator of a machine whose
 * bytes stand the other way round. */
static bool answer_first(const struct fuse_kind *kind, int fuse)
{
    struct fuse_init_out out = { .major = FUSE_KERNEL_VERSION, .minor = FUSE_KERNEL_MINOR_VERSION };
    struct fuse_request *q = calloc(1, sizeof *q);
    bool known = q && read(fuse, q, sizeof *q) >= (ssize_t)sizeof q->head && q->head.opcode == FUSE_INIT;

    if (known) {
        out.max_readahead = (uint32_t)FUSE_SERVER_MAX_READ;
        out.flags = q->init.flags & kind->flags;
        out.max_background = 256;
        out.congestion_threshold = 256;
        out.max_write = kind->max_write;
        out.max_pages = (uint16_t)(FUSE_SERVER_MAX_READ / (size_t)sysconf(_SC_PAGESIZE));
        out.time_gran = 1;
        fuse_answer(fuse, q, 0, &out, sizeof out);
    }
    free(q);
    return known;
}

bool fuse_server_mount(struct fuse_server *s, const struct fuse_kind *kind, const char *from, const char *at)
{
    int fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    char options[128];

    if (fuse < 0)
        return false;
    snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=%u,group_id=%u", fuse, (unsigned)getuid(),
             (unsigned)getgid());
    s->kind = kind;
    snprintf(s->at, sizeof s->at, "%s", at);
    s->board = mmap(NULL, kind->board_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (s->board == MAP_FAILED || mount("leat-test", at, "fuse", kind->mount | MS_NOSUID | MS_NODEV, options) != 0) {
        int error = errno;

        close(fuse);
        errno = error;
        return false;
    }
    if (!answer_first(kind, fuse)) {
        close(fuse);
        umount2(at, MNT_DETACH);
        errno = ENOTSUP;
        return false;
    }
    s->process = fork();
    if (s->process == 0)
        run_server(kind, fuse, from, s->board);
    close(fuse);
    return s->process > 0;
}

void fuse_server_unmount(struct fuse_server *s)
{
    int status;

    if (umount2(s->at, 0) != 0)
        umount2(s->at, MNT_DETACH);
    waitpid(s->process, &status, 0);
    munmap(s->board, s->kind->board_bytes);
}

#endif
