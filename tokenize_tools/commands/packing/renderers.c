/* renderers.c: starts the processes that render conversations (pack_options.h). */
#include "pack_options.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/status.h"
#include "cli/own_python.h"

/*
 * Finds the package without importing it, which would load the library, and runs its renderer, if its text has the
 * right version: another project may be installed under the name leat. Otherwise it answers as a renderer does
 * (tokenize_tools/render/render.h).
 */
static const char find_package[] =
    "import importlib.util, os, re, runpy, socket, struct\n"
    "found = importlib.util.find_spec('leat')\n"
    "path = os.path.join(list(found.submodule_search_locations or [''])[0], 'render.py') if found else ''\n"
    "version = b''\n"
    "if os.path.exists(path):\n"
    "    with open(path, 'rb') as f:\n"
    "        version = (re.findall(br'^VERSION = \"([0-9.]+)\"', f.read(), re.M) or [b''])[0]\n"
    "if version == sys.argv[1].encode():\n"
    "    runpy.run_path(path, run_name='__main__')\n"
    "else:\n"
    "    fields = b'1', b'3', b'package', version\n"
    "    body = struct.pack('<I', 4) + b''.join(struct.pack('<I', len(f)) + f for f in fields)\n"
    "    socket.socket(fileno=0).sendall(struct.pack('<I', len(body)) + body)\n";

struct child {
    int fd;
    pid_t pid;
    struct child *next;
};

static struct child *children;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Starts a process in a group of its own, so that Ctrl-C only reaches the command. Its output goes to stderr. */
static enum leat_status start(struct child *c, int its_end, struct leat_error *err)
{
    char *python = own_python_name(), version[] = LEAT_VERSION;
    enum leat_status s = LEAT_OK;
    int failed;

    if (!python)
        return status_no_memory(err, 1);
    failed = own_python_start(&c->pid, python, find_package, (char *[]) { version, NULL }, true,
                              (int[3]) { its_end, STDERR_FILENO, STDERR_FILENO });
    if (failed == ENOENT)
        s = status_argument(
            err, "chat",
            "chat templates are rendered in Python, and %.300s is missing: install Python 3.10 or newer, "
            "and leat %s with it (`pip install '.[chat]'` in leat's sources)",
            python, leat_version());
    else if (failed)
        s = status_set_os(err, failed, NULL, "starting %.300s", python);
    free(python);
    return s;
}

static enum leat_status open_renderer(void *context, int *fd, struct leat_error *err)
{
    struct child *c = calloc(1, sizeof *c);
    int ends[2];
    enum leat_status s;

    (void)context;
    if (!c)
        return status_no_memory(err, sizeof *c);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) {
        s = status_set_os(err, errno, NULL, "making a connection to Python");
        free(c);
        return s;
    }
    s = start(c, ends[1], err);
    close(ends[1]);
    if (s != LEAT_OK) {
        close(ends[0]);
        free(c);
        return s;
    }
    c->fd = *fd = ends[0];
    pthread_mutex_lock(&lock);
    c->next = children;
    children = c;
    pthread_mutex_unlock(&lock);
    return LEAT_OK;
}

static void close_renderer(void *context, int fd)
{
    struct child **at = &children, *c;

    (void)context;
    pthread_mutex_lock(&lock);
    while (*at && (*at)->fd != fd)
        at = &(*at)->next;
    c = *at;
    if (c)
        *at = c->next;
    pthread_mutex_unlock(&lock);
    close(fd);
    if (!c)
        return;
    kill(c->pid, SIGKILL);
    while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    free(c);
}

const struct leat_renderers pack_renderers = { open_renderer, close_renderer, NULL };
