/* lines.c: see lines.h. */
#include "lines.h"

#include "json_kernels.h"

size_t lines_count(const char *bytes, size_t count)
{
    return json_kernels()->count_newlines(bytes, count);
}

bool lines_blank(const char *line, size_t bytes)
{
    /* of a line that is not blank, the first byte tells as a rule */
    for (size_t i = 0; i < bytes; i++)
        if (line[i] != ' ' && line[i] != '\t' && line[i] != '\r' && line[i] != '\n')
            return false;
    return true;
}
