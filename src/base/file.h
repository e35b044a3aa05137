/*
 * file.h: system calls on files: interrupted and short transfers are continued, and every failure names the path.
 * Nothing here keeps state.
 */
#ifndef LEAT_BASE_FILE_H
#define LEAT_BASE_FILE_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>

#include "leat.h"

/* Opens for reading; *size is set to the length. Returns LEAT_E_IO if it is not a regular file. */
enum leat_status file_open_read(int *fd, uint64_t *size, const char *path, struct leat_error *err);

/* Opens for reading, and sets *st to everything that stat says about the file. */
struct stat;
enum leat_status file_open_stat(int *fd, struct stat *st, const char *path, struct leat_error *err);

/* Creates a file that must not exist yet (O_EXCL), for reading and writing. */
enum leat_status file_create(int *fd, const char *path, struct leat_error *err);

/* Opens a file without a name, on the disk of `path`, so that it ends with the process. If the file system cannot do
 * that, the file is `path` for a moment, and replaces what had this name. */
enum leat_status file_create_unnamed(int *fd, const char *path, struct leat_error *err);

/* Reads exactly `count` bytes at `offset`. Returns LEAT_E_TRUNCATED if the file ends before. */
enum leat_status file_read_at(int fd, uint64_t offset, void *out, uint64_t count, const char *path,
                              struct leat_error *err);

/* Reads a whole file of at most 64 MiB; the caller frees *text, also after a failure. `what` says in messages what the
 * file should be, such as "a plan". */
enum leat_status file_read_text(char **text, size_t *bytes, const char *path, const char *what, struct leat_error *err);

/*
 * Memory to read files into, as from malloc(). That puts a large block 16 bytes after the start of a page, and the
 * kernel copies whole pages to there at a fifth of its speed: 2.6 instead of 13 GB/s from the page cache of ext4 on a
 * Zen 3, whose `rep movsb` is slow if, modulo 4 KiB, its target begins less than 32 bytes after its source.
 */
static inline void *file_buffer(size_t bytes)
{
    return bytes <= SIZE_MAX - 63 ? aligned_alloc(64, (bytes + 63) / 64 * 64) : NULL;
}

/* Writes exactly `count` bytes at `offset`. */
enum leat_status file_write_at(int fd, uint64_t offset, const void *bytes, uint64_t count, const char *path,
                               struct leat_error *err);

/* Opens a file that is open as `fd` once more, for writing past the page cache: from addresses, to offsets, and counts
 * that are multiples of FILE_DIRECT_ALIGN. -1 if its file system does not say that it takes these, as tmpfs and most
 * remote ones do not. */
#define FILE_DIRECT_ALIGN 4096u
int file_open_direct(int fd, const char *path);

/* Gives a stretch of a file its blocks, and the file the length that holds them. Returns whether that was done; it is
 * not where that takes more than an eighth of what is free, since a file system may reserve a part before it fails. */
bool file_reserve(int fd, uint64_t offset, uint64_t count);

enum leat_status file_truncate(int fd, uint64_t size, const char *path, struct leat_error *err);

/* Cuts a file back to the length that it had when it was last synced. If the disk has failed to write what is cut off,
 * a later sync does not fail because of that. */
enum leat_status file_cut_back(int fd, uint64_t size, const char *path, struct leat_error *err);

enum leat_status file_size(int fd, uint64_t *size, const char *path, struct leat_error *err);

/* Properties of a file system, as bits. */
enum file_system {
    FILE_REMOTE = 1,     /* remote, or does not say what it is: the file's bytes can change or vanish without this
                          * machine's kernel knowing */
    FILE_MAY_BE_FUSE = 2 /* FUSE, or overlayfs, which does not say what is below it */
};
unsigned file_system_of(int fd);

/* Returns true if a path lies on a remote file system, even if the file cannot be opened. */
bool file_path_is_remote(const char *path);

/* fsync. */
enum leat_status file_sync(int fd, const char *path, struct leat_error *err);

/* fsync of the folder that holds `path`, so that a rename or a new name in it is durable. */
enum leat_status file_sync_folder(const char *path, struct leat_error *err);

/* Renames; if `replace` is false, fails with LEAT_E_EXISTS if `to` exists: atomically, unless the file system can
 * neither do that nor file_link(). Some need a second name for that: a process that is killed then leaves both. */
enum leat_status file_rename(const char *from, const char *to, bool replace, struct leat_error *err);

/* Removes a file; it need not exist. */
enum leat_status file_remove(const char *path, struct leat_error *err);

/* Identifies the file that a name stands for; two names may stand for one file. */
struct file_identity {
    bool exists;
    dev_t device;
    ino_t inode;
};

/* Identifies the file that a name stands for. A missing file is no failure; a file that cannot be asked about is
 * one. */
enum leat_status file_identify(const char *path, struct file_identity *identity, struct leat_error *err);

/* Identifies the file that a link leads to. Asks a file server for the name only, not for everything that stat says. */
enum leat_status file_identify_target(const char *path, struct file_identity *identity, struct leat_error *err);

bool file_same(struct file_identity a, struct file_identity b);

/* Returns true if name[0..length) ends in `suffix`, with something before it. */
bool file_ends_with(const char *name, size_t length, const char *suffix);

/* Returns the length of name[0..length), a dataset's name or that of one of its files, without .leat or .tokens. */
size_t file_dataset_length(const char *name, size_t length);

/* Returns the folder that holds a path, which the caller frees; NULL if there is no memory. */
char *file_folder(const char *path);

/* Moves on to the next name in an open folder; `path` is the folder's in the error. Returns false at the end, and if *s
 * is or becomes a failure. */
bool folder_next(DIR *folder, const char *path, const char **name, enum leat_status *s, struct leat_error *err);

/* Closes and sets *fd to -1. A negative one is fine. */
void file_close(int *fd);

/* The current folder at some time. A relative name that is used later than in the call that it was given in means a
 * file there, even after the process has changed its folder (chdir): note the folder in that call. */
struct folder {
    char *path; /* absolute; NULL: not known, and names stay as they are */
    struct file_identity identity;
};

/* Notes the current folder. */
void folder_note(struct folder *f);
void folder_free(struct folder *f);

/* Returns true if the folder is known, and the process is in another one now. */
bool folder_left(const struct folder *f);

/* Returns the name in this folder, absolute, or a copy where that is not known, or too long for a system call. The
 * caller frees it; NULL if there is no memory. */
char *folder_name(const struct folder *f, const char *name);

#endif
