/*
 * test_pack_faults.c: leat_pack(), leat_packer_*() and leat_merge() with their 1st, 2nd, 3rd, ... allocation or system
 * call failing: an error with a sentence, no allocation and no open file left, no dataset that is not whole; and,
 * resumed (or merged again), the bytes of an undisturbed run. One thread, and two.
 */
#include "pack_scenarios.h"

static void check_failure(enum leat_status s, const struct leat_error *err)
{
    T_EQ(err->status, s);
    T_CHECK(err->message[0] != '\0');
    T_CHECK(s == LEAT_E_NO_MEMORY || s == LEAT_E_IO || s == LEAT_E_NO_SPACE || s == LEAT_E_EXISTS || s == LEAT_E_BUSY ||
            err->os_error != 0);
}

static void fail_one(const struct scenario *scenario, enum fault_kind kind, enum fault_mode mode, uint64_t n)
{
    struct leat_error err = { 0 };
    int failures = t_failures;
    long allocations;
    unsigned files;
    enum leat_status s;

    prepare(scenario);
    allocations = fault_allocations();
    files = fault_open_files();
    fault_arm(kind, mode, n, mode == FAULT_ONCE ? EIO : ENOSPC);
    s = run(scenario, &err);
    fault_disarm();
    T_EQ(fault_allocations(), allocations);
    T_EQ(fault_open_files(), files);
    if (s == LEAT_OK)
        T_CHECK(whole(scenario));
    else
        check_failure(s, &err);
    check_opens(scenario);
    go_on(scenario);
    if (t_failures > failures)
        fprintf(stderr, "  in \"%s\", %s %" PRIu64 " failing %s (%s); status %s: %s\n", scenario->what,
                kind == FAULT_MEMORY ? "allocation" : "system call", n, mode == FAULT_ONCE ? "once" : "from then on",
                fault_failed() ? fault_failed() : "none", leat_status_name(s), s == LEAT_OK ? "" : err.message);
}

static void fail_each(const struct scenario *s, enum fault_kind kind)
{
    uint64_t calls = calls_of(s, kind);

    for (uint64_t n = 1; n <= calls; n = next_call(n, calls)) {
        fail_one(s, kind, FAULT_ONCE, n);
        fail_one(s, kind, FAULT_FROM_THEN_ON, n);
        if (t_failures > 20)
            exit(1);
    }
}

/* Each thread that cannot be begun: without the first there is an error, without another the rest do the work. In a
 * container it is mostly the control group that refuses, which the error did not name. */
static void fail_threads(const struct scenario *s)
{
    for (unsigned n = 1; n <= s->threads; n++) {
        enum leat_status status;

        prepare(s);
        fault_arm_call("pthread_create", FAULT_ONCE, n, EAGAIN);
        status = run(s, &t_err);
        fault_disarm();
        T_CHECK(fault_failed() != NULL);
        T_CHECK(n > 1 ? status == LEAT_OK && whole(s) : status != LEAT_OK);
        if (n == 1)
            T_CONTAINS(t_err.message, "pids.max");
    }
}

/* Half transfers and interrupted calls do not show at all. */
static void disturb(const struct scenario *s)
{
    for (enum fault_mode mode = FAULT_SHORT; mode <= FAULT_INTERRUPT; mode++) {
        prepare(s);
        fault_arm(FAULT_SYSTEM, mode, 1, EIO);
        T_OK(run(s, &t_err));
        fault_disarm();
        T_CHECK(whole(s));
    }
}

static void try(const struct scenario *s)
{
    fail_each(s, FAULT_MEMORY);
    fail_each(s, FAULT_SYSTEM);
    if (s->threads > 1)
        fail_threads(s);
    disturb(s);
}

int main(int argc, char **argv)
{
    make_scenarios();
    try_scenarios(argc > 1 ? argv[1] : NULL, try);
    return t_end();
}
