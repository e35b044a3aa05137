/* chat_json.c: values as JSON, as the filter tojson of transformers writes them; and JSON as values. */
#include "chat_json.h"

#include <string.h>

#include "base/status.h"
#include "chat_run.h"

#define MAX_DEPTH 100

struct writing {
    struct chat_run *run;
    const struct chat_node *at;
    struct chat_text text;
    const struct chat_json_form *form;
};

/* What JSON itself writes, between strings and numbers: until all that it surrounds is written. */
#define SYNTAX (1u << 27)

static enum leat_status put_string_marked(struct writing *w, struct chat_string s)
{
    size_t from = w->text.count;
    enum leat_status status = chat_text_add(w->run->arena, &w->text, s, w->run->err);

    for (size_t i = from; status == LEAT_OK && i < w->text.count; i++)
        w->text.codes[i] |= SYNTAX;
    return status;
}

static enum leat_status put(struct writing *w, const char *ascii)
{
    struct chat_string string;
    enum leat_status s = chat_string_ascii(w->run->arena, ascii, &string, w->run->err);

    return s == LEAT_OK ? put_string_marked(w, string) : s;
}

/* All that stands between the characters of an answer belongs to it: syntax gets the marks that all characters since
 * `from` have in common, if there are any. */
static enum leat_status settle(struct writing *w, size_t from)
{
    uint32_t marks = CHAT_LEARNED;
    bool any = false;

    for (size_t i = from; i < w->text.count; i++) {
        if (w->text.codes[i] & SYNTAX)
            continue;
        any = true;
        marks &= w->text.codes[i];
    }
    for (size_t i = from; any && i < w->text.count; i++)
        if (w->text.codes[i] & SYNTAX)
            w->text.codes[i] = (w->text.codes[i] & ~SYNTAX) | marks;
    return chat_work(w->run, w->at, w->text.count - from);
}

static enum leat_status put_unit(struct writing *w, uint32_t unit, uint32_t marks)
{
    static const char hex[] = "0123456789abcdef";
    uint32_t codes[6] = { '\\' | marks, 'u' | marks };

    for (unsigned i = 0; i < 4; i++)
        codes[2 + i] = (unsigned char)hex[unit >> (12 - 4 * i) & 15] | marks;
    return chat_text_add(w->run->arena, &w->text, (struct chat_string) { codes, 6 }, w->run->err);
}

static enum leat_status put_code(struct writing *w, uint32_t with_marks)
{
    static const char escaped[] = "\"\\\n\r\t\b\f", letters[] = "\"\\nrtbf";
    uint32_t code = with_marks & CHAT_CODE, marks = with_marks & ~CHAT_CODE;
    const char *found = code != 0 && code < 0x80 ? strchr(escaped, (int)code) : NULL;
    uint32_t codes[2] = { '\\' | marks, found ? (unsigned char)letters[found - escaped] | marks : 0 };
    enum leat_status s;

    if (found)
        return chat_text_add(w->run->arena, &w->text, (struct chat_string) { codes, 2 }, w->run->err);
    if (code >= 0x20 && (code < 0x7f || !w->form->ascii))
        return chat_text_add(w->run->arena, &w->text, (struct chat_string) { &with_marks, 1 }, w->run->err);
    if (code < 0x10000)
        return put_unit(w, code, marks);
    s = put_unit(w, 0xd800 + ((code - 0x10000) >> 10), marks);
    return s == LEAT_OK ? put_unit(w, 0xdc00 + ((code - 0x10000) & 0x3ff), marks) : s;
}

static enum leat_status put_string(struct writing *w, struct chat_string s)
{
    size_t from = w->text.count;
    enum leat_status status = put(w, "\"");

    for (size_t i = 0; status == LEAT_OK && i < s.count; i++)
        status = put_code(w, s.codes[i]);
    if (status == LEAT_OK)
        status = put(w, "\"");
    return status == LEAT_OK ? settle(w, from) : status;
}

/* A line end and its indent; or nothing. */
static enum leat_status put_break(struct writing *w, unsigned depth)
{
    enum leat_status s = w->form->indent >= 0 ? put(w, "\n") : LEAT_OK;

    for (int64_t i = 0; s == LEAT_OK && i < w->form->indent * (int64_t)depth; i++)
        s = put(w, " ");
    return s;
}

