/*
 * t.h: what every test program uses. A program exits 0 if all held, 1 if something did not, 77 if it cannot run here;
 * each failure is one line that names file, line and values. What C and POSIX have for files, memory and text comes
 * with it.
 */
#ifndef LEAT_TESTS_T_H
#define LEAT_TESTS_T_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "leat.h"

static int t_failures;

/* Sanitizers are slow, and count memory of their own. gcc says nothing of its undefined behaviour sanitizer, which does
 * neither. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define T_SANITIZED 1
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(undefined_behavior_sanitizer)
#define T_SANITIZED 1
#endif
#endif
#ifndef T_SANITIZED
#define T_SANITIZED 0
#endif

#define T_FAIL(...)                                                                                                    \
    (t_failures++, fprintf(stderr, "%s:%d: ", __FILE__, __LINE__), fprintf(stderr, __VA_ARGS__), fputc('\n', stderr))
#define T_CHECK(condition) ((condition) ? (void)0 : (void)T_FAIL("not true: %s", #condition))

/* Integers. */
#define T_EQ(a, b)                                                                                                     \
    do {                                                                                                               \
        uint64_t t_a = (uint64_t)(a), t_b = (uint64_t)(b);                                                             \
        if (t_a != t_b)                                                                                                \
            T_FAIL("%s is %" PRIu64 ", and %s is %" PRIu64, #a, t_a, #b, t_b);                                         \
    } while (0)

/* Strings. */
#define T_STR(a, b)                                                                                                    \
    do {                                                                                                               \
        const char *t_a = (a), *t_b = (b);                                                                             \
        if (!t_a || !t_b || strcmp(t_a, t_b) != 0)                                                                     \
            T_FAIL("%s is \"%s\", and %s is \"%s\"", #a, t_a ? t_a : "(null)", #b, t_b ? t_b : "(null)");              \
    } while (0)

#define T_CONTAINS(text, part)                                                                                         \
    do {                                                                                                               \
        const char *t_a = (text), *t_b = (part);                                                                       \
        if (!strstr(t_a, t_b))                                                                                         \
            T_FAIL("\"%s\" does not contain \"%s\"", t_a, t_b);                                                        \
    } while (0)

/* A call that must succeed; `t_err` is there for its last argument. Ends the program if it does not: what follows
 * would only fail because of it. */
static _Thread_local struct leat_error t_err __attribute__((unused));
#define T_OK(call)                                                                                                     \
    do {                                                                                                               \
        enum leat_status t_s = (call);                                                                                 \
        if (t_s != LEAT_OK) {                                                                                          \
            T_FAIL("%s: %s: %s", #call, leat_status_name(t_s), t_err.message);                                         \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

/* A call that must fail with this status. */
#define T_STATUS(call, status)                                                                                         \
    do {                                                                                                               \
        enum leat_status t_s = (call), t_want = (status);                                                              \
        if (t_s != t_want)                                                                                             \
            T_FAIL("%s: %s instead of %s (%s)", #call, leat_status_name(t_s), leat_status_name(t_want),                \
                   t_err.message);                                                                                     \
    } while (0)

/* And with this sentence, or a part of it, in t_err. */
#define T_REFUSED(call, status, words)                                                                                 \
    do {                                                                                                               \
        T_STATUS(call, status);                                                                                        \
        T_CONTAINS(t_err.message, words);                                                                              \
    } while (0)

static inline int t_end(void)
{
    return t_failures ? 1 : 0;
}

static inline int t_skip(const char *why)
{
    fprintf(stderr, "skipped: %s\n", why);
    return 77;
}

/* A small fast generator; the seed comes from LEAT_TEST_SEED or is fixed, and t_seed() prints it. */
static inline uint64_t t_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static inline uint64_t t_below(uint64_t *state, uint64_t limit)
{
    return t_random(state) % limit;
}

static inline uint64_t t_seed(void)
{
    const char *text = getenv("LEAT_TEST_SEED");
    uint64_t seed = text ? strtoull(text, NULL, 0) : 1;

    fprintf(stderr, "LEAT_TEST_SEED=%" PRIu64 "\n", seed);
    return seed;
}

/* How often to try something: `times`, or a tenth of it under an emulator (LEAT_TEST_QUICK=1 in the environment). */
static inline unsigned t_times(unsigned times)
{
    return getenv("LEAT_TEST_QUICK") ? (times + 9) / 10 : times;
}

/* Whether to try each call, bit or length, of which otherwise some are tried: make check-every. */
static inline bool t_every(void)
{
    return getenv("LEAT_TEST_EVERY") != NULL;
}

/* The step between tries: 1 in make check-every, else `step`. */
static inline unsigned t_step(unsigned step)
{
    return t_every() ? 1 : step;
}

/* Which of them: another state of t_random() in each run, unless LEAT_TEST_DRAW says which. */
static inline uint64_t t_draw(void)
{
    const char *text = getenv("LEAT_TEST_DRAW");
    struct timespec now;
    uint64_t draw;

    clock_gettime(CLOCK_REALTIME, &now);
    draw = text ? strtoull(text, NULL, 0) : (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
    fprintf(stderr, "LEAT_TEST_DRAW=%" PRIu64 "\n", draw);
    return draw;
}

static inline const char *t_folder_under(const char *tmp)
{
    static char path[512];

    snprintf(path, sizeof path, "%s/leat-test-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(path)) {
        perror(path);
        exit(1);
    }
    return path;
}

/* A fresh folder under $LEAT_TEST_TMP (the runner makes and removes it; in memory, if it can) or /tmp. */
static inline const char *t_folder(void)
{
    return t_folder_under(getenv("LEAT_TEST_TMP"));
}

/* The same on a disk, for tests of the page cache and of what goes past it: under $LEAT_TEST_DISK. */
static inline const char *t_disk_folder(void)
{
    const char *disk = getenv("LEAT_TEST_DISK");

    return t_folder_under(disk ? disk : getenv("LEAT_TEST_TMP"));
}

/* Writes a file, or ends the program. */
static inline void t_write(const char *path, const void *bytes, size_t size)
{
    FILE *f = fopen(path, "wb");

    if (!f || (size > 0 && fwrite(bytes, 1, size, f) != size) || fclose(f) != 0) {
        perror(path);
        exit(1);
    }
}

static inline void t_write_text(const char *path, const char *text)
{
    t_write(path, text, strlen(text));
}

/* Writes a text to root/path, with the folders above it. */
static inline void t_write_below(const char *root, const char *path, const char *text)
{
    char full[1024];

    snprintf(full, sizeof full, "%s/%s", root, path);
    for (char *at = full + strlen(root) + 1; (at = strchr(at, '/')); at++) {
        *at = '\0';
        mkdir(full, 0700);
        *at = '/';
    }
    t_write_text(full, text);
}

/* How many names a folder has, "." and ".." among them: whether something was left there. */
static inline uint64_t t_files(const char *folder)
{
    DIR *dir = opendir(folder);
    uint64_t count = 0;

    while (dir && readdir(dir))
        count++;
    if (dir)
        closedir(dir);
    return count;
}

/* A formatted text, which lives until 8 MiB of others have been made; for one thread. */
static inline char *t_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline char *t_text(const char *format, ...)
{
    static char texts[1 << 24];
    static size_t used;
    char *text;
    int length;
    va_list args;

    used = used < sizeof texts / 2 ? used : 0;
    text = texts + used;
    va_start(args, format);
    length = vsnprintf(text, sizeof texts - used, format, args);
    va_end(args);
    T_CHECK(length >= 0 && (size_t)length < sizeof texts - used);
    used += (size_t)length + 1;
    return text;
}

static inline char *t_path(const char *folder, const char *name)
{
    return t_text("%s/%s", folder, name);
}

/* Writes bytes into a file, and makes it if there is none. */
static inline void t_patch(const char *path, uint64_t at, const void *bytes, size_t count)
{
    int fd = open(path, O_WRONLY | O_CREAT, 0666);

    T_CHECK(fd >= 0 && pwrite(fd, bytes, count, (off_t)at) == (ssize_t)count);
    close(fd);
}

/* Changes a bit of a file's byte. */
static inline void t_flip(const char *path, uint64_t at)
{
    int fd = open(path, O_RDONLY);
    uint8_t byte = 0;

    T_CHECK(fd >= 0 && pread(fd, &byte, 1, (off_t)at) == 1);
    close(fd);
    byte ^= 0x40;
    t_patch(path, at, &byte, 1);
}

#endif
