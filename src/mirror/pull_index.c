/*
 * pull_index.c: the index, section by section. Of a section that is here in part, the pieces that were never written
 * are asked for first; if its sum is still wrong, all of it, up to three times.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/status.h"
#include "mirror.h"

#define BLOCK ((uint64_t)4096) /* of a file; where blocks are larger, more is asked for again */

static enum leat_status is_right(struct pull *p, const struct format_place *place, bool *right, struct leat_error *err)
{
    struct mirror_file f = { p->index_fd, p->names.partial[FILE_INDEX], pull_wants_stop, p };

    return mirror_section_is_right(&f, place, right, err);
}

/* Whether something was written there; elsewhere is a hole. The first block there does not tell: it may have been
 * written for what stands before it. */
static bool has_data(const struct pull *p, uint64_t first, uint64_t count)
{
    uint64_t inside = bytes_divide_up(first, BLOCK) * BLOCK;
    off_t data = inside < first + count ? lseek(p->index_fd, (off_t)inside, SEEK_DATA) : -1;

    return data >= 0 && (uint64_t)data < first + count;
}

/* Brings the pieces of a section, those that are written also if `all`; *brought counts their bytes. */
static enum leat_status bring_pieces(struct pull *p, const struct format_place *place, bool all, uint64_t *brought,
                                     struct leat_error *err)
{
    uint64_t room = place->bytes < MIRROR_PIECE ? place->bytes : MIRROR_PIECE, end = place->offset + place->bytes;
    uint8_t *buffer = malloc(room ? room : 1);
    enum leat_status s = buffer ? LEAT_OK : status_no_memory(err, room);

    *brought = 0;
    for (uint64_t at = place->offset, next; at < end && s == LEAT_OK; at = next) {
        next = at - at % MIRROR_PIECE + MIRROR_PIECE < end ? at - at % MIRROR_PIECE + MIRROR_PIECE : end;
        if (!all && has_data(p, at, next - at))
            continue;
        s = remote_read(p->remote, &p->index_url, &p->index, at, buffer, next - at, err);
        if (s == LEAT_OK)
            s = file_write_at(p->index_fd, at, buffer, next - at, p->names.partial[FILE_INDEX], err);
        *brought += next - at;
        if (s == LEAT_OK && !all)
            s = pull_advance(p, next - at, err);
    }
    free(buffer);
    return s;
}

static enum leat_status bring_section(struct pull *p, const struct format_place *place, struct leat_error *err)
{
    static const uint8_t zeros[FORMAT_ALIGNMENT];
    uint64_t missing, brought;
    bool here;
    enum leat_status s = bring_pieces(p, place, false, &missing, err);

    brought = missing;
    if (s == LEAT_OK)
        s = is_right(p, place, &here, err);
    for (unsigned tries = missing == place->bytes; s == LEAT_OK && !here && tries < REMOTE_DAMAGED_TRIES; tries++) {
        s = bring_pieces(p, place, true, &brought, err);
        if (s == LEAT_OK)
            s = is_right(p, place, &here, err);
    }
    if (s == LEAT_OK && here) {
        p->report.kept += place->bytes - brought;
        s = file_write_at(p->index_fd, place->offset + place->bytes, zeros, mirror_padding(&p->header, place),
                          p->names.partial[FILE_INDEX], err);
        return s == LEAT_OK ? pull_advance(p, place->bytes - missing, err) : s;
    }
    if (s == LEAT_OK)
        return status_set_at(err, LEAT_E_CHECKSUM, place->offset,
                             "%s: what arrived from byte %llu on was damaged %u times; verify the dataset where it "
                             "was made, and copy it to the server again",
                             p->index_url.name, (unsigned long long)place->offset, REMOTE_DAMAGED_TRIES);
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
