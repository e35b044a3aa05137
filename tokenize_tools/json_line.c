/*
 * json_line.c: see json_line.h. One pass with a stack of what is open. The objects on the way to the field are always
 * the outermost ones, so a number tells how far the way has been followed.
 */
#include "json_line.h"

#include <stdint.h>
#include <string.h>

#include "base/status.h"

/* What the next value is to the field. */
enum role {
    ROLE_OTHER,
    ROLE_ON_WAY, /* the field is inside, if this is an object */
    ROLE_FIELD
};

struct reader {
    const char *line, *at, *end;
    const char *field;
    unsigned depth;   /* of what is open */
    unsigned on_way;  /* so many of the outermost open objects are on the way */
    unsigned parts;   /* names in `field` */
    const char *kind; /* of the field found last: "a string", "null", ...; NULL: none */
    const char *text, *text_end;
    bool escaped; /* text holds escapes */
    bool object[JSON_LINE_DEPTH];
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool json_line_blank(const char *line, size_t bytes)
{
    while (bytes > 0 && is_space(line[bytes - 1]))
        bytes--;
    return bytes == 0;
}

static enum leat_status wrong(const struct reader *r, const char *what, struct leat_error *err)
{
    if (r->at == r->end)
        return status_set(err, LEAT_E_TEXT, "not valid JSON: it ends where %s is expected", what);
    return status_set(err, LEAT_E_TEXT, "not valid JSON: %s is expected at byte %zu", what,
                      (size_t)(r->at - r->line) + 1);
}

static void skip_space(struct reader *r)
{
    while (r->at < r->end && is_space(*r->at))
        r->at++;
}

static bool next_is(const struct reader *r, char c)
{
    return r->at < r->end && *r->at == c;
}

/* ---- Strings ---------------------------------------------------------------------------------------------------- */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Passes over a string; `at` is its quote. [*text, *text_end) is what stands between the quotes. */
static enum leat_status pass_string(struct reader *r, const char **text, const char **text_end, bool *escaped,
                                    struct leat_error *err)
{
    *text = ++r->at;
    *escaped = false;
    for (;;) {
        while (r->at < r->end && *r->at != '"' && *r->at != '\\' && (unsigned char)*r->at >= 0x20)
            r->at++;
        if (r->at == r->end)
            return wrong(r, "the quote after a string", err);
        if (*r->at == '"')
            break;
        if (*r->at != '\\')
            return wrong(r, "the escape of a control character", err);
        *escaped = true;
        r->at++;
        if (r->at == r->end || !*r->at || !strchr("\"\\/bfnrtu", *r->at))
            return wrong(r, "an escape's letter", err);
        if (*r->at++ != 'u')
            continue;
        for (int i = 0; i < 4; i++, r->at++)
            if (r->at == r->end || hex_digit(*r->at) < 0)
                return wrong(r, "one of the four digits of \\u", err);
    }
    *text_end = r->at++;
    return LEAT_OK;
}

static uint32_t four_digits(const char *p)
{
    uint32_t code = 0;

    for (int i = 0; i < 4; i++)
        code = code << 4 | (uint32_t)hex_digit(p[i]);
    return code;
}

static unsigned encode_utf8(uint32_t code, char *out)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xc0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xe0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3f));
        out[2] = (char)(0x80 | (code & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3f));
    out[2] = (char)(0x80 | (code >> 6 & 0x3f));
    out[3] = (char)(0x80 | (code & 0x3f));
    return 4;
}

/* The digits of \u and, for the first half of a pair, the escape of the second one. Passes *p over them. */
static uint32_t unescape_code(const char **p, const char *end)
{
    uint32_t code = four_digits(*p), low;

    *p += 4;
    if (code < 0xd800 || code > 0xdfff)
        return code;
    if (code <= 0xdbff && end - *p >= 6 && (*p)[0] == '\\' && (*p)[1] == 'u') {
        low = four_digits(*p + 2);
        if (low >= 0xdc00 && low <= 0xdfff) {
            *p += 6;
            return 0x10000 + ((code - 0xd800) << 10 | (low - 0xdc00));
        }
    }
    return 0xfffd;
}

