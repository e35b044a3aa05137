/* step_scan.c: finds the records in whole lines: where their texts are, and which are refused. */
#include <string.h>

#include "corpus/lines.h"
#include "steps.h"

static enum leat_status scan_record(struct pack_worker *w, struct unit *u, char *text, struct stretch where,
                                    uint64_t offset, uint64_t line, struct leat_error *err)
{
    char *record = text + where.begin, sample[UNIT_SAMPLE];
    size_t sample_bytes = 0;
    bool refused;
    struct unit_document as_read = { .input = u->input, .offset = offset, .line = line, .text = where }, *d;
    struct json_found found;
    struct leat_error why;
    enum leat_status s;

    if (w->setup->reject_invalid) { /* reading the record may write over it */
        sample_bytes = where.bytes < UNIT_SAMPLE ? where.bytes : UNIT_SAMPLE;
        memcpy(sample, record, sample_bytes);
    }
    s = w->setup->inputs.items[u->input].format->find(&w->setup->fields, record, where.bytes, &found, &why);
    if (s == LEAT_E_TEXT)
        return unit_refuse(u, &as_read, why.message, record, where.bytes, err);
    if (s != LEAT_OK) {
        *err = why;
        return s;
    }
    s = step_check_text(w, u, &as_read, found.text, found.text_bytes, sample, sample_bytes, &refused, err);
    if (s != LEAT_OK || refused)
        return s;
    d = unit_add_document(u, err);
    if (!d)
        return LEAT_E_NO_MEMORY;
    *d = as_read;
    d->text = (struct stretch) { (size_t)(found.text - text), found.text_bytes };
    u->not_json += found.has_nan;
    return unit_keep(u, found.id, found.id_bytes, &d->id, err);
}

enum leat_status step_scan(struct pack_worker *w, struct unit *u, char *text, size_t bytes, uint64_t offset,
                           struct leat_error *err)
{
    uint64_t line = 0, began = pack_cpu_ns();
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
            s = scan_record(w, u, text, (struct stretch) { begin, end - begin }, offset + at, line, err);
        at = newline ? end + 1 : end;
    }
    u->spent_ns[STAGE_SCAN] += pack_cpu_ns() - began;
    return s;
}
