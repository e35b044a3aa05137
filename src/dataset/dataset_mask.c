/*
 * dataset_mask.c: the mask that an index may have beside the tokens. Whole pages are read, so that their hashes can be
 * checked, each time: they are few, as a page has 4096 tokens' bytes. Or that of another tool, which has none.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/status.h"
#include "dataset.h"
#include "part_index.h"

static enum leat_status read_page(struct part *p, uint64_t page, uint8_t bytes[FORMAT_PAGE_BYTES],
                                  struct leat_error *err)
{
    uint64_t begin = page * FORMAT_PAGE_BYTES, left = p->tokens - begin;
    size_t count = left < FORMAT_PAGE_BYTES ? (size_t)left : FORMAT_PAGE_BYTES;
    enum leat_status s = part_section(p, FORMAT_MASK, begin, bytes, count, err);
    struct hash128 sum = { 0, 0 };
    uint32_t stored, found;

    if (s == LEAT_OK)
        s = part_section(p, FORMAT_MASK_PAGES, 4 * page, &stored, sizeof stored, err);
    if (s != LEAT_OK)
        return s;
    p->kernels->pages(&sum, bytes, count, page, &found);
    if (found == bytes_le32(stored))
        return LEAT_OK;
    return status_set_at(err, LEAT_E_CHECKSUM, part_place(p, FORMAT_MASK)->offset + begin,
                         "%s: the mask of tokens %llu to %llu is damaged; %s", p->index->file.path,
                         (unsigned long long)begin, (unsigned long long)(begin + count - 1), part_remedy(p, false));
}

/* Truth values become 0 and 255. */
static enum leat_status read_foreign(struct part *p, uint64_t first, uint64_t count, uint8_t *out,
                                     struct leat_error *err)
{
    enum leat_status s = file_map_read(p->mask.file, p->mask.offset + first, out, count, err);

    for (uint64_t i = 0; s == LEAT_OK && i < count; i++) {
        if (out[i] > 1)
            return status_set_at(err, LEAT_E_TOKEN, p->mask.offset + first + i,
                                 "byte %llu of %s is %u, but a mask has 0 or 1 for each token; restore the file from "
                                 "its source, or write it again",
                                 (unsigned long long)(first + i), p->mask.file->path, out[i]);
        out[i] = out[i] ? UINT8_MAX : 0;
    }
    return s;
}

enum leat_status part_mask(struct part *p, uint64_t first, uint64_t count, uint8_t *out, struct leat_error *err)
{
    uint8_t bytes[FORMAT_PAGE_BYTES];
    enum leat_status s = LEAT_OK;

    if (p->mask.file)
        return read_foreign(p, first, count, out, err);
    if (!part_has(p, FORMAT_MASK)) {
        memset(out, UINT8_MAX, (size_t)count);
        return LEAT_OK;
    }
    for (uint64_t here; s == LEAT_OK && count > 0; first += here, out += here, count -= here) {
        uint64_t skip = first % FORMAT_PAGE_BYTES;

        here = count < FORMAT_PAGE_BYTES - skip ? count : FORMAT_PAGE_BYTES - skip;
        s = read_page(p, first / FORMAT_PAGE_BYTES, bytes, err);
        if (s == LEAT_OK)
            memcpy(out, bytes + skip, (size_t)here);
    }
    return s;
}

enum leat_status leat_dataset_mask(const struct leat_dataset *d, uint64_t first, uint64_t count, uint8_t *out,
                                   struct leat_error *err)
{
    enum leat_status s = dataset_check_range(first, count, d->tokens, "token", err);

    while (s == LEAT_OK && count > 0) {
        struct part *p = dataset_part_of_token(d, first);
        uint64_t at = first - p->first_token, left = p->tokens - at, here = count < left ? count : left;

        s = part_mask(p, at, here, out, err);
        out += here;
        first += here;
        count -= here;
    }
    return s;
}
