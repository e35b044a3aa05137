/*
 * jsontree.c: see jsontree.h.
 *
 * One pass over the text: value() adds a node, between() takes the brackets, commas and keys up to the next value. Open
 * arrays and objects are on a stack of fixed size, so nothing recurses. A closing bracket sets `next` of its array or
 * object, so that readers can step over it. A vocabulary is mostly short strings: plain() checks eight bytes at a time,
 * and looks closer only at quotes, backslashes, control characters and what is not ASCII. A string with escapes is
 * copied, unescaped, to one buffer for all; every other string stays in the text.
 */
#include "jsontree.h"

#include <stdlib.h>
#include <string.h>

#include "base/big.h"
#include "base/bytes.h"
#include "base/status.h"
#include "base/utf8.h"

struct parser {
    struct jsontree *j;
    const uint8_t *p, *end;
    uint32_t room, bracket_room;
    uint32_t depth;
    uint32_t open[JSONTREE_MAX_DEPTH]; /* nodes of the brackets that are open */
    struct leat_error *err;
};

static enum leat_status wrong(struct parser *s, const uint8_t *at, const char *what)
{
    uint64_t offset = (uint64_t)(at - s->j->text);

    return status_set_at(s->err, LEAT_E_VOCABULARY, offset, "%s is not valid JSON: %s at byte %llu%s", s->j->path, what,
                         (unsigned long long)offset, at >= s->end ? ", where the file ends: is it complete?" : "");
}

/* The first allocation has as many nodes as a vocabulary of that size needs: a node takes 16 to 18 bytes of its
 * text. */
static enum leat_status more_nodes(struct parser *s)
{
    uint64_t room = s->room ? (uint64_t)s->room * 2 : s->j->size / 14 + 64;
    struct jsontree_node *nodes;

    if (room > UINT32_MAX)
        room = UINT32_MAX;
    nodes = s->room ? realloc(s->j->nodes, room * sizeof *nodes) : big_alloc(room * sizeof *nodes);
    if (!nodes)
        return status_no_memory(s->err, room * sizeof *nodes);
    s->j->nodes = nodes;
    s->room = (uint32_t)room;
    return LEAT_OK;
}

static enum leat_status add(struct parser *s, enum jsontree_kind kind, const uint8_t *at, uint64_t length)
{
    enum leat_status status;

    if (length > JSONTREE_MAX_LENGTH)
        return wrong(s, at, "a value of 256 MiB or more");
    if (s->j->count == s->room) {
        status = more_nodes(s);
        if (status != LEAT_OK)
            return status;
    }
    s->j->nodes[s->j->count++] = (struct jsontree_node) {
        .at = (uint32_t)(at - s->j->text),
        .length = (uint32_t)length,
        .kind = kind,
    };
    return LEAT_OK;
}

/* The bracket of the node that was added last. */
static enum leat_status add_bracket(struct parser *s, const uint8_t *at)
{
    struct jsontree *j = s->j;

    if (j->bracket_count == s->bracket_room) {
        uint32_t room = s->bracket_room ? 2 * s->bracket_room : 256;
        struct jsontree_bracket *grown = realloc(j->brackets, room * sizeof *grown);

        if (!grown)
            return status_no_memory(s->err, room * sizeof *grown);
        j->brackets = grown;
        s->bracket_room = room;
    }
    j->nodes[j->count - 1].at = j->bracket_count;
    j->brackets[j->bracket_count++] = (struct jsontree_bracket) { (uint32_t)(at - j->text), j->count };
    return LEAT_OK;
}

/* ---- Strings ---- */

