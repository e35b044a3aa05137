/* damage_list.c: see damage_list.h. Only lines that are spelled as damage_list_write() spells them are read as such. */
#include "damage_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/status.h"
#include "base/utf8.h"

void damage_list_free(struct damage_list *l)
{
    for (size_t i = 0; i < l->count; i++) {
        free(l->items[i].input);
        free(l->items[i].reason);
    }
    free(l->items);
    *l = (struct damage_list) { 0 };
}

/* Takes both strings, of which the reason may be NULL where there was no memory for it. */
static enum leat_status take(struct damage_list *l, struct damage d, struct leat_error *err)
{
    enum leat_status s = d.reason ? GROW(l->items, l->count + 1, l->room, err) : status_no_memory(err, sizeof d);

    if (s == LEAT_OK) {
        l->items[l->count++] = d;
        return s;
    }
    free(d.input);
    free(d.reason);
    return s;
}

enum leat_status damage_list_add(struct damage_list *l, const char *input, uint64_t offset, const char *reason,
                                 size_t reason_bytes, uint64_t unread, struct leat_error *err)
{
    struct buffer clean = { 0 };
    enum leat_status s = utf8_repair(&clean, (const uint8_t *)input, strlen(input), NULL, err);

    if (s == LEAT_OK)
        s = buffer_append(&clean, "", 1, err);
    if (s != LEAT_OK) {
        buffer_free(&clean);
        return s;
    }
    return take(l, (struct damage) { (char *)clean.bytes, strndup(reason, reason_bytes), offset, unread }, err);
}

void damage_list_add_unread(struct damage_list *l, uint64_t unread)
{
    struct damage *last = &l->items[l->count - 1];

    last->unread = last->unread > LEAT_NONE - unread ? LEAT_NONE : last->unread + unread;
}

void damage_list_join(struct damage_list *l, size_t at)
{
    struct damage *d = &l->items[at], *before = d - 1;

    if (at == 0 || at >= l->count || strcmp(d->input, before->input) != 0)
        return;
    before->unread = before->unread > LEAT_NONE - d->unread ? LEAT_NONE : before->unread + d->unread;
    free(d->input);
    free(d->reason);
    memmove(d, d + 1, (--l->count - at) * sizeof *d);
}

/* ---- Writing ---- */

static enum leat_status put(struct buffer *out, const char *text, struct leat_error *err)
{
    return buffer_append(out, text, strlen(text), err);
}

static enum leat_status put_string(struct buffer *out, const char *key, const char *text, struct leat_error *err)
{
    enum leat_status s = put(out, key, err);

    if (s == LEAT_OK)
        s = buffer_reserve(out, 6 * strlen(text) + 8, err);
    if (s != LEAT_OK)
        return s;
    out->bytes[out->size++] = '"';
    for (; *text; text++) {
        uint8_t c = (uint8_t)*text;

        if (c < 0x20)
            out->size += (size_t)snprintf((char *)out->bytes + out->size, 7, "\\u%04x", c);
        else {
            if (c == '"' || c == '\\')
                out->bytes[out->size++] = '\\';
            out->bytes[out->size++] = c;
        }
    }
    out->bytes[out->size++] = '"';
    return LEAT_OK;
}

static enum leat_status put_number(struct buffer *out, const char *key, uint64_t number, struct leat_error *err)
{
    char text[24] = "null";

    if (number != LEAT_NONE)
        (void)snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    enum leat_status s = put(out, key, err);

    return s == LEAT_OK ? put(out, text, err) : s;
}

#define KEY_INPUT  "{\"input\":"
#define KEY_OFFSET ",\"offset\":"
#define KEY_REASON ",\"reason\":"
#define KEY_UNREAD ",\"unread_bytes\":"

enum leat_status damage_list_write(const struct damage_list *l, struct buffer *out, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < l->count; i++) {
        const struct damage *d = &l->items[i];

