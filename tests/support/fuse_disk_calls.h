/*
 * fuse_disk_calls.h: what the calls of fuse_disk.h do while nothing disturbs them, for fuse_disk.c. A node is a
 * descriptor (O_PATH) of a file of the folder shown, so that files that were removed or renamed stay what they are; a
 * handle is a descriptor that is open, or a DIR.
 */
#ifndef LEAT_TESTS_FUSE_DISK_CALLS_H
#define LEAT_TESTS_FUSE_DISK_CALLS_H

#include <sys/types.h>

#include "fuse_disk.h"

#if defined(HAVE_FUSE)

#define MAX_NODES 4096u

struct node {
    int fd; /* -1: free */
    dev_t device;
    ino_t inode;
    uint64_t known; /* how often the kernel was told its number */
};

/* Node number n is nodes[n]; 1 is the folder. */
struct disk {
    int fuse;
    struct fuse_disk_board *board;
    struct node nodes[MAX_NODES];
};

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

/* The kernel knows a node no more, so many times as it was told its number. */
void fuse_disk_forget(struct disk *d, uint64_t node, uint64_t times);
void fuse_disk_forget_many(struct disk *d, const struct fuse_request *q);

#endif

#endif
