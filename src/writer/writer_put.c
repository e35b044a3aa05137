/*
 * writer_put.c: several documents at once, for programs with several threads. What must happen in the order of the
 * documents is addition: how many tokens, documents, bytes of ids and entries of the directory came before. With these
 * numbers known, each section's bytes have their place, and any thread can put them there at any time.
 */
#include "base/bytes.h"
#include "base/options.h"
#include "base/status.h"
#include "writer.h"

/* The numbers of a place that documents add to. */
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

static enum leat_status check(const struct leat_writer *w, const struct leat_documents *d, struct leat_error *err)
{
    if (w->document_open)
        return status_set(err, LEAT_E_STATE, "a document is open: end it before placing others");
    if ((d->id_width != 2 && d->id_width != 4) || (d->count > 0 && !d->lengths))
        return status_set(err, LEAT_E_ARGUMENT, "documents to place need their lengths, and ids of 2 or 4 bytes");
    if (d->mask && !w->store_mask)
        return status_set(err, LEAT_E_ARGUMENT, "a mask, but this dataset stores none");
    return LEAT_OK;
}

enum leat_status leat_writer_place(struct leat_writer *w, const struct leat_documents *given, struct leat_place *place,
                                   struct leat_error *err)
{
    struct leat_documents d = LEAT_DOCUMENTS_INIT;
    enum leat_status s = writer_ready(w, err);
    struct leat_error why;
    struct totals t;

    if (s == LEAT_OK)
        s = options_read(&d, sizeof d, &d.reserved, given, "leat_documents", err);
    if (s == LEAT_OK)
        s = check(w, &d, err);
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

/* Documents of one input that follow each other are counted together. */
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
        return status_set(err, LEAT_E_ARGUMENT, "a document names input %llu as its origin, but only %llu are declared",
                          (unsigned long long)input, (unsigned long long)inputs);
    return LEAT_OK;
}

static enum leat_status put_one(struct leat_writer *w, const struct leat_documents *d, uint64_t i, const uint8_t *ids,
                                const uint8_t *mask, struct writer_streams *to, struct run *r, struct leat_error *err)
{
    const struct leat_origin *o = d->origins ? &d->origins[i] : &writer_no_origin;
    uint64_t line = o->line == LEAT_NONE ? LEAT_NONE : o->line + d->first_line, start = to->start;
    enum leat_status s = writer_check_ids(w, ids, d->id_width, d->lengths[i], to->document, err);

    if (s == LEAT_OK && (o->input != r->input || i == 0))
        s = end_run(w, r, o->input, err);
    if (s == LEAT_OK)
        s = writer_put_token(w, to, w->begin_token, err);
    if (s == LEAT_OK)
        s = writer_put_ids(w, to, ids, d->id_width, d->lengths[i], err);
    if (s == LEAT_OK)
        s = writer_put_token(w, to, w->end_token, err);
    if (s == LEAT_OK)
        s = writer_put_mask(w, to, mask, d->lengths[i], err);
    if (s == LEAT_OK)
        s = writer_put_document(w, to, o, line, err);
    r->documents++;
    r->tokens += to->start - start;
    if (i > 0 && (o->input < o[-1].input || (o->input == o[-1].input && o->offset < o[-1].offset)))
        atomic_store(&w->ordered, false);
    return s;
}

static enum leat_status put(struct leat_writer *w, const struct leat_documents *d, const struct leat_place *place,
                            struct leat_error *err)
{
    struct run r = { .input = LEAT_NONE };
    struct writer_streams to;
    struct leat_error why;
    const uint8_t *ids = d->ids, *mask = d->mask;
    enum leat_status s = LEAT_OK, ended;

    begin_streams(w, place, &to);
    for (uint64_t i = 0; s == LEAT_OK && i < d->count; i++) {
        s = put_one(w, d, i, ids, mask, &to, &r, err);
        ids += d->lengths[i] * d->id_width;
        if (mask)
            mask += d->lengths[i];
    }
    ended = writer_end_streams(&to, &why);
    if (s != LEAT_OK)
        return s;
    if (ended != LEAT_OK && err)
        *err = why;
    return ended == LEAT_OK ? end_run(w, &r, LEAT_NONE, err) : ended;
}

enum leat_status leat_writer_put(struct leat_writer *w, const struct leat_documents *given,
                                 const struct leat_place *place, struct leat_error *err)
{
    struct leat_documents d = LEAT_DOCUMENTS_INIT;
    struct leat_error why;
    enum leat_status s = options_read(&d, sizeof d, &d.reserved, given, "leat_documents", &why);

    if (s == LEAT_OK)
        s = writer_ready(w, &why);
    if (s == LEAT_OK)
        s = put(w, &d, place, &why);
    writer_fail(w, s, &why, err);
    pthread_mutex_lock(&w->mutex);
    if (--w->places == 0)
        pthread_cond_broadcast(&w->quiet);
    pthread_mutex_unlock(&w->mutex);
    return s;
}
