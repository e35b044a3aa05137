/*
 * json_kernels.h: the loops over the bytes of JSON strings, for each CPU level; json_kernels() picks a row. What they
 * do is defined by the plain row; json_string.h has it for single escapes.
 */
#ifndef LEAT_TOKENIZE_TOOLS_JSON_KERNELS_H
#define LEAT_TOKENIZE_TOOLS_JSON_KERNELS_H

#include <stdbool.h>
#include <stddef.h>

struct json_kernels {
    const char *name;
    /*
     * Passes over the inside of a string: ordinary bytes, and valid escapes that lie whole before `end`. Returns where
     * it stopped: at `end`, at a quote, at a control character, or at a backslash whose escape is invalid or cut off.
     * *escaped becomes true if there was an escape.
     */
    const char *(*pass)(const char *at, const char *end, bool *escaped);
    /*
     * Unescapes what pass() has passed over: [from, end) to `to`, which is `from` or before it, or elsewhere with as
     * much room. Returns the end of what was written. Nothing is written at or after to + (end - from).
     */
    char *(*unescape)(char *to, const char *from, const char *end);
    size_t (*count_newlines)(const char *bytes, size_t count);
};

/* The fastest row that this CPU has. Constant memory. */
const struct json_kernels *json_kernels(void);

/* Row `number`, fastest first, for tests; NULL past the last. `usable` (may be NULL): whether this CPU can run it. */
const struct json_kernels *json_kernels_row(unsigned number, int *usable);

#endif
