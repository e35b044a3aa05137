/* power.c: see power.h. Each file is kept alive by a hard link beside the folder, so that lost names can come back. */
#include "power.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "t.h"

#define MOST 64 /* files, names, changes since the last sync */

struct file {
    ino_t inode;
    uint8_t *bytes; /* as last synced */
    size_t size;
};

/* A name in the folder, or a change of one: `from` loses its file, `to` gets it; either may be empty. */
struct name {
    char from[256], to[256];
    unsigned file;
};

static struct {
    char folder[600], kept[620];
    uint64_t random;
    struct file files[MOST];
    unsigned file_count;
    struct name durable[MOST], pending[MOST];
    unsigned durable_count, pending_count;
} power;

static void stop(const char *what)
{
    perror(what);
    _exit(3);
}

bool power_watching(void)
{
    return power.folder[0] != '\0';
}

/* ---- Files ---- */

static const char *path_in(const char *folder, const char *name)
{
    static char paths[4][1024];
    static unsigned next;
    char *path = paths[next++ % 4];

    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static const char *kept_path(unsigned file)
{
    char number[16];

    snprintf(number, sizeof number, "%u", file);
    return path_in(power.kept, number);
}

static void remember_bytes(struct file *f, const char *path)
{
    int fd = open(path, O_RDONLY);
    struct stat st;

    if (fd < 0 || fstat(fd, &st) != 0)
        stop(path);
    free(f->bytes);
    f->size = (size_t)st.st_size;
    f->bytes = malloc(f->size + 1);
    if (!f->bytes || pread(fd, f->bytes, f->size, 0) != (ssize_t)f->size)
        stop(path);
    close(fd);
}

/* The number of the file that a path names; a new one gets its hard link. */
static unsigned file_of(const char *path)
{
    struct stat st;
    const char *kept;

    if (stat(path, &st) != 0)
        stop(path);
    for (unsigned i = 0; i < power.file_count; i++)
        if (power.files[i].inode == st.st_ino)
            return i;
    if (power.file_count == MOST)
        stop("too many files");
    kept = kept_path(power.file_count);
    if (link(path, kept) != 0)
        stop(kept);
    power.files[power.file_count].inode = st.st_ino;
    return power.file_count++;
}

/* ---- Names ---- */

/* The name of a path in the folder; NULL if it lies elsewhere. */
static const char *name_of(const char *path)
{
    size_t length = strlen(power.folder);

    if (length == 0 || strncmp(path, power.folder, length) != 0 || path[length] != '/')
        return NULL;
    return path + length + 1;
}

static void forget(struct name *names, unsigned *count, const char *name)
{
    for (unsigned i = 0; i < *count; i++)
        if (strcmp(names[i].to, name) == 0)
            names[i--] = names[--*count];
}

static void apply(const struct name *change)
{
    if (change->from[0])
        forget(power.durable, &power.durable_count, change->from);
    if (!change->to[0])
        return;
    forget(power.durable, &power.durable_count, change->to);
    if (power.durable_count == MOST)
        stop("too many names");
    power.durable[power.durable_count++] = *change;
}

static void change(const char *from, const char *to, unsigned file)
{
    struct name *n = &power.pending[power.pending_count];

    if (++power.pending_count > MOST)
        stop("too many changes");
    snprintf(n->from, sizeof n->from, "%s", from);
    snprintf(n->to, sizeof n->to, "%s", to);
    n->file = file;
}

void power_named(const char *path)
{
    const char *name = name_of(path);

    if (name)
        change("", name, file_of(path));
}

void power_unnamed(const char *path)
{
    const char *name = name_of(path);

    if (name)
        change(name, "", 0);
}

void power_renamed(const char *from, const char *to)
{
    const char *old = name_of(from), *now = name_of(to);

    if (old && now)
        change(old, now, file_of(to));
}

void power_synced(int fd)
{
    struct stat st;

    if (!power_watching())
        return;
    if (fstat(fd, &st) != 0)
        stop("fstat");
    if (S_ISDIR(st.st_mode)) {
        for (unsigned i = 0; i < power.pending_count; i++)
            apply(&power.pending[i]);
        power.pending_count = 0;
        return;
    }
    for (unsigned i = 0; i < power.file_count; i++)
        if (power.files[i].inode == st.st_ino)
            remember_bytes(&power.files[i], kept_path(i));
}

/* ---- Begin and end ---- */

static void empty(const char *folder)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;

    while (dir && (entry = readdir(dir)))
        if (entry->d_name[0] != '.')
            unlink(path_in(folder, entry->d_name));
    if (dir)
        closedir(dir);
}

void power_watch(const char *folder, uint64_t seed)
{
    struct dirent *entry;
    DIR *dir;

    snprintf(power.folder, sizeof power.folder, "%s", folder);
    snprintf(power.kept, sizeof power.kept, "%s.power", folder);
    power.random = seed;
    mkdir(power.kept, 0777);
    empty(power.kept);
    dir = opendir(folder);
    while (dir && (entry = readdir(dir)))
        if (entry->d_name[0] != '.') {
            unsigned file = file_of(path_in(folder, entry->d_name));

            remember_bytes(&power.files[file], kept_path(file));
            change("", entry->d_name, file);
        }
    if (!dir)
        stop(folder);
    power_synced(dirfd(dir));
    closedir(dir);
}

/* The bytes of now, or those that were synced, or those with zeros up to the length of now. */
static void lose_bytes(unsigned file)
{
    const struct file *f = &power.files[file];
    struct stat st;
    int fd;

    if (t_below(&power.random, 3) == 0)
        return;
    fd = open(kept_path(file), O_RDWR);
    if (fd < 0 || fstat(fd, &st) != 0 || ftruncate(fd, 0) != 0 ||
        pwrite(fd, f->bytes ? f->bytes : (const uint8_t *)"", f->size, 0) != (ssize_t)f->size)
        stop(kept_path(file));
    if (t_below(&power.random, 2) && (size_t)st.st_size > f->size && ftruncate(fd, st.st_size) != 0)
        stop(kept_path(file));
    close(fd);
}

void power_cut(void)
{
    for (unsigned i = 0; i < power.pending_count; i++)
        if (t_below(&power.random, 2))
            apply(&power.pending[i]);
    for (unsigned i = 0; i < power.file_count; i++)
        lose_bytes(i);
    empty(power.folder);
    for (unsigned i = 0; i < power.durable_count; i++) {
        const char *name = path_in(power.folder, power.durable[i].to);

        if (link(kept_path(power.durable[i].file), name) != 0)
            stop(name);
    }
}
