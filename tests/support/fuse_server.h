/*
 * fuse_server.h: what file systems for tests share: mounting, and a process of their own that speaks FUSE's protocol
 * over /dev/fuse itself, so that no end of the test hangs in it. Needs root (or a namespace where mounting is allowed)
 * and /dev/fuse. Only where the header <linux/fuse.h> is.
 */
#ifndef LEAT_TESTS_FUSE_SERVER_H
#define LEAT_TESTS_FUSE_SERVER_H

#if defined(__linux__) && defined(__has_include)
#if __has_include(<linux/fuse.h>)
#define HAVE_FUSE 1
#endif
#endif

#if defined(HAVE_FUSE)

#include <linux/fuse.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#define FUSE_SERVER_MAX_READ  ((size_t)1 << 20)
#define FUSE_SERVER_MAX_WRITE ((size_t)128 << 10)

struct fuse_request {
    struct fuse_in_header head;
    union {
        struct fuse_init_in init;
        struct fuse_getattr_in getattr;
        struct fuse_setattr_in setattr;
        struct fuse_open_in open;
        struct fuse_create_in create;
        struct fuse_read_in read;
        struct fuse_write_in write;
        struct fuse_fsync_in fsync;
        struct fuse_release_in release;
        struct fuse_forget_in forget;
        struct fuse_batch_forget_in forget_many;
        struct fuse_mkdir_in mkdir;
        struct fuse_rename_in rename;
        struct fuse_rename2_in rename2;
        struct fuse_link_in link;
        char name[FUSE_SERVER_MAX_WRITE + 8192 - sizeof(struct fuse_in_header)];
    };
};

/* A kind of file system. */
struct fuse_kind {
    uint32_t flags;      /* of FUSE_INIT, where the kernel knows them */
    uint32_t max_write;  /* at most FUSE_SERVER_MAX_WRITE */
    unsigned long mount; /* flags of mount(2) */
    unsigned threads;
    size_t board_bytes; /* memory that the server's process shares with the test's; all zero at first */

    /* In the server's process: makes what `serve` gets. */
    void *(*begin)(int fuse, const char *from, void *board);
    /* One request; `room` has FUSE_SERVER_MAX_READ bytes. */
    void (*serve)(void *fs, const struct fuse_request *q, char *room);
};

struct fuse_server {
    const struct fuse_kind *kind;
    void *board;
    pid_t process;
    char at[600];
};

/* Shows the files of `from` at the folder `at`. False: it cannot be had here, and errno says why. */
bool fuse_server_mount(struct fuse_server *s, const struct fuse_kind *kind, const char *from, const char *at);
void fuse_server_unmount(struct fuse_server *s);

/* Answers a request: with an errno, or with 0 and a body. */
void fuse_answer(int fuse, const struct fuse_request *q, int error, const void *body, size_t bytes);

void fuse_attributes(struct fuse_attr *a, uint64_t node, const struct stat *st);

#endif
#endif
