/*
 * test_killed_at_every_call.c: a writer that is killed before or after its 1st, 2nd, 3rd, ... system call, or whose
 * power is cut before it (support/power.h), leaves the old state, nothing that opens, or the new dataset whole; written
 * again, or resumed at its checkpoint, the bytes are those of an undisturbed run, and no other file is left.
 */
#include <signal.h>
#include <sys/wait.h>

#include "own_mounts.h"
#include "small.h"
#include "support/fault.h"
#include "support/power.h"

static const char *folder;
static char work[560];
static struct small fresh, old, reference;

/* ---- The child ---- */

static void write_straight(void)
{
    small_write(&fresh);
}

static void write_with_checkpoints(void)
{
    static const uint64_t places[] = { 0, 10, 25, 25, SMALL_DOCUMENTS };
    struct leat_writer *w;

    T_OK(small_open(&fresh, &w, &t_err));
    T_OK(small_begin(w, &t_err));
    for (unsigned i = 0; i + 1 < sizeof places / sizeof places[0]; i++) {
        T_OK(leat_writer_checkpoint(w, &places[i], sizeof places[i], &t_err));
        T_OK(small_documents(w, fresh.seed, places[i], places[i + 1], &t_err));
    }
    T_OK(leat_writer_finish(w, NULL, &t_err));
}

/* A run that ends at a checkpoint, resumed. */
static void write_and_resume(void)
{
    uint64_t done = 10;
    struct leat_writer *w;

    T_OK(small_open(&fresh, &w, &t_err));
    T_OK(small_begin(w, &t_err));
    T_OK(small_documents(w, fresh.seed, 0, done, &t_err));
    T_OK(leat_writer_checkpoint(w, &done, sizeof done, &t_err));
    T_OK(small_documents(w, fresh.seed, done, done + 5, &t_err));
    leat_writer_suspend(w);
    T_OK(small_resume(&fresh));
}

static void write_and_abandon(void)
{
    uint64_t done = 10;
    struct leat_writer *w;

    T_OK(small_open(&fresh, &w, &t_err));
    T_OK(small_documents(w, fresh.seed, 0, 0, &t_err));
    T_OK(leat_writer_checkpoint(w, &done, sizeof done, &t_err));
    leat_writer_abandon(w);
}

struct scenario {
    const char *what;
    void (*write)(void);
    bool checkpoints, replaces, abandons, without_renameat2;
};

static const struct scenario scenarios[] = {
    { "write", write_straight, false, false, false, false },
    { "replace", write_straight, false, true, false, false },
    { "write with checkpoints", write_with_checkpoints, true, false, false, false },
    { "replace with checkpoints", write_with_checkpoints, true, true, false, false },
    { "write, suspend, resume", write_and_resume, true, false, false, false },
    { "write, suspend, resume where renaming cannot refuse", write_and_resume, true, false, false, true },
    { "abandon", write_and_abandon, true, false, true, false },
    { "write where renaming cannot refuse", write_straight, false, false, false, true },
    { "write with checkpoints where renaming cannot refuse", write_with_checkpoints, true, false, false, true },
};

/* ---- Killing it ---- */

/* Whether the child was killed; else it came to its end. */
static bool killed(const struct scenario *s, enum fault_mode mode, uint64_t n)
{
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        t_failures = 0;
        if (mode == FAULT_POWER_CUT)
            power_watch(work, fresh.seed + n);
        fault_arm(FAULT_SYSTEM, mode, n, 0);
        s->write();
        fault_disarm();
        _exit(t_failures != 0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) {
        perror("fork");
        exit(1);
    }
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        return true;
    T_CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return false;
}

/* ---- What it leaves ---- */

static bool there(const char *suffix)
{
    return access(with(fresh.name, suffix), F_OK) == 0;
}

/* The old dataset, or nothing that opens, or the new one. */
static void check_opens(const struct scenario *s)
{
    enum leat_status status = verified(fresh.name);

    if (status != LEAT_OK)
        T_CHECK(t_err.message[0] != '\0' && !there(".leat"));
    else if (!same_dataset(fresh.name, reference.name))
        T_CHECK(s->replaces && same_dataset(fresh.name, old.name));
}

static void check_finished(void)
{
    T_CHECK(same_dataset(fresh.name, reference.name));
    T_STR(listing(work), "d.leat d.tokens");
}

/* Ways to go on. */

static void write_over(const struct scenario *s)
{
    (void)s;
    fresh.replace = true;
    small_write(&fresh);
    check_finished();
}

