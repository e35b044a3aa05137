/*
 * pack_chat.c: finds chat templates and special tokens as transformers does: a file chat_template.jinja comes before
 * the templates of tokenizer_config.json, and the special tokens are those of tokenizer_config.json, or else of
 * special_tokens_map.json.
 */
#include "pack_chat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/jsontree.h"
#include "base/path.h"
#include "base/status.h"
#include "corpus/record/pair.h"
#include "tokenizer/load/whole_file.h"
#include "tokenizer/pipeline/encoder_valid.h"

#define LEARN_ALL    3u /* of `learn` */
#define MAX_TEMPLATE ((uint64_t)1 << 20)

/* The files beside the tokenizer. */
struct beside {
    char *folder; /* folder of the tokenizer; NULL: it has none */
    uint8_t *bytes[2];
    char *paths[2];
    struct jsontree configs[2]; /* tokenizer_config.json and special_tokens_map.json, without nodes if they are
                                   missing */
};

static const char *const config_names[] = { "tokenizer_config.json", "special_tokens_map.json" };

static bool exists(const char *path)
{
    struct file_identity identity;

    return file_identify(path, &identity, NULL) == LEAT_OK && identity.exists;
}

static enum leat_status read_config(struct beside *b, unsigned i, struct leat_error *err)
{
    uint64_t size;
    enum leat_status s;

    b->paths[i] = path_join(b->folder, config_names[i], NULL);
    if (!b->paths[i])
        return status_no_memory(err, strlen(b->folder));
    if (!exists(b->paths[i]))
        return LEAT_OK;
    s = whole_file_read(&b->bytes[i], &size, b->paths[i], err);
    return s == LEAT_OK ? jsontree_parse(&b->configs[i], b->bytes[i], size, b->paths[i], err) : s;
}

static enum leat_status open_beside(struct beside *b, const struct leat_tokenizer *t, struct leat_error *err)
{
    const char *path = tokenizer_path(t);
    enum leat_status s = LEAT_OK;

    *b = (struct beside) { 0 };
    if (!path)
        return LEAT_OK;
    b->folder = file_folder(path);
    if (!b->folder)
        return status_no_memory(err, strlen(path));
    for (unsigned i = 0; s == LEAT_OK && i < 2; i++)
        s = read_config(b, i, err);
    return s;
}

static void close_beside(struct beside *b)
{
    for (unsigned i = 0; i < 2; i++) {
        jsontree_free(&b->configs[i]);
        free(b->bytes[i]);
        free(b->paths[i]);
    }
    free(b->folder);
}

/* Returns a copy of a string, or of the "content" of an object; NULL if it is neither. */
static char *string_of(const struct jsontree *j, uint32_t node)
{
    struct jsontree_text t;

    if (node != JSONTREE_NONE && j->nodes[node].kind == JSONTREE_OBJECT)
        node = jsontree_member(j, node, "content");
    if (node == JSONTREE_NONE || j->nodes[node].kind != JSONTREE_STRING)
        return NULL;
    t = jsontree_string(j, node);
    return strndup((const char *)t.bytes, t.length);
}

static char *find_token(const struct beside *b, const char *name)
{
    char *found = NULL;

    for (unsigned i = 0; !found && i < 2; i++)
        if (b->configs[i].count > 0 && b->configs[i].nodes[0].kind == JSONTREE_OBJECT)
            found = string_of(&b->configs[i], jsontree_member(&b->configs[i], 0, name));
    return found;
}

/* Returns a template of tokenizer_config.json by its name. A single string is the default one. NULL if there is
 * none. */
static char *template_of(const struct jsontree *j, const char *wanted)
{
    uint32_t node =
        j->count > 0 && j->nodes[0].kind == JSONTREE_OBJECT ? jsontree_member(j, 0, "chat_template") : JSONTREE_NONE;
    uint32_t item = node + 1;
    char *found = NULL;

    if (node == JSONTREE_NONE || j->nodes[node].kind != JSONTREE_ARRAY)
        return node != JSONTREE_NONE && strcmp(wanted, "default") == 0 && j->nodes[node].kind == JSONTREE_STRING
                   ? string_of(j, node)
                   : NULL;
    for (uint32_t i = 0; !found && i < j->nodes[node].length; i++, item = jsontree_next(j, item)) {
        char *name = NULL;

        if (j->nodes[item].kind == JSONTREE_OBJECT)
            name = string_of(j, jsontree_member(j, item, "name"));
        if (name && strcmp(name, wanted) == 0)
            found = string_of(j, jsontree_member(j, item, "template"));
        free(name);
    }
    return found;
}

