/* conversation.c: takes and checks the messages and the tools of a record. */
#include "conversation.h"

#include <stdlib.h>
#include <string.h>

#include "base/json_string.h"
#include "base/status.h"
#include "base/utf8.h"
#include "pair.h"

enum leat_status conversation_want(struct record_fields *fields, const char *messages, const char *id,
                                   struct leat_error *err)
{
    struct record_want want = {
        .path = messages, .use = RECORD_MESSAGES, .needed = true, .list = true, .most = SIZE_MAX
    };
    enum leat_status s = status_field(err, record_want(fields, &want, &fields->text, err), "messages");

    return s == LEAT_OK && id ? record_want_id(fields, id, err) : s;
}

enum leat_status conversation_want_tools(struct record_fields *fields, const char *tools, bool needed,
                                         struct leat_error *err)
{
    struct record_want want = { .path = tools, .use = RECORD_TOOLS, .needed = needed, .most = SIZE_MAX };

    return status_field(err, record_want(fields, &want, &fields->tools, err), "tools");
}

static enum leat_status check_utf8(const struct record *r, uint32_t want, const struct conversation_part *part,
                                   struct leat_error *err)
{
    return utf8_valid_prefix((const uint8_t *)part->at, part->bytes) == part->bytes
               ? LEAT_OK
               : status_field(
                     err, status_set(err, LEAT_E_TEXT, "\"%.200s\" is not valid UTF-8", r->fields->wants[want].path),
                     r->fields->wants[want].path);
}

/* Takes tools from a text; a blank text and null are no tools. */
static enum leat_status take_text(struct conversation *c, const struct record *r, const char *text, size_t bytes,
                                  struct leat_error *err)
{
    while (bytes > 0 && json_is_space(*text)) {
        text++;
        bytes--;
    }
    while (bytes > 0 && json_is_space(text[bytes - 1]))
        bytes--;
    if (bytes == 0 || (bytes == 4 && memcmp(text, "null", 4) == 0))
        return LEAT_OK;
    if (json_kind_of(text, bytes) == JSON_KIND_NONE)
        return status_set(err, LEAT_E_TEXT, "\"%.200s\" is a string, but not JSON: it should hold the list of tools",
                          r->fields->wants[r->fields->tools].path);
    c->tools = (struct conversation_part) { text, bytes };
    return LEAT_OK;
}

static enum leat_status take_string(struct conversation *c, const struct record *r, const struct record_value *v,
                                    struct leat_error *err)
{
    char *end;

    if (!v->escaped)
        return take_text(c, r, v->at, v->held, err);
    c->own = malloc(v->held + 1);
    if (!c->own)
        return status_no_memory(err, v->held + 1);
    end = r->fields->paths.kernels->unescape(c->own, v->at, v->at + v->held);
    return take_text(c, r, c->own, (size_t)(end - c->own), err);
}

static enum leat_status take_tools(struct conversation *c, const struct record *r, struct leat_error *err)
{
    const struct record_value *v = record_value(r, r->fields->tools);
    enum leat_status s = LEAT_OK;

    switch (v->kind) {
    case JSON_KIND_NONE:
    case JSON_KIND_NULL:
        return LEAT_OK;
    case JSON_KIND_ARRAY:
        c->tools = (struct conversation_part) { v->at, v->held };
        break;
    case JSON_KIND_STRING:
        s = take_string(c, r, v, err);
        break;
    default:
        return status_set(err, LEAT_E_TEXT, "\"%.200s\" is %s, not a list of tools",
                          r->fields->wants[r->fields->tools].path, json_scan_kind(v->kind));
    }
    return s == LEAT_OK && c->tools.at ? check_utf8(r, r->fields->tools, &c->tools, err) : s;
}

enum leat_status conversation_take(struct conversation *c, struct record *r, struct leat_error *err)
{
    const struct record_value *v = record_value(r, r->fields->text);
    enum leat_status s = record_check(r, err);
    size_t begin;

    *c = (struct conversation) { .own = NULL };
    if (s != LEAT_OK)
        return s;
    c->messages = (struct conversation_part) { v->at, v->held };
    if (r->fields->prompt != RECORD_NONE && !r->joined) {
        s = pair_join(r, &c->pair, &begin, err);
        c->messages = (struct conversation_part) { (const char *)c->pair.bytes, c->pair.size };
    }
    if (s == LEAT_OK)
        s = check_utf8(r, r->fields->text, &c->messages, err);
    if (s != LEAT_OK || r->fields->tools == RECORD_NONE)
        return s;
    return status_field(err, take_tools(c, r, err), r->fields->wants[r->fields->tools].path);
}

void conversation_free(struct conversation *c)
{
    free(c->own);
    c->own = NULL;
    buffer_free(&c->pair);
}
