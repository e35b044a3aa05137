/*
 * fuse_disk_calls.h: what the calls of fuse_disk.h do while nothing disturbs them, for fuse_disk.c. A node is a
 * descriptor (O_PATH) of a file of the folder shown, so that files that were removed or renamed stay what they are; a
 * handle is a descriptor that is open, or a DIR.
 */
#ifndef LEAT_TESTS_FUSE_DISK_CALLS_H
#define LEAT_TESTS_FUSE_DISK_CALLS_H

#include <pthread.h>
#include <sys/types.h>

#include "fuse_disk.h"

#if defined(HAVE_FUSE)

#define MAX_NODES 8192u
#define BUCKETS   4096u

struct node {
    int fd;      /* -1: free */
    int reading; /* a descriptor that all who only read share, so that any number may have it open; -1: none */
    dev_t device;
    ino_t inode;
    uint64_t known; /* how often the kernel was told its number */
    uint64_t next;  /* of those with the same remainder of the inode, or of the free ones; 0: none */
    uint8_t *pages; /* a bit for each page of 4 KiB that was read */
    size_t page_count;
};

struct late;

/* Node number n is nodes[n]; 1 is the folder. */
struct disk {
    int fuse;
    struct fuse_disk_board *board;
    struct node nodes[MAX_NODES];
    uint64_t bucket[BUCKETS], free;
    pthread_mutex_t mutex; /* answers that are late */
    pthread_cond_t more;
    struct late *late, **late_end;
};

void fuse_disk_begin(struct disk *d, const char *from);

/* What a call answers. */
struct answer {
    union {
        struct fuse_entry_out entry;
        struct fuse_attr_out attr;
        struct fuse_open_out open;
        struct fuse_write_out write;
        struct fuse_statfs_out system;
        struct {
            struct fuse_entry_out entry;
            struct fuse_open_out open;
        } made;
    };
    const void *body;
    size_t bytes;
};

/* Returns an errno, and what the call answers. `half`: a read or write of half of the bytes. */
int fuse_disk_call(struct disk *d, const struct fuse_request *q, char *room, bool half, struct answer *a);

/* Notes that these bytes of a node were read; returns how many of them are in pages that were read before. */
unsigned long fuse_disk_read_twice(struct disk *d, uint64_t node, uint64_t offset, size_t bytes);

/* The kernel knows a node no more, so many times as it was told its number. */
void fuse_disk_forget(struct disk *d, uint64_t node, uint64_t times);
void fuse_disk_forget_many(struct disk *d, const struct fuse_request *q);

#endif

#endif
