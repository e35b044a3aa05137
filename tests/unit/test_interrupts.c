/*
 * test_interrupts.c: Ctrl-C asks a command for a clean end; sent twice at once it is one wish; again two seconds later
 * it ends the process, which may hang in something that cannot be asked. Takes as long.
 */
#include <signal.h>
#include <sys/wait.h>

#include "cli/cli.h"
#include "t.h"

/* Says when it is ready, then when it was interrupted, and hangs. */
static void hang(int tell)
{
    signal(SIGINT, SIG_DFL);
    cli_catch_interrupts();
    T_CHECK(!cli_interrupted() && write(tell, "r", 1) == 1);
    while (!cli_interrupted())
        usleep(1000);
    T_CHECK(write(tell, "i", 1) == 1);
    for (;;)
        pause();
}

int main(void)
{
    int ends[2], status = 0;
    double began;
    bool at_once;
    pid_t child, ended = 0;
    char said;

    T_CHECK(pipe(ends) == 0);
    child = fork();
    if (child == 0)
        hang(ends[1]);
    T_CHECK(child > 0 && read(ends[0], &said, 1) == 1 && said == 'r');
    began = cli_now();
    kill(child, SIGINT);
    T_CHECK(read(ends[0], &said, 1) == 1 && said == 'i');
    kill(child, SIGINT);
    usleep(100000);
    ended = waitpid(child, &status, WNOHANG);
    at_once = cli_now() - began < 1; /* else this machine was too busy to tell */
    T_CHECK(ended == 0 || !at_once);
    for (unsigned i = 0; i < 600 && ended == 0; i++) {
        usleep(100000);
        kill(child, SIGINT);
        ended = waitpid(child, &status, WNOHANG);
    }
    T_CHECK(ended == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
    if (ended == 0)
        kill(child, SIGKILL);
    return t_end();
}
