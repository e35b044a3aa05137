/*
 * test_lock_tries.c: a writer whose NAME.partial.lock another one removes each time, between opening and locking it,
 * tries again 1,000 times, then says so; no file stays, nor an open one. The other writer acts in flock(), which here
 * is the test's.
 */
#include <sys/file.h>
#include <sys/syscall.h>

#include "t.h"

#define TRIES 1000u

static char name[600], lock[640];
static unsigned removals, tries; /* how often the other one comes yet, and how often the library locked */
static bool recreates;

/* In place of the C library's. */
int flock(int fd, int how)
{
    if (how == LOCK_UN)
        return (int)syscall(SYS_flock, fd, how);
    tries++;
    if (removals > 0) {
        removals--;
        T_EQ(unlink(lock), 0);
        if (recreates)
            T_EQ(close(open(lock, O_RDWR | O_CREAT | O_EXCL, 0666)), 0);
    }
    return (int)syscall(SYS_flock, fd, how);
}

static enum leat_status opened(unsigned times, struct leat_writer **w)
{
    struct leat_writer_options o = LEAT_WRITER_OPTIONS_INIT;

    o.vocabulary = 10;
    removals = times;
    tries = 0;
    *w = NULL;
    return leat_writer_open(w, name, &o, &t_err);
}

/* The lowest number that no open file has. */
static int free_number(void)
{
    int fd = dup(0);

    close(fd);
    return fd;
}

static void test_last_try(void)
{
    struct leat_writer *w, *other;

    T_OK(opened(TRIES - 1, &w));
    T_EQ(tries, TRIES);
    T_STATUS(opened(0, &other), LEAT_E_BUSY); /* the lock is held, in the file of that name */
    T_EQ(tries, 1);
    leat_writer_abandon(w);
    T_CHECK(access(lock, F_OK) != 0);
}

static void test_no_more_tries(void)
{
    int before = free_number();
    struct leat_writer *w;

    T_STATUS(opened(UINT32_MAX, &w), LEAT_E_BUSY);
    T_EQ(tries, TRIES);
    T_CHECK(!w);
    T_CONTAINS(t_err.message, ".partial.lock was removed each of the 1000 times that it was made: choose another name");
    T_EQ(free_number(), before);
    T_EQ(access(lock, F_OK) == 0, recreates); /* the other one's stays */

    T_OK(opened(0, &w));
    T_EQ(tries, 1);
    leat_writer_abandon(w);
}

int main(void)
{
    snprintf(name, sizeof name, "%s/d", t_folder());
    snprintf(lock, sizeof lock, "%s.partial.lock", name);
    for (unsigned i = 0; i < 2; i++) {
        recreates = i;
        test_last_try();
        test_no_more_tries();
    }
    return t_end();
}
