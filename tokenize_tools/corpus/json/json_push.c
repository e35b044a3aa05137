/* json_push.c: see json_push.h. The scanner notes places; this file keeps the bytes of the id as they pass. */
#include "json_push.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/status.h"
#include "json_scan.h"

/* an id of the greatest length, all of it escaped */
#define RAW_ID_BYTES (6 * JSON_ID_BYTES)

struct json_push {
    struct json_scan scan;
    struct buffer id; /* its bytes as they stand in the record, up to RAW_ID_BYTES + 1 */
    uint64_t id_begin;
};

enum leat_status json_push_open(struct json_push **out, const struct json_fields *fields, struct leat_error *err)
{
    struct json_push *push = calloc(1, sizeof *push);

    *out = push;
    if (!push)
        return status_no_memory(err, sizeof *push);
    push->scan.fields = fields;
    json_push_begin(push);
    return LEAT_OK;
}

void json_push_close(struct json_push *push)
{
    buffer_free(&push->id);
    free(push);
}

void json_push_begin(struct json_push *push)
{
    json_scan_begin(&push->scan, push->scan.fields);
    push->id.size = 0;
    push->id_begin = 0;
}

static enum leat_status keep(struct json_push *push, const char *bytes, size_t count, struct leat_error *err)
{
    size_t left = RAW_ID_BYTES + 1 - push->id.size;

    return buffer_append(&push->id, bytes, count < left ? count : left, err); /* too long: the length will tell */
}

/* Keeps the bytes of the id among those from `position` on, as far as the scan has come. */
static enum leat_status keep_id(struct json_push *push, const char *bytes, uint64_t position, struct leat_error *err)
{
    const struct json_place *id = &push->scan.place[JSON_ID];
    uint64_t from, to;

    if (id->kind != JSON_KIND_STRING && id->kind != JSON_KIND_NUMBER)
        return LEAT_OK;
    if (id->begin != push->id_begin) {
        push->id_begin = id->begin;
        push->id.size = 0;
    }
    from = id->begin > position ? id->begin - position : 0;
    to = id->begin + id->bytes > position ? id->begin + id->bytes - position : 0;
    return from < to ? keep(push, bytes + from, (size_t)(to - from), err) : LEAT_OK;
}

enum leat_status json_push_feed(struct json_push *push, const char *bytes, size_t count, bool *enough,
                                struct leat_error *err)
{
    uint64_t position = push->scan.position;

    *enough = !json_scan_feed(&push->scan, bytes, count);
    return *enough ? LEAT_OK : keep_id(push, bytes, position, err);
}

enum leat_status json_push_end(struct json_push *push, struct json_pushed *pushed, struct leat_error *err)
{
    struct json_scan *scan = &push->scan;
    const struct json_place *id = &scan->place[JSON_ID];
    char *raw = (char *)push->id.bytes;

    memset(pushed, 0, sizeof *pushed);
    pushed->problem = json_scan_end(scan, &pushed->byte, err);
    pushed->has_nan = scan->has_nan;
    if (pushed->problem != JSON_FINE)
        return LEAT_E_TEXT;
    pushed->text_begin = scan->place[JSON_TEXT].begin;
    pushed->text_raw_bytes = scan->place[JSON_TEXT].bytes;
    if (id->kind != JSON_KIND_STRING && id->kind != JSON_KIND_NUMBER)
        return LEAT_OK;
    if (id->escaped && id->bytes <= RAW_ID_BYTES)
        push->id.size = (size_t)(scan->fields->kernels->unescape(raw, raw, raw + push->id.size) - raw);
    if (push->id.size > JSON_ID_BYTES) {
        pushed->problem = JSON_ID_TOO_LONG;
        return json_scan_long_id(scan, err);
    }
    pushed->id = raw ? raw : "";
    pushed->id_bytes = push->id.size;
    return LEAT_OK;
}

/* ---- Unescaping in chunks -------------------------------------------------------------------------------------- */

/* The length of the escape at `at`, with the other half of a surrogate pair after it; 0 if `end` comes too early to
 * tell. */
static size_t known_bytes(const char *at, const char *end)
{
    size_t left = (size_t)(end - at);
    uint32_t code;

    if (left < 2)
        return 0;
    if (at[1] != 'u')
        return 2;
    if (left < 6)
        return 0;
    code = json_four_digits(at + 2);
    if (code < 0xd800 || code > 0xdbff || left >= 12)
        return 6;
    if (left > 6 && (at[6] != '\\' || (left > 7 && at[7] != 'u')))
        return 6;
    return 0;
}

/* Bytes at the end of a chunk that cannot be unescaped before the next chunk. */
static size_t cut_bytes(const char *in, size_t bytes)
{
    size_t at = bytes > JSON_UNESCAPE_HELD - 1 ? bytes - (JSON_UNESCAPE_HELD - 1) : 0, slashes = 0, known;

    while (at < bytes && in[at] != '\\')
        at++;
    /* in a row of backslashes, each second one is the letter of an escape */
    while (at > slashes && in[at - slashes - 1] == '\\')
        slashes++;
    for (at += slashes % 2; at < bytes; at += known) {
        known = in[at] == '\\' ? known_bytes(in + at, in + bytes) : 1;
        if (known == 0)
            return bytes - at;
    }
    return 0;
}

void json_unescape_chunk(const struct json_fields *fields, struct json_unescape *state, const char *in, size_t in_bytes,
                         bool last, char *out, size_t *out_bytes)
{
    char *(*unescape)(char *, const char *, const char *) = fields->kernels->unescape;
    char border[2 * JSON_UNESCAPE_HELD], *to = out;
    size_t held = state->held_bytes, more, cut;

    if (held > 0) { /* what is held, with the start of this chunk */
        more = in_bytes < JSON_UNESCAPE_HELD ? in_bytes : JSON_UNESCAPE_HELD;
        memcpy(border, state->held, held);
        memcpy(border + held, in, more);
        cut = cut_bytes(border, held + more);
        to = unescape(to, border, border + held + more - cut);
        state->held_bytes = more == in_bytes ? cut : 0;
        memcpy(state->held, border + held + more - cut, state->held_bytes);
        if (more < in_bytes) /* then `more` is greater than what can be cut */
            more -= cut;
        in += more;
        in_bytes -= more;
    }
    if (in_bytes > 0) {
        cut = cut_bytes(in, in_bytes);
        to = unescape(to, in, in + in_bytes - cut);
        memcpy(state->held, in + in_bytes - cut, cut);
        state->held_bytes = cut;
    }
    if (last && state->held_bytes >= 6) { /* half a pair, and no other half came */
        to += json_put_utf8(0xfffd, to);
        state->held_bytes = 0;
    }
    *out_bytes = (size_t)(to - out);
}
