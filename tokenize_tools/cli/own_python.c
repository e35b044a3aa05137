/* own_python.c: see own_python.h. */
#include "own_python.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "leat.h"

extern char **environ;

enum answer { HAS_IT, OTHER_VERSION, HAS_NONE, NO_PYTHON };

/* What lies in the current folder must not be taken for a module of Python. */
#define SAFELY "import sys\nsys.path[:1] == [''] and sys.path.pop(0)\n"

/* Asks an interpreter, whose name is a path or is looked for on PATH. */
static enum answer ask(char *python)
{
    char dash[] = "-c", version[] = LEAT_VERSION;
    char question[] = SAFELY "try:\n"
                             "    from leat._leat import version\n" /* another project's leat has none */
                             "except ImportError:\n"
                             "    sys.exit(12)\n"
                             "sys.exit(10 if version == sys.argv[1] else 11)\n";
    char *words[] = { python, dash, question, version, NULL };
    posix_spawn_file_actions_t actions;
    int status = 0, code;
    pid_t child;

    if (posix_spawn_file_actions_init(&actions) != 0)
        return NO_PYTHON;
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    code = posix_spawnp(&child, python, &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (code != 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
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

/* PREFIX/bin/python3 of PREFIX/lib/pythonX.Y/site-packages/leat/bin/leat, or NULL. */
static char *of_environment(void)
{
    static const char python[] = "/bin/python3";
    char *path = malloc(4096 + sizeof python), *slash = NULL;
    ssize_t length = path ? readlink("/proc/self/exe", path, 4095) : -1;

    if (length > 0) {
        path[length] = '\0';
        for (unsigned i = 0; i < 6; i++) { /* leat, bin, leat, site-packages, pythonX.Y, lib */
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

char *own_python_find(const char *what, char *why, size_t capacity)
{
    char *found = own_python_name();
    enum answer answer = found ? ask(found) : NO_PYTHON;

    if (answer == HAS_IT)
        return found;
    if (found && strcmp(found, "python3") != 0) {
        free(found);
        found = strdup("python3");
        answer = found ? ask(found) : NO_PYTHON;
        if (answer == HAS_IT)
            return found;
    }
    free(found);
    snprintf(why, capacity,
             "%s is done by leat's Python package, version " LEAT_VERSION ", %s: install it (`pip install .` in leat's "
             "sources, or its wheel), or name an interpreter that has it in LEAT_PYTHON",
             what,
             answer == NO_PYTHON       ? "and there is no python3 on PATH"
             : answer == OTHER_VERSION ? "and that of python3 on PATH has another version"
                                       : "which python3 on PATH does not have");
    return NULL;
}

void own_python_become(char *python, char *module, char *const *words)
{
    char dash[] = "-c", run[] = SAFELY "import runpy\nrunpy.run_module(sys.argv.pop(1), run_name='__main__')\n";
    size_t count = 0;
    char **all;

    while (words[count])
        count++;
    all = calloc(count + 5, sizeof *all);
    if (!all)
        return;
    all[0] = python;
    all[1] = dash;
    all[2] = run;
    all[3] = module;
    memcpy(all + 4, words, count * sizeof *words);
    execvp(python, all);
    free(all);
}
