/* step_scan.c: finds the records in whole lines: where their texts are, and which are rejected. */
#include <string.h>

#include "base/clock.h"
#include "corpus/json/json_spans.h"
#include "corpus/lines.h"
#include "steps.h"

enum leat_status step_keep_id(struct pack_worker *w, struct unit *u, struct unit_document *d, const void *id,
                              size_t bytes, struct leat_error *err)
{
    return w->setup->by ? unit_keep_by(u, w->by.value, w->by.bytes, id, bytes, &d->id, err)
                        : unit_keep(u, id, bytes, &d->id, err);
}

/* Keeps the spans of a record that says what is learned; *rejected: it says it wrongly, and was rejected. Before the
 * text is found, which writes over the record. */
static enum leat_status find_spans(struct pack_worker *w, struct unit *u, struct unit_document *d, const char *record,
                                   bool *rejected, struct leat_error *err)
{
    struct leat_error why;
    enum leat_status s = LEAT_OK;

    *rejected = false;
    if (!w->setup->mask_field)
        return LEAT_OK;
    d->masked = true;
    d->spans.begin = u->spans.size;
    s = json_spans_find(&u->spans, w->setup->mask_field, record, d->text.bytes, &why);
    d->spans.bytes = u->spans.size - d->spans.begin;
    *rejected = s == LEAT_E_TEXT;
    if (*rejected)
        return unit_reject_document(u, d, why.message, record, d->text.bytes, err);
    if (s != LEAT_OK)
        *err = why;
    return s;
}

enum leat_status step_settle_spans(struct unit *u, struct unit_document *d, const char *text, size_t bytes,
                                   const void *sample, size_t sample_bytes, bool *rejected, struct leat_error *err)
{
    struct leat_span *spans;
    struct leat_error why;

    *rejected = false;
    if (!d->masked || d->utf8 != UNIT_UTF8_VALID || d->spans.bytes == 0)
        return LEAT_OK;
    spans = (struct leat_span *)(void *)(u->spans.bytes + d->spans.begin);
    if (json_spans_settle(spans, d->spans.bytes / sizeof *spans, text, bytes, &why) == LEAT_OK)
        return LEAT_OK;
    *rejected = true;
    return unit_reject_document(u, d, why.message, sample, sample_bytes, err);
}

enum leat_status step_scan_record(struct pack_worker *w, struct unit *u, char *text, struct stretch where,
                                  uint64_t offset, uint64_t line, struct leat_error *err)
{
    char *record = text + where.begin, sample[UNIT_SAMPLE];
    size_t sample_bytes = where.bytes < UNIT_SAMPLE ? where.bytes : UNIT_SAMPLE;
    bool rejected;
    struct unit_document as_read = { .input = u->input, .offset = offset, .line = line, .text = where }, *d;
    struct json_found found;
    struct leat_error why;
    enum leat_status s;

    if (w->setup->keep && !json_keep_holds(w->setup->keep, record, where.bytes)) {
        u->kept_out++;
        return LEAT_OK;
    }
    if (w->setup->by && json_by_find(&w->by, w->setup->by, record, where.bytes, &why) != LEAT_OK)
        return unit_reject_document(u, &as_read, why.message, record, where.bytes, err);
    if (w->setup->whole_records && where.bytes > w->setup->whole_bytes)
        return unit_reject_document(u, &as_read, STEP_WHOLE_REASON, record, where.bytes, err);
    if (w->setup->chat)
        return step_chat_record(w, u, &as_read, record, where.bytes, err);
    s = find_spans(w, u, &as_read, record, &rejected, err);
    if (s != LEAT_OK || rejected)
        return s;
    memcpy(sample, record, sample_bytes); /* reading the record may write over it */
    s = w->setup->inputs.items[u->input].format->find(&w->setup->fields, record, where.bytes, &found, &why);
    if (s == LEAT_E_TEXT)
        return unit_reject_document(u, &as_read, why.message, record, where.bytes, err);
    if (s != LEAT_OK) {
        *err = why;
        return s;
    }
    s = step_check_text(w, u, &as_read, found.text, found.text_bytes, sample, sample_bytes, &rejected, err);
    if (s == LEAT_OK && !rejected)
        s = step_settle_spans(u, &as_read, found.text, found.text_bytes, sample, sample_bytes, &rejected, err);
    if (s != LEAT_OK || rejected)
        return s;
    d = unit_add_document(u, err);
    if (!d)
        return LEAT_E_NO_MEMORY;
    *d = as_read;
    d->text = (struct stretch) { (size_t)(found.text - text), found.text_bytes };
    u->not_json += found.has_nan;
    return step_keep_id(w, u, d, found.id, found.id_bytes, err);
}

enum leat_status step_scan(struct pack_worker *w, struct unit *u, char *text, size_t bytes, uint64_t offset,
                           struct leat_error *err)
{
    uint64_t line = 0, began = clock_cpu_ns();
    enum leat_status s = LEAT_OK;

    /* the line ends of the unit before the first record: only a range has any */
    if (offset > u->offset)
        line = lines_count((char *)w->text.bytes + (u->offset > 0), (size_t)(offset - u->offset));
    for (size_t at = 0; s == LEAT_OK && at < bytes; line++) {
        char *newline = memchr(text + at, '\n', bytes - at);
        size_t end = newline ? (size_t)(newline - text) : bytes, begin = at;

        if (offset + at == 0)
            begin = lines_mark(text, end);
        if (!lines_blank(text + begin, end - begin))
            s = step_scan_record(w, u, text, (struct stretch) { begin, end - begin }, offset + at, line, err);
        at = newline ? end + 1 : end;
    }
    if (s == LEAT_OK)
        s = step_chat_end(w, u, err);
    u->spent_ns[PACK_STEP_SCAN] += clock_cpu_ns() - began;
    return s;
}
