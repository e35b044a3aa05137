/*
 * test_lock_itself.c: a process that meets itself at the lock of an output, NAME.partial.lock, in another thread, a
 * writer that was not ended or a child of fork(), hears of no other process, and where nothing is wrong it goes on.
 * fsync() and unlink() are the test's here: they act at the moments that count.
 */
#include <signal.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "one_document.h"
#include "private.h"
#include "t.h"

static char folder[512];
static bool leaves;       /* the next fsync() finds that another thread has left the folder */
static const char *stays; /* what ends so cannot be removed */

/* In place of the C library's. */
int fsync(int fd)
{
    (void)fd;
    if (leaves)
        T_EQ(chdir("/"), 0);
    leaves = false;
    return 0;
}

int unlink(const char *path)
{
    size_t length = strlen(path), end = stays ? strlen(stays) : 0;

    if (stays && length >= end && strcmp(path + length - end, stays) == 0) {
        errno = EPERM;
        return -1;
    }
    return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

static enum leat_status opened(const char *name, struct leat_writer **w)
{
    struct leat_writer_options o = LEAT_WRITER_OPTIONS_INIT;

    o.vocabulary = 10;
    o.force = 1;
    return leat_writer_open(w, name, &o, &t_err);
}

static struct leat_writer *with_document(const char *name)
{
    const uint16_t ids[3] = { 1, 2, 3 };
    struct leat_writer *w;

    T_OK(opened(name, &w));
    T_OK(add_one_document(w, ids, 2, NULL, 3, NULL, &t_err));
    return w;
}

/* A child that lives on until end_child(), or until this process ends, with all that is open. */
static pid_t begin_child(void)
{
    int ends[2];
    char c;
    pid_t child;

    T_EQ(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        close(ends[1]);
        (void)!read(ends[0], &c, 1);
        _exit(0);
    }
    T_CHECK(child > 0);
    close(ends[0]);
    return child; /* the other end stays open */
}

static void end_child(pid_t child)
{
    T_EQ(kill(child, SIGKILL), 0);
    T_EQ(waitpid(child, NULL, 0), child);
}

/* "its lock file was removed ... another process may be writing the same files": it was in the folder that was left. */
static void test_folder_left(void)
{
    for (int way = 0; way < 3; way++) {
        struct leat_info info = LEAT_INFO_INIT;
        struct leat_writer *w;

        T_EQ(chdir(folder), 0);
        w = with_document("left");
        leaves = true;
        if (way == 0)
            T_OK(leat_writer_checkpoint(w, NULL, 0, &t_err));
        else if (way == 1)
            T_OK(leat_writer_prepare(w, &t_err));
        T_OK(leat_writer_finish(w, &info, &t_err));
        T_CHECK(!leaves);
        T_EQ(info.tokens, 3);
        T_EQ(access(t_path(folder, "left.leat"), F_OK), 0);
        T_CHECK(access(t_path(folder, "left.partial.lock"), F_OK) != 0);
    }
    T_EQ(chdir(folder), 0);
}

/* A child has the files of a writer that ends, however it ends: the next one finds the output free. */
static void test_child_lives_on(void)
{
    static const char *const kept[] = { NULL, ".partial.lock" }; /* in a folder where nothing can be removed, say */

    for (unsigned i = 0; i < 8; i++) {
        struct leat_writer *w = with_document("child"), *next = NULL;
        pid_t child = begin_child();

        stays = kept[i / 4];
        if (i % 4 == 3) {
            T_OK(leat_writer_checkpoint(w, NULL, 0, &t_err));
            leat_writer_suspend(w);
        } else if (i % 4 == 2) {
            T_OK(leat_writer_finish(w, NULL, &t_err));
        } else {
            leat_writer_abandon(w);
        }
        T_OK(opened("child", &next));
        stays = NULL;
        leat_writer_abandon(next);
        end_child(child);
    }
}

/* The child itself ends nothing: what is its parent's stays locked. */
static void test_child_frees(void)
{
    struct leat_writer *w = with_document("parent"), *other = NULL;
    pid_t child = fork();
    int status;

    if (child == 0) {
        leat_writer_abandon(w);
        _exit(0);
    }
    T_CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    T_STATUS(opened("parent", &other), LEAT_E_BUSY);
    T_OK(leat_writer_finish(w, NULL, &t_err));
}

/* Of another process it is said that it is another one. */
static void test_who(void)
{
    struct leat_writer *w = with_document("who"), *other = NULL;
    pid_t child;
    int fd;

    T_REFUSED(opened("who", &other), LEAT_E_BUSY,
              "this process is writing who.leat (it holds who.partial.lock): end that writer, or "
              "choose another name");
    leat_writer_abandon(w);

    fd = open("who.partial.lock", O_RDWR | O_CREAT, 0666);
    T_EQ(flock(fd, LOCK_EX), 0);
    child = begin_child();
    close(fd); /* now only the child has it */
    T_REFUSED(opened("who", &other), LEAT_E_BUSY,
              "another process is writing who.leat (it holds who.partial.lock): wait for it, or choose "
              "another name");
    end_child(child);
    T_OK(opened("who", &other));
    leat_writer_abandon(other);
}

int main(void)
{
    snprintf(folder, sizeof folder, "%s", t_folder());
    T_EQ(chdir(folder), 0);
    test_folder_left();
    test_child_lives_on();
    test_child_frees();
    test_who();
    return t_end();
}
