/*
 * slow_server.c: a web server on this machine with the manners of object storage, for bench/remote.py:
 *
 *   slow_server FOLDER DELAY_MS RATE [ALL]
 *
 * gives the files of a folder, in ranges, each request so many milliseconds late, and at most RATE MB per second on a
 * connection, ALL on all of them together. Its first line says where it is; a line follows for each request: when it
 * came and when it ended, in seconds, the path, the first byte, and how many. Bytes go from file to socket inside the
 * kernel.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define HEAD_BYTES  8192
#define SLICE       ((size_t)1 << 20)
#define STACK_BYTES ((size_t)128 << 10)

static const char *folder;
static double delay, rate, all;
static double free_at; /* when the line has sent what was begun */
static pthread_mutex_t line = PTHREAD_MUTEX_INITIALIZER;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void sleep_until(double moment)
{
    struct timespec t = { (time_t)moment, (long)((moment - (double)(time_t)moment) * 1e9) };

    (void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static bool send_text(int to, const char *text)
{
    return send(to, text, strlen(text), 0) == (ssize_t)strlen(text);
}

/* Waits until the line that all connections share has sent so much more. */
static void share_line(size_t bytes)
{
    double moment;

    if (all <= 0)
        return;
    pthread_mutex_lock(&line);
    moment = now();
    free_at = (free_at > moment ? free_at : moment) + (double)bytes / all;
    moment = free_at;
    pthread_mutex_unlock(&line);
    sleep_until(moment);
}

static bool send_range(int to, int fd, off_t first, size_t count)
{
    double began = now();
    size_t left = count;

    while (left > 0) {
        ssize_t sent = sendfile(to, fd, &first, left < SLICE ? left : SLICE);

        if (sent <= 0)
            return false;
        left -= (size_t)sent;
        share_line((size_t)sent);
        sleep_until(began + (double)(count - left) / rate);
    }
    return true;
}

/* What "Range: bytes=FIRST-LAST" asks for; else all. */
static void read_range(const char *head, off_t size, off_t *first, off_t *last)
{
    const char *range = strcasestr(head, "\r\nrange: bytes=");
    char *dash;

    *first = 0;
    *last = size - 1;
    if (!range)
        return;
    *first = strtoll(range + strlen("\r\nrange: bytes="), &dash, 10);
    if (*dash == '-' && dash[1] >= '0' && dash[1] <= '9')
        *last = strtoll(dash + 1, NULL, 10);
    if (*last > size - 1)
        *last = size - 1;
}

static bool answer(int to, const char *head)
{
    double came = now();
    char path[2048], name[4096], text[512];
    off_t first, last;
    struct stat st;
    bool sent;
    int fd;

    if (sscanf(head, "GET %2047s", path) != 1)
        return false;
    (void)snprintf(name, sizeof name, "%s%s", folder, path);
    sleep_until(came + delay);
    fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0)
        return send_text(to, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
    read_range(head, st.st_size, &first, &last);
    (void)snprintf(text, sizeof text,
                   "HTTP/1.1 206 Partial Content\r\nETag: \"%lld\"\r\nContent-Range: bytes %lld-%lld/%lld\r\n"
                   "Content-Length: %lld\r\n\r\n",
                   (long long)st.st_mtime, (long long)first, (long long)last, (long long)st.st_size,
                   (long long)(last + 1 - first));
    sent = first <= last && send_text(to, text) && send_range(to, fd, first, (size_t)(last + 1 - first));
    close(fd);
    printf("%.6f %.6f %s %lld %lld\n", came, now(), path, (long long)first, (long long)(last + 1 - first));
    return sent;
}

/* A connection; its requests come one after another. */
static void *serve(void *connection)
{
    int from = (int)(intptr_t)connection, one = 1;
    char head[HEAD_BYTES + 1];
    size_t used = 0;
    ssize_t got;

    (void)setsockopt(from, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    while (used < HEAD_BYTES && (got = recv(from, head + used, HEAD_BYTES - used, 0)) > 0) {
        used += (size_t)got;
        head[used] = '\0';
        if (used < 4 || strcmp(head + used - 4, "\r\n\r\n") != 0)
            continue;
        used = 0;
        if (!answer(from, head))
            break;
    }
    close(from);
    return NULL;
}

int main(int argc, char **argv)
{
    struct sockaddr_in place = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t length = sizeof place;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), connection;
    pthread_attr_t how;
    pthread_t thread;

    if (argc != 4 && argc != 5)
        return 2;
    folder = argv[1];
    delay = strtod(argv[2], NULL) / 1e3;
    rate = strtod(argv[3], NULL) * 1e6;
    all = argc == 5 ? strtod(argv[4], NULL) * 1e6 : 0;
    (void)signal(SIGPIPE, SIG_IGN);
    (void)setvbuf(stdout, NULL, _IOLBF, 4096);
    pthread_attr_init(&how);
    pthread_attr_setstacksize(&how, STACK_BYTES);
    pthread_attr_setdetachstate(&how, PTHREAD_CREATE_DETACHED);
    if (bind(listener, (struct sockaddr *)&place, sizeof place) != 0 || listen(listener, 1024) != 0 ||
        getsockname(listener, (struct sockaddr *)&place, &length) != 0)
        return 1;
    printf("http://127.0.0.1:%d\n", ntohs(place.sin_port));
    while ((connection = accept(listener, NULL, NULL)) >= 0)
        if (pthread_create(&thread, &how, serve, (void *)(intptr_t)connection) != 0)
            close(connection);
    return 0;
}
