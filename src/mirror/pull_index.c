/* pull_index.c: the index, section by section: those whose sum is right already are not asked for again. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/status.h"
#include "base/tiny.h"
#include "checksum/page_sum.h"
#include "mirror.h"

#define PIECE TINY_OR((uint64_t)8192, (uint64_t)64 << 20) /* of a section, in memory */

static enum leat_status is_here(const struct pull *p, const struct format_place *place, bool *here,
                                struct leat_error *err)
{
    struct page_sum sum;
    enum leat_status s;

    page_sum_begin(&sum, 0, (struct hash128) { 0, 0 });
    s = page_sum_add_file(&sum, p->index_fd, place->offset, place->bytes, p->names.partial[FILE_INDEX], err);
    *here = s == LEAT_OK && checksum_equal(page_sum_now(&sum), place->sum);
    return s;
}

static enum leat_status bring_bytes(struct pull *p, const struct format_place *place, struct leat_error *err)
{
    uint64_t room = place->bytes < PIECE ? place->bytes : PIECE;
    uint8_t *buffer = malloc(room ? room : 1);
    enum leat_status s = buffer ? LEAT_OK : status_no_memory(err, room);

    for (uint64_t at = 0, count; at < place->bytes && s == LEAT_OK; at += count) {
        count = place->bytes - at < PIECE ? place->bytes - at : PIECE;
        s = remote_read(p->remote, &p->index_url, &p->index, place->offset + at, buffer, count, err);
        if (s == LEAT_OK)
            s = file_write_at(p->index_fd, place->offset + at, buffer, count, p->names.partial[FILE_INDEX], err);
        if (s == LEAT_OK)
            s = pull_advance(p, count, err);
    }
    free(buffer);
    return s;
}

static enum leat_status bring_section(struct pull *p, const struct format_place *place, struct leat_error *err)
{
    bool here;
    enum leat_status s = is_here(p, place, &here, err);

    if (s == LEAT_OK && here) {
        p->report.kept += place->bytes;
        return pull_advance(p, place->bytes, err);
    }
    if (s == LEAT_OK)
        s = bring_bytes(p, place, err);
    if (s == LEAT_OK)
        s = is_here(p, place, &here, err);
    if (s == LEAT_OK && !here)
        return status_set_at(err, LEAT_E_CHECKSUM, place->offset,
                             "%s: what arrived from byte %llu on is damaged: start again, or verify it where it was "
                             "made",
                             p->index_url.name, (unsigned long long)place->offset);
    return s;
}

enum leat_status pull_index(struct pull *p, struct leat_error *err)
{
    const struct format_header *h = &p->header;
    enum leat_status s = file_write_at(p->index_fd, 0, p->page, sizeof p->page, p->names.partial[FILE_INDEX], err);

    for (unsigned i = 0; i < FORMAT_KINDS && s == LEAT_OK; i++)
        if (h->sections[i].present)
            s = bring_section(p, &h->sections[i], err);
    for (unsigned i = 0; i < h->other_count && s == LEAT_OK; i++)
        s = bring_section(p, &h->others[i], err);
    return s;
}
