/*
 * fault.h: makes a chosen call of the library fail, or ends the process there. The programs of tests/faults/ are linked
 * so that the library's allocations and system calls come through fault.c (tests/tests.mk, WRAPPED).
 *
 * Nothing is counted or disturbed while no fault is armed. fsync is never passed on to the system: it costs time, and
 * what it is for is played by power.h.
 */
#ifndef LEAT_TESTS_FAULT_H
#define LEAT_TESTS_FAULT_H

#include <stdbool.h>
#include <stdint.h>

enum fault_kind {
    FAULT_MEMORY, /* malloc, calloc, realloc, reallocarray, strdup, strndup: NULL and ENOMEM */
    FAULT_SYSTEM  /* the rest */
};

enum fault_mode {
    FAULT_COUNT,        /* nothing fails */
    FAULT_ONCE,         /* call n fails */
    FAULT_FROM_THEN_ON, /* call n and all after it fail */
    FAULT_KILL_BEFORE,  /* SIGKILL in place of call n */
    FAULT_KILL_AFTER,   /* SIGKILL when call n is done */
    FAULT_POWER_CUT,    /* power_cut() before call n, then SIGKILL */
    FAULT_SHORT,        /* from call n on, each read and write moves half of what is asked */
    FAULT_INTERRUPT,    /* from call n on, every second call that a signal can interrupt fails with EINTR */
    FAULT_DELAY         /* every n-th read takes 20 ms more; nothing fails */
};

/* Calls of this kind are counted from 1. A call that fails sets errno to `os_error`; one that ends the use of something
 * (close, closedir, munmap) is carried out all the same. */
void fault_arm(enum fault_kind kind, enum fault_mode mode, uint64_t n, int os_error);

/* The same of the system calls of one name: no other is counted or fails. */
void fault_arm_call(const char *name, enum fault_mode mode, uint64_t n, int os_error);

/* Returns how many calls of the kind there were. */
uint64_t fault_disarm(void);

/* The first call that failed since arming ("pwrite"); NULL: none did. Also after disarming. */
const char *fault_failed(void);

/* What some file systems cannot do. Not a fault: it stays until it is set anew. */
enum {
    FAULT_NO_RENAMEAT2 = 1, /* rename without replacing: EINVAL, as on NFS */
    FAULT_NO_LINKS = 2,     /* give a file a second name: EPERM, as on FUSE */
    FAULT_NO_UNNAMED = 4    /* make a file without a name: EOPNOTSUPP */
};
void fault_file_system(unsigned lacks);

/* Called with the file of each read, before it: to change the file at a known moment. NULL: not called. */
void fault_watch_reads(void (*watch)(int fd));

/* Allocations through the wrapped calls that were not freed yet. */
long fault_allocations(void);

/* Open file descriptors of this process. */
unsigned fault_open_files(void);

#endif
