/*
 * test_direct_faults.c: tokens written past the page cache, on the disk of the test's folder. Whatever call fails, with
 * a full disk's errno too, or ends the process, before it or after: there is an error with a sentence, or the dataset;
 * and what a checkpoint holds goes on to the bytes of a run through the page cache. Writes that are cut short or
 * interrupted change nothing, and neither does a child that ends its copy of the writer.
 */
#include <signal.h>
#include <sys/wait.h>

#include "one_document.h"
#include "private.h"
#include "small.h"
#include "support/fault.h"

#define DOCUMENTS  20u
#define CHECKPOINT 12u
#define LENGTH     60001u /* so that no frame of 1 MiB ends where a document does */

static const char *folder;
static char name[600], reference[600];
static uint16_t ids[LENGTH];
static uint64_t drawn;

static struct leat_writer_options options(void)
{
    struct leat_writer_options o = LEAT_WRITER_OPTIONS_INIT;

    o.vocabulary = 65536;
    o.force = 1;
    return o;
}

static enum leat_status add(struct leat_writer *w, unsigned from, unsigned to)
{
    enum leat_status s = LEAT_OK;

    for (unsigned k = from; s == LEAT_OK && k < to; k++) {
        ids[0] = (uint16_t)k;
        s = add_one_document(w, ids, 2, NULL, LENGTH, NULL, &t_err);
    }
    return s;
}

/* Writes on from document `from`; on failure what the checkpoint holds stays. */
static enum leat_status go_on(struct leat_writer *w, unsigned from)
{
    enum leat_status s = from < CHECKPOINT ? add(w, from, CHECKPOINT) : LEAT_OK;

    if (s == LEAT_OK && from < CHECKPOINT)
        s = leat_writer_checkpoint(w, "note", 4, &t_err);
    if (s == LEAT_OK)
        s = add(w, from < CHECKPOINT ? CHECKPOINT : from, DOCUMENTS);
    if (s == LEAT_OK)
        s = leat_writer_finish(w, NULL, &t_err);
    if (s != LEAT_OK)
        leat_writer_suspend(w);
    return s;
}

static enum leat_status write_all(bool direct)
{
    struct leat_writer_options o = options();
    struct leat_writer *w;
    enum leat_status s = leat_writer_open(&w, name, &o, &t_err);

    if (s == LEAT_OK)
        leat_writer_write_direct(w, direct);
    return s == LEAT_OK ? go_on(w, 0) : s;
}

/* Resumes what is there, or starts anew, without faults. */
static void mend(void)
{
    struct leat_writer_options o = options();
    struct leat_writer *w;
    enum leat_status s = leat_writer_resume(&w, name, &o, NULL, NULL, &t_err);

    if (s == LEAT_OK) {
        leat_writer_write_direct(w, 1);
        T_EQ(leat_writer_documents(w), CHECKPOINT);
        T_OK(go_on(w, CHECKPOINT));
    } else if (s != LEAT_E_EXISTS) { /* it was finished */
        T_EQ(s, LEAT_E_CHECKPOINT);
        T_OK(write_all(true));
    }
    T_CHECK(same_dataset(name, reference));
}

/* Every `step`-th call fails, in a run of its own. */
static void fail_each(int os_error, enum fault_mode mode, unsigned step)
{
    const char *failed = "";

    for (uint64_t n = 1 + t_below(&drawn, step); failed; n += step) {
        enum leat_status s;

        fault_arm(FAULT_SYSTEM, mode, n, os_error);
        s = write_all(true);
        fault_disarm();
        failed = fault_failed();
        if (s != LEAT_OK) {
            T_CHECK(failed != NULL && t_err.status == s && t_err.message[0]);
            if (failed && strcmp(failed, "pwrite") == 0)
                T_EQ(s, os_error == ENOSPC ? LEAT_E_NO_SPACE : LEAT_E_IO);
        } else {
            T_CHECK(!failed || strcmp(failed, "pwrite") != 0);
        }
        mend();
    }
}

/* The process is killed at every `step`-th call. The state after a call is that before the next one, unless the effect
 * of a call is invisible to later calls. */
static void kill_at_each(enum fault_mode mode, unsigned step)
{
    int status = 0;
    bool killed = true;

    for (uint64_t n = 1 + t_below(&drawn, step); killed; n += step) {
        pid_t child = fork();

        if (child == 0) {
            fault_arm(FAULT_SYSTEM, mode, n, 0);
            _exit(write_all(true) != LEAT_OK);
        }
        T_EQ(waitpid(child, &status, 0), child);
        killed = WIFSIGNALED(status);
        T_CHECK(killed || WEXITSTATUS(status) == 0);
        mend();
    }
}

/* What a child does with its copy of the writer does not hang, and the parent's goes on. */
static void end_in_child(void)
{
    struct leat_writer_options o = options();
    struct leat_writer *w;
    int status = 0;
    pid_t child;

    T_OK(leat_writer_open(&w, name, &o, &t_err));
    leat_writer_write_direct(w, 1);
    T_OK(add(w, 0, CHECKPOINT));
    child = fork();
    if (child == 0) {
        leat_writer_abandon(w);
        _exit(0);
    }
    T_EQ(waitpid(child, &status, 0), child);
    T_EQ(status, 0);
    T_OK(add(w, CHECKPOINT, DOCUMENTS));
    T_OK(leat_writer_finish(w, NULL, &t_err));
    T_CHECK(same_dataset(name, reference));
}

static void disturb(enum fault_mode mode)
{
    fault_arm(FAULT_SYSTEM, mode, 1, 0);
    T_OK(write_all(true));
    fault_disarm();
    T_CHECK(same_dataset(name, reference));
}

/* A file system that opens files for direct writes and then refuses these: the rest goes through the page cache. The
 * first write is a direct one, where there are any. */
static void refuse_direct(void)
{
    int fd;

    fd = open(t_text("%s.tokens", reference), O_WRONLY | O_DIRECT);
    if (fd < 0)
        return;
    close(fd);
    fault_arm_call("pwrite", FAULT_ONCE, 1, EINVAL);
    T_OK(write_all(true));
    fault_disarm();
    T_STR(fault_failed(), "pwrite");
    T_CHECK(same_dataset(name, reference));
}

int main(void)
{
    uint64_t random = t_seed();

    drawn = t_draw();
    folder = t_disk_folder();
    snprintf(reference, sizeof reference, "%s/reference", folder);
    snprintf(name, sizeof name, "%s", reference);
    for (unsigned i = 0; i < LENGTH; i++)
        ids[i] = (uint16_t)t_random(&random);
    T_OK(write_all(false));
    snprintf(name, sizeof name, "%s/d", folder);
    T_OK(write_all(true));
    T_CHECK(same_dataset(name, reference));
    disturb(FAULT_SHORT);
    disturb(FAULT_INTERRUPT);
    refuse_direct();
    end_in_child();
    fail_each(ENOSPC, FAULT_FROM_THEN_ON, t_step(5));
    fail_each(EIO, FAULT_ONCE, t_step(4));
    kill_at_each(FAULT_KILL_BEFORE, t_step(5));
    kill_at_each(FAULT_KILL_AFTER, t_step(7));
    return t_end();
}
