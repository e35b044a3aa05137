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

bool parser_character_escape(struct parser *p, size_t from, char c, uint32_t *value)
{
    static const char letters[] = "tnrfvae", values[] = "\t\n\r\f\v\a\x1b";
    const char *at = strchr(letters, c);

    if (c && at) {
        *value = (uint32_t)values[at - letters];
        return true;
    }
    if (c == 'x' || (c == 'u' && parser_onig(p)) || (!parser_onig(p) && (c == 'u' || c == 'U'))) {
        if (!(c == 'u' && parser_onig(p)) && parser_take(p, "{"))
            return take_hex(p, from, 1, 8, value) &&
                   (parser_take(p, "}") || parser_refuse(p, from, "unfinished escape"));
        if (!take_hex(p, from, c == 'x' ? 2 : c == 'u' ? 4 : 8, c == 'x' ? 2 : c == 'u' ? 4 : 8, value))
            return false;
        /* to Oniguruma \xHH is a byte, not a code point */
        return !(c == 'x' && parser_onig(p) && *value > 0x7f) ||
               parser_refuse(p, from, "a byte that is not a character");
    }
    /* Rust's \< and \> are word boundaries */
    if ((unsigned char)c >= 0x80 || parser_is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ||
        (!parser_onig(p) && (c == '<' || c == '>')))
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
    if (c == 'p' || c == 'P')
        return parser_take_property(p, from, set, c == 'P', true);
    if (parser_class_escape(p, c, set, true))
        return true;
    if (c == 'b' && parser_onig(p)) {
        *single = '\b';
        return true;
    }
    return parser_character_escape(p, from, c, single);
}

/* Items up to an operator or the closing bracket, joined in *set. */
static bool take_items(struct parser *p, size_t from, struct pattern_set *set, unsigned depth)
{
    struct pattern_set *item = malloc(sizeof *item);
    bool ok = item != NULL || parser_no_memory(p, sizeof *item), first = true;

    pattern_set_clear(set);
    while (ok && !parser_at_end(p) && p->text[p->at] != ']' && !parser_looking_at(p, "&&") &&
           !(!parser_onig(p) && (parser_looking_at(p, "--") || parser_looking_at(p, "~~")))) {
        size_t item_at = p->at;
        uint32_t low, high;

        if (p->text[p->at] == '-' && !first && p->at + 1 < p->length && p->text[p->at + 1] != ']') {
            p->at++;
            ok = parser_refuse(p, item_at, "a hyphen between classes: write \\-");
            break;
        }
        first = false;
        ok = take_item(p, item, &low, depth);
        if (!ok)
            break;
        if (low == UINT32_MAX) {
            pattern_set_combine(set, item, PATTERN_SET_UNION);
            continue;
        }
        high = low;
        if (!parser_at_end(p) && p->text[p->at] == '-' && p->at + 1 < p->length && p->text[p->at + 1] != ']' &&
            !(!parser_onig(p) && parser_looking_at(p, "--"))) {
            p->at++;
            ok = take_item(p, item, &high, depth);
            if (ok && (high == UINT32_MAX || high < low))
                ok = parser_refuse(p, item_at, "not a range");
        }
        if (ok)
            pattern_set_add(set, low, high);
    }
    if (ok && parser_at_end(p))
        ok = parser_refuse(p, from, "unclosed character class: missing ]");
    /* either case of the items; a negation comes after that, in both */
    if (ok && p->flags.fold && !parser_fold_case(p, set))
        ok = parser_refuse(p, from, "ignoring case is supported for ASCII letters only");
    free(item);
    return ok;
}

/* Operators bind less than joining and are taken from the left. */
bool parser_take_class(struct parser *p, size_t from, struct pattern_set *set, unsigned depth)
{
    struct pattern_set *right = NULL;
    bool negative, ok;

    if (depth > PARSER_DEPTH_MAX)
        return parser_refuse(p, from, "nested too deeply");
    negative = parser_take(p, "^");
    if (parser_looking_at(p, "]"))
        return parser_refuse(p, from, "a class that starts with ]: write \\]");
    ok = take_items(p, from, set, depth);
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
        ok = take_items(p, from, right, depth);
        if (ok)
            pattern_set_combine(set, right, operation);
    }
    free(right);
    if (!ok)
        return false;
    p->at++;
    if (negative)
        pattern_set_invert(set);
    return true;
}
