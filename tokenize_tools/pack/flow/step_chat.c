/*
 * step_chat.c: see step_chat.h. Conversations are taken until there are enough for a batch (render.h), which this
 * thread's renderer gets. If nothing comes for longer than a conversation may take, or the renderer ends, another one
 * gets what is left one at a time, so that the one that is to blame is known. It ends the run, since the same inputs
 * must give the same bytes, unless the run leaves slow ones out.
 *
 * The rendered text is encoded whole, with its special tokens, as transformers does. Then the tokens are traced to the
 * text, which says of each whether the template or the conversation spelled it. A special token that the conversation
 * spelled is ordinary text, unless the run takes those of texts as tokens: the stretches between the template's own
 * special tokens are then encoded one by one, without special tokens.
 */
#include "step_chat.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/tiny.h"
#include "corpus/json/json_chat.h"
#include "mask/token_trace.h"
#include "render/render.h"

/* A batch: a system call for so many conversations, or bytes of them. */
#define BATCH       TINY_OR(3, 128)
#define BATCH_BYTES TINY_OR(2048, (size_t)128 << 10)

#define TOO_BIG                                                                                                        \
    "rendering and encoding it needs more memory than is allowed for one conversation (a quarter of the bound, at "    \
    "most 512 MiB)"

/* A record that has been taken. */
struct chat_item {
    struct unit_document as_read;
    const char *record;
    size_t bytes;
    struct json_chat_value messages, tools;
    char *own; /* the text of the tools, or NULL */
};

struct chat_queue {
    size_t count, bytes;
    struct chat_item items[BATCH];
};

struct chat {
    struct pack_worker *w;
    struct leat_encoder *encoder, *apart; /* which finds special tokens, and which does not */
    bool too_big;                         /* it needs more memory */
    const struct render_answer *answer;
    const char *text;
    const uint8_t *marks;
    size_t bytes;
    struct leat_error *err;
};

static uint32_t id_at(const struct chat *c, size_t i)
{
    return ((const uint32_t *)(const void *)c->w->chat_ids.bytes)[i];
}

static uint64_t end_at(const struct chat *c, size_t i)
{
    return ((const uint64_t *)(const void *)c->w->ends.bytes)[i];
}

static size_t id_count(const struct chat *c)
{
    return c->w->chat_ids.size / sizeof(uint32_t);
}

/* Whether a byte of [begin, end) has the mark. */
static bool has_mark(const struct chat *c, uint64_t begin, uint64_t end, uint8_t mark)
{
    for (uint64_t i = begin; i < end; i++)
        if (c->marks[i] & mark)
            return true;
    return false;
}

/* Whether a character of an added token has the mark; it may have swallowed white space around it, which counts not. */
static bool token_has_mark(const struct chat *c, const struct leat_token *token, uint64_t begin, uint64_t end,
                           uint8_t mark)
{
    for (uint64_t at = begin; at + token->bytes <= end; at++)
        if (memcmp(c->text + at, token->text, (size_t)token->bytes) == 0)
            return has_mark(c, at, at + token->bytes, mark);
    return has_mark(c, begin, end, mark);
}

/* Whether the conversation spelled a character of an added token. */
static bool is_spelled(const struct chat *c, const struct leat_token *token, uint64_t begin, uint64_t end)
{
    return token_has_mark(c, token, begin, end, RENDER_DATA);
}

/* ---- Encoding ---- */

/* Appends the ids of a stretch of the text, and their ends. */
static enum leat_status encode_stretch(struct chat *c, struct leat_encoder *e, uint64_t begin, uint64_t end)
{
    struct pack_worker *w = c->w;
    const uint32_t *ids;
    uint64_t count, *ends;
    enum leat_status s = leat_encoder_encode(e, c->text + begin, end - begin, &ids, &count, c->err);

    c->too_big = c->too_big || s == LEAT_E_PRETOKEN;
    if (s == LEAT_OK)
        s = buffer_append(&w->chat_ids, ids, (size_t)count * sizeof *ids, c->err);
    if (s == LEAT_OK)
        s = buffer_reserve(&w->ends, (size_t)count * sizeof *ends, c->err);
    if (s != LEAT_OK || count == 0)
        return s;
    ends = (uint64_t *)(void *)(w->ends.bytes + w->ends.size);
    s = token_trace(w->setup->tokenizer, c->text + begin, end - begin, ids, count, ends, c->err);
    for (uint64_t i = 0; i < count && begin > 0; i++)
        ends[i] += begin;
    w->ends.size += (size_t)count * sizeof *ends;
    return s;
}

