#include "show.h"

#include <string.h>
#include <strings.h>

#include "utf8.h"

#define IN_PLACE_BYTES 1024u /* sentences are shorter */

/* Rising ranges of characters beyond ASCII: those that a terminal obeys, and those that nobody sees. What words and
 * emoji are spelled with (joiners, variation selectors) stays. */
static const struct {
    uint32_t first, last;
} hidden[] = {
    { 0x80, 0x9f },       /* C1: U+009B begins a command, as ESC [ does */
    { 0xad, 0xad },       /* soft hyphen */
    { 0x61c, 0x61c },     /* Arabic letter mark */
    { 0x115f, 0x1160 },   /* Hangul's fillers */
    { 0x180e, 0x180e },   /* Mongolian vowel separator */
    { 0x200b, 0x200b },   /* zero width space */
    { 0x200e, 0x200f },   /* left-to-right mark, right-to-left mark */
    { 0x2028, 0x202e },   /* line and paragraph separator; embeddings and overrides of direction */
    { 0x2060, 0x206f },   /* word joiner, operators; isolates of direction */
    { 0x3164, 0x3164 },   /* Hangul's filler */
    { 0xfeff, 0xfeff },   /* zero width no-break space, the mark of byte order */
    { 0xffa0, 0xffa0 },   /* Hangul's filler of half a width */
    { 0xfff0, 0xfffb },   /* annotations */
    { 0x1bca0, 0x1bca3 }, /* controls of shorthand */
    { 0x1d173, 0x1d17a }, /* format characters of musical notes */
    { 0xe0000, 0xe00ff }, /* tags */
    { 0xe01f0, 0xe0fff }, /* not assigned, but treated as tags */
};

static uint32_t code_point(const uint8_t *p, size_t bytes)
{
    uint32_t c = p[0] & (0xffu >> (bytes + 1));

    for (size_t i = 1; i < bytes; i++)
        c = c << 6 | (p[i] & 0x3f);
    return c;
}

uint32_t show_hidden(const uint8_t *character, size_t bytes)
{
    uint32_t c = code_point(character, bytes);

    for (size_t i = 0; i < sizeof hidden / sizeof *hidden && c >= hidden[i].first; i++)
        if (c <= hidden[i].last)
            return c;
    return 0;
}

/* Writes a backslash, a letter and `digits` hexadecimal digits. Returns the length. */
static size_t put_escape(char *out, char letter, unsigned digits, uint32_t value)
{
    out[0] = '\\';
    out[1] = letter;
    for (unsigned i = 0; i < digits; i++)
        out[2 + i] = "0123456789abcdef"[value >> 4 * (digits - 1 - i) & 0xf];
    return 2 + digits;
}

size_t show_step(const char *text, size_t bytes, char *out, size_t *length)
{
    const uint8_t *p = (const uint8_t *)text;
    uint32_t c = p[0];
    size_t size;

    if (c < 0x80) {
        *length = 1;
        out[0] = text[0];
        if (c < 0x20 || c == 0x7f)
            *length = put_escape(out, 'x', 2, c);
        return 1;
    }
    size = utf8_character(p, bytes);
    if (size == 0) {
        *length = put_escape(out, 'x', 2, c);
        return 1;
    }
    c = show_hidden(p, size);
    *length = size;
    memcpy(out, text, size);
    if (c != 0)
        *length = c < 0x10000 ? put_escape(out, 'u', 4, c) : put_escape(out, 'U', 8, c);
    return size;
}

size_t show_text(char *out, size_t room, const char *text, size_t bytes)
{
    size_t used = 0, length, written = 0;
    char step[SHOW_MOST];

    for (size_t at = 0; at < bytes; used += length) {
        at += show_step(text + at, bytes - at, step, &length);
        if (written == used && length < room - used) { /* nothing was left out so far */
            memcpy(out + used, step, length);
            written += length;
        }
    }
    if (room > 0)
        out[written] = '\0';
    return used;
}

/* Returns true if all of a string is printable ASCII, as nearly all are. */
static int is_plain(const char *text)
{
    while (*text >= 0x20 && *text < 0x7f)
        text++;
    return *text == '\0';
}

/* Hides secrets of URLs. For schemes other than http and https, what stands before an @ is a container's name, and
 * stays unless it has a colon. */
void show_hide(char *text, bool sentence)
{
    for (char *at = text; (at = strstr(at, "://"));) {
        bool web = at - text >= 4 && (strncasecmp(at - 4, "http", 4) == 0 || strncasecmp(at - 4, "ttps", 4) == 0);
        char *end = at + 3 + strcspn(at + 3, sentence ? " \"\n" : ""), *path, *user;

        at += 3;
        path = at + strcspn(at, "/?#");
        user = memrchr(at, '@', (size_t)((path < end ? path : end) - at));
        if (user && (web || memchr(at, ':', (size_t)(user - at)))) {
            memmove(at, user + 1, strlen(user));
            end -= user + 1 - at;
        }
        if (!web)
            continue;
        at += strcspn(at, "?#");
        while (sentence && end > at && strchr(".,:;)", end[-1])) /* these characters end the sentence, not the URL */
            end--;
        if (at < end)
            memmove(at, end, strlen(end) + 1);
        else
            at = end;
    }
}

void show_in_place(char *text, size_t room)
{
    char copy[IN_PLACE_BYTES];
    size_t length;

    show_hide(text, true);
    length = strlen(text);
    if (is_plain(text) || length >= sizeof copy)
        return;
    memcpy(copy, text, length);
    /* a text that fills its room may have been cut inside of a character */
    if (length + 1 == room)
        length -= utf8_open_end((const uint8_t *)copy, length);
    show_text(text, room, copy, length);
}