static bool has_file(const struct beside *b, const char *name)
{
    char *path = path_join(b->folder, name, NULL);
    bool has = path && exists(path);

    free(path);
    return has;
}

static enum leat_status check_size(uint64_t bytes, struct leat_error *err)
{
    return bytes <= MAX_TEMPLATE ? LEAT_OK
                                 : status_set(err, LEAT_E_UNSUPPORTED, "the chat template has more than 1 MiB");
}

/* Reads a file. *text is the caller's, also after a failure. */
static enum leat_status read_file(const char *path, char **text, uint64_t *bytes, struct leat_error *err)
{
    int fd;
    enum leat_status s = file_open_read(&fd, bytes, path, err);

    if (s != LEAT_OK)
        return s;
    s = check_size(*bytes, err);
    if (s == LEAT_OK && !(*text = malloc((size_t)*bytes + 1)))
        s = status_no_memory(err, *bytes);
    if (s == LEAT_OK)
        s = file_read_at(fd, 0, *text, *bytes, path, err);
    file_close(&fd);
    return s;
}

/* Reads a file beside the tokenizer. *text is NULL if there is no such file. */
static enum leat_status read_beside(const struct beside *b, const char *name, char **text, uint64_t *bytes,
                                    struct leat_error *err)
{
    char *path = path_join(b->folder, name, NULL);
    enum leat_status s = LEAT_OK;

    if (!path)
        return status_no_memory(err, strlen(b->folder));
    if (exists(path))
        s = read_file(path, text, bytes, err);
    free(path);
    return s;
}

static void take_of_config(const struct beside *b, const char *name, char **text, uint64_t *bytes)
{
    *text = template_of(&b->configs[0], name);
    *bytes = *text ? strlen(*text) : 0;
}

static enum leat_status find_template(const struct beside *b, const char *named, char **text, uint64_t *bytes,
                                      struct leat_error *err)
{
    enum leat_status s;

    if (*named)
        return read_file(named, text, bytes, err);
    if (!b->folder)
        return status_set(err, LEAT_E_NOT_FOUND,
                          "the tokenizer has no folder with a chat template: name the file of one");
    s = read_beside(b, "chat_template.jinja", text, bytes, err);
    if (s == LEAT_OK && !*text)
        take_of_config(b, "default", text, bytes);
    if (s == LEAT_OK && !*text)
        s = status_set_in(
            err, LEAT_E_NOT_FOUND, b->folder,
            "%s has neither chat_template.jinja nor a chat_template in tokenizer_config.json: name the file "
            "of a chat template",
            b->folder);
    return s;
}

/* Finds the template for conversations with tools. *text is NULL if it is the default one. Files come before all
 * templates of tokenizer_config.json. */
static enum leat_status find_tool_template(const struct beside *b, const char *named, char **text, uint64_t *bytes,
                                           struct leat_error *err)
{
    enum leat_status s;

    if (*named)
        return LEAT_OK;
    s = read_beside(b, "additional_chat_templates/tool_use.jinja", text, bytes, err);
    if (s == LEAT_OK && !*text && !has_file(b, "chat_template.jinja"))
        take_of_config(b, "tool_use", text, bytes);
    return s;
}

/* Adds bytes of the templates that matter to the sum. */
static void add_sum(struct pack_chat *c, const void *bytes, size_t size)
{
    struct hash128 sum = checksum_kernels()->hash(bytes, size);

    c->sum.low = sum.low ^ 3 * c->sum.low;
    c->sum.high = sum.high ^ 3 * c->sum.high;
}

static enum leat_status add_to_plan(struct pack_chat *c, const void *bytes, uint64_t size, struct leat_error *err)
{
    enum leat_status s = check_size(size, err);