/* Bytes of the UTF-8 character at p (a lead byte, not ASCII); 0 if it is not valid. */
static unsigned utf8_length(const uint8_t *p, const uint8_t *end)
{
    uint8_t a = p[0], b = end - p > 1 ? p[1] : 0;

    if (a < 0xe0)
        return a >= 0xc2 && (b & 0xc0) == 0x80 ? 2 : 0;
    if (a < 0xf0) {
        if ((b & 0xc0) != 0x80 || (a == 0xe0 && b < 0xa0) || (a == 0xed && b >= 0xa0))
            return 0;
        return end - p > 2 && (p[2] & 0xc0) == 0x80 ? 3 : 0;
    }
    if (a > 0xf4 || (b & 0xc0) != 0x80 || (a == 0xf0 && b < 0x90) || (a == 0xf4 && b >= 0x90))
        return 0;
    return end - p > 3 && (p[2] & 0xc0) == 0x80 && (p[3] & 0xc0) == 0x80 ? 4 : 0;
}

#define EVERY_BYTE(b) (0x0101010101010101u * (uint64_t)(b))

/*
 * Sets the high bit of each of eight bytes that is a control character, a quote, a backslash, or not ASCII. Bytes above
 * the lowest of these may have it by mistake.
 */
static inline uint64_t specials(uint64_t v)
{
    uint64_t quote = v ^ EVERY_BYTE('"'), backslash = v ^ EVERY_BYTE('\\');

    return ((quote - EVERY_BYTE(1)) | (backslash - EVERY_BYTE(1)) | (v - EVERY_BYTE(0x20)) | v) & EVERY_BYTE(0x80);
}

static inline unsigned lowest_bit(uint64_t v)
{
    return (unsigned)__builtin_ctzll(v);
}

/* The first special byte from p on, or the end. */
static inline const uint8_t *next_special(const uint8_t *p, const uint8_t *end)
{
    for (; end - p >= 8; p += 8) {
        uint64_t found = specials(bytes_load64(p));

        if (found)
            return p + lowest_bit(found) / 8;
    }
    while (p < end && *p >= 0x20 && *p < 0x80 && *p != '"' && *p != '\\')
        p++;
    return p;
}

/* Passes over plain characters; stops at a quote or a backslash. */
static enum leat_status plain(struct parser *s)
{
    const uint8_t *p = s->p, *end = s->end;

    for (;;) {
        unsigned n;

        p = next_special(p, end);
        if (p == end)
            return wrong(s, p, "unclosed string");
        if (*p == '"' || *p == '\\')
            break;
        if (*p < 0x20)
            return wrong(s, p, "an unescaped control character in a string");
        do { /* most characters that are not ASCII are followed by another one */
            n = utf8_length(p, end);
            if (n == 0)
                return wrong(s, p, "bytes that are not UTF-8");
            p += n;
        } while (p < end && *p >= 0x80);
    }
    s->p = p;
    return LEAT_OK;
}

/* The four hexadecimal digits after \u; -1 if they are not. */
static int32_t hex4(const uint8_t *p, const uint8_t *end)
{
    int32_t v = 0;

    if (end - p < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int d = bytes_hex_digit(p[i]);

        if (d < 0)
            return -1;
        v = v << 4 | d;
    }
    return v;
}

/* Reads the character whose \u is before s->p; above U+FFFF it has two surrogates. */
static enum leat_status unicode_escape(struct parser *s, uint8_t **to)
{
    int32_t c = hex4(s->p, s->end), low;

    if (c < 0)
        return wrong(s, s->p, "\\u without four hexadecimal digits");
    s->p += 4;
    if (c >= 0xd800 && c < 0xe000) {
        if (c >= 0xdc00 || s->end - s->p < 2 || s->p[0] != '\\' || s->p[1] != 'u')
            return wrong(s, s->p - 6, "an unpaired surrogate (\\ud800 to \\udfff)");
        low = hex4(s->p + 2, s->end);
        if (low < 0xdc00 || low >= 0xe000)
            return wrong(s, s->p, "an unpaired surrogate (\\ud800 to \\udfff)");
        s->p += 6;
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
    }
    *to += utf8_encode(*to, (uint32_t)c);
    return LEAT_OK;
}

static enum leat_status escape(struct parser *s, uint8_t **to)
{
    static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
    const uint8_t *at = s->p++; /* the backslash */
    const char *found;

