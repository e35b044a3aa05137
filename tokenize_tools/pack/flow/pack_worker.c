/* pack_worker.c: see pack_worker.h. */
#include "pack_worker.h"

#include <string.h>

#include "base/clock.h"
#include "render/render.h"
#include "steps.h"
#include "tokenizer/pipeline/encoder_valid.h"
#include "unit_kinds.h"

/* The size above which a thread's buffers are freed, so that one long record does not stay in memory. */
#define KEEP_BYTES ((size_t)4 << 20)

/* The part of a thread's memory for pretokens that each of its encoders may take, beside a conversation. */
#define CHAT_ENCODERS 8

enum leat_status pack_worker_make(struct pack_worker *w, struct pack_setup *setup, struct leat_error *err)
{
    struct leat_encoder_options options = LEAT_ENCODER_OPTIONS_INIT;
    enum leat_status s;

    memset(w, 0, sizeof *w);
    w->setup = setup;
    s = record_make(&w->record, &setup->fields, err);
    if (s != LEAT_OK)
        return s;
    options.special = setup->special;
    options.max_bytes = setup->pretoken_bytes / (setup->chat ? CHAT_ENCODERS : 1);
    options.stop = pack_setup_stop;
    options.stop_context = setup;
    s = leat_encoder_open(&w->encoder, setup->tokenizer, &options, err);
    if (s != LEAT_OK)
        return s;
    encoder_valid(w->encoder);
    if (!setup->chat) {
        encoder_bound_ids(w->encoder);
        return LEAT_OK;
    }
    options.special = 1;
    s = leat_encoder_open(&w->chat_encoder, setup->tokenizer, &options, err);
    if (s == LEAT_OK)
        encoder_valid(w->chat_encoder);
    return s;
}

void pack_worker_free(struct pack_worker *w)
{
    leat_encoder_close(w->encoder);
    leat_encoder_close(w->chat_encoder);
    step_chat_free(w);
    record_free(&w->record);
    buffer_free(&w->chat_ids);
    buffer_free(&w->text);
    buffer_free(&w->repaired);
    buffer_free(&w->pair);
    buffer_free(&w->narrow);
    buffer_free(&w->ends);
    memset(w, 0, sizeof *w);
}

static void give_back(struct buffer *b)
{
    if (b->room > KEEP_BYTES)
        buffer_free(b);
}

void pack_worker_run(struct pack_worker *w, struct unit *u, int fd)
{
    uint64_t began = clock_cpu_ns(), others = u->spent_ns[PACK_STEP_READ] + u->spent_ns[PACK_STEP_SCAN];

    if (u->status == LEAT_OK && u->kind->encode)
        u->status = u->kind->encode(w, u, fd, &u->error);
    if (u->status != LEAT_OK) /* conversations that wait to be rendered are dropped with the unit */
        step_chat_free(w);
    if (u->status == LEAT_OK)
        u->status = unit_make_ready(u, w->setup->ids_wide, &u->error);
    others = u->spent_ns[PACK_STEP_READ] + u->spent_ns[PACK_STEP_SCAN] - others;
    u->spent_ns[PACK_STEP_ENCODE] += clock_cpu_ns() - began - others;
    unit_free_text(u); /* a unit that waits to be written needs its ids only */
    give_back(&w->text);
    give_back(&w->repaired);
    give_back(&w->pair);
    give_back(&w->narrow);
    give_back(&w->ends);
    renderer_trim(w->renderer, KEEP_BYTES);
    if (w->splitter)
        renderer_trim(w->splitter, KEEP_BYTES);
    give_back(&w->chat_ids);
}
