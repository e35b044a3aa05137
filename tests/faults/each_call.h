/*
 * each_call.h: something is done again and again, each time with another allocation or system call of it failing, that
 * one alone or it and all after it: an error that says so, and nothing left allocated or open; or the answer of the
 * undisturbed run.
 */
#ifndef LEAT_TESTS_EACH_CALL_H
#define LEAT_TESTS_EACH_CALL_H

#include "support/fault.h"
#include "t.h"

/* What is done, with a `subject`: a name, or a text. Everything that it says goes into *answer. */
typedef enum leat_status each_call_run(const char *subject, uint64_t *answer, struct leat_error *err);

struct each_call {
    each_call_run *run;
    const char *subject;
    void (*prepare)(void); /* before each run; may be NULL */
    bool memory_only;      /* system calls do not fail */
    unsigned least;        /* so many calls must have failed */
};

static inline void each_call_answer(uint64_t *answer, const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        *answer = (*answer ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3u;
}

static inline void each_call_number(uint64_t *answer, uint64_t number)
{
    each_call_answer(answer, &number, sizeof number);
}

static inline void each_call_fail(const struct each_call *c, enum fault_kind kind, enum fault_mode mode, int os_error,
                                  uint64_t expected)
{
    int failures = t_failures;
    unsigned failed = 0;
    uint64_t n = 0;

    do {
        struct leat_error err = { .message = "" };
        uint64_t answer = 0;
        enum leat_status s;
        long allocations;
        unsigned files;

        if (c->prepare)
            c->prepare();
        allocations = fault_allocations();
        files = fault_open_files();
        fault_arm(kind, mode, ++n, os_error);
        s = c->run(c->subject, &answer, &err);
        fault_disarm();
        if (s == LEAT_OK)
            T_EQ(answer, expected);
        else
            T_CHECK(fault_failed() && err.status == s && err.message[0] &&
                    (kind != FAULT_MEMORY || s == LEAT_E_NO_MEMORY));
        failed += s != LEAT_OK;
        T_EQ(fault_allocations(), allocations);
        T_EQ(fault_open_files(), files);
        if (t_failures > failures) {
            fprintf(stderr, "  of %s: %s %" PRIu64 " (%s) failing %s: %s\n", c->subject,
                    kind == FAULT_MEMORY ? "allocation" : "call", n, fault_failed() ? fault_failed() : "none",
                    mode == FAULT_ONCE ? "once" : "from then on", s == LEAT_OK ? "no error" : err.message);
            return;
        }
    } while (fault_failed());
    fprintf(stderr, "%s: %u failures\n", c->subject, failed);
    T_CHECK(failed > 2 && n > c->least); /* the last one was not disturbed */
}

static inline void each_call_fails(const struct each_call *c)
{
    uint64_t expected = 0;

    if (c->prepare)
        c->prepare();
    T_OK(c->run(c->subject, &expected, &t_err));
    each_call_fail(c, FAULT_MEMORY, FAULT_ONCE, ENOMEM, expected);
    each_call_fail(c, FAULT_MEMORY, FAULT_FROM_THEN_ON, ENOMEM, expected);
    if (c->memory_only)
        return;
    each_call_fail(c, FAULT_SYSTEM, FAULT_ONCE, EIO, expected);
    each_call_fail(c, FAULT_SYSTEM, FAULT_FROM_THEN_ON, EIO, expected);
}

#endif
