/* json_unescape.h: unescapes a string of JSON that comes in chunks, since its record is too big for memory. */
#ifndef LEAT_TOKENIZE_TOOLS_JSON_UNESCAPE_H
#define LEAT_TOKENIZE_TOOLS_JSON_UNESCAPE_H

#include <stdbool.h>
#include <stddef.h>

#include "json_kernels.h"

#define JSON_UNESCAPE_HELD 12u /* bytes: a surrogate pair, the longest that cannot be cut */

/* All zero at the start of a string. */
struct json_unescape {
    char held[JSON_UNESCAPE_HELD]; /* an escape, or half a surrogate pair, that the end of a chunk has cut */
    size_t held_bytes;
};

/*
 * Unescapes the next chunk of a string that was found valid; it may be cut anywhere. `out` has room for `in_bytes` +
 * JSON_UNESCAPE_HELD bytes and does not overlap `in`. After the last chunk, one call with `last` true and no bytes
 * gives what is held.
 */
void json_unescape_chunk(const struct json_kernels *kernels, struct json_unescape *state, const char *in,
                         size_t in_bytes, bool last, char *out, size_t *out_bytes);

#endif
