/*
 * writer_add.c: adds documents: one after another, whole or in chunks, at the ends of the spills, or several at once.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/options.h"
#include "base/status.h"
#include "writer.h"

/* ---- What a document leaves -------------------------------------------------------------------------------------- */

/* Puts a document into the files: its tokens, and an entry in each section. */

const struct leat_origin writer_no_origin = { .input = LEAT_NONE, .line = LEAT_NONE };

/* ---- Tokens ---- */

/* Checks that ids are below the vocabulary size. `document` is for the error. */
static enum leat_status writer_check_ids(const struct leat_writer *w, const void *ids, uint32_t width, uint64_t count,
                                         uint64_t document, struct leat_error *err)
{
    uint32_t max = 0, id;

    if (count == 0 || (width == 2 && w->vocabulary >= 65536))
        return LEAT_OK;
    /* the kernels read little-endian ids; other machines look at each id here */
    if (!BYTES_BIG_ENDIAN)
        max = width == 2 ? w->kernels->max16(ids, (size_t)count) : w->kernels->max32(ids, (size_t)count);
    if (!BYTES_BIG_ENDIAN && max < w->vocabulary)
        return LEAT_OK;
    for (uint64_t i = 0; i < count; i++) {
        id = width == 2 ? ((const uint16_t *)ids)[i] : ((const uint32_t *)ids)[i];
        if (id >= w->vocabulary)
            return status_set(err, LEAT_E_TOKEN,
                              "token id %u, token %" PRIu64 " of document %" PRIu64
                              ", is not below the vocabulary size %" PRIu64,
                              id, i, document, w->vocabulary);
    }
    return LEAT_OK;
}

/* Converts ids of `from_width` bytes, in this machine's order, to stored ones. */
static void store_ids(uint8_t *to, uint32_t to_width, const void *ids, uint32_t from_width, uint64_t at, size_t count)
{
    const uint16_t *narrow = ids;
    const uint32_t *wide = ids;

    for (size_t i = 0; i < count; i++) {
        uint32_t id = from_width == 2 ? narrow[at + i] : wide[at + i];

        if (to_width == 2) {
            uint16_t stored = bytes_le16((uint16_t)id);
            memcpy(to + 2 * i, &stored, 2);
        } else {
            bytes_store32(to + 4 * i, id);
        }
    }
}

#define STORED_AT_ONCE 1024u

/* Puts ids of `width` bytes, which are in this machine's order, in the stored width. */
static enum leat_status writer_put_ids(const struct leat_writer *w, struct writer_streams *to, const void *ids,
                                       uint32_t width, uint64_t count, struct leat_error *err)
{
    struct sink_stream *tokens = &to->of[SPILL_TOKENS];
    uint8_t stored[4 * STORED_AT_ONCE];
    enum leat_status s = LEAT_OK;

    if (width == w->width && !BYTES_BIG_ENDIAN)
        return sink_stream_put(tokens, ids, (size_t)(count * width), err);
    for (uint64_t at = 0, here; s == LEAT_OK && at < count; at += here) {
        here = count - at < STORED_AT_ONCE ? count - at : STORED_AT_ONCE;
        store_ids(stored, w->width, ids, width, at, (size_t)here);
        s = sink_stream_put(tokens, stored, (size_t)here * w->width, err);
    }
    return s;
}

/* Puts one token in the stored width, or nothing for LEAT_NONE. */
static enum leat_status writer_put_token(const struct leat_writer *w, struct writer_streams *to, uint64_t token,
                                         struct leat_error *err)
{
    uint32_t id = (uint32_t)token;

    return token == LEAT_NONE ? LEAT_OK : writer_put_ids(w, to, &id, 4, 1, err);
}

/* ---- The mask ---- */

static enum leat_status put_bytes(struct sink_stream *to, uint8_t byte, uint64_t count, struct leat_error *err)
{
    uint8_t bytes[STORED_AT_ONCE];
    enum leat_status s = LEAT_OK;

