/* unit.c: see unit.h. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/status.h"
#include "corpus/parquet/parquet.h"

struct unit *unit_new(void)
{
    struct unit *u = calloc(1, sizeof *u);

    if (u) {
        u->record = (struct spool)SPOOL_NONE;
        u->docs.spooled = (struct spool)SPOOL_NONE;
    }
    return u;
}

void unit_free_text(struct unit *u)
{
    spool_close(&u->record);
    buffer_free(&u->text);
    parquet_loan_release(u->rows.page);
    u->rows.page = NULL;
}

void unit_free(struct unit *u)
{
    unit_free_text(u);
    documents_free(&u->docs);
    free(u->out.origins);
    free(u->out.lengths);
    buffer_free(&u->out.values);
    free(u->ends);
    free(u);
}

void unit_clear(struct unit *u, size_t keep_bytes)
{
    struct unit kept;

    spool_close(&u->record);
    parquet_loan_release(u->rows.page);
    documents_clear(&u->docs, keep_bytes);
    u->text.size = 0;
    if (u->text.room > keep_bytes)
        buffer_free(&u->text);
    if (u->out.room * sizeof *u->out.origins > keep_bytes) {
        free(u->out.origins);
        free(u->out.lengths);
        u->out.origins = NULL;
        u->out.lengths = NULL;
        u->out.room = 0;
    }
    u->out.values.size = 0;
    if (u->out.values.room > keep_bytes)
        buffer_free(&u->out.values);
    kept = *u;
    *u = (struct unit) { .record = SPOOL_NONE,
                         .text = kept.text,
                         .docs = kept.docs,
                         .out = { .origins = kept.out.origins,
                                  .lengths = kept.out.lengths,
                                  .room = kept.out.room,
                                  .values = kept.out.values },
                         .ends = kept.ends,
                         .end_room = kept.end_room };
}

uint64_t unit_bytes(const struct unit *u)
{
    return sizeof *u + u->text.room + documents_bytes(&u->docs) + u->out.values.room +
           u->out.room * (sizeof *u->out.origins + sizeof *u->out.lengths);
}

struct unit_end *unit_add_end(struct unit *u, size_t input, uint64_t size, struct leat_error *err)
{
    if (GROW(u->ends, u->end_count + 1, u->end_room, err) != LEAT_OK)
        return NULL;
    u->ends[u->end_count] = (struct unit_end) { .input = input, .size = size };
    return &u->ends[u->end_count++];
}

enum leat_status unit_keep_damage(struct unit *u, struct unit_damage *d, const char *why, const char *reason,
                                  struct leat_error *err)
{
    enum leat_status s = documents_keep(&u->docs, why, strlen(why), &d->why, err);

    return s == LEAT_OK ? documents_keep(&u->docs, reason, strlen(reason), &d->reason, err) : s;
}

/* Keeps the damage of a stream that could not be read to its end. The reason for the dataset has only what the
 * stream's libraries say in all their versions. */
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

static enum leat_status make_room(struct unit *u, size_t count, struct leat_error *err)
{
    struct leat_origin *origins;
    uint64_t *lengths;

    if (count <= u->out.room)
        return LEAT_OK;
    origins = reallocarray(u->out.origins, count, sizeof *origins);
    if (origins)
        u->out.origins = origins;
    lengths = origins ? reallocarray(u->out.lengths, count, sizeof *lengths) : NULL;
    if (!lengths)
        return status_no_memory(err, count * (sizeof *origins + sizeof *lengths));
    u->out.lengths = lengths;
    u->out.room = count;
    return LEAT_OK;
}

enum leat_status unit_make_ready(struct unit *u, bool ids_wide, struct leat_error *err)
{
    enum leat_status s = make_room(u, u->docs.room, err);

    for (size_t i = 0; s == LEAT_OK && i < u->docs.count; i++) {
        const struct packer_document *d = &u->docs.items[i];

        u->out.lengths[i] = d->tokens;
        u->out.origins[i] = (struct leat_origin) { .input = d->input,
                                                   .offset = d->offset,
                                                   .line = d->line,
                                                   .id = documents_string(&u->docs, d->id),
                                                   .id_bytes = d->id.bytes,
                                                   .text_hash = d->hash };
        u->out.any_spooled |= d->spooled;
        u->docs.malformed += d->malformed;
        if (d->values.bytes > 0)
            s = buffer_append(&u->out.values, u->docs.values.bytes + d->values.begin, d->values.bytes, err);
    }
    u->out.ready = (struct leat_documents) { .size = sizeof u->out.ready,
                                             .ids = u->docs.tokens.bytes ? (const void *)u->docs.tokens.bytes : "",
                                             .lengths = u->out.lengths,
                                             .origins = u->out.origins,
                                             .count = u->docs.count,
                                             .id_width = ids_wide ? 4 : 2,
                                             .mask = u->docs.mask.size > 0 ? u->docs.mask.bytes : NULL };
    return s;
}
