/*
 * engine_pread.c: reads rows with read calls, straight to their place, or, if pages must be verified, in whole pages
 * through a buffer. This is the last resort of all engines, because a read call says what is wrong.
 */
#include <fcntl.h>
#include <string.h>

#include "base/counter.h"
#include "base/file.h"
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

static enum leat_status read_bytes(struct gather_hand *h, struct gather_file *f, uint64_t offset, void *to,
                                   uint64_t count, struct leat_error *err)
{
    counter_bump(&h->read_bytes, count);
    return file_map_read_calls(f->map, f->offset + offset, to, count, err);
}

static enum leat_status read_pages(struct gather_hand *h, struct gather_file *f, struct gather_piece *p,
                                   struct leat_error *err)
{
    uint64_t end = gather_span_end(f, p);
    enum leat_status s = LEAT_OK;

    for (uint64_t at = gather_span_begin(p), to; s == LEAT_OK && at < end; at = to) {
        to = end - at < GATHER_SCRATCH ? end : at + GATHER_SCRATCH;
        s = read_bytes(h, f, at, h->scratch, to - at, err);
        if (s == LEAT_OK)
            s = gather_verify(h, f, at, to, h->scratch, err);
        if (s == LEAT_OK)
            gather_copy_out(h, p, at, to, h->scratch);
    }
    return s;
}

static enum leat_status read_row(struct gather_hand *h, struct gather_file *f, struct gather_piece *p,
                                 struct leat_error *err)
{
    counter_bump(&h->copied, p->bytes); /* by the kernel */
    return read_bytes(h, f, p->offset, p->to, p->bytes, err);
}

/*
 * In a control group with a limit, pages of files count, and those that were read last push out what the run needs. A
 * row is needed again in the next epoch at the soonest, and a file that would fit is warmed, so what was read of others
 * is dropped, as if it had been read past the page cache; not of what was in memory before, which others may need.
 */
static void drop(const struct gather_hand *h, const struct gather_behind *b)
{
    const struct gather_file *f = &h->gather->files[b->file];

#if defined(POSIX_FADV_DONTNEED)
    if (b->end > b->begin)
        (void)posix_fadvise(f->map->fd, (off_t)(f->offset + b->begin), (off_t)(b->end - b->begin), POSIX_FADV_DONTNEED);
#else
    (void)f;
#endif
}

/*
 * Each call lets the kernel first sort in the pages that were read since the last one, few at a time: a call after each
 * row took 3.8 us for two pages, and takes 1.9 us if many are made at once (bench/RESULTS.md). A call may fail: nothing
 * depends on it.
 */
static void drop_behind(struct gather_hand *h, const struct gather_file *f, const struct gather_piece *p)
{
    uint64_t begin = gather_span_begin(p), end = gather_span_end(f, p), most = h->gather->page_cache;
    struct gather_behind *b = &h->behind[h->behind_count > 0 ? h->behind_count - 1 : 0];

    if (h->behind_count > 0 && b->file == p->file && b->begin <= begin && begin <= b->end &&
        end - b->begin <= most / GATHER_KEPT) {
        h->behind_bytes += end > b->end ? end - b->end : 0;
        b->end = end > b->end ? end : b->end; /* rows that follow are dropped by one call */
        return;
    }
    if (h->behind_count == GATHER_BEHIND || (h->behind_count > GATHER_KEPT && h->behind_bytes + (end - begin) > most)) {
        uint32_t count = h->behind_count - GATHER_KEPT;

        for (uint32_t i = 0; i < count; i++)
            drop(h, &h->behind[i]);
        memmove(h->behind, h->behind + count, GATHER_KEPT * sizeof *h->behind);
        h->behind_count = GATHER_KEPT;
        h->behind_bytes = 0;
        for (uint32_t i = 0; i < GATHER_KEPT; i++)
            h->behind_bytes += h->behind[i].end - h->behind[i].begin;
    }
    h->behind[h->behind_count++] = (struct gather_behind) { p->file, begin, end };
    h->behind_bytes += end - begin;
}

static enum leat_status copy(struct gather_hand *h, struct gather_file *f, struct gather_piece *p,
                             struct leat_error *err)
{
    uint64_t begin = gather_span_begin(p), end = gather_span_end(f, p), hashed = counter_value(&h->pages_verified);
    enum leat_status s = gather_must_verify(f, begin, end) ? read_pages(h, f, p, err) : read_row(h, f, p, err);

    hashed = f->part->hashes.file ? counter_value(&h->pages_verified) - hashed : 0;
    /* if not all of it was hashed just now: then the missing bytes show */
    if (s == LEAT_OK && hashed * GATHER_PAGE < end - begin && gather_shrank(f))
        s = read_row(h, f, p, err);
    if (p->drop)
        drop_behind(h, f, p);
    return s == LEAT_OK ? s : name_documents(f, p, s, err);
}

const struct gather_engine engine_pread = { .copy = copy };
