/*
 * loop_disk.h: a small disk with a real file system: a file that the kernel takes for a block device. Needs root, loop
 * devices, and mkfs for the kind of file system.
 */
#ifndef LEAT_TESTS_LOOP_DISK_H
#define LEAT_TESTS_LOOP_DISK_H

#include <stdbool.h>
#include <stdint.h>

struct loop_disk {
    char device[32], at[600];
    const char *kind;
    int fd; /* of the device, which goes with the last descriptor */
};

/* Makes a file with an empty file system of this kind ("ext4", "xfs", "btrfs"), as small as it can be. False: there is
 * no mkfs for it here. */
bool loop_disk_format(const char *file, const char *kind);

/* Mounts it at a folder. False: it cannot be had here, and errno says why. */
bool loop_disk_mount(struct loop_disk *d, const char *file, const char *kind, const char *at);
void loop_disk_unmount(struct loop_disk *d);

#endif
