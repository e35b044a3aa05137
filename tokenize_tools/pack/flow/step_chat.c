/*
 * step_chat.c: renders and encodes conversations in batches. They are taken until there are enough for a batch
 * (render.h), which this thread's renderer gets. If a conversation takes longer than it may, or the renderer ends,
 * another renderer gets the conversations that are left one at a time, so that the one that is to blame is known. It
 * ends the run, since the same inputs must give the same bytes, unless the run leaves slow ones out.
 */
#include "steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/show.h"
#include "base/status.h"
#include "base/tiny.h"
#include "corpus/record/conversation.h"

/* The conversations, or their bytes, that are sent to the renderer at once. */
#define BATCH       TINY_OR(3, 128)
#define BATCH_BYTES TINY_OR(2048, (size_t)128 << 10)

/* A record that was taken, and waits to be rendered. */
struct chat_item {
    struct packer_document as_read;
    struct conversation c;
    size_t sample_bytes;
    char sample[REJECT_SAMPLE]; /* first bytes of the record, which are kept since taking its id may write over them */
};

struct chat_queue {
    size_t count, bytes;
    struct chat_item items[BATCH];
};

static enum leat_status settle(struct unit *u, const struct chat_item *item, enum leat_status s,
                               const struct leat_error *why, struct leat_error *err)
{
    if (s == LEAT_E_TEXT)
        return documents_reject(&u->docs, &item->as_read, why->message, why->field, item->sample, item->sample_bytes,
                                err);
    if (s != LEAT_OK && err)
        *err = *why;
    return s;
}

/* ---- Renderers ---- */

static struct render_request request_of(const struct chat_item *item)
{
    return (struct render_request) { .messages = item->c.messages.at,
                                     .messages_bytes = item->c.messages.bytes,
                                     .tools = item->c.tools.at,
                                     .tools_bytes = item->c.tools.bytes };
}

static enum leat_status ask(struct renderer *r, const struct chat_item *items, size_t count, struct leat_error *err)
{
    struct render_request requests[BATCH];

    for (size_t i = 0; i < count; i++)
        requests[i] = request_of(&items[i]);
    return renderer_ask(r, requests, count, err);
}

/* Opens the worker's own renderer. The worker that asks first gets the one that was started before. */
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

/* Returns true if a program gives the records, which have come from no file. */
static bool is_given(const struct pack_setup *setup)
{
    return setup->inputs.count == 0;
}

/* Reports that a renderer was not done with a conversation in time, or ended over it (`s`). A conversation that a
 * program has given is named by its first words. */
static enum leat_status blame(const struct pack_setup *setup, const struct chat_item *item, enum leat_status s,
                              struct leat_error *err)
{
    const struct input *in = is_given(setup) ? NULL : &setup->inputs.items[item->as_read.input];
    const char *path = in ? in->path : "", *colon = in ? ": " : "";
    char where[200] = "that begins with ";
    size_t length = strlen(where);

    if (in)
        snprintf(where, sizeof where, "at %s %llu", in->format->rows ? "row" : "byte",
                 (unsigned long long)item->as_read.offset);
    else
        show_text(where + length, sizeof where - length, item->c.messages.at,
                  item->c.messages.bytes < 60 ? item->c.messages.bytes : 60);
    if (s == LEAT_E_DEVICE)
        return status_set_in(err, LEAT_E_IO, path,
                             "%s%sthe process that renders conversations ended, or gave no answer, at the one %s; see "
                             "what it printed",
                             path, colon, where);
    if (setup->options->skip_slow_chats)
        return status_set(err, LEAT_E_TEXT, "rendering it takes longer than %u s", setup->render_limits.seconds);
    return status_set_hint(err, LEAT_E_UNSUPPORTED, LEAT_HINT_CHAT_TIME, path,
                           "%s%srendering the conversation %s takes longer than %u s: mend the chat template, allow "
                           "more time, or leave out such conversations",
                           path, colon, where, setup->render_limits.seconds);
}

/* ---- Conversations that are too long ---- */

/* Some turns of a conversation. */
struct chat_part {
    uint32_t first, turns;
    uint64_t tokens;
};

/* Renders some turns, and encodes them. Sets *none if there are no such turns. */
static enum leat_status take_part(struct pack_worker *w, struct unit *u, const struct chat_item *item,
                                  struct renderer *r, struct chat_source c, struct chat_part *part, bool *none,
                                  bool *too_big, struct leat_error *err)
{
    struct render_request request = request_of(item);
    struct render_answer answer;
    enum leat_status s;

    request.first = part->first;
    request.turns = part->turns;
    c.answer = &answer;
    *none = false;
    s = renderer_ask(r, &request, 1, err);
    if (s == LEAT_OK)
        s = renderer_answer(r, &answer, err);
    if (s != LEAT_OK)
        return s;
    *none = answer.kind == RENDER_REJECTED && answer.bytes == 0;
    return *none ? LEAT_OK : chat_text_take(w, u, &item->as_read, &c, &part->tokens, too_big, err);
}

