/*
 * pattern_atom.c: the atoms of an expression that stand for one character or for a place: literals, escapes, dots,
 * anchors.
 */
#include "pattern_parser.h"

#include <stdlib.h>

/*
 * If case is ignored, Oniguruma also matches one character where the expression has several: ß for ss, ﬁ for fi, ŉ for
 * ʼn. Such a pair of literals is refused. Every character that folds to several folds to one of these pairs first.
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

bool parser_write_literal(struct parser *p, size_t from, uint32_t c)
{
    struct pattern_set *set = malloc(sizeof *set);
    bool ok = set != NULL || parser_no_memory(p, sizeof *set);

    if (!ok)
        return false;
    pattern_set_clear(set);
    pattern_set_add(set, c, c);
    if (p->flags.fold && !parser_fold_case(p, set))
        ok = parser_refuse(p, from, "ignoring case is supported for ASCII letters only");
    else if (p->flags.fold && parser_onig(p) && several_fold_to_one(p->before, c))
        ok = parser_refuse(p, from, "ignoring case is not supported where one character matches several");
    ok = ok && parser_write_set(p, set);
    p->literal = c;
    free(set);
    return ok;
}

bool parser_write_class(struct parser *p, size_t from, char kind)
{
    struct pattern_set *set = malloc(sizeof *set);
    bool ok;

    if (!set)
        return parser_no_memory(p, sizeof *set);
    switch (kind) {
    case '[':
        ok = parser_take_class(p, from, set, 0);
        break;
    case 'p':
    case 'P':
        ok = parser_take_property(p, from, set, kind == 'P', false);
        /* Rust takes either case of a property; Oniguruma only in brackets */
        if (ok && !parser_onig(p) && p->flags.fold && !parser_fold_case(p, set))
            ok = parser_refuse(p, from, "ignoring case is supported for ASCII letters only");
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
        ok = parser_class_escape(p, kind, set, false);
    }
    ok = ok && parser_write_set(p, set);
    free(set);
    return ok;
}

/* \b and \B by look-around at \w. */
static bool write_boundary(struct parser *p, bool negative)
{
    struct pattern_set *word = malloc(sizeof *word);
    bool ok;

    if (!word)
        return parser_no_memory(p, sizeof *word);
    parser_word_set(p, word, false);
    ok = parser_write_with(p, negative ? "(?:(?<=#)(?=#)|(?<!#)(?!#))" : "(?:(?<=#)(?!#)|(?<!#)(?=#))", word);
    p->out->looks_behind = true;
    free(word);
    return ok;
}

/* \R: a pair is not taken apart. */
static bool write_line_end(struct parser *p)
{
    struct pattern_set *set = malloc(sizeof *set);
    bool ok;

    if (!set)
        return parser_no_memory(p, sizeof *set);
    pattern_set_clear(set);
    pattern_set_add(set, '\r', '\r');
    ok = parser_write_with(p, "(?>#", set);
    pattern_set_clear(set);
    pattern_set_add(set, '\n', '\n');
    ok = ok && parser_write_with(p, "#|", set);
    pattern_set_add(set, '\v', '\r');
    pattern_set_add(set, 0x85, 0x85);
    pattern_set_add(set, 0x2028, 0x2029);
    ok = ok && parser_write_with(p, "#)", set);
    free(set);
    return ok;
}

/* ^ and $: in Oniguruma always of lines, but ^ not after a final newline. */
bool parser_write_anchor(struct parser *p, char which)
{
    if (which == '^')
        p->out->looks_behind = true;
    if (!parser_onig(p) && !p->flags.multiline)
        return parser_write_text(p, which == '^' ? "\\A" : "\\z");
    if (which == '$')
        return parser_write_newlines(p, "(?=#|\\z)");
    return parser_write_newlines(p, parser_onig(p) ? "(?:\\A|(?<=#)(?!\\z))" : "(?:\\A|(?<=#))");
}

bool parser_take_escape(struct parser *p, size_t from, bool *assertion)
{
    uint32_t value;
    char c;

    if (++p->at >= p->length)
        return parser_refuse(p, from, "unfinished escape");
    c = p->text[p->at++];
    /* Oniguruma takes \pL for the letters p and L */
    if (parser_onig(p) && (c | 0x20) == 'p' && !parser_looking_at(p, "{"))
        return parser_write_literal(p, from, (unsigned char)c);
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
        return parser_write_class(p, from, c);
    case 'R':
        return write_line_end(p);
    case 'b':
    case 'B':
        *assertion = true;
        if (parser_looking_at(p, "{"))
            return parser_refuse(p, from, "this escape is not supported");
        return write_boundary(p, c == 'B');
    case 'A':
        *assertion = true;
        p->out->looks_behind = true;
        return parser_write_text(p, "\\A");
    case 'z':
        *assertion = true;
        return parser_write_text(p, "\\z");
    case 'Z':
        *assertion = true;
        return parser_write_newlines(p, parser_onig(p) ? "(?=#?\\z)" : "(?=#*\\z)");
    default:
        return parser_character_escape(p, from, c, &value, false) && parser_write_literal(p, from, value);
    }
}
