/* cli.c: see cli.h. */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/show.h"

#define SENTENCE_BYTES 16384 /* room for three paths, and words between them */

static const char *program_name = "leat";
static volatile sig_atomic_t interrupted;    /* the signal that came first; 0: none */
static volatile sig_atomic_t interrupted_at; /* its time, in seconds of a clock that only goes forward */

/* Opens descriptors that the caller closed in the wrong direction, so that using them fails as it should. The
 * exception is stderr: without it messages are lost, which the caller wanted. */
static void open_standard_descriptors(void)
{
    static const int modes[3] = { O_WRONLY, O_RDONLY, O_WRONLY };

    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", modes[fd]) != fd)
            _exit(CLI_FAILED);
}

/* Lets freed memory go back to the system. Otherwise glibc keeps up to 64 MiB in each thread's heap once a large block
 * was freed: packing conversations of 4 MiB with 16 threads took twice its --memory. */
static void limit_heaps(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 4 << 20);
    mallopt(M_TRIM_THRESHOLD, 8 << 20);
#endif
}

void cli_start(const char *program)
{
    struct rlimit files;

    program_name = program;
    limit_heaps();
    open_standard_descriptors();
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files); /* if refused, opening too many files reports it */
    }
}

const char *cli_program(void)
{
    return program_name;
}

static CLI_PRINTF(3, 0) void print_line(FILE *out, const char *program, const char *format, va_list args)
{
    char text[SENTENCE_BYTES], shown[SENTENCE_BYTES];

    vsnprintf(text, sizeof text, format, args);
    if (out == stderr)
        show_hide(text, true);
    show_text(shown, sizeof shown, text, strlen(text));
    fprintf(out, "%s%s%s\n", program, program[0] ? ": " : "", shown);
}

void cli_error(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    print_line(stderr, program_name, format, args);
    va_end(args);
}

void cli_say(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    print_line(stdout, "", format, args);
    va_end(args);
}

void cli_put(const char *text, uint64_t bytes)
{
    char step[SHOW_MOST];
    size_t length;

    for (uint64_t at = 0; at < bytes;) {
        at += show_step(text + at, (size_t)(bytes - at), step, &length);
        fwrite(step, 1, length, stdout);
    }
}

/* Writes a word in quotes that bash and zsh read, for a word that plain quotes would not help; characters that are
 * not shown become \xNN. Returns false if there is no room. */
static bool write_escaped(const char *word, char *out, size_t room)
{
    size_t size = strlen(word), used = 0, length;
    bool needed = false;
    char step[SHOW_MOST];

    used += (size_t)snprintf(out, room, "$'");
    for (size_t at = 0; at < size;) {
        size_t taken = show_step(word + at, size - at, step, &length);
        bool same = length == taken && memcmp(step, word + at, taken) == 0;

        needed = needed || !same;
        for (; taken > 0; taken--, at++)
            used += (size_t)snprintf(out + used, room - used,
                                     !same                     ? "\\x%02x"
                                     : strchr("'\\", word[at]) ? "\\%c"
                                                               : "%c",
                                     (unsigned char)word[at]);
    }
    snprintf(out + used, room - used, "'");
    return needed;
}

const char *cli_shell_word(const char *word, char *out, size_t room)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./%+:,@=-";
    size_t used = 0;

    if (*word && !word[strspn(word, plain)])
        return word;
    if (4 * strlen(word) + 4 > room)
        return word;
    if (write_escaped(word, out, room))
        return out;
    out[used++] = '\'';
    for (const char *at = word; *at; at++) {
        if (*at == '\'') {
            memcpy(out + used, "'\\'", 3);
            used += 3;
        }
        out[used++] = *at;
    }
    out[used++] = '\'';
    out[used] = '\0';
    return out;
}

bool cli_stdout_is_terminal(void)
{
    return isatty(STDOUT_FILENO) != 0;
}

void cli_put_text(const char *text, size_t bytes)
{
    if (!cli_stdout_is_terminal()) {
        fwrite(text, 1, bytes, stdout);
        return;
    }
    for (size_t at = 0, end = 0; at < bytes; at = end + 1) {
        end = at;
        while (end < bytes && text[end] != '\n' && text[end] != '\t')
            end++;
        cli_put(text + at, end - at);
        if (end < bytes)
            putchar(text[end]);
    }
}

int cli_failed(const struct leat_error *err)
{
    if (cli_interrupted()) {
        cli_error("interrupted");
        return cli_interrupted_code();
    }
    cli_error("%s%s", err->message, cli_hint(err));
    return err->status == LEAT_E_ARGUMENT ? CLI_WRONG : CLI_FAILED;
}

int cli_failed_or_damaged(const struct leat_error *err)
{
    int code = cli_failed(err);
    /* A document without its end token is not damage, since files of other tools have such documents. Nor is a file
     * that was replaced on its server while it was read, since it can be read again. */
    bool damaged = err->status >= LEAT_E_TRUNCATED && err->status <= LEAT_E_MISMATCH && err->status != LEAT_E_TOKEN &&
                   err->hint != LEAT_HINT_AGAIN;

    return code == CLI_FAILED && damaged ? CLI_DAMAGED : code;
}

/* Returns true if stdout is a pipe that nobody reads any more. The pipe is asked, since the error of an earlier
 * write is gone. */
static bool reader_is_gone(void)
{
    struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT };

    return poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0;
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
    if (errno != EPIPE && !reader_is_gone()) /* a reader such as `head` has what it wants; the exit code still tells
                                                a script */
        cli_error("cannot write everything to standard output: %s", reason);
    return code == CLI_DONE ? CLI_FAILED : code;
}

bool cli_stdout_failed(void)
{
    return ferror(stdout) != 0;
}

/* Handles a signal. The first one asks for a clean end; another one a while later is meant to kill. Some senders
 * signal a process and its group, which is one request that comes twice. */
static void on_interrupt(int number)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!interrupted) {
        interrupted_at = (sig_atomic_t)now.tv_sec;
        interrupted = number;
    } else if (number == SIGINT && (sig_atomic_t)now.tv_sec - interrupted_at >= 2) {
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
    sigaction(SIGUSR1, &action, NULL);
}

#define WAITING_SECONDS 60

uint32_t cli_say_waiting(void *context, const char *why)
{
    static atomic_long next; /* time from which on it may be said again */
    long now = (long)cli_now(), at = atomic_load(&next);

    (void)context;
    if (now >= at && atomic_compare_exchange_strong(&next, &at, now + WAITING_SECONDS))
        cli_error("warning: %s", why);
    return cli_interrupted();
}

bool cli_interrupted(void)
{
    return interrupted != 0;
}

int cli_interrupted_code(void)
{
    return interrupted == SIGINT ? CLI_INTERRUPTED : CLI_STOPPED;
}

double cli_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
