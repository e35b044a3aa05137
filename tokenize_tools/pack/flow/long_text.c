/*
 * long_text.c: encodes a text of any length, chunk by chunk: it is repaired, hashed and encoded on the way, and its
 * ids are kept in a file without a name. All threads share one encoder for that, which may take a good part of the
 * memory.
 */
#include <string.h>

#include "base/status.h"
#include "steps.h"
#include "text_hash.h"

struct long_text {
    struct pack_worker *w;
    struct unit *u;
    struct leat_encoder *encoder;
    struct text_hash hash;
    uint64_t bytes, tokens;
    uint64_t taken, malformed; /* bytes of the text before repair, and malformed parts in them */
    struct buffer chunk;       /* text to encode: the rest of the previous chunk, and this one */

    /* The status and error of an encoder that refused the text. The rest is still checked, since a text that is also
     * malformed is rejected for that, as it is if it is short enough to be checked whole before it is encoded. */
    enum leat_status refused;
    struct leat_error why;
};

static enum leat_status keep_ids(struct long_text *t, const uint32_t *ids, uint64_t count, struct leat_error *err)
{
    struct buffer *narrow = &t->w->narrow;
    enum leat_status s;

    narrow->size = 0;
    s = step_put_ids(t->w->setup, narrow, ids, count, err);
    t->tokens += count;
    return s == LEAT_OK && count > 0 ? spool_append(&t->u->docs.spooled, narrow->bytes, narrow->size, err) : s;
}

static bool is_refusal(enum leat_status s)
{
    return s == LEAT_E_TEXT || s == LEAT_E_PRETOKEN;
}

/* Keeps the beginning of the text, in case it is rejected. */
static void keep_sample(struct pack_worker *w, const char *text, size_t bytes)
{
    size_t left = REJECT_SAMPLE - w->refused_bytes, take = bytes < left ? bytes : left;

    if (take > 0)
        memcpy(w->refused + w->refused_bytes, text, take);
    w->refused_bytes += take;
}

static enum leat_status encode_chunk(struct long_text *t, const char *text, size_t bytes, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    text_hash_add(&t->hash, text, bytes);
    t->bytes += bytes;
    keep_sample(t->w, text, bytes);
    while (s == LEAT_OK && t->refused == LEAT_OK && bytes > 0) {
        const uint32_t *ids;
        uint64_t used, count;

        s = leat_encoder_part(t->encoder, text, bytes, &used, &ids, &count, err);
        if (s == LEAT_OK) {
            text += used;
            bytes -= (size_t)used;
            s = keep_ids(t, ids, count, err);
        } else if (is_refusal(s)) {
            t->refused = s;
            t->why = *err;
            s = LEAT_OK;
        }
    }
    return s;
}

/* Encodes what is complete of `chunk`; the rest stays there. */
static enum leat_status take_chunk(struct long_text *t, bool last, struct leat_error *err)
{
    struct step_chunk c = { .bytes = &t->chunk, .last = last, .before = t->bytes, .malformed = t->malformed };
    enum leat_status s = step_check_chunk(t->w, &c, err);

    t->malformed = c.malformed;
    if (s == LEAT_OK)
        s = encode_chunk(t, c.text, c.text_bytes, err);
    t->taken += c.taken;
    if (t->chunk.size > c.taken)
        memmove(t->chunk.bytes, t->chunk.bytes + c.taken, t->chunk.size - c.taken);
    t->chunk.size -= c.taken;
    return s;
}

static enum leat_status encode_end(struct long_text *t, struct leat_error *err)
{
    const uint32_t *ids;
    uint64_t count;
    enum leat_status s = leat_encoder_end(t->encoder, &ids, &count, err);

    return s == LEAT_OK ? keep_ids(t, ids, count, err) : s;
}

static enum leat_status encode_all(struct long_text *t, long_text_next *next, void *context, struct leat_error *err)
{
    enum leat_status s = leat_encoder_begin(t->encoder, err);
    size_t count = 1;

    while (s == LEAT_OK && count > 0) {
        const uint8_t *bytes;

        s = pack_setup_check_stop(t->w->setup, "a text", err);
        if (s == LEAT_OK)
            s = next(context, &bytes, &count, err);
        if (s == LEAT_OK)
            s = buffer_append(&t->chunk, bytes, count, err);
        if (s == LEAT_OK)
            s = take_chunk(t, count == 0, err);
    }
    if (s == LEAT_OK)
        s = step_check_share(t->w->setup, t->malformed, t->taken, err);
    if (s != LEAT_OK) {
        t->w->refused_bytes = 0; /* reset, since the encoder has not refused this text */
        return s;
    }
    if (t->refused == LEAT_OK)
        return encode_end(t, err);
    *err = t->why;
    return t->refused;
}

void long_text_sample(const struct pack_worker *w, char *sample, size_t *bytes)
{
    if (w->refused_bytes == 0)
        return;
    memcpy(sample, w->refused, w->refused_bytes);
    *bytes = w->refused_bytes;
}

enum leat_status long_text_encode(struct pack_worker *w, struct unit *u, struct packer_document *d,
                                  long_text_next *next, void *context, bool *rejected, struct leat_error *err)
{
    struct long_text t = { .w = w, .u = u };
    struct leat_error why;
    uint64_t kept, spooled = u->docs.spooled.fd >= 0 ? u->docs.spooled.bytes : 0; /* of documents before */
    enum leat_status s = text_hash_begin(&t.hash, err);

    *rejected = false;
    w->refused_bytes = 0;
    if (s == LEAT_OK && u->docs.spooled.fd < 0)
        s = spool_open(&u->docs.spooled, w->setup->output, err);
    if (s == LEAT_OK) {
        pthread_mutex_lock(&w->setup->long_lock);
        s = pack_setup_long_encoder(w->setup, &t.encoder, &why);
        if (s == LEAT_OK)
            s = encode_all(&t, next, context, &why);
        kept = t.tokens;
        if (s == LEAT_OK)
            s = step_limit(w->setup, u, &kept, &why);
        if (s == LEAT_OK)
            u->docs.counts[COUNT_SPECIAL_STRINGS] += leat_encoder_special_strings(t.encoder);
        pthread_mutex_unlock(&w->setup->long_lock);
        if (s != LEAT_OK && err)
            *err = why;
    }
    if (s == LEAT_OK) {
        text_hash_end(&t.hash, d->hash);
        d->tokens = kept;
        u->docs.spooled.bytes -= (t.tokens - kept) * (w->setup->ids_wide ? 4 : 2);
        d->malformed = t.malformed;
        d->spooled = true;
        u->docs.text_bytes += t.bytes;
    } else if (is_refusal(s)) {
        *rejected = true;
        if (s == LEAT_E_PRETOKEN)
            status_set(err, s, STEP_PRETOKEN_REASON);
    }
    if (s != LEAT_OK)
        u->docs.spooled.bytes = spooled;
    text_hash_free(&t.hash);
    buffer_free(&t.chunk);
    return *rejected ? LEAT_OK : s;
}
