/* text.c: see text.h. */
#include "text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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
