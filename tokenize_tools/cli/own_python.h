/*
 * own_python.h: commands whose work leat's Python package does: finds the interpreter that has the package, and
 * starts it, or becomes it, so that signals, terminal and exit code are the command's own. Every Python of a command
 * is started in this way: it takes no file of the current folder for a module, unless PYTHONPATH names the folder.
 */
#ifndef LEAT_CLI_OWN_PYTHON_H
#define LEAT_CLI_OWN_PYTHON_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Returns the interpreter to which leat's Python package belongs: $LEAT_PYTHON, which the package sets when it runs
 * the command; that of the environment in whose package the command lies
 * (PREFIX/lib/pythonX.Y/site-packages/leat/bin/leat has PREFIX/bin/python3); else python3 on PATH. It is not checked
 * whether the interpreter has the package. The caller frees the name; NULL if there is no memory.
 */
char *own_python_name(void);

/*
 * Finds an interpreter that has the package of this version: that of own_python_name(), or python3 on PATH. Returns
 * its name, which the caller frees, or NULL, with a sentence in `why` that says how to get one; `what` is what it is
 * needed for.
 */
char *own_python_find(const char *what, char *why, size_t capacity);

/* Starts `python -c code words...` in a process group of its own, with these descriptors as its 0, 1 and 2; NULL ends
 * `words`. With `apart`, its environment has only what an interpreter needs to find itself and its packages: no
 * credentials. Returns 0 or an errno. */
int own_python_start(pid_t *pid, char *python, const char *code, char *const *words, bool apart, const int fds[3]);

/* Becomes `python -m module words...`. NULL ends `words`. Returns only if that fails, with errno set. */
void own_python_become(char *python, const char *module, char *const *words);

/* Becomes `python -c code words...`; see own_python_become(). */
void own_python_become_code(char *python, const char *code, char *const *words);

#endif
