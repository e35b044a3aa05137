/* path.h: names of files, put together. The caller frees them; NULL: no memory. */
#ifndef LEAT_BASE_PATH_H
#define LEAT_BASE_PATH_H

#include <stddef.h>

#if defined(__GNUC__)
#define PATH_SENTINEL __attribute__((sentinel))
#else
#define PATH_SENTINEL
#endif

/* Returns a new path: a folder, a slash unless the folder ends in one, and the texts that follow, up to NULL:
 * path_join(folder, name, NULL). */
char *path_join(const char *folder, ...) PATH_SENTINEL;

/* Returns a new text: name[0..length) and the texts that follow, up to NULL: path_append(name, length, ".partial.",
 * "tokens", NULL). */
char *path_append(const char *name, size_t length, ...) PATH_SENTINEL;

#endif