    memset(bytes, byte, sizeof bytes);
    for (uint64_t here; s == LEAT_OK && count > 0; count -= here) {
        here = count < sizeof bytes ? count : sizeof bytes;
        s = sink_stream_put(to, bytes, (size_t)here, err);
    }
    return s;
}

/* Puts this byte `count` times into the mask, if the dataset stores one. */
static enum leat_status writer_put_bytes(const struct leat_writer *w, struct writer_streams *to, uint8_t byte,
                                         uint64_t count, struct leat_error *err)
{
    return w->store_mask ? put_bytes(&to->of[SPILL_MASK], byte, count, err) : LEAT_OK;
}

/* Puts 255 as the mask of `count` ids, if the dataset stores a mask. */
static enum leat_status writer_put_unmasked(const struct leat_writer *w, struct writer_streams *to, uint64_t count,
                                            struct leat_error *err)
{
    return writer_put_bytes(w, to, UINT8_MAX, count, err);
}

/* Counts what training learns of a document. */
static void count_learned(struct leat_writer *w, uint64_t learned)
{
    atomic_fetch_add_explicit(&w->learned_tokens, learned, memory_order_relaxed);
    atomic_fetch_add_explicit(&w->unlearned_documents, learned == 0, memory_order_relaxed);
}

/* Returns how many tokens of a mask training learns. */
static uint64_t learned_of(const uint8_t *mask, uint64_t count)
{
    uint64_t learned = 0;

    for (uint64_t i = 0; i < count; i++)
        learned += mask[i] > 0;
    return learned;
}

/* Puts the mask of a document of `count` ids (NULL: 255), with its begin and end token, if the dataset stores a
 * mask. */
static enum leat_status writer_put_mask(struct leat_writer *w, struct writer_streams *to, const uint8_t *mask,
                                        uint64_t count, struct leat_error *err)
{
    struct sink_stream *stream = &to->of[SPILL_MASK];
    bool begin = w->begin_token != LEAT_NONE, end = w->end_token != LEAT_NONE;
    enum leat_status s;

    if (!w->store_mask)
        return LEAT_OK;
    if (!mask || count == 0) {
        count_learned(w, begin + count + end);
        return writer_put_unmasked(w, to, begin + count + end, err);
    }
    count_learned(w, (begin && mask[0]) + learned_of(mask, count) + (end && mask[count - 1]));
    s = put_bytes(stream, mask[0], begin, err);
    if (s == LEAT_OK)
        s = sink_stream_put(stream, mask, (size_t)count, err);
    return s == LEAT_OK ? put_bytes(stream, mask[count - 1], end, err) : s;
}

/* ---- Sections ---- */

/*
 * Returns how many entries the directory must have when a document starts at token `start`: in or after each 64 KiB up
 * to its start, this document is the first one, unless there is an entry already. One that starts exactly at a cell's
 * edge, after the last token so far, may be one entry too many; finish removes it.
 */
static uint64_t writer_cells_due(const struct leat_writer *w, uint64_t start)
{
    return start / (FORMAT_CELL_BYTES / w->width) + 1;
}

static enum leat_status put_origin(const struct leat_writer *w, struct writer_streams *to, const struct leat_origin *o,
                                   uint64_t line, struct leat_error *err)
{
    static const uint8_t none[FORMAT_HASH_BYTES];
    enum leat_status s = sink_stream_put_u64(&to->of[SPILL_ORIGINS], o->offset, err);

    if (s == LEAT_OK)
        s = sink_stream_put_u64(&to->of[SPILL_ORIGINS], o->input, err);
    if (s == LEAT_OK && w->store_lines)
        s = sink_stream_put_u64(&to->of[SPILL_LINES], line > 0 ? line : LEAT_NONE, err);
    if (s == LEAT_OK && w->store_ids && o->id)
        s = sink_stream_put(&to->of[SPILL_IDS], o->id, (size_t)o->id_bytes, err);
    if (s == LEAT_OK && w->store_ids)
        s = sink_stream_put_u64(&to->of[SPILL_ID_ENDS], to->of[SPILL_IDS].at, err);
    if (s == LEAT_OK && w->store_hashes)
        s = sink_stream_put(&to->of[SPILL_HASHES], o->text_hash ? o->text_hash : none, sizeof none, err);
    return s;
}