/* One byte or escape of a checked string, as at most four bytes of text; passes *p over it. */
static unsigned unescape_one(const char **p, const char *end, char *out)
{
    static const char letters[] = "bfnrt", meant[] = "\b\f\n\r\t";
    const char *letter;

    if (**p != '\\') {
        out[0] = *(*p)++;
        return 1;
    }
    *p += 2;
    if ((*p)[-1] == 'u')
        return encode_utf8(unescape_code(p, end), out);
    letter = strchr(letters, (*p)[-1]);
    out[0] = letter ? meant[letter - letters] : (*p)[-1];
    return 1;
}

/* ---- The field -------------------------------------------------------------------------------------------------- */

/* Whether a member's name is name number `part` of the field. */
static bool is_part(const struct reader *r, unsigned part, const char *name, const char *name_end)
{
    const char *want = r->field;
    char bytes[4];

    for (; part > 0; part--)
        want = strchr(want, '.') + 1;
    while (name < name_end) {
        unsigned count = unescape_one(&name, name_end, bytes);

        for (unsigned i = 0; i < count; i++, want++)
            if (*want == '\0' || *want == '.' || *want != bytes[i])
                return false;
    }
    return *want == '\0' || *want == '.';
}

/* A member's name and the colon; tells what the value is. */
static enum leat_status pass_name(struct reader *r, enum role *role, struct leat_error *err)
{
    const char *name, *name_end;
    bool escaped;
    enum leat_status s;

    skip_space(r);
    if (!next_is(r, '"'))
        return wrong(r, "a member's name", err);
    s = pass_string(r, &name, &name_end, &escaped, err);
    if (s != LEAT_OK)
        return s;
    skip_space(r);
    if (!next_is(r, ':'))
        return wrong(r, "a colon", err);
    r->at++;
    *role = ROLE_OTHER;
    if (r->on_way == r->depth && is_part(r, r->depth - 1, name, name_end)) {
        *role = r->depth == r->parts ? ROLE_FIELD : ROLE_ON_WAY;
        r->kind = NULL; /* what an earlier member of this name held does not count */
    }
    return LEAT_OK;
}

/* ---- Values ----------------------------------------------------------------------------------------------------- */

static bool pass_digits(struct reader *r)
{
    const char *first = r->at;

    while (r->at < r->end && *r->at >= '0' && *r->at <= '9')
        r->at++;
    return r->at > first;
}

static enum leat_status pass_number(struct reader *r, struct leat_error *err)
{
    if (next_is(r, '-'))
        r->at++;
    if (next_is(r, '0'))
        r->at++;
    else if (!pass_digits(r))
        return wrong(r, "a digit", err);
    if (next_is(r, '.')) {
        r->at++;
        if (!pass_digits(r))
            return wrong(r, "a digit", err);
    }
    if (next_is(r, 'e') || next_is(r, 'E')) {
        r->at++;
        if (next_is(r, '+') || next_is(r, '-'))
            r->at++;
        if (!pass_digits(r))
            return wrong(r, "a digit", err);
    }
    return LEAT_OK;
}

static enum leat_status pass_word(struct reader *r, const char *word, struct leat_error *err)
{
    size_t length = strlen(word);

    if ((size_t)(r->end - r->at) < length || memcmp(r->at, word, length) != 0)
        return wrong(r, "a value", err);
    r->at += length;
    return LEAT_OK;
}

static enum leat_status open_value(struct reader *r, bool object, enum role role, struct leat_error *err)
{
    if (r->depth == JSON_LINE_DEPTH)
        return status_set(err, LEAT_E_TEXT, "the JSON is nested deeper than %d", JSON_LINE_DEPTH);
    r->object[r->depth++] = object;
    if (object && role == ROLE_ON_WAY)
        r->on_way = r->depth;
    r->at++;
    return LEAT_OK;
}

