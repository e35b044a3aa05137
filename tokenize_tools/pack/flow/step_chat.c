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

/* Returns true if they are the values of a column. */
static bool is_row(const struct pack_setup *setup, const struct unit *u)
{
    return !is_given(setup) && setup->inputs.items[u->input].format->rows;
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

/* Renders a conversation that needs more memory than a thread has for it: one at a time may have more. The renderer
 * ends after it, since how much memory the next one gets must not depend on what this one left. */
static enum leat_status render_long(struct pack_worker *w, struct unit *u, const struct chat_item *item,
                                    struct leat_error *err)
{
    struct pack_setup *setup = w->setup;
    struct render_answer answer;
    struct chat_source c = { .answer = &answer };
    struct renderer *r = NULL;
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
        s = chat_text_take(w, u, &item->as_read, &c, &too_big, err);
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
    const struct chat_source c = { &answer, w->chat_encoder, w->encoder };
    bool too_big;
    enum leat_status s = renderer_answer(w->renderer, &answer, err);

    if (s != LEAT_OK)
        return s;
    s = chat_text_take(w, u, &item->as_read, &c, &too_big, &why);
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
    for (size_t i = 0; w->chats && i < w->chats->count; i++)
        conversation_free(&w->chats->items[i].c);
    free(w->chats);
    w->renderer = NULL;
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

/* Keeps the id of a record. The id of a row, or of a record that a program gave, has been kept already. */
static enum leat_status keep_id(struct pack_worker *w, struct unit *u, struct packer_document *d,
                                struct leat_error *err)
{
    const char *id;
    size_t bytes;

    if (is_given(w->setup) || is_row(w->setup, u))
        return LEAT_OK;
    id = record_take_id(&w->record, &bytes);
    return step_keep_id(w->setup, u, &w->verdict, d, id ? id : "", bytes, err);
}

enum leat_status step_chat_record(struct pack_worker *w, struct unit *u, const struct packer_document *as_read,
                                  const char *sample, size_t bytes, struct leat_error *err)
{
    struct chat_item item = { .as_read = *as_read, .sample_bytes = bytes < REJECT_SAMPLE ? bytes : REJECT_SAMPLE };
    struct leat_error why;
    enum leat_status s = conversation_take(&item.c, &w->record, &why);

    memcpy(item.sample, sample, item.sample_bytes);
    if (s == LEAT_OK)
        s = keep_id(w, u, &item.as_read, &why);
    if (s != LEAT_OK) {
        conversation_free(&item.c);
        return settle(u, &item, s, &why, err);
    }
    s = put(w, u, &item, err);
    if (!w->chats)
        conversation_free(&item.c);
    return s;
}
