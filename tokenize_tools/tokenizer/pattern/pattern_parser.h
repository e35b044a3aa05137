/*
 * pattern_parser.h: the reader's state and what the files that read expressions share: pattern_parse.c,
 * pattern_atom.c, pattern_class.c, pattern_property.c, pattern_write.c. Functions that return bool return false after
 * refusing or running out of memory; the reader's status says which.
 */
#ifndef LEAT_TOKENIZER_PATTERN_PARSER_H
#define LEAT_TOKENIZER_PATTERN_PARSER_H

#include "pattern_parse.h"

#define PARSER_DEPTH_MAX 64

struct parser_flags {
    bool fold;      /* i */
    bool dot_all;   /* Rust s, Oniguruma m */
    bool multiline; /* Rust m */
};

struct parser {
    const char *text;
    size_t length, at;
    enum scan_dialect dialect;
    const struct unicode_classes *classes;
    struct parser_flags flags;
    struct pattern_set *cased; /* made when first needed */
    struct pattern_text *out;
    size_t sets_room;
    struct leat_error *err;
    enum leat_status status;
    uint32_t literal, before; /* this atom, and the one before, if a literal, else 0: see several_fold_to_one() */
    uint32_t entering;        /* `before` of the group that is being read */
    unsigned groups;          /* that have a number, and begin before the reader's place */
};

static inline bool parser_onig(const struct parser *p)
{
    return p->dialect == SCAN_ONIGURUMA;
}

static inline bool parser_at_end(const struct parser *p)
{
    return p->at >= p->length;
}

static inline bool parser_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Refuses the expression because of what stands from `from` to the reader's place. Returns false, for the caller to
 * return. */
bool parser_refuse(struct parser *p, size_t from, const char *why);
bool parser_no_memory(struct parser *p, size_t bytes);

bool parser_looking_at(const struct parser *p, const char *what);

/* The same, and moves past it if it is there. */
bool parser_take(struct parser *p, const char *what);
uint32_t parser_take_character(struct parser *p);

/* ---- pattern_write.c ---- */

bool parser_write_bytes(struct parser *p, const void *bytes, size_t count);
bool parser_write_text(struct parser *p, const char *text);

/* Puts "(?:" before what was written since `from` and `after` after it. */
bool parser_write_around(struct parser *p, size_t from, const char *after);

/* A marker for the set. It is copied, unless there is an equal one. */
bool parser_write_set(struct parser *p, const struct pattern_set *set);

/* Text in which each '#' stands for `set`, or for a newline. */
bool parser_write_with(struct parser *p, const char *text, const struct pattern_set *set);
bool parser_write_newlines(struct parser *p, const char *text);

/* ---- pattern_atom.c ---- */

/* A character that stands for itself; it began at `from`. */
bool parser_write_literal(struct parser *p, size_t from, uint32_t c);

/* Writes a single set: `kind` is '[', '.' or the letter of an escape, and the reader's place is after it. */
bool parser_write_class(struct parser *p, size_t from, char kind);

/* ^ or $. */
bool parser_write_anchor(struct parser *p, char which);

/* At a backslash. *assertion: nothing may repeat it. */
bool parser_take_escape(struct parser *p, size_t from, bool *assertion);

/* ---- pattern_class.c ---- */

/* After the opening bracket, which is at `from`. */
bool parser_take_class(struct parser *p, size_t from, struct pattern_set *set, unsigned depth);

/* \s \S \d \D \w \W \h \H, alike in brackets and outside but for \w. False if it is none of them. */
bool parser_class_escape(struct parser *p, char c, struct pattern_set *set, bool in_class);

/* The code point of a character escape whose letter c has been read. */
bool parser_character_escape(struct parser *p, size_t from, char c, uint32_t *value, bool in_class);

/* Adds the other case of the set's members; false if the tables do not have it, or without memory. */
bool parser_fold_case(struct parser *p, struct pattern_set *set);

/* ---- pattern_property.c ---- */

/* After \p or \P. */
bool parser_take_property(struct parser *p, size_t from, struct pattern_set *set, bool negative, bool in_class);

/* By a name in small letters, without blanks, '-' and '_'; false if there is no such property. */
bool parser_find_property(struct parser *p, struct pattern_set *set, const char *name, bool in_class);

/* Adds the members of one that property_tables.h has. */
bool parser_add_property(struct pattern_set *set, const char *name);

/* \w */
void parser_word_set(struct parser *p, struct pattern_set *set, bool in_class);

#endif