/* *spelled: a special token among the ids was spelled by the conversation; *bytewise: every other token is bytes as
 * they stand, so that stretches encoded alone have the ids that they have in the whole. */
static enum leat_status look(struct chat *c, bool *spelled, bool *bytewise)
{
    struct leat_token token = LEAT_TOKEN_INIT;
    uint64_t begin = 0;
    enum leat_status s = LEAT_OK;

    *spelled = false;
    *bytewise = true;
    for (size_t i = 0; s == LEAT_OK && i < id_count(c); begin = end_at(c, i++)) {
        s = leat_tokenizer_token(c->w->setup->tokenizer, id_at(c, i), &token, c->err);
        *spelled = *spelled || (token.added && token.special && is_spelled(c, &token, begin, end_at(c, i)));
        *bytewise = *bytewise && (token.added || token.bytewise);
    }
    return s;
}

/* Encodes again what lies between the special tokens of the template. */
static enum leat_status encode_apart(struct chat *c)
{
    struct pack_worker *w = c->w;
    struct buffer ids = w->chat_ids, ends = w->ends;
    uint64_t begin = 0, from = 0;
    enum leat_status s = LEAT_OK;

    w->chat_ids = w->ends = (struct buffer) { 0 };
    for (size_t i = 0; s == LEAT_OK && i < ids.size / sizeof(uint32_t); i++) {
        struct leat_token token = LEAT_TOKEN_INIT;
        uint32_t id = ((const uint32_t *)(const void *)ids.bytes)[i];
        uint64_t end = ((const uint64_t *)(const void *)ends.bytes)[i];

        s = leat_tokenizer_token(w->setup->tokenizer, id, &token, c->err);
        if (s == LEAT_OK && token.added && token.special && !is_spelled(c, &token, begin, end)) {
            s = encode_stretch(c, c->apart, from, begin);
            if (s == LEAT_OK)
                s = buffer_append(&w->chat_ids, &id, sizeof id, c->err);
            if (s == LEAT_OK)
                s = buffer_append(&w->ends, &end, sizeof end, c->err);
            from = end;
        }
        begin = end;
    }
    if (s == LEAT_OK)
        s = encode_stretch(c, c->apart, from, c->bytes);
    buffer_free(&ids);
    buffer_free(&ends);
    return s;
}

static enum leat_status encode(struct chat *c)
{
    struct pack_worker *w = c->w;
    bool spelled, bytewise;
    enum leat_status s;

    w->chat_ids.size = w->ends.size = 0;
    s = encode_stretch(c, c->encoder, 0, c->bytes);
    if (s == LEAT_OK)
        s = look(c, &spelled, &bytewise);
    if (s != LEAT_OK || !spelled || w->setup->special)
        return s;
    if (!bytewise)
        return status_set(c->err, LEAT_E_TEXT,
                          "a message has the text of a special token, which this tokenizer cannot encode as ordinary "
                          "text exactly");
    return encode_apart(c);
}

/* ---- The mask ---- */

static bool is_blank(const struct chat *c, uint64_t begin, uint64_t end)
{
    for (uint64_t i = begin; i < end; i++)
        if (!strchr(" \t\r\n", c->text[i]) || c->marks[i] & RENDER_DATA)
            return false;
    return true;
}

/* The token that ends a turn: the template's own, after token `i`, with nothing but its white space between. Returns
 * its number, or `i`. */
static size_t turn_end(const struct chat *c, size_t i)
{
    struct leat_token token = LEAT_TOKEN_INIT;

    for (size_t k = i + 1; k < id_count(c); k++) {
        uint64_t begin = end_at(c, k - 1), end = end_at(c, k);

        if (leat_tokenizer_token(c->w->setup->tokenizer, id_at(c, k), &token, NULL) != LEAT_OK)
            return i;
        if (token.added && (token.special || !is_blank(c, begin, end)))
            return is_spelled(c, &token, begin, end) ? i : k;
        if (!is_blank(c, begin, end))
            return i;
    }
    return i;
}

static bool is_learned(const struct chat *c, size_t i, uint64_t begin, uint64_t end)
{
    struct leat_token token = LEAT_TOKEN_INIT;

    if (!has_mark(c, begin, end, RENDER_LEARNED))
        return false;
    return leat_tokenizer_token(c->w->setup->tokenizer, id_at(c, i), &token, NULL) != LEAT_OK || !token.added ||
           token_has_mark(c, &token, begin, end, RENDER_LEARNED);
}

