/* json_unescape.c: keeps an escape that is cut until its rest comes, and lets a kernel do everything else. */
#include "json_unescape.h"

#include <string.h>

#include "base/json_string.h"

/* Returns the length of the escape at `at`, with the other half of a surrogate pair after it, or 0 if `end` comes
 * too early to know. */
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

/* Returns how many bytes at the end of a chunk cannot be unescaped before the next chunk. */
static size_t cut_bytes(const char *in, size_t bytes)
{
    size_t at = bytes > JSON_UNESCAPE_HELD - 1 ? bytes - (JSON_UNESCAPE_HELD - 1) : 0, slashes = 0, known;

    while (at < bytes && in[at] != '\\')
        at++;
    /* in a row of backslashes, each second one is the character of an escape */
    while (at > slashes && in[at - slashes - 1] == '\\')
        slashes++;
    for (at += slashes % 2; at < bytes; at += known) {
        known = in[at] == '\\' ? known_bytes(in + at, in + bytes) : 1;
        if (known == 0)
            return bytes - at;
    }
    return 0;
}

void json_unescape_chunk(const struct json_kernels *kernels, struct json_unescape *state, const char *in,
                         size_t in_bytes, bool last, char *out, size_t *out_bytes)
{
    char *(*unescape)(char *, const char *, const char *) = kernels->unescape;
    char border[2 * JSON_UNESCAPE_HELD], *to = out;
    size_t held = state->held_bytes, more, cut;

    if (held > 0) { /* the held bytes, with the start of this chunk */
        more = in_bytes < JSON_UNESCAPE_HELD ? in_bytes : JSON_UNESCAPE_HELD;
        memcpy(border, state->held, held);
        memcpy(border + held, in, more);
        cut = cut_bytes(border, held + more);
        to = unescape(to, border, border + held + more - cut);
        state->held_bytes = more == in_bytes ? cut : 0;
        memcpy(state->held, border + held + more - cut, state->held_bytes);
        if (more < in_bytes) /* otherwise `more` is greater than the longest escape */
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
    if (last && state->held_bytes >= 6) { /* half of a surrogate pair, without its other half */
        to += utf8_encode((uint8_t *)to, 0xfffd);
        state->held_bytes = 0;
    }
    *out_bytes = (size_t)(to - out);
}
