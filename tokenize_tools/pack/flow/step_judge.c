/* step_judge.c: what judges say of a record: whether it is kept, what is learned of it, and which dataset gets it. */
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
    s = judges_judge(&setup->judges, r, v, err);
    d->spans.bytes = u->docs.spans.size - d->spans.begin;
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