static enum leat_status put_value(struct writing *w, const struct chat_value *v, unsigned depth);

static enum leat_status put_many(struct writing *w, const struct chat_value *v, unsigned depth)
{
    bool dict = v->kind != CHAT_LIST;
    size_t count = dict ? v->dict->count : v->list.count, from = w->text.count;
    enum leat_status s = put(w, dict ? "{" : "[");

    for (size_t i = 0; s == LEAT_OK && i < count; i++) {
        if (i > 0)
            s = put_string_marked(w, w->form->comma);
        if (s == LEAT_OK)
            s = put_break(w, depth + 1);
        if (s == LEAT_OK && dict)
            s = put_string(w, v->dict->pairs[i].key);
        if (s == LEAT_OK && dict)
            s = put_string_marked(w, w->form->colon);
        if (s == LEAT_OK)
            s = put_value(w, dict ? &v->dict->pairs[i].value : &v->list.items[i], depth + 1);
    }
    if (s == LEAT_OK && count > 0)
        s = put_break(w, depth);
    if (s == LEAT_OK)
        s = put(w, dict ? "}" : "]");
    return s == LEAT_OK ? settle(w, from) : s;
}

/* null, true, numbers: with the marks of the value. */
static enum leat_status put_plain(struct writing *w, const struct chat_value *v)
{
    bool infinite = v->kind == CHAT_FLOAT && !(v->real - v->real == 0);
    const char *text = v->kind == CHAT_NONE   ? "null"
                       : v->kind == CHAT_BOOL ? v->truth ? "true" : "false"
                       : infinite             ? v->real > 0   ? "Infinity"
                                                : v->real < 0 ? "-Infinity"
                                                              : "NaN"
                                              : NULL;
    struct chat_string s;
    enum leat_status status =
        text ? chat_string_make(w->run->arena, text, strlen(text), v->flags & CHAT_MARKS, &s, w->run->err)
             : chat_to_string(w->run, w->at, v, &s);

    return status == LEAT_OK ? chat_text_add(w->run->arena, &w->text, s, w->run->err) : status;
}

static enum leat_status put_value(struct writing *w, const struct chat_value *v, unsigned depth)
{
    if (depth > MAX_DEPTH)
        return chat_fail(w->run, w->at, "JSON that is nested too deeply");
    switch (v->kind) {
    case CHAT_STRING:
        return put_string(w, v->string);
    case CHAT_LIST:
        if (v->flags > CHAT_TUPLE)
            return chat_fail(w->run, w->at, "a range, or keys, items or values of a dict, as JSON");
        return put_many(w, v, depth);
    case CHAT_DICT:
        return put_many(w, v, depth);
    case CHAT_NONE:
    case CHAT_BOOL:
    case CHAT_INT:
    case CHAT_BIG:
    case CHAT_FLOAT:
        return put_plain(w, v);
    default:
        return chat_fail(w->run, w->at, "a value that is not supported in JSON");
    }
}

enum leat_status chat_to_json(struct chat_run *r, const struct chat_node *at, const struct chat_value *v,
                              const struct chat_json_form *form, struct chat_string *out)
{
    struct writing w = { .run = r, .at = at, .form = form };
    enum leat_status s = put_value(&w, v, 0);

    for (size_t i = 0; s == LEAT_OK && i < w.text.count; i++)
        w.text.codes[i] &= ~SYNTAX;
    *out = (struct chat_string) { w.text.codes, w.text.count };
    return s;
}

/* ---- JSON as values ---- */

struct reading {
    struct chat_arena *arena;
    const char *at;
    char *room; /* for strings, unescaped */
    char *(*unescape)(char *to, const char *from, const char *end);
    uint32_t marks;
    struct leat_error *err;
};

