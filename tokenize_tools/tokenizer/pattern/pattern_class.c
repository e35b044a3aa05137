/*
 * pattern_class.c: the classes of characters in an expression: escapes, and classes in brackets.
 *
 * take_items() joins what stands between brackets, up to an operator or the closing bracket; an item may be a bracket
 * itself, which parser_take_class() reads in the same way. Escapes are read by the same functions in brackets and
 * outside. Where the dialects differ, the reader of that item decides.
 */
#include <stdlib.h>
#include <string.h>

#include "pattern_parser.h"

bool parser_fold_case(struct parser *p, struct pattern_set *set)
{
    if (!p->cased) {
        if (!(p->cased = malloc(sizeof *p->cased)))
            return parser_no_memory(p, sizeof *p->cased);
        pattern_set_cased(p->cased, p->classes);
    }
    return pattern_set_fold(set, p->cased);
}

/* ---- Escapes ---------------------------------------------------------------------------------------------------- */

bool parser_class_escape(struct parser *p, char c, struct pattern_set *set, bool in_class)
{
    switch (c | 0x20) {
    case 's':
        pattern_set_class(set, p->classes, UNICODE_SPACE);
        break;
    case 'd':
        pattern_set_class(set, p->classes, UNICODE_ND);
        break;
    case 'w':
        parser_word_set(p, set, in_class);
        break;
    case 'h': /* a hexadecimal digit, in both */
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

/* `least` to `most` hexadecimal digits. */
static bool take_hex(struct parser *p, size_t from, unsigned min, unsigned max, uint32_t *value)
{
    unsigned n = 0;

    for (*value = 0; n < max && !parser_at_end(p); n++, p->at++) {
        char c = p->text[p->at];

        if (parser_is_digit(c))
            *value = *value << 4 | (uint32_t)(c - '0');
        else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
            *value = *value << 4 | (uint32_t)((c | 0x20) - 'a' + 10);
        else
            break;
    }
    if (n < min || *value > 0x10ffff || (*value >= 0xd800 && *value < 0xe000))
        return parser_refuse(p, from, "not a code point");
    return true;
}

static bool is_letter(char c)
{
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

/* To Oniguruma, numbers and \xHH are bytes, not code points. */
static bool take_byte(struct parser *p, size_t from, uint32_t value)
{
    return value <= 0x7f || parser_refuse(p, from, "a byte that is not a character");
}

/* Oniguruma's numbers, of which one digit is read: up to three octal digits, or outside of brackets a reference to a
 * group, if there is one; 8 and 9 begin no octal number. */
static bool take_number(struct parser *p, size_t from, char first, uint32_t *value, bool in_class)
{
    size_t at = p->at;
    unsigned number = (unsigned)(first - '0');

    for (; !parser_at_end(p) && parser_is_digit(p->text[p->at]) && number < 10000; p->at++)
        number = number * 10 + (unsigned)(p->text[p->at] - '0');
    if (!in_class && first != '0' && (number <= 9 || number <= p->groups))
        return parser_refuse(p, from, "this escape is not supported");
    p->at = at;
    *value = (uint32_t)first;
    if (first >= '8')
        return true;
    for (*value -= '0'; !parser_at_end(p) && p->at < at + 2 && (p->text[p->at] | 7) == '7'; p->at++)
        *value = *value << 3 | (uint32_t)(p->text[p->at] - '0');
    if (in_class && *value > 0xff)
        return parser_refuse(p, from, "not a code point");
    *value &= 0xff;
    return take_byte(p, from, *value);
}

/* Oniguruma's \o{...}, of octal digits; other numbers in braces may be several characters. */
static bool take_octal(struct parser *p, size_t from, uint32_t *value)
{
    size_t digits = p->at;

    for (*value = 0; !parser_at_end(p) && p->at < digits + 11 && *value <= 0x10ffff; p->at++) {
        if ((p->text[p->at] | 7) != '7')
            break;
        *value = *value << 3 | (uint32_t)(p->text[p->at] - '0');
    }
    if (p->at == digits || *value > 0x10ffff || (*value >= 0xd800 && *value < 0xe000))
        return parser_refuse(p, from, "not a code point");
    return parser_take(p, "}") || parser_refuse(p, from, "unfinished escape");
}

/* The control character or backspace of an escape such as \n, or c itself. */
static uint32_t escaped(uint32_t c)
{
    static const char letters[] = "tnrfvaeb", values[] = "\t\n\r\f\v\a\x1b\b";
    const char *at = c > 0 && c < 0x80 ? strchr(letters, (int)c) : NULL;

    return at ? (uint32_t)values[at - letters] : c;
}

/* Oniguruma's \cX and \C-X, control characters, and \M-X, which sets the eighth bit. X may be an escape itself. */
static bool take_control(struct parser *p, size_t from, char c, uint32_t *value, unsigned depth)
{
    bool is_escape;

    if (depth > PARSER_DEPTH_MAX)
        return parser_refuse(p, from, "nested too deeply");
    if ((c != 'c' && !parser_take(p, "-")) || parser_at_end(p))
        return parser_refuse(p, from, "unfinished escape");
    if (c != 'M' && parser_take(p, "?"))
        return *value = 0x7f, true;
    is_escape = parser_take(p, "\\");
    if (parser_at_end(p))
        return parser_refuse(p, from, "unfinished escape");
    *value = parser_take_character(p);
    if (is_escape && (*value == 'c' || *value == 'C' || *value == 'M')) {
        if (!take_control(p, from, (char)*value, value, depth + 1))
            return false;
    } else if (is_escape) {
        *value = escaped(*value);
    }
    *value = c == 'M' ? (*value & 0xff) | 0x80 : *value & 0x9f;
    return true;
}

/* \x and hexadecimal digits; to Oniguruma one or none will do. */
static bool take_hex_byte(struct parser *p, size_t from, uint32_t *value)
{
    if (!parser_onig(p))
        return take_hex(p, from, 2, 2, value);
    if (parser_at_end(p))
        return *value = 'x', true;
    return take_hex(p, from, 0, 2, value) && take_byte(p, from, *value);
}

/* To Oniguruma letters are themselves in brackets, and outside if they mean nothing there. */
static bool is_itself(const struct parser *p, char c, bool in_class)
{
    if (!in_class && (c == 'g' || c == 'k'))
        return parser_onig(p) && !parser_looking_at(p, "<") && !parser_looking_at(p, "'");
    return parser_onig(p) && (in_class || !strchr("yXYGK", c));
}

bool parser_character_escape(struct parser *p, size_t from, char c, uint32_t *value, bool in_class)
{
    *value = escaped((unsigned char)c);
    if (*value != (unsigned char)c && (parser_onig(p) || c != 'b'))
        return true;
    if (c == 'x' || (!parser_onig(p) && (c == 'u' || c == 'U'))) {
        if (parser_take(p, "{"))
            return take_hex(p, from, 1, 8, value) &&
                   (parser_take(p, "}") || parser_refuse(p, from, "unfinished escape"));
        if (c == 'x')
            return take_hex_byte(p, from, value);
    }
    if (c == 'o' && parser_onig(p) && parser_take(p, "{"))
        return take_octal(p, from, value);
    if (c == 'u' || (c == 'U' && !parser_onig(p)))
        return take_hex(p, from, c == 'u' ? 4 : 8, c == 'u' ? 4 : 8, value);
    if (parser_onig(p) && parser_is_digit(c))
        return take_number(p, from, c, value, in_class);
    if (parser_onig(p) && (c == 'c' || c == 'C' || c == 'M'))
        return take_control(p, from, c, value, 0);
    /* Rust's \< and \> are word boundaries */
    if ((unsigned char)c >= 0x80 || (is_letter(c) && !is_itself(p, c, in_class)) ||
        (!parser_onig(p) && (parser_is_digit(c) || c == '<' || c == '>')))
        return parser_refuse(p, from, "this escape is not supported");
    *value = (unsigned char)c;
    return true;
}

/* ---- Character classes ------------------------------------------------------------------------------------------ */

/* The classes of Oniguruma that are made of properties. */
static bool oniguruma_set(struct parser *p, struct pattern_set *set, const char *name)
{
    const unsigned visible = UNICODE_L | UNICODE_M | UNICODE_N | UNICODE_P | UNICODE_S;

    if (strcmp(name, "blank") == 0) {
        parser_find_property(p, set, "zs", true);
        pattern_set_add(set, '\t', '\t');
        return true;
    }
    if (strcmp(name, "graph") == 0 || strcmp(name, "print") == 0) {
        pattern_set_class(set, p->classes, visible | (*name == 'p' ? UNICODE_SPACE : 0u));
        pattern_set_remove(set, 0, 0x1f);
        pattern_set_remove(set, 0x85, 0x85);
        pattern_set_remove(set, 0x2028, 0x2029);
        return parser_add_property(set, "cf") && parser_add_property(set, "co");
    }
    if (strcmp(name, "alnum") == 0) {
        pattern_set_class(set, p->classes, UNICODE_ND);
        return parser_add_property(set, "alpha");
    }
    return (strcmp(name, "alpha") == 0 || strcmp(name, "upper") == 0 || strcmp(name, "lower") == 0) &&
           parser_add_property(set, name);
}

static bool posix_set(struct parser *p, struct pattern_set *set, const char *name)
{
    /* in Rust these are of ASCII */
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
        pattern_set_add(set, 0x7f, parser_onig(p) ? 0x9f : 0x7f);
        return true;
    }
    if (parser_onig(p)) {
        if (strcmp(name, "space") == 0)
            return pattern_set_class(set, p->classes, UNICODE_SPACE), true;
        if (strcmp(name, "digit") == 0)
            return pattern_set_class(set, p->classes, UNICODE_ND), true;
        if (strcmp(name, "punct") == 0)
            return pattern_set_class(set, p->classes, UNICODE_P | UNICODE_S), true;
        if (strcmp(name, "word") == 0)
            return parser_word_set(p, set, true), true;
        if (strcmp(name, "xdigit") != 0) /* that is ASCII's there, too */
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

/* "[:name:]" at the reader's place; *is says whether there is one. */
static bool take_posix(struct parser *p, struct pattern_set *set, bool *is)
{
    size_t from = p->at, n = 0;
    char name[16];
    bool negative;

    *is = false;
    if (!parser_take(p, "[:"))
        return true;
    negative = parser_take(p, "^");
    while (!parser_at_end(p) && n + 1 < sizeof name && p->text[p->at] >= 'a' && p->text[p->at] <= 'z')
        name[n++] = p->text[p->at++];
    name[n] = 0;
    if (!parser_take(p, ":]")) {
        p->at = from;
        return true;
    }
    *is = true;
    if (!posix_set(p, set, name))
        return parser_refuse(p, from, "unknown class");
    if (negative)
        pattern_set_invert(set);
    return true;
}

/* One item of a class: *single is its code point, or UINT32_MAX if it is a set, which is then in *set. */
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
        return parser_take_class(p, from, set, depth + 1);
    }
    if (p->text[p->at] != '\\') {
        *single = parser_take_character(p);
        return true;
    }
    if (++p->at >= p->length)
        return parser_refuse(p, from, "unfinished escape");
    c = p->text[p->at++];
    if ((c | 0x20) == 'p' && (!parser_onig(p) || parser_looking_at(p, "{")))
        return parser_take_property(p, from, set, c == 'P', true);
    if (parser_class_escape(p, c, set, true))
        return true;
    return parser_character_escape(p, from, c, single, true);
}

/* In Oniguruma a bracket at the beginning of a class closes nothing, if there is another one anywhere after it. */
static bool bracket_is_item(const struct parser *p)
{
    return parser_onig(p) && parser_looking_at(p, "]") && memchr(p->text + p->at + 1, ']', p->length - p->at - 1);
}

/* Either case of a class's items. Rust adds it to what stands between operators, in each bracket; Oniguruma to the whole
 * of the outermost bracket. A negation comes after that, in both. */
static bool fold_items(struct parser *p, size_t from, struct pattern_set *set)
{
    return !p->flags.fold || parser_fold_case(p, set) ||
           parser_refuse(p, from, "ignoring case is supported for ASCII letters only");
}

/* Items up to an operator or the closing bracket, joined in *set. With `bracket` the first one is a bracket. In
 * Oniguruma a hyphen after a range, after a class in brackets or before "&&" is an item. */
static bool take_items(struct parser *p, size_t from, struct pattern_set *set, bool bracket, unsigned depth)
{
    struct pattern_set *item = malloc(sizeof *item);
    bool ok = item != NULL || parser_no_memory(p, sizeof *item), first = true, closed = false;

    pattern_set_clear(set);
    while (ok && !parser_at_end(p) && (p->text[p->at] != ']' || (first && bracket)) && !parser_looking_at(p, "&&") &&
           !(!parser_onig(p) && (parser_looking_at(p, "--") || parser_looking_at(p, "~~")))) {
        size_t item_at = p->at;
        uint32_t low, high;

        if (p->text[p->at] == '-' && !first && !closed && p->at + 1 < p->length && p->text[p->at + 1] != ']' &&
            !(parser_onig(p) && parser_looking_at(p, "-&&"))) {
            p->at++;
            ok = parser_refuse(p, item_at, "a hyphen between classes: write \\-");
            break;
        }
        first = false;
        closed = parser_onig(p) && p->text[p->at] == '[' && !parser_looking_at(p, "[:");
        ok = take_item(p, item, &low, depth);
        if (!ok)
            break;
        if (low == UINT32_MAX) {
            pattern_set_combine(set, item, PATTERN_SET_UNION);
            continue;
        }
        high = low;
        if (!parser_at_end(p) && p->text[p->at] == '-' && p->at + 1 < p->length && p->text[p->at + 1] != ']' &&
            !parser_looking_at(p, parser_onig(p) ? "-&&" : "--")) {
            p->at++;
            closed = parser_onig(p);
            ok = take_item(p, item, &high, depth);
            if (ok && (high == UINT32_MAX || high < low))
                ok = parser_refuse(p, item_at, "not a range");
        }
        if (ok)
            pattern_set_add(set, low, high);
    }
    if (ok && parser_at_end(p))
        ok = parser_refuse(p, from, "unclosed character class: missing ]");
    free(item);
    return ok && (parser_onig(p) || fold_items(p, from, set));
}

/* Operators bind less than joining and are taken from the left. */
bool parser_take_class(struct parser *p, size_t from, struct pattern_set *set, unsigned depth)
{
    struct pattern_set *right = NULL;
    bool negative, bracket, ok;

    if (depth > PARSER_DEPTH_MAX)
        return parser_refuse(p, from, "nested too deeply");
    negative = parser_take(p, "^");
    bracket = bracket_is_item(p);
    if (parser_looking_at(p, "]") && !bracket)
        return parser_refuse(p, from, "a class that starts with ]: write \\]");
    ok = take_items(p, from, set, bracket, depth);
    while (ok && p->text[p->at] != ']') {
        enum pattern_set_operation operation =
            parser_looking_at(p, "&&") ? PATTERN_SET_INTERSECTION : PATTERN_SET_DIFFERENCE;

        if (parser_looking_at(p, "~~")) {
            ok = parser_refuse(p, p->at, "symmetric difference is not supported");
            break;
        }
        p->at += 2;
        if (!right && !(right = malloc(sizeof *right))) {
            ok = parser_no_memory(p, sizeof *right);
            break;
        }
        ok = take_items(p, from, right, false, depth);
        if (ok)
            pattern_set_combine(set, right, operation);
    }
    free(right);
    if (!ok || (parser_onig(p) && depth == 0 && !fold_items(p, from, set)))
        return false;
    p->at++;
    /* to Oniguruma a bracket with \u00df in it also matches ss, unless it is negated; see several_fold_to_one() */
    if (parser_onig(p) && depth == 0 && p->flags.fold && !negative && pattern_set_has(set, 0xdf))
        return parser_refuse(p, from, "ignoring case is not supported where one character matches several");
    if (negative)
        pattern_set_invert(set);
    return true;
}
