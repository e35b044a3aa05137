/* renderers.c: see renderers.h. */
#include "renderers.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/status.h"

#define PATH_ROOM 4096

extern char **environ;

/* Finds the package without importing it, which would load the library, and runs its renderer. Else it answers as a
 * renderer does: tokenize_tools/render/render.h. */
static const char find_package[] =
    "import importlib.metadata, importlib.util, os, runpy, socket, struct, sys\n"
    "sys.path[:] = sys.path[1:]\n" /* the current folder */
    "found = importlib.util.find_spec('leat')\n"
    "path = os.path.join(list(found.submodule_search_locations or [''])[0], 'render.py') if found else ''\n"
    "try:\n"
    "    version = importlib.metadata.version('leat')\n"
    "except importlib.metadata.PackageNotFoundError:\n"
    "    version = sys.argv[1]\n"
    "if os.path.exists(path) and version == sys.argv[1]:\n"
    "    runpy.run_path(path, run_name='__main__')\n"
    "else:\n"
    "    fields = b'1', b'3', b'package', (version if found else '').encode()\n"
    "    body = struct.pack('<I', 4) + b''.join(struct.pack('<I', len(f)) + f for f in fields)\n"
    "    socket.socket(fileno=0).sendall(struct.pack('<I', len(body)) + body)\n";

/* ---- Which Python ---- */

/* The renderer of the package in whose bin/ this program lies. */
static bool find_own_package(char *renderer, size_t room)
{
    char path[PATH_ROOM];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);

    for (unsigned i = 0; i < 2 && length > 0; i++) { /* bin/leat */
        char *slash;

        path[length] = '\0';
        slash = strrchr(path, '/');
        length = slash ? slash - path : -1;
    }
    if (length <= 0)
        return false;
    path[length] = '\0';
    return (size_t)snprintf(renderer, room, "%s/render.py", path) < room && access(renderer, R_OK) == 0;
}

/* PREFIX/lib/python3.N/site-packages/leat/render.py belongs to PREFIX/bin/python3. */
static bool find_own_python(const char *renderer, char *python, size_t room)
{
    size_t length = strlen(renderer);

    for (unsigned i = 0; i < 5 && length > 0; i++)
        do
            length--;
        while (length > 0 && renderer[length] != '/');
    return length > 0 && (size_t)snprintf(python, room, "%.*s/bin/python3", (int)length, renderer) < room &&
           access(python, X_OK) == 0;
}

/* ---- Processes ---- */

struct child {
    int fd;
    pid_t pid;
    struct child *next;
};

static struct child *children;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* In a group of its own, so that Ctrl-C is the command's; what it prints goes to stderr. 0 or an errno. */
static int spawn(pid_t *pid, int its_end, char *const *words)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none, all;
    int failed = posix_spawn_file_actions_init(&files);

    if (failed)
        return failed;
    failed = posix_spawnattr_init(&how);
    if (failed) {
        posix_spawn_file_actions_destroy(&files);
        return failed;
    }
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&how, &none);
    posix_spawnattr_setsigdefault(&how, &all);
    posix_spawnattr_setpgroup(&how, 0);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    failed = posix_spawn_file_actions_adddup2(&files, its_end, STDIN_FILENO);
    if (!failed)
        failed = posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
    if (!failed)
        failed = posix_spawnp(pid, words[0], &files, &how, words, environ);
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&files);
    return failed;
}

static enum leat_status start(struct child *c, int its_end, struct leat_error *err)
{
    char renderer[PATH_ROOM] = "", own[PATH_ROOM];
    const char *asked = getenv("LEAT_PYTHON"), *python = "python3";
    bool packaged = find_own_package(renderer, sizeof renderer);
    char *words[] = { NULL, (char *)(uintptr_t) "-c", (char *)(uintptr_t)find_package,
                      (char *)(uintptr_t)leat_version(), NULL };
    int failed;

    if (asked && *asked)
        python = asked;
    else if (packaged && find_own_python(renderer, own, sizeof own))
        python = own;
    words[0] = (char *)(uintptr_t)python;
    if (packaged) {
        words[1] = renderer;
        words[2] = NULL;
    }
    failed = spawn(&c->pid, its_end, words);
    if (failed == ENOENT)
        return status_set(err, LEAT_E_ARGUMENT,
                          "chat templates are rendered in Python, and %.300s is missing: install Python 3.10 or newer, "
                          "and leat %s with it (`pip install '.[chat]'` in leat's sources)",
                          python, leat_version());
    return failed ? status_set_os(err, failed, "starting %.300s", python) : LEAT_OK;
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
        s = status_set_os(err, errno, "making a connection to Python");
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
