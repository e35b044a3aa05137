/* step_encode.c: turns the texts of a unit into ids in the stored width. */
#include <string.h>

#include "base/status.h"
#include "base/utf8.h"
#include "steps.h"

struct text_left {
    const char *text;
    size_t bytes;
};

static enum leat_status next_chunk(void *context, const uint8_t **bytes, size_t *count, struct leat_error *err)
{
    struct text_left *left = context;

    (void)err;
    *bytes = (const uint8_t *)left->text;
    *count = left->bytes < LONG_CHUNK ? left->bytes : LONG_CHUNK;
    left->text += *count;
    left->bytes -= *count;
    return LEAT_OK;
}

/* Encodes a text in chunks, since its ids may take many times its bytes. Ids and rejects are those of a text that
 * comes in chunks from the beginning; which of the two happens depends on the threads. */
static enum leat_status encode_chunks(struct pack_worker *w, struct unit *u, struct packer_document *d,
                                      const char *text, size_t bytes, struct leat_error *err)
{
    struct text_left left = { text, bytes };
    uint64_t malformed = d->malformed; /* kept, since checking a repaired text again finds 0 */
    bool rejected;
    enum leat_status s = long_text_encode(w, u, d, next_chunk, &left, &rejected, err);

    d->malformed = malformed;
    return s == LEAT_OK && rejected ? LEAT_E_TEXT : s;
}

/* Takes a document's ids. */
static enum leat_status put_document(struct pack_worker *w, struct unit *u, struct packer_document *d, const char *text,
                                     size_t bytes, const uint32_t *ids, uint64_t count, struct leat_error *err)
{
    uint64_t kept = count;
    enum leat_status s = step_limit(w->setup, u, &kept, err);

    if (s == LEAT_OK)
        s = step_put_mask(w, u, d, &(struct step_text) { .text = text, .bytes = bytes }, ids, count, err);
    if (s != LEAT_OK) {
        u->docs.counts[COUNT_TOO_LONG] -= kept < count; /* rejected rather than cut */
        return s;
    }
    if (w->setup->masks)
        u->docs.mask.size -= (size_t)(count - kept);
    d->tokens = kept;
    return step_put_ids(w->setup, &u->docs.tokens, ids, kept, err);
}

/* Encodes a text by this thread's encoder, or by the one that all threads share if this one has no room for it. */
static enum leat_status encode(struct pack_worker *w, struct unit *u, struct packer_document *d, const char *text,
                               size_t bytes, struct leat_error *err)
{
    struct leat_encoder *e = w->encoder;
    const uint32_t *ids;
    uint64_t count;
    enum leat_status s = leat_encoder_encode(e, text, bytes, &ids, &count, err);

    if (s == LEAT_E_PRETOKEN && !w->setup->masks)
        return encode_chunks(w, u, d, text, bytes, err);
    if (s == LEAT_E_PRETOKEN) {
        pthread_mutex_lock(&w->setup->long_lock);
        s = pack_setup_long_encoder(w->setup, &e, err);
        if (s == LEAT_OK)
            s = leat_encoder_encode(e, text, bytes, &ids, &count, err);
    }
    if (s == LEAT_OK)
        s = put_document(w, u, d, text, bytes, ids, count, err);
    if (s == LEAT_OK)
        u->docs.counts[COUNT_SPECIAL_STRINGS] += leat_encoder_special_strings(e);
    if (e != w->encoder)
        pthread_mutex_unlock(&w->setup->long_lock);
    return s;
}

static void note(struct unit *u, struct packer_document *d, const char *text, size_t bytes)
{
    u->docs.text_bytes += bytes;
    checksum_store(d->hash, checksum_kernels()->hash(text, bytes));
}

/* Turns a failure of encoding into a reject if only the text is to blame. Returns LEAT_OK then. */
static enum leat_status fail(struct unit *u, const struct packer_document *d, const char *text, size_t bytes,
                             enum leat_status s, const struct leat_error *why, struct leat_error *err)
{
    if (s == LEAT_E_TEXT || s == LEAT_E_PRETOKEN)
        return documents_reject(&u->docs, d, s == LEAT_E_PRETOKEN ? STEP_PRETOKEN_REASON : why->message, "", text,
                                bytes, err);
    *err = *why;
    return s;
}

