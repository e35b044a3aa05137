#include "own_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"
#include "path.h"
#include "status.h"

#define BEGIN_TRIES 1000u /* each time another process renamed the file between our opening and locking it */

static enum leat_status say_kind(const char *path, mode_t mode, struct leat_error *err)
{
    const char *kind = S_ISLNK(mode) ? "a symbolic link" : S_ISDIR(mode) ? "a folder" : "not a regular file";

    return status_set_in(err, LEAT_E_EXISTS, path,
                         "%s is %s, where leat writes a file: remove it, or choose another name", path, kind);
}

static enum leat_status say_open_failed(const char *path, enum own_file_use use, int os_error, struct leat_error *err)
{
    struct stat st;

    if (lstat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return say_kind(path, st.st_mode, err);
    return status_set_os(err, os_error, path, "cannot open %s%s", path, use == OWN_FILE_READ ? "" : " for writing");
}

static enum leat_status check_owner(const struct stat *st, const char *path, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    struct stat of_folder;
    char *folder;

    if (st->st_uid == geteuid())
        return LEAT_OK;
    folder = file_folder(path);
    if (!folder)
        return status_no_memory(err, strlen(path));
    if (stat(folder, &of_folder) != 0)
        s = status_set_os(err, errno, folder, "cannot look at %s", folder);
    else if (st->st_uid != of_folder.st_uid)
        s = status_set_in(err, LEAT_E_PERMISSION, path,
                          "%s belongs to user %lu, who can change it at any time: remove it, or choose another name",
                          path, (unsigned long)st->st_uid);
    free(folder);
    return s;
}

static enum leat_status check(int fd, uint64_t *size, const char *path, enum own_file_use use, struct leat_error *err)
{
    struct stat st;

    if (fstat(fd, &st) != 0)
        return status_set_os(err, errno, path, "cannot look at %s", path);
    if (!S_ISREG(st.st_mode))
        return say_kind(path, st.st_mode, err);
    if (use == OWN_FILE_WRITE && st.st_nlink > 1)
        return status_set_in(err, LEAT_E_EXISTS, path,
                             "%s has a second name (a hard link), under which it would change too: put a copy in its "
                             "place, or choose another name",
                             path);
    if (size)
        *size = (uint64_t)st.st_size;
    return check_owner(&st, path, err);
}

enum leat_status own_file_open(int *fd, uint64_t *size, const char *path, enum own_file_use use, struct leat_error *err)
{
    enum leat_status s;

    do /* O_NONBLOCK keeps opening a pipe from waiting, so that the pipe can be refused */
        *fd = open(path, (use == OWN_FILE_READ ? O_RDONLY : O_RDWR) | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    while (*fd < 0 && errno == EINTR);
    if (*fd < 0)
        return say_open_failed(path, use, errno, err);
    s = check(*fd, size, path, use, err);
    if (s != LEAT_OK)
        file_close(fd);
    return s;
}

enum leat_status own_file_create(int *fd, const char *path, struct leat_error *err)
{
    struct leat_error why;
    enum leat_status s = LEAT_E_NO_FILE;

    for (unsigned tries = 0; s == LEAT_E_NO_FILE && tries < BEGIN_TRIES; tries++) {
        s = file_create(fd, path, &why);
        if (s != LEAT_E_EXISTS)
            break;
        s = own_file_open(fd, NULL, path, OWN_FILE_WRITE, &why); /* LEAT_E_NO_FILE: the file was removed since it was
                                                                    found */
    }
    if (s != LEAT_OK && err)
        *err = why;
    return s;
}

/*
 * Opens a file that is neither regular nor a folder; *fd stays -1 if the path names no such file. By now the name
 * may stand for another file, so nothing is created or emptied. Waits for a pipe's reader, unless the output is to
 * be appended to.
 */
static enum leat_status open_special(int *fd, const char *path, bool append, struct leat_error *err)
{
    struct stat st;

    *fd = -1;
    if (stat(path, &st) != 0 || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))
        return LEAT_OK;
    do
        *fd = open(path, O_WRONLY | O_CLOEXEC | (append ? O_NONBLOCK : 0));
    while (*fd < 0 && errno == EINTR);
    if (*fd < 0 && errno == ENXIO)
        return status_set_in(err, LEAT_E_IO, path, "%s is a pipe that no process reads from: start its reader first",
                             path);
    if (*fd < 0)
        return status_set_os(err, errno, path, "cannot open %s for writing", path);
    if (fstat(*fd, &st) == 0 && S_ISREG(st.st_mode))
        file_close(fd);
    if (*fd >= 0 && append)
        (void)fcntl(*fd, F_SETFL, 0);
    return LEAT_OK;
}

enum leat_status own_file_output(int *fd, const char *path, bool append, struct leat_error *err)
{
    enum leat_status s = open_special(fd, path, append, err);

