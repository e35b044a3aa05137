/* json_members.c: walks a record, and notes the path of each member. */
#include "json_members.h"

#include <string.h>

#include "base/json_string.h"
#include "json_paths.h"

/* A walk through a record, which is valid. */
struct walk {
    struct json_members *of;
    const char *at, *end;
    char path[JSON_MEMBER_NAME];
    bool unnamed, dotted;            /* the path does not fit, or cannot be written as a field */
    unsigned depth;                  /* number of open objects */
    size_t lengths[JSON_PATH_NAMES]; /* lengths of the paths that lead to these objects */
    bool states[JSON_PATH_NAMES][2]; /* `unnamed` and `dotted` of these objects */
};

static void pass_spaces(struct walk *w)
{
    while (w->at < w->end && (json_is_space(*w->at) || *w->at == ',' || *w->at == ':'))
        w->at++;
}

/* Skips a string, whose first quote is at w->at. */
static void pass_string(struct walk *w)
{
    for (w->at++; w->at < w->end && *w->at != '"'; w->at++)
        w->at += *w->at == '\\';
    w->at += w->at < w->end;
}

/* Skips a value of any kind. */
static void pass_value(struct walk *w)
{
    unsigned depth = 0;

    do {
        char c = *w->at;

        if (c == '"') {
            pass_string(w);
            continue;
        }
        if ((c == '}' || c == ']' || c == ',') && depth == 0)
            return;
        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
        w->at++;
    } while (w->at < w->end && (depth > 0 || !strchr(",]} \t\r\n", *w->at)));
}

/* Appends the name at w->at to the path of the object that is open. */
static void take_name(struct walk *w)
{
    size_t length = w->lengths[w->depth - 1], room = sizeof w->path - length;
    const char *begin = w->at + 1;
    char plain[6 * JSON_MEMBER_NAME], *end = plain;

    pass_string(w);
    w->unnamed = w->states[w->depth - 1][0];
    w->dotted = w->states[w->depth - 1][1];
    if ((size_t)(w->at - begin) <= sizeof plain)
        end = json_kernels()->unescape(plain, begin, w->at - 1);
    else
        w->unnamed = true;
    if (memchr(plain, 0, (size_t)(end - plain)) || (size_t)(end - plain) + 2 > room)
        w->unnamed = true;
    if (w->unnamed)
        return;
    w->dotted = w->dotted || memchr(plain, '.', (size_t)(end - plain));
    if (length > 0)
        w->path[length++] = '.';
    memcpy(w->path + length, plain, (size_t)(end - plain));
    w->path[length + (size_t)(end - plain)] = '\0';
}

static void note(struct walk *w)
{
    struct json_members *m = w->of;

    for (unsigned i = 0; !w->unnamed && i < m->count; i++)
        if (strcmp(m->names[i], w->path) == 0 && m->dotted[i] == w->dotted)
            return;
    if (w->unnamed || m->count == JSON_MEMBERS) {
        m->more++;
        return;
    }
    memcpy(m->names[m->count], w->path, sizeof w->path);
    m->dotted[m->count++] = w->dotted;
}

/* Goes into an object that has members, or skips another value. */
static void take_value(struct walk *w)
{
    const char *begin = w->at;

    if (*w->at == '{' && w->depth < JSON_PATH_NAMES) {
        w->at++;
        pass_spaces(w);
        if (w->at < w->end && *w->at == '"') {
            w->lengths[w->depth] = w->unnamed ? 0 : strlen(w->path);
            w->states[w->depth][0] = w->unnamed;
            w->states[w->depth++][1] = w->dotted;
            return;
        }
        w->at = begin;
    }
    pass_value(w);
    note(w);
}

bool json_members_add(struct json_members *m, const char *record, size_t bytes)
{
    struct walk w = { .of = m, .at = record, .end = record + bytes };

    bool any = false;

    pass_spaces(&w);
    if (w.at == w.end || *w.at++ != '{')
        return false;
    for (w.depth = 1; w.depth > 0 && w.at < w.end;) {
        pass_spaces(&w);
        if (w.at == w.end)
            break;
        if (*w.at == '"') {
            any = true;
            take_name(&w);
            pass_spaces(&w);
            take_value(&w);
        } else {
            w.at++;
            w.depth--;
        }
    }
    return any;
}
