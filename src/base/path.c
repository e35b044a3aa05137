#include "path.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Goes through the texts twice: to measure them, then to copy them. */
static char *put_together(const char *base, size_t length, bool slash, va_list texts)
{
    size_t size = length + slash + 1;
    const char *text;
    char *path, *to;
    va_list again;

    va_copy(again, texts);
    while ((text = va_arg(again, const char *)))
        size += strlen(text);
    va_end(again);
    path = malloc(size);
    if (!path)
        return NULL;
    if (length > 0)
        memcpy(path, base, length);
    to = path + length;
    if (slash)
        *to++ = '/';
    while ((text = va_arg(texts, const char *))) {
        size_t bytes = strlen(text);

        memcpy(to, text, bytes);
        to += bytes;
    }
    *to = '\0';
    return path;
}

char *path_join(const char *folder, ...)
{
    size_t length = strlen(folder);
    va_list texts;
    char *path;

    va_start(texts, folder);
    path = put_together(folder, length, length == 0 || folder[length - 1] != '/', texts);
    va_end(texts);
    return path;
}

char *path_append(const char *name, size_t length, ...)
{
    va_list texts;
    char *path;

    va_start(texts, length);
    path = put_together(name, length, false, texts);
    va_end(texts);
    return path;
}
