/*
 * far_disk.c: runs a command beside a file system that answers late and counts what it is asked, as a file server far
 * away does, and prints the counts as a line of JSON:
 *
 *     far_disk FROM AT DELAY_US VALID_MS [--fail CALLS:NTH:TIMES:ERRNO] COMMAND ARGUMENT...
 *
 * AT shows the folder FROM to the command alone. The kernel may remember names and attributes for VALID_MS, as it may
 * on NFS (3 s and more) and on most of FUSE (1 s), and keeps bytes of files that are opened again. CALLS are the bits
 * of enum fuse_disk_call. Exit code: the command's; 77: mounting is not allowed here.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "faults/own_mounts.h"
#include "support/fuse_disk.h"

static int run(char **command)
{
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        execvp(command[0], command);
        perror(command[0]);
        _exit(127);
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void print_counts(const struct fuse_disk *d)
{
    unsigned long reads = fuse_disk_asked(d, FUSE_DISK_READ);

    printf("{\"lookup\": %lu, \"getattr\": %lu, \"open\": %lu, \"statfs\": %lu, \"readdir\": %lu, \"metadata\": %lu, "
           "\"close\": %lu, \"read\": %lu, \"read_bytes\": %lu, \"read_twice\": %lu}\n",
           fuse_disk_asked(d, FUSE_DISK_FIND), fuse_disk_asked(d, FUSE_DISK_ATTRIBUTES),
           fuse_disk_asked(d, FUSE_DISK_OPEN), fuse_disk_asked(d, FUSE_DISK_SYSTEM), fuse_disk_asked(d, FUSE_DISK_LIST),
           fuse_disk_asked(d, FUSE_DISK_METADATA), fuse_disk_asked(d, FUSE_DISK_CLOSE), reads,
           atomic_load(&d->board->read_bytes), atomic_load(&d->board->read_twice));
}

int main(int argc, char **argv)
{
    unsigned calls, error;
    unsigned long nth, times;
    struct fuse_disk d;
    int code;

    if (argc < 6)
        return fprintf(stderr, "far_disk FROM AT DELAY_US VALID_MS [--fail ...] COMMAND ARGUMENT...\n"), 2;
    if (!own_mounts() || !fuse_disk_mount(&d, argv[1], argv[2], false)) {
        fprintf(stderr, "far_disk: cannot mount /dev/fuse here: %s\n", strerror(errno));
        return 77;
    }
    atomic_store(&d.board->valid_ms, strtoul(argv[4], NULL, 10));
    atomic_store(&d.board->delay_us, strtoul(argv[3], NULL, 10));
    argv += 5;
    if (strcmp(argv[0], "--fail") == 0 && argv[1] &&
        sscanf(argv[1], "%u:%lu:%lu:%u", &calls, &nth, &times, &error) == 4) {
        fuse_disk_arm(&d, calls, FUSE_DISK_FAILS, nth, false, (int)error);
        atomic_store(&d.board->times, times);
        argv += 2;
    }
    code = run(argv);
    print_counts(&d);
    atomic_store(&d.board->delay_us, 0);
    fuse_disk_unmount(&d);
    return code;
}