        if (i > 0)
            s = put(out, "\n", err);
        if (s == LEAT_OK)
            s = put_string(out, KEY_INPUT, d->input, err);
        if (s == LEAT_OK)
            s = put_number(out, KEY_OFFSET, d->offset, err);
        if (s == LEAT_OK)
            s = put_string(out, KEY_REASON, d->reason, err);
        if (s == LEAT_OK)
            s = put_number(out, KEY_UNREAD, d->unread, err);
        if (s == LEAT_OK)
            s = put(out, "}", err);
    }
    return s == LEAT_OK ? buffer_append(out, "", 1, err) : s;
}

/* ---- Reading ---- */

/* A line, or what is left of it. */
struct line {
    const char *at, *end;
};

static bool take_text(struct line *l, const char *text)
{
    size_t bytes = strlen(text);

    if ((size_t)(l->end - l->at) < bytes || memcmp(l->at, text, bytes) != 0)
        return false;
    l->at += bytes;
    return true;
}

static bool take_number(struct line *l, uint64_t *number)
{
    unsigned digits = 0;

    *number = LEAT_NONE;
    if (take_text(l, "null"))
        return true;
    for (*number = 0; l->at < l->end && *l->at >= '0' && *l->at <= '9' && digits < 19; l->at++, digits++)
        *number = 10 * *number + (uint64_t)(*l->at - '0');
    return digits > 0;
}

/* An escape, of which the backslash is taken: one of those that put_string() writes, but for a NUL; 0: none is. */
static char take_escape(struct line *l)
{
    static const char digits[] = "0123456789abcdef";
    const char *low;

    if (take_text(l, "\""))
        return '"';
    if (take_text(l, "\\"))
        return '\\';
    if (!take_text(l, "u00") || l->end - l->at < 2 || (l->at[0] != '0' && l->at[0] != '1'))
        return 0;
    low = l->at[1] ? strchr(digits, l->at[1]) : NULL;
    if (!low)
        return 0;
    l->at += 2;
    return (char)(16 * (l->at[-2] - '0') + (low - digits));
}

/* *text is NULL where this is no string, or there is no memory (then `err` is filled); else the caller's. */
static enum leat_status take_string(struct line *l, char **text, struct leat_error *err)
{
    char *out = malloc((size_t)(l->end - l->at) + 1);
    size_t size = 0;
    bool good;

    *text = NULL;
    if (!out)
        return status_no_memory(err, (uint64_t)(l->end - l->at));
    good = take_text(l, "\"");
    while (good && l->at < l->end && *l->at != '"') {
        out[size] = *l->at++;
        if (out[size] == '\\')
            out[size] = take_escape(l);
        good = out[size++] != 0;
    }
    out[size] = 0;
    if (good && take_text(l, "\""))
        *text = out;
    else
        free(out);
    return LEAT_OK;
}

static enum leat_status read_line(struct line l, const char *dataset, struct damage *d, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    bool good = take_text(&l, KEY_INPUT);

    *d = (struct damage) { .offset = LEAT_NONE, .unread = LEAT_NONE };
    if (good)
        s = take_string(&l, &d->input, err);
    good = d->input && take_text(&l, KEY_OFFSET) && take_number(&l, &d->offset) && take_text(&l, KEY_REASON);
    if (good)
        s = take_string(&l, &d->reason, err);
    if (d->reason && take_text(&l, KEY_UNREAD) && take_number(&l, &d->unread) && take_text(&l, "}") && l.at == l.end)
        return LEAT_OK;
    free(d->input);
    free(d->reason);
    if (s != LEAT_OK)
        return s;
    return status_field(err,
                        status_set_in(err, LEAT_E_RECORD, dataset,
                                      "%s: the metadata " DAMAGE_KEY " have a line that does not say which input was "
                                      "damaged, and where: pack the inputs again",
                                      dataset),
                        DAMAGE_KEY);
}

enum leat_status damage_list_read(struct damage_list *l, const char *dataset, const char *value, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    while (s == LEAT_OK && *value) {
        struct line line = { value, value + strcspn(value, "\n") };
        struct damage d;

        value = *line.end ? line.end + 1 : line.end;
        s = read_line(line, dataset, &d, err);
        if (s == LEAT_OK)
            s = take(l, d, err);
    }
    return s;
}
