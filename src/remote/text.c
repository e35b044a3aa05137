#include "text.h"

#include <malloc.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/status.h"

enum leat_status text_join(char **out, struct leat_error *err, ...)
{
    size_t bytes = 1, at = 0;
    const char *piece;
    va_list pieces;

    va_start(pieces, err);
    while ((piece = va_arg(pieces, const char *)))
        bytes += strlen(piece);
    va_end(pieces);
    *out = malloc(bytes);
    if (!*out)
        return status_no_memory(err, bytes);
    va_start(pieces, err);
    while ((piece = va_arg(pieces, const char *))) {
        memcpy(*out + at, piece, strlen(piece));
        at += strlen(piece);
    }
    va_end(pieces);
    (*out)[at] = '\0';
    return LEAT_OK;
}

enum leat_status text_copy(char **out, const char *text, size_t length, struct leat_error *err)
{
    *out = strndup(text, length);
    return *out ? LEAT_OK : status_no_memory(err, length + 1);
}

static bool stays(char c, bool path)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("-._~", c) ||
           (path && c == '/');
}

enum leat_status text_encode(char **out, const char *text, bool path, struct leat_error *err)
{
    static const char digits[] = "0123456789ABCDEF";
    size_t length = strlen(text);
    char *to = *out = length < SIZE_MAX / 3 ? malloc(3 * length + 1) : NULL;

    if (!to)
        return status_no_memory(err, length);
    for (; *text; text++) {
        if (stays(*text, path)) {
            *to++ = *text;
            continue;
        }
        *to++ = '%';
        *to++ = digits[(uint8_t)*text >> 4];
        *to++ = digits[(uint8_t)*text & 15];
    }
    *to = '\0';
    return LEAT_OK;
}

#define MAX_FILE ((uint64_t)64 << 10)

enum leat_status text_read(char **text, const char *path, struct leat_error *err)
{
    uint64_t size = 0;
    int fd = -1;
    enum leat_status s = file_open_read(&fd, &size, path, err);

    *text = NULL;
    if (s == LEAT_OK && size > MAX_FILE)
        s = status_set_in(err, LEAT_E_ARGUMENT, path, "%s is too long for a token", path);
    if (s == LEAT_OK) {
        *text = calloc(1, (size_t)size + 1);
        s = *text ? file_read_at(fd, 0, *text, size, path, err) : status_no_memory(err, size);
    }
    file_close(&fd);
    for (size_t end = s == LEAT_OK ? strlen(*text) : 0; end > 0 && strchr(" \t\r\n", (*text)[end - 1]); end--)
        (*text)[end - 1] = '\0';
    return s;
}

bool text_begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

void text_forget(char *secret)
{
    if (secret)
        explicit_bzero(secret, strlen(secret));
    free(secret);
}

void text_wipe(void *memory)
{
    if (memory)
        explicit_bzero(memory, malloc_usable_size(memory));
    free(memory);
}

void *text_resize(void *memory, size_t bytes)
{
    size_t had = memory ? malloc_usable_size(memory) : 0;
    void *to = malloc(bytes);

    if (to && had > 0)
        memcpy(to, memory, had < bytes ? had : bytes);
    if (to)
        text_wipe(memory);
    return to;
}