    if (s != LEAT_OK)
        return s;
    add_sum(c, bytes, (size_t)size);
    return render_plan_add(&c->plan, bytes, (size_t)size, err);
}

static enum leat_status add_text(struct pack_chat *c, const char *text, struct leat_error *err)
{
    return add_to_plan(c, text, strlen(text), err);
}

/* Adds the options that say what is learned, one per line. */
static enum leat_status add_learning(struct pack_chat *c, const struct leat_pack_options *o, struct leat_error *err)
{
    char numbers[160];
    size_t length =
        (size_t)snprintf(numbers, sizeof numbers, "learn %u\nlearn_reasoning %u\nlearn_tool_calls %u\nlearn_end %u\n",
                         o->learn, o->learn_reasoning, o->learn_tool_calls, o->learn_end);
    enum leat_status s = buffer_append(&c->learning, numbers, length, err);

    if (s == LEAT_OK && o->message_weight)
        s = buffer_append(&c->learning, "message_weight ", strlen("message_weight "), err);
    if (s == LEAT_OK && o->message_weight)
        s = buffer_append_line(&c->learning, o->message_weight, err);
    if (s == LEAT_OK && pair_prompt(o))
        s = buffer_append(&c->learning, "pairs 1\n", strlen("pairs 1\n"), err);
    return s == LEAT_OK ? render_plan_add(&c->plan, c->learning.bytes, c->learning.size, err) : s;
}

/* Adds the special tokens that a template may use. */
static enum leat_status add_tokens(struct pack_chat *c, const struct beside *b, struct leat_error *err)
{
    static const char *const names[] = { "bos_token", "eos_token", "unk_token", "sep_token",
                                         "pad_token", "cls_token", "mask_token" };
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < sizeof names / sizeof *names; i++) {
        char *token = find_token(b, names[i]);

        if (token)
            s = add_text(c, names[i], err);
        if (token && s == LEAT_OK)
            s = add_text(c, token, err);
        free(token);
    }
    return s;
}

static enum leat_status make_plan(struct pack_chat *c, const struct beside *b, const struct leat_pack_options *o,
                                  struct leat_error *err)
{
    uint64_t bytes = 0, tool_bytes = 0;
    char *text = NULL, *tool_text = NULL;
    enum leat_status s = find_template(b, o->chat, &text, &bytes, err);

    if (s == LEAT_OK && *o->tools)
        s = find_tool_template(b, o->chat, &tool_text, &tool_bytes, err);
    if (s == LEAT_OK)
        s = add_text(c, o->chat_date ? o->chat_date : "", err);
    if (s == LEAT_OK)
        s = add_learning(c, o, err);
    if (s == LEAT_OK)
        s = add_to_plan(c, text, bytes, err);
    if (s == LEAT_OK)
        s = add_to_plan(c, tool_text ? tool_text : "", tool_bytes, err);
    if (s == LEAT_OK)
        s = add_tokens(c, b, err);
    free(text);
    free(tool_text);
    return s;
}

#define TRIAL_USER   "{\"role\":\"user\",\"content\":\"a\"}"
#define TRIAL_ANSWER "{\"role\":\"assistant\",\"content\":\"b\"}"

/* Returns true if the first token of the text is an added one, which ends the turn of an answer (chat_text.c). */
static bool begins_with_added(struct leat_encoder *e, const struct leat_tokenizer *t, const char *text)
{
    struct leat_token token = LEAT_TOKEN_INIT;
    const uint32_t *ids;
    uint64_t count = 0;

    return leat_encoder_encode(e, text, strlen(text), &ids, &count, NULL) == LEAT_OK && count > 0 &&
           leat_tokenizer_token(t, ids[0], &token, NULL) == LEAT_OK && token.added &&
           (token.special || !strchr(" \t\r\n", *text));
}

/* Gives a notice if no token ends an answer: the template writes none after it, and neither does the end token of the
 * document, which is learned as the token before it. `a` is the template's output for the trial. */
static enum leat_status say_end(const struct render_answer *a, const struct leat_pack_options *o,
                                struct leat_error *err)
{
    struct leat_encoder_options options = LEAT_ENCODER_OPTIONS_INIT;
    struct leat_stored_tokenizer stored;
    struct leat_encoder *e;
    size_t begin = a->stretch_count > 0 ? a->stretches[a->stretch_count - 1].end : 0;
    char tail[128], message[640], *word;
    enum leat_status s;

