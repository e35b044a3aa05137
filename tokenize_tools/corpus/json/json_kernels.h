/*
 * json_kernels.h: the loops over the bytes of JSON strings, for each CPU level; json_kernels() picks a row. The plain
 * row defines the right answer; json_string.h does that for single escapes.
 */
#ifndef LEAT_TOKENIZE_TOOLS_JSON_KERNELS_H
#define LEAT_TOKENIZE_TOOLS_JSON_KERNELS_H

#include <stdbool.h>
#include <stddef.h>

struct json_kernels {
    const char *name;
    /*
     * Skips the inside of a string: ordinary bytes, and valid escapes that lie whole before `end`. Returns the place at
     * which it stops: `end`, a quote, a control character, or a backslash whose escape is invalid or cut off. Sets
     * *escaped if there was an escape.
     */
    const char *(*pass)(const char *at, const char *end, bool *escaped);
    /*
     * Unescapes [from, end), which pass() has skipped, to `to`: `from`, or before it, or other memory of that size.
     * Returns the end of the text. Writes nothing at or after to + (end - from).
     */
    char *(*unescape)(char *to, const char *from, const char *end);
    size_t (*count_newlines)(const char *bytes, size_t count);
};

/* Returns the fastest row that this CPU can run, in constant memory. */
const struct json_kernels *json_kernels(void);

/* Returns row `number`, fastest first, for tests; NULL past the last. Sets *usable (may be NULL) if this CPU can run
 * it. */
const struct json_kernels *json_kernels_row(unsigned number, int *usable);

#endif
