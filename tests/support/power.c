/* power.c: see power.h. Each file is kept open, so that lost names can come back. A hard link would be seen: the
 * library refuses to write to a file with two names. */
#include "power.h"

#include "t.h"

#define MOST 128 /* files, names, changes since the last sync */

struct file {
    int fd;
    ino_t inode;
    char name[256]; /* that it has after the cut; "": none yet */
    uint8_t *bytes; /* as last synced */
    size_t size;
};

/* A name in the folder (or in one in it: with a slash), or a change of one: `from` loses its file, `to` gets it; either
 * may be empty, and else both are in one folder. */
struct name {
    char from[256], to[256];
    unsigned file;
};

static struct {
    char folder[600];
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

static void remember_bytes(struct file *f)
{
    struct stat st;

    if (fstat(f->fd, &st) != 0)
        stop("fstat");
    free(f->bytes);
    f->size = (size_t)st.st_size;
    f->bytes = malloc(f->size + 1);
    if (!f->bytes || pread(f->fd, f->bytes, f->size, 0) != (ssize_t)f->size)
        stop("pread");
}

/* The number of the file that a path names; a new one is opened. */
static unsigned file_of(const char *path)
{
    struct stat st;
    struct file *f = &power.files[power.file_count];

    if (stat(path, &st) != 0)
        stop(path);
    for (unsigned i = 0; i < power.file_count; i++)
        if (power.files[i].inode == st.st_ino)
            return i;
    if (power.file_count == MOST)
        stop("too many files");
    f->fd = open(path, O_RDWR | O_CLOEXEC);
    if (f->fd < 0)
        stop(path);
    f->inode = st.st_ino;
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

/* Bytes of a name that are the folder's in the folder; 0: the folder itself. */
static size_t folder_of(const char *name)
{
    const char *slash = strrchr(name, '/');

    return slash ? (size_t)(slash - name) : 0;
}

static bool in_one_folder(const char *a, const char *b)
{
    return folder_of(a) == folder_of(b) && memcmp(a, b, folder_of(a)) == 0;
}

void power_renamed(const char *from, const char *to)
{
    const char *old = name_of(from), *now = name_of(to);

    if (!old || !now)
        return;
    if (in_one_folder(old, now)) {
        change(old, now, file_of(to));
        return;
    }
    change("", now, file_of(to));
    change(old, "", 0);
}

/* Whether a change is one of the names in this folder. */
static bool is_in(const struct name *n, const struct stat *folder)
{
    const char *name = n->to[0] ? n->to : n->from;
    char path[1024];
    struct stat st;

    snprintf(path, sizeof path, "%s/%.*s", power.folder, (int)folder_of(name), name);
    return stat(path, &st) == 0 && st.st_dev == folder->st_dev && st.st_ino == folder->st_ino;
}

static void apply_those_in(const struct stat *folder)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < power.pending_count; i++)
        if (is_in(&power.pending[i], folder))
            apply(&power.pending[i]);
        else
            power.pending[kept++] = power.pending[i];
    power.pending_count = kept;
}

void power_synced(int fd)
{
    struct stat st;

    if (!power_watching())
        return;
    if (fstat(fd, &st) != 0)
        stop("fstat");
    if (S_ISDIR(st.st_mode)) {
        apply_those_in(&st);
        return;
    }
    for (unsigned i = 0; i < power.file_count; i++)
        if (power.files[i].inode == st.st_ino)
            remember_bytes(&power.files[i]);
}

/* ---- Begin and end ---- */

/* Removes all files, but no folders. */
static void empty(const char *folder)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    char path[1024];

    while (dir && (entry = readdir(dir))) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] != '.' && unlink(path) != 0)
            empty(path);
    }
    if (dir)
        closedir(dir);
}

void power_watch(const char *folder, uint64_t seed)
{
    struct dirent *entry;
    DIR *dir;

    snprintf(power.folder, sizeof power.folder, "%s", folder);
    power.random = seed;
    dir = opendir(folder);
    while (dir && (entry = readdir(dir)))
        if (entry->d_name[0] != '.') {
            unsigned file = file_of(path_in(folder, entry->d_name));

            remember_bytes(&power.files[file]);
            change("", entry->d_name, file);
        }
    if (!dir)
        stop(folder);
    power_synced(dirfd(dir));
    closedir(dir);
}

/* Leaves the bytes of now, or those that were synced, or those with zeros up to the length of now. */
static void lose_bytes(const struct file *f)
{
    struct stat st;

    if (t_below(&power.random, 3) == 0)
        return;
    if (fstat(f->fd, &st) != 0 || ftruncate(f->fd, 0) != 0 ||
        pwrite(f->fd, f->bytes ? f->bytes : (const uint8_t *)"", f->size, 0) != (ssize_t)f->size)
        stop("pwrite");
    if (t_below(&power.random, 2) && (size_t)st.st_size > f->size && ftruncate(f->fd, st.st_size) != 0)
        stop("ftruncate");
}

/* Gives a file a name again, or one more. */
static void name_again(struct file *f, const char *name)
{
    const char *path = path_in(power.folder, name);
    char folder[1024];
    int fd;

    if (folder_of(name) > 0) { /* which may be gone, while its names are not for certain */
        snprintf(folder, sizeof folder, "%s/%.*s", power.folder, (int)folder_of(name), name);
        mkdir(folder, 0777);
    }
    if (f->name[0]) {
        if (link(path_in(power.folder, f->name), path) != 0)
            stop(path);
        return;
    }
    memcpy(f->name, name, strlen(name) + 1);
    remember_bytes(f);
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 || pwrite(fd, f->bytes, f->size, 0) != (ssize_t)f->size || close(fd) != 0)
        stop(path);
}

void power_cut(void)
{
    for (unsigned i = 0; i < power.pending_count; i++)
        if (t_below(&power.random, 2))
            apply(&power.pending[i]);
    for (unsigned i = 0; i < power.file_count; i++)
        lose_bytes(&power.files[i]);
    empty(power.folder);
    for (unsigned i = 0; i < power.durable_count; i++)
        name_again(&power.files[power.durable[i].file], power.durable[i].to);
}
