/*
 * json_push.h: does what json_fields_find() does, for a record that is too big for memory and comes in chunks. Of the
 * text it gives only the place; a caller that wants it reads the record again and passes it through
 * json_unescape_chunk(). It keeps only the id in memory.
 */
#ifndef LEAT_TOKENIZE_TOOLS_JSON_PUSH_H
#define LEAT_TOKENIZE_TOOLS_JSON_PUSH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json_fields.h"
#include "leat.h"

struct json_push;

/* What a record holds; offsets count from the record's first byte. */
struct json_pushed {
    enum json_problem problem;
    uint64_t byte;       /* as in struct json_found */
    uint64_t text_begin; /* of what stands between the text's quotes */
    uint64_t text_raw_bytes;
    const char *id; /* NULL: none; else json_push's until its next call */
    size_t id_bytes;
    bool has_nan; /* as in struct json_found */
};

/* `fields` must outlive it. On success *out is the caller's until json_push_close(). */
enum leat_status json_push_open(struct json_push **out, const struct json_fields *fields, struct leat_error *err);
void json_push_close(struct json_push *push);

/* Begins a new record; not needed for the first one. */
void json_push_begin(struct json_push *push);

/* Takes the next bytes of the record. Fails only without memory. A bad record is reported at its end, and the rest of
 * it need not be fed: *enough is true. */
enum leat_status json_push_feed(struct json_push *push, const char *bytes, size_t count, bool *enough,
                                struct leat_error *err);

/* Ends the record. Returns the statuses, problems and sentences that json_fields_find() has for the whole record. */
enum leat_status json_push_end(struct json_push *push, struct json_pushed *pushed, struct leat_error *err);

/* ---- Unescaping in chunks --------------------------------------------------------------------------------------- */

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
void json_unescape_chunk(const struct json_fields *fields, struct json_unescape *state, const char *in, size_t in_bytes,
                         bool last, char *out, size_t *out_bytes);

#endif
