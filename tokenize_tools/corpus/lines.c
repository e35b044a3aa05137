/* lines.c: see lines.h. */
#include "lines.h"

#include <string.h>

#include "json_kernels.h"

size_t lines_count(const char *bytes, size_t count)
{
    return json_kernels()->count_newlines(bytes, count);
}

size_t lines_whole(const char *bytes, size_t count)
{
    const char *last = count > 0 ? memrchr(bytes, '\n', count) : NULL;

    return last ? (size_t)(last - bytes) + 1 : 0;
}

size_t lines_next(const char **at, const char *end)
{
    const char *line = *at, *newline = memchr(line, '\n', (size_t)(end - line));

    *at = newline ? newline + 1 : end;
    return (size_t)((newline ? newline : end) - line);
}

bool lines_blank(const char *line, size_t bytes)
{
    /* of a line that is not blank, the first byte tells as a rule */
    for (size_t i = 0; i < bytes; i++)
        if (line[i] != ' ' && line[i] != '\t' && line[i] != '\r' && line[i] != '\n')
            return false;
    return true;
}
