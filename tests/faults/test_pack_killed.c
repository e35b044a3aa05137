/*
 * test_pack_killed.c: leat_pack(), leat_packer_*() and leat_merge() killed at their 1st, 2nd, 3rd, ... system call, or
 * the power cut there: no dataset that is not whole; and, resumed (or merged again), the bytes of an undisturbed run,
 * rejects included, with nothing left beside them. One thread, and two. Resuming is killed, too, where it removes
 * datasets that had got their names.
 */
#include <signal.h>
#include <sys/wait.h>

#include "pack_scenarios.h"
#include "support/power.h"

#define REMOVING 16 /* at most so many calls are between the first of these to be removed, and the last */

/* True: it came to be killed. */
static bool killed(const struct scenario *s, enum fault_mode mode, uint64_t n, bool resume)
{
    pid_t child = fork();
    int status = 0;

    if (child == 0) {
        if (mode == FAULT_POWER_CUT)
            power_watch(work, seed + n);
        fault_arm(FAULT_SYSTEM, mode, n, 0);
        _exit((resume ? pack_to(name, s, true, LEAT_NONE, &t_err) : run(s, &t_err)) != LEAT_OK);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) {
        perror("fork");
        exit(1);
    }
    T_CHECK(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 0);
    return WIFSIGNALED(status);
}

/* A run by values that is killed before call n, and killed again before call `again` of the run that resumes it. True:
 * one of its datasets has its name then, beside what is to be divided. */
static bool named_after(const struct scenario *s, uint64_t n, uint64_t again)
{
    const char *first = t_text("%s.x.leat", name);

    prepare(s);
    killed(s, FAULT_KILL_BEFORE, n, false);
    if (again > 0)
        killed(s, FAULT_KILL_BEFORE, again, true);
    return access(first, F_OK) == 0 && access(with(name, ".partial.packed/all.leat"), F_OK) == 0;
}

/* What is resumed first removes the datasets that had got their names; it is killed at each call of that. */
static void kill_twice(const struct scenario *s)
{
    uint64_t n = calls_of(s, FAULT_SYSTEM), again = 0;

    while (n > 1 && !named_after(s, n, 0))
        n--;
    while (n > 1 && named_after(s, n, again))
        again += REMOVING;
    T_CHECK(again > 0);
    for (uint64_t k = again - REMOVING; k <= again + REMOVING; k++) {
        named_after(s, n, k);
        check_opens(s);
        go_on(s);
        if (t_failures > 0)
            exit(1);
    }
}

static void kill_one(const struct scenario *s, enum fault_mode mode, uint64_t n)
{
    int failures = t_failures;

    prepare(s);
    killed(s, mode, n, false);
    check_opens(s);
    go_on(s);
    if (t_failures > failures)
        fprintf(stderr, "  in \"%s\", %s system call %" PRIu64 "\n", s->what,
                mode == FAULT_KILL_BEFORE ? "killed before" : "power cut before", n);
}

static void kill_at_each(const struct scenario *s)
{
    uint64_t calls = calls_of(s, FAULT_SYSTEM);

    for (uint64_t n = 1; n <= calls; n = next_call(n, calls)) {
        kill_one(s, FAULT_KILL_BEFORE, n);
        if (s->threads == 1) /* power.h sees one thread's calls */
            kill_one(s, FAULT_POWER_CUT, n);
        if (t_failures > 20)
            exit(1);
    }
}

static void try(const struct scenario *s)
{
    kill_at_each(s);
    if (s->by == BY_VALUES)
        kill_twice(s);
}

int main(int argc, char **argv)
{
    make_scenarios();
    try_scenarios(argc > 1 ? argv[1] : NULL, try);
    return t_end();
}
