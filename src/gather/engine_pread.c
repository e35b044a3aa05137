/*
 * engine_pread.c: reads rows with read calls, straight to their place, or, if pages must be verified, in whole pages
 * through a buffer. This is the last resort of all engines, because a read call says what is wrong.
 */
#include "base/counter.h"
#include "base/status.h"
#include "gather_engine.h"

/* ---- Reads ------------------------------------------------------------------------------------------------------- */

/* Adds the documents concerned to the sentence of a failed read. */
static enum leat_status name_documents(struct gather_file *f, const struct gather_piece *p, enum leat_status s,
                                       struct leat_error *err)
{
    unsigned width = f->part->token_width;
    uint64_t first = p->offset / width, last = (p->offset + p->bytes - 1) / width, from, to;

    if (!err || s == LEAT_E_CHECKSUM || s == LEAT_E_TOKEN) /* that sentence names them already */
        return s;
    status_after(err, " (page %" PRIu64 "; a row of tokens %" PRIu64 " to %" PRIu64, p->offset / GATHER_PAGE, first,
                 last);
    if (part_document_at(f->part, first, &from, NULL) == LEAT_OK &&
        part_document_at(f->part, last, &to, NULL) == LEAT_OK)
        status_after(err, ", documents %" PRIu64 " to %" PRIu64, from, to);
    status_after(err, ")");
    return s;
}

static enum leat_status read_bytes(struct gather_worker *w, struct gather_file *f, uint64_t offset, void *to,
                                   uint64_t count, struct leat_error *err)
{
    counter_bump(&w->read_bytes, count);
    return file_map_read_calls(f->map, f->offset + offset, to, count, err);
}

static enum leat_status read_pages(struct gather_worker *w, struct gather_file *f, struct gather_piece *p,
                                   struct leat_error *err)
{
    uint64_t end = gather_span_end(f, p);
    enum leat_status s = LEAT_OK;

    for (uint64_t at = gather_span_begin(p), to; s == LEAT_OK && at < end; at = to) {
        to = end - at < GATHER_SCRATCH ? end : at + GATHER_SCRATCH;
        s = read_bytes(w, f, at, w->scratch, to - at, err);
        if (s == LEAT_OK)
            s = gather_verify(w, f, at, to, w->scratch, err);
        if (s == LEAT_OK)
            gather_copy_out(w, p, at, to, w->scratch);
    }
    return s;
}

static enum leat_status read_row(struct gather_worker *w, struct gather_file *f, struct gather_piece *p,
                                 struct leat_error *err)
{
    counter_bump(&w->copied, p->bytes); /* by the kernel */
    return read_bytes(w, f, p->offset, p->to, p->bytes, err);
}

static enum leat_status copy_by_reads(struct gather_worker *w, struct gather_file *f, struct gather_piece *p,
                                      struct leat_error *err)
{
    uint64_t begin = gather_span_begin(p), end = gather_span_end(f, p), hashed = counter_value(&w->pages_verified);
    enum leat_status s = gather_must_verify(f, begin, end) ? read_pages(w, f, p, err) : read_row(w, f, p, err);

    hashed = f->part->hashes.file ? counter_value(&w->pages_verified) - hashed : 0;
    /* if not all of it was hashed just now: then the missing bytes show */
    if (s == LEAT_OK && hashed * GATHER_PAGE < end - begin && gather_shrank(f))
        s = read_row(w, f, p, err);
    return s == LEAT_OK ? s : name_documents(f, p, s, err);
}

const struct gather_engine engine_pread = { .copy = copy_by_reads };
