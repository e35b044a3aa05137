/*
 * file.c: Reads and writes loop until all bytes are transferred, because a signal or a full pipe may cut a
 * call short. Opening refuses all but regular files, so that a pipe or device never makes a later read wait. Nothing
 * lasts until its folder is synced, so new names and renames come with file_sync_folder() at the caller. What a file
 * system lacks (nameless files, renaming without replacing) has a fallback here, and callers do not notice.
 */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#endif

#include "path.h"
#include "status.h"

/* The largest transfer: Linux itself moves at most 2 GiB - 4 KiB per call. */
#define LARGEST_TRANSFER ((uint64_t)1 << 30)
#define MAX_TEXT_BYTES   ((uint64_t)64 << 20)

/* O_NONBLOCK keeps opening a pipe from waiting, so that the pipe can be refused; regular files ignore it. */
static int open_again(const char *path, int flags)
{
    int fd;

    do
        fd = open(path, flags | O_CLOEXEC | O_NONBLOCK, 0666);
    while (fd < 0 && errno == EINTR);
    return fd;
}

static enum leat_status look_at(int fd, struct stat *st, const char *path, struct leat_error *err)
{
    if (fstat(fd, st) != 0)
        return status_set_os(err, errno, path, "cannot look at %s", path);
    if (!S_ISREG(st->st_mode))
        return status_set_in(err, LEAT_E_IO, path, "%s is not a regular file", path);
    return LEAT_OK;
}

enum leat_status file_size(int fd, uint64_t *size, const char *path, struct leat_error *err)
{
    struct stat st;
    enum leat_status s = look_at(fd, &st, path, err);

    if (s == LEAT_OK)
        *size = (uint64_t)st.st_size;
    return s;
}

enum leat_status file_open_stat(int *fd, struct stat *st, const char *path, struct leat_error *err)
{
    enum leat_status s;

    *fd = open_again(path, O_RDONLY);
    if (*fd < 0)
        return status_set_os(err, errno, path, "cannot open %s", path);
    s = look_at(*fd, st, path, err);
    if (s != LEAT_OK)
        file_close(fd);
    return s;
}

enum leat_status file_open_read(int *fd, uint64_t *size, const char *path, struct leat_error *err)
{
    struct stat st;
    enum leat_status s = file_open_stat(fd, &st, path, err);

    if (s == LEAT_OK)
        *size = (uint64_t)st.st_size;
    return s;
}

enum leat_status file_create(int *fd, const char *path, struct leat_error *err)
{
    *fd = open_again(path, O_RDWR | O_CREAT | O_EXCL);
    return *fd < 0 ? status_set_os(err, errno, path, "cannot create %s", path) : LEAT_OK;
}

/* Fails because the file has no bytes at `offset`. Its end may lie far before that; or after it, if the file has
 * grown again. */
static enum leat_status say_cut(int fd, uint64_t offset, const char *path, struct leat_error *err)
{
    struct stat st;

    if (fstat(fd, &st) == 0 && (uint64_t)st.st_size < offset)
        offset = (uint64_t)st.st_size;
    return status_set_at(err, LEAT_E_TRUNCATED, path, offset,
                         "%s ends at byte %" PRIu64
                         ", but was longer when it was opened: it was truncated; restore it from its source",
                         path, offset);
}

enum leat_status file_read_at(int fd, uint64_t offset, void *out, uint64_t count, const char *path,
                              struct leat_error *err)
{
    uint8_t *to = out;

    while (count > 0) {
        size_t want = (size_t)(count < LARGEST_TRANSFER ? count : LARGEST_TRANSFER);
        ssize_t got = pread(fd, to, want, (off_t)offset);

        if (got < 0) {
            if (errno == EINTR)
                continue;
            status_set_os(err, errno, path, "cannot read %s at byte %" PRIu64, path, offset);
            if (err) {
                err->status = LEAT_E_IO; /* a write error whatever the errno says: for the reader the disk fails */
                err->offset = offset;
            }
            return LEAT_E_IO;
        }
        if (got == 0)
            return say_cut(fd, offset, path, err);
        to += got;
        offset += (uint64_t)got;
        count -= (uint64_t)got;
    }
    return LEAT_OK;
}

enum leat_status file_read_text(char **text, size_t *bytes, const char *path, const char *what, struct leat_error *err)
{
    enum leat_status s;
    uint64_t size;
    int fd;