/* A whole value, or the bracket that opens one. */
static enum leat_status pass_value(struct reader *r, enum role role, struct leat_error *err)
{
    const char *text = NULL, *text_end = NULL, *kind;
    bool escaped = false;
    enum leat_status s;

    skip_space(r);
    switch (r->at < r->end ? *r->at : '\0') {
    case '{':
        kind = "an object";
        s = open_value(r, true, role, err);
        break;
    case '[':
        kind = "an array";
        s = open_value(r, false, role, err);
        break;
    case '"':
        kind = "a string";
        s = pass_string(r, &text, &text_end, &escaped, err);
        break;
    case 't':
        kind = "true";
        s = pass_word(r, kind, err);
        break;
    case 'f':
        kind = "false";
        s = pass_word(r, kind, err);
        break;
    case 'n':
        kind = "null";
        s = pass_word(r, kind, err);
        break;
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
        kind = "a number";
        s = pass_number(r, err);
        break;
    default:
        return wrong(r, "a value", err);
    }
    if (role == ROLE_FIELD) {
        r->kind = kind;
        r->text = text;
        r->text_end = text_end;
        r->escaped = escaped;
    }
    return s;
}

/* What follows a value: brackets that close, and a comma. *more: there is another value. */
static enum leat_status pass_between(struct reader *r, bool opened, bool *more, struct leat_error *err)
{
    for (;; opened = false) {
        bool object;

        *more = false;
        skip_space(r);
        if (r->depth == 0)
            return r->at == r->end ? LEAT_OK : wrong(r, "the end of the line", err);
        object = r->object[r->depth - 1];
        if (next_is(r, object ? '}' : ']')) {
            r->at++;
            r->depth--;
            if (r->on_way > r->depth)
                r->on_way = r->depth;
            continue;
        }
        *more = true;
        if (opened)
            return LEAT_OK;
        if (!next_is(r, ','))
            return wrong(r, object ? "a comma or }" : "a comma or ]", err);
        r->at++;
        return LEAT_OK;
    }
}

static enum leat_status pass_line(struct reader *r, struct leat_error *err)
{
    enum role role = ROLE_ON_WAY;
    bool more = true;
    enum leat_status s = LEAT_OK;

    skip_space(r);
    if (!next_is(r, '{'))
        return wrong(r, "an object ({)", err);
    while (s == LEAT_OK && more) {
        unsigned depth = r->depth;

        s = pass_value(r, role, err);
        if (s == LEAT_OK)
            s = pass_between(r, r->depth > depth, &more, err);
        role = ROLE_OTHER;
        if (s == LEAT_OK && more && r->object[r->depth - 1])
            s = pass_name(r, &role, err);
    }
    return s;
}

enum leat_status json_line_find(char *line, size_t bytes, const char *field, char **text, size_t *text_bytes,
                                struct leat_error *err)
{
    struct reader r; /* its large array needs no zeroes */
    enum leat_status s;
    char *to;

    r.line = r.at = line;
    r.end = line + bytes;
    r.field = field;
    r.depth = r.on_way = 0;
    r.parts = 1;
    r.kind = NULL;
    r.text = r.text_end = NULL;
    r.escaped = false;
    for (const char *p = field; *p; p++)
        r.parts += *p == '.';
    s = pass_line(&r, err);
    if (s != LEAT_OK)
        return s;
    if (!r.kind)
        return status_set(err, LEAT_E_TEXT, "the record has no \"%.200s\"", field);
    if (!r.text)
        return status_set(err, LEAT_E_TEXT, "\"%.200s\" is %s, not a string", field, r.kind);
    *text = to = line + (r.text - line);
    if (r.escaped)
        for (const char *from = r.text; from < r.text_end;) {
            char one[4];
            unsigned count = unescape_one(&from, r.text_end, one);

            memcpy(to, one, count);
            to += count;
        }
    *text_bytes = (size_t)((r.escaped ? to : r.text_end) - *text);
    return LEAT_OK;
}
