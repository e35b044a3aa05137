/* folder.c: see folder.h. */
#include "folder.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define SUFFIX_ROOM 64u /* of a name's companions, such as .partial.checkpoint.new */

void folder_note(struct folder *f)
{
    *f = (struct folder) { 0 };
    if (file_identify(".", &f->identity, NULL) == LEAT_OK && f->identity.exists)
        f->path = realpath(".", NULL);
}

void folder_free(struct folder *f)
{
    free(f->path);
    f->path = NULL;
}

/* By the folder itself, not by its name: it may have been renamed, and then relative names are still right. */
bool folder_left(const struct folder *f)
{
    struct file_identity now;

    return f->path && file_identify(".", &now, NULL) == LEAT_OK && now.exists && !file_same(f->identity, now);
}

char *folder_name(const struct folder *f, const char *name)
{
    size_t size = f->path ? strlen(f->path) + strlen(name) + 2 : 0;
    char *whole;

    if (!f->path || name[0] == '/' || size + SUFFIX_ROOM > PATH_MAX)
        return strdup(name);
    whole = malloc(size);
    if (whole)
        snprintf(whole, size, "%s/%s", f->path, name);
    return whole;
}
