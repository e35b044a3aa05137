/*
 * load_files.c: opens the file that `leat-bench load` writes. An old file is lost, so a file that this run reads, or
 * that is a part of a dataset, is refused.
 */
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/own_file.h"
#include "base/status.h"
#include "load.h"

static bool is_standard(const char *fd)
{
    return strcmp(fd, "0") == 0 || strcmp(fd, "1") == 0 || strcmp(fd, "2") == 0;
}

/* Returns true if this process has the file open, as it has all files of its datasets. Descriptors 0 to 2 do not
 * count. */
static bool is_open(const struct stat *file)
{
    DIR *d = opendir("/proc/self/fd");
    const struct dirent *e;
    bool found = false;
    struct stat st;

    while (d && !found && (e = readdir(d)))
        found = !is_standard(e->d_name) && fstatat(dirfd(d), e->d_name, &st, 0) == 0 && st.st_dev == file->st_dev &&
                st.st_ino == file->st_ino;
    if (d)
        closedir(d);
    return found;
}

static bool is_same(const char *path, const struct stat *file)
{
    struct stat st;

    return stat(path, &st) == 0 && st.st_dev == file->st_dev && st.st_ino == file->st_ino;
}

/* Returns true if the file is the plan or a list of sources, which are closed once they are read. */
static bool was_read(const struct load_values *v, const struct stat *file)
{
    const struct option_list *sources = &v->plan.sources;

    for (size_t i = 0; i < sources->count; i++)
        if (sources->items[i][0] == '@' && is_same(sources->items[i] + 1, file))
            return true;
    return v->plan.plan && is_same(v->plan.plan, file);
}

enum leat_status load_output_open(FILE **out, const char *path, const struct load_values *v, struct leat_error *err)
{
    size_t length = strlen(path);
    enum leat_status s;
    struct stat st;
    int fd;

    if (stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
        if (file_ends_with(path, length, ".leat") || file_ends_with(path, length, ".tokens"))
            return status_set(err, LEAT_E_ARGUMENT, "%s is a file of a dataset: choose another name", path);
        if (is_open(&st) || was_read(v, &st))
            return status_set(err, LEAT_E_ARGUMENT, "%s is in use by this run: choose another name", path);
    }
    s = own_file_output(&fd, path, false, err);
    *out = s == LEAT_OK ? fdopen(fd, "w") : NULL;
    return s == LEAT_OK && !*out ? status_set_os(err, errno, path, "cannot write %s", path) : s;
}
