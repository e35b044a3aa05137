/*
 * fuse_file.h: a file system of a folder's files that tests can make slow, failing or short: as files on another
 * machine are. Read-only (tests/support/fuse_server.h says what it needs). Only files named *.tokens are disturbed, and
 * logged.
 */
#ifndef LEAT_TESTS_FUSE_FILE_H
#define LEAT_TESTS_FUSE_FILE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "fuse_server.h"

#define FUSE_FILE_LARGE ((uint64_t)1 << 20)

/* Shared with the server: what it does, to be changed at any time, and what it saw. All zero: nothing is disturbed. */
struct fuse_file_board {
    /* Reads of *.tokens are counted from 1. */
    atomic_uint_fast64_t slow_every; /* every n-th takes 20 ms more */
    /* Every n-th, and the first read that contains byte hold_byte (the file's first byte is 1; 0: none), is answered
     * only after so many others that came or ended after it; or after two minutes, which are counted as `alone`; or at
     * once when both are 0 again. */
    atomic_uint_fast64_t hold_every, hold_byte, hold_for;
    atomic_bool met_byte;                      /* whether that read has come */
    atomic_uint_fast64_t fail_begin, fail_end; /* bytes that cannot be read: EIO */
    atomic_uint_fast64_t short_every;          /* every n-th gives half of its bytes */
    atomic_bool refuse_direct;                 /* reads with O_DIRECT are EINVAL, though opening so is not */
    atomic_bool direct;                        /* of *.tokens opened from now on: not by way of the page cache */

    atomic_uint_fast64_t reads, served, bytes, large_bytes; /* large: by reads of FUSE_FILE_LARGE and more */
    atomic_uint_fast64_t held, alone;
    atomic_uint_fast64_t failed, shortened, refused;
};

struct fuse_file {
    struct fuse_file_board *board;
#if defined(HAVE_FUSE)
    struct fuse_server server;
#endif
    bool reads_far; /* the read-ahead could be raised to 1 MiB, as administrators do for such file systems */
};

/* Shows the files of `from` at the folder `at`. False: it cannot be had here, and errno says why. */
bool fuse_file_mount(struct fuse_file *f, const char *from, const char *at);

/* Likewise, but for the kernel the server knows no FUSE_ASYNC_DIO: reads past the page cache are sent in turn. */
bool fuse_file_mount_in_turn(struct fuse_file *f, const char *from, const char *at);

void fuse_file_unmount(struct fuse_file *f);

#endif
