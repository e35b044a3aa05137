/* step_scan.c: finds the records in whole lines: where their texts are, and which records are rejected. */
#include <string.h>

#include "base/clock.h"
#include "corpus/lines.h"
#include "steps.h"

enum leat_status step_pair(struct pack_worker *w, struct unit *u, const struct packer_document *as_read,
                           struct leat_error *err)
{
    struct packer_document *d = documents_add(&u->docs, err);
    bool rejected = false;
    enum leat_status s;

    if (!d)
        return LEAT_E_NO_MEMORY;
    *d = *as_read;
    d->encoded = true;
    w->pair.size = 0;
    s = step_join(w->setup, u, d, &w->record, &w->pair, err);
    if (s == LEAT_OK)
        s = step_record_id(w, u, d, err);
    if (s == LEAT_OK)
        s = step_encode_text(w, u, d, (const char *)w->pair.bytes, w->pair.size, &rejected, err);
    u->docs.count -= rejected;
    u->docs.counts[COUNT_NOT_JSON] += s == LEAT_OK && !rejected && w->record.has_nan;
    return s;
}

/* Makes the text and the id of a record that is kept a document. */
static enum leat_status take_document(struct pack_worker *w, struct unit *u, const char *text,
                                      const struct packer_document *as_read, const char *sample, size_t sample_bytes,
                                      struct leat_error *err)
{
    struct packer_document read = *as_read, *d;
    struct step_text t = { .sample = sample, .sample_bytes = sample_bytes };
    bool rejected;
    enum leat_status s;

    t.text = record_take_text(&w->record, &t.bytes);
    s = step_check_text(w, u, &read, &t, &rejected, err);
    if (s == LEAT_OK && !rejected)
        s = step_settle_spans(u, &read, &t, &rejected, err);
    if (s != LEAT_OK || rejected)
        return s;
    d = documents_add(&u->docs, err);
    if (!d)
        return LEAT_E_NO_MEMORY;
    *d = read;
    d->text = (struct stretch) { (size_t)(t.text - text), t.bytes };
    u->docs.counts[COUNT_NOT_JSON] += w->record.has_nan;
    return step_record_id(w, u, d, err);
}

enum leat_status step_scan_record(struct pack_worker *w, struct unit *u, char *text, struct stretch where,
                                  uint64_t offset, uint64_t line, struct leat_error *err)
{
    const struct pack_setup *setup = w->setup;
    struct packer_document as_read = { .input = u->input, .offset = offset, .line = line, .text = where };
    char *record = text + where.begin, sample[REJECT_SAMPLE];
    size_t sample_bytes = where.bytes < REJECT_SAMPLE ? where.bytes : REJECT_SAMPLE;
    struct leat_error why;
    enum leat_status s;

    if (setup->whole_records && where.bytes > setup->whole_bytes)
        return documents_reject(&u->docs, &as_read, STEP_WHOLE_REASON, "", record, where.bytes, err);
    memcpy(sample, record, sample_bytes); /* Reading the record, and taking its text, may write over it. */
    s = setup->inputs.items[u->input].format->read(&w->record, record, where.bytes, &why);
    if (s == LEAT_OK)
        s = step_judge(setup, u, &w->record, &w->verdict, &as_read, &why);
    if (s == LEAT_OK && w->verdict.kept_out) {
        u->docs.counts[w->verdict.count]++;
        return LEAT_OK;
    }
    if (s == LEAT_OK && setup->chat)
        return step_chat_record(w, u, &as_read, sample, sample_bytes, err);
    if (s == LEAT_OK)
        s = record_check(&w->record, &why);
    if (s == LEAT_E_TEXT)
        return documents_reject(&u->docs, &as_read, why.message, why.field, sample, sample_bytes, err);
    if (s != LEAT_OK) {
        *err = why;
        return s;
    }
    if (setup->pairs)
        return step_pair(w, u, &as_read, err);
    return take_document(w, u, text, &as_read, sample, sample_bytes, err);
}

enum leat_status step_scan(struct pack_worker *w, struct unit *u, char *text, size_t bytes, uint64_t offset,
                           struct leat_error *err)
{
    uint64_t line = 0, began = clock_cpu_ns();
    enum leat_status s = LEAT_OK;

    /* Only a range has line ends of the unit before its first record. */
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
