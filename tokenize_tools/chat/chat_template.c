/* chat_template.c: see chat_template.h. */
#include "chat_template.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "chat_json.h"
#include "chat_lex.h"
#include "chat_run.h"

#define TEMPLATE_BYTES ((size_t)64 << 20) /* of memory, for the parsed template */
#define MAX_SOURCE     ((size_t)1 << 20)

struct chat_template {
    struct chat_arena arena;
    struct chat_node *tree;
    struct chat_dict globals;
    bool marks;
};

static bool is_name(const struct chat_token *t, const char *name)
{
    return t->kind == CHAT_T_NAME && t->bytes == strlen(name) && memcmp(t->at, name, t->bytes) == 0;
}

/* Names that are not known would be written as nothing. */
static enum leat_status check_names(struct chat_template *t, const char *text, size_t bytes, bool globals,
                                    struct leat_error *err)
{
    static const char *const needed[] = { "bos_token", "eos_token" };
    struct chat_token *tokens;
    struct chat_string name;
    enum leat_status s = chat_lex(&t->arena, text, bytes, &tokens, err);

    for (; s == LEAT_OK && tokens->kind != CHAT_T_END; tokens++) {
        t->marks |= is_name(tokens, "generation") && tokens[-1].kind == CHAT_T_BLOCK_BEGIN;
        for (size_t i = 0; globals && s == LEAT_OK && i < sizeof needed / sizeof *needed; i++) {
            if (!is_name(tokens, needed[i]))
                continue;
            s = chat_string_make(&t->arena, needed[i], strlen(needed[i]), 0, &name, err);
            if (s == LEAT_OK && !chat_dict_find(&t->globals, name))
                s = status_set(err, LEAT_E_UNSUPPORTED,
                               "line %u of the chat template: %s: neither tokenizer_config.json nor "
                               "special_tokens_map.json beside the tokenizer says which token that is",
                               tokens->line, needed[i]);
        }
    }
    return s;
}

static enum leat_status take_globals(struct chat_template *t, const struct chat_global *globals, size_t count,
                                     struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < count; i++) {
        struct chat_string name;
        struct chat_value value = { .kind = CHAT_STRING };

        s = chat_string_make(&t->arena, globals[i].name, strlen(globals[i].name), 0, &name, err);
        if (s == LEAT_OK)
            s = chat_string_make(&t->arena, globals[i].value, strlen(globals[i].value), 0, &value.string, err);
        if (s == LEAT_OK)
            s = chat_dict_set(&t->arena, &t->globals, name, &value, err);
    }
    return s;
}

enum leat_status chat_template_make(struct chat_template **out, const char *text, size_t bytes,
                                    const struct chat_global *globals, size_t count, struct leat_error *err)
{
    struct chat_template *t = calloc(1, sizeof *t);
    struct leat_error own;
    enum leat_status s;

    *out = NULL;
    err = err ? err : &own;
    if (!t)
        return status_no_memory(err, sizeof *t);
    t->arena.max_bytes = TEMPLATE_BYTES;
    s = bytes > MAX_SOURCE ? status_set(err, LEAT_E_UNSUPPORTED, "the chat template has more than 1 MiB")
                           : take_globals(t, globals, count, err);
    if (s == LEAT_OK)
        s = chat_parse(&t->arena, text, bytes, &t->tree, err);
    if (s == LEAT_OK)
        s = check_names(t, text, bytes, globals != NULL, err);
    if (t->arena.full)
        s = status_set(err, LEAT_E_UNSUPPORTED, "the chat template is too long: it takes more than 64 MiB of memory");
    if (s != LEAT_OK) {
        chat_template_free(t);
        return s;
    }
    *out = t;
    return LEAT_OK;
}

void chat_template_free(struct chat_template *t)
{
    if (!t)
        return;
    chat_arena_free(&t->arena);
    free(t);
}

bool chat_template_marks(const struct chat_template *t)
{
    return t->marks;
}

/* ---- Rendering ---- */

static void mark_string(struct chat_string s, uint32_t mark)
{
    for (size_t i = 0; i < s.count; i++)
        ((uint32_t *)(uintptr_t)s.codes)[i] |= mark;
}

/* Marks all that a value of the conversation holds. */
static void mark_all(struct chat_value *v, uint32_t mark)
{
    if (v->kind == CHAT_STRING || v->kind == CHAT_BIG)
        mark_string(v->string, mark);
    else if (v->kind != CHAT_LIST && v->kind != CHAT_DICT)
        v->flags |= mark;
    for (size_t i = 0; v->kind == CHAT_LIST && i < v->list.count; i++)
        mark_all(&v->list.items[i], mark);
    for (size_t i = 0; v->kind == CHAT_DICT && i < v->dict->count; i++) {
        mark_string(v->dict->pairs[i].key, mark);
        mark_all(&v->dict->pairs[i].value, mark);
    }
}

