/*
 * pattern_parse.c: a recursive-descent reader of both dialects.
 *
 * take_alternatives() reads branches, take_branch() atoms, take_repeats() what repeats an atom; groups lead back to
 * take_alternatives(). Each writes its translation as it reads, so a refusal names the place that it has reached. Where
 * the dialects differ, a comment says how; all of this was tried against tiktoken 0.14 (fancy-regex 0.19) and
 * tokenizers 0.23 (Oniguruma 6.9).
 */
#include "pattern_parser.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"

#define REPEAT_MAX 65535u

/* Repetitions of one atom, each of which goes around all before it: as deep as PCRE2 lets groups be. */
#define REPEATS_MAX 250u

/* ---- Failing ---------------------------------------------------------------------------------------------------- */

bool parser_refuse(struct parser *p, size_t from, const char *why)
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

bool parser_no_memory(struct parser *p, size_t bytes)
{
    if (p->status == LEAT_OK)
        p->status = status_no_memory(p->err, bytes);
    return false;
}

/* ---- Reading ---------------------------------------------------------------------------------------------------- */

bool parser_looking_at(const struct parser *p, const char *what)
{
    size_t n = strlen(what);

    return p->length - p->at >= n && memcmp(p->text + p->at, what, n) == 0;
}

bool parser_take(struct parser *p, const char *what)
{
    if (!parser_looking_at(p, what))
        return false;
    p->at += strlen(what);
    return true;
}

uint32_t parser_take_character(struct parser *p)
{
    size_t bytes;
    uint32_t c = unicode_decode((const uint8_t *)p->text + p->at, &bytes);

    p->at += bytes;
    return c;
}

/* ---- Groups ----------------------------------------------------------------------------------------------------- */

static bool take_alternatives(struct parser *p, unsigned depth);

/* Letters and a minus after "(?", up to ':' or ')'. */
static bool take_flags(struct parser *p, size_t from)
{
    bool on = true;

    for (; !parser_at_end(p) && p->text[p->at] != ':' && p->text[p->at] != ')'; p->at++)
        switch (p->text[p->at]) {
        case '-':
            on = false;
            break;
        case 'i':
            p->flags.fold = on;
            break;
        case 'm':
            *(parser_onig(p) ? &p->flags.dot_all : &p->flags.multiline) = on;
            break;
        case 's':
            if (parser_onig(p))
                return p->at++, parser_refuse(p, from, "this group is not supported");
            p->flags.dot_all = on;
            break;
        case 'u':
            if (!parser_onig(p) && on)
                break;
            return p->at++, parser_refuse(p, from, "this group is not supported");
        default:
            p->at++;
            return parser_refuse(p, from, "this group is not supported");
        }
    return !parser_at_end(p) || parser_refuse(p, from, "unclosed group: missing )");
}

static bool take_group_body(struct parser *p, size_t from, const char *opening, unsigned depth)
{
    struct parser_flags flags = p->flags;

    if (!parser_write_text(p, opening) || !take_alternatives(p, depth + 1))
        return false;
    if (!parser_take(p, ")"))
        return parser_refuse(p, from, "unclosed group: missing )");
    p->flags = flags;
    return parser_write_text(p, ")");
}

static bool take_name(struct parser *p, size_t from, char closing)
{
    while (!parser_at_end(p) && p->text[p->at] != closing)
        p->at++;
    return !parser_at_end(p) ? (p->at++, true) : parser_refuse(p, from, "unclosed group: missing )");
}

/* At an opening parenthesis. Groups do not capture: a reference to one is refused. */
static bool take_group(struct parser *p, unsigned depth, bool *assertion)
{
    size_t from = p->at++;
    struct parser_flags flags = p->flags;

    p->entering = p->before;
    if (parser_looking_at(p, "*"))
        return p->at++, parser_refuse(p, from, "this group is not supported");
    if (!parser_take(p, "?"))
        return p->groups++, take_group_body(p, from, "(?:", depth);
    if (parser_take(p, "#")) {
        *assertion = true;
        p->literal = p->before;
        return take_name(p, from, ')');
    }
    if (parser_take(p, ">"))
        return take_group_body(p, from, "(?>", depth);
    *assertion = true;
    if (parser_take(p, "="))
        return take_group_body(p, from, "(?=", depth);
    if (parser_take(p, "!"))
        return take_group_body(p, from, "(?!", depth);
    if (parser_looking_at(p, "<=") || parser_looking_at(p, "<!")) {
        bool negative = p->text[p->at + 1] == '!';

        p->at += 2;
        p->out->looks_behind = true;
        return take_group_body(p, from, negative ? "(?<!" : "(?<=", depth);
    }
    *assertion = false;
    if ((!parser_onig(p) && parser_take(p, "P<")) || parser_take(p, "<"))
        return p->groups++, take_name(p, from, '>') && take_group_body(p, from, "(?:", depth);
    if (parser_onig(p) && parser_take(p, "'"))
        return p->groups++, take_name(p, from, '\'') && take_group_body(p, from, "(?:", depth);
    if (!take_flags(p, from))
        return false;
    if (parser_take(p, ":")) {
        if (!parser_write_text(p, "(?:") || !take_alternatives(p, depth + 1))
            return false;
        p->flags = flags;
        return parser_take(p, ")") ? parser_write_text(p, ")") : parser_refuse(p, from, "unclosed group: missing )");
    }
    p->at++;
    *assertion = true;
    if (!parser_onig(p))
        return true;
    /* to Oniguruma a(?i)b|c is a(?i:b|c) */
    if (!parser_write_text(p, "(?:") || !take_alternatives(p, depth + 1))
        return false;
    p->flags = flags;
    return parser_write_text(p, ")");
}

