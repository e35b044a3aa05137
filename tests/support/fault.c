/*
 * fault.c: see fault.h. The linker sends each call of WRAPPED (tests/tests.mk) to __wrap_<call> here, and gives the
 * real one as __real_<call>.
 */
#include "fault.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "power.h"

static struct {
    atomic_bool on;
    enum fault_kind kind;
    enum fault_mode mode;
    const char *only; /* calls of this name; NULL: all */
    uint64_t n;
    int os_error;
    atomic_uint_fast64_t calls, interruptible;
    _Atomic(const char *) failed;
} armed;

static atomic_long allocations;
static atomic_uint lacking; /* of the file system */
static void (*_Atomic reads_watch)(int fd);

static void arm(enum fault_kind kind, const char *only, enum fault_mode mode, uint64_t n, int os_error)
{
    armed.kind = kind;
    armed.only = only;
    armed.mode = mode;
    armed.n = n;
    armed.os_error = os_error;
    atomic_store(&armed.calls, 0);
    atomic_store(&armed.interruptible, 0);
    atomic_store(&armed.failed, NULL);
    atomic_store(&armed.on, true);
}

void fault_arm(enum fault_kind kind, enum fault_mode mode, uint64_t n, int os_error)
{
    arm(kind, NULL, mode, n, os_error);
}

void fault_arm_call(const char *name, enum fault_mode mode, uint64_t n, int os_error)
{
    arm(FAULT_SYSTEM, name, mode, n, os_error);
}

uint64_t fault_disarm(void)
{
    atomic_store(&armed.on, false);
    return atomic_load(&armed.calls);
}

const char *fault_failed(void)
{
    return atomic_load(&armed.failed);
}

void fault_file_system(unsigned lacks)
{
    atomic_store(&lacking, lacks);
}

static bool lacks(unsigned what)
{
    return atomic_load(&lacking) & what;
}

void fault_watch_reads(void (*watch)(int fd))
{
    atomic_store(&reads_watch, watch);
}

static int watched(int fd)
{
    void (*watch)(int) = atomic_load(&reads_watch);

    if (watch)
        watch(fd);
    return fd;
}

long fault_allocations(void)
{
    return atomic_load(&allocations);
}

/* A GPU's driver opens its own when it likes. */
unsigned fault_open_files(void)
{
    DIR *dir = opendir("/proc/self/fd");
    unsigned count = 0;
    struct dirent *entry;
    char target[32];

    while (dir && (entry = readdir(dir))) {
        ssize_t n = readlinkat(dirfd(dir), entry->d_name, target, sizeof target - 1);

        target[n > 0 ? n : 0] = '\0';
        count += strncmp(target, "/dev/nvidia", 11) != 0;
    }
    if (dir)
        closedir(dir);
    return count;
}

/* ---- What becomes of a call ---- */

enum fate { PASS, FAIL, KILL_AFTERWARDS };

static void fail(const char *name, int os_error)
{
    const char *none = NULL;

    atomic_compare_exchange_strong(&armed.failed, &none, name);
    errno = os_error;
}

static void die(void)
{
    kill(getpid(), SIGKILL);
}