    *text = NULL;
    s = file_open_read(&fd, &size, path, err);
    if (s != LEAT_OK)
        return s;
    if (size > MAX_TEXT_BYTES)
        s = status_set_in(err, LEAT_E_ARGUMENT, path, "%s is not %s: it is larger than 64 MiB", path, what);
    *text = s == LEAT_OK ? malloc((size_t)size + 1) : NULL;
    if (s == LEAT_OK && !*text)
        s = status_no_memory(err, size);
    if (s == LEAT_OK)
        s = file_read_at(fd, 0, *text, size, path, err);
    *bytes = (size_t)size;
    file_close(&fd);
    return s;
}

enum leat_status file_write_at(int fd, uint64_t offset, const void *bytes, uint64_t count, const char *path,
                               struct leat_error *err)
{
    const uint8_t *from = bytes;

    while (count > 0) {
        size_t want = (size_t)(count < LARGEST_TRANSFER ? count : LARGEST_TRANSFER);
        ssize_t put = pwrite(fd, from, want, (off_t)offset);

        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return status_set_os(err, put < 0 ? errno : EIO, path, "cannot write %s at byte %" PRIu64, path, offset);
        from += put;
        offset += (uint64_t)put;
        count -= (uint64_t)put;
    }
    return LEAT_OK;
}

#if defined(__linux__) && defined(O_DIRECT)
/* Facts about alignment that statx() reports since Linux 6.1, for headers of any age and for musl, which has none:
 * the bit that asks for them, how many bytes it writes, and where the two alignments stand. */
#define STATX_DIRECT_BIT    0x2000u
#define STATX_BYTES         256u
#define STATX_DIRECT_OFFSET 0x98

int file_open_direct(int fd, const char *path)
{
    int direct = open_again(path, O_WRONLY | O_DIRECT | O_NOFOLLOW);
    uint32_t align[2] = { 0, 0 }; /* alignment of addresses, alignment of offsets */
    uint32_t st[STATX_BYTES / 4]; /* what statx() writes; the first number says which facts are given */
    struct stat own, other;
    bool fine = direct >= 0 && fstat(fd, &own) == 0 && fstat(direct, &other) == 0 && own.st_dev == other.st_dev &&
                own.st_ino == other.st_ino && syscall(SYS_statx, direct, "", AT_EMPTY_PATH, STATX_DIRECT_BIT, st) == 0;

    if (fine && (st[0] & STATX_DIRECT_BIT))
        memcpy(align, (const uint8_t *)st + STATX_DIRECT_OFFSET, sizeof align);
    for (unsigned i = 0; i < 2; i++)
        fine = fine && align[i] > 0 && FILE_DIRECT_ALIGN % align[i] == 0;
    if (!fine)
        file_close(&direct);
    return direct;
}

bool file_reserve(int fd, uint64_t offset, uint64_t count)
{
    struct statvfs disk;
    int r;

    if (fstatvfs(fd, &disk) != 0 || (uint64_t)disk.f_bavail * disk.f_frsize / 8 < count)
        return false;
    do
        r = fallocate(fd, 0, (off_t)offset, (off_t)count);
    while (r != 0 && errno == EINTR);
    return r == 0;
}
#else
int file_open_direct(int fd, const char *path)
{
    (void)fd;
    (void)path;
    return -1;
}

bool file_reserve(int fd, uint64_t offset, uint64_t count)
{
    (void)fd;
    (void)offset;
    (void)count;
    return false;
}
#endif

enum leat_status file_truncate(int fd, uint64_t size, const char *path, struct leat_error *err)
{
    int r;

    do
        r = ftruncate(fd, (off_t)size);
    while (r != 0 && errno == EINTR);
    return r == 0 ? LEAT_OK : status_set_os(err, errno, path, "cannot set the length of %s", path);
}

/*
 * The kernel reports a failed write to the first sync after it, even if the file was opened later. This sync takes
 * that report: what the last sync made durable is safe, and everything after it is cut off. It comes before the cut,
 * because cutting writes the last block again, and a failure of that must show.
 */
enum leat_status file_cut_back(int fd, uint64_t size, const char *path, struct leat_error *err)
{
    fdatasync(fd);
    return file_truncate(fd, size, path, err);
}

#if defined(__linux__)
#define MAGIC_FUSE    0x65735546u
#define MAGIC_OVERLAY 0x794c7630u