/* ---- Repetition ------------------------------------------------------------------------------------------------- */

struct repeat {
    unsigned min, max; /* most: UINT32_MAX for no limit */
    bool interval;     /* {n,m}, not one of ? * + */
};

static bool take_number(struct parser *p, unsigned *value)
{
    size_t from = p->at;

    for (*value = 0; !parser_at_end(p) && parser_is_digit(p->text[p->at]); p->at++)
        if (*value <= REPEAT_MAX)
            *value = *value * 10 + (unsigned)(p->text[p->at] - '0');
    return p->at > from;
}

/* A repetition, if there is one; in both dialects, a brace that begins none is a literal. */
static bool take_repeat(struct parser *p, struct repeat *r)
{
    size_t from = p->at;
    bool min, max = false;

    if (parser_at_end(p))
        return false;
    r->min = p->text[p->at] == '+';
    r->max = p->text[p->at] == '?' ? 1 : UINT32_MAX;
    r->interval = p->text[p->at] == '{';
    if (p->text[p->at] == '?' || p->text[p->at] == '*' || p->text[p->at] == '+')
        return p->at++, true;
    if (!r->interval)
        return false;
    p->at++;
    min = take_number(p, &r->min);
    if (parser_take(p, ",")) {
        max = take_number(p, &r->max);
        if (!max)
            r->max = UINT32_MAX;
    } else {
        r->max = r->min;
    }
    if ((min || (max && p->at > from + 2)) && parser_take(p, "}"))
        return true;
    p->at = from;
    return false;
}

static bool write_repeat(struct parser *p, size_t from, const struct repeat *r)
{
    char text[32];
    int n;

    if (r->min > REPEAT_MAX || (r->max != UINT32_MAX && (r->max > REPEAT_MAX || r->max < r->min)))
        return parser_refuse(p, from, "this repetition is not supported");
    if (r->max == UINT32_MAX)
        n = snprintf(text, sizeof text, "{%u,}", r->min);
    else
        n = snprintf(text, sizeof text, "{%u,%u}", r->min, r->max);
    return parser_write_bytes(p, text, (size_t)n);
}

/* Repetitions after the atom that was written from `written` on. */
static bool take_repeats(struct parser *p, size_t written, bool assertion)
{
    for (unsigned count = 0;; count++) {
        size_t from = p->at;
        struct repeat r;

        if (!take_repeat(p, &r))
            return true;
        if (assertion)
            return parser_refuse(p, from, "nothing to repeat");
        if (count > REPEATS_MAX)
            return parser_refuse(p, from, "nested too deeply");
        if (count > 0) {
            /* Oniguruma repeats what is repeated; Rust does not take it */
            if (!parser_onig(p))
                return parser_refuse(p, from, "a repetition of a repetition");
            if (!parser_write_around(p, written, ")"))
                return false;
        }
        p->literal = 0;
        if (!write_repeat(p, from, &r))
            return false;
        if (parser_onig(p) && r.interval) {
            /* {n}? is (?:{n})? and {n,m}+ is (?:{n,m})+ there */
            if (r.min != r.max && parser_take(p, "?") && !parser_write_text(p, "?"))
                return false;
        } else if (parser_take(p, "?") ? !parser_write_text(p, "?")
                                       : parser_take(p, "+") && !parser_write_text(p, "+")) {
            return false;
        }
    }
}

static bool take_branch(struct parser *p, unsigned depth)
{
    while (!parser_at_end(p) && p->text[p->at] != '|' && p->text[p->at] != ')') {
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
            ok = parser_write_class(p, from, c);
            break;
        case '^':
        case '$':
            p->at++;
            assertion = true;
            ok = parser_write_anchor(p, c);
            break;
        case '\\':
            ok = parser_take_escape(p, from, &assertion);
            break;
        default:
            if (take_repeat(p, &r))
                return parser_refuse(p, from, "nothing to repeat");
            ok = parser_write_literal(p, from, parser_take_character(p));
        }
        if (!ok || !take_repeats(p, written, assertion))
            return false;
    }
    return true;
}

static bool take_alternatives(struct parser *p, unsigned depth)
{
    uint32_t entering = p->entering;

    if (depth > PARSER_DEPTH_MAX)
        return parser_refuse(p, p->at, "nested too deeply");
    p->literal = entering;
    if (!take_branch(p, depth))
        return false;
    while (parser_take(p, "|")) {
        p->literal = entering;
        if (!parser_write_text(p, "|") || !take_branch(p, depth))
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
    if (take_alternatives(&p, 0) && !parser_at_end(&p))
        parser_refuse(&p, p.at, "unmatched )");
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
