/*
 * test_pack_devices.c: packing on small disks with real file systems (ext4, XFS, btrfs, if they can be had here) that
 * are full at any point, or take no write from the 1st, 2nd, 3rd, ... on: an error with a sentence, and no dataset or a
 * whole one. The resumed run ends with the bytes of an undisturbed one. Needs root, loop devices, and /dev/fuse for
 * what fails.
 */
#include <sys/statvfs.h>

#include "base/file.h"
#include "packing.h"
#include "support/fuse_disk.h"
#include "support/loop_disk.h"

#define ROOMS 20
#define CUTS  10

static struct packing p;
static uint64_t directly; /* bytes, of the runs on one disk */
static char image[600], behind[560], shown[560], shown_image[600], mounted[560], filler[600];

/* Mounts the disk, whose folder "w" is what is written to: there may be others in its root. */
static bool mount_disk(struct loop_disk *d, const char *file, const char *kind)
{
    if (!loop_disk_mount(d, file, kind, mounted))
        return false;
    if (mkdir(p.work, 0777) == 0)
        T_OK(file_sync_folder(p.work, &t_err));
    return true;
}

/* ---- Full ---- */

static uint64_t free_bytes(void)
{
    struct statvfs s;

    return statvfs(mounted, &s) == 0 ? (uint64_t)s.f_bavail * s.f_frsize : 0;
}

/* Leaves `bytes` free, or less: whatever blocks that takes. */
static void fill_disk(uint64_t bytes)
{
    static uint8_t noise[1 << 16];
    int fd = open(filler, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    uint64_t random = 1, here;

    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (uint8_t)t_random(&random);
    if (free_bytes() > bytes + (1 << 20) && fallocate(fd, 0, 0, (off_t)(free_bytes() - bytes - (1 << 20))) == 0)
        lseek(fd, 0, SEEK_END);
    while (free_bytes() > bytes) {
        here = free_bytes() - bytes < sizeof noise ? 4096 : sizeof noise;
        if (write(fd, noise, here) != (ssize_t)here)
            break;
        fsync(fd); /* blocks are given when they are written */
    }
    close(fd);
}

static bool pack_with_room(uint64_t bytes, bool direct)
{
    struct leat_pack_report report;
    struct leat_error err = { 0 };
    enum leat_status s;

    clear_folder(p.work);
    fill_disk(bytes);
    s = packing_pack(&p, &(struct packing_run) { .name = p.name, .direct = direct }, &report, &err);
    packing_check(&p, s, &err);
    directly += report.direct_bytes;
    if (s != LEAT_OK) {
        T_EQ(s, LEAT_E_NO_SPACE);
        T_CONTAINS(err.message, "free some space");
    }
    unlink(filler);
    packing_go_on(&p);
    return s != LEAT_OK;
}

/* Up to `room` bytes free; `all_directly`: the file system takes direct writes. */
static void full(const char *kind, uint64_t room, bool all_directly)
{
    struct loop_disk disk;
    unsigned fulls = 0;

    directly = 0;
    if (!mount_disk(&disk, image, kind)) {
        fprintf(stderr, "%s cannot be mounted: %s\n", kind, strerror(errno));
        return;
    }
    for (unsigned i = 0; i < ROOMS; i++)
        fulls += pack_with_room(i * room / ROOMS, i % 2);
    fprintf(stderr, "%s: %u of %d disks were too small, %llu bytes went past the page cache\n", kind, fulls, ROOMS,
            (unsigned long long)directly);
    T_CHECK(fulls > ROOMS / 4 && fulls < ROOMS);
    T_CHECK(!all_directly || directly > 0);
    loop_disk_unmount(&disk);
}

/* ---- Dying ---- */

/* Writes from number n on fail; 0: none does. How many there were. */
static unsigned long pack_on_dying(const struct fuse_disk *fuse, const char *kind, unsigned long n, bool direct)
{
    struct leat_pack_report report;
    struct leat_error err = { 0 };
    struct loop_disk disk;
    unsigned long writes;
    enum leat_status s;
    int failures = t_failures;

    T_CHECK(loop_disk_format(image, kind));
    if (!mount_disk(&disk, shown_image, kind)) {
        T_FAIL("%s cannot be mounted: %s", kind, strerror(errno));
        exit(1);
    }
    fuse_disk_arm(fuse, FUSE_DISK_WRITE, FUSE_DISK_FAILS, n, true, EIO);
    s = packing_pack(&p, &(struct packing_run) { .name = p.name, .direct = direct }, &report, &err);
    if (n == 0)
        T_OK(s);
    loop_disk_unmount(&disk);
    writes = fuse_disk_disarm(fuse);
    if (!mount_disk(&disk, shown_image, kind)) {
        T_FAIL("%s cannot be mounted again: %s", kind, strerror(errno));
        exit(1);
    }
    packing_check(&p, s, &err);
    packing_go_on(&p);
    loop_disk_unmount(&disk);
    if (t_failures > failures)
        fprintf(stderr, "  %s, write %lu of the disk and all after it failed; status %s: %s\n", kind, n,
                leat_status_name(s), s == LEAT_OK ? "" : err.message);
    return writes;
}

static void dying(const char *kind)
{
    struct fuse_disk fuse;
    unsigned long writes;

    if (!fuse_disk_mount(&fuse, behind, shown, false)) {
        fprintf(stderr, "no /dev/fuse: disks that die were not tried\n");
        return;
    }
    writes = pack_on_dying(&fuse, kind, 0, false);
    fprintf(stderr, "%s: %lu writes\n", kind, writes);
    T_CHECK(writes > CUTS);
    for (unsigned i = 0; i < CUTS; i++)
        pack_on_dying(&fuse, kind, 1 + i * writes / CUTS, i % 2);
    fuse_disk_unmount(&fuse);
}

int main(int argc, char **argv)
{
    /* what each needs for the corpus, and some more */
    static const struct {
        const char *name;
        uint64_t room;
        bool direct; /* Linux says so since 6.1 */
    } kinds[] = { { "ext4", 1200 << 10, true }, { "xfs", 1200 << 10, true }, { "btrfs", 12 << 20, false } };
    unsigned tried = 0;

    packing_begin(&p);
    snprintf(behind, sizeof behind, "%.500s/behind", p.folder);
    snprintf(shown, sizeof shown, "%.500s/shown", p.folder);
    snprintf(image, sizeof image, "%s/image", behind);
    snprintf(shown_image, sizeof shown_image, "%s/image", shown);
    snprintf(mounted, sizeof mounted, "%s", p.work);
    snprintf(p.work, sizeof p.work, "%.500s/w", mounted);
    snprintf(p.name, sizeof p.name, "%s/d", p.work);
    snprintf(filler, sizeof filler, "%s/filler", mounted);
    make_folder(behind);
    make_folder(shown);
    for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct loop_disk disk;

        if (argc > 1 && strcmp(argv[1], kinds[i].name) != 0)
            continue;
        if (!loop_disk_format(image, kinds[i].name) || !mount_disk(&disk, image, kinds[i].name)) {
            fprintf(stderr, "%s is not tried: no mkfs.%s here, or it cannot be mounted\n", kinds[i].name,
                    kinds[i].name);
            continue;
        }
        loop_disk_unmount(&disk);
        tried++;
        full(kinds[i].name, kinds[i].room, kinds[i].direct);
        dying(kinds[i].name);
    }
    packing_end(&p);
    return tried > 0 ? t_end() : t_skip("no loop device can be mounted here");
}