/* Returns the properties of a file system. `failed`: it could not be asked what it is. */
static unsigned system_of(const struct statfs *fs, bool failed)
{
    /* NFS, SMB, CIFS (two), Lustre, GPFS, Ceph, AFS, 9P, Coda, OCFS2, GFS2, BeeGFS, PanFS, OrangeFS, and FUSE, which
     * mostly is remote too */
    static const uint32_t magics[] = { 0x6969,     0x517b,     0xfe534d42, 0xff534d42, 0x0bd00bd0, 0x47504653,
                                       0x00c36400, 0x5346414f, 0x01021997, 0x73757245, 0x7461636f, 0x01161970,
                                       0x19830326, 0xaad7aaea, 0x20030528, MAGIC_FUSE };

    uint32_t magic = failed ? 0 : (uint32_t)fs->f_type;
    unsigned system = failed || magic == MAGIC_FUSE || magic == MAGIC_OVERLAY ? FILE_MAY_BE_FUSE : 0;

    for (size_t i = 0; i < sizeof magics / sizeof magics[0]; i++)
        if (failed || magic == magics[i])
            system |= FILE_REMOTE;
    return system;
}

#if defined(SYS_statx) && defined(AT_STATX_DONT_SYNC)
/*
 * What statx() and statmount() report since Linux 6.8, for headers of any age: the bit that asks for a mount's
 * number and where the number stands; the system call, whose number is equal on all processors, and the bit that
 * asks for the mount's kind.
 */
#define STATX_MOUNT_BIT    0x4000u
#define STATX_MOUNT_OFFSET 0x90
#define STATMOUNT_CALL     457
#define STATMOUNT_BASIC    UINT64_C(1)

/* Asks what file system a file lies on. Since Linux 6.8 the kernel answers by itself; fstatfs() asks the server. */
static bool ask_kernel(int fd, struct statfs *fs)
{
    uint32_t st[64]; /* what statx() writes; the first number says which facts are given */
    struct {
        uint32_t size, spare;
        uint64_t mount, what;
    } asked = { sizeof asked, 0, 0, STATMOUNT_BASIC };
    struct {
        uint32_t size, options;
        uint64_t has;
        uint32_t device[2];
        uint64_t magic, others[60];
    } said;

    if (syscall(SYS_statx, fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_MOUNT_BIT, st) != 0 ||
        !(st[0] & STATX_MOUNT_BIT))
        return false;
    memcpy(&asked.mount, (const uint8_t *)st + STATX_MOUNT_OFFSET, sizeof asked.mount);
    if (syscall(STATMOUNT_CALL, &asked, &said, sizeof said, 0) != 0 || !(said.has & STATMOUNT_BASIC))
        return false;
    fs->f_type = (__typeof__(fs->f_type))said.magic;
    return true;
}
#else
static bool ask_kernel(int fd, struct statfs *fs)
{
    (void)fd, (void)fs;
    return false;
}
#endif

unsigned file_system_of(int fd)
{
    struct statfs fs;

    return system_of(&fs, !ask_kernel(fd, &fs) && fstatfs(fd, &fs) != 0);
}

bool file_path_is_remote(const char *path)
{
    char *folder;
    struct statfs fs;
    bool failed = statfs(path, &fs) != 0;

    /* If the file is missing, its folder's file system decides. */
    if (failed && (errno == ENOENT || errno == ENOTDIR) && (folder = file_folder(path))) {
        failed = statfs(folder, &fs) != 0;
        free(folder);
    }
    return system_of(&fs, failed) & FILE_REMOTE;
}
#else
unsigned file_system_of(int fd)
{
    (void)fd;
    return 0;
}

bool file_path_is_remote(const char *path)
{
    (void)path;
    return false;
}
#endif

enum leat_status file_sync(int fd, const char *path, struct leat_error *err)
{
    int r;

    do
        r = fsync(fd);
    while (r != 0 && errno == EINTR);
    return r == 0 ? LEAT_OK : status_set_os(err, errno, path, "cannot make %s durable (fsync)", path);
}

/* Some remote file systems cannot sync a folder, and say so: that is not an error. */
static enum leat_status sync_names(int fd, const char *folder, struct leat_error *err)
{
    struct leat_error why;
    enum leat_status s = file_sync(fd, folder, &why);

    if (s == LEAT_OK || why.os_error == EINVAL || why.os_error == ENOTSUP)
        return LEAT_OK;
    if (err)
        *err = why;
    return s;
}

