/*
 * files.h: the folder in memory that the fuzzers of files work in, made once and removed at the end.
 */
#ifndef LEAT_TESTS_FUZZ_FILES_H
#define LEAT_TESTS_FUZZ_FILES_H

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"

static char files_folder_path[512];

/* folder/name, in one of eight buffers that take turns. */
static inline const char *files_path(const char *name)
{
    static char paths[8][1024];
    static unsigned next;
    char *path = paths[next++ % 8];

    snprintf(path, sizeof paths[0], "%s/%s", files_folder_path, name);
    return path;
}

/* Removes every file of the folder whose name begins so. */
static inline void files_remove(const char *begin)
{
    DIR *dir = opendir(files_folder_path);
    struct dirent *entry;

    while (dir && (entry = readdir(dir)))
        if (entry->d_name[0] != '.' && strncmp(entry->d_name, begin, strlen(begin)) == 0)
            unlink(files_path(entry->d_name));
    if (dir)
        closedir(dir);
}

static inline void files_end(void)
{
    files_remove("");
    rmdir(files_folder_path);
}

/* LEAT_TEST_TMP (the test runner's), or memory where there is some, or TMPDIR. True at the first call. */
static inline int files_begin(void)
{
    const char *folders[] = { getenv("LEAT_TEST_TMP"), "/dev/shm", getenv("TMPDIR"), "/tmp" };

    if (files_folder_path[0])
        return 0;
    for (unsigned i = 0; i < 4; i++) {
        if (!folders[i] || access(folders[i], W_OK) != 0)
            continue;
        snprintf(files_folder_path, sizeof files_folder_path, "%s/leat-fuzz-XXXXXX", folders[i]);
        if (mkdtemp(files_folder_path)) {
            atexit(files_end);
            return 1;
        }
    }
    perror("leat-fuzz");
    abort();
}

/* Makes the file hold just these bytes. */
static inline void files_write(const char *name, const void *bytes, size_t size)
{
    int fd = open(files_path(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

    FUZZ_CHECK(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
    close(fd);
}

#endif
