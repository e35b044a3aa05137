/*
 * chat_lex.c: see chat_lex.h. As Jinja's lexer: line ends become \n, one at the end of the template goes; the first
 * line end after a block tag or a comment goes (trim_blocks), and so does white space before one on its line
 * (lstrip_blocks); a - in a tag removes all white space on its side, a + none.
 */
#include "chat_lex.h"

#include <string.h>

#include "base/status.h"
#include "base/utf8.h"
#include "chat_number.h"

struct lexer {
    struct chat_arena *arena;
    const char *at, *end;
    unsigned line;
    bool line_starts; /* what was taken last ends in a line end */
    struct chat_token *tokens;
    size_t count, room;
};

static enum leat_status refuse(const struct lexer *l, const char *what, struct leat_error *err)
{
    return status_set(err, LEAT_E_UNSUPPORTED, "line %u of the chat template: %s", l->line, what);
}

static enum leat_status add(struct lexer *l, const struct chat_token *token, struct leat_error *err)
{
    if (l->count == l->room) {
        size_t room = 2 * l->room + 256;
        struct chat_token *tokens = chat_arena_get(l->arena, room * sizeof *tokens, err);

        if (!tokens)
            return err->status;
        if (l->count > 0)
            memcpy(tokens, l->tokens, l->count * sizeof *tokens);
        l->tokens = tokens;
        l->room = room;
    }
    l->tokens[l->count++] = *token;
    return LEAT_OK;
}

static enum leat_status add_plain(struct lexer *l, enum chat_token_kind kind, const char *at, size_t bytes,
                                  struct leat_error *err)
{
    return add(l, &(struct chat_token) { .kind = kind, .line = l->line, .at = at, .bytes = bytes }, err);
}

static bool begins(const struct lexer *l, const char *what)
{
    size_t bytes = strlen(what);

    return (size_t)(l->end - l->at) >= bytes && memcmp(l->at, what, bytes) == 0;
}

static void count_lines(struct lexer *l, const char *to)
{
    for (; l->at < to; l->at++)
        l->line += *l->at == '\n';
}

/* Passes white space, of any script. */
static void pass_space(struct lexer *l)
{
    while (l->at < l->end) {
        const unsigned char *at = (const unsigned char *)l->at;

        if (!chat_is_space(chat_take_code(&at)))
            break;
        count_lines(l, (const char *)at);
    }
}

/* ---- Text between tags ---- */

static const char *next_tag(const struct lexer *l)
{
    const char *at = l->at;

    while (at < l->end && !(at + 1 < l->end && *at == '{' && (at[1] == '{' || at[1] == '%' || at[1] == '#')))
        at++;
    return at;
}

/* How much of a text stays before the tag at `tag`. */
static size_t strip_text(const struct lexer *l, const char *tag, struct chat_string text)
{
    size_t count = text.count, line = count;
    char sign = tag + 2 < l->end ? tag[2] : 0;

    if (tag == l->end || (sign == '+' && tag[1] != '{'))
        return count;
    if (sign == '-') {
        while (count > 0 && chat_is_space(text.codes[count - 1]))
            count--;
        return count;
    }
    if (tag[1] == '{')
        return count;
    while (line > 0 && (text.codes[line - 1] & CHAT_CODE) != '\n')
        line--;
    if (line == 0 && !l->line_starts)
        return count;
    for (size_t i = line; i < count; i++)
        if (!chat_is_space(text.codes[i]))
            return count;
    return line;
}

static enum leat_status take_text(struct lexer *l, struct leat_error *err)
{
    const char *tag = next_tag(l);
    struct chat_token token = { .kind = CHAT_T_TEXT, .line = l->line };
    enum leat_status s = chat_string_make(l->arena, l->at, (size_t)(tag - l->at), 0, &token.string, err);

    if (s != LEAT_OK)
        return s;
    token.string.count = strip_text(l, tag, token.string);
    if (tag > l->at)
        l->line_starts = tag[-1] == '\n';
    count_lines(l, tag);
    return token.string.count > 0 ? add(l, &token, err) : LEAT_OK;
}

/* ---- Inside of tags ---- */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static enum leat_status take_name(struct lexer *l, struct leat_error *err)
{
    const char *begin = l->at;

    while (l->at < l->end && (is_letter(*l->at) || is_digit(*l->at)))
        l->at++;
    return add_plain(l, CHAT_T_NAME, begin, (size_t)(l->at - begin), err);
}

static void pass_digits(struct lexer *l)
{
    while (l->at < l->end && is_digit(*l->at))
        l->at++;
}

