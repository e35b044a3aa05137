/* xml.c: decodes each text where it stands, since it only becomes shorter. */
#include "xml.h"

#include <string.h>

#include "base/bytes.h"

void xml_begin(struct xml *x, void *text, size_t bytes)
{
    memset(x, 0, sizeof *x);
    if (bytes == 0)
        return; /* there may be no text at all */
    x->at = text;
    x->end = x->at + bytes;
}

bool xml_is(const struct xml *x, const char *path)
{
    return strcmp(x->path, path) == 0;
}

static bool is_name(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr("-_.:", c));
}

/* ---- Texts ------------------------------------------------------------------------------------------------------ */

static uint8_t *put_utf8(uint8_t *to, uint32_t c)
{
    if (c < 0x80) {
        *to++ = (uint8_t)c;
        return to;
    }
    if (c < 0x800) {
        *to++ = (uint8_t)(0xc0 | c >> 6);
    } else {
        if (c < 0x10000) {
            *to++ = (uint8_t)(0xe0 | c >> 12);
        } else {
            *to++ = (uint8_t)(0xf0 | c >> 18);
            *to++ = (uint8_t)(0x80 | (c >> 12 & 63));
        }
        *to++ = (uint8_t)(0x80 | (c >> 6 & 63));
    }
    *to++ = (uint8_t)(0x80 | (c & 63));
    return to;
}

/* Returns the value of "#38" or "#x26"; 0: it is none. */
static uint32_t numbered(const uint8_t *text, size_t bytes)
{
    bool hex = bytes > 1 && text[1] == 'x';
    uint32_t value = 0;

    if (bytes < 2u + hex || bytes > 8 || text[0] != '#')
        return 0;
    for (size_t i = 1u + hex; i < bytes; i++) {
        int digit = bytes_hex_digit(text[i]);

        if (digit < 0 || digit >= (hex ? 16 : 10))
            return 0;
        value = value * (hex ? 16 : 10) + (uint32_t)digit;
    }
    return value > 0x10ffff || (value >= 0xd800 && value < 0xe000) ? 0 : value;
}

static uint32_t entity(const uint8_t *text, size_t bytes)
{
    static const struct {
        const char *name;
        char is;
    } named[] = { { "amp", '&' }, { "lt", '<' }, { "gt", '>' }, { "quot", '"' }, { "apos", '\'' } };

    for (unsigned i = 0; i < sizeof named / sizeof *named; i++)
        if (bytes == strlen(named[i].name) && memcmp(text, named[i].name, bytes) == 0)
            return (uint32_t)named[i].is;
    return numbered(text, bytes);
}

/* Decodes [from, end) in place. The longest encoded character is shorter than the shortest number that means it. */
static bool decode(uint8_t *from, const uint8_t *end, struct xml_text *text)
{
    uint8_t *to = from;

    text->at = (char *)from;
    while (from < end) {
        const uint8_t *semicolon;
        uint32_t c;

        if (*from != '&') {
            *to++ = *from++;
            continue;
        }
        semicolon = memchr(from, ';', (size_t)(end - from));
        if (!semicolon)
            return false;
        c = entity(from + 1, (size_t)(semicolon - from - 1));
        if (c == 0)
            return false;
        to = put_utf8(to, c);
        from += semicolon - from + 1;
    }
    text->bytes = (size_t)(to - (uint8_t *)text->at);
    return true;
}

/* ---- Tags ------------------------------------------------------------------------------------------------------- */

static bool enter(struct xml *x, const uint8_t *name, size_t bytes)
{
    size_t used = strlen(x->path);

    if (x->depth == XML_DEPTH || x->whole || bytes == 0 || used + bytes + 2 > sizeof x->path)
        return false;
    x->lengths[x->depth++] = used;
    if (used > 0)
        x->path[used++] = '/';
    memcpy(x->path + used, name, bytes);
    x->path[used + bytes] = '\0';
    return true;
}

static void leave(struct xml *x)
{
    x->path[x->lengths[--x->depth]] = '\0';
    x->whole = x->depth == 0;
    x->closed = false;
}

/* Returns true if a name is that of the innermost element. */
static bool is_innermost(const struct xml *x, const uint8_t *name, size_t bytes)
{
    size_t from = x->depth ? x->lengths[x->depth - 1] : 0;
    const char *path = x->path + from + (from > 0);

    return x->depth > 0 && strlen(path) == bytes && memcmp(path, name, bytes) == 0;
}

enum tag { TAG_OPEN, TAG_CLOSED, TAG_PASSED, TAG_BROKEN };

/* Takes a tag; x->at is right after its <. */
static enum tag take_tag(struct xml *x)
{
    uint8_t *close = memchr(x->at, '>', (size_t)(x->end - x->at)), *name = x->at;
    bool ends = x->at < x->end && *x->at == '/';
    size_t bytes = 0;

    if (!close)
        return TAG_BROKEN;
    x->at = close + 1;
    if (*name == '?')
        return TAG_PASSED;
    if (*name == '!') /* skips a comment that has no > in it; no server writes others */
        return close - name >= 5 && memcmp(name, "!--", 3) == 0 && memcmp(close - 2, "--", 2) == 0 ? TAG_PASSED
                                                                                                   : TAG_BROKEN;
    name += ends;
    while (name + bytes < close && is_name(name[bytes]))
        bytes++;
    if (ends)
        return is_innermost(x, name, bytes) ? TAG_CLOSED : TAG_BROKEN;
    if (!enter(x, name, bytes))
        return TAG_BROKEN;
    return close[-1] == '/' ? TAG_CLOSED : TAG_OPEN;
}

bool xml_next(struct xml *x, struct xml_text *text)
{
    uint8_t *from = x->at;

    if (x->closed)
        leave(x);
    while (!x->broken && x->at < x->end) {
        uint8_t *open = memchr(x->at, '<', (size_t)(x->end - x->at));
        enum tag tag;

        if (!open) {
            x->broken = !x->whole;
            return false;
        }
        x->at = open + 1;
        tag = take_tag(x);
        if (tag == TAG_CLOSED) {
            if (open[1] != '/')
                from = open;
            x->closed = true;
            x->broken = !decode(from, open, text);
            return !x->broken;
        }
        x->broken = tag == TAG_BROKEN;
        from = x->at;
    }
    x->broken |= !x->whole;
    return false;
}
