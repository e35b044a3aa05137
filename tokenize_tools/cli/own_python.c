/* own_python.c: see own_python.h. */
#include "own_python.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "leat.h"

extern char **environ;

enum answer { HAS_IT, OTHER_VERSION, HAS_NONE, NO_PYTHON };

/* Stands before all code that an interpreter gets: `python -c` searches the current folder first. `sys` is built in. */
#define SAFELY "import sys\nsys.path[:1] == [''] and sys.path.pop(0)\n"

/* Beginnings of the variables that an interpreter needs, by itself or behind a shim. */
static const char *const needed[] = { "HOME=", "PATH=", "PYTHON", "LD_", "PYENV_", "GUIX_PYTHONPATH=" };

static bool is_needed(const char *variable)
{
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (strncmp(variable, needed[i], strlen(needed[i])) == 0)
            return true;
    return false;
}

/* Writes PYTHONPATH without its empty parts, which Python takes for the current folder. */
static char *put_path(char *out, const char *path)
{
    size_t begin = strlen("PYTHONPATH="), end = begin;

    memcpy(out, "PYTHONPATH=", begin);
    for (; *path; path++)
        if (*path != ':' || (end > begin && out[end - 1] != ':'))
            out[end++] = *path;
    out[end - (end > begin && out[end - 1] == ':')] = '\0';
    return out;
}

/* Returns the arguments of `python -c code words...`, and sets *environment to what goes with them: one block. */
static char **make_words(char *python, const char *code, char *const *words, bool apart, char ***environment)
{
    const char *path = getenv("PYTHONPATH");
    size_t count = 0, variables = 0, code_bytes = sizeof SAFELY + strlen(code);
    char **all, **to, *text;

    while (words[count])
        count++;
    while (environ[variables])
        variables++;
    all = calloc(1,
                 (count + variables + 5) * sizeof *all + code_bytes + sizeof "PYTHONPATH=" + (path ? strlen(path) : 0));
    if (!all)
        return NULL;
    *environment = to = all + count + 4;
    text = (char *)(to + variables + 1);
    snprintf(text, code_bytes, SAFELY "%s", code);
    all[0] = python;
    all[1] = (char *)(uintptr_t) "-c";
    all[2] = text;
    memcpy(all + 3, words, count * sizeof *words);
    for (char **from = environ; *from; from++)
        if (!apart || is_needed(*from))
            *to++ = strncmp(*from, "PYTHONPATH=", 11) == 0 ? put_path(text + code_bytes, path) : *from;
    return all;
}

int own_python_start(pid_t *pid, char *python, const char *code, char *const *words, bool apart, const int fds[3])
{
    char **environment, **all = make_words(python, code, words, apart, &environment);
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none, every;
    int failed = all ? 0 : ENOMEM;

    sigemptyset(&none);
    sigfillset(&every);
    posix_spawnattr_init(&how); /* neither call fails on Linux */
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_setsigmask(&how, &none);
    posix_spawnattr_setsigdefault(&how, &every);
    posix_spawnattr_setpgroup(&how, 0);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    for (int i = 0; i < 3 && !failed; i++)
        failed = posix_spawn_file_actions_adddup2(&files, fds[i], i);
    if (!failed)
        failed = posix_spawnp(pid, python, &files, &how, all, environment);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&how);
    free(all);
    return failed;
}

/* Asks an interpreter, whose name is a path or is looked for on PATH. */
static enum answer ask_python(char *python)
{
    static const char question[] = "try:\n"
                                   "    from leat._leat import version\n" /* another project's leat has none */
                                   "except ImportError:\n"
                                   "    sys.exit(12)\n"
                                   "sys.exit(10 if version == sys.argv[1] else 11)\n";
    char version[] = LEAT_VERSION;
    int null = open("/dev/null", O_RDWR | O_CLOEXEC), status = 0, failed;
    pid_t child;