static enum leat_status put_mask(struct chat *c, struct unit *u)
{
    bool says = c->answer->has_generation;
    size_t count = id_count(c), last;
    uint64_t begin = 0;
    enum leat_status s = buffer_reserve(&u->mask, count, c->err);
    uint8_t *mask;

    if (s != LEAT_OK || count == 0)
        return s;
    mask = u->mask.bytes + u->mask.size;
    for (size_t i = 0; i < count; begin = end_at(c, i++))
        mask[i] = is_learned(c, i, begin, end_at(c, i)) ? UINT8_MAX : 0;
    for (size_t i = 0; !says && i < count; i++) {
        if (!mask[i] || (i + 1 < count && mask[i + 1]))
            continue;
        for (last = turn_end(c, i); i < last; i++)
            mask[i + 1] = UINT8_MAX;
    }
    u->mask.size += count;
    return LEAT_OK;
}

/* ---- Documents ---- */

/* A text becomes the unit's last document. */
static enum leat_status add_document(struct chat *c, struct unit *u, const struct unit_document *as_read)
{
    struct pack_worker *w = c->w;
    struct unit_document *d;
    enum leat_status s = put_mask(c, u);

    if (s == LEAT_OK)
        s = step_put_ids(w->setup, &u->tokens, (const uint32_t *)(const void *)w->chat_ids.bytes, id_count(c), c->err);
    d = s == LEAT_OK ? unit_add_document(u, c->err) : NULL;
    if (!d)
        return s == LEAT_OK ? LEAT_E_NO_MEMORY : s;
    *d = *as_read;
    d->utf8 = UNIT_UTF8_VALID;
    d->encoded = true;
    d->spans = (struct stretch) { 0, 0 };
    d->tokens = id_count(c);
    u->text_bytes += c->bytes;
    checksum_store(d->hash, checksum_kernels()->hash(c->text, c->bytes));
    return LEAT_OK;
}

/* What a renderer says of a conversation becomes a document; LEAT_E_TEXT: it is to be rejected. */
static enum leat_status take_answer(struct chat *c, struct unit *u, const struct unit_document *as_read)
{
    size_t ids = u->tokens.size, mask = u->mask.size;
    enum leat_status s;

    c->too_big = c->answer->kind == RENDER_TOO_BIG;
    if (c->answer->kind != RENDER_TEXT)
        return status_set(c->err, LEAT_E_TEXT, "%s", c->too_big ? TOO_BIG : c->answer->text);
    c->text = c->answer->bytes > 0 ? c->answer->text : "";
    c->marks = c->answer->marks;
    c->bytes = c->answer->bytes;
    s = encode(c);
    if (s == LEAT_OK)
        s = add_document(c, u, as_read);
    if (s == LEAT_OK)
        return s;
    u->tokens.size = ids;
    u->mask.size = mask;
    return c->too_big ? status_set(c->err, LEAT_E_TEXT, TOO_BIG) : s;
}

static enum leat_status settle(struct unit *u, const struct chat_item *item, enum leat_status s,
                               const struct leat_error *why, struct leat_error *err)
{
    if (s == LEAT_E_TEXT)
        return unit_reject_document(u, &item->as_read, why->message, item->record, item->bytes, err);
    if (s != LEAT_OK && err)
        *err = *why;
    return s;
}

/* ---- Renderers ---- */

static struct render_request request_of(const struct chat_item *item)
{
    return (struct render_request) { .messages = item->messages.at,
                                     .messages_bytes = item->messages.bytes,
                                     .tools = item->tools.at,
                                     .tools_bytes = item->tools.bytes };
}

static enum leat_status ask(struct renderer *r, const struct chat_item *items, size_t count, struct leat_error *err)
{
    struct render_request requests[BATCH];

    for (size_t i = 0; i < count; i++)
        requests[i] = request_of(&items[i]);
    return renderer_ask(r, requests, count, err);
}

/* The worker's own: the first one that asks has the one that was started first. */
static enum leat_status open_renderer(struct pack_worker *w, struct leat_error *err)
{
    struct pack_setup *setup = w->setup;

    if (w->renderer)
        return LEAT_OK;
    pthread_mutex_lock(&setup->long_lock);
    w->renderer = *setup->first_renderer;
    *setup->first_renderer = NULL;
    pthread_mutex_unlock(&setup->long_lock);
    return w->renderer ? LEAT_OK
                       : renderer_open(&w->renderer, setup->renderers, setup->render_plan, &setup->render_limits, err);
}

static bool is_lost(enum leat_status s)
{
    return s == LEAT_E_AGAIN || s == LEAT_E_DEVICE;
}

