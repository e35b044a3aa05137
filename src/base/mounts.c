#include "mounts.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "status.h"

#define FIRST_PAUSE_NS ((uint64_t)10000000)
#define MAX_PAUSE_NS   ((uint64_t)5000000000)
#define LOOK_NS        ((uint64_t)50000000) /* how often `waiting` is called */

/* ---- The mutex --------------------------------------------------------------------------------------------------- */

static void make_mutex(struct mounts *m)
{
    pthread_condattr_t clock;

    pthread_mutex_init(&m->mutex, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&m->changed, &clock);
    pthread_condattr_destroy(&clock);
    m->threads = NULL;
}

/* Makes the mutex anew in a child of fork(). Another thread of the parent may have held it, or waited, and the child
 * has none of these threads. */
static void take_over(struct mounts *m)
{
    int self = (int)getpid(), owner;

    while ((owner = atomic_load(&m->owner)) != self)
        if (owner == -self) {
            sched_yield();
        } else if (atomic_compare_exchange_strong(&m->owner, &owner, -self)) {
            make_mutex(m);
            atomic_store(&m->owner, self);
        }
}

static void lock(struct mounts *m)
{
    take_over(m);
    pthread_mutex_lock(&m->mutex);
}

/* Returns how many seconds to try again if no number is given: the variable LEAT_RETRY_SECONDS, else
 * MOUNTS_USUAL_SECONDS. */
static uint32_t mounts_usual_seconds(void)
{
    const char *text = getenv("LEAT_RETRY_SECONDS");
    char *end;
    unsigned long seconds = text && *text ? strtoul(text, &end, 10) : MOUNTS_USUAL_SECONDS;

    if (text && *text && *end)
        return MOUNTS_USUAL_SECONDS;
    return seconds == 0 ? LEAT_RETRY_NEVER : seconds < LEAT_RETRY_NEVER ? (uint32_t)seconds : LEAT_RETRY_NEVER - 1;
}

void mounts_open(struct mounts *m, const struct leat_open_options *how)
{
    *m = (struct mounts) { .seconds = how->retry_seconds ? how->retry_seconds : mounts_usual_seconds(),
                           .waiting = how->waiting,
                           .context = how->waiting_context };
    folder_note(&m->home);
    make_mutex(m);
    atomic_init(&m->owner, (int)getpid());
}

void mounts_close(struct mounts *m)
{
    folder_free(&m->home);
    take_over(m);
    pthread_cond_destroy(&m->changed);
    pthread_mutex_destroy(&m->mutex);
}

/* ---- What lies where ---- */

unsigned mounts_system(struct mounts *m, dev_t device, int fd)
{
    unsigned system, i;

    if (!m)
        return file_system_of(fd);
    lock(m);
    for (i = 0; i < m->known_count && m->known[i].device != device; i++)
        ;
    system = i < m->known_count ? m->known[i].system : file_system_of(fd);
    if (i == m->known_count && i < MOUNTS_KNOWN) {
        m->known[i].device = device;
        m->known[m->known_count++].system = system;
    }
    pthread_mutex_unlock(&m->mutex);
    return system;
}

/* ---- Trying again ---- */

bool mounts_may_pass(int error)
{
    return error == EIO || error == ESTALE || error == ETIMEDOUT || error == ESHUTDOWN || error == ENOTCONN;
}

bool mounts_lost(int error)
{
    return error == ESTALE || error == ESHUTDOWN || error == ENOTCONN;
}

static const struct mounts_thread *own_entry(const struct mounts *m)
{
    const struct mounts_thread *g = m->threads;

    while (g && !pthread_equal(g->thread, pthread_self()))
        g = g->next;
    return g;
}

/* Waits until `end`, in steps if a callback or thread has to be asked. Returns false if the wait was ended early. */
static bool wait_until(struct mounts *m, uint64_t end)
{
    const struct mounts_thread *thread;
    char why[sizeof m->why];
    bool stopped = false;
    uint64_t now;

    lock(m);
    thread = own_entry(m);
    while (!stopped && (now = clock_ns()) < end) {
        uint64_t until = !thread && m->waiting && end - now > LOOK_NS ? now + LOOK_NS : end;
        struct timespec at = { (time_t)(until / 1000000000u), (long)(until % 1000000000u) };

        stopped = thread && atomic_load(thread->stop);
        if (!stopped)
            pthread_cond_timedwait(&m->changed, &m->mutex, &at);
        if (!thread && m->waiting) {
            memcpy(why, m->why, sizeof why);
            pthread_mutex_unlock(&m->mutex);
            stopped = m->waiting(m->context, why) != 0;
            lock(m);
        }
    }
    stopped |= thread && atomic_load(thread->stop);
    pthread_mutex_unlock(&m->mutex);
    return !stopped;
}

