/* json_unescape.h: unescapes a string of JSON in chunks, for records that are too big for memory. */
#ifndef LEAT_TOKENIZE_TOOLS_JSON_UNESCAPE_H
#define LEAT_TOKENIZE_TOOLS_JSON_UNESCAPE_H

#include <stdbool.h>
#include <stddef.h>

#include "json_kernels.h"

#define JSON_UNESCAPE_HELD 12u /* bytes of a surrogate pair, the longest text that must not be cut */

/* The state between two chunks, zeroed at the start of a string. */
struct json_unescape {
    char held[JSON_UNESCAPE_HELD]; /* start of an escape or surrogate pair that is cut by the end of a chunk */
    size_t held_bytes;
};

/*
 * Unescapes the next chunk of a string that is valid JSON; it may be cut anywhere. `out` has room for `in_bytes` +
 * JSON_UNESCAPE_HELD bytes and does not overlap `in`. One call with `last` true and no bytes must follow the last
 * chunk; it writes the bytes that are held.
 */
void json_unescape_chunk(const struct json_kernels *kernels, struct json_unescape *state, const char *in,
                         size_t in_bytes, bool last, char *out, size_t *out_bytes);

#endif