/* Finds the most turns from part->first on that fit, at least one; *none if there are none from there on. `guess` is
 * tried first; then their number is doubled, and what lies between is halved. */
static enum leat_status find_part(struct pack_worker *w, struct unit *u, const struct chat_item *item,
                                  struct renderer *r, const struct chat_source *c, uint32_t guess,
                                  struct chat_part *part, bool *none, bool *too_big, struct leat_error *err)
{
    struct chat_part fits = { .first = part->first }, next = { .first = part->first };
    uint32_t beyond = 0; /* the least number of turns that is too much; 0: not known */
    enum leat_status s = LEAT_OK;
    bool missing;

    *none = false;
    while (s == LEAT_OK && beyond != fits.turns + 1) {
        if (beyond > 0)
            next.turns = fits.turns + (beyond - fits.turns) / 2;
        else
            next.turns = fits.turns > 0 ? 2 * fits.turns : guess;
        s = take_part(w, u, item, r, *c, &next, &missing, too_big, err);
        if (s == LEAT_OK && !missing && next.tokens <= w->setup->max_tokens) {
            fits = next;
            continue;
        }
        beyond = next.turns;
        *none = missing && next.turns == 1;
    }
    *part = fits.turns > 0 ? fits : next; /* a turn that is too long by itself */
    return s;
}

/* Appends the parts of a conversation to `parts`. Each repeats the system message: all of them together may have as
 * many tokens as a conversation may have bytes. */
static enum leat_status find_parts(struct pack_worker *w, struct unit *u, const struct chat_item *item,
                                   struct renderer *r, struct chat_source c, struct buffer *parts, bool *too_big,
                                   struct leat_error *err)
{
    struct chat_part part = { .turns = 1 };
    uint64_t tokens = 0, most = w->setup->max_rendered;
    enum leat_status s = LEAT_OK;
    bool none = false;

    c.measures = true;
    while (s == LEAT_OK && !none) {
        s = find_part(w, u, item, r, &c, part.turns, &part, &none, too_big, err);
        if (s != LEAT_OK || none)
            break;
        tokens += part.tokens <= w->setup->max_tokens ? part.tokens : 0;
        s = tokens <= most ? buffer_append(parts, &part, sizeof part, err)
                           : status_set(err, LEAT_E_TEXT,
                                        "the parts of the conversation have more than %llu tokens together, since each "
                                        "repeats the system message: allow more tokens per document",
                                        (unsigned long long)most);
        part.first += part.turns;
    }
    return s;
}

/* Makes several conversations of one, which step_limit() has counted. A turn that is too long by itself is rejected; a
 * conversation of which nothing is left counts as a reject alone. */
static enum leat_status split(struct pack_worker *w, struct unit *u, const struct chat_item *item, struct renderer *r,
                              const struct chat_source *c, bool *too_big, struct leat_error *err)
{
    struct buffer parts = { 0 };
    struct leat_error why;
    size_t documents = u->docs.count;
    bool none;
    enum leat_status s = find_parts(w, u, item, r, *c, &parts, too_big, err);

    for (size_t at = 0; s == LEAT_OK && at < parts.size; at += sizeof(struct chat_part)) {
        struct chat_part *part = (struct chat_part *)(void *)(parts.bytes + at);

        if (part->tokens <= w->setup->max_tokens) {
            s = take_part(w, u, item, r, *c, part, &none, too_big, err);
            continue;
        }
        status_set(&why, LEAT_E_TEXT, "turn %u of the conversation alone has %llu tokens, and at most %u are allowed",
                   part->first, (unsigned long long)part->tokens, w->setup->options->max_length);
        s = settle(u, item, LEAT_E_TEXT, &why, err);
    }
    u->docs.counts[COUNT_TOO_LONG] -= u->docs.count == documents;
    buffer_free(&parts);
    return s;
}

/* Returns true if a conversation of so many tokens becomes several. */
static bool is_split(const struct pack_setup *setup, enum leat_status s, uint64_t tokens)
{
    return s == LEAT_E_TEXT && setup->splits && tokens > setup->max_tokens;
}

/* Renders a conversation that needs more memory than a thread has for it: one at a time may have more. The renderer
 * ends after it, since how much memory the next one gets must not depend on what this one left. */