static bool can_be_interrupted(const char *name)
{
    static const char *const names[] = { "open", "pread", "pwrite", "fsync", "ftruncate", "flock" };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static enum fate fate_of(enum fault_kind kind, const char *name)
{
    uint64_t call;

    if (!atomic_load(&armed.on) || kind != armed.kind || (armed.only && strcmp(armed.only, name) != 0))
        return PASS;
    if (armed.mode == FAULT_DELAY) {
        if (strncmp(name, "pread", 5) == 0 && (atomic_fetch_add(&armed.calls, 1) + 1) % armed.n == 0)
            usleep(20000);
        return PASS;
    }
    call = atomic_fetch_add(&armed.calls, 1) + 1;
    if (call < armed.n || (call > armed.n && armed.mode <= FAULT_POWER_CUT && armed.mode != FAULT_FROM_THEN_ON))
        return PASS;
    switch (armed.mode) {
    case FAULT_ONCE:
    case FAULT_FROM_THEN_ON:
        fail(name, armed.os_error);
        return FAIL;
    case FAULT_KILL_BEFORE:
        die();
        return PASS;
    case FAULT_POWER_CUT:
        atomic_store(&armed.on, false);
        power_cut();
        die();
        return PASS;
    case FAULT_KILL_AFTER:
        return KILL_AFTERWARDS;
    case FAULT_INTERRUPT:
        if (!can_be_interrupted(name) || atomic_fetch_add(&armed.interruptible, 1) % 2)
            return PASS;
        fail(name, EINTR);
        return FAIL;
    default:
        return PASS;
    }
}

/* How much of a transfer is carried out. */
static size_t part_of(size_t count)
{
    if (!atomic_load(&armed.on) || armed.mode != FAULT_SHORT || count < 2)
        return count;
    return count / 2;
}

/* Around the hooks of power.h, whose own calls are not the library's. */
static bool pause_for_power(void)
{
    return power_watching() && atomic_exchange(&armed.on, false);
}

static void go_on(void)
{
    atomic_store(&armed.on, true);
}

static void after(enum fate fate)
{
    if (fate == KILL_AFTERWARDS)
        die();
}

/* ---- Memory ---- */

#define DECLARE(type, name, parameters)                                                                                \
    type __real_##name parameters;                                                                                     \
    type __wrap_##name parameters

DECLARE(void *, malloc, (size_t bytes));
DECLARE(void *, calloc, (size_t count, size_t bytes));
DECLARE(void *, realloc, (void *old, size_t bytes));
DECLARE(void *, aligned_alloc, (size_t alignment, size_t bytes));
DECLARE(void *, reallocarray, (void *old, size_t count, size_t bytes));
DECLARE(char *, strdup, (const char *text));
DECLARE(char *, strndup, (const char *text, size_t max));
DECLARE(void, free, (void *old));

extern const char __executable_start[], etext[]; /* the linker's: where this program lies */
static _Thread_local bool for_libcurl;

/* What becomes of an allocation. libcurl is given these functions (carrier.c). Its own calls do not fail: where they
 * do, it may leave out the query of a request, or where an answer redirects to. */
#define FATE_OF_MEMORY(name) fate_of_memory(__builtin_return_address(0), name)

static enum fate fate_of_memory(const char *caller, const char *name)
{
    bool own = caller >= __executable_start && caller < etext && !for_libcurl;

    return own ? fate_of(FAULT_MEMORY, name) : PASS;
}

static void *counted(void *p)
{
    if (p)
        atomic_fetch_add(&allocations, 1);
    return p;
}

void *__wrap_malloc(size_t bytes)
{
    return FATE_OF_MEMORY("malloc") == FAIL ? NULL : counted(__real_malloc(bytes));
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return FATE_OF_MEMORY("calloc") == FAIL ? NULL : counted(__real_calloc(count, bytes));
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
    return FATE_OF_MEMORY("aligned_alloc") == FAIL ? NULL : counted(__real_aligned_alloc(alignment, bytes));
}

void *__wrap_realloc(void *old, size_t bytes)
{
    void *p;

    if (FATE_OF_MEMORY("realloc") == FAIL)
        return NULL;
    p = __real_realloc(old, bytes);
    return old ? p : counted(p);
}

void *__wrap_reallocarray(void *old, size_t count, size_t bytes)
{
    void *p;

    if (FATE_OF_MEMORY("reallocarray") == FAIL)
        return NULL;
    p = __real_reallocarray(old, count, bytes);
    return old ? p : counted(p);
}

char *__wrap_strndup(const char *text, size_t max)
{
    return FATE_OF_MEMORY("strndup") == FAIL ? NULL : counted(__real_strndup(text, max));
}

char *__wrap_strdup(const char *text)
{
    return FATE_OF_MEMORY("strdup") == FAIL ? NULL : counted(__real_strdup(text));
}

void __wrap_free(void *old)
{
    if (old)
        atomic_fetch_sub(&allocations, 1);
    __real_free(old);
}

DECLARE(void *, text_resize, (void *old, size_t bytes));

void *__wrap_text_resize(void *old, size_t bytes)
{
    void *p;

    for_libcurl = true;
    p = __real_text_resize(old, bytes);
    for_libcurl = false;
    return p;
}

/* ---- System calls that do or fail as a whole ---- */

#define CALL(type, name, parameters, arguments, failure)                                                               \
    DECLARE(type, name, parameters);                                                                                   \
    type __wrap_##name parameters                                                                                      \
    {                                                                                                                  \
        enum fate fate = fate_of(FAULT_SYSTEM, #name);                                                                 \
        type result;                                                                                                   \
                                                                                                                       \
        if (fate == FAIL)                                                                                              \
            return failure;                                                                                            \
        result = __real_##name arguments;                                                                              \
        after(fate);                                                                                                   \
        return result;                                                                                                 \
    }

CALL(ssize_t, read, (int fd, void *to, size_t count), (watched(fd), to, count), -1)
CALL(ssize_t, preadv2, (int fd, const struct iovec *to, int count, off_t at, int flags),
     (watched(fd), to, count, at, flags), -1)
CALL(int, madvise, (void *at, size_t count, int how), (at, count, how), -1)
CALL(int, eventfd, (unsigned count, int flags), (count, flags), -1)
CALL(ssize_t, pread, (int fd, void *to, size_t count, off_t at), (watched(fd), to, part_of(count), at), -1)
CALL(ssize_t, pwrite, (int fd, const void *from, size_t count, off_t at), (fd, from, part_of(count), at), -1)
CALL(int, ftruncate, (int fd, off_t size), (fd, size), -1)
CALL(int, fstat, (int fd, struct stat *st), (fd, st), -1)
CALL(int, fstatfs, (int fd, struct statfs *fs), (fd, fs), -1)
CALL(int, stat, (const char *path, struct stat *st), (path, st), -1)
CALL(int, lstat, (const char *path, struct stat *st), (path, st), -1)
CALL(void *, mmap, (void *to, size_t count, int protection, int flags, int fd, off_t at),
     (to, count, protection, flags, fd, at), MAP_FAILED)
CALL(DIR *, opendir, (const char *path), (path), NULL)
CALL(struct dirent *, readdir, (DIR * dir), (dir), NULL)

DECLARE(int, flock, (int fd, int how));

/* Unlocking has a name of its own: closing the file does it, too, so that nothing depends on this call. */
int __wrap_flock(int fd, int how)
{
    enum fate fate = fate_of(FAULT_SYSTEM, how & LOCK_UN ? "flock to unlock" : "flock");
    int result;

    if (fate == FAIL)
        return -1;
    result = __real_flock(fd, how);
    after(fate);
    return result;
}

DECLARE(char *, realpath, (const char *path, char *to));

/* Its memory is the caller's. */
char *__wrap_realpath(const char *path, char *to)
{
    enum fate fate = fate_of(FAULT_SYSTEM, "realpath");
    char *result;

    if (fate == FAIL)
        return NULL;
    result = counted(__real_realpath(path, to));
    after(fate);
    return result;
}

/* ---- Those that carry the thing out, and then fail ---- */

#define LAST_CALL(name, parameters, arguments)                                                                         \
    DECLARE(int, name, parameters);                                                                                    \
    int __wrap_##name parameters                                                                                       \
    {                                                                                                                  \
        enum fate fate = fate_of(FAULT_SYSTEM, #name);                                                                 \
        int os_error = errno, result = __real_##name arguments;                                                        \
                                                                                                                       \
        after(fate);                                                                                                   \
        if (fate == FAIL)                                                                                              \
            errno = os_error;                                                                                          \
        return fate == FAIL ? -1 : result;                                                                             \
    }

LAST_CALL(close, (int fd), (fd))
LAST_CALL(closedir, (DIR * dir), (dir))
LAST_CALL(munmap, (void *at, size_t count), (at, count))

/* ---- Those that change names ---- */

#define NAMING_CALL(name, parameters, arguments, refused, hook)                                                        \
    DECLARE(int, name, parameters);                                                                                    \
    int __wrap_##name parameters                                                                                       \
    {                                                                                                                  \
        enum fate fate = fate_of(FAULT_SYSTEM, #name);                                                                 \
        int result;                                                                                                    \
                                                                                                                       \
        if (fate == FAIL)                                                                                              \
            return -1;                                                                                                 \
        if ((refused) != 0) {                                                                                          \
            errno = refused;                                                                                           \
            return -1;                                                                                                 \
        }                                                                                                              \
        result = __real_##name arguments;                                                                              \
        if (result == 0 && pause_for_power()) {                                                                        \
            hook;                                                                                                      \
            go_on();                                                                                                   \
        }                                                                                                              \
        after(fate);                                                                                                   \
        return result;                                                                                                 \
    }

NAMING_CALL(rename, (const char *from, const char *to), (from, to), 0, power_renamed(from, to))
NAMING_CALL(renameat2, (int from_dir, const char *from, int to_dir, const char *to, unsigned flags),
            (from_dir, from, to_dir, to, flags), lacks(FAULT_NO_RENAMEAT2) ? EINVAL : 0, power_renamed(from, to))
NAMING_CALL(link, (const char *from, const char *to), (from, to), lacks(FAULT_NO_LINKS) ? EPERM : 0, power_named(to))
NAMING_CALL(unlink, (const char *path), (path), 0, power_unnamed(path))

/* ---- The others ---- */

DECLARE(int, open, (const char *path, int flags, ...));
DECLARE(int, fsync, (int fd));
DECLARE(int, fcntl, (int fd, int command, ...));
DECLARE(int, pthread_create, (pthread_t * thread, const pthread_attr_t *how, void *(*start)(void *), void *context));

int __wrap_open(const char *path, int flags, ...)
{
    enum fate fate = fate_of(FAULT_SYSTEM, "open");
    va_list args;
    mode_t mode = 0;
    int fd;

    if (fate == FAIL)
        return -1;
    if ((flags & O_TMPFILE) == O_TMPFILE && lacks(FAULT_NO_UNNAMED)) {
        errno = EOPNOTSUPP;
        return -1;
    }
    va_start(args, flags);
    if (flags & O_CREAT)
        mode = va_arg(args, mode_t);
    va_end(args);
    fd = __real_open(path, flags, mode);
    if (fd >= 0 && (flags & O_CREAT) && pause_for_power()) {
        power_named(path);
        go_on();
    }
    after(fate);
    return fd;
}

int __wrap_fsync(int fd)
{
    enum fate fate = fate_of(FAULT_SYSTEM, "fsync");

    if (fate == FAIL)
        return -1;
    if (pause_for_power()) {
        power_synced(fd);
        go_on();
    }
    after(fate);
    return 0;
}

/* All commands that the library uses take an int or nothing. */
int __wrap_fcntl(int fd, int command, ...)
{
    enum fate fate = fate_of(FAULT_SYSTEM, "fcntl");
    va_list args;
    int argument, result;

    if (fate == FAIL)
        return -1;
    va_start(args, command);
    argument = command == F_SETSIG || command == F_SETLEASE || command == F_SETFL ? va_arg(args, int) : 0;
    va_end(args);
    result = __real_fcntl(fd, command, argument);
    after(fate);
    return result;
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*start)(void *), void *context)
{
    if (fate_of(FAULT_SYSTEM, "pthread_create") == FAIL)
        return EAGAIN;
    return __real_pthread_create(thread, how, start, context);
}