enum leat_status writer_put_document(const struct leat_writer *w, struct writer_streams *to,
                                     const struct leat_origin *o, uint64_t line, struct leat_error *err)
{
    struct sink_stream *directory = &to->of[SPILL_DIRECTORY];
    uint64_t due = writer_cells_due(w, to->start);
    enum leat_status s = sink_stream_put_u64(&to->of[SPILL_DOCUMENTS], to->start, err);

    while (s == LEAT_OK && directory->at / 8 < due)
        s = sink_stream_put_u64(directory, to->document, err);
    if (s == LEAT_OK)
        s = put_origin(w, to, o ? o : &writer_no_origin, line, err);
    to->document++;
    to->start = to->of[SPILL_TOKENS].at / w->width;
    return s;
}

enum leat_status writer_end_streams(struct writer_streams *t, struct leat_error *err)
{
    enum leat_status first = LEAT_OK, s;

    for (unsigned i = 0; i < SPILL_COUNT; i++) {
        s = sink_stream_end(&t->of[i], first == LEAT_OK ? err : NULL);
        if (first == LEAT_OK)
            first = s;
    }
    return first;
}

/* ---- What is known of all documents together ---- */

/* Notes whether origins still do not fall, for documents with these origins that follow. Must be called in the order
 * of the documents. */
static void writer_note_origins(struct leat_writer *w, const struct leat_origin *first, const struct leat_origin *last)
{
    if (first->input < w->last_input || (first->input == w->last_input && first->offset < w->last_offset))
        atomic_store(&w->ordered, false);
    w->last_input = last->input;
    w->last_offset = last->offset;
}

/* Adds to the counts of an input. */
static void writer_count_input(struct leat_writer *w, uint64_t input, uint64_t documents, uint64_t tokens)
{
    pthread_mutex_lock(&w->mutex);
    w->inputs[input].record.documents += documents;
    w->inputs[input].record.tokens += tokens;
    pthread_mutex_unlock(&w->mutex);
}

/* ---- One document after another ---------------------------------------------------------------------------------- */

static enum leat_status check_origin(const struct leat_writer *w, const struct leat_origin *o, uint64_t document,
                                     struct leat_error *err)
{
    if (o && o->input != LEAT_NONE && o->input >= w->input_count)
        return status_argument(err, "origins",
                               "document %" PRIu64 " names input %" PRIu64 " as its origin, but only %" PRIu64
                               " were declared",
                               document, o->input, w->input_count);
    return LEAT_OK;
}

static uint64_t written(const struct leat_writer *w)
{
    return w->end.of[SPILL_TOKENS].at / w->width;
}

static enum leat_status begin_document(struct leat_writer *w, struct leat_error *err)
{
    w->document_open = true;
    return writer_put_token(w, &w->end, w->begin_token, err);
}

static enum leat_status end_document(struct leat_writer *w, const struct leat_origin *o, uint64_t line,
                                     struct leat_error *err)
{
    uint64_t start = w->end.start;
    enum leat_status s = writer_put_token(w, &w->end, w->end_token, err);

    if (s == LEAT_OK)
        s = writer_put_document(w, &w->end, o, line, err);
    if (s == LEAT_OK)
        writer_note_origins(w, o ? o : &writer_no_origin, o ? o : &writer_no_origin);
    if (s == LEAT_OK && o && o->input != LEAT_NONE)
        writer_count_input(w, o->input, 1, w->end.start - start);
    w->document_open = false;
    return s;
}

/* Returns the origin of document `i`, or NULL if none is given. */
static const struct leat_origin *origin_of(const struct leat_documents *d, uint64_t i)
{
    return d->origins ? &d->origins[i] : NULL;
}

