/* lines.c: finds lines; newlines are counted by the kernels of JSON. */
#include "lines.h"

#include <string.h>

#include "base/json_string.h"
#include "corpus/json/json_kernels.h"

size_t lines_count(const char *bytes, size_t count)
{
    return json_kernels()->count_newlines(bytes, count);
}

size_t lines_mark(const char *text, size_t bytes)
{
    return bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

bool lines_blank(const char *line, size_t bytes)
{
    /* mostly the first byte shows that a line is not blank */
    for (size_t i = 0; i < bytes; i++)
        if (!json_is_space(line[i]))
            return false;
    return true;
}