/* A plain role is the template's: <|ROLE|> is often one token. */
static void unmark_role(struct chat_value *role)
{
    uint32_t *codes = (uint32_t *)(uintptr_t)role->string.codes;

    for (size_t i = 0; i < role->string.count; i++) {
        uint32_t c = codes[i] & CHAT_CODE;

        if (c > 127 || !strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-", (int)c) || c == 0)
            return;
    }
    for (size_t i = 0; i < role->string.count; i++)
        codes[i] &= ~CHAT_DATA;
}

static enum leat_status mark_answers(struct chat_run *r, struct chat_value *messages)
{
    struct chat_string role, content;
    enum leat_status s = chat_string_make(r->arena, "role", 4, 0, &role, r->err);

    if (s == LEAT_OK)
        s = chat_string_make(r->arena, "content", 7, 0, &content, r->err);
    for (size_t i = 0; s == LEAT_OK && i < messages->list.count; i++) {
        struct chat_value *m = &messages->list.items[i], *found;

        if (m->kind != CHAT_DICT)
            return status_set(r->err, LEAT_E_TEXT, "message %zu of the conversation is %s, not an object", i,
                              chat_kind_name(m->kind));
        found = chat_dict_find(m->dict, role);
        if (!found || found->kind != CHAT_STRING)
            return status_set(r->err, LEAT_E_TEXT, "message %zu of the conversation has no role", i);
        unmark_role(found);
        if (!chat_string_is(found->string, "assistant"))
            continue;
        found = chat_dict_find(m->dict, content);
        if (found)
            mark_all(found, CHAT_ANSWER);
    }
    return s;
}

static enum leat_status set_global(struct chat_run *r, const char *name, const struct chat_value *v)
{
    struct chat_string key;
    enum leat_status s = chat_string_make(r->arena, name, strlen(name), 0, &key, r->err);

    return s == LEAT_OK ? chat_dict_set(r->arena, &r->scope->names, key, v, r->err) : s;
}

/* As transformers calls it without documents and a prompt for the next turn. */
static enum leat_status set_globals(struct chat_run *r, const struct chat_template *t,
                                    const struct chat_value *messages, const struct chat_value *tools)
{
    const struct chat_value none = { .kind = CHAT_NONE }, no = chat_bool(false);
    enum leat_status s = LEAT_OK;

    r->scope = chat_arena_get(r->arena, sizeof *r->scope, r->err);
    if (!r->scope)
        return r->err->status;
    for (size_t i = 0; s == LEAT_OK && i < t->globals.count; i++)
        s = chat_dict_set(r->arena, &r->scope->names, t->globals.pairs[i].key, &t->globals.pairs[i].value, r->err);
    if (s == LEAT_OK)
        s = set_global(r, "messages", messages);
    if (s == LEAT_OK)
        s = set_global(r, "tools", tools);
    if (s == LEAT_OK)
        s = set_global(r, "documents", &none);
    return s == LEAT_OK ? set_global(r, "add_generation_prompt", &no) : s;
}

/* Bytes of a character in UTF-8 after the first one. */
static unsigned more_of(uint32_t code)
{
    return code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
}

/* Writes the characters as UTF-8, and their marks, if there is a place for them. */
static enum leat_status write_out(const struct chat_run *r, uint32_t learned, struct buffer *text, struct buffer *marks)
{
    size_t bytes = r->out.count;
    enum leat_status s;

    for (size_t i = 0; i < r->out.count; i++)
        bytes += more_of(r->out.codes[i] & CHAT_CODE);
    if (4 * bytes > r->arena->max_bytes - r->arena->bytes) { /* of both; buffers take up to twice what they hold */
        r->arena->full = true;
        return status_set(r->err, LEAT_E_TEXT, "the rendered text is too long");
    }
    s = buffer_reserve(text, bytes, r->err);
    if (s == LEAT_OK && marks)
        s = buffer_reserve(marks, bytes, r->err);
    for (size_t i = 0; s == LEAT_OK && i < r->out.count; i++) {
        uint32_t c = r->out.codes[i] & CHAT_CODE;
        uint8_t mark =
            (r->out.codes[i] & CHAT_DATA ? CHAT_BYTE_DATA : 0) | (r->out.codes[i] & learned ? CHAT_BYTE_LEARNED : 0);
        unsigned more = more_of(c);
        static const uint8_t first[] = { 0, 0xc0, 0xe0, 0xf0 };

        text->bytes[text->size] = (uint8_t)(first[more] | c >> (6 * more));
        for (unsigned k = 1; k <= more; k++)
            text->bytes[text->size + k] = (uint8_t)(0x80 | (c >> (6 * (more - k)) & 0x3f));
        if (marks)
            memset(marks->bytes + text->size, mark, 1 + more);
        text->size += 1 + more;
    }
    if (marks)
        marks->size = text->size;
    return s;
}

static enum leat_status read_messages(struct chat_run *r, const struct chat_record *record, struct chat_value *list)
{
    const char *at = record->messages.at;
    enum leat_status s =
        chat_read_json(r->arena, &at, record->messages.bytes, CHAT_DATA, record->unescape, list, r->err);

    if (s == LEAT_OK && (list->kind != CHAT_LIST || list->list.count == 0))
        s = status_set(r->err, LEAT_E_TEXT, "the conversation has no messages");
    return s == LEAT_OK ? mark_answers(r, list) : s;
}

static enum leat_status read_tools(struct chat_run *r, const struct chat_record *record, struct chat_value *tools)
{
    const char *at = record->tools.at, *end = at ? at + record->tools.bytes : NULL;
    enum leat_status s;

    *tools = (struct chat_value) { .kind = CHAT_NONE };
    if (!at)
        return LEAT_OK;
    s = chat_read_json(r->arena, &at, record->tools.bytes, CHAT_DATA, record->unescape, tools, r->err);
    if (s == LEAT_OK && record->tools.alone && at < end)
        return status_set(r->err, LEAT_E_TEXT, "the tools are not JSON");
    if (s != LEAT_OK)
        return s;
    if (tools->kind != CHAT_LIST)
        return status_set(r->err, LEAT_E_TEXT, "the tools are %s, not a list", chat_kind_name(tools->kind));
    for (size_t i = 0; i < tools->list.count; i++)
        if (tools->list.items[i].kind != CHAT_DICT)
            return status_set(r->err, LEAT_E_TEXT, "tool %zu is %s, not an object", i,
                              chat_kind_name(tools->list.items[i].kind));
    return LEAT_OK;
}

enum leat_status chat_template_render(const struct chat_template *t, const struct chat_record *record,
                                      const struct chat_limits *limits, struct buffer *text, struct buffer *marks,
                                      bool *too_big, struct leat_error *err)
{
    struct chat_arena arena = { .max_bytes = limits->max_bytes };
    struct leat_error own;
    struct chat_run r = { .arena = &arena, .limits = limits, .err = err ? err : &own };
    struct chat_value messages, tools;
    enum leat_status s = read_messages(&r, record, &messages);

    text->size = marks->size = 0;
    if (s == LEAT_OK)
        s = read_tools(&r, record, &tools);
    if (s == LEAT_OK)
        s = set_globals(&r, t, &messages, &tools);
    if (s == LEAT_OK)
        s = chat_run_body(&r, t->tree);
    if (s == LEAT_OK)
        s = write_out(&r, t->marks ? CHAT_GENERATION : CHAT_ANSWER, text, marks);
    *too_big = arena.full;
    chat_arena_free(&arena);
    return s;
}

/* Makes the members of the record's variables those of the template. */
static enum leat_status set_variables(struct chat_run *r, const struct chat_record *record)
{
    const char *at = record->variables.at;
    struct chat_value all;
    enum leat_status s = chat_read_json(r->arena, &at, record->variables.bytes, 0, record->unescape, &all, r->err);

    if (s == LEAT_OK && all.kind != CHAT_DICT)
        s = status_set(r->err, LEAT_E_TEXT, "the variables of a chat template are %s, not an object",
                       chat_kind_name(all.kind));
    if (s != LEAT_OK)
        return s;
    r->scope = chat_arena_get(r->arena, sizeof *r->scope, r->err);
    if (!r->scope)
        return r->err->status;
    r->scope->names = *all.dict;
    return LEAT_OK;
}

enum leat_status chat_template_apply(const struct chat_template *t, const struct chat_record *record,
                                     const struct chat_limits *limits, struct buffer *text, struct buffer *generated,
                                     bool *too_big, struct leat_error *err)
{
    struct chat_arena arena = { .max_bytes = limits->max_bytes };
    struct leat_error own;
    struct chat_run r = { .arena = &arena, .limits = limits, .err = err ? err : &own };
    enum leat_status s = set_variables(&r, record);

    text->size = generated->size = 0;
    if (s == LEAT_OK)
        s = chat_run_body(&r, t->tree);
    if (s == LEAT_OK)
        s = write_out(&r, 0, text, NULL);
    if (s == LEAT_OK)
        s = buffer_append(generated, r.generated.codes, r.generated.count * sizeof *r.generated.codes, r.err);
    *too_big = arena.full;
    chat_arena_free(&arena);
    return s;
}
