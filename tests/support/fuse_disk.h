/*
 * fuse_disk.h: a file system that can be read and written, in which tests can make the n-th call fail: as disks, and
 * file servers, do. Or it answers late and counts what it is asked, as a file server far away does. It shows a folder's
 * files (tests/support/fuse_server.h says what it needs).
 */
#ifndef LEAT_TESTS_FUSE_DISK_H
#define LEAT_TESTS_FUSE_DISK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "fuse_server.h"

/* Kinds of calls, as bits. */
enum fuse_disk_call {
    FUSE_DISK_FIND = 1,         /* a name in a folder */
    FUSE_DISK_ATTRIBUTES = 2,   /* stat */
    FUSE_DISK_RESIZE = 4,       /* ftruncate; modes, owners and times, too */
    FUSE_DISK_OPEN = 8,         /* of a file */
    FUSE_DISK_CREATE = 16,      /* of a file or a folder */
    FUSE_DISK_READ = 32,        /* what the kernel reads, which may be more than a program does, or later */
    FUSE_DISK_WRITE = 64,       /* what the kernel writes, likewise */
    FUSE_DISK_CLOSE = 128,      /* the last close of a descriptor */
    FUSE_DISK_SYNC = 256,       /* fsync of a file */
    FUSE_DISK_SYNC_NAMES = 512, /* fsync of a folder */
    FUSE_DISK_RENAME = 1024,
    FUSE_DISK_LINK = 2048,
    FUSE_DISK_REMOVE = 4096,
    FUSE_DISK_LIST = 8192,   /* opening and reading a folder */
    FUSE_DISK_SYSTEM = 16384 /* statfs */
};
#define FUSE_DISK_READING                                                                                              \
    (FUSE_DISK_FIND | FUSE_DISK_ATTRIBUTES | FUSE_DISK_OPEN | FUSE_DISK_READ | FUSE_DISK_LIST | FUSE_DISK_SYSTEM)
#define FUSE_DISK_ALL      0x7fffu
#define FUSE_DISK_CALLS    15u /* kinds: bit i is counted in asked[i] */
#define FUSE_DISK_METADATA (FUSE_DISK_READING & ~FUSE_DISK_READ)

enum fuse_disk_fault {
    FUSE_DISK_FAILS, /* nothing happens but the error */
    FUSE_DISK_LIES,  /* it is done, and an error says it is not: an answer that a network has lost */
    FUSE_DISK_HALF   /* a read or write of half of the bytes, without an error; others are not disturbed */
};

/* Shared with the server: to be changed at any time. All zero: nothing is disturbed. */
struct fuse_disk_board {
    atomic_uint calls;     /* the kinds that are counted and may fail */
    atomic_uint fault;     /* enum fuse_disk_fault */
    atomic_uint error;     /* errno */
    atomic_ulong at;       /* the n-th counted call fails, from 1; 0: none does */
    atomic_bool and_after; /* and so do all after it */
    atomic_ulong times;    /* or so many in all, from it on; 0: one */
    atomic_uint lacks;     /* kinds that the file system does not know: ENOSYS */
    atomic_bool remember;  /* the kernel may remember names and sizes, and asks for fewer */
    atomic_ulong valid_ms; /* for so long only, and a file's bytes are kept when it is opened again */
    atomic_ulong delay_us; /* of each answer; any number of requests are under way at once */
    atomic_bool held;      /* nothing is answered until it is false again; with a delay only */
    atomic_bool direct;    /* of files opened from now on: past the page cache */
    atomic_long size_lie;  /* files are said to be so much longer */
    atomic_ulong counted;  /* since fuse_disk_arm() */
    atomic_uint hit;       /* the kind of the call that failed last; 0: none did */
    /* What was asked, whatever `calls` says. */
    atomic_ulong asked[FUSE_DISK_CALLS];
    atomic_ulong read_bytes, read_twice; /* of `read_bytes`: pages of 4 KiB that had been read before */
};

struct fuse_disk {
    struct fuse_disk_board *board;
#if defined(HAVE_FUSE)
    struct fuse_server server;
#endif
};

/* Shows `from` at `at`. `later`: the kernel keeps what is written, and writes it when it likes or at an fsync, as it
 * does for disks; else at once, as for most such file systems. False: it cannot be had here, and errno says why. */
bool fuse_disk_mount(struct fuse_disk *d, const char *from, const char *at, bool later);
void fuse_disk_unmount(struct fuse_disk *d);

/* From now on, call n of these kinds is disturbed (and all after it); n = 0 only counts. */
void fuse_disk_arm(const struct fuse_disk *d, unsigned calls, enum fuse_disk_fault fault, unsigned long n,
                   bool and_after, int error);
/* Nothing is disturbed any more; how many calls were counted. */
unsigned long fuse_disk_disarm(const struct fuse_disk *d);
/* How many requests of these kinds there were since it was mounted. */
unsigned long fuse_disk_asked(const struct fuse_disk *d, unsigned calls);
/* The name of the kind of call that was disturbed; NULL: none was. */
const char *fuse_disk_hit(const struct fuse_disk *d);

#endif
