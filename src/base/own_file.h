/*
 * own_file.h: opens every file that leat writes, under a name of its own or one that the user has given. Somebody
 * else may have put another file in its place, so what is opened here is a regular file of the caller's, and no link
 * is followed.
 */
#ifndef LEAT_BASE_OWN_FILE_H
#define LEAT_BASE_OWN_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "leat.h"

enum own_file_use { OWN_FILE_READ, OWN_FILE_WRITE, OWN_FILE_LOCK };

/*
 * Opens an existing file; *size (may be NULL) is set to its length. Returns LEAT_E_EXISTS for a symbolic link, for
 * anything but a regular file, and to write to a file that has a second name. Returns LEAT_E_PERMISSION for a file
 * of another user, unless that is the folder's owner, who could replace any file in it.
 */
enum leat_status own_file_open(int *fd, uint64_t *size, const char *path, enum own_file_use use,
                               struct leat_error *err);

/* Creates a file to write, or opens what is there, with its bytes, as own_file_open() does. */
enum leat_status own_file_create(int *fd, const char *path, struct leat_error *err);

/* Opens an output that the user has named: creates or empties it, or, if `append`, writes at its end. A pipe or device,
 * also one behind a link as /dev/stdout is, is opened as it is; LEAT_E_IO to append to a pipe that has no reader. */
enum leat_status own_file_output(int *fd, const char *path, bool append, struct leat_error *err);

/* Returns true if a name is a URL, SCHEME://..., and not the path of a file. */
bool own_file_is_url(const char *name);

/* Returns LEAT_E_UNSUPPORTED if the name of an output is a URL. */
enum leat_status own_file_check_local(const char *output, struct leat_error *err);

/* Checks that renaming can give a file this name: nothing is there, or a file or symbolic link, which it replaces.
 * Returns LEAT_E_EXISTS for a folder, a pipe or a device. */
enum leat_status own_file_check_name(const char *path, struct leat_error *err);

/* Sets *named to whether the path still names the open file: its last holder may have removed or renamed it. */
enum leat_status own_file_is_named(int fd, const char *path, bool *named, struct leat_error *err);

/*
 * Locks an open file (flock) without waiting: LEAT_E_BUSY, with os_error, if another process has locked it and writes
 * `output` (NULL: the file itself). The sentence says whether that is this process, in another thread or by a writer
 * that it has not ended.
 */
enum leat_status own_file_lock(int fd, const char *path, const char *output, struct leat_error *err);

/* Gives the lock back, also if a child of fork() has the file open, and closes the file. -1 is fine. Must not be
 * called in a child, since the lock is its parent's. */
void own_file_unlock(int *fd);

/*
 * Opens an empty file to write under a name for unfinished files, PATH.partial: creates it, or takes over what a killed
 * process left. It is locked until it is closed, also after it was renamed: LEAT_E_BUSY if another process writes it.
 */
enum leat_status own_file_begin(int *fd, const char *path, struct leat_error *err);

/* Opens such a file, and keeps the bytes that a killed process left in it. */
enum leat_status own_file_take(int *fd, const char *path, struct leat_error *err);

/* Makes a folder (*made is true), or takes over one left by a killed process if it belongs to the caller or to the
 * owner of the parent folder. Returns LEAT_E_EXISTS if a link or a file has the name. */
enum leat_status own_file_make_folder(const char *path, bool *made, struct leat_error *err);

/*
 * Writes a whole file under PATH.partial, durably, and gives it its name: a PATH that exists is complete. LEAT_E_EXISTS
 * if PATH is there, even if another process made it meanwhile; LEAT_E_BUSY while another process writes it.
 */
enum leat_status own_file_publish(const char *path, const void *bytes, uint64_t count, struct leat_error *err);

/* Writes a whole file as own_file_publish() does, but replaces PATH if it is there: readers find the old bytes, or all
 * of the new ones. */
enum leat_status own_file_replace(const char *path, const void *bytes, uint64_t count, struct leat_error *err);

/*
 * Writes a whole file as own_file_publish() does, or with `replace` as own_file_replace() does. The new file is
 * locked before it has its name, and on success takes the place of *held, which is unlocked (-1: there is none;
 * `held` NULL: the new file is closed). own_file_unlock() gives the lock back.
 */
enum leat_status own_file_write_held(int *held, const char *path, const void *bytes, uint64_t count, bool replace,
                                     struct leat_error *err);

#endif