/* Without --force: what an unfinished run left is no obstacle, unless there is a checkpoint to lose. */
static void write_beside(const struct scenario *s)
{
    bool finished = there(".leat"), checkpoint = there(".partial.checkpoint");
    bool replaced = s->replaces && !finished && there(".tokens"); /* the old tokens without their index */
    struct leat_writer *w = NULL;
    enum leat_status status;

    if (finished || checkpoint)
        replaced = false;
    fresh.replace = false;
    status = small_open(&fresh, &w, &t_err);
    leat_writer_abandon(w);
    if (finished || checkpoint) {
        T_EQ(status, LEAT_E_EXISTS);
        return;
    }
    if (replaced && status == LEAT_E_EXISTS)
        return;
    T_EQ(status, LEAT_OK);
    small_write(&fresh);
    check_finished();
}

static void resume(const struct scenario *s)
{
    bool checkpoint = there(".partial.checkpoint"), finished = same_dataset(fresh.name, reference.name);
    enum leat_status status;

    fresh.replace = s->replaces;
    status = small_resume(&fresh);
    if (finished && status == LEAT_E_EXISTS) {
        /* without a checkpoint, rubbish beside the finished dataset stays until it is replaced */
        if (checkpoint)
            check_finished();
    } else if (checkpoint) {
        T_EQ(status, LEAT_OK);
        check_finished();
    } else {
        T_EQ(status, LEAT_E_CHECKPOINT);
        write_over(s);
    }
}

static uint64_t drawn; /* which calls */

static void (*const ways_on[])(const struct scenario *s) = { resume, write_over, write_beside };
#define WAYS (sizeof ways_on / sizeof ways_on[0])

static void kill_at_each_call(const struct scenario *s, enum fault_mode mode)
{
    static const char *const modes[] = {
        [FAULT_KILL_BEFORE] = "before", [FAULT_KILL_AFTER] = "after", [FAULT_POWER_CUT] = "by power cut before"
    };
    /* one way on after each kill, in turn: at a call each scenario has another one, and make check-every tries all.
     * After a call is the same as before the next one, but for what no call shows: every tenth call is tried, with one
     * way on. Where renaming cannot refuse, all but the renames is as in the scenarios before: also every tenth. A
     * power cut loses what is not synced, which is the same at two calls or more: every sixth. */
    unsigned ways = mode == FAULT_KILL_BEFORE && !s->abandons && t_every() ? WAYS : 1;
    uint64_t step = t_every()                                          ? 1
                    : mode == FAULT_KILL_AFTER || s->without_renameat2 ? 10
                    : mode == FAULT_POWER_CUT                          ? 6
                                                                       : 5,
             n;
    bool more = true;

    for (n = 1 + t_below(&drawn, step); more; n += step)
        for (unsigned way = 0; more && way < ways; way++) {
            unsigned way_on = mode == FAULT_KILL_AFTER || ways > 1 ? way : (n / step + (size_t)(s - scenarios)) % WAYS;
            int failures = t_failures;
            char left[4096];

            clear_folder(work);
            if (s->replaces)
                copy_dataset(old.name, fresh.name);
            fresh.replace = s->replaces;
            more = killed(s, mode, n);
            if (!more)
                break;
            snprintf(left, sizeof left, "%s", listing(work));
            check_opens(s);
            if (!s->abandons)
                ways_on[way_on](s);
            else
                write_over(s);
            if (t_failures > failures)
                fprintf(stderr, "  in \"%s\", killed %s call %" PRIu64 "; files: %s; way on %u\n", s->what, modes[mode],
                        n, left, way_on);
            if (t_failures > 20)
                exit(1);
        }
    T_CHECK(n > 30);
    if (!s->abandons)
        check_finished();
}

int main(int argc, char **argv)
{
    folder = memory_folder();
    snprintf(work, sizeof work, "%s/work", folder);
    make_folder(work);
    snprintf(fresh.name, sizeof fresh.name, "%s/d", work);
    snprintf(old.name, sizeof old.name, "%s/old", folder);
    snprintf(reference.name, sizeof reference.name, "%s/reference", folder);
    fresh.seed = reference.seed = t_seed();
    drawn = t_draw();
    old.seed = fresh.seed + 1;
    small_write(&old);
    small_write(&reference);
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
        if (argc > 1 && strcmp(argv[1], scenarios[i].what) != 0)
            continue;
        fault_file_system(scenarios[i].without_renameat2 ? FAULT_NO_RENAMEAT2 : 0);
        kill_at_each_call(&scenarios[i], FAULT_KILL_BEFORE);
        kill_at_each_call(&scenarios[i], FAULT_KILL_AFTER);
        kill_at_each_call(&scenarios[i], FAULT_POWER_CUT);
    }
    return t_end();
}