    if (s->p == s->end)
        return wrong(s, s->p, "unclosed string");
    if (*s->p == 'u') {
        s->p++;
        return unicode_escape(s, to);
    }
    found = *s->p ? strchr(from, *s->p) : NULL;
    if (!found)
        return wrong(s, at, "an unknown escape");
    *(*to)++ = (uint8_t)into[found - from];
    s->p++;
    return LEAT_OK;
}

/* Reads a string that has an escape at s->p; `begin` is its first character. Looks for its end first, to make room for
 * all of it: unescaping never makes a string longer. */
static enum leat_status escaped_string(struct parser *s, const uint8_t *begin)
{
    struct jsontree *j = s->j;
    const uint8_t *stop = s->p;
    enum leat_status status;
    uint8_t *first, *to;

    while (stop < s->end && *stop != '"')
        stop += *stop == '\\' && s->end - stop > 1 ? 2 : 1;
    status = buffer_reserve(&j->unescaped, (size_t)(stop - begin) + 4, s->err);
    if (status != LEAT_OK)
        return status;
    to = j->unescaped.bytes + j->unescaped.size;
    bytes_store32(to, (uint32_t)(begin - j->text));
    first = to += 4;
    for (const uint8_t *run = begin;;) {
        memcpy(to, run, (size_t)(s->p - run));
        to += s->p - run;
        if (*s->p == '"')
            break;
        status = escape(s, &to);
        if (status != LEAT_OK)
            return status;
        run = s->p;
        status = plain(s);
        if (status != LEAT_OK)
            return status;
    }
    s->p++;
    status = add(s, JSONTREE_STRING, j->text, (uint64_t)(to - first));
    if (status != LEAT_OK)
        return status;
    j->nodes[j->count - 1].at = (uint32_t)(first - j->unescaped.bytes);
    j->nodes[j->count - 1].escaped = true;
    j->unescaped.size = (size_t)(to - j->unescaped.bytes);
    return LEAT_OK;
}

/* s->p is at the opening quote. */
static enum leat_status string(struct parser *s)
{
    const uint8_t *begin = ++s->p;
    enum leat_status status = plain(s);

    if (status != LEAT_OK)
        return status;
    if (*s->p == '\\')
        return escaped_string(s, begin);
    s->p++;
    return add(s, JSONTREE_STRING, begin, (uint64_t)(s->p - 1 - begin));
}

/* ---- Values ---- */

static const uint8_t *digits(const uint8_t *p, const uint8_t *end)
{
    while (p < end && *p >= '0' && *p <= '9')
        p++;
    return p;
}

static enum leat_status number(struct parser *s)
{
    const uint8_t *begin = s->p, *p = begin, *after;

    if (*p == '-')
        p++;
    after = digits(p, s->end);
    if (after == p)
        return wrong(s, p, "missing digit");
    if (*p == '0' && after - p > 1)
        return wrong(s, p, "leading 0 in a number");
    p = after;
    if (p < s->end && *p == '.') {
        after = digits(p + 1, s->end);
        if (after == p + 1)
            return wrong(s, after, "missing digit");
        p = after;
    }
    if (p < s->end && (*p | 0x20) == 'e') {
        p++;
        if (p < s->end && (*p == '+' || *p == '-'))
            p++;
        after = digits(p, s->end);
        if (after == p)
            return wrong(s, p, "missing digit");
        p = after;
    }
    s->p = p;
    return add(s, JSONTREE_NUMBER, begin, (uint64_t)(p - begin));
}

static enum leat_status word(struct parser *s, const char *text, enum jsontree_kind kind)
{
    size_t length = strlen(text);

    if ((size_t)(s->end - s->p) < length || memcmp(s->p, text, length) != 0)
        return wrong(s, s->p, "missing value");
    s->p += length;
    return add(s, kind, s->p - length, length);
}

static enum leat_status open_bracket(struct parser *s, enum jsontree_kind kind)
{
    enum leat_status status;