bool folder_next(DIR *folder, const char *path, const char **name, enum leat_status *s, struct leat_error *err)
{
    struct dirent *entry;

    if (*s != LEAT_OK)
        return false;
    errno = 0;
    entry = readdir(folder);
    if (!entry && errno != 0)
        *s = status_set_os(err, errno, path, "cannot read the folder %s", path);
    *name = entry ? entry->d_name : NULL;
    return entry != NULL;
}

char *file_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) : 0;
    char *folder = malloc(length + 2);

    if (!folder)
        return NULL;
    if (length > 0)
        memcpy(folder, path, length);
    else
        folder[length++] = slash ? '/' : '.';
    folder[length] = '\0';
    return folder;
}

enum leat_status file_sync_folder(const char *path, struct leat_error *err)
{
    char *folder = file_folder(path);
    enum leat_status s;
    int fd;

    if (!folder)
        return status_no_memory(err, strlen(path));
    fd = open_again(folder, O_RDONLY | O_DIRECTORY);
    if (fd < 0)
        s = status_set_os(err, errno, folder, "cannot open the folder %s", folder);
    else
        s = sync_names(fd, folder, err);
    file_close(&fd);
    free(folder);
    return s;
}

enum leat_status file_create_unnamed(int *fd, const char *path, struct leat_error *err)
{
    char *folder = file_folder(path);
    enum leat_status s;

    *fd = -1;
    if (!folder)
        return status_no_memory(err, strlen(path));
#ifdef O_TMPFILE
    *fd = open_again(folder, O_RDWR | O_TMPFILE);
#endif
    free(folder);
    if (*fd >= 0)
        return LEAT_OK;
    /* Any errno leads to the fallback: a real problem shows there, too. */
    s = file_remove(path, err);
    if (s == LEAT_OK)
        s = file_create(fd, path, err);
    if (s == LEAT_OK) {
        s = file_remove(path, err);
        if (s != LEAT_OK) {
            file_close(fd);
            file_remove(path, NULL); /* Removal is tried once more, because nothing else removes the file. */
        }
    }
    return s;
}

/*
 * Makes a second name for a file. On FUSE such names are not reliable: with libfuse, each name has an inode number
 * of its own unless the server takes care, so what a killed process leaves looks like two files; and for a second
 * after one is removed, the kernel still says that there are two.
 */
static int file_link(const char *from, const char *to)
{
#if defined(__linux__)
    struct statfs fs;

    if (statfs(from, &fs) == 0 && (uint32_t)fs.f_type == MAGIC_FUSE) {
        errno = EOPNOTSUPP;
        return -1;
    }
#endif
    return link(from, to);
}

/* Without RENAME_NOREPLACE (NFS; containers that refuse the call): makes a second name, which also fails if `to`
 * exists, then removes the first; the sync keeps a power cut from losing both. Without second names either (FUSE):
 * looks, then renames, not atomically. */
static int rename_to_new(const char *from, const char *to)
{
    struct stat st;

    if (file_link(from, to) == 0) {
        file_sync_folder(to, NULL);
        unlink(from);
        return 0;
    }
    if (errno != EPERM && errno != ENOSYS && errno != EOPNOTSUPP)
        return -1;
    if (lstat(to, &st) == 0) {
        errno = EEXIST;
        return -1;
    }
    return errno == ENOENT ? rename(from, to) : -1;
}

#if defined(__linux__) && !defined(RENAME_NOREPLACE) /* musl, at least up to 1.2.3, lacks it */
#define RENAME_NOREPLACE 1u

static int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
    return (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, flags);
}
#endif

/* Returns true if a rename that failed was done all the same: on a network file system its answer may be lost, and the
 * kernel asks again. `was`: what `from` was before; `to` was something else, or nothing. */
static bool is_renamed(const char *from, const char *to, struct file_identity was)
{
    struct file_identity is;

    if (file_identify(to, &is, NULL) != LEAT_OK || !file_same(was, is))
        return false;
    unlink(from); /* a second name may be left */
    return true;
}

enum leat_status file_rename(const char *from, const char *to, bool replace, struct leat_error *err)
{
    struct file_identity was, old;
    bool known = file_identify(from, &was, NULL) == LEAT_OK && file_identify(to, &old, NULL) == LEAT_OK;
    int r, why;

