/*
 * encoder_spaced.c: the way of a text to a model with plain spaces (spaced.h): unchanged, segment by segment. If added
 * tokens are close together, for example if each newline is one, the text between them is gathered, so that the model
 * gets batches of pretokens.
 */
#include <string.h>

#include "encoder_internal.h"

/* Room for the space before a segment and what follows it as far as a cut. */
#define PREFIX_ROOM 64

/* Encodes the space that comes before a segment with as much of the text as it needs, *used; or holds it back before
 * all of it. */
static enum leat_status take_prefix(struct encoder *e, const uint8_t *text, size_t bytes, size_t *used,
                                    struct leat_error *err)
{
    uint8_t copy[PREFIX_ROOM] = { ' ' };
    struct model_chunk chunk = { .text = copy, .begins = true };
    size_t room = bytes < sizeof copy - 1 ? bytes : sizeof copy - 1, cut = 0;
    enum leat_status s;

    while (room < bytes && (text[room] & 0xc0) == 0x80)
        room--;
    memcpy(copy + 1, text, room);
    chunk.bytes = room + 1;
    s = model_encode_chunk(e->pipeline->model, e->model, &chunk, &e->ids, &cut, err);
    e->pretoken_cut = cut > 0;
    *used = cut > 0 ? cut - 1 : 0;
    return s == LEAT_OK && cut == 0 ? buffer_append(&e->pretoken.text, copy, 1, err) : s;
}

static bool wants_prefix(const struct encoder *e, const uint8_t *text, bool first)
{
    enum spaced_prefix prefix = e->pipeline->prefix;

    return prefix == SPACED_ALWAYS || (prefix == SPACED_UNLESS && *text != ' ') ||
           (prefix == SPACED_FIRST && first && *text != ' ');
}

enum leat_status encoder_take_spaced(struct encoder *e, const uint8_t *text, size_t bytes, bool first, bool last,
                                     struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    size_t used = 0;

    if (spaced_has_mark(text, bytes)) {
        e->spaced.size = 0;
        s = spaced_replace(&e->spaced, text, bytes, err);
        text = e->spaced.bytes;
        bytes = e->spaced.size;
    }
    if (s == LEAT_OK && bytes > 0 && !e->spaced_begun && wants_prefix(e, text, first))
        s = take_prefix(e, text, bytes, &used, err);
    e->spaced_begun = !last && (e->spaced_begun || bytes > 0);
    return s == LEAT_OK ? encoder_take_pretoken(e, text + used, bytes - used, last, err) : s;
}

static enum leat_status encode_run(struct encoder *e, struct leat_error *err)
{
    const struct model_spans run = { e->run, e->run_bytes, e->spans, e->span_count };
    size_t count = e->span_count, begin = 0;
    enum leat_status s = LEAT_OK;

    e->span_count = 0;
    if (count > 0 && !spaced_has_mark(e->run, e->run_bytes))
        return e->pipeline->model->kind->encode_spans(e->pipeline->model, e->model, &run, &e->ids, err);
    for (size_t i = 0; s == LEAT_OK && i < count; begin = e->spans[i++].end)
        s = e->spans[i].id == MODEL_PRETOKEN
                ? encoder_take_spaced(e, e->run + begin, e->spans[i].end - begin, false, true, err)
                : id_list_append(&e->ids, e->spans[i].id, err);
    return s;
}

static enum leat_status add_span(struct encoder *e, const uint8_t *text, size_t bytes, uint32_t id,
                                 struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    if (e->span_count > 0 &&
        (e->span_count == SPANS || e->run_bytes + bytes > MODEL_SPAN_MAX || e->run + e->run_bytes != text))
        s = encode_run(e, err);
    if (e->span_count == 0) {
        e->run = text;
        e->run_bytes = 0;
    }
    e->run_bytes += bytes;
    e->spans[e->span_count++] = (struct model_span) { (uint32_t)e->run_bytes, id };
    return s;
}

/* A segment that is all there goes into the run; others, at the ends of what has come, are encoded by themselves. */
static enum leat_status take_segment(void *context, const uint8_t *text, size_t bytes, size_t first, bool last,
                                     struct leat_error *err)
{
    struct encoder *e = context;
    enum leat_status s;

    (void)first; /* nothing is put before a text whose segments come in runs */
    if (last && !e->spaced_begun && bytes > 0 && bytes <= MODEL_SPAN_MAX)
        return add_span(e, text, bytes, MODEL_PRETOKEN, err);
    s = encode_run(e, err);
    return s == LEAT_OK ? encoder_take_spaced(e, text, bytes, false, last, err) : s;
}

static enum leat_status take_fixed(void *context, uint32_t id, const uint8_t *text, size_t bytes,
                                   struct leat_error *err)
{
    struct encoder *e = context;
    enum leat_status s;

    if (bytes > 0 && bytes <= MODEL_SPAN_MAX)
        return add_span(e, text, bytes, id, err);
    s = encode_run(e, err);
    return s == LEAT_OK ? id_list_append(&e->ids, id, err) : s;
}

enum leat_status encoder_take_runs(struct encoder *e, const uint8_t *text, size_t bytes, bool last,
                                   struct leat_error *err)
{
    static const struct cutter_take take = { take_segment, take_fixed };
    enum leat_status s = cutter_run(&e->raw, text, bytes, 0, last, &take, e, err);

    return s == LEAT_OK ? encode_run(e, err) : s;
}
