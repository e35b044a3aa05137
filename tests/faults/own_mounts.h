/*
 * own_mounts.h: mounts that only this process sees, so that a test can have a small disk or a read-only one. Needs
 * root, or a system that lets users make namespaces.
 */
#ifndef LEAT_TESTS_FAULTS_OWN_MOUNTS_H
#define LEAT_TESTS_FAULTS_OWN_MOUNTS_H

#include <sched.h>
#include <sys/mount.h>

#include "t.h"

static inline bool write_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

    if (fd >= 0)
        close(fd);
    return done;
}

/* From now on what is mounted is seen by this process and its children only. */
static inline bool own_mounts(void)
{
    unsigned user = (unsigned)getuid(), group = (unsigned)getgid();
    char map[64];

    if (unshare(CLONE_NEWNS) != 0) {
        if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
            return false;
        snprintf(map, sizeof map, "0 %u 1", user);
        if (!write_text("/proc/self/uid_map", map))
            return false;
        snprintf(map, sizeof map, "0 %u 1", group); /* without a group nothing can be created in such a mount */
        if (!write_text("/proc/self/setgroups", "deny") || !write_text("/proc/self/gid_map", map))
            return false;
    }
    return mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

/* A file system in memory with this many bytes, at a folder. */
static inline bool mount_memory(const char *folder, unsigned long bytes)
{
    return mount("tmpfs", folder, "tmpfs", 0, t_text("size=%lu,mode=777", bytes)) == 0;
}

/* t_folder(), in memory if that can be had: these tests make and remove files by the ten thousand. */
static inline const char *memory_folder(void)
{
    const char *folder = t_folder();

    if (!own_mounts() || !mount_memory(folder, 256ul << 20))
        fprintf(stderr, "no folder in memory could be had: this takes longer\n");
    return folder;
}

static inline bool mount_again(const char *folder, bool read_only)
{
    return mount(NULL, folder, NULL, MS_REMOUNT | (read_only ? MS_RDONLY : 0), NULL) == 0;
}

#endif
