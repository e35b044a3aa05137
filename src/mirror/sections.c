/* sections.c: whether sections of an index, in a file here, are what its header says of them. */
#include "base/bytes.h"
#include "base/file.h"
#include "base/status.h"
#include "checksum/page_sum.h"
#include "mirror.h"

enum leat_status mirror_stopped(struct leat_error *err)
{
    return status_set(err, LEAT_E_STOPPED, "stopped; the same command goes on from here");
}

enum leat_status mirror_section_is_right(const struct mirror_file *f, const struct format_place *place, bool *right,
                                         struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    struct page_sum sum;

    *right = false;
    page_sum_begin(&sum, 0, (struct hash128) { 0, 0 });
    for (uint64_t at = 0, count; at < place->bytes && s == LEAT_OK; at += count) {
        count = place->bytes - at < MIRROR_PIECE ? place->bytes - at : MIRROR_PIECE;
        s = f->stop(f->context) ? mirror_stopped(err)
                                : page_sum_add_file(&sum, f->fd, place->offset + at, count, f->path, err);
    }
    *right = s == LEAT_OK && checksum_equal(page_sum_now(&sum), place->sum);
    return s;
}

uint64_t mirror_padding(const struct format_header *h, const struct format_place *place)
{
    uint64_t end = place->offset + place->bytes, next = format_align(end);

    return (next < h->index_bytes ? next : h->index_bytes) - end;
}