static uint64_t line_of(const struct leat_documents *d, const struct leat_origin *o)
{
    return !o || o->line == LEAT_NONE ? LEAT_NONE : o->line + d->first_line;
}

static enum leat_status check_documents(const struct leat_writer *w, const struct leat_documents *d,
                                        struct leat_error *err)
{
    if (w->document_open)
        return status_set(err, LEAT_E_STATE, "a document is open: end it before adding others");
    if (d->id_width != 2 && d->id_width != 4)
        return status_argument(err, "id_width", "ids have 2 or 4 bytes, not %u", d->id_width);
    if (d->count > 0 && !d->lengths)
        return status_argument(err, "lengths", "documents need their lengths");
    if (d->mask && !w->store_mask)
        return status_argument(err, "mask", "a mask, but this dataset stores none");
    return LEAT_OK;
}

/* Checks all documents, before anything is written. */
static enum leat_status check_each(const struct leat_writer *w, const struct leat_documents *d, struct leat_error *err)
{
    const uint8_t *ids = d->ids;
    enum leat_status s = LEAT_OK;

    for (uint64_t i = 0; s == LEAT_OK && i < d->count; i++) {
        s = check_origin(w, origin_of(d, i), w->end.document + i, err);
        if (s == LEAT_OK)
            s = writer_check_ids(w, ids, d->id_width, d->lengths[i], w->end.document + i, err);
        if (d->lengths[i] > 0) /* there may be no ids at all */
            ids += d->lengths[i] * d->id_width;
    }
    return s;
}

static enum leat_status add_each(struct leat_writer *w, const struct leat_documents *d, struct leat_error *err)
{
    const uint8_t *ids = d->ids, *mask = d->mask;
    enum leat_status s = LEAT_OK;

    for (uint64_t i = 0; s == LEAT_OK && i < d->count; i++) {
        uint64_t count = d->lengths[i];

        s = begin_document(w, err);
        if (s == LEAT_OK)
            s = writer_put_ids(w, &w->end, ids, d->id_width, count, err);
        if (s == LEAT_OK)
            s = writer_put_mask(w, &w->end, mask, count, err);
        if (s == LEAT_OK)
            s = end_document(w, origin_of(d, i), line_of(d, origin_of(d, i)), err);
        if (count > 0)
            ids += count * d->id_width;
        if (mask)
            mask += count;
    }
    return s;
}

static const struct options_reserved reserved[] = { OPTIONS_RESERVED(leat_documents, reserved), { 0, 0 } };

enum leat_status leat_writer_add(struct leat_writer *w, const struct leat_documents *documents, struct leat_error *err)
{
    struct leat_documents d = LEAT_DOCUMENTS_INIT;
    struct leat_error why;
    enum leat_status s = writer_ready(w, err);

    if (s == LEAT_OK)
        s = options_read(&d, sizeof d, reserved, documents, "leat_documents", err);
    if (s == LEAT_OK)
        s = check_documents(w, &d, err);
    if (s == LEAT_OK)
        s = check_each(w, &d, err);
    if (s != LEAT_OK)
        return s;
    s = add_each(w, &d, &why);
    return writer_fail(w, s, &why, err);
}

/* Begins a document that comes in chunks. The mask of its begin token is that of its first id. */
static enum leat_status begin_chunked(struct leat_writer *w, struct leat_error *err)
{
    w->mask_open = false;
    w->last_mask = UINT8_MAX;
    w->open_learned = 0;
    return begin_document(w, err);
}

