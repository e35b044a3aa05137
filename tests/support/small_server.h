/*
 * small_server.h: an HTTP server in a process of its own, on this machine, that takes one request after another and
 * answers each by a function of the test: its memory and files are no part of the test's.
 */
#ifndef LEAT_TESTS_SUPPORT_SMALL_SERVER_H
#define LEAT_TESTS_SUPPORT_SMALL_SERVER_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define SMALL_SERVER_ROOM 8192u

/* Writes the answer to `request` (its head, "GET /a?b HTTP/1.1" and so on) to `out`, which has room for
 * SMALL_SERVER_ROOM bytes. */
typedef void small_server_answer(const char *request, char *out);

struct small_server {
    pid_t process;
    char url[32]; /* "http://127.0.0.1:PORT" */
};

/* For the answer's function: `more` are lines of the head, each with its \r\n. */
static inline void small_server_say(char *out, const char *status, const char *more, const char *body)
{
    snprintf(out, SMALL_SERVER_ROOM, "HTTP/1.1 %s\r\nConnection: close\r\nContent-Length: %zu\r\n%s\r\n%s", status,
             strlen(body), more, body);
}

/* The same with a body of any bytes, which fits in with the head. */
static inline void small_server_give(char *out, const char *status, const char *more, const void *body, size_t bytes)
{
    int head = snprintf(out, SMALL_SERVER_ROOM, "HTTP/1.1 %s\r\nConnection: close\r\nContent-Length: %zu\r\n%s\r\n",
                        status, bytes, more);

    memcpy(out + head, body, bytes);
    out[(size_t)head + bytes] = '\0';
}

/* How long an answer is: by what its head says of its body, if it does. */
static inline size_t small_server_length(const char *out)
{
    const char *end = strstr(out, "\r\n\r\n"), *length = strstr(out, "\r\nContent-Length: ");

    return end && length && length < end ? (size_t)(end + 4 - out) + strtoul(length + 18, NULL, 10) : strlen(out);
}

/* Takes a request with its body; false: none came. */
static inline bool small_server_take(int connection, char *request)
{
    size_t got = 0, wanted = SIZE_MAX;

    while (got < wanted) {
        ssize_t more = recv(connection, request + got, SMALL_SERVER_ROOM - 1 - got, 0);
        char *end, *length;

        if (more <= 0)
            return false;
        got += (size_t)more;
        request[got] = '\0';
        end = strstr(request, "\r\n\r\n");
        length = strcasestr(request, "\r\nContent-Length:");
        if (end)
            wanted = (size_t)(end + 4 - request) + (length && length < end ? strtoul(length + 17, NULL, 10) : 0);
    }
    return true;
}

static inline void small_server_run(int listening, small_server_answer *answer)
{
    static char request[SMALL_SERVER_ROOM], out[SMALL_SERVER_ROOM];

    for (;;) {
        int connection = accept(listening, NULL, NULL);

        if (connection >= 0 && small_server_take(connection, request)) {
            answer(request, out);
            (void)!send(connection, out, small_server_length(out), MSG_NOSIGNAL);
            (void)shutdown(connection, SHUT_WR);
            while (recv(connection, request, sizeof request, 0) > 0) /* so that no reset overtakes the answer */
                ;
        }
        if (connection >= 0)
            close(connection);
    }
}

static inline void small_server_open(struct small_server *s, small_server_answer *answer)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof address;
    int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (listening < 0 || bind(listening, (struct sockaddr *)&address, size) != 0 || listen(listening, 64) != 0 ||
        getsockname(listening, (struct sockaddr *)&address, &size) != 0 || (s->process = fork()) < 0) {
        perror("a server on this machine");
        exit(1);
    }
    if (s->process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        small_server_run(listening, answer);
    }
    close(listening);
    snprintf(s->url, sizeof s->url, "http://127.0.0.1:%u", ntohs(address.sin_port));
}

/* Buckets lie on this server, with keys; nothing else that says where or how to ask is left in the environment. */
static inline void small_server_settle(const struct small_server *s)
{
    char name[64];

    for (char **at = environ; *at;)
        if (strncmp(*at, "AWS_", 4) == 0) {
            snprintf(name, sizeof name, "%.*s", (int)strcspn(*at, "="), *at);
            unsetenv(name);
            at = environ;
        } else {
            at++;
        }
    setenv("AWS_ENDPOINT_URL", s->url, 1);
    setenv("AWS_ACCESS_KEY_ID", "i", 1);
    setenv("AWS_SECRET_ACCESS_KEY", "s", 1);
    setenv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere", 1);
    setenv("AWS_CONFIG_FILE", "/nowhere", 1);
    setenv("NO_PROXY", "*", 1);
    setenv("no_proxy", "*", 1);
}

static inline void small_server_close(struct small_server *s)
{
    kill(s->process, SIGKILL);
    waitpid(s->process, NULL, 0);
}

#endif