static void pass_space(struct reading *r)
{
    while (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r')
        r->at++;
}

static enum leat_status take_string(struct reading *r, struct chat_string *out)
{
    const char *begin = ++r->at;

    while (*r->at != '"')
        r->at += *r->at == '\\' ? 2 : 1;
    return chat_string_make(r->arena, r->room, (size_t)(r->unescape(r->room, begin, r->at++) - r->room), r->marks, out,
                            r->err);
}

#define MAX_DIGITS 4300 /* as in Python */

static enum leat_status take_number(struct reading *r, struct chat_value *out)
{
    const char *begin = r->at;
    enum leat_status s;

    while (*r->at && strchr("0123456789+-.eE", *r->at))
        r->at++;
    if (*r->at == 'I' || *r->at == 'N')
        return status_set(r->err, LEAT_E_TEXT, "the conversation has NaN or Infinity, which are not JSON");
    s = chat_number_read(r->arena, begin, (size_t)(r->at - begin), out, r->err);
    if (s == LEAT_OK && out->kind == CHAT_BIG && r->at - begin - (*begin == '-') > MAX_DIGITS)
        return status_set(r->err, LEAT_E_TEXT, "the conversation has a number of more than %d digits", MAX_DIGITS);
    if (s == LEAT_OK && out->kind == CHAT_BIG)
        s = chat_string_make(r->arena, begin, (size_t)(r->at - begin), r->marks, &out->string, r->err);
    out->flags = r->marks;
    return s;
}

static enum leat_status take_value(struct reading *r, struct chat_value *out, unsigned depth);

static enum leat_status take_list(struct reading *r, struct chat_value *out, unsigned depth)
{
    size_t room = 0;
    enum leat_status s = LEAT_OK;

    *out = (struct chat_value) { .kind = CHAT_LIST };
    r->at++;
    for (pass_space(r); s == LEAT_OK && *r->at != ']'; pass_space(r)) {
        if (out->list.count == room) {
            struct chat_value *items = chat_arena_get(r->arena, (2 * room + 8) * sizeof *items, r->err);

            if (!items)
                return r->err->status;
            if (room > 0)
                memcpy(items, out->list.items, room * sizeof *items);
            out->list.items = items;
            room = 2 * room + 8;
        }
        s = take_value(r, &out->list.items[out->list.count++], depth + 1);
        pass_space(r);
        r->at += s == LEAT_OK && *r->at == ',';
    }
    r->at++;
    return s;
}

static enum leat_status take_dict(struct reading *r, struct chat_value *out, unsigned depth)
{
    struct chat_string key;
    struct chat_value value;
    enum leat_status s = LEAT_OK;

    *out = (struct chat_value) { .kind = CHAT_DICT };
    out->dict = chat_arena_get(r->arena, sizeof *out->dict, r->err);
    if (!out->dict)
        return r->err->status;
    r->at++;
    for (pass_space(r); s == LEAT_OK && *r->at != '}'; pass_space(r)) {
        s = take_string(r, &key);
        if (s != LEAT_OK)
            return s;
        pass_space(r);
        r->at++;
        s = take_value(r, &value, depth + 1);
        if (s == LEAT_OK)
            s = chat_dict_set(r->arena, out->dict, key, &value, r->err);
        pass_space(r);
        r->at += s == LEAT_OK && *r->at == ',';
    }
    r->at++;
    return s;
}

static enum leat_status take_value(struct reading *r, struct chat_value *out, unsigned depth)
{
    pass_space(r);
    if (depth > MAX_DEPTH)
        return status_set(r->err, LEAT_E_TEXT, "the conversation is nested deeper than %d", MAX_DEPTH);
    switch (*r->at) {
    case '"':
        *out = (struct chat_value) { .kind = CHAT_STRING };
        return take_string(r, &out->string);
    case '[':
        return take_list(r, out, depth);
    case '{':
        return take_dict(r, out, depth);
    case 't':
    case 'f':
        *out = chat_bool(*r->at == 't');
        out->flags = r->marks;
        r->at += *r->at == 't' ? 4 : 5;
        return LEAT_OK;
    case 'n':
        *out = (struct chat_value) { .kind = CHAT_NONE, .flags = r->marks };
        r->at += 4;
        return LEAT_OK;
    default:
        return take_number(r, out);
    }
}

enum leat_status chat_read_json(struct chat_arena *a, const char **json, size_t bytes, uint32_t marks,
                                char *(*unescape)(char *to, const char *from, const char *end), struct chat_value *out,
                                struct leat_error *err)
{
    struct reading r = { .arena = a, .at = *json, .unescape = unescape, .marks = marks, .err = err };
    enum leat_status s;

    r.room = chat_arena_get(a, bytes + 64, err);
    s = r.room ? take_value(&r, out, 0) : err->status;
    *json = r.at;
    return s;
}