static enum leat_status append_mask(struct leat_writer *w, const uint8_t *mask, uint64_t count, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    if (count == 0)
        return LEAT_OK;
    w->open_learned += mask ? learned_of(mask, count) : count;
    if (!w->mask_open) {
        w->open_learned += w->begin_token != LEAT_NONE && (!mask || mask[0]);
        s = writer_put_bytes(w, &w->end, mask ? mask[0] : UINT8_MAX, w->begin_token != LEAT_NONE, err);
    }
    w->mask_open = true;
    w->last_mask = mask ? mask[count - 1] : UINT8_MAX;
    if (s != LEAT_OK || !mask)
        return s == LEAT_OK ? writer_put_unmasked(w, &w->end, count, err) : s;
    return sink_stream_put(&w->end.of[SPILL_MASK], mask, (size_t)count, err);
}

enum leat_status leat_writer_append(struct leat_writer *w, const void *ids, uint32_t id_width, const uint8_t *mask,
                                    uint64_t count, struct leat_error *err)
{
    struct leat_error why;
    enum leat_status s = writer_ready(w, err);

    if (s != LEAT_OK)
        return s;
    if (id_width != 2 && id_width != 4)
        return status_argument(err, "id_width", "ids have 2 or 4 bytes, not %u", id_width);
    if (mask && !w->store_mask)
        return status_argument(err, "mask", "a mask, but this dataset stores none");
    s = writer_check_ids(w, ids, id_width, count, w->end.document, &why);
    if (s == LEAT_OK && !w->document_open)
        s = begin_chunked(w, &why);
    if (s == LEAT_OK)
        s = writer_put_ids(w, &w->end, ids, id_width, count, &why);
    if (s == LEAT_OK)
        s = append_mask(w, mask, count, &why);
    return writer_fail(w, s, &why, err);
}

enum leat_status leat_writer_end_document(struct leat_writer *w, const struct leat_origin *origin,
                                          struct leat_error *err)
{
    struct leat_error why;
    enum leat_status s = writer_ready(w, err);
    uint64_t around;

    if (s == LEAT_OK)
        s = check_origin(w, origin, w->end.document, err);
    if (s != LEAT_OK)
        return s;
    s = w->document_open ? LEAT_OK : begin_chunked(w, &why); /* the document has no token so far */
    around = (w->end_token != LEAT_NONE) + (!w->mask_open && w->begin_token != LEAT_NONE);
    count_learned(w, w->open_learned + (w->last_mask ? around : 0));
    if (s == LEAT_OK)
        s = writer_put_bytes(w, &w->end, w->last_mask, around, &why);
    if (s == LEAT_OK)
        s = end_document(w, origin, origin ? origin->line : LEAT_NONE, &why);
    return writer_fail(w, s, &why, err);
}

uint64_t leat_writer_tokens(const struct leat_writer *w)
{
    return written(w);
}

uint64_t leat_writer_direct_bytes(const struct leat_writer *w)
{
    return sink_direct_bytes(&w->spills[SPILL_TOKENS]);
}

bool leat_writer_learned(struct leat_writer *w, uint64_t *tokens, uint64_t *documents_without)
{
    pthread_mutex_lock(&w->mutex);
    while (w->places > 0)
        pthread_cond_wait(&w->quiet, &w->mutex);
    pthread_mutex_unlock(&w->mutex);
    *tokens = w->learned_tokens;
    *documents_without = w->unlearned_documents;
    return w->store_mask;
}

uint64_t leat_writer_documents(const struct leat_writer *w)
{
    return w->end.document;
}

/* ---- Several at once --------------------------------------------------------------------------------------------- */

/*
 * Puts several documents at once, for programs with several threads. Only additions must happen in the order of the
 * documents: how many tokens, documents, bytes of ids and entries of the directory came before. With these numbers
 * known, each section's bytes have their place, and any thread can put them there at any time.
 */

/* The sums that give documents their place. */
struct totals {
    uint64_t tokens, last_tokens, id_bytes;
};

static struct totals add_up(const struct leat_writer *w, const struct leat_documents *d)
{
    uint64_t more = (w->begin_token != LEAT_NONE) + (w->end_token != LEAT_NONE);
    struct totals t = { .tokens = d->count * more, .last_tokens = d->lengths[d->count - 1] + more };

