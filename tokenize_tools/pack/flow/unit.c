/* unit.c: see unit.h. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"

struct unit *unit_new(void)
{
    struct unit *u = calloc(1, sizeof *u);

    if (u) {
        u->record = (struct spool)SPOOL_NONE;
        u->spooled = (struct spool)SPOOL_NONE;
    }
    return u;
}

void unit_free(struct unit *u)
{
    spool_close(&u->record);
    spool_close(&u->spooled);
    buffer_free(&u->text);
    buffer_free(&u->strings);
    buffer_free(&u->tokens);
    buffer_free(&u->spans);
    buffer_free(&u->mask);
    free(u->documents);
    free(u->origins);
    free(u->lengths);
    free(u->rejects);
    free(u->ends);
    free(u);
}

static void clear_buffer(struct buffer *b, size_t keep_bytes)
{
    b->size = 0;
    if (b->room > keep_bytes)
        buffer_free(b);
}

void unit_clear(struct unit *u, size_t keep_bytes)
{
    struct unit kept;

    spool_close(&u->record);
    spool_close(&u->spooled);
    clear_buffer(&u->text, keep_bytes);
    clear_buffer(&u->strings, keep_bytes);
    clear_buffer(&u->tokens, keep_bytes);
    clear_buffer(&u->spans, keep_bytes);
    clear_buffer(&u->mask, keep_bytes);
    if (u->document_room * sizeof *u->documents > keep_bytes) {
        free(u->documents);
        u->documents = NULL;
        u->document_room = 0;
    }
    if (u->ready_room * sizeof *u->origins > keep_bytes) {
        free(u->origins);
        free(u->lengths);
        u->origins = NULL;
        u->lengths = NULL;
        u->ready_room = 0;
    }
    if (u->reject_room * sizeof *u->rejects > keep_bytes) {
        free(u->rejects);
        u->rejects = NULL;
        u->reject_room = 0;
    }
    kept = *u;
    memset(u, 0, sizeof *u);
    u->record = (struct spool)SPOOL_NONE;
    u->spooled = (struct spool)SPOOL_NONE;
    u->text = kept.text;
    u->strings = kept.strings;
    u->tokens = kept.tokens;
    u->spans = kept.spans;
    u->mask = kept.mask;
    u->documents = kept.documents;
    u->document_room = kept.document_room;
    u->origins = kept.origins;
    u->lengths = kept.lengths;
    u->ready_room = kept.ready_room;
    u->rejects = kept.rejects;
    u->reject_room = kept.reject_room;
    u->ends = kept.ends;
    u->end_room = kept.end_room;
}

uint64_t unit_bytes(const struct unit *u)
{
    return sizeof *u + u->text.room + u->strings.room + u->tokens.room + u->spans.room + u->mask.room +
           u->document_room * sizeof *u->documents + u->ready_room * (sizeof *u->origins + sizeof *u->lengths) +
           u->reject_room * sizeof *u->rejects;
}

/* Room for one item more in an array that doubles. */
static void *grow(void *items, size_t count, size_t *room, size_t item_bytes, struct leat_error *err)
{
    size_t more = *room > 0 ? 2 * *room : 64;
    void *bigger;

    if (count < *room)
        return items;
    bigger = reallocarray(items, more, item_bytes);
    if (!bigger) {
        status_no_memory(err, more * item_bytes);
        return NULL;
    }
    *room = more;
    return bigger;
}

struct unit_document *unit_add_document(struct unit *u, struct leat_error *err)
{
    struct unit_document *d = grow(u->documents, u->document_count, &u->document_room, sizeof *d, err);

    if (!d)
        return NULL;
    u->documents = d;
    d += u->document_count++;
    memset(d, 0, sizeof *d);
    return d;
}

struct unit_end *unit_add_end(struct unit *u, size_t input, uint64_t size, struct leat_error *err)
{
    struct unit_end *e = grow(u->ends, u->end_count, &u->end_room, sizeof *e, err);

    if (!e)
        return NULL;
    u->ends = e;
    e += u->end_count++;
    *e = (struct unit_end) { .input = input, .size = size };
    return e;
}

enum leat_status unit_keep_damage(struct unit *u, struct unit_damage *d, const char *why, const char *reason,
                                  struct leat_error *err)
{
    enum leat_status s = unit_keep(u, why, strlen(why), &d->why, err);

    return s == LEAT_OK ? unit_keep(u, reason, strlen(reason), &d->reason, err) : s;
}

/* Of a stream that could not be read to its end: all that its libraries say alike in all versions. */
static enum leat_status keep_stream_damage(struct unit *u, struct unit_damage *d, const struct byte_stream *stream,
                                           const struct leat_error *why, struct leat_error *err)
{
    const struct decompressor *form = byte_stream_decompressor(byte_stream_form(stream));
    uint64_t size = byte_stream_size(stream);
    char reason[80];

    d->unread = size == UINT64_MAX ? LEAT_NONE : size - d->offset;
    if (why->status == LEAT_E_TRUNCATED) {
        d->unread = 0;
        snprintf(reason, sizeof reason, "it ends in the middle of %s", form->member);
    } else {
        snprintf(reason, sizeof reason, "its %s data is broken", form->name);
    }
    return unit_keep_damage(u, d, why->message, reason, err);
}

