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
#include <stdlib.h>
#include <string.h>

#include "big.h"
#include "bytes.h"
#include "bytes64.h"
#include "grow.h"
#include "json_string.h"
#include "status.h"
#include "utf8.h"

#define UNMOVED 65536u /* bytes of a text whose strings do not move: growing would leave copies of secrets behind */

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

static enum leat_status add_node(struct parser *s, enum jsontree_kind kind, const uint8_t *at, uint64_t length)
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

/* Adds the bracket of the node that was added last. */
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

/*
 * Sets the high bit of each of eight bytes that is a control character, a quote, a backslash, or not ASCII. Bytes above
 * the lowest of these may have it by mistake.
 */
static inline uint64_t specials(uint64_t v)
{
    uint64_t quote = v ^ BYTES_EACH('"'), backslash = v ^ BYTES_EACH('\\');

    return ((quote - BYTES_EACH(1)) | (backslash - BYTES_EACH(1)) | (v - BYTES_EACH(0x20)) | v) & BYTES_EACH(0x80);
}

/* Returns the first special byte from p on, or the end. */
static inline const uint8_t *next_special(const uint8_t *p, const uint8_t *end)
{
    for (; end - p >= 8; p += 8) {
        uint64_t found = specials(bytes_load64(p));

        if (found)
            return p + (unsigned)__builtin_ctzll(found) / 8;
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
        size_t n;

        p = next_special(p, end);
        if (p == end)
            return wrong(s, p, "unclosed string");
        if (*p == '"' || *p == '\\')
            break;
        if (*p < 0x20)
            return wrong(s, p, "an unescaped control character in a string");
        do { /* characters that are not ASCII mostly stand next to each other */
            n = utf8_character(p, (size_t)(end - p));
            if (n == 0)
                return wrong(s, p, "bytes that are not UTF-8");
            p += n;
        } while (p < end && *p >= 0x80);
    }
    s->p = p;
    return LEAT_OK;
}

/* Returns true if an escape of four hexadecimal digits is at p. */
static bool at_code(const uint8_t *p, const uint8_t *end)
{
    bool is = end - p >= 6 && p[0] == '\\' && p[1] == 'u';

    for (unsigned i = 2; is && i < 6; i++)
        is = json_is_hex((char)p[i]);
    return is;
}

/* Reads the character whose \u is at s->p; above U+FFFF it has two surrogates. */
static enum leat_status unicode_escape(struct parser *s, uint8_t **to)
{
    const char *at = (const char *)s->p;
    bool half;
    uint32_t c;

    if (!at_code(s->p, s->end))
        return wrong(s, s->p + 2, "\\u without four hexadecimal digits");
    half = (json_four_digits(at + 2) & 0xf800) == 0xd800;
    c = half && !at_code(s->p + 6, s->end) ? 0xfffd : json_take_code(&at, (const char *)s->end);
    if (half && c == 0xfffd)
        return wrong(s, s->p, "an unpaired surrogate (\\ud800 to \\udfff)");
    s->p = (const uint8_t *)at;
    *to += utf8_encode(*to, c);
    return LEAT_OK;
}

static enum leat_status escape(struct parser *s, uint8_t **to)
{
    char meaning;

    if (s->end - s->p < 2)
        return wrong(s, s->end, "unclosed string");
    if (s->p[1] == 'u')
        return unicode_escape(s, to);
    meaning = json_escape_meaning((char)s->p[1]);
    if (!meaning)
        return wrong(s, s->p, "an unknown escape");
    *(*to)++ = (uint8_t)meaning;
    s->p += 2;
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
    size_t more;

    while (stop < s->end && *stop != '"')
        stop += *stop == '\\' && s->end - stop > 1 ? 2 : 1;
    more = (size_t)(stop - begin) + 4;
    if (!j->unescaped.room && j->size < UNMOVED)
        more += j->size;
    status = buffer_reserve(&j->unescaped, more, s->err);
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
    status = add_node(s, JSONTREE_STRING, j->text, (uint64_t)(to - first));
    if (status != LEAT_OK)
        return status;
    j->nodes[j->count - 1].at = (uint32_t)(first - j->unescaped.bytes);
    j->nodes[j->count - 1].escaped = true;
    j->unescaped.size = (size_t)(to - j->unescaped.bytes);
    return LEAT_OK;
}

/* Reads the string whose opening quote is at s->p. */
static enum leat_status string(struct parser *s)
{
    const uint8_t *begin = ++s->p;
    enum leat_status status = plain(s);

    if (status != LEAT_OK)
        return status;
    if (*s->p == '\\')
        return escaped_string(s, begin);
    s->p++;
    return add_node(s, JSONTREE_STRING, begin, (uint64_t)(s->p - 1 - begin));
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
    return add_node(s, JSONTREE_NUMBER, begin, (uint64_t)(p - begin));
}

static enum leat_status word(struct parser *s, const char *text, enum jsontree_kind kind)
{
    size_t length = strlen(text);

    if ((size_t)(s->end - s->p) < length || memcmp(s->p, text, length) != 0)
        return wrong(s, s->p, "missing value");
    s->p += length;
    return add_node(s, kind, s->p - length, length);
}

static enum leat_status open_bracket(struct parser *s, enum jsontree_kind kind)
{
    enum leat_status status;

    if (s->depth == JSONTREE_MAX_DEPTH)
        return wrong(s, s->p, "more than 127 nested brackets");
    status = add_node(s, kind, s->p, 0);
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
    while (s->p < s->end && json_is_space((char)*s->p))
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
        first = bracket->next == s->j->count; /* the array or object is empty so far */
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
            return wrong(s, s->p, "more than 268,435,455 elements");
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
                             "%s is too large for JSON that is read whole: %" PRIu64 " bytes; the limit is 1 GiB", path,
                             size);
    status = parse(&s);
    if (status != LEAT_OK)
        jsontree_free(j);
    return status;
}

void jsontree_free(struct jsontree *j)
{
    free(j->nodes);
    free(j->brackets);
    if (j->unescaped.size > 0)
        explicit_bzero(j->unescaped.bytes, j->unescaped.size); /* the text may hold secrets */
    buffer_free(&j->unescaped);
    *j = (struct jsontree) { 0 };
}

/* ---- Looking at a tree ------------------------------------------------------------------------------------------- */

enum leat_status jsontree_copy(char **out, const struct jsontree *j, uint32_t object, const char *name,
                               struct leat_error *err)
{
    uint32_t node = jsontree_member(j, object, name);
    struct jsontree_text text;

    *out = NULL;
    if (node == JSONTREE_NONE || j->nodes[node].kind != JSONTREE_STRING)
        return LEAT_OK;
    text = jsontree_string(j, node);
    if (memchr(text.bytes, '\0', text.length))
        return LEAT_OK;
    *out = strndup((const char *)text.bytes, text.length);
    return *out ? LEAT_OK : status_no_memory(err, text.length + UINT64_C(1));
}

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