enum leat_status step_encode_text(struct pack_worker *w, struct unit *u, struct packer_document *d, const char *text,
                                  size_t bytes, bool *rejected, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    struct leat_error why;

    *rejected = false;
    if (d->utf8 == TEXT_UTF8_UNKNOWN)
        s = step_check_text(w, u, d, &(struct step_text) { text, bytes, text, bytes }, rejected, err);
    if (s != LEAT_OK || *rejected)
        return s;
    if (d->utf8 == TEXT_UTF8_MALFORMED && !d->masked)
        s = step_repair(w, &text, &bytes, NULL, err);
    if (s != LEAT_OK)
        return s;
    if (d->utf8 == TEXT_UTF8_MALFORMED && d->masked)
        s = status_set(&why, LEAT_E_TEXT, "the text has a mask, and is not valid UTF-8: its places cannot be counted");
    else
        s = encode(w, u, d, text, bytes, &why);
    *rejected = s == LEAT_E_TEXT || s == LEAT_E_PRETOKEN;
    if (s != LEAT_OK)
        return fail(u, d, text, bytes, s, &why, err);
    if (!d->spooled)
        note(u, d, text, bytes);
    return LEAT_OK;
}

/* Returns true if a text is UTF-8, which nobody may have looked at yet. */
static bool is_valid(struct packer_document *d, const char *text)
{
    if (d->utf8 == TEXT_UTF8_UNKNOWN && utf8_valid_prefix((const uint8_t *)text, d->text.bytes) == d->text.bytes)
        d->utf8 = TEXT_UTF8_VALID;
    return d->utf8 == TEXT_UTF8_VALID;
}

/* The limits of encoding documents together: the number of documents, and the bytes from which on none is added. */
#define TOGETHER       256u
#define TOGETHER_BYTES ((size_t)64 << 10)

/* Encodes one or more documents from `first` on, and sets *done to their number; those that are not rejected move to
 * *kept. *done is 0 if the first has to go alone, since its text is malformed or cannot be encoded. */
static enum leat_status encode_together(struct pack_worker *w, struct unit *u, const char *text, size_t first,
                                        size_t *done, size_t *kept, struct leat_error *err)
{
    struct packer_document *d = u->docs.items + first;
    struct leat_text texts[TOGETHER];
    uint64_t counts[TOGETHER], encoded = 0, special_strings;
    size_t n = 0, bytes = 0;
    enum leat_status s = LEAT_OK;
    const uint32_t *ids;
    struct leat_error why;

    *done = 0;
    for (; n < TOGETHER && n < u->docs.count - first && bytes < TOGETHER_BYTES; bytes += d[n++].text.bytes) {
        if (d[n].encoded || !is_valid(&d[n], text + d[n].text.begin))
            break;
        texts[n] = (struct leat_text) { text + d[n].text.begin, d[n].text.bytes };
    }
    if (n == 0 || leat_encoder_encode_texts(w->encoder, texts, n, &encoded, &ids, counts, NULL) != LEAT_OK)
        return LEAT_OK;
    special_strings = leat_encoder_special_strings(w->encoder); /* in the texts of one call */
    for (; s == LEAT_OK && *done < encoded; ids += counts[(*done)++], d++) {
        const struct leat_text *t = &texts[*done];

        s = put_document(w, u, d, t->text, (size_t)t->bytes, ids, counts[*done], &why);
        if (s != LEAT_OK) {
            s = fail(u, d, t->text, (size_t)t->bytes, s, &why, err);
            continue;
        }
        note(u, d, t->text, (size_t)t->bytes);
        u->docs.counts[COUNT_SPECIAL_STRINGS] += special_strings;
        u->docs.items[(*kept)++] = *d;
    }
    return s;
}

enum leat_status step_encode(struct pack_worker *w, struct unit *u, const char *text, struct leat_error *err)
{
    size_t kept = 0, rejects = u->docs.reject_count, together;
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < u->docs.count; i++) {
        struct packer_document *d = &u->docs.items[i];
        bool rejected = false;

        s = encode_together(w, u, text, i, &together, &kept, err);
        if (together > 0) {
            i += together - 1;
            continue;
        }
        if (s == LEAT_OK && !d->encoded)
            s = step_encode_text(w, u, d, text + d->text.begin, d->text.bytes, &rejected, err);
        if (s == LEAT_OK && !rejected)
            u->docs.items[kept++] = *d;
    }
    u->docs.count = kept;
    if (u->docs.reject_count > rejects)
        documents_sort_rejects(&u->docs);
    return s;
}