enum leat_status unit_end_stream(struct unit *u, size_t input, const struct byte_stream *stream,
                                 const struct leat_error *damage, const char *reason, struct leat_error *err)
{
    struct unit_end *end = unit_add_end(u, input, byte_stream_raw_position(stream), err);
    uint8_t sum[16];

    if (!end)
        return LEAT_E_NO_MEMORY;
    byte_stream_hash(stream, sum);
    end->sum = checksum_load(sum);
    end->has_sum = true;
    if (!damage)
        return LEAT_OK;
    end->damage.offset = damage->offset;
    if (!reason)
        return keep_stream_damage(u, &end->damage, stream, damage, err);
    end->damage.unread = byte_stream_text_position(stream) - damage->offset;
    return unit_keep_damage(u, &end->damage, damage->message, reason, err);
}

enum leat_status unit_keep(struct unit *u, const void *bytes, size_t count, struct stretch *where,
                           struct leat_error *err)
{
    where->begin = u->strings.size;
    where->bytes = count;
    return buffer_append(&u->strings, bytes, count, err);
}

enum leat_status unit_keep_by(struct unit *u, const void *value, size_t value_bytes, const void *id, size_t bytes,
                              struct stretch *where, struct leat_error *err)
{
    enum leat_status s = buffer_reserve(&u->strings, value_bytes + 1 + bytes, err);

    if (s != LEAT_OK)
        return s;
    *where = (struct stretch) { u->strings.size, value_bytes + 1 + bytes };
    buffer_append(&u->strings, value, value_bytes, err);
    buffer_append(&u->strings, "", 1, err);
    return buffer_append(&u->strings, id, bytes, err);
}

enum leat_status unit_reject(struct unit *u, uint64_t input, uint64_t offset, uint64_t line, const char *reason,
                             const void *record, size_t bytes, struct leat_error *err)
{
    struct unit_reject *r = grow(u->rejects, u->reject_count, &u->reject_room, sizeof *r, err);
    enum leat_status s;

    if (!r)
        return LEAT_E_NO_MEMORY;
    u->rejects = r;
    r += u->reject_count;
    r->input = input;
    r->offset = offset;
    r->line = line;
    r->place = 0;
    r->lost = 0;
    s = unit_keep(u, reason, strlen(reason), &r->reason, err);
    if (s == LEAT_OK)
        s = unit_keep(u, record, bytes < UNIT_SAMPLE ? bytes : UNIT_SAMPLE, &r->sample, err);
    if (s == LEAT_OK)
        u->reject_count++;
    return s;
}

enum leat_status unit_reject_document(struct unit *u, const struct unit_document *d, const char *reason,
                                      const void *record, size_t bytes, struct leat_error *err)
{
    enum leat_status s = unit_reject(u, d->input, d->offset, d->line, reason, record, bytes, err);

    if (s == LEAT_OK)
        u->rejects[u->reject_count - 1].place = d->text.begin;
    return s;
}

static enum leat_status make_room(struct unit *u, size_t count, struct leat_error *err)
{
    struct leat_origin *origins;
    uint64_t *lengths;

    if (count <= u->ready_room)
        return LEAT_OK;
    origins = reallocarray(u->origins, count, sizeof *origins);
    if (origins)
        u->origins = origins;
    lengths = origins ? reallocarray(u->lengths, count, sizeof *lengths) : NULL;
    if (!lengths)
        return status_no_memory(err, count * (sizeof *origins + sizeof *lengths));
    u->lengths = lengths;
    u->ready_room = count;
    return LEAT_OK;
}

enum leat_status unit_make_ready(struct unit *u, bool ids_wide, struct leat_error *err)
{
    enum leat_status s = make_room(u, u->document_room, err);

    for (size_t i = 0; s == LEAT_OK && i < u->document_count; i++) {
        const struct unit_document *d = &u->documents[i];

        u->lengths[i] = d->tokens;
        u->origins[i] = (struct leat_origin) { .input = d->input,
                                               .offset = d->offset,
                                               .line = d->line,
                                               .id = unit_string(u, d->id),
                                               .id_bytes = d->id.bytes,
                                               .text_hash = d->hash };
        u->any_spooled |= d->spooled;
        u->malformed += d->malformed;
    }
    u->ready = (struct leat_documents) { .size = sizeof u->ready,
                                         .ids = u->tokens.bytes ? (const void *)u->tokens.bytes : "",
                                         .lengths = u->lengths,
                                         .origins = u->origins,
                                         .count = u->document_count,
                                         .id_width = ids_wide ? 4 : 2,
                                         .mask = u->mask.size > 0 ? u->mask.bytes : NULL };
    return s;
}

/* What has no bytes in the unit's text, as a null of a table, has the place of what follows it; its offset is
 * smaller. */
static int by_place(const void *a, const void *b)
{
    size_t x = ((const struct unit_reject *)a)->place, y = ((const struct unit_reject *)b)->place;
    uint64_t i = ((const struct unit_reject *)a)->offset, j = ((const struct unit_reject *)b)->offset;

    return x != y ? (x > y) - (x < y) : (i > j) - (i < j);
}

void unit_sort_rejects(struct unit *u)
{
    qsort(u->rejects, u->reject_count, sizeof *u->rejects, by_place);
}
