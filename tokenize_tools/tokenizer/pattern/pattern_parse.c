/*
 * pattern_parse.c: a recursive-descent reader of both dialects.
 *
 * take_alternatives() reads branches, take_branch() atoms, take_repeats() quantifiers; groups lead back to
 * take_alternatives(). Each writes its translation as it reads, so a refusal names the place that it has reached.
 * Characters and classes become sets. take_items() joins the items between brackets, up to an operator or the closing
 * bracket; an item may be a bracket itself, which take_class() reads. Escapes in brackets and outside have one reader.
 *
 * Comments say where the dialects differ, by tiktoken 0.14 (fancy-regex 0.19) and tokenizers 0.23 (Oniguruma 6.9).
 * Functions that return bool return false after refusing or running out of memory; the reader's status says which.
 */
#include "pattern_parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/status.h"

#define DEPTH_MAX  64
#define REPEAT_MAX 65535u

/* Most repetitions of one atom, each around those before it: as deep as PCRE2 lets groups be. */
#define REPEATS_MAX 250u

struct flags {
    bool fold;      /* i */
    bool dot_all;   /* flag s in Rust, m in Oniguruma */
    bool multiline; /* Rust m */
};

struct parser {
    const char *text;
    size_t length, at;
    enum scan_dialect dialect;
    const struct unicode_classes *classes;
    struct flags flags;
    struct pattern_set *cased; /* made when first needed */
    struct pattern_text *out;
    size_t sets_room;
    struct leat_error *err;
    enum leat_status status;
    uint32_t literal, before; /* this atom and the one before, if they are literals, else 0: see
                                 several_fold_to_one() */
    uint32_t entering;        /* `before` of the group that is being read */
    unsigned groups;          /* groups that have a number, and begin before the reader's place */
};

static bool is_onig(const struct parser *p)
{
    return p->dialect == SCAN_ONIGURUMA;
}

