/* step_mask.c: the ids of a document in the stored width, and a byte per token for what training learns of it. */
#include <string.h>

#include "base/status.h"
#include "mask/span_mask.h"
#include "mask/token_trace.h"
#include "steps.h"

enum leat_status step_put_ids(const struct pack_setup *setup, struct buffer *to, const uint32_t *ids, uint64_t count,
                              struct leat_error *err)
{
    enum leat_status s;
    uint8_t *out;

    if (count == 0)
        return LEAT_OK;
    if (setup->ids_wide)
        return buffer_append(to, ids, (size_t)count * sizeof *ids, err);
    s = buffer_reserve(to, (size_t)count * sizeof(uint16_t), err);
    if (s != LEAT_OK)
        return s;
    out = to->bytes + to->size;
    for (uint64_t i = 0; i < count; i++) {
        uint16_t id = (uint16_t)ids[i];

        memcpy(out + i * sizeof id, &id, sizeof id);
    }
    to->size += (size_t)count * sizeof(uint16_t);
    return LEAT_OK;
}

enum leat_status step_limit(const struct pack_setup *setup, struct unit *u, uint64_t *count, struct leat_error *err)
{
    if (setup->max_tokens == 0 || *count <= setup->max_tokens)
        return LEAT_OK;
    u->docs.counts[COUNT_TOO_LONG]++;
    if (setup->options->too_long != LEAT_TOO_LONG_CUT)
        return status_set(err, LEAT_E_TEXT, "the document has %llu tokens, and at most %u are allowed",
                          (unsigned long long)*count + setup->options->max_length - setup->max_tokens,
                          setup->options->max_length);
    *count = setup->max_tokens;
    return LEAT_OK;
}

enum leat_status step_put_known_mask(const struct pack_setup *setup, struct unit *u, const uint8_t *mask,
                                     uint64_t count, struct leat_error *err)
{
    enum leat_status s;

    if (!setup->masks || count == 0)
        return LEAT_OK;
    if (mask)
        return buffer_append(&u->docs.mask, mask, (size_t)count, err);
    s = buffer_reserve(&u->docs.mask, (size_t)count, err);
    if (s != LEAT_OK)
        return s;
    memset(u->docs.mask.bytes + u->docs.mask.size, UINT8_MAX, (size_t)count);
    u->docs.mask.size += (size_t)count;
    return LEAT_OK;
}

/* Appends the mask of ids of a text that has spans. */
static enum leat_status put_spans(struct pack_worker *w, struct unit *u, const struct packer_document *d,
                                  const struct step_text *t, const uint32_t *ids, uint64_t count,
                                  struct leat_error *err)
{
    const struct leat_span *spans = NULL;
    uint64_t *ends;
    enum leat_status s;

    w->ends.size = 0;
    s = buffer_reserve(&w->ends, (size_t)count * sizeof *ends, err);
    if (s == LEAT_OK)
        s = buffer_reserve(&u->docs.mask, (size_t)count, err);
    if (s != LEAT_OK)
        return s;
    ends = (uint64_t *)(void *)w->ends.bytes;
    s = token_trace(&w->setup->token_texts, t->text, t->bytes, ids, count, ends, err);
    if (s != LEAT_OK)
        return s;
    if (d->spans.bytes > 0)
        spans = (const struct leat_span *)(const void *)(u->docs.spans.bytes + d->spans.begin);
    span_mask(ends, count, spans, d->spans.bytes / sizeof *spans, u->docs.mask.bytes + u->docs.mask.size);
    u->docs.mask.size += (size_t)count;
    return LEAT_OK;
}

enum leat_status step_put_mask(struct pack_worker *w, struct unit *u, const struct packer_document *d,
                               const struct step_text *t, const uint32_t *ids, uint64_t count, struct leat_error *err)
{
    bool spans = w->setup->masks && d->masked && count > 0;
    enum leat_status s =
        spans ? put_spans(w, u, d, t, ids, count, err) : step_put_known_mask(w->setup, u, NULL, count, err);

    for (size_t i = 1; s == LEAT_OK && d->weight < 1 && i <= count; i++) {
        uint8_t *learned = &u->docs.mask.bytes[u->docs.mask.size - i];

        *learned = step_weight(*learned / UINT8_MAX * d->weight);
    }
    return s;
}
