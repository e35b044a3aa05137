/*
 * test_plan_memory.c: whichever allocation or system call fails while a plan is opened: an error that says so, and
 * nothing left allocated or open; or the plan of the undisturbed run.
 */
#include <errno.h>

#include "support/fault.h"
#include "t.h"

static char text[4096];

static void write_dataset(const char *path, uint64_t documents)
{
    struct leat_writer_options options = LEAT_WRITER_OPTIONS_INIT;
    static const uint16_t ids[100];
    struct leat_writer *w;

    options.vocabulary = 65536;
    T_OK(leat_writer_open(&w, path, &options, &t_err));
    for (uint64_t i = 0; i < documents; i++)
        T_OK(leat_writer_add_u16(w, ids, 100, NULL, &t_err));
    T_OK(leat_writer_finish(w, NULL, &t_err));
}

/* A hash of what the plan answers; the plan is closed. */
static uint64_t answers(struct leat_plan *plan)
{
    struct leat_sample samples[64];
    uint64_t hash = 0, got;

    for (uint64_t first = 0; first < 6400; first += 64) {
        T_OK(leat_plan_samples(plan, first, 64, samples, &got, &t_err));
        for (uint64_t i = 0; i < got; i++)
            hash = (hash ^ samples[i].token ^ (uint64_t)samples[i].source << 32) * 0x100000001b3u;
    }
    leat_plan_close(plan);
    return hash;
}

static void test_faults(enum fault_kind kind, enum fault_mode mode, int os_error, uint64_t expected)
{
    long allocations = fault_allocations();
    unsigned files = fault_open_files(), failed = 0;

    for (uint64_t n = 1;; n++) {
        struct leat_error err = { .message = "" };
        struct leat_plan *plan;
        enum leat_status s;

        fault_arm(kind, mode, n, os_error);
        s = leat_plan_parse(&plan, text, strlen(text), "plan", NULL, &err);
        fault_disarm();
        if (s == LEAT_OK)
            T_EQ(answers(plan), expected);
        else
            T_CHECK(plan == NULL && err.message[0] && (kind != FAULT_MEMORY || s == LEAT_E_NO_MEMORY));
        failed += s != LEAT_OK;
        T_EQ(fault_allocations(), allocations);
        T_EQ(fault_open_files(), files);
        if (!fault_failed() || t_failures)
            break;
    }
    fprintf(stderr, "%u failures\n", failed);
    T_CHECK(failed > 5);
}

int main(void)
{
    const char *folder = t_folder();
    struct leat_plan *plan;
    uint64_t expected;

    write_dataset(t_path(folder, "a"), 50);
    write_dataset(t_path(folder, "b"), 7);
    snprintf(
        text, sizeof text,
        "leat plan 1\nsource %s:0.5\nsource %s/b:0.2:3\nsource %s/a:1\nseq-len 16\nbase-len 32\nat 640:1,1:len=32\n"
        "at 1280:1,2,3\nskip 5:6\nsplit x=0.8,y=0.2\nuse x\n",
        folder, folder, folder);
    T_OK(leat_plan_parse(&plan, text, strlen(text), "plan", NULL, &t_err));
    expected = answers(plan);
    test_faults(FAULT_MEMORY, FAULT_ONCE, ENOMEM, expected);
    test_faults(FAULT_MEMORY, FAULT_FROM_THEN_ON, ENOMEM, expected);
    test_faults(FAULT_SYSTEM, FAULT_ONCE, EIO, expected);
    test_faults(FAULT_SYSTEM, FAULT_FROM_THEN_ON, EIO, expected);
    return t_end();
}
