/*
 * test_by_stage.c: the folder in which the datasets of several values are made is empty once it is open, whatever an
 * earlier run left in it, and whichever system call fails: else it is not open, and a sentence says why.
 */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arrange/splits/by_stage.h"
#include "support/fault.h"
#include "t.h"

static const char *const left[] = { "a.leat", "a.tokens", "b.leat", "b.tokens", "c.packed.tokens" };
#define LEFT (sizeof left / sizeof *left)

static const char *path_of(const char *folder, const char *file)
{
    static char path[700];

    snprintf(path, sizeof path, "%s/%s", folder, file);
    return path;
}

static void leave_files(const char *stage)
{
    if (mkdir(stage, 0777) != 0 && errno != EEXIST)
        T_FAIL("%s: %s", stage, strerror(errno));
    for (size_t i = 0; i < LEFT; i++) {
        FILE *f = fopen(path_of(stage, left[i]), "w");

        if (!f || fputs("left", f) < 0 || fclose(f) != 0)
            T_FAIL("%s: %s", left[i], strerror(errno));
    }
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

int main(void)
{
    const char *folder = t_folder();
    char output[560], stage[600];
    unsigned failed = 0;

    snprintf(output, sizeof output, "%s/out", folder);
    snprintf(stage, sizeof stage, "%s.partial.by", output);
    for (enum fault_mode mode = FAULT_ONCE; mode <= FAULT_FROM_THEN_ON; mode++)
        for (uint64_t n = 1; n == 1 || fault_failed(); n++) {
            try(output, stage, mode, n);
            failed += fault_failed() != NULL;
        }
    fprintf(stderr, "%u failures\n", failed);
    T_CHECK(failed > 40);
    return t_end();
}
