/* json_chat.c: see json_chat.h. */
#include "json_chat.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/utf8.h"

static enum leat_status find_messages(struct json_chat *found, const struct json_fields *messages, const char *record,
                                      size_t bytes, struct leat_error *err)
{
    struct json_scan *scan = &found->scan;
    enum json_problem problem;
    uint64_t byte;

    json_scan_begin(scan, messages);
    json_scan_feed(scan, record, bytes);
    problem = json_scan_end(scan, &byte, err);
    if (problem == JSON_MALFORMED || problem == JSON_NO_OBJECT || problem == JSON_NO_FIELD)
        return LEAT_E_TEXT;
    if (scan->place[JSON_TEXT].kind != JSON_KIND_ARRAY)
        return status_set(err, LEAT_E_TEXT, "\"%.200s\" is %s, not an array of messages", messages->path[JSON_TEXT].all,
                          json_scan_kind(scan->place[JSON_TEXT].kind));
    if (json_scan_id_is_long(scan, record))
        return json_scan_long_id(scan, err);
    if (utf8_valid_prefix((const uint8_t *)record, bytes) < bytes)
        return status_set(err, LEAT_E_TEXT, "the record is not valid UTF-8");
    found->messages.at = record + scan->place[JSON_TEXT].begin;
    found->messages.bytes = bytes - (size_t)scan->place[JSON_TEXT].begin;
    return LEAT_OK;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Whether a text is JSON: a member's value, and an item, which is one value and no more. */
static bool is_value(const struct json_fields *any, const char *text, size_t bytes)
{
    static const char *const around[][2] = { { "{\"\":", "}" }, { "{\"\":[", "]}" } };
    bool is = true;

    for (unsigned i = 0; is && i < 2; i++) {
        struct json_scan scan;

        json_scan_begin(&scan, any);
        json_scan_feed(&scan, around[i][0], strlen(around[i][0]));
        json_scan_feed(&scan, text, bytes);
        json_scan_feed(&scan, around[i][1], strlen(around[i][1]));
        is = json_scan_is_object(&scan);
    }
    return is;
}

enum leat_status json_chat_take_tools(struct json_chat *found, const struct json_fields *tools, const char *text,
                                      size_t bytes, struct leat_error *err)
{
    const char *name = tools->path[JSON_TEXT].all;

    while (bytes > 0 && is_space(*text)) {
        text++;
        bytes--;
    }
    while (bytes > 0 && is_space(text[bytes - 1]))
        bytes--;
    if (bytes == 0 || (bytes == 4 && memcmp(text, "null", 4) == 0))
        return LEAT_OK;
    if (!is_value(tools, text, bytes))
        return status_set(err, LEAT_E_TEXT, "\"%.200s\" is a string, but not JSON: it should hold the list of tools",
                          name);
    if (utf8_valid_prefix((const uint8_t *)text, bytes) < bytes)
        return status_set(err, LEAT_E_TEXT, "\"%.200s\" is not valid UTF-8", name);
    found->tools = (struct json_chat_value) { text, bytes, true };
    return LEAT_OK;
}

static enum leat_status find_tools(struct json_chat *found, const struct json_fields *tools, const char *record,
                                   size_t bytes, struct leat_error *err)
{
    struct json_scan scan;
    const struct json_place *place = &scan.place[JSON_TEXT];
    char *end;

    json_scan_begin(&scan, tools);
    json_scan_feed(&scan, record, bytes);
    switch (place->kind) {
    case JSON_KIND_NONE:
    case JSON_KIND_NULL:
        return LEAT_OK;
    case JSON_KIND_ARRAY:
        found->tools = (struct json_chat_value) { record + place->begin, bytes - (size_t)place->begin, false };
        return LEAT_OK;
    case JSON_KIND_STRING:
        found->own_bytes = (size_t)place->bytes + 1;
        found->own = malloc(found->own_bytes);
        if (!found->own)
            return status_no_memory(err, found->own_bytes);
        end = tools->kernels->unescape(found->own, record + place->begin, record + place->begin + place->bytes);
        *end = '\n';
        return json_chat_take_tools(found, tools, found->own, (size_t)(end - found->own), err);
    default:
        return status_set(err, LEAT_E_TEXT, "\"%.200s\" is %s, not a list of tools", tools->path[JSON_TEXT].all,
                          json_scan_kind(place->kind));
    }
}

enum leat_status json_chat_find(struct json_chat *found, const struct json_fields *messages,
                                const struct json_fields *tools, const char *record, size_t bytes,
                                struct leat_error *err)
{
    enum leat_status s;

    found->messages = found->tools = (struct json_chat_value) { NULL, 0, false };
    found->own = NULL;
    found->own_bytes = 0;
    s = find_messages(found, messages, record, bytes, err);
    return s == LEAT_OK && tools ? find_tools(found, tools, record, bytes, err) : s;
}

void json_chat_free(struct json_chat *found)
{
    free(found->own);
}
