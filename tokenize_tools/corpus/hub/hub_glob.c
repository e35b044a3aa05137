/*
 * hub_glob.c: matches patterns. fnmatch() is of no use here: its answer depends on the locale, and it may take time
 * without bound. It is enough to remember one star to go back to, among the characters of a part as among the parts:
 * all that an earlier star could match instead, the later star has tried.
 */
#include "hub_glob.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct part {
    const char *at, *end;
};

static struct part part_at(const char *text)
{
    return (struct part) { text, text + strcspn(text, "/") };
}

/* Returns a number for the character at *at, made of its UTF-8 bytes, and moves *at past it. These numbers have the
 * order of the code points. */
static uint32_t next_character(struct part *text)
{
    uint32_t character = (unsigned char)*text->at++;

    if (character >= 0xc0)
        for (int more = 0; more < 3 && text->at < text->end && ((unsigned char)*text->at & 0xc0) == 0x80; more++)
            character = character << 8 | (unsigned char)*text->at++;
    return character;
}

/* Returns the ] that ends the set whose [ is at `open`, or NULL if it is no set. A ] that comes first belongs to the
 * set. */
static const char *set_end(const struct part *pattern, const char *open)
{
    const char *first = open + 1;

    if (first < pattern->end && *first == '!')
        first++;
    if (first < pattern->end && *first == ']')
        first++;
    return first < pattern->end ? memchr(first, ']', (size_t)(pattern->end - first)) : NULL;
}

static bool in_set(struct part set, uint32_t character)
{
    bool not_in = *set.at == '!', found = false;

    set.at += not_in;
    while (set.at < set.end) {
        uint32_t low = next_character(&set), high = low;

        if (set.end - set.at > 1 && *set.at == '-') {
            set.at++;
            high = next_character(&set);
        }
        found = found || (low <= character && character <= high);
    }
    return found != not_in;
}

/* Matches one character of the name, and moves both on. If it returns false, the pattern may have moved. */
static bool match_one(struct part *pattern, struct part *name)
{
    const char *end;

    if (pattern->at == pattern->end)
        return false;
    if (*pattern->at == '?') {
        pattern->at++;
        next_character(name);
        return true;
    }
    end = *pattern->at == '[' ? set_end(pattern, pattern->at) : NULL;
    if (!end)
        return *pattern->at++ == *name->at++;
    if (!in_set((struct part) { pattern->at + 1, end }, next_character(name)))
        return false;
    pattern->at = end + 1;
    return true;
}

static bool match_part(struct part pattern, struct part name)
{
    const char *star = NULL, *from = NULL; /* last *, and the place where the rest of the pattern was tried */

    while (name.at < name.end) {
        if (pattern.at < pattern.end && *pattern.at == '*') {
            star = ++pattern.at;
            from = name.at;
        } else if (!match_one(&pattern, &name)) {
            if (!star)
                return false;
            pattern.at = star;
            name.at = ++from;
        }
    }
    while (pattern.at < pattern.end && *pattern.at == '*')
        pattern.at++;
    return pattern.at == pattern.end;
}

bool hub_glob(const char *pattern, const char *name)
{
    const char *star = NULL, *from = NULL; /* last **, and the place where the rest of the pattern was tried */

    for (;;) {
        struct part p = part_at(pattern), n = part_at(name);

        if (p.end - p.at == 2 && strncmp(p.at, "**", 2) == 0) {
            if (!*p.end)
                return true;
            star = pattern = p.end + 1;
            from = name;
        } else if (match_part(p, n) && !*p.end == !*n.end) {
            if (!*p.end)
                return true;
            pattern = p.end + 1;
            name = n.end + 1;
        } else {
            from = star ? strchr(from, '/') : NULL;
            if (!from)
                return false;
            pattern = star;
            name = ++from;
        }
    }
}
