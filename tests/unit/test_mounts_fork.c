/*
 * test_mounts_fork.c: a process that is forked while another thread holds the mutex of a dataset's mounts (mounts.h),
 * or waits for a file system, can open loaders of that dataset and close both: it has no use for the threads of its
 * parent, nor for what these have noted. Several threads of the child may be the first to ask.
 */
#include <sys/wait.h>

#include "base/mounts.h"
#include "t.h"

#define THREADS 8

static struct mounts mounts;
static bool waits, may_go; /* with the mutex */

/* As a thread that waits for a file system does. */
static void *wait_for_ever(void *context)
{
    struct mounts_thread thread;
    static const atomic_bool never;

    (void)context;
    mounts_add_thread(&mounts, &thread, &never);
    pthread_mutex_lock(&mounts.mutex);
    waits = true;
    while (!may_go)
        pthread_cond_wait(&mounts.changed, &mounts.mutex);
    pthread_mutex_unlock(&mounts.mutex);
    mounts_remove_thread(&mounts, &thread);
    return NULL;
}

static void *come_and_go(void *context)
{
    struct mounts_thread thread;
    static const atomic_bool never;

    (void)context;
    mounts_add_thread(&mounts, &thread, &never);
    mounts_wake(&mounts);
    mounts_remove_thread(&mounts, &thread);
    return NULL;
}

static void in_child(void)
{
    unsigned count = T_SANITIZED ? 0 : THREADS; /* ThreadSanitizer starts none in a child of several threads */
    pthread_t threads[THREADS];
    char text[300];

    t_failures = 0;
    for (unsigned i = 0; i < count; i++)
        T_EQ(pthread_create(&threads[i], NULL, come_and_go, NULL), 0);
    for (unsigned i = 0; i < count; i++)
        T_EQ(pthread_join(threads[i], NULL), 0);
    come_and_go(NULL);
    T_CHECK(!mounts.threads);
    T_CHECK(!mounts_notice(&mounts, text, sizeof text));
    mounts_close(&mounts);
    _exit(t_failures != 0);
}

/* In a child that has asked for nothing, either. */
static void close_in_child(void)
{
    mounts_close(&mounts);
    _exit(0);
}

int main(void)
{
    struct leat_open_options how = LEAT_OPEN_OPTIONS_INIT;
    void (*const children[])(void) = { in_child, close_in_child };
    pthread_t thread;
    int status;

    mounts_open(&mounts, &how);
    T_EQ(pthread_create(&thread, NULL, wait_for_ever, NULL), 0);
    for (bool is_there = false; !is_there;) {
        pthread_mutex_lock(&mounts.mutex);
        is_there = waits;
        pthread_mutex_unlock(&mounts.mutex);
    }
    for (unsigned i = 0; i < 2; i++) {
        pid_t child;

        pthread_mutex_lock(&mounts.mutex);
        child = fork();
        if (child == 0)
            children[i]();
        pthread_mutex_unlock(&mounts.mutex);
        T_CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    T_CHECK(mounts.threads && !mounts.threads->next); /* the parent's thread goes on */
    pthread_mutex_lock(&mounts.mutex);
    may_go = true;
    pthread_mutex_unlock(&mounts.mutex);
    mounts_wake(&mounts);
    T_EQ(pthread_join(thread, NULL), 0);
    T_CHECK(!mounts.threads);
    mounts_close(&mounts);
    return t_end();
}