static void note(struct mounts *m, uint64_t seconds, const struct leat_error *why)
{
    lock(m);
    snprintf(m->why, sizeof m->why, "%s; leat tries again, for %llu s", why->message, (unsigned long long)seconds);
    m->unsaid = true;
    pthread_mutex_unlock(&m->mutex);
}

void mounts_worked(struct mounts *m, const struct mounts_tries *t)
{
    if (!m || t->count == 0)
        return;
    lock(m);
    m->spent_ns = 0;
    pthread_mutex_unlock(&m->mutex);
}

/* Returns how much of the time for tries is spent when a call begins to fail. */
static uint64_t spent(struct mounts *m, uint64_t now, uint64_t limit)
{
    uint64_t ns;

    lock(m);
    if (now - m->failed_ns >= limit)
        m->spent_ns = 0;
    ns = m->spent_ns < limit ? m->spent_ns : limit;
    m->failed_ns = now;
    pthread_mutex_unlock(&m->mutex);
    return ns;
}

static void spend(struct mounts *m, uint64_t now, uint64_t ns)
{
    lock(m);
    m->spent_ns = ns > m->spent_ns ? ns : m->spent_ns;
    m->failed_ns = now;
    pthread_mutex_unlock(&m->mutex);
}

bool mounts_again(struct mounts *m, struct mounts_tries *t, bool remote, enum leat_status *s, struct leat_error *why)
{
    uint32_t seconds = m ? m->seconds : MOUNTS_USUAL_SECONDS;
    uint64_t now = clock_ns(), limit = seconds * (uint64_t)1000000000, end;

    if (*s == LEAT_E_STOPPED || seconds == LEAT_RETRY_NEVER || !mounts_may_pass(why->os_error))
        return false;
    if (t->count++ == 0) {
        t->began_ns = now - (m && remote ? spent(m, now, limit) : 0);
        t->pause_ns = FIRST_PAUSE_NS;
        if (m && remote)
            note(m, seconds, why);
    }
    if (m)
        atomic_fetch_add(&m->retries, 1);
    if (!m || !remote)
        return t->count == 1;
    spend(m, now, now - t->began_ns);
    if (now - t->began_ns >= limit) {
        if (t->count == 1)
            return true;
        status_after(why, " (tried %u times in %u s)", t->count, seconds);
        return false;
    }
    end = now + t->pause_ns < t->began_ns + limit ? now + t->pause_ns : t->began_ns + limit;
    t->pause_ns = 2 * t->pause_ns < MAX_PAUSE_NS ? 2 * t->pause_ns : MAX_PAUSE_NS;
    if (wait_until(m, end))
        return true;
    *s = why->status = status_before(why, LEAT_E_STOPPED, "stopped while leat waited for a file system");
    return false;
}

/* ---- Those that wait ---- */

void mounts_add_thread(struct mounts *m, struct mounts_thread *thread, const atomic_bool *stop)
{
    lock(m);
    *thread = (struct mounts_thread) { pthread_self(), stop, m->threads };
    m->threads = thread;
    pthread_mutex_unlock(&m->mutex);
}

void mounts_remove_thread(struct mounts *m, struct mounts_thread *thread)
{
    struct mounts_thread **at = &m->threads;

    lock(m);
    while (*at && *at != thread)
        at = &(*at)->next;
    if (*at)
        *at = thread->next;
    pthread_mutex_unlock(&m->mutex);
}

void mounts_wake(struct mounts *m)
{
    lock(m);
    pthread_cond_broadcast(&m->changed);
    pthread_mutex_unlock(&m->mutex);
}

bool mounts_notice(struct mounts *m, char *text, size_t capacity)
{
    bool unsaid;

    lock(m);
    unsaid = m->unsaid;
    m->unsaid = false;
    if (unsaid)
        snprintf(text, capacity, "%s", m->why);
    pthread_mutex_unlock(&m->mutex);
    return unsaid;
}
