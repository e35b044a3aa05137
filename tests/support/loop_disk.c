/* loop_disk.c: see loop_disk.h. */
#include "loop_disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <unistd.h>

#if defined(__linux__)

#include <linux/loop.h>

/* The least that today's mkfs accepts. */
static const struct {
    const char *kind, *options;
    off_t bytes;
} kinds[] = {
    { "ext4", "-q -F -m 0 -O ^resize_inode -J size=1", (off_t)8 << 20 },
    { "xfs", "-q -f", (off_t)320 << 20 },
    { "btrfs", "-q -f --mixed", (off_t)32 << 20 },
};

bool loop_disk_format(const char *file, const char *kind)
{
    char command[1200];
    unsigned i = 0;
    int fd;

    while (i < sizeof kinds / sizeof kinds[0] && strcmp(kinds[i].kind, kind) != 0)
        i++;
    if (i == sizeof kinds / sizeof kinds[0])
        return false;
    snprintf(command, sizeof command,
             "PATH=$PATH:/usr/sbin:/sbin; command -v mkfs.%s >/dev/null && mkfs.%s %s '%s' >/dev/null", kind, kind,
             kinds[i].options, file);
    fd = open(file, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, kinds[i].bytes) != 0)
        return false;
    close(fd);
    return system(command) == 0;
}

/* A loop device for the file, which is detached when it is not used any more. */
static int attach(const char *file, char device[32])
{
    struct loop_config config = { .info.lo_flags = LO_FLAGS_AUTOCLEAR };
    int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC), number, fd = -1;
    int backing = open(file, O_RDWR | O_CLOEXEC), error;

    config.fd = (uint32_t)backing;
    for (unsigned tries = 0; control >= 0 && backing >= 0 && fd < 0 && tries < 20; tries++) {
        number = ioctl(control, LOOP_CTL_GET_FREE);
        if (number < 0)
            break;
        snprintf(device, 32, "/dev/loop%d", number);
        fd = open(device, O_RDWR | O_CLOEXEC);
        if (fd >= 0 && ioctl(fd, LOOP_CONFIGURE, &config) != 0) { /* another process may have been faster */
            error = errno;
            close(fd);
            fd = -1;
            errno = error;
        }
    }
    error = errno;
    if (control >= 0)
        close(control);
    if (backing >= 0)
        close(backing);
    errno = error;
    return fd;
}

bool loop_disk_mount(struct loop_disk *d, const char *file, const char *kind, const char *at)
{
    d->kind = kind;
    snprintf(d->at, sizeof d->at, "%s", at);
    d->fd = attach(file, d->device);
    if (d->fd < 0)
        return false;
    if (mount(d->device, at, kind, 0, strcmp(kind, "ext4") == 0 ? "errors=remount-ro" : "") == 0)
        return true;
    loop_disk_unmount(d);
    return false;
}

void loop_disk_unmount(struct loop_disk *d)
{
    int error = errno;

    if (umount2(d->at, 0) != 0 && errno == EBUSY)
        umount2(d->at, MNT_DETACH);
    if (d->fd >= 0)
        close(d->fd);
    d->fd = -1;
    errno = error;
}

#else

bool loop_disk_format(const char *file, const char *kind)
{
    (void)file;
    (void)kind;
    return false;
}

bool loop_disk_mount(struct loop_disk *d, const char *file, const char *kind, const char *at)
{
    (void)d;
    (void)file;
    (void)kind;
    (void)at;
    errno = ENOSYS;
    return false;
}

void loop_disk_unmount(struct loop_disk *d)
{
    (void)d;
}

#endif