    if (begin == 0 || (begin == a->bytes && o->end_token != LEAT_NONE))
        return LEAT_OK; /* the template does not show the answer, or the document's end token follows it */
    snprintf(tail, sizeof tail, "%.*s", (int)(a->bytes - begin), a->text + begin);
    word = tail + strspn(tail, " \t\r\n");
    options.special = 1;
    s = leat_encoder_open(&e, o->tokenizer, &options, err);
    if (s != LEAT_OK)
        return s;
    leat_tokenizer_stored(o->tokenizer, &stored);
    snprintf(
        message, sizeof message,
        "nothing that ends a turn is learned: %.*s%s no token of %.200s; take a chat template that ends answers with "
        "one, or a tokenizer that has it",
        (int)strcspn(word, " \t\r\n"), word, *word ? " is" : "after an answer the chat template writes", stored.name);
    if (!begins_with_added(e, o->tokenizer, tail) && !begins_with_added(e, o->tokenizer, word))
        o->notice(o->context, &(struct leat_pack_notice) { .kind = LEAT_NOTICE_CHAT, .path = "", .message = message });
    leat_encoder_close(e);
    return LEAT_OK;
}

/* Returns true if the text after the trial's answer is to be learned, too. */
static bool ends_outside(const struct render_answer *a, const struct leat_pack_options *o)
{
    const struct render_stretch *last;

    if (a->kind != RENDER_TEXT || a->stretch_count == 0 || o->learn == LEARN_ALL)
        return false;
    last = &a->stretches[a->stretch_count - 1];
    return !(last->flags & RENDER_WITHIN) && last->turn > 0;
}

/* Renders a small conversation, to see how the template ends an answer. If that takes long, it shows nothing. */
static enum leat_status try_end(struct pack_chat *c, const struct leat_pack_options *o, struct leat_error *err)
{
    const char *messages =
        pair_prompt(o) ? "[[" TRIAL_USER "],[" TRIAL_ANSWER "]]" : "[" TRIAL_USER "," TRIAL_ANSWER "]";
    const struct render_request trial = { .messages = messages, .messages_bytes = strlen(messages) };
    struct render_answer a;
    enum leat_status s = renderer_ask(c->renderer, &trial, 1, err);

    if (s == LEAT_OK)
        s = renderer_answer(c->renderer, &a, err);
    if (s == LEAT_OK)
        return ends_outside(&a, o) ? say_end(&a, o, err) : LEAT_OK;
    if (s == LEAT_E_STOPPED)
        return s;
    renderer_close(c->renderer);
    c->renderer = NULL;
    return LEAT_OK;
}

/* Starts a renderer, which says whether it can render by the templates, and which version it has. */
static enum leat_status try_plan(struct pack_chat *c, const struct leat_pack_options *o,
                                 const struct render_limits *limits, struct leat_error *err)
{
    enum leat_status s = renderer_open(&c->renderer, o->renderers, &c->plan, limits, err);

    if (s == LEAT_OK)
        snprintf(c->version, sizeof c->version, "%s", renderer_version(c->renderer));
    return s == LEAT_OK && o->notice ? try_end(c, o, err) : s;
}

enum leat_status pack_chat_open(struct pack_chat *c, const struct leat_pack_options *o,
                                const struct render_limits *limits, struct leat_error *err)
{
    struct beside b;
    enum leat_status s = open_beside(&b, o->tokenizer, err);

    if (s == LEAT_OK)
        s = make_plan(c, &b, o, err);
    close_beside(&b);
    if (s == LEAT_OK && !o->renderers)
        s = status_argument(
            err, "renderers",
            "conversations are rendered by processes that the program starts: give leat_pack() `renderers`");
    return s == LEAT_OK ? try_plan(c, o, limits, err) : s;
}

void pack_chat_free(struct pack_chat *c)
{
    renderer_close(c->renderer);
    buffer_free(&c->plan.fields);
    buffer_free(&c->learning);
    *c = (struct pack_chat) { 0 };
}