/* A point with digits, and an exponent. */
static void pass_fraction(struct lexer *l)
{
    const char *e;

    if (l->end - l->at >= 2 && *l->at == '.' && is_digit(l->at[1])) {
        l->at++;
        pass_digits(l);
    }
    if (l->at == l->end || (*l->at | 0x20) != 'e')
        return;
    e = l->at + 1;
    e += e < l->end && (*e == '+' || *e == '-');
    if (e < l->end && is_digit(*e)) {
        l->at = e;
        pass_digits(l);
    }
}

static enum leat_status take_number(struct lexer *l, struct leat_error *err)
{
    struct chat_token token = { .kind = CHAT_T_NUMBER, .line = l->line };
    const char *begin = l->at;
    enum leat_status s;

    pass_digits(l);
    if (*begin == '0' && l->at - begin > 1)
        return refuse(l, "a number that begins with 0", err);
    pass_fraction(l);
    if (l->at < l->end && is_letter(*l->at))
        return refuse(l, "a number that is neither a plain integer nor one with a fraction", err);
    s = chat_number_read(l->arena, begin, (size_t)(l->at - begin), &token.number, err);
    if (s == LEAT_OK && token.number.kind == CHAT_BIG)
        return refuse(l, "a number of more than 18 digits", err);
    return s == LEAT_OK ? add(l, &token, err) : s;
}

static int hex_of(char c)
{
    return is_digit(c) ? c - '0' : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : -1;
}

/* The character of an escape, whose letter is at l->at, or 0 if Python leaves it as it stands; false if it is not one
 * that is supported. */
static bool take_escape(struct lexer *l, uint32_t *code)
{
    static const char letters[] = "n\nt\tr\r\\\\'\'\"\"a\ab\bf\fv\v";
    char c = *l->at++;
    unsigned digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;

    for (size_t i = 0; i + 1 < sizeof letters; i += 2)
        if (letters[i] == c) {
            *code = (unsigned char)letters[i + 1];
            return true;
        }
    *code = 0;
    if (digits == 0)
        return !is_digit(c) && c != 'N' && c != '\n' && (unsigned char)c < 0x80;
    for (; digits > 0; digits--) {
        if (l->at == l->end || hex_of(*l->at) < 0)
            return false;
        *code = *code * 16 + (uint32_t)hex_of(*l->at++);
    }
    return *code > 0 && *code <= 0x10ffff && (*code < 0xd800 || *code > 0xdfff);
}

static enum leat_status take_string(struct lexer *l, struct leat_error *err)
{
    struct chat_token token = { .kind = CHAT_T_STRING, .line = l->line };
    struct chat_text text = { 0 };
    char quote = *l->at++;
    enum leat_status s = LEAT_OK;

    while (s == LEAT_OK && l->at < l->end && *l->at != quote) {
        const char *begin = l->at;
        struct chat_string part;
        uint32_t code;

        while (l->at < l->end && *l->at != quote && *l->at != '\\')
            l->at++;
        for (const char *p = begin; p < l->at; p++)
            l->line += *p == '\n';
        s = chat_string_make(l->arena, begin, (size_t)(l->at - begin), 0, &part, err);
        if (s == LEAT_OK)
            s = chat_text_add(l->arena, &text, part, err);
        if (s != LEAT_OK || l->at == l->end || *l->at == quote)
            continue;
        if (++l->at == l->end || !take_escape(l, &code))
            return refuse(l, "an escape in a string that is not supported: write \\xHH or \\uHHHH", err);
        if (code == 0) {
            l->at -= 2;
            s = chat_string_make(l->arena, l->at, 2, 0, &part, err);
            l->at += 2;
        } else {
            part = (struct chat_string) { &code, 1 };
        }
        if (s == LEAT_OK)
            s = chat_text_add(l->arena, &text, part, err);
    }
    if (s != LEAT_OK)
        return s;
    if (l->at == l->end)
        return refuse(l, "a string without its end", err);
    l->at++;
    token.string = (struct chat_string) { text.codes, text.count };
    return add(l, &token, err);
}

static enum leat_status take_sign(struct lexer *l, struct leat_error *err)
{
    static const char *const signs[] = { "==", "!=", "<=", ">=", "//", "**", "+", "-", "*", "/", "%", "~", "<",
                                         ">",  "=",  "|",  ".",  ",",  ":",  "(", ")", "[", "]", "{", "}" };

    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (begins(l, signs[i])) {
            l->at += strlen(signs[i]);
            return add_plain(l, CHAT_T_SIGN, signs[i], strlen(signs[i]), err);
        }
    return refuse(l, "a character that Jinja does not know", err);
}