    failed =
        own_python_start(&child, python, question, (char *[]) { version, NULL }, false, (int[3]) { null, null, null });
    close(null);
    if (failed || waitpid(child, &status, 0) != child || !WIFEXITED(status))
        return NO_PYTHON;
    switch (WEXITSTATUS(status)) {
    case 10:
        return HAS_IT;
    case 11:
        return OTHER_VERSION;
    case 12:
        return HAS_NONE;
    default:
        return NO_PYTHON;
    }
}

/* Returns PREFIX/bin/python3 if this command is PREFIX/lib/pythonX.Y/site-packages/leat/bin/leat; else NULL. */
static char *of_environment(void)
{
    static const char python[] = "/bin/python3";
    char *path = malloc(4096 + sizeof python), *slash = NULL;
    ssize_t length = path ? readlink("/proc/self/exe", path, 4095) : -1;

    if (length > 0) {
        path[length] = '\0';
        for (unsigned i = 0; i < 6; i++) { /* goes up from leat by bin, leat, site-packages, pythonX.Y and lib */
            slash = strrchr(path, '/');
            if (!slash)
                break;
            if (i == 2 && strcmp(slash, "/leat") != 0)
                slash = NULL;
            if (!slash)
                break;
            *slash = '\0';
        }
    }
    if (!slash) {
        free(path);
        return NULL;
    }
    memcpy(slash, python, sizeof python);
    return path;
}

char *own_python_name(void)
{
    const char *named = getenv("LEAT_PYTHON");
    char *own;

    if (named && *named)
        return strdup(named);
    own = of_environment();
    if (own && access(own, X_OK) == 0)
        return own;
    free(own);
    return strdup("python3");
}

/* Returns the file that a name without a slash is on PATH; the name itself if there is none. */
static const char *show_place(const char *name, char *path, size_t capacity)
{
    const char *folder = strchr(name, '/') ? NULL : getenv("PATH");

    for (size_t length; folder && *folder; folder += length + (folder[length] == ':')) {
        length = strcspn(folder, ":");
        snprintf(path, capacity, "%.*s/%s", (int)length, folder, name);
        if (access(path, X_OK) == 0)
            return path;
    }
    return name;
}

char *own_python_find(const char *what, char *why, size_t capacity)
{
    static const char *const says[] = { [OTHER_VERSION] = "has another version of it",
                                        [HAS_NONE] = "does not have it",
                                        [NO_PYTHON] = "cannot be started" };
    char *named = own_python_name(), *usual = strdup("python3"), path[512], lacks[560];
    enum answer answer = named ? ask_python(named) : NO_PYTHON;
    const char *other = named && strcmp(named, "python3") != 0 ? usual : NULL;

    if (answer != HAS_IT && other && ask_python(usual) == HAS_IT) {
        free(named);
        return usual;
    }
    free(usual);
    if (answer == HAS_IT)
        return named;
    if (answer == NO_PYTHON && !other)
        snprintf(lacks, sizeof lacks, "there is no python3 on PATH");
    else
        snprintf(lacks, sizeof lacks, "%s %s", show_place(named, path, sizeof path), says[answer]);
    snprintf(why, capacity,
             "%s is done by leat's Python package, version " LEAT_VERSION ", and %s: install it (`pip install .` in "
             "leat's sources, or its wheel), or name an interpreter that has it in LEAT_PYTHON",
             what, lacks);
    free(named);
    return NULL;
}

void own_python_become(char *python, const char *module, char *const *words)
{
    char code[128];

    snprintf(code, sizeof code, "import runpy\nrunpy.run_module('%s', run_name='__main__')", module);
    own_python_become_code(python, code, words);
}

void own_python_become_code(char *python, const char *code, char *const *words)
{
    char **environment, **all = make_words(python, code, words, false, &environment);

    if (!all)
        return;
    execvpe(python, all, environment);
    free(all);
}