    if (s->depth == JSONTREE_MAX_DEPTH)
        return wrong(s, s->p, "more than 127 nested brackets");
    status = add(s, kind, s->p, 0);
    if (status == LEAT_OK)
        status = add_bracket(s, s->p);
    if (status != LEAT_OK)
        return status;
    s->open[s->depth++] = s->j->count - 1;
    s->p++;
    return LEAT_OK;
}

static enum leat_status value(struct parser *s)
{
    if (s->p == s->end)
        return wrong(s, s->p, "missing value");
    switch (*s->p) {
    case '"':
        return string(s);
    case '{':
        return open_bracket(s, JSONTREE_OBJECT);
    case '[':
        return open_bracket(s, JSONTREE_ARRAY);
    case 'n':
        return word(s, "null", JSONTREE_NULL);
    case 't':
        return word(s, "true", JSONTREE_TRUE);
    case 'f':
        return word(s, "false", JSONTREE_FALSE);
    case '-':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9':
        return number(s);
    default:
        return wrong(s, s->p, "missing value");
    }
}

static inline void space(struct parser *s)
{
    while (s->p < s->end && (*s->p == ' ' || *s->p == '\n' || *s->p == '\r' || *s->p == '\t'))
        s->p++;
}

static enum leat_status key(struct parser *s)
{
    enum leat_status status;

    if (s->p == s->end || *s->p != '"')
        return wrong(s, s->p, "missing member name in quotes");
    status = string(s);
    if (status != LEAT_OK)
        return status;
    space(s);
    if (s->p == s->end || *s->p != ':')
        return wrong(s, s->p, "missing ':'");
    s->p++;
    space(s);
    return LEAT_OK;
}

/*
 * Reads what stands between values: closing brackets, commas, keys. Leaves s->p at the next value, or sets *done when
 * the outermost bracket has closed.
 */
static enum leat_status between(struct parser *s, bool *done)
{
    for (;;) {
        struct jsontree_bracket *bracket;
        struct jsontree_node *open;
        bool object, first;

        if (s->depth == 0) {
            *done = true;
            return LEAT_OK;
        }
        open = &s->j->nodes[s->open[s->depth - 1]];
        bracket = &s->j->brackets[open->at];
        object = open->kind == JSONTREE_OBJECT;
        first = bracket->next == s->j->count; /* nothing in it yet */
        space(s);
        if (s->p < s->end && *s->p == (object ? '}' : ']')) {
            s->p++;
            bracket->next = s->j->count;
            s->depth--;
            continue;
        }
        if (!first) {
            if (s->p == s->end || *s->p != ',')
                return wrong(s, s->p, object ? "missing ',' or '}'" : "missing ',' or ']'");
            s->p++;
            space(s);
        }
        if (open->length == JSONTREE_MAX_LENGTH)
            return wrong(s, s->p, "more elements than any vocabulary has");
        open->length++;
        return object ? key(s) : LEAT_OK;
    }
}

static enum leat_status parse(struct parser *s)
{
    enum leat_status status;
    bool done = false;

    space(s);
    while (!done) {
        status = value(s);
        if (status == LEAT_OK)
            status = between(s, &done);
        if (status != LEAT_OK)
            return status;
    }
    space(s);
    return s->p == s->end ? LEAT_OK : wrong(s, s->p, "unexpected text after the value");
}

enum leat_status jsontree_parse(struct jsontree *j, const uint8_t *text, uint64_t size, const char *path,
                                struct leat_error *err)
{
    struct parser s = { .j = j, .p = text, .end = text + size, .err = err };
    enum leat_status status;

    *j = (struct jsontree) { .text = text, .size = size, .path = path };
    if (size > JSONTREE_MAX_BYTES)
        return status_set(err, LEAT_E_VOCABULARY, "%s is too large for a vocabulary: %llu bytes; the limit is 1 GiB",
                          path, (unsigned long long)size);
    status = parse(&s);
    if (status != LEAT_OK)
        jsontree_free(j);
    return status;
}

void jsontree_free(struct jsontree *j)
{
    free(j->nodes);
    free(j->brackets);
    buffer_free(&j->unescaped);
    *j = (struct jsontree) { 0 };
}