/* The end of the tag, with the white space that it takes; false if it is not there. */
static bool pass_end(struct lexer *l, bool block)
{
    const char *end = block ? "%}" : "}}";
    char sign = l->at < l->end ? *l->at : 0;
    bool strips = sign == '-';

    if (l->end - l->at >= 3 && (strips || (sign == '+' && block)) && memcmp(l->at + 1, end, 2) == 0)
        l->at++;
    else if (begins(l, end))
        sign = 0;
    else
        return false;
    l->at += 2;
    if (strips)
        pass_space(l);
    if (block && sign == 0 && l->at < l->end && *l->at == '\n') {
        l->line++;
        l->at++;
    }
    l->line_starts = l->at[-1] == '\n';
    return true;
}

static enum leat_status take_inside(struct lexer *l, bool block, struct leat_error *err)
{
    size_t brackets = 0;
    enum leat_status s = LEAT_OK;

    while (s == LEAT_OK) {
        pass_space(l);
        if (l->at == l->end)
            return refuse(l, "a tag without its end", err);
        if (brackets == 0 && pass_end(l, block))
            return add_plain(l, block ? CHAT_T_BLOCK_END : CHAT_T_PRINT_END, l->at, 0, err);
        if (strchr("([{", *l->at))
            brackets++;
        else if (strchr(")]}", *l->at) && brackets > 0)
            brackets--;
        if (is_letter(*l->at))
            s = take_name(l, err);
        else if (is_digit(*l->at))
            s = take_number(l, err);
        else if (*l->at == '"' || *l->at == '\'')
            s = take_string(l, err);
        else
            s = take_sign(l, err);
    }
    return s;
}

static enum leat_status pass_comment(struct lexer *l, struct leat_error *err)
{
    const char *begin = l->at + 2, *end;
    char sign;

    begin += begin < l->end && (*begin == '-' || *begin == '+'); /* that of the beginning: {#-#} */
    end = begin;
    while (end < l->end && !(end + 1 < l->end && end[0] == '#' && end[1] == '}'))
        end++;
    if (end == l->end)
        return refuse(l, "a comment without its end", err);
    sign = end > begin ? end[-1] : 0;
    count_lines(l, end + 2);
    if (sign == '-')
        pass_space(l);
    if (sign != '-' && sign != '+' && l->at < l->end && *l->at == '\n')
        count_lines(l, l->at + 1);
    l->line_starts = l->at[-1] == '\n';
    return LEAT_OK;
}

static enum leat_status take_tag(struct lexer *l, struct leat_error *err)
{
    bool block = l->at[1] == '%';
    enum leat_status s;

    if (l->at[1] == '#')
        return pass_comment(l, err);
    s = add_plain(l, block ? CHAT_T_BLOCK_BEGIN : CHAT_T_PRINT_BEGIN, l->at, 2, err);
    l->at += 2;
    if (l->at < l->end && (*l->at == '-' || (*l->at == '+' && block)))
        l->at++;
    return s == LEAT_OK ? take_inside(l, block, err) : s;
}

enum leat_status chat_lex(struct chat_arena *a, const char *source, size_t bytes, struct chat_token **tokens,
                          struct leat_error *err)
{
    struct lexer l = { .arena = a, .line = 1, .line_starts = true };
    char *plain = chat_arena_get(a, bytes + 1, err);
    size_t count = 0;
    enum leat_status s = LEAT_OK;

    *tokens = NULL;
    if (!plain)
        return err->status;
    if (utf8_valid_prefix((const uint8_t *)source, bytes) < bytes || memchr(source, 0, bytes))
        return status_set(err, LEAT_E_UNSUPPORTED, "the chat template is not UTF-8 text");
    for (size_t i = 0; i < bytes; i++) {
        if (source[i] == '\r' && i + 1 < bytes && source[i + 1] == '\n')
            continue;
        plain[count++] = source[i] == '\r' ? '\n' : source[i];
    }
    count -= count > 0 && plain[count - 1] == '\n';
    l.at = plain;
    l.end = plain + count;
    while (s == LEAT_OK && l.at < l.end) {
        s = take_text(&l, err);
        if (s == LEAT_OK && l.at < l.end)
            s = take_tag(&l, err);
    }
    if (s == LEAT_OK)
        s = add_plain(&l, CHAT_T_END, l.end, 0, err);
    *tokens = l.tokens;
    return s;
}
