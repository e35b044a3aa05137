/* cli.c: see cli.h. */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static const char *program_name = "leat";
static volatile sig_atomic_t interrupted;
static volatile sig_atomic_t interrupted_at; /* seconds of a clock that only goes forward */

/* A descriptor that the caller closed is opened in the wrong direction, so that using it fails as it should; stderr is
 * the exception: without it messages are lost, which is what was asked for. */
static void open_standard_descriptors(void)
{
    static const int modes[3] = { O_WRONLY, O_RDONLY, O_WRONLY };

    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", modes[fd]) != fd)
            _exit(CLI_FAILED);
}

void cli_start(const char *program)
{
    struct rlimit files;

    program_name = program;
    open_standard_descriptors();
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files); /* if refused, opening too many says so by itself */
    }
}

const char *cli_program(void)
{
    return program_name;
}

void cli_error(const char *format, ...)
{
    char text[2048];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    /* names from files and command lines stand in it: nothing of them may move the cursor or change colours */
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
    fprintf(stderr, "%s: %s\n", program_name, text);
}

int cli_failed(const struct leat_error *err)
{
    if (cli_interrupted()) {
        cli_error("interrupted");
        return CLI_INTERRUPTED;
    }
    cli_error("%s%s", err->message, cli_hint(err));
    return err->status == LEAT_E_ARGUMENT ? CLI_WRONG : CLI_FAILED;
}

int cli_finish_stdout(int code)
{
    const char *reason = "the output is incomplete";
    int failed_before = ferror(stdout);

    errno = 0;
    if (fflush(stdout) == 0 && !failed_before)
        return code;
    if (errno != 0)
        reason = strerror(errno);
    if (errno != EPIPE) /* a reader like `head` has what it wants; the code still shows a script */
        cli_error("cannot write everything to standard output: %s", reason);
    return code == CLI_DONE ? CLI_FAILED : code;
}

bool cli_stdout_failed(void)
{
    return ferror(stdout) != 0;
}

/* The first one asks for a clean end; another one a while later is meant to kill. Some senders signal a process and its
 * group, which is one wish that comes twice. */
static void on_interrupt(int number)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!interrupted) {
        interrupted_at = (sig_atomic_t)now.tv_sec;
        interrupted = 1;
    } else if ((sig_atomic_t)now.tv_sec - interrupted_at >= 2) {
        signal(number, SIG_DFL);
        raise(number);
    }
}

void cli_catch_interrupts(void)
{
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_handler = on_interrupt;
    action.sa_flags = SA_RESTART;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool cli_interrupted(void)
{
    return interrupted != 0;
}

double cli_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