static enum leat_status render_long(struct pack_worker *w, struct unit *u, const struct chat_item *item,
                                    struct leat_error *err)
{
    struct pack_setup *setup = w->setup;
    struct render_answer answer;
    struct chat_source c = { .answer = &answer };
    struct renderer *r = NULL;
    uint64_t tokens = 0;
    bool too_big;
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
        s = chat_text_take(w, u, &item->as_read, &c, &tokens, &too_big, err);
    if (is_split(setup, s, tokens))
        s = split(w, u, item, r, &c, &too_big, err);
    renderer_close(r);
    buffer_free(&w->chat_ids);
    buffer_free(&w->ends);
    pthread_mutex_unlock(&setup->long_lock);
    return s;
}

/* Splits a conversation by a renderer of its own, since the other one is busy with those after it. */
static enum leat_status split_apart(struct pack_worker *w, struct unit *u, const struct chat_item *item,
                                    const struct chat_source *c, bool *too_big, struct leat_error *err)
{
    struct pack_setup *setup = w->setup;
    enum leat_status s = LEAT_OK;

    if (!w->splitter)
        s = renderer_open(&w->splitter, setup->renderers, setup->render_plan, &setup->render_limits, err);
    if (s == LEAT_OK)
        s = split(w, u, item, w->splitter, c, too_big, err);
    if (s != LEAT_OK && s != LEAT_E_TEXT) {
        renderer_close(w->splitter);
        w->splitter = NULL;
    }
    return s;
}

/* Takes one answer of the worker's renderer. */
static enum leat_status take_next(struct pack_worker *w, struct unit *u, const struct chat_item *item,
                                  struct leat_error *err)
{
    struct render_answer answer;
    struct leat_error why;
    const struct chat_source c = { &answer, w->chat_encoder, w->encoder, false };
    uint64_t tokens;
    bool too_big;
    enum leat_status s = renderer_answer(w->renderer, &answer, err);

    if (s != LEAT_OK)
        return s;
    s = chat_text_take(w, u, &item->as_read, &c, &tokens, &too_big, &why);
    if (is_split(w->setup, s, tokens))
        s = split_apart(w, u, item, &c, &too_big, &why);
    if (too_big)
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
        const struct documents before = u->docs;

        s = take_next(w, u, &items[*done], err);
        *done += s == LEAT_OK;
        if (is_lost(s)) /* parts of the conversation may be there already */
            documents_take_back(&u->docs, &before);
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
    size_t rejects = u->docs.reject_count;
    enum leat_status s = q && q->count > 0 ? run_items(w, u, q->items, q->count, err) : LEAT_OK;

    for (size_t i = 0; q && i < q->count; i++)
        conversation_free(&q->items[i].c);
    if (q)
        q->count = q->bytes = 0;
    if (u->docs.reject_count > rejects)
        documents_sort_rejects(&u->docs);
    return s;
}

void step_chat_free(struct pack_worker *w)
{
    renderer_close(w->renderer);
    renderer_close(w->splitter);
    for (size_t i = 0; w->chats && i < w->chats->count; i++)
        conversation_free(&w->chats->items[i].c);
    free(w->chats);
    w->renderer = w->splitter = NULL;
    w->chats = NULL;
}

/* ---- Records ---- */

static enum leat_status put(struct pack_worker *w, struct unit *u, const struct chat_item *item, struct leat_error *err)
{
    if (!w->chats)
        w->chats = calloc(1, sizeof *w->chats);
    if (!w->chats)
        return status_no_memory(err, sizeof *w->chats);
    w->chats->items[w->chats->count++] = *item;
    w->chats->bytes += item->c.messages.bytes + item->c.tools.bytes;
    return w->chats->count == BATCH || w->chats->bytes >= BATCH_BYTES ? step_chat_end(w, u, err) : LEAT_OK;
}

enum leat_status step_chat_record(struct pack_worker *w, struct unit *u, const struct packer_document *as_read,
                                  const char *sample, size_t bytes, struct leat_error *err)
{
    struct chat_item item = { .as_read = *as_read, .sample_bytes = bytes < REJECT_SAMPLE ? bytes : REJECT_SAMPLE };
    struct leat_error why;
    enum leat_status s = conversation_take(&item.c, &w->record, &why);

    memcpy(item.sample, sample, item.sample_bytes);
    if (s == LEAT_OK)
        s = step_record_id(w, u, &item.as_read, &why);
    if (s != LEAT_OK) {
        conversation_free(&item.c);
        return settle(u, &item, s, &why, err);
    }
    s = put(w, u, &item, err);
    if (!w->chats)
        conversation_free(&item.c);
    return s;
}