    for (uint64_t i = 0; i < d->count; i++)
        t.tokens += d->lengths[i];
    for (uint64_t i = 0; w->store_ids && d->origins && i < d->count; i++)
        t.id_bytes += d->origins[i].id ? d->origins[i].id_bytes : 0;
    return t;
}

/* Moves the ends of all spills past the documents. */
static enum leat_status move_end(struct leat_writer *w, const struct totals *t, uint64_t documents,
                                 struct leat_error *err)
{
    struct writer_streams *end = &w->end;
    enum leat_status s = writer_end_streams(end, err);
    uint64_t last = end->start + t->tokens - t->last_tokens, due = writer_cells_due(w, last);

    end->document += documents;
    end->start += t->tokens;
    end->of[SPILL_TOKENS].at += w->width * t->tokens;
    end->of[SPILL_DOCUMENTS].at += 8 * documents;
    end->of[SPILL_ORIGINS].at += FORMAT_ORIGIN_BYTES * documents;
    if (end->of[SPILL_DIRECTORY].at < 8 * due)
        end->of[SPILL_DIRECTORY].at = 8 * due;
    if (w->store_lines)
        end->of[SPILL_LINES].at += 8 * documents;
    if (w->store_ids)
        end->of[SPILL_ID_ENDS].at += 8 * documents;
    if (w->store_ids)
        end->of[SPILL_IDS].at += t->id_bytes;
    if (w->store_hashes)
        end->of[SPILL_HASHES].at += FORMAT_HASH_BYTES * documents;
    if (w->store_mask)
        end->of[SPILL_MASK].at += t->tokens;
    return s;
}

enum leat_status leat_writer_place(struct leat_writer *w, const struct leat_documents *given, struct leat_place *place,
                                   struct leat_error *err)
{
    struct leat_documents d = LEAT_DOCUMENTS_INIT;
    enum leat_status s = writer_ready(w, err);
    struct leat_error why;
    struct totals t;

    if (s == LEAT_OK)
        s = options_read(&d, sizeof d, reserved, given, "leat_documents", err);
    if (s == LEAT_OK)
        s = check_documents(w, &d, err);
    if (s != LEAT_OK)
        return s;
    *place = (struct leat_place) { w->end.start, w->end.document, w->end.of[SPILL_IDS].at,
                                   w->end.of[SPILL_DIRECTORY].at / 8 };
    if (d.count > 0) {
        t = add_up(w, &d);
        s = move_end(w, &t, d.count, &why);
        writer_note_origins(w, d.origins ? &d.origins[0] : &writer_no_origin,
                            d.origins ? &d.origins[d.count - 1] : &writer_no_origin);
    }
    if (s != LEAT_OK)
        return writer_fail(w, s, &why, err);
    pthread_mutex_lock(&w->mutex);
    w->places++;
    pthread_mutex_unlock(&w->mutex);
    return LEAT_OK;
}

static void begin_streams(struct leat_writer *w, const struct leat_place *p, struct writer_streams *to)
{
    const uint64_t at[SPILL_COUNT] = {
        [SPILL_TOKENS] = w->width * p->token,
        [SPILL_DOCUMENTS] = 8 * p->document,
        [SPILL_DIRECTORY] = 8 * p->cell,
        [SPILL_ORIGINS] = FORMAT_ORIGIN_BYTES * p->document,
        [SPILL_LINES] = 8 * p->document,
        [SPILL_ID_ENDS] = 8 * p->document,
        [SPILL_IDS] = p->id_byte,
        [SPILL_HASHES] = FORMAT_HASH_BYTES * p->document,
        [SPILL_MASK] = p->token,
    };

    for (unsigned i = 0; i < SPILL_COUNT; i++)
        to->of[i] = sink_stream(&w->spills[i], at[i]);
    to->document = p->document;
    to->start = p->token;
}

/* A run of documents of one input, which are counted together. */
struct run {
    uint64_t input, documents, tokens;
};

