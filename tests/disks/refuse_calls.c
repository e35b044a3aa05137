/*
 * refuse_calls.c: runs a program as containers do: the kernel refuses named system calls. With EIO, as on a disk that
 * fails.
 *
 *     refuse_calls EPERM|ENOSYS|EIO CALL,CALL,... PROGRAM ARGUMENT...
 *
 * A call that this machine does not have is passed over. `newer` stands for all calls that came with Linux 5.1 and
 * after it, which have the same numbers on all machines: what a profile of 2018 does not know. Exit code 77: no
 * filters here; 2: wrong arguments.
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__linux__)

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#define FIRST_NEWER 424 /* pidfd_send_signal */
#define MAX_CALLS   64

struct call {
    const char *name;
    long number;
};

#define CALL(name) { #name, SYS_##name },
/* clang-format off */
static const struct call calls[] = {
    CALL(fadvise64) CALL(fallocate) CALL(flock) CALL(getcpu) CALL(getrandom)
    CALL(getrusage) CALL(madvise) CALL(mbind) CALL(memfd_create) CALL(mincore)
    CALL(mlock) CALL(prctl) CALL(preadv2) CALL(prlimit64) CALL(readahead)
    CALL(renameat2) CALL(linkat) CALL(sched_getaffinity) CALL(sched_setaffinity) CALL(sync_file_range)
    CALL(sysinfo) CALL(statfs) CALL(fstatfs) CALL(fsync) CALL(eventfd2)
    CALL(get_mempolicy) CALL(set_mempolicy)
#if defined(SYS_link)
    CALL(link) CALL(rename)
#endif
#if defined(SYS_statx)
    CALL(statx)
#endif
#if defined(SYS_copy_file_range)
    CALL(copy_file_range)
#endif
#if defined(SYS_membarrier)
    CALL(membarrier)
#endif
#if defined(SYS_rseq)
    CALL(rseq)
#endif
#if defined(SYS_io_uring_setup)
    CALL(io_uring_setup) CALL(io_uring_enter) CALL(io_uring_register)
#endif
#if defined(SYS_close_range)
    CALL(close_range)
#endif
#if defined(SYS_openat2)
    CALL(openat2)
#endif
#if defined(SYS_faccessat2)
    CALL(faccessat2)
#endif
};
/* clang-format on */

static const struct {
    const char *name;
    int number;
} errors[] = { { "EPERM", EPERM }, { "ENOSYS", ENOSYS }, { "EIO", EIO } };

static bool number_of(const char *name, size_t length, long *number)
{
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if (strlen(calls[i].name) == length && memcmp(calls[i].name, name, length) == 0) {
            *number = calls[i].number;
            return true;
        }
    return false;
}

/* The filter: load the number; for each call, refuse it if it is that; allow the rest. */
static bool refuse(const long *numbers, size_t count, bool newer, unsigned error)
{
    struct sock_filter rules[2 * MAX_CALLS + 6] = { BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                                             offsetof(struct seccomp_data, nr)) };
    unsigned short used = 1;
    struct sock_fprog program = { .filter = rules };

    for (size_t i = 0; i < count; i++) {
        rules[used++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)numbers[i], 0, 1);
        rules[used++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error);
    }
    if (newer) {
#if defined(SYS_clone3) /* the C library knows only by this answer that it must do without, and profiles give it */
        rules[used++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1);
        rules[used++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS);
#endif
        rules[used++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, FIRST_NEWER, 0, 1);
        rules[used++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error);
    }
    rules[used++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    program.len = used;
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

int main(int argc, char **argv)
{
    long numbers[MAX_CALLS];
    size_t count = 0;
    bool newer = false;
    int error = 0;

    if (argc < 4)
        return 2;
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        error = strcmp(argv[1], errors[i].name) == 0 ? errors[i].number : error;
    if (error == 0)
        return 2;
    for (const char *at = argv[2]; *at; at += at[0] == ',') {
        size_t length = strcspn(at, ",");

        if (length == 5 && memcmp(at, "newer", 5) == 0)
            newer = true;
        else if (count < MAX_CALLS && number_of(at, length, &numbers[count]))
            count++;
        else
            fprintf(stderr, "refuse_calls: no call %.*s here\n", (int)length, at);
        at += length;
    }
    if (!refuse(numbers, count, newer, (unsigned)error)) {
        perror("refuse_calls");
        return 77;
    }
    execvp(argv[3], argv + 3);
    perror(argv[3]);
    return 2;
}

#else

int main(void)
{
    return 77;
}

#endif