static bool at_end(const struct parser *p)
{
    return p->at >= p->length;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* ---- Failing ----------------------------------------------------------------------------------------------------- */

/* Refuses the expression because of its part from `from` to the reader's place. Returns false, for the caller to
 * return. */
static bool refuse(struct parser *p, size_t from, const char *why)
{
    size_t length = p->at > from ? p->at - from : 1;

    if (p->status != LEAT_OK)
        return false;
    if (length > 40)
        length = 40;
    if (from + length > p->length)
        length = p->length - from;
    while (length > 0 && from + length < p->length && ((unsigned char)p->text[from + length] & 0xc0) == 0x80)
        length--;
    p->status =
        status_set(p->err, LEAT_E_UNSUPPORTED, "the tokenizer's pattern cannot be used: \"%.*s\" at byte %zu: %s",
                   (int)length, p->text + from, from, why);
    return false;
}

static bool no_memory(struct parser *p, size_t bytes)
{
    if (p->status == LEAT_OK)
        p->status = status_no_memory(p->err, bytes);
    return false;
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static bool looking_at(const struct parser *p, const char *what)
{
    size_t n = strlen(what);

    return p->length - p->at >= n && memcmp(p->text + p->at, what, n) == 0;
}

/* Moves past a literal text. Returns false if it is not there. */
static bool take_literal(struct parser *p, const char *what)
{
    if (!looking_at(p, what))
        return false;
    p->at += strlen(what);
    return true;
}

static uint32_t take_character(struct parser *p)
{
    size_t bytes;
    uint32_t c = unicode_decode((const uint8_t *)p->text + p->at, &bytes);

    p->at += bytes;
    return c;
}

/* ---- Writing: text for PCRE2, in which each set of characters is a marker ---------------------------------------- */

static bool write_bytes(struct parser *p, const void *bytes, size_t count)
{
    return buffer_append(&p->out->text, bytes, count, NULL) == LEAT_OK || no_memory(p, count);
}

static bool write_text(struct parser *p, const char *text)
{
    return write_bytes(p, text, strlen(text));
}

/* Writes `before` before the text that was written since `from`, and `after` after it. */
static bool write_around(struct parser *p, size_t from, const char *after)
{
    struct buffer *text = &p->out->text;

    if (!write_text(p, "(?:"))
        return false;
    memmove(text->bytes + from + 3, text->bytes + from, text->size - 3 - from);
    memcpy(text->bytes + from, "(?:", 3);
    return write_text(p, after);
}

/* Writes a marker for the set. The set is copied, unless there is an equal one. */
static bool write_set(struct parser *p, const struct pattern_set *set)
{
    struct pattern_text *out = p->out;
    size_t i = 0;

    while (i < out->set_count && !pattern_set_equal(out->sets[i], set))
        i++;
    if (i == out->set_count) {
        if (i == PATTERN_SETS_MAX)
            return refuse(p, 0, "too many different character classes");
        if (GROW(out->sets, i + 1, p->sets_room, NULL) != LEAT_OK || !(out->sets[i] = malloc(sizeof *set)))
            return no_memory(p, sizeof *set);
        memcpy(out->sets[i], set, sizeof *set);
        out->set_count++;
    }
    return write_bytes(p, (unsigned char[]) { PATTERN_MARKER, (unsigned char)(i >> 8), (unsigned char)i }, 3);
}

/* Writes a text in which each '#' stands for `set`, or for a newline. */
static bool write_with(struct parser *p, const char *text, const struct pattern_set *set)
{
    for (; *text; text++)
        if (!(*text == '#' ? write_set(p, set) : write_bytes(p, text, 1)))
            return false;
    return true;
}

static bool write_newlines(struct parser *p, const char *text)
{
    struct pattern_set *newline = malloc(sizeof *newline);
    bool ok;

    if (!newline)
        return no_memory(p, sizeof *newline);
    pattern_set_clear(newline);
    pattern_set_add(newline, '\n', '\n');
    ok = write_with(p, text, newline);
    free(newline);
    return ok;
}

/* ---- Properties -------------------------------------------------------------------------------------------------- */

/* Properties in the patterns of most tokenizers come from the classes of unicode.h, which scanners read too; all others
 * come from a table of ranges. */
struct property {
    const char *name; /* name in lower case, without blanks, - and _ */
    unsigned mask;
};

static const struct property properties[] = {
    { "l", UNICODE_L },
    { "letter", UNICODE_L },
    { "lu", UNICODE_LU },
    { "uppercaseletter", UNICODE_LU },
    { "ll", UNICODE_LL },
    { "lowercaseletter", UNICODE_LL },
    { "lt", UNICODE_LT },
    { "titlecaseletter", UNICODE_LT },
    { "lc", UNICODE_LU | UNICODE_LL | UNICODE_LT },
    { "casedletter", UNICODE_LU | UNICODE_LL | UNICODE_LT },
    { "lm", UNICODE_LM },
    { "modifierletter", UNICODE_LM },
    { "lo", UNICODE_LO },
    { "otherletter", UNICODE_LO },
    { "m", UNICODE_M },
    { "mark", UNICODE_M },
    { "n", UNICODE_N },
    { "number", UNICODE_N },
    { "nd", UNICODE_ND },
    { "decimalnumber", UNICODE_ND },
    { "p", UNICODE_P },
    { "punct", UNICODE_P },
    { "punctuation", UNICODE_P },
    { "s", UNICODE_S },
    { "symbol", UNICODE_S },
    { "han", UNICODE_HAN },
    { "space", UNICODE_SPACE },
    { "whitespace", UNICODE_SPACE },
};

/* Removes white space that is a control, and therefore not in \p{Z}. */
static void remove_space_controls(struct pattern_set *set)
{
    pattern_set_remove(set, 0x09, 0x0d);
    pattern_set_remove(set, 0x85, 0x85);
}

/* Makes properties and scripts for which there is no class, from the tables, or refuses them. */
static bool other_property(struct parser *p, struct pattern_set *set, const char *name)
{
    if (strcmp(name, "z") == 0 || strcmp(name, "separator") == 0 || strcmp(name, "zs") == 0 ||
        strcmp(name, "spaceseparator") == 0) {
        pattern_set_class(set, p->classes, UNICODE_SPACE);
        remove_space_controls(set);
        if (strcmp(name, "zs") == 0 || strcmp(name, "spaceseparator") == 0)
            pattern_set_remove(set, 0x2028, 0x2029);
        return true;
    }
    if (strcmp(name, "c") == 0 || strcmp(name, "other") == 0) {
        pattern_set_class(set, p->classes, UNICODE_L | UNICODE_M | UNICODE_N | UNICODE_P | UNICODE_S | UNICODE_SPACE);
        remove_space_controls(set);
        pattern_set_invert(set);
        return true;
    }
    pattern_set_clear(set);
    if (strcmp(name, "cc") == 0 || strcmp(name, "control") == 0) {
        pattern_set_add(set, 0, 0x1f);
        pattern_set_add(set, 0x7f, 0x9f);
    } else if (strcmp(name, "zl") == 0 || strcmp(name, "lineseparator") == 0) {
        pattern_set_add(set, 0x2028, 0x2028);
    } else if (strcmp(name, "zp") == 0 || strcmp(name, "paragraphseparator") == 0) {
        pattern_set_add(set, 0x2029, 0x2029);
    } else if (strcmp(name, "any") == 0) {
        pattern_set_add(set, 0, 0x10ffff);
    } else if (strcmp(name, "ascii") == 0) {
        pattern_set_add(set, 0, 0x7f);
    } else if (strcmp(name, "assigned") == 0) {
        pattern_set_property(set, "cn");
        pattern_set_invert(set);
    } else {
        return pattern_set_property(set, name);
    }
    return true;
}

/* Makes the set of \w. Oniguruma counts ² ³ ¹ ¼ ½ ¾ (its Latin-1 table) outside brackets only. */
static void word_set(struct parser *p, struct pattern_set *set, bool in_class)
{
    pattern_set_class(set, p->classes, UNICODE_WORD);
    if (is_onig(p) && in_class) {
        pattern_set_remove(set, 0xb2, 0xb3);
        pattern_set_remove(set, 0xb9, 0xb9);
        pattern_set_remove(set, 0xbc, 0xbe);
    }
}

/* Makes the set of a property by its name in small letters, without blanks, '-' and '_'. Returns false if there is no
 * such property. */
static bool find_property(struct parser *p, struct pattern_set *set, const char *name, bool in_class)
{
    if (!is_onig(p)) {
        if (strncmp(name, "gc=", 3) == 0 || strncmp(name, "sc=", 3) == 0)
            name += 3;
        else if (strncmp(name, "script=", 7) == 0)
            name += 7;
        else if (strncmp(name, "generalcategory=", 16) == 0)
            name += 16;
    }
    if (strcmp(name, "word") == 0) {
        word_set(p, set, in_class);
        return true;
    }
    for (size_t i = 0; i < sizeof properties / sizeof properties[0]; i++)
        if (strcmp(properties[i].name, name) == 0) {
            pattern_set_class(set, p->classes, properties[i].mask);
            return true;
        }
    return other_property(p, set, name);
}

/* Takes a property, after \p or \P. */
static bool take_property(struct parser *p, size_t from, struct pattern_set *set, bool negative, bool in_class)
{
    char name[64];
    size_t n = 0;

    if (at_end(p))
        return refuse(p, from, "unfinished escape");
    if (p->text[p->at] != '{') {
        name[n++] = p->text[p->at++] | 0x20;
    } else {
        for (p->at++; !at_end(p) && p->text[p->at] != '}'; p->at++) {
            char c = p->text[p->at];

            if (c == '^' && n == 0)
                negative = !negative;
            else if (c != ' ' && c != '-' && c != '_' && n + 1 < sizeof name)
                name[n++] = c >= 'A' && c <= 'Z' ? c | 0x20 : c;
        }
        if (at_end(p))
            return refuse(p, from, "unfinished escape");
        p->at++;
    }
    name[n] = 0;
    if (!find_property(p, set, name, in_class))
        return refuse(p, from, "unknown property");
    if (negative)
        pattern_set_invert(set);
    return true;
}

/* ---- Escapes ----------------------------------------------------------------------------------------------------- */

/* Adds the other case of the set's members. Returns false if the tables do not have it, or without memory. */
static bool fold_case(struct parser *p, struct pattern_set *set)
{
    if (!p->cased) {
        if (!(p->cased = malloc(sizeof *p->cased)))
            return no_memory(p, sizeof *p->cased);
        pattern_set_cased(p->cased, p->classes);
    }
    return pattern_set_fold(set, p->cased);
}

/* Makes the set of \s \S \d \D \w \W \h \H, which mean the same in brackets and outside, except \w. Returns false
 * for another escape. */
static bool class_escape(struct parser *p, char c, struct pattern_set *set, bool in_class)
{
    switch (c | 0x20) {
    case 's':
        pattern_set_class(set, p->classes, UNICODE_SPACE);
        break;
    case 'd':
        pattern_set_class(set, p->classes, UNICODE_ND);
        break;
    case 'w':
        word_set(p, set, in_class);
        break;
    case 'h': /* a hexadecimal digit, in both dialects */
        pattern_set_clear(set);
        pattern_set_add(set, '0', '9');
        pattern_set_add(set, 'a', 'f');
        pattern_set_add(set, 'A', 'F');
        break;
    default:
        return false;
    }
    if (!(c & 0x20))
        pattern_set_invert(set);
    return true;
}

/* Takes `min` to `max` hexadecimal digits. */
static bool take_hex(struct parser *p, size_t from, unsigned min, unsigned max, uint32_t *value)
{
    unsigned n = 0;

    for (*value = 0; n < max && !at_end(p); n++, p->at++) {
        char c = p->text[p->at];

        if (is_digit(c))
            *value = *value << 4 | (uint32_t)(c - '0');
        else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
            *value = *value << 4 | (uint32_t)((c | 0x20) - 'a' + 10);
        else
            break;
    }
    if (n < min || *value > 0x10ffff || (*value >= 0xd800 && *value < 0xe000))
        return refuse(p, from, "not a code point");
    return true;
}

static bool is_letter(char c)
{
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

/* Takes a number or \xHH, which is a byte for Oniguruma, not a code point. */
static bool take_byte(struct parser *p, size_t from, uint32_t value)
{
    return value <= 0x7f || refuse(p, from, "a byte that is not a character");
}

/* Takes Oniguruma's numbers, of which one digit has been read: up to three octal digits, or outside brackets a
 * reference to a group, if there is one; 8 and 9 begin no octal number. */
static bool take_numbered(struct parser *p, size_t from, char first, uint32_t *value, bool in_class)
{
    size_t at = p->at;
    unsigned number = (unsigned)(first - '0');

    for (; !at_end(p) && is_digit(p->text[p->at]) && number < 10000; p->at++)
        number = number * 10 + (unsigned)(p->text[p->at] - '0');
    if (!in_class && first != '0' && (number <= 9 || number <= p->groups))
        return refuse(p, from, "this escape is not supported");
    p->at = at;
    *value = (uint32_t)first;
    if (first >= '8')
        return true;
    for (*value -= '0'; !at_end(p) && p->at < at + 2 && (p->text[p->at] | 7) == '7'; p->at++)
        *value = *value << 3 | (uint32_t)(p->text[p->at] - '0');
    if (in_class && *value > 0xff)
        return refuse(p, from, "not a code point");
    *value &= 0xff;
    return take_byte(p, from, *value);
}

/* Takes Oniguruma's \o{...}, with octal digits. Several numbers in braces are several characters. */
static bool take_octal(struct parser *p, size_t from, uint32_t *value)
{
    size_t digits = p->at;

    for (*value = 0; !at_end(p) && p->at < digits + 11 && *value <= 0x10ffff; p->at++) {
        if ((p->text[p->at] | 7) != '7')
            break;
        *value = *value << 3 | (uint32_t)(p->text[p->at] - '0');
    }
    if (p->at == digits || *value > 0x10ffff || (*value >= 0xd800 && *value < 0xe000))
        return refuse(p, from, "not a code point");
    return take_literal(p, "}") || refuse(p, from, "unfinished escape");
}

/* Returns the control character or backspace of an escape such as \n, or c itself. */
static uint32_t escaped(uint32_t c)
{
    static const char letters[] = "tnrfvaeb", values[] = "\t\n\r\f\v\a\x1b\b";
    const char *at = c > 0 && c < 0x80 ? strchr(letters, (int)c) : NULL;

    return at ? (uint32_t)values[at - letters] : c;
}

/* Takes Oniguruma's \cX and \C-X, control characters, and \M-X, which sets the eighth bit. X may be an escape
 * itself. */
static bool take_control(struct parser *p, size_t from, char c, uint32_t *value, unsigned depth)
{
    bool is_escape;

    if (depth > DEPTH_MAX)
        return refuse(p, from, "nested too deeply");
    if ((c != 'c' && !take_literal(p, "-")) || at_end(p))
        return refuse(p, from, "unfinished escape");
    if (c != 'M' && take_literal(p, "?")) {
        *value = 0x7f;
        return true;
    }
    is_escape = take_literal(p, "\\");
    if (at_end(p))
        return refuse(p, from, "unfinished escape");
    *value = take_character(p);
    if (is_escape && (*value == 'c' || *value == 'C' || *value == 'M')) {
        if (!take_control(p, from, (char)*value, value, depth + 1))
            return false;
    } else if (is_escape) {
        *value = escaped(*value);
    }
    *value = c == 'M' ? (*value & 0xff) | 0x80 : *value & 0x9f;
    return true;
}

/* Takes \x and two hexadecimal digits; for Oniguruma, one or none suffices. */
static bool take_hex_byte(struct parser *p, size_t from, uint32_t *value)
{
    if (!is_onig(p))
        return take_hex(p, from, 2, 2, value);
    if (at_end(p)) {
        *value = 'x';
        return true;
    }
    return take_hex(p, from, 0, 2, value) && take_byte(p, from, *value);
}

/* Returns true if an escaped letter is the letter itself: for Oniguruma in brackets, and outside if it has no
 * meaning. */
static bool is_itself(const struct parser *p, char c, bool in_class)
{
    if (!in_class && (c == 'g' || c == 'k'))
        return is_onig(p) && !looking_at(p, "<") && !looking_at(p, "'");
    return is_onig(p) && (in_class || !strchr("yXYGK", c));
}

/* Sets *value to the code point of a character escape whose letter c has been read. */
static bool character_escape(struct parser *p, size_t from, char c, uint32_t *value, bool in_class)
{
    *value = escaped((unsigned char)c);
    if (*value != (unsigned char)c && (is_onig(p) || c != 'b'))
        return true;
    if (c == 'x' || (!is_onig(p) && (c == 'u' || c == 'U'))) {
        if (take_literal(p, "{"))
            return take_hex(p, from, 1, 8, value) && (take_literal(p, "}") || refuse(p, from, "unfinished escape"));
        if (c == 'x')
            return take_hex_byte(p, from, value);
    }
    if (c == 'o' && is_onig(p) && take_literal(p, "{"))
        return take_octal(p, from, value);
    if (c == 'u' || (c == 'U' && !is_onig(p)))
        return take_hex(p, from, c == 'u' ? 4 : 8, c == 'u' ? 4 : 8, value);
    if (is_onig(p) && is_digit(c))
        return take_numbered(p, from, c, value, in_class);
    if (is_onig(p) && (c == 'c' || c == 'C' || c == 'M'))
        return take_control(p, from, c, value, 0);
    /* Rust's \< and \> are word boundaries */
    if ((unsigned char)c >= 0x80 || (is_letter(c) && !is_itself(p, c, in_class)) ||
        (!is_onig(p) && (is_digit(c) || c == '<' || c == '>')))
        return refuse(p, from, "this escape is not supported");
    *value = (unsigned char)c;
    return true;
}

/* ---- Character classes ------------------------------------------------------------------------------------------- */

static bool take_class(struct parser *p, size_t from, struct pattern_set *set, unsigned depth);

/* Makes the classes of Oniguruma that consist of properties. */
static bool oniguruma_set(struct parser *p, struct pattern_set *set, const char *name)
{
    const unsigned visible = UNICODE_L | UNICODE_M | UNICODE_N | UNICODE_P | UNICODE_S;

    if (strcmp(name, "blank") == 0) {
        find_property(p, set, "zs", true);
        pattern_set_add(set, '\t', '\t');
        return true;
    }
    if (strcmp(name, "graph") == 0 || strcmp(name, "print") == 0) {
        pattern_set_class(set, p->classes, visible | (*name == 'p' ? UNICODE_SPACE : 0u));
        pattern_set_remove(set, 0, 0x1f);
        pattern_set_remove(set, 0x85, 0x85);
        pattern_set_remove(set, 0x2028, 0x2029);
        return pattern_set_property(set, "cf") && pattern_set_property(set, "co");
    }
    if (strcmp(name, "alnum") == 0) {
        pattern_set_class(set, p->classes, UNICODE_ND);
        return pattern_set_property(set, "alpha");
    }
    return (strcmp(name, "alpha") == 0 || strcmp(name, "upper") == 0 || strcmp(name, "lower") == 0) &&
           pattern_set_property(set, name);
}

static bool posix_set(struct parser *p, struct pattern_set *set, const char *name)
{
    /* in Rust these classes are of ASCII */
    static const struct {
        const char *name;
        const char ranges[9];
    } ascii[] = {
        { "alpha", "azAZ" },   { "digit", "09" },       { "alnum", "09azAZ" },  { "upper", "AZ" },
        { "lower", "az" },     { "punct", "!/:@[`{~" }, { "graph", "!~" },      { "print", " ~" },
        { "blank", "  \t\t" }, { "space", "\t\r  " },   { "xdigit", "09afAF" }, { "word", "09azAZ__" },
    };

    pattern_set_clear(set);
    if (strcmp(name, "ascii") == 0)
        return pattern_set_add(set, 0, 0x7f), true;
    if (strcmp(name, "cntrl") == 0) {
        pattern_set_add(set, 0, 0x1f);
        pattern_set_add(set, 0x7f, is_onig(p) ? 0x9f : 0x7f);
        return true;
    }
    if (is_onig(p)) {
        if (strcmp(name, "space") == 0)
            return pattern_set_class(set, p->classes, UNICODE_SPACE), true;
        if (strcmp(name, "digit") == 0)
            return pattern_set_class(set, p->classes, UNICODE_ND), true;
        if (strcmp(name, "punct") == 0)
            return pattern_set_class(set, p->classes, UNICODE_P | UNICODE_S), true;
        if (strcmp(name, "word") == 0)
            return word_set(p, set, true), true;
        if (strcmp(name, "xdigit") != 0) /* xdigit is of ASCII in Oniguruma, too */
            return oniguruma_set(p, set, name);
    }
    for (size_t i = 0; i < sizeof ascii / sizeof ascii[0]; i++)
        if (strcmp(ascii[i].name, name) == 0) {
            for (const char *r = ascii[i].ranges; *r; r += 2)
                pattern_set_add(set, (unsigned char)r[0], (unsigned char)r[1]);
            return true;
        }
    return false;
}

/* Takes "[:name:]" at the reader's place. *is says whether there is one. */
static bool take_posix(struct parser *p, struct pattern_set *set, bool *is)
{
    size_t from = p->at, n = 0;
    char name[16];
    bool negative;

    *is = false;
    if (!take_literal(p, "[:"))
        return true;
    negative = take_literal(p, "^");
    while (!at_end(p) && n + 1 < sizeof name && p->text[p->at] >= 'a' && p->text[p->at] <= 'z')
        name[n++] = p->text[p->at++];
    name[n] = 0;
    if (!take_literal(p, ":]")) {
        p->at = from;
        return true;
    }
    *is = true;
    if (!posix_set(p, set, name))
        return refuse(p, from, "unknown class");
    if (negative)
        pattern_set_invert(set);
    return true;
}

/* Takes one item of a class. *single is its code point, or UINT32_MAX if it is a set, which is then in *set. */
static bool take_item(struct parser *p, struct pattern_set *set, uint32_t *single, unsigned depth)
{
    size_t from = p->at;
    bool is_posix;
    char c;

    *single = UINT32_MAX;
    if (p->text[p->at] == '[') {
        if (!take_posix(p, set, &is_posix))
            return false;
        if (is_posix)
            return true;
        p->at++;
        return take_class(p, from, set, depth + 1);
    }
    if (p->text[p->at] != '\\') {
        *single = take_character(p);
        return true;
    }
    if (++p->at >= p->length)
        return refuse(p, from, "unfinished escape");
    c = p->text[p->at++];
    if ((c | 0x20) == 'p' && (!is_onig(p) || looking_at(p, "{")))
        return take_property(p, from, set, c == 'P', true);
    if (class_escape(p, c, set, true))
        return true;
    return character_escape(p, from, c, single, true);
}

/* Returns true if a closing bracket is an item: in Oniguruma a bracket at the beginning of a class closes nothing,
 * if there is another one anywhere after it. */
static bool bracket_is_item(const struct parser *p)
{
    return is_onig(p) && looking_at(p, "]") && memchr(p->text + p->at + 1, ']', p->length - p->at - 1);
}

/* Adds the other case of a class's items. Rust adds it between operators, in each bracket; Oniguruma adds it to all
 * of the outermost bracket. A negation comes after that, in both. */
static bool fold_items(struct parser *p, size_t from, struct pattern_set *set)
{
    return !p->flags.fold || fold_case(p, set) || refuse(p, from, "ignoring case is supported for ASCII letters only");
}

/* Takes items up to an operator or the closing bracket, joined in *set. With `bracket` the first one is a bracket.
 * In Oniguruma a hyphen after a range, after a class in brackets or before "&&" is an item. */
static bool take_items(struct parser *p, size_t from, struct pattern_set *set, bool bracket, unsigned depth)
{
    struct pattern_set *item = malloc(sizeof *item);
    bool ok = item != NULL || no_memory(p, sizeof *item), first = true, closed = false;

    pattern_set_clear(set);
    while (ok && !at_end(p) && (p->text[p->at] != ']' || (first && bracket)) && !looking_at(p, "&&") &&
           !(!is_onig(p) && (looking_at(p, "--") || looking_at(p, "~~")))) {
        size_t item_at = p->at;
        uint32_t low, high;

        if (p->text[p->at] == '-' && !first && !closed && p->at + 1 < p->length && p->text[p->at + 1] != ']' &&
            !(is_onig(p) && looking_at(p, "-&&"))) {
            p->at++;
            ok = refuse(p, item_at, "a hyphen between classes: write \\-");
            break;
        }
        first = false;
        closed = is_onig(p) && p->text[p->at] == '[' && !looking_at(p, "[:");
        ok = take_item(p, item, &low, depth);
        if (!ok)
            break;
        if (low == UINT32_MAX) {
            pattern_set_combine(set, item, PATTERN_SET_UNION);
            continue;
        }
        high = low;
        if (!at_end(p) && p->text[p->at] == '-' && p->at + 1 < p->length && p->text[p->at + 1] != ']' &&
            !looking_at(p, is_onig(p) ? "-&&" : "--")) {
            p->at++;
            closed = is_onig(p);
            ok = take_item(p, item, &high, depth);
            if (ok && (high == UINT32_MAX || high < low))
                ok = refuse(p, item_at, "not a range");
        }
        if (ok)
            pattern_set_add(set, low, high);
    }
    if (ok && at_end(p))
        ok = refuse(p, from, "unclosed character class: missing ]");
    free(item);
    return ok && (is_onig(p) || fold_items(p, from, set));
}

/* Takes a class, after its opening bracket at `from`. Operators bind less than joining, and are taken from the left. */
static bool take_class(struct parser *p, size_t from, struct pattern_set *set, unsigned depth)
{
    struct pattern_set *right = NULL;
    bool negative, bracket, ok;

    if (depth > DEPTH_MAX)
        return refuse(p, from, "nested too deeply");
    negative = take_literal(p, "^");
    bracket = bracket_is_item(p);
    if (looking_at(p, "]") && !bracket)
        return refuse(p, from, "a class that starts with ]: write \\]");
    ok = take_items(p, from, set, bracket, depth);
    while (ok && p->text[p->at] != ']') {
        enum pattern_set_operation operation = looking_at(p, "&&") ? PATTERN_SET_INTERSECTION : PATTERN_SET_DIFFERENCE;

        if (looking_at(p, "~~")) {
            ok = refuse(p, p->at, "symmetric difference is not supported");
            break;
        }
        p->at += 2;
        if (!right && !(right = malloc(sizeof *right))) {
            ok = no_memory(p, sizeof *right);
            break;
        }
        ok = take_items(p, from, right, false, depth);
        if (ok)
            pattern_set_combine(set, right, operation);
    }
    free(right);
    if (!ok || (is_onig(p) && depth == 0 && !fold_items(p, from, set)))
        return false;
    p->at++;
    /* in Oniguruma a bracket with \u00df in it also matches ss, unless it is negated; see several_fold_to_one() */
    if (is_onig(p) && depth == 0 && p->flags.fold && !negative && pattern_set_has(set, 0xdf))
        return refuse(p, from, "ignoring case is not supported where one character matches several");
    if (negative)
        pattern_set_invert(set);
    return true;
}

/* ---- Atoms: one character, or a place ---------------------------------------------------------------------------- */

/*
 * Returns true for a pair of literals that is refused. If case is ignored, Oniguruma also matches one character
 * where the expression has several: ß for ss, ﬁ for fi, ŉ for ʼn. Every character that folds to several folds to one
 * of these pairs first.
 */
static bool several_fold_to_one(uint32_t before, uint32_t c)
{
    static const char pairs[][3] = { "ss", "st", "ff", "fi", "fl" };

    if (before == 0)
        return false;
    if (before >= 0x80 || c >= 0x80)
        return true;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        if ((before | 0x20) == (uint32_t)pairs[i][0] && (c | 0x20) == (uint32_t)pairs[i][1])
            return true;
    return false;
}

/* Writes a character that stands for itself. It began at `from`. */
static bool write_literal(struct parser *p, size_t from, uint32_t c)
{
    struct pattern_set *set = malloc(sizeof *set);
    bool ok = set != NULL || no_memory(p, sizeof *set);

    if (!ok)
        return false;
    pattern_set_clear(set);
    pattern_set_add(set, c, c);
    if (p->flags.fold && !fold_case(p, set))
        ok = refuse(p, from, "ignoring case is supported for ASCII letters only");
    else if (p->flags.fold && is_onig(p) && several_fold_to_one(p->before, c))
        ok = refuse(p, from, "ignoring case is not supported where one character matches several");
    ok = ok && write_set(p, set);
    p->literal = c;
    free(set);
    return ok;
}

/* Writes a single set: `kind` is '[', '.' or the letter of an escape, and the reader's place is after it. */
static bool write_class(struct parser *p, size_t from, char kind)
{
    struct pattern_set *set = malloc(sizeof *set);
    bool ok;

    if (!set)
        return no_memory(p, sizeof *set);
    switch (kind) {
    case '[':
        ok = take_class(p, from, set, 0);
        break;
    case 'p':
    case 'P':
        ok = take_property(p, from, set, kind == 'P', false);
        /* Rust takes either case of a property; Oniguruma only in brackets */
        if (ok && !is_onig(p) && p->flags.fold && !fold_case(p, set))
            ok = refuse(p, from, "ignoring case is supported for ASCII letters only");
        break;
    case '.':
    case 'N':
    case 'O':
        pattern_set_clear(set);
        pattern_set_add(set, 0, 0x10ffff);
        if (kind == 'N' || (kind == '.' && !p->flags.dot_all))
            pattern_set_remove(set, '\n', '\n');
        ok = true;
        break;
    default:
        ok = class_escape(p, kind, set, false);
    }
    ok = ok && write_set(p, set);
    free(set);
    return ok;
}

/* Writes \b and \B as look-around at \w. */
static bool write_boundary(struct parser *p, bool negative)
{
    struct pattern_set *word = malloc(sizeof *word);
    bool ok;

    if (!word)
        return no_memory(p, sizeof *word);
    word_set(p, word, false);
    ok = write_with(p, negative ? "(?:(?<=#)(?=#)|(?<!#)(?!#))" : "(?:(?<=#)(?!#)|(?<!#)(?=#))", word);
    p->out->looks_behind = true;
    free(word);
    return ok;
}

/* Writes \R, which does not take a pair apart. */
static bool write_line_end(struct parser *p)
{
    struct pattern_set *set = malloc(sizeof *set);
    bool ok;

    if (!set)
        return no_memory(p, sizeof *set);
    pattern_set_clear(set);
    pattern_set_add(set, '\r', '\r');
    ok = write_with(p, "(?>#", set);
    pattern_set_clear(set);
    pattern_set_add(set, '\n', '\n');
    ok = ok && write_with(p, "#|", set);
    pattern_set_add(set, '\v', '\r');
    pattern_set_add(set, 0x85, 0x85);
    pattern_set_add(set, 0x2028, 0x2029);
    ok = ok && write_with(p, "#)", set);
    free(set);
    return ok;
}

/* Writes ^ and $: in Oniguruma they are always those of lines, but ^ does not match after a final newline. */
static bool write_anchor(struct parser *p, char which)
{
    if (which == '^')
        p->out->looks_behind = true;
    if (!is_onig(p) && !p->flags.multiline)
        return write_text(p, which == '^' ? "\\A" : "\\z");
    if (which == '$')
        return write_newlines(p, "(?=#|\\z)");
    return write_newlines(p, is_onig(p) ? "(?:\\A|(?<=#)(?!\\z))" : "(?:\\A|(?<=#))");
}

/* Takes an escape, at its backslash. Sets *assertion if nothing may repeat it. */
static bool take_escape(struct parser *p, size_t from, bool *assertion)
{
    uint32_t value;
    char c;

    if (++p->at >= p->length)
        return refuse(p, from, "unfinished escape");
    c = p->text[p->at++];
    /* Oniguruma takes \pL for the letters p and L */
    if (is_onig(p) && (c | 0x20) == 'p' && !looking_at(p, "{"))
        return write_literal(p, from, (unsigned char)c);
    switch (c) {
    case 's':
    case 'S':
    case 'd':
    case 'D':
    case 'w':
    case 'W':
    case 'h':
    case 'H':
    case 'p':
    case 'P':
    case 'N':
    case 'O':
        return write_class(p, from, c);
    case 'R':
        return write_line_end(p);
    case 'b':
    case 'B':
        *assertion = true;
        if (looking_at(p, "{"))
            return refuse(p, from, "this escape is not supported");
        return write_boundary(p, c == 'B');
    case 'A':
        *assertion = true;
        p->out->looks_behind = true;
        return write_text(p, "\\A");
    case 'z':
        *assertion = true;
        return write_text(p, "\\z");
    case 'Z':
        *assertion = true;
        return write_newlines(p, is_onig(p) ? "(?=#?\\z)" : "(?=#*\\z)");
    default:
        return character_escape(p, from, c, &value, false) && write_literal(p, from, value);
    }
}

/* ---- Groups ------------------------------------------------------------------------------------------------------ */

static bool take_alternatives(struct parser *p, unsigned depth);

static bool refuse_group(struct parser *p, size_t from)
{
    p->at++;
    return refuse(p, from, "this group is not supported");
}

/* Takes letters and a minus after "(?", up to ':' or ')'. */
static bool take_flags(struct parser *p, size_t from)
{
    bool on = true;

    for (; !at_end(p) && p->text[p->at] != ':' && p->text[p->at] != ')'; p->at++)
        switch (p->text[p->at]) {
        case '-':
            on = false;
            break;
        case 'i':
            p->flags.fold = on;
            break;
        case 'm':
            *(is_onig(p) ? &p->flags.dot_all : &p->flags.multiline) = on;
            break;
        case 's':
            if (is_onig(p))
                return refuse_group(p, from);
            p->flags.dot_all = on;
            break;
        case 'u':
            if (!is_onig(p) && on)
                break;
            return refuse_group(p, from);
        default:
            return refuse_group(p, from);
        }
    return !at_end(p) || refuse(p, from, "unclosed group: missing )");
}

static bool take_group_body(struct parser *p, size_t from, const char *opening, unsigned depth)
{
    struct flags flags = p->flags;

    if (!write_text(p, opening) || !take_alternatives(p, depth + 1))
        return false;
    if (!take_literal(p, ")"))
        return refuse(p, from, "unclosed group: missing )");
    p->flags = flags;
    return write_text(p, ")");
}

static bool take_name(struct parser *p, size_t from, char closing)
{
    while (!at_end(p) && p->text[p->at] != closing)
        p->at++;
    if (at_end(p))
        return refuse(p, from, "unclosed group: missing )");
    p->at++;
    return true;
}

/* Takes a group. Groups do not capture: a reference to one is refused. */
static bool take_group(struct parser *p, unsigned depth, bool *assertion)
{
    size_t from = p->at++;
    struct flags flags = p->flags;

    p->entering = p->before;
    if (looking_at(p, "*"))
        return refuse_group(p, from);
    if (!take_literal(p, "?")) {
        p->groups++;
        return take_group_body(p, from, "(?:", depth);
    }
    if (take_literal(p, "#")) {
        *assertion = true;
        p->literal = p->before;
        return take_name(p, from, ')');
    }
    if (take_literal(p, ">"))
        return take_group_body(p, from, "(?>", depth);
    *assertion = true;
    if (take_literal(p, "="))
        return take_group_body(p, from, "(?=", depth);
    if (take_literal(p, "!"))
        return take_group_body(p, from, "(?!", depth);
    if (looking_at(p, "<=") || looking_at(p, "<!")) {
        bool negative = p->text[p->at + 1] == '!';

        p->at += 2;
        p->out->looks_behind = true;
        return take_group_body(p, from, negative ? "(?<!" : "(?<=", depth);
    }
    *assertion = false;
    if (take_literal(p, is_onig(p) ? "'" : "P<") || take_literal(p, "<")) {
        p->groups++;
        return take_name(p, from, p->text[p->at - 1] == '<' ? '>' : '\'') && take_group_body(p, from, "(?:", depth);
    }
    if (!take_flags(p, from))
        return false;
    if (take_literal(p, ":")) {
        if (!write_text(p, "(?:") || !take_alternatives(p, depth + 1))
            return false;
        p->flags = flags;
        return take_literal(p, ")") ? write_text(p, ")") : refuse(p, from, "unclosed group: missing )");
    }
    p->at++;
    *assertion = true;
    if (!is_onig(p))
        return true;
    /* in Oniguruma a(?i)b|c is a(?i:b|c) */
    if (!write_text(p, "(?:") || !take_alternatives(p, depth + 1))
        return false;
    p->flags = flags;
    return write_text(p, ")");
}

/* ---- Repetition -------------------------------------------------------------------------------------------------- */

struct repeat {
    unsigned min, max; /* most: UINT32_MAX for no limit */
    bool interval;     /* true for {n,m}, false for ? * + */
};

static bool take_number(struct parser *p, unsigned *value)
{
    size_t from = p->at;

    for (*value = 0; !at_end(p) && is_digit(p->text[p->at]); p->at++)
        if (*value <= REPEAT_MAX)
            *value = *value * 10 + (unsigned)(p->text[p->at] - '0');
    return p->at > from;
}

/* Takes a repetition, if there is one. In both dialects, a brace that begins none is a literal. */
static bool take_repeat(struct parser *p, struct repeat *r)
{
    size_t from = p->at;
    bool min, max = false;

    if (at_end(p))
        return false;
    r->min = p->text[p->at] == '+';
    r->max = p->text[p->at] == '?' ? 1 : UINT32_MAX;
    r->interval = p->text[p->at] == '{';
    if (p->text[p->at] == '?' || p->text[p->at] == '*' || p->text[p->at] == '+') {
        p->at++;
        return true;
    }
    if (!r->interval)
        return false;
    p->at++;
    min = take_number(p, &r->min);
    if (take_literal(p, ",")) {
        max = take_number(p, &r->max);
        if (!max)
            r->max = UINT32_MAX;
    } else {
        r->max = r->min;
    }
    if ((min || (max && p->at > from + 2)) && take_literal(p, "}"))
        return true;
    p->at = from;
    return false;
}

static bool write_repeat(struct parser *p, size_t from, const struct repeat *r)
{
    char text[32];
    int n;

    if (r->min > REPEAT_MAX || (r->max != UINT32_MAX && (r->max > REPEAT_MAX || r->max < r->min)))
        return refuse(p, from, "this repetition is not supported");
    if (r->max == UINT32_MAX)
        n = snprintf(text, sizeof text, "{%u,}", r->min);
    else
        n = snprintf(text, sizeof text, "{%u,%u}", r->min, r->max);
    return write_bytes(p, text, (size_t)n);
}

/* Takes repetitions after the atom that was written from `written` on. */
static bool take_repeats(struct parser *p, size_t written, bool assertion)
{
    for (unsigned count = 0;; count++) {
        size_t from = p->at;
        struct repeat r;

        if (!take_repeat(p, &r))
            return true;
        if (assertion)
            return refuse(p, from, "nothing to repeat");
        if (count > REPEATS_MAX)
            return refuse(p, from, "nested too deeply");
        if (count > 0) {
            /* Oniguruma repeats a repetition; Rust refuses that */
            if (!is_onig(p))
                return refuse(p, from, "a repetition of a repetition");
            if (!write_around(p, written, ")"))
                return false;
        }
        p->literal = 0;
        if (!write_repeat(p, from, &r))
            return false;
        if (is_onig(p) && r.interval) {
            /* in Oniguruma {n}? is (?:{n})? and {n,m}+ is (?:{n,m})+ */
            if (r.min != r.max && take_literal(p, "?") && !write_text(p, "?"))
                return false;
        } else if (take_literal(p, "?") ? !write_text(p, "?") : take_literal(p, "+") && !write_text(p, "+")) {
            return false;
        }
    }
}

static bool take_branch(struct parser *p, unsigned depth)
{
    while (!at_end(p) && p->text[p->at] != '|' && p->text[p->at] != ')') {
        size_t from = p->at, written = p->out->text.size;
        bool assertion = false, ok;
        char c = p->text[p->at];
        struct repeat r;

        p->before = p->literal;
        p->literal = 0;
        switch (c) {
        case '(':
            ok = take_group(p, depth, &assertion);
            break;
        case '[':
        case '.':
            p->at++;
            ok = write_class(p, from, c);
            break;
        case '^':
        case '$':
            p->at++;
            assertion = true;
            ok = write_anchor(p, c);
            break;
        case '\\':
            ok = take_escape(p, from, &assertion);
            break;
        default:
            if (take_repeat(p, &r))
                return refuse(p, from, "nothing to repeat");
            ok = write_literal(p, from, take_character(p));
        }
        if (!ok || !take_repeats(p, written, assertion))
            return false;
    }
    return true;
}

static bool take_alternatives(struct parser *p, unsigned depth)
{
    uint32_t entering = p->entering;

    if (depth > DEPTH_MAX)
        return refuse(p, p->at, "nested too deeply");
    p->literal = entering;
    if (!take_branch(p, depth))
        return false;
    while (take_literal(p, "|")) {
        p->literal = entering;
        if (!write_text(p, "|") || !take_branch(p, depth))
            return false;
    }
    return true;
}

enum leat_status pattern_parse(struct pattern_text *out, const char *pattern, size_t bytes, enum scan_dialect dialect,
                               struct leat_error *err)
{
    struct parser p = {
        .text = pattern,
        .length = bytes,
        .dialect = dialect,
        .classes = &unicode_classes[dialect == SCAN_RUST ? UNICODE_RUST : UNICODE_ONIGURUMA],
        .out = out,
        .err = err,
        .status = LEAT_OK,
    };

    *out = (struct pattern_text) { 0 };
    if (take_alternatives(&p, 0) && !at_end(&p))
        refuse(&p, p.at, "unmatched )");
    free(p.cased);
    return p.status;
}

void pattern_text_free(struct pattern_text *text)
{
    for (size_t i = 0; i < text->set_count; i++)
        free(text->sets[i]);
    free(text->sets);
    buffer_free(&text->text);
    *text = (struct pattern_text) { 0 };
}
