/*
 * small_disk.h: what test_full_disk.c and test_pack_full_disk.c share: a small disk on which a filler leaves as much
 * room as wanted, until it is removed; and a limit on the size of files.
 */
#ifndef LEAT_TESTS_FAULTS_SMALL_DISK_H
#define LEAT_TESTS_FAULTS_SMALL_DISK_H

#include <signal.h>
#include <sys/resource.h>

#include "own_mounts.h"
#include "small.h"

static const char *folder;
static char disk[560], name[600], reference[600], filler[600];

/* The names, and the folder at which the disk will be. */
static inline void name_disk(void)
{
    folder = t_folder();
    snprintf(disk, sizeof disk, "%s/disk", folder);
    snprintf(filler, sizeof filler, "%s/filler", disk);
    snprintf(reference, sizeof reference, "%s/reference", folder);
    snprintf(name, sizeof name, "%s/d", disk);
    make_folder(disk);
}

/* Where none can be mounted, file sizes are all that is tried. */
static inline bool mount_disk(unsigned long bytes)
{
    bool mounted = own_mounts() && mount_memory(disk, bytes);

    fprintf(stderr, "%s\n", mounted ? "a small disk in memory" : "no disk of its own could be had: only file sizes");
    signal(SIGXFSZ, SIG_IGN);
    return mounted;
}

/* Leaves `bytes` of a disk free, or less. */
static inline void fill_disk(uint64_t disk_bytes, uint64_t bytes)
{
    static const uint8_t zeros[1 << 14];
    FILE *f = fopen(filler, "wb");

    setvbuf(f, NULL, _IONBF, 0);
    for (uint64_t left = disk_bytes - bytes; left > 0;) {
        size_t here = left < sizeof zeros ? (size_t)left : sizeof zeros;

        if (fwrite(zeros, 1, here, f) != here)
            break;
        left -= here;
    }
    fclose(f);
}

static inline void remove_filler(void)
{
    unlink(filler);
}

static inline void set_limit(rlim_t bytes)
{
    struct rlimit limit;

    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    setrlimit(RLIMIT_FSIZE, &limit);
}

static inline void no_limit(void)
{
    set_limit(RLIM_INFINITY);
}

#endif
