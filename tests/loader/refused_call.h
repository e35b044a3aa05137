/* refused_call.h: a process in which the kernel refuses one system call, as it does in most containers. */
#ifndef LEAT_TESTS_LOADER_REFUSED_CALL_H
#define LEAT_TESTS_LOADER_REFUSED_CALL_H

#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>

#include "t.h"

#if defined(__linux__)
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

/* From here on, in this process, the call fails with `error`; false: there are no filters here. For good. */
static inline bool refuse_call(long number, unsigned error)
{
    struct sock_filter rules[] = { BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                                   BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
                                   BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
                                   BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
    struct sock_fprog program = { sizeof rules / sizeof rules[0], rules };

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}
#endif

/* The child's exit status is 0. */
static inline void expect_success(pid_t child)
{
    int status;

    T_CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

#endif