    if (replace) {
        r = rename(from, to);
    } else {
        r = renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
        if (r != 0 && (errno == EINVAL || errno == ENOSYS || errno == EPERM))
            r = rename_to_new(from, to);
    }
    why = errno;
    if (r == 0 || (known && !file_same(was, old) && is_renamed(from, to, was)))
        return LEAT_OK;
    return status_set_os(err, why, to, "cannot rename %s to %s", from, to);
}

enum leat_status file_remove(const char *path, struct leat_error *err)
{
    if (unlink(path) != 0 && errno != ENOENT)
        return status_set_os(err, errno, path, "cannot remove %s", path);
    return LEAT_OK;
}

enum leat_status file_identify(const char *path, struct file_identity *identity, struct leat_error *err)
{
    struct stat st;

    *identity = (struct file_identity) { false, 0, 0 };
    if (lstat(path, &st) == 0)
        *identity = (struct file_identity) { true, st.st_dev, st.st_ino };
    else if (errno != ENOENT && errno != ENOTDIR)
        return status_set_os(err, errno, path, "cannot look at %s", path);
    return LEAT_OK;
}

#if defined(__linux__) && defined(SYS_statx) && defined(AT_STATX_DONT_SYNC)
/* The members that statx() writes for identifying a file: its inode number, and the two numbers of its device. */
#define STATX_INODE_BIT    0x100u
#define STATX_INODE        0x20
#define STATX_DEVICE_MAJOR 0x88
#define STATX_DEVICE_MINOR 0x8c

static int look_at_name(const char *path, struct file_identity *identity)
{
    uint8_t st[STATX_BYTES];
    uint32_t major, minor;
    uint64_t inode;

    if (syscall(SYS_statx, AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_INODE_BIT, st) != 0)
        return -1;
    memcpy(&inode, st + STATX_INODE, sizeof inode);
    memcpy(&major, st + STATX_DEVICE_MAJOR, sizeof major);
    memcpy(&minor, st + STATX_DEVICE_MINOR, sizeof minor);
    *identity = (struct file_identity) { true, makedev(major, minor), (ino_t)inode };
    return 0;
}
#else
static int look_at_name(const char *path, struct file_identity *identity)
{
    (void)path;
    (void)identity;
    errno = ENOSYS;
    return -1;
}
#endif

enum leat_status file_identify_target(const char *path, struct file_identity *identity, struct leat_error *err)
{
    struct stat st;
    int r = look_at_name(path, identity);

    if (r != 0 && (errno == ENOSYS || errno == EPERM || errno == EINVAL)) {
        r = stat(path, &st);
        *identity = (struct file_identity) { r == 0, st.st_dev, st.st_ino };
    }
    if (r == 0)
        return LEAT_OK;
    *identity = (struct file_identity) { false, 0, 0 };
    return errno == ENOENT || errno == ENOTDIR ? LEAT_OK : status_set_os(err, errno, path, "cannot look at %s", path);
}

bool file_same(struct file_identity a, struct file_identity b)
{
    return a.exists && b.exists && a.device == b.device && a.inode == b.inode;
}

bool file_ends_with(const char *name, size_t length, const char *suffix)
{
    size_t n = strlen(suffix);

    return length > n && memcmp(name + length - n, suffix, n) == 0;
}

size_t file_dataset_length(const char *name, size_t length)
{
    if (file_ends_with(name, length, ".leat"))
        return length - strlen(".leat");
    if (file_ends_with(name, length, ".tokens"))
        return length - strlen(".tokens");
    return length;
}

void file_close(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* ---- Folders ---- */

#define SUFFIX_ROOM 64u /* room for suffixes of a name's companions, such as .partial.checkpoint.new */

void folder_note(struct folder *f)
{
    *f = (struct folder) { 0 };
    if (file_identify(".", &f->identity, NULL) == LEAT_OK && f->identity.exists)
        f->path = realpath(".", NULL);
}

void folder_free(struct folder *f)
{
    free(f->path);
    f->path = NULL;
}

/* Compares the folders themselves, not their names: a folder may have been renamed, and then relative names are
 * still right. */
bool folder_left(const struct folder *f)
{
    struct file_identity now;

    return f->path && file_identify(".", &now, NULL) == LEAT_OK && now.exists && !file_same(f->identity, now);
}

char *folder_name(const struct folder *f, const char *name)
{
    if (!f->path || name[0] == '/' || strlen(f->path) + strlen(name) + 2 + SUFFIX_ROOM > PATH_MAX)
        return strdup(name);
    return path_join(f->path, name, NULL);
}
