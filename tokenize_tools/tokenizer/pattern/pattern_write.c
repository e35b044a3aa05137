/*
 * pattern_write.c: what the reader of expressions writes: text for PCRE2, in which each set of characters is a marker.
 */
#include "pattern_parser.h"

#include <stdlib.h>
#include <string.h>

bool parser_write_bytes(struct parser *p, const void *bytes, size_t count)
{
    return buffer_append(&p->out->text, bytes, count, NULL) == LEAT_OK || parser_no_memory(p, count);
}

bool parser_write_text(struct parser *p, const char *text)
{
    return parser_write_bytes(p, text, strlen(text));
}

bool parser_write_around(struct parser *p, size_t from, const char *after)
{
    struct buffer *text = &p->out->text;

    if (!parser_write_text(p, "(?:"))
        return false;
    memmove(text->bytes + from + 3, text->bytes + from, text->size - 3 - from);
    memcpy(text->bytes + from, "(?:", 3);
    return parser_write_text(p, after);
}

bool parser_write_set(struct parser *p, const struct pattern_set *set)
{
    struct pattern_text *out = p->out;
    size_t i = 0;

    while (i < out->set_count && !pattern_set_equal(out->sets[i], set))
        i++;
    if (i == out->set_count) {
        if (i == PATTERN_SETS_MAX)
            return parser_refuse(p, 0, "too many different character classes");
        if (i == p->sets_room) {
            size_t room = 2 * i + 16;
            struct pattern_set **larger = realloc(out->sets, room * sizeof *larger);

            if (!larger)
                return parser_no_memory(p, room * sizeof *larger);
            out->sets = larger;
            p->sets_room = room;
        }
        if (!(out->sets[i] = malloc(sizeof *set)))
            return parser_no_memory(p, sizeof *set);
        memcpy(out->sets[i], set, sizeof *set);
        out->set_count++;
    }
    return parser_write_bytes(p, (unsigned char[]) { PATTERN_MARKER, (unsigned char)(i >> 8), (unsigned char)i }, 3);
}

bool parser_write_with(struct parser *p, const char *text, const struct pattern_set *set)
{
    for (; *text; text++)
        if (!(*text == '#' ? parser_write_set(p, set) : parser_write_bytes(p, text, 1)))
            return false;
    return true;
}

bool parser_write_newlines(struct parser *p, const char *text)
{
    struct pattern_set *newline = malloc(sizeof *newline);
    bool ok;

    if (!newline)
        return parser_no_memory(p, sizeof *newline);
    pattern_set_clear(newline);
    pattern_set_add(newline, '\n', '\n');
    ok = parser_write_with(p, text, newline);
    free(newline);
    return ok;
}