/* A renderer did not come to an end with a conversation, or ended over it (`s`). */
static enum leat_status blame(const struct pack_setup *setup, const struct chat_item *item, enum leat_status s,
                              struct leat_error *err)
{
    const struct input *in = &setup->inputs.items[item->as_read.input];
    unsigned long long at = item->as_read.offset;
    const char *what = in->format->rows ? "row" : "byte";

    if (s == LEAT_E_DEVICE)
        return status_set(err, LEAT_E_IO,
                          "%s: the process that renders conversations ended, or gave no answer, at the one at %s %llu; "
                          "see what it printed",
                          in->path, what, at);
    if (setup->skip_slow_chats)
        return status_set(err, LEAT_E_TEXT, "rendering it takes longer than %u s", setup->render_limits.seconds);
    return status_set_hint(err, LEAT_E_UNSUPPORTED, LEAT_HINT_CHAT_TIME,
                           "%s: rendering the conversation at %s %llu takes longer than %u s: mend the chat template, "
                           "allow more time, or leave out such conversations",
                           in->path, what, at, setup->render_limits.seconds);
}

/* One conversation that needs more memory than a thread has for it: one at a time may have more. The renderer goes
 * after it, since how much memory the next one gets must not depend on what this one left. */
static enum leat_status render_long(struct pack_worker *w, struct unit *u, const struct chat_item *item,
                                    struct leat_error *err)
{
    struct pack_setup *setup = w->setup;
    struct render_answer answer;
    struct chat c = { .w = w, .answer = &answer, .err = err };
    struct renderer *r = NULL;
    enum leat_status s;

    pthread_mutex_lock(&setup->long_lock);
    s = pack_setup_long_encoder(setup, &c.apart, err);
    if (s == LEAT_OK)
        s = pack_setup_long_chat_encoder(setup, &c.encoder, err);
    if (s == LEAT_OK)
        s = renderer_open(&r, setup->renderers, setup->render_plan, &setup->long_render_limits, err);
    if (s == LEAT_OK)
        s = ask(r, item, 1, err);
    if (s == LEAT_OK)
        s = renderer_answer(r, &answer, err);
    if (is_lost(s))
        s = blame(setup, item, s, err);
    else if (s == LEAT_OK && answer.kind == RENDER_TOO_BIG && strcmp(answer.text, "text") == 0 &&
             setup->long_render_limits.max_bytes == setup->max_rendered)
        s = status_set(err, LEAT_E_TEXT, "the rendered conversation is longer than 8 MiB");
    else if (s == LEAT_OK)
        s = take_answer(&c, u, &item->as_read);
    renderer_close(r);
    buffer_free(&w->chat_ids);
    buffer_free(&w->ends);
    pthread_mutex_unlock(&setup->long_lock);
    return s;
}

/* Takes one answer of the worker's renderer. */
static enum leat_status take_next(struct pack_worker *w, struct unit *u, const struct chat_item *item,
                                  struct leat_error *err)
{
    struct render_answer answer;
    struct leat_error why;
    struct chat c = { .w = w, .encoder = w->chat_encoder, .apart = w->encoder, .answer = &answer, .err = &why };
    enum leat_status s = renderer_answer(w->renderer, &answer, err);

    if (s != LEAT_OK)
        return s;
    s = take_answer(&c, u, &item->as_read);
    if (c.too_big)
        s = render_long(w, u, item, &why);
    return settle(u, item, s, &why, err);
}

/* Renders items, and sets *done to how many have become documents or rejects. */
static enum leat_status run_batch(struct pack_worker *w, struct unit *u, const struct chat_item *items, size_t count,
                                  size_t *done, struct leat_error *err)
{
    enum leat_status s = open_renderer(w, err);

    *done = 0;
    if (s == LEAT_OK)
        s = ask(w->renderer, items, count, err);
    while (s == LEAT_OK && *done < count) {
        s = take_next(w, u, &items[*done], err);
        *done += s == LEAT_OK;
    }
    if (s != LEAT_OK) {
        renderer_close(w->renderer);
        w->renderer = NULL;
    }
    return s;
}

static enum leat_status run_items(struct pack_worker *w, struct unit *u, const struct chat_item *items, size_t count,
                                  struct leat_error *err)
{
    bool alone = false;
    enum leat_status s = LEAT_OK;

    for (size_t at = 0, done; s == LEAT_OK && at < count; at += done) {
        size_t most = alone ? 1 : count - at;
        struct leat_error why;

        s = run_batch(w, u, &items[at], most, &done, &why);
        if (is_lost(s) && most - done > 1) {
            alone = true;
            s = LEAT_OK;
        } else if (is_lost(s)) {
            s = settle(u, &items[at + done], blame(w->setup, &items[at + done], s, &why), &why, err);
            alone = false;
            done++;
        } else if (s != LEAT_OK && err) {
            *err = why;
        }
    }
    return s;
}

