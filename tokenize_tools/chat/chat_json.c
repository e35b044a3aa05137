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
    int64_t indent; /* -1: all in one line */
};

static enum leat_status put(struct writing *w, const char *ascii)
{
    return chat_text_add_ascii(w->run->arena, &w->text, ascii, w->run->err);
}

static enum leat_status put_string(struct writing *w, struct chat_string s)
{
    static const char hex[] = "0123456789abcdef";
    static const char escaped[] = "\"\\\n\r\t\b\f", letters[] = "\"\\nrtbf";
    enum leat_status status = put(w, "\"");

    for (size_t i = 0; status == LEAT_OK && i < s.count; i++) {
        uint32_t code = s.codes[i] & CHAT_CODE, marks = s.codes[i] & ~CHAT_CODE;
        const char *found = code != 0 && code < 0x80 ? strchr(escaped, (int)code) : NULL;
        uint32_t codes[6] = { '\\' | marks, 'u' | marks, '0' | marks, '0' | marks };
        size_t count = 6;

        if (found) {
            codes[1] = (unsigned char)letters[found - escaped] | marks;
            count = 2;
        } else if (code < 0x20) {
            codes[4] = (unsigned char)hex[code >> 4] | marks;
            codes[5] = (unsigned char)hex[code & 15] | marks;
        } else {
            codes[0] = s.codes[i];
            count = 1;
        }
        status = chat_text_add(w->run->arena, &w->text, (struct chat_string) { codes, count }, w->run->err);
    }
    return status == LEAT_OK ? put(w, "\"") : status;
}

/* A line end and its indent; or nothing. */
static enum leat_status put_break(struct writing *w, unsigned depth)
{
    enum leat_status s = w->indent >= 0 ? put(w, "\n") : LEAT_OK;

    for (int64_t i = 0; s == LEAT_OK && i < w->indent * (int64_t)depth; i++)
        s = put(w, " ");
    return s;
}

static enum leat_status put_value(struct writing *w, const struct chat_value *v, unsigned depth);

static enum leat_status put_many(struct writing *w, const struct chat_value *v, unsigned depth)
{
    bool dict = v->kind != CHAT_LIST;
    size_t count = dict ? v->dict->count : v->list.count;
    enum leat_status s = put(w, dict ? "{" : "[");

    for (size_t i = 0; s == LEAT_OK && i < count; i++) {
        if (i > 0)
            s = put(w, w->indent >= 0 ? "," : ", ");
        if (s == LEAT_OK)
            s = put_break(w, depth + 1);
        if (s == LEAT_OK && dict)
            s = put_string(w, v->dict->pairs[i].key);
        if (s == LEAT_OK && dict)
            s = put(w, ": ");
        if (s == LEAT_OK)
            s = put_value(w, dict ? &v->dict->pairs[i].value : &v->list.items[i], depth + 1);
    }
    if (s == LEAT_OK && count > 0)
        s = put_break(w, depth);
    return s == LEAT_OK ? put(w, dict ? "}" : "]") : s;
}

static enum leat_status put_value(struct writing *w, const struct chat_value *v, unsigned depth)
{
    struct chat_string s;
    enum leat_status status;

    if (depth > MAX_DEPTH)
        return chat_fail(w->run, w->at, "JSON that is nested too deeply");
    switch (v->kind) {
    case CHAT_NONE:
        return put(w, "null");
    case CHAT_BOOL:
        return put(w, v->truth ? "true" : "false");
    case CHAT_STRING:
        return put_string(w, v->string);
    case CHAT_LIST:
    case CHAT_DICT:
        return put_many(w, v, depth);
    case CHAT_INT:
        status = chat_to_string(w->run, w->at, v, &s);
        return status == LEAT_OK ? chat_text_add(w->run->arena, &w->text, s, w->run->err) : status;
    default:
        return chat_fail(w->run, w->at, "a value that is not supported in JSON, such as a number with a fraction");
    }
}

enum leat_status chat_to_json(struct chat_run *r, const struct chat_node *at, const struct chat_value *v,
                              int64_t indent, struct chat_string *out)
{
    struct writing w = { .run = r, .at = at, .indent = indent };
    enum leat_status s = put_value(&w, v, 0);

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

static enum leat_status take_number(struct reading *r, struct chat_value *out)
{
    const char *begin = r->at;
    bool minus = *r->at == '-', whole = true;
    int64_t number = 0;

    for (r->at += minus; *r->at && strchr("0123456789+-.eE", *r->at); r->at++) {
        whole =
            whole && *r->at >= '0' && *r->at <= '9' && r->at - begin - minus < 18; /* others are not computed with */
        number = whole ? number * 10 + (*r->at - '0') : 0;
    }
    *out = chat_int(minus ? -number : number);
    out->kind = whole ? CHAT_INT : CHAT_FLOAT;
    return *r->at == 'I' || *r->at == 'N'
               ? status_set(r->err, LEAT_E_TEXT, "the conversation has NaN or Infinity, which are not JSON")
               : LEAT_OK;
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

    out->kind = CHAT_DICT;
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
        out->kind = CHAT_STRING;
        return take_string(r, &out->string);
    case '[':
        return take_list(r, out, depth);
    case '{':
        return take_dict(r, out, depth);
    case 't':
    case 'f':
        *out = chat_bool(*r->at == 't');
        r->at += *r->at == 't' ? 4 : 5;
        return LEAT_OK;
    case 'n':
        out->kind = CHAT_NONE;
        r->at += 4;
        return LEAT_OK;
    default:
        return take_number(r, out);
    }
}

enum leat_status chat_read_json(struct chat_arena *a, const char *json, size_t bytes, uint32_t marks,
                                char *(*unescape)(char *to, const char *from, const char *end), struct chat_value *out,
                                struct leat_error *err)
{
    struct reading r = { .arena = a, .at = json, .unescape = unescape, .marks = marks, .err = err };

    r.room = chat_arena_get(a, bytes + 64, err);
    return r.room ? take_value(&r, out, 0) : err->status;
}
