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

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/big.h"
#include "base/bytes.h"
#include "base/bytes64.h"
#include "base/grow.h"
#include "base/status.h"
#include "base/utf8.h"

struct parser {
    struct jsontree *j;
    const uint8_t *p, *end;
    uint32_t room;
    size_t bracket_room;
    uint32_t depth;
    uint32_t open[JSONTREE_MAX_DEPTH]; /* nodes of the brackets that are open */
    struct leat_error *err;
};

static enum leat_status wrong(struct parser *s, const uint8_t *at, const char *what)
{
    uint64_t offset = (uint64_t)(at - s->j->text);

    return status_set_at(s->err, LEAT_E_VOCABULARY, s->j->path, offset,
                         "%s is not valid JSON: %s at byte %" PRIu64 "%s", s->j->path, what, offset,
                         at >= s->end ? ", where the file ends: is it complete?" : "");
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

    enum leat_status status = GROW(j->brackets, j->bracket_count + UINT64_C(1), s->bracket_room, s->err);

    if (status != LEAT_OK)
        return status;
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

/*
 * Sets the high bit of each of eight bytes that is a control character, a quote, a backslash, or not ASCII. Bytes above
 * the lowest of these may have it by mistake.
 */
static inline uint64_t specials(uint64_t v)
{
    uint64_t quote = v ^ BYTES_EACH('"'), backslash = v ^ BYTES_EACH('\\');

    return ((quote - BYTES_EACH(1)) | (backslash - BYTES_EACH(1)) | (v - BYTES_EACH(0x20)) | v) & BYTES_EACH(0x80);
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
        return status_set_in(err, LEAT_E_VOCABULARY, path,
                             "%s is too large for a vocabulary: %" PRIu64 " bytes; the limit is 1 GiB", path, size);
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

/* ---- Looking at a tree ------------------------------------------------------------------------------------------- */

bool jsontree_is(const struct jsontree *j, uint32_t node, const char *text)
{
    size_t length = strlen(text);
    struct jsontree_text t;

    if (j->nodes[node].kind != JSONTREE_STRING)
        return false;
    t = jsontree_string(j, node);
    return t.length == length && memcmp(t.bytes, text, length) == 0;
}

uint32_t jsontree_member(const struct jsontree *j, uint32_t object, const char *name)
{
    const struct jsontree_node *o = &j->nodes[object];
    uint32_t found = JSONTREE_NONE;

    if (o->kind != JSONTREE_OBJECT)
        return JSONTREE_NONE;
    for (uint32_t k = object + 1, end = jsontree_next(j, object); k < end; k = jsontree_next(j, k + 1))
        if (jsontree_is(j, k, name))
            found = k + 1;
    return found;
}

uint64_t jsontree_at(const struct jsontree *j, uint32_t node)
{
    const struct jsontree_node *n = &j->nodes[node];

    if (n->kind >= JSONTREE_ARRAY)
        return j->brackets[n->at].at;
    return n->escaped ? bytes_load32(j->unescaped.bytes + n->at - 4) : n->at;
}

bool jsontree_u64(const struct jsontree *j, uint32_t node, uint64_t *out)
{
    const struct jsontree_node *n = &j->nodes[node];
    const uint8_t *p = j->text + n->at;
    uint64_t v = 0;

    if (n->kind != JSONTREE_NUMBER || n->length > 20)
        return false;
    for (uint32_t i = 0; i < n->length; i++) {
        unsigned d = (unsigned)p[i] - '0';

        if (d > 9 || v > (UINT64_MAX - d) / 10)
            return false;
        v = v * 10 + d;
    }
    *out = v;
    return true;
}

const char *jsontree_kind_name(const struct jsontree *j, uint32_t node)
{
    static const char *const names[] = { "null", "false", "true", "a number", "a string", "an array", "an object" };

    return node == JSONTREE_NONE ? "missing" : names[j->nodes[node].kind];
}

/* ---- Numbers as the reference reads them ------------------------------------------------------------------------- */

/* Follows serde_json 1.0 (de.rs), step by step. */

/* 1e0 to 1e308, each the nearest double. */
static const double powers[] = {
    1e0,   1e1,   1e2,   1e3,   1e4,   1e5,   1e6,   1e7,   1e8,   1e9,   1e10,  1e11,  1e12,  1e13,  1e14,  1e15,
    1e16,  1e17,  1e18,  1e19,  1e20,  1e21,  1e22,  1e23,  1e24,  1e25,  1e26,  1e27,  1e28,  1e29,  1e30,  1e31,
    1e32,  1e33,  1e34,  1e35,  1e36,  1e37,  1e38,  1e39,  1e40,  1e41,  1e42,  1e43,  1e44,  1e45,  1e46,  1e47,
    1e48,  1e49,  1e50,  1e51,  1e52,  1e53,  1e54,  1e55,  1e56,  1e57,  1e58,  1e59,  1e60,  1e61,  1e62,  1e63,
    1e64,  1e65,  1e66,  1e67,  1e68,  1e69,  1e70,  1e71,  1e72,  1e73,  1e74,  1e75,  1e76,  1e77,  1e78,  1e79,
    1e80,  1e81,  1e82,  1e83,  1e84,  1e85,  1e86,  1e87,  1e88,  1e89,  1e90,  1e91,  1e92,  1e93,  1e94,  1e95,
    1e96,  1e97,  1e98,  1e99,  1e100, 1e101, 1e102, 1e103, 1e104, 1e105, 1e106, 1e107, 1e108, 1e109, 1e110, 1e111,
    1e112, 1e113, 1e114, 1e115, 1e116, 1e117, 1e118, 1e119, 1e120, 1e121, 1e122, 1e123, 1e124, 1e125, 1e126, 1e127,
    1e128, 1e129, 1e130, 1e131, 1e132, 1e133, 1e134, 1e135, 1e136, 1e137, 1e138, 1e139, 1e140, 1e141, 1e142, 1e143,
    1e144, 1e145, 1e146, 1e147, 1e148, 1e149, 1e150, 1e151, 1e152, 1e153, 1e154, 1e155, 1e156, 1e157, 1e158, 1e159,
    1e160, 1e161, 1e162, 1e163, 1e164, 1e165, 1e166, 1e167, 1e168, 1e169, 1e170, 1e171, 1e172, 1e173, 1e174, 1e175,
    1e176, 1e177, 1e178, 1e179, 1e180, 1e181, 1e182, 1e183, 1e184, 1e185, 1e186, 1e187, 1e188, 1e189, 1e190, 1e191,
    1e192, 1e193, 1e194, 1e195, 1e196, 1e197, 1e198, 1e199, 1e200, 1e201, 1e202, 1e203, 1e204, 1e205, 1e206, 1e207,
    1e208, 1e209, 1e210, 1e211, 1e212, 1e213, 1e214, 1e215, 1e216, 1e217, 1e218, 1e219, 1e220, 1e221, 1e222, 1e223,
    1e224, 1e225, 1e226, 1e227, 1e228, 1e229, 1e230, 1e231, 1e232, 1e233, 1e234, 1e235, 1e236, 1e237, 1e238, 1e239,
    1e240, 1e241, 1e242, 1e243, 1e244, 1e245, 1e246, 1e247, 1e248, 1e249, 1e250, 1e251, 1e252, 1e253, 1e254, 1e255,
    1e256, 1e257, 1e258, 1e259, 1e260, 1e261, 1e262, 1e263, 1e264, 1e265, 1e266, 1e267, 1e268, 1e269, 1e270, 1e271,
    1e272, 1e273, 1e274, 1e275, 1e276, 1e277, 1e278, 1e279, 1e280, 1e281, 1e282, 1e283, 1e284, 1e285, 1e286, 1e287,
    1e288, 1e289, 1e290, 1e291, 1e292, 1e293, 1e294, 1e295, 1e296, 1e297, 1e298, 1e299, 1e300, 1e301, 1e302, 1e303,
    1e304, 1e305, 1e306, 1e307, 1e308,
};

#define POWERS ((int64_t)(sizeof powers / sizeof powers[0]))

/* What has been read of a number. */
struct reading {
    const uint8_t *p, *end;
    uint64_t digits;
    int64_t exponent; /* of ten */
};

static bool at_digit(const struct reading *r)
{
    return r->p < r->end && *r->p >= '0' && *r->p <= '9';
}

/* Digits before or after the point, up to one that does not fit: from there on they only move the point. */
static void read_digits(struct reading *r, bool after_point)
{
    bool full = false;

    for (; at_digit(r); r->p++) {
        unsigned digit = (unsigned)*r->p - '0';

        full = full || r->digits > (UINT64_MAX - digit) / 10;
        if (!full)
            r->digits = r->digits * 10 + digit;
        r->exponent += (full ? 1 : 0) - (after_point ? 1 : 0);
    }
}

/* The exponent that is written; one beyond 32 bits is taken as the greatest of them. */
static void read_exponent(struct reading *r)
{
    int64_t written = 0;
    bool negative;

    r->p++;
    negative = *r->p == '-';
    r->p += *r->p == '-' || *r->p == '+';
    for (; at_digit(r); r->p++)
        written = written < INT32_MAX ? written * 10 + (*r->p - '0') : written;
    r->exponent += negative ? -written : written;
}

/* The reference's loop: it divides by 1e308 until the exponent is in the table. */
static bool scale(double *value, int64_t exponent)
{
    while (exponent < -(POWERS - 1) && *value != 0) {
        *value /= 1e308;
        exponent += 308;
    }
    if (*value == 0)
        return true;
    if (exponent >= POWERS)
        return false;
    if (exponent < 0)
        *value /= powers[-exponent];
    else
        *value *= powers[exponent];
    return !isinf(*value);
}

bool json_number(const uint8_t *text, uint32_t length, double *out)
{
    struct reading r = { .p = text, .end = text + length };
    bool negative = length > 0 && *text == '-';

    r.p += negative;
    read_digits(&r, false);
    if (r.p < r.end && *r.p == '.') {
        r.p++;
        read_digits(&r, true);
    }
    if (r.p < r.end)
        read_exponent(&r);
    *out = (double)r.digits;
    if (!scale(out, r.exponent))
        return false;
    *out = negative ? -*out : *out;
    return true;
}