    if (s != LEAT_OK || *fd >= 0)
        return s;
    s = own_file_create(fd, path, err);
    if (s == LEAT_OK && append && fcntl(*fd, F_SETFL, O_APPEND) != 0)
        s = status_set_os(err, errno, path, "cannot append to %s", path);
    else if (s == LEAT_OK && !append)
        s = file_truncate(*fd, 0, path, err);
    if (s != LEAT_OK)
        file_close(fd);
    return s;
}

bool own_file_is_url(const char *name)
{
    size_t scheme = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789");

    return scheme > 0 && strncmp(name + scheme, "://", 3) == 0;
}

enum leat_status own_file_check_local(const char *output, struct leat_error *err)
{
    return own_file_is_url(output)
               ? status_set_in(err, LEAT_E_UNSUPPORTED, output,
                               "%.300s is a URL: write to a local name first; `leat push` copies datasets to a bucket",
                               output)
               : LEAT_OK;
}

enum leat_status own_file_check_name(const char *path, struct leat_error *err)
{
    struct stat st;

    if (lstat(path, &st) != 0)
        return errno == ENOENT || errno == ENOTDIR ? LEAT_OK
                                                   : status_set_os(err, errno, path, "cannot look at %s", path);
    return S_ISREG(st.st_mode) || S_ISLNK(st.st_mode) ? LEAT_OK : say_kind(path, st.st_mode, err);
}

enum leat_status own_file_is_named(int fd, const char *path, bool *named, struct leat_error *err)
{
    struct file_identity now;
    struct stat st;
    enum leat_status s = file_identify(path, &now, err);

    if (s == LEAT_OK && fstat(fd, &st) != 0)
        s = status_set_os(err, errno, path, "cannot examine %s", path);
    if (s == LEAT_OK)
        *named = file_same(now, (struct file_identity) { true, st.st_dev, st.st_ino });
    return s;
}

/* Returns true if this process locked the file that its own descriptor `number` has open. A child of fork() has that
 * file open, too, and so has a program that it runs. */
static bool locked_here(const char *number)
{
    char path[64], line[256], *lock;
    bool is = false;
    FILE *in;
    int pid;

    snprintf(path, sizeof path, "/proc/self/fdinfo/%.20s", number);
    in = fopen(path, "re");
    while (in && !is && fgets(line, sizeof line, in)) /* a line is: lock: 1: FLOCK ADVISORY WRITE 1234 fe:00:5678 0
                                                         EOF */
        is = (lock = strstr(line, "FLOCK ")) && sscanf(lock, "FLOCK %*s %*s %d", &pid) == 1 && pid == (int)getpid();
    if (in)
        (void)fclose(in);
    return is;
}

/* Returns true if this process has locked the file, by another descriptor. Where /proc is missing, that is not known.
 */
static bool is_locked_here(int fd)
{
    DIR *d = opendir("/proc/self/fd");
    struct stat own, other;
    struct dirent *entry;
    bool is = false;

    while (d && !is && fstat(fd, &own) == 0 && (entry = readdir(d)))
        is = fstatat(dirfd(d), entry->d_name, &other, 0) == 0 && other.st_dev == own.st_dev &&
             other.st_ino == own.st_ino && locked_here(entry->d_name);
    if (d)
        closedir(d);
    return is;
}

static enum leat_status say_busy(int fd, const char *path, const char *output, struct leat_error *err)
{
    bool here = is_locked_here(fd);
    char lock[300] = "";

    if (output)
        snprintf(lock, sizeof lock, " (it holds %.280s)", path);
    status_set_in(err, LEAT_E_BUSY, output ? output : path, "%s is writing %.300s%s: %s, or choose another name",
                  here ? "this process" : "another process", output ? output : path, lock,
                  here ? "end that writer" : "wait for it");
    if (err)
        err->os_error = EWOULDBLOCK;
    return LEAT_E_BUSY;
}

enum leat_status own_file_lock(int fd, const char *path, const char *output, struct leat_error *err)
{
    enum leat_status s;
    int r, os_error;