enum leat_status step_chat_end(struct pack_worker *w, struct unit *u, struct leat_error *err)
{
    struct chat_queue *q = w->chats;
    size_t rejects = u->reject_count;
    enum leat_status s = q && q->count > 0 ? run_items(w, u, q->items, q->count, err) : LEAT_OK;

    for (size_t i = 0; q && i < q->count; i++)
        free(q->items[i].own);
    if (q)
        q->count = q->bytes = 0;
    if (u->reject_count > rejects)
        unit_sort_rejects(u);
    return s;
}

void step_chat_free(struct pack_worker *w)
{
    renderer_close(w->renderer);
    for (size_t i = 0; w->chats && i < w->chats->count; i++)
        free(w->chats->items[i].own);
    free(w->chats);
    w->renderer = NULL;
    w->chats = NULL;
}

/* ---- Records ---- */

/* Keeps an id in the unit, unescaped. */
static enum leat_status keep_id(struct pack_worker *w, struct unit *u, struct unit_document *d, const char *record,
                                const struct json_place *id, struct leat_error *err)
{
    size_t count = id->kind == JSON_KIND_STRING || id->kind == JSON_KIND_NUMBER ? (size_t)id->bytes : 0;
    enum leat_status s = step_keep_id(w, u, d, record + id->begin, count, err);
    char *end, *at;

    if (s != LEAT_OK || count == 0 || !id->escaped || id->kind != JSON_KIND_STRING)
        return s;
    at = (char *)u->strings.bytes + d->id.begin + d->id.bytes - count; /* what it is by may be before it */
    end = w->setup->messages->kernels->unescape(at, at, at + count);
    d->id.bytes -= count - (size_t)(end - at);
    u->strings.size = d->id.begin + d->id.bytes;
    return LEAT_OK;
}

/* The tools of a row lie in the unit's spans. */
static enum leat_status find(const struct pack_worker *w, const struct unit *u, const struct unit_document *as_read,
                             const char *record, size_t bytes, struct json_chat *found, struct leat_error *err)
{
    const struct pack_setup *setup = w->setup;
    bool row = setup->inputs.items[u->input].format->rows;
    enum leat_status s = json_chat_find(found, setup->messages, row ? NULL : setup->tools, record, bytes, err);

    return s == LEAT_OK && row && as_read->spans.bytes > 0
               ? json_chat_take_tools(found, setup->tools, (const char *)u->spans.bytes + as_read->spans.begin,
                                      as_read->spans.bytes - 1, err)
               : s;
}

static enum leat_status put(struct pack_worker *w, struct unit *u, const struct chat_item *item, struct leat_error *err)
{
    if (!w->chats)
        w->chats = calloc(1, sizeof *w->chats);
    if (!w->chats)
        return status_no_memory(err, sizeof *w->chats);
    w->chats->items[w->chats->count++] = *item;
    w->chats->bytes += item->messages.bytes + item->tools.bytes;
    return w->chats->count == BATCH || w->chats->bytes >= BATCH_BYTES ? step_chat_end(w, u, err) : LEAT_OK;
}

enum leat_status step_chat_record(struct pack_worker *w, struct unit *u, const struct unit_document *as_read,
                                  char *record, size_t bytes, struct leat_error *err)
{
    struct json_chat found;
    struct leat_error why;
    struct chat_item item = { .as_read = *as_read, .record = record, .bytes = bytes };
    enum leat_status s = find(w, u, as_read, record, bytes, &found, &why);

    if (s == LEAT_OK && !w->setup->inputs.items[u->input].format->rows) /* of a row, it has been kept */
        s = keep_id(w, u, &item.as_read, record, &found.scan.place[JSON_ID], &why);
    if (s != LEAT_OK) {
        json_chat_free(&found);
        return settle(u, &item, s, &why, err);
    }
    item.messages = found.messages;
    item.tools = found.tools;
    item.own = found.own;
    if (!found.own && !found.tools.alone && found.tools.at > found.messages.at) /* it ends before that member */
        item.messages.bytes = (size_t)(found.tools.at - found.messages.at);
    else if (!found.own && !found.tools.alone && found.tools.at)
        item.tools.bytes = (size_t)(found.messages.at - found.tools.at);
    s = put(w, u, &item, err);
    if (!w->chats)
        free(item.own);
    return s;
}
