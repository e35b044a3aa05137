/* documents.c: see documents.h. */
#include "documents.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/status.h"

void documents_free(struct documents *d)
{
    spool_close(&d->spooled);
    buffer_free(&d->strings);
    buffer_free(&d->spans);
    buffer_free(&d->values);
    buffer_free(&d->tokens);
    buffer_free(&d->mask);
    free(d->items);
    free(d->rejects);
}

static void clear_buffer(struct buffer *b, size_t keep_bytes)
{
    b->size = 0;
    if (b->room > keep_bytes)
        buffer_free(b);
}

void documents_clear(struct documents *d, size_t keep_bytes)
{
    struct documents kept;

    spool_close(&d->spooled);
    clear_buffer(&d->strings, keep_bytes);
    clear_buffer(&d->spans, keep_bytes);
    clear_buffer(&d->values, keep_bytes);
    clear_buffer(&d->tokens, keep_bytes);
    clear_buffer(&d->mask, keep_bytes);
    if (d->room * sizeof *d->items > keep_bytes) {
        free(d->items);
        d->items = NULL;
        d->room = 0;
    }
    if (d->reject_room * sizeof *d->rejects > keep_bytes) {
        free(d->rejects);
        d->rejects = NULL;
        d->reject_room = 0;
    }
    kept = *d;
    *d = (struct documents) { .items = kept.items,
                              .room = kept.room,
                              .rejects = kept.rejects,
                              .reject_room = kept.reject_room,
                              .strings = kept.strings,
                              .spans = kept.spans,
                              .values = kept.values,
                              .tokens = kept.tokens,
                              .mask = kept.mask,
                              .spooled = SPOOL_NONE };
}

void documents_take_back(struct documents *d, const struct documents *before)
{
    struct documents now = *d;

    now.strings.size = before->strings.size;
    now.spans.size = before->spans.size;
    now.values.size = before->values.size;
    now.tokens.size = before->tokens.size;
    now.mask.size = before->mask.size;
    *d = *before; /* the counts; memory may have moved since */
    d->items = now.items;
    d->room = now.room;
    d->rejects = now.rejects;
    d->reject_room = now.reject_room;
    d->strings = now.strings;
    d->spans = now.spans;
    d->values = now.values;
    d->tokens = now.tokens;
    d->mask = now.mask;
    d->spooled = now.spooled;
}

uint64_t documents_bytes(const struct documents *d)
{
    return d->strings.room + d->spans.room + d->values.room + d->tokens.room + d->mask.room +
           d->room * sizeof *d->items + d->reject_room * sizeof *d->rejects;
}

struct packer_document *documents_add(struct documents *d, struct leat_error *err)
{
    if (GROW(d->items, d->count + 1, d->room, err) != LEAT_OK)
        return NULL;
    d->items[d->count] = (struct packer_document) { .weight = 1 };
    return &d->items[d->count++];
}

enum leat_status documents_keep(struct documents *d, const void *bytes, size_t count, struct stretch *where,
                                struct leat_error *err)
{
    where->begin = d->strings.size;
    where->bytes = count;
    return buffer_append(&d->strings, bytes, count, err);
}

enum leat_status documents_keep_by(struct documents *d, const void *value, size_t value_bytes, const void *id,
                                   size_t bytes, struct stretch *where, struct leat_error *err)
{
    enum leat_status s = buffer_reserve(&d->strings, value_bytes + 1 + bytes, err);

    if (s != LEAT_OK)
        return s;
    *where = (struct stretch) { d->strings.size, value_bytes + 1 + bytes };
    buffer_append(&d->strings, value, value_bytes, err);
    buffer_append(&d->strings, "", 1, err);
    return buffer_append(&d->strings, id, bytes, err);
}

enum leat_status documents_reject(struct documents *d, const struct packer_document *document, const char *reason,
                                  const char *field, const void *record, size_t bytes, struct leat_error *err)
{
    struct reject *r;
    enum leat_status s = GROW(d->rejects, d->reject_count + 1, d->reject_room, err);

    if (s != LEAT_OK)
        return s;
    r = &d->rejects[d->reject_count];
    *r = (struct reject) {
        .input = document->input, .offset = document->offset, .line = document->line, .place = document->text.begin
    };
    s = documents_keep(d, reason, strlen(reason), &r->reason, err);
    if (s == LEAT_OK)
        s = documents_keep(d, field, strlen(field), &r->field, err);
    if (s == LEAT_OK)
        s = documents_keep(d, record, bytes < REJECT_SAMPLE ? bytes : REJECT_SAMPLE, &r->sample, err);
    d->reject_count += s == LEAT_OK;
    return s;
}

/* Orders rejects by place. One without bytes in the unit's text, such as a null of a table, has the place of what
 * follows it, and a smaller offset. Parts of one conversation have one place, and are in the order of their reasons. */
static int by_place(const void *a, const void *b)
{
    size_t x = ((const struct reject *)a)->place, y = ((const struct reject *)b)->place;
    uint64_t i = ((const struct reject *)a)->offset, j = ((const struct reject *)b)->offset;

    if (x == y && i == j) {
        x = ((const struct reject *)a)->reason.begin;
        y = ((const struct reject *)b)->reason.begin;
    }
    return x != y ? (x > y) - (x < y) : (i > j) - (i < j);
}

void documents_sort_rejects(struct documents *d)
{
    if (d->reject_count > 1)
        qsort(d->rejects, d->reject_count, sizeof *d->rejects, by_place);
}
