/* verify_share.c: what the tasks of tokens and of sections share: notes of damage, and stretches of a file. */
#include "base/status.h"
#include "verify.h"

/* ---- Damage ---- */

/* Keeps damage of the lowest rank. The caller has the lock. */
static void keep_first(struct verify *v, enum leat_status status, const struct leat_error *why, uint64_t rank)
{
    if (v->status == LEAT_OK || rank < v->rank) {
        v->status = status;
        v->first = *why;
        v->rank = rank;
    }
}

void verify_note(struct verify *v, enum leat_status status, const struct leat_error *why, uint64_t rank)
{
    pthread_mutex_lock(&v->lock);
    keep_first(v, status, why, rank);
    v->report->damaged_others++;
    v->found.damaged_others++;
    if (!verify_is_damage(status, why)) /* the failure is no damage, such as that of a disk or of memory */
        v->stopped = true;
    pthread_mutex_unlock(&v->lock);
}

void verify_note_page(struct verify_worker *w, uint64_t page, const struct leat_error *why)
{
    struct verify *v = w->v;
    uint64_t document, documents;
    struct leat_error made;
    enum leat_status s = part_damaged_page(v->part, page, &document, &documents, &made);

    pthread_mutex_lock(&v->lock);
    v->found.damaged_pages++;
    v->report->damaged_pages++;
    keep_first(v, s, why ? why : &made, VERIFY_RANK_PAGES + page);
    if (v->found.page == LEAT_NONE || page < v->found.page) {
        v->found.page = page;
        v->found.first_document = document;
        v->found.documents = documents;
    }
    if (v->report->part == LEAT_NONE || (v->report->part == v->part_number && page < v->report->page)) {
        v->report->part = v->part_number;
        v->report->page = page;
        v->report->first_document = document == LEAT_NONE ? LEAT_NONE : v->part->first_document + document;
        v->report->documents = documents;
    }
    pthread_mutex_unlock(&v->lock);
}

/* ---- A stretch of a file, chunk by chunk ---- */

struct verify_stretch verify_open_stretch(const struct verify_worker *w, struct file_map *file, uint64_t offset,
                                          uint64_t bytes)
{
    struct verify_stretch s = { .file = file, .offset = offset };

    s.mapped = bytes > 0 && w->maps && file_window_open(&s.window, file, offset, bytes) == LEAT_OK;
    return s;
}

void verify_close_stretch(struct verify_stretch *s)
{
    if (s->mapped)
        file_window_close(&s->window, s->file);
}

enum leat_status verify_load_chunk(struct verify_worker *w, const struct verify_stretch *s, uint64_t at, uint64_t count)
{
    if (s->mapped) {
        w->bytes = s->window.bytes + at;
        return LEAT_OK;
    }
    w->bytes = w->buffer;
    return file_map_read(s->file, s->offset + at, w->buffer, count, &w->err);
}