    do
        r = flock(fd, LOCK_EX | LOCK_NB);
    while (r != 0 && errno == EINTR);
    if (r == 0)
        return LEAT_OK;
    os_error = errno;
    if (os_error == EWOULDBLOCK)
        return say_busy(fd, path, output, err);
    s = status_set_os(err, os_error, path, "cannot lock %s", path);
    if (os_error == ENOLCK || os_error == ENOSYS || os_error == EOPNOTSUPP)
        status_after(err, "; leat writes only where the file system has locks (flock): mount it with them, or choose "
                          "another folder");
    return s;
}

void own_file_unlock(int *fd)
{
    if (*fd >= 0)
        (void)flock(*fd, LOCK_UN); /* without this, a child of fork() would keep the lock for as long as it lives */
    file_close(fd);
}

/* Creates, or opens, and locks; makes empty, unless `keep`. *fd stays -1 if another process renamed or removed the file
 * meanwhile. */
static enum leat_status take_over(int *fd, const char *path, bool keep, struct leat_error *err)
{
    bool named = false;
    enum leat_status s = own_file_create(fd, path, err);

    if (s == LEAT_OK)
        s = own_file_lock(*fd, path, NULL, err);
    if (s == LEAT_OK)
        s = own_file_is_named(*fd, path, &named, err);
    if (s == LEAT_OK && named && !keep)
        s = file_truncate(*fd, 0, path, err);
    if (s != LEAT_OK || !named)
        file_close(fd);
    return s;
}

static enum leat_status open_unfinished(int *fd, const char *path, bool keep, struct leat_error *err)
{
    *fd = -1;
    for (unsigned tries = 0; tries < BEGIN_TRIES; tries++) {
        enum leat_status s = take_over(fd, path, keep, err);

        if (s != LEAT_OK || *fd >= 0)
            return s;
    }
    return status_set_in(err, LEAT_E_BUSY, path, "%s was renamed each of the %u times that it was made", path,
                         BEGIN_TRIES);
}

enum leat_status own_file_begin(int *fd, const char *path, struct leat_error *err)
{
    return open_unfinished(fd, path, false, err);
}

enum leat_status own_file_take(int *fd, const char *path, struct leat_error *err)
{
    return open_unfinished(fd, path, true, err);
}

static enum leat_status check_folder(const char *path, const char *around, struct leat_error *err)
{
    struct stat st, of_folder;

    if (lstat(path, &st) != 0 || stat(around, &of_folder) != 0)
        return status_set_os(err, errno, path, "cannot look at %s", path);
    if (!S_ISDIR(st.st_mode))
        return status_set_in(
            err, LEAT_E_EXISTS, path,
            "%s is not a folder, but leat needs a folder of that name: remove it, or choose another name", path);
    if (st.st_uid != geteuid() && st.st_uid != of_folder.st_uid)
        return status_set_in(err, LEAT_E_PERMISSION, path,
                             "%s belongs to user %lu, who can change it at any time: remove it, or choose another name",
                             path, (unsigned long)st.st_uid);
    return LEAT_OK;
}

enum leat_status own_file_make_folder(const char *path, bool *made, struct leat_error *err)
{
    char *around = file_folder(path);
    enum leat_status s;

    *made = around && mkdir(path, 0777) == 0;
    if (!around)
        return status_no_memory(err, strlen(path));
    if (!*made && errno != EEXIST)
        s = status_set_os(err, errno, path, "cannot make the folder %s", path);
    else
        s = check_folder(path, around, err);
    free(around);
    return s;
}

/* The lock is held until the file has its name: nobody takes it over, or empties it, in between. */
static enum leat_status publish(int *held, const char *partial, const char *path, const void *bytes, uint64_t count,
                                bool replace, struct leat_error *err)
{
    int fd;
    enum leat_status s = own_file_begin(&fd, partial, err);

    if (s != LEAT_OK)
        return s;
    s = file_write_at(fd, 0, bytes, count, partial, err);
    if (s == LEAT_OK)
        s = file_sync(fd, partial, err);
    if (s == LEAT_OK)
        s = file_rename(partial, path, replace, err);
    if (s == LEAT_OK)
        s = file_sync_folder(path, err);
    else
        file_remove(partial, NULL);
    if (s == LEAT_OK && held) {
        own_file_unlock(held);
        *held = fd;
    } else
        file_close(&fd);
    return s;
}

enum leat_status own_file_write_held(int *held, const char *path, const void *bytes, uint64_t count, bool replace,
                                     struct leat_error *err)
{
    char *partial = path_append(path, strlen(path), ".partial", NULL);
    enum leat_status s;

    if (!partial)
        return status_no_memory(err, strlen(path));
    s = publish(held, partial, path, bytes, count, replace, err);
    free(partial);
    return s;
}

enum leat_status own_file_publish(const char *path, const void *bytes, uint64_t count, struct leat_error *err)
{
    return own_file_write_held(NULL, path, bytes, count, false, err);
}

enum leat_status own_file_replace(const char *path, const void *bytes, uint64_t count, struct leat_error *err)
{
    return own_file_write_held(NULL, path, bytes, count, true, err);
}
