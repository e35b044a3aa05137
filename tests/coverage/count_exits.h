/*
 * count_exits.h: what `make coverage` includes before every file: a process that ends by _exit(), as the children of
 * many tests do, writes down first which lines it reached. One that a signal ends does not: its lines do not count.
 */
#ifndef COUNT_EXITS_H
#define COUNT_EXITS_H

#include <gcov.h>
#include <unistd.h>

static inline _Noreturn void count_and_exit(int code)
{
    __gcov_dump();
    _exit(code);
}

#define _exit count_and_exit

/* So does one that becomes another program. */
#define execv(path, words)  (__gcov_dump(), __gcov_reset(), execv(path, words))
#define execvp(path, words) (__gcov_dump(), __gcov_reset(), execvp(path, words))

#endif