static enum leat_status end_run(struct leat_writer *w, struct run *r, uint64_t input, struct leat_error *err)
{
    uint64_t inputs;

    if (r->documents > 0 && r->input != LEAT_NONE)
        writer_count_input(w, r->input, r->documents, r->tokens);
    *r = (struct run) { .input = input };
    pthread_mutex_lock(&w->mutex);
    inputs = w->input_count;
    pthread_mutex_unlock(&w->mutex);
    if (input != LEAT_NONE && input >= inputs)
        return status_argument(err, "documents",
                               "a document names input %" PRIu64 " as its origin, but only %" PRIu64 " are declared",
                               input, inputs);
    return LEAT_OK;
}

/* Documents on their way to the streams. */
struct putting {
    const struct leat_documents *documents;
    const uint8_t *ids, *mask; /* ids of the next document; `mask` may be NULL */
    struct writer_streams to;
    struct run run;
};

static enum leat_status put_one(struct leat_writer *w, struct putting *p, uint64_t i, struct leat_error *err)
{
    const struct leat_documents *d = p->documents;
    struct writer_streams *to = &p->to;
    struct run *r = &p->run;
    const struct leat_origin *o = d->origins ? &d->origins[i] : &writer_no_origin;
    uint64_t line = line_of(d, o), start = to->start;
    enum leat_status s = writer_check_ids(w, p->ids, d->id_width, d->lengths[i], to->document, err);

    if (s == LEAT_OK && (o->input != r->input || i == 0))
        s = end_run(w, r, o->input, err);
    if (s == LEAT_OK)
        s = writer_put_token(w, to, w->begin_token, err);
    if (s == LEAT_OK)
        s = writer_put_ids(w, to, p->ids, d->id_width, d->lengths[i], err);
    if (s == LEAT_OK)
        s = writer_put_token(w, to, w->end_token, err);
    if (s == LEAT_OK)
        s = writer_put_mask(w, to, p->mask, d->lengths[i], err);
    if (s == LEAT_OK)
        s = writer_put_document(w, to, o, line, err);
    r->documents++;
    r->tokens += to->start - start;
    if (d->lengths[i] > 0)
        p->ids += d->lengths[i] * d->id_width;
    if (p->mask)
        p->mask += d->lengths[i];
    if (i > 0 && (o->input < o[-1].input || (o->input == o[-1].input && o->offset < o[-1].offset)))
        atomic_store(&w->ordered, false);
    return s;
}

static enum leat_status put_documents(struct leat_writer *w, const struct leat_documents *d,
                                      const struct leat_place *place, struct leat_error *err)
{
    struct putting p = { .documents = d, .ids = d->ids, .mask = d->mask, .run = { .input = LEAT_NONE } };
    struct leat_error why;
    enum leat_status s = LEAT_OK, ended;

    begin_streams(w, place, &p.to);
    for (uint64_t i = 0; s == LEAT_OK && i < d->count; i++)
        s = put_one(w, &p, i, err);
    ended = writer_end_streams(&p.to, &why);
    if (s != LEAT_OK)
        return s;
    if (ended != LEAT_OK && err)
        *err = why;
    return ended == LEAT_OK ? end_run(w, &p.run, LEAT_NONE, err) : ended;
}

enum leat_status leat_writer_put(struct leat_writer *w, const struct leat_documents *given,
                                 const struct leat_place *place, struct leat_error *err)
{
    struct leat_documents d = LEAT_DOCUMENTS_INIT;
    struct leat_error why;
    enum leat_status s = options_read(&d, sizeof d, reserved, given, "leat_documents", &why);

    if (s == LEAT_OK)
        s = writer_ready(w, &why);
    if (s == LEAT_OK)
        s = put_documents(w, &d, place, &why);
    writer_fail(w, s, &why, err);
    pthread_mutex_lock(&w->mutex);
    if (--w->places == 0)
        pthread_cond_broadcast(&w->quiet);
    pthread_mutex_unlock(&w->mutex);
    return s;
}
