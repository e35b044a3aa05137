/*
 * test_by_stage.c: the folder in which the datasets of several values are made is empty once it is open, whatever an
 * earlier run left in it, and whichever system call fails: else it is not open, and a sentence says why. All datasets
 * get their names, or, whichever rename or sync fails, none does.
 */
#include "arrange/splits/by_stage.h"
#include "support/fault.h"
#include "t.h"

static const char *const left[] = { "a.leat", "a.tokens", "b.leat", "b.tokens", "c.packed.tokens" };
#define LEFT (sizeof left / sizeof *left)

static const char *path_of(const char *folder, const char *file)
{
    return t_path(folder, file);
}

static void write_file(const char *path)
{
    FILE *f = fopen(path, "w");

    if (!f || fputs("left", f) < 0 || fclose(f) != 0)
        T_FAIL("%s: %s", path, strerror(errno));
}

static void leave_files(const char *stage)
{
    if (mkdir(stage, 0777) != 0 && errno != EEXIST)
        T_FAIL("%s: %s", stage, strerror(errno));
    for (size_t i = 0; i < LEFT; i++)
        write_file(path_of(stage, left[i]));
}

static void try(const char *output, const char *stage, enum fault_mode mode, uint64_t n)
{
    struct leat_error err = { .message = "" };
    long allocations = fault_allocations();
    unsigned files = fault_open_files();
    struct by_stage s;
    enum leat_status status;

    leave_files(stage);
    fault_arm(FAULT_SYSTEM, mode, n, EIO);
    status = by_stage_open(&s, output, &err);
    fault_disarm();
    if (status != LEAT_OK && (!fault_failed() || err.status != status || !strstr(err.message, output)))
        T_FAIL("call %u (%s) failed: %s: %s", (unsigned)n, fault_failed(), leat_status_name(status), err.message);
    for (size_t i = 0; status == LEAT_OK && i < LEFT; i++)
        if (access(path_of(stage, left[i]), F_OK) == 0)
            T_FAIL("%s is still there after call %u (%s) failed", left[i], (unsigned)n, fault_failed());
    by_stage_close(&s);
    T_EQ(fault_allocations(), allocations);
    T_EQ(fault_open_files(), files);
}

/* Two datasets get their names, in place of others or not. The tokens of those others may stay, without an index. */
static void try_commit(const char *folder, const char *call, uint64_t n, bool replace)
{
    static const char *const finals[] = { "by/out.a.leat", "by/out.a.tokens", "by/out.b.leat", "by/out.b.tokens" };
    struct leat_error err = { .message = "" };
    unsigned named = 0, indexes = 0;
    struct by_stage s;
    enum leat_status status;
    const char *output = t_text("%s/by/out", folder);
    const char *stage = t_text("%s.partial.by", output);

    for (size_t i = 0; replace && i < 4; i++)
        write_file(t_path(folder, finals[i]));
    T_OK(by_stage_open(&s, output, &t_err));
    for (unsigned i = 0; i < 4; i++) {
        if (i % 2 == 0)
            T_OK(by_stage_add(&s, i == 0 ? "a" : "b", replace, &t_err));
        write_file(t_path(stage, left[i]));
    }
    fault_arm_call(call, FAULT_ONCE, n, EIO);
    status = by_stage_commit(&s, replace, &err);
    fault_disarm();
    for (size_t i = 0; i < 4; i++)
        named += access(t_path(folder, finals[i]), F_OK) == 0;
    for (size_t i = 0; i < 4; i += 2)
        indexes += access(t_path(folder, finals[i]), F_OK) == 0;
    if (fault_failed() ? status != LEAT_E_IO || err.status != status || (replace ? indexes : named) > 0
                       : status != LEAT_OK || named != 4)
        T_FAIL("%s %u, replacing %d: %s: %s; %u files have names, %u of them indexes", call, (unsigned)n, replace,
               leat_status_name(status), err.message, named, indexes);
    by_stage_close(&s);
    for (size_t i = 0; i < 4; i++)
        unlink(t_path(folder, finals[i]));
    T_CHECK(access(stage, F_OK) != 0);
}

int main(void)
{
    const char *folder = t_folder();
    unsigned failed = 0;
    const char *output = t_text("%s/out", folder);
    const char *stage = t_text("%s.partial.by", output);

    for (enum fault_mode mode = FAULT_ONCE; mode <= FAULT_FROM_THEN_ON; mode++)
        for (uint64_t n = 1; n == 1 || fault_failed(); n++) {
            try(output, stage, mode, n);
            failed += fault_failed() != NULL;
        }
    fprintf(stderr, "%u failures\n", failed);
    T_CHECK(failed > 40);
    T_EQ(mkdir(path_of(folder, "by"), 0777), 0);
    failed = 0;
    for (unsigned i = 0; i < 6; i++) {
        const char *call = (const char *[]) { "renameat2", "rename", "fsync" }[i % 3];

        for (uint64_t n = 1; n == 1 || fault_failed(); n++) {
            try_commit(folder, call, n, i >= 3);
            failed += fault_failed() != NULL;
        }
    }
    T_EQ(failed, 4 + 2 + 4 + 3); /* renames of each kind, and syncs: after each of two steps or three */
    return t_end();
}
