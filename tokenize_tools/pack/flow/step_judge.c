/* step_judge.c: what judges say of a record: whether it is kept, what is learned of it, and which dataset gets it. */
#include "corpus/record/pair.h"
#include "steps.h"

enum leat_status step_keep_id(const struct pack_setup *setup, struct unit *u, const struct verdict *v,
                              struct packer_document *d, const void *id, size_t bytes, struct leat_error *err)
{
    return setup->by ? documents_keep_by(&u->docs, v->by, v->by_bytes, id, bytes, &d->id, err)
                     : documents_keep(&u->docs, id, bytes, &d->id, err);
}

enum leat_status step_judge(const struct pack_setup *setup, struct unit *u, const struct record *r, struct verdict *v,
                            struct packer_document *d, struct leat_error *err)
{
    enum leat_status s;

    v->spans = &u->docs.spans;
    d->masked = setup->spans;
    d->spans.begin = u->docs.spans.size;
    v->values = &u->docs.values;
    d->values.begin = u->docs.values.size;
    s = judges_judge(&setup->judges, r, v, err);
    d->spans.bytes = u->docs.spans.size - d->spans.begin;
    d->values.bytes = u->docs.values.size - d->values.begin;
    d->weight = v->weight;
    return s;
}

enum leat_status step_settle_spans(struct unit *u, struct packer_document *d, const struct step_text *t, bool *rejected,
                                   struct leat_error *err)
{
    struct leat_span *spans;
    struct leat_error why;

    *rejected = false;
    if (!d->masked || d->utf8 != TEXT_UTF8_VALID || d->spans.bytes == 0)
        return LEAT_OK;
    spans = (struct leat_span *)(void *)(u->docs.spans.bytes + d->spans.begin);
    if (judge_settle_spans(spans, d->spans.bytes / sizeof *spans, t->text, t->bytes, &why) == LEAT_OK)
        return LEAT_OK;
    *rejected = true;
    return documents_reject(&u->docs, d, why.message, why.field, t->sample, t->sample_bytes, err);
}

enum leat_status step_record_id(struct pack_worker *w, struct unit *u, struct packer_document *d,
                                struct leat_error *err)
{
    const struct input_list *inputs = &w->setup->inputs;
    const char *id;
    size_t bytes;

    if (inputs->count == 0 || inputs->items[u->input].format->rows)
        return LEAT_OK;
    id = record_take_id(&w->record, &bytes);
    return step_keep_id(w->setup, u, &w->verdict, d, id ? id : "", bytes, err);
}

enum leat_status step_join(const struct pack_setup *setup, struct unit *u, struct packer_document *d,
                           const struct record *r, struct buffer *to, struct leat_error *err)
{
    struct leat_span span;
    size_t from = to->size, begin;
    enum leat_status s = pair_join(r, to, &begin, err);

    d->text.bytes = to->size - from;
    if (s != LEAT_OK || setup->chat)
        return s;
    span = (struct leat_span) { begin - from, d->text.bytes };
    d->masked = true;
    d->spans = (struct stretch) { u->docs.spans.size, sizeof span };
    return buffer_append(&u->docs.spans, &span, sizeof span, err);
}
