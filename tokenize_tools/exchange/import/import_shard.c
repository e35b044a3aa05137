/* import_shard.c: see import_shard.h. */
#include "import_shard.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"

void import_shard_close(struct import_shard *s)
{
    import_bytes_close(&s->bytes);
    free(s->offsets);
    s->offsets = NULL;
    s->count = s->next = 0;
}

enum leat_status import_shard_open(struct import_shard *s, const struct import_file *file, struct leat_error *err)
{
    enum leat_status status;

    import_shard_close(s);
    s->base = 0;
    if (file->compressed)
        status = import_bytes_open_compressed(&s->bytes, file->path, file->plain, err);
    else
        status = import_bytes_open(&s->bytes, file->path, err);
    if (status == LEAT_OK && s->bytes.size != file->plain)
        return status_set_at(err, LEAT_E_TRUNCATED, s->bytes.size,
                             "%s has %llu bytes, and its index says %llu: it is cut, or another file; restore it from "
                             "its source",
                             file->path, (ull)s->bytes.size, (ull)file->plain);
    return status;
}

enum leat_status import_shard_offsets(struct import_shard *s, uint64_t count, uint64_t at, uint64_t first, uint64_t end,
                                      struct leat_error *err)
{
    uint64_t size = 4 * (count + 1), before = first;
    enum leat_status status = LEAT_OK;

    if (!bytes_inside(at, size, s->bytes.size))
        return status_set_at(err, LEAT_E_TRUNCATED, s->bytes.size,
                             "%s is cut or damaged: it has no room for the places of %llu samples; restore it from its "
                             "source",
                             s->bytes.path, (ull)count);
    s->offsets = malloc(size);
    if (!s->offsets)
        return status_no_memory(err, size);
    status = import_bytes_read(&s->bytes, at, s->offsets, size, err);
    for (uint64_t i = 0; status == LEAT_OK && i <= count; i++) {
        uint64_t offset = bytes_load32(s->offsets + 4 * i);

        if (offset < before || offset > end)
            return status_set_at(err, LEAT_E_DOCUMENTS, at + 4 * i,
                                 "%s: sample %llu begins at byte %llu, which cannot be; restore the file from its "
                                 "source",
                                 s->bytes.path, (ull)i, (ull)offset);
        before = offset;
    }
    if (status == LEAT_OK && before != end)
        return status_set_at(err, LEAT_E_TRUNCATED, before,
                             "%s: its samples end at byte %llu, not at its end, %llu: it is cut, or another file; "
                             "restore it from its source",
                             s->bytes.path, (ull)before, (ull)end);
    s->count = count;
    s->next = 0;
    return status;
}

enum leat_status import_shard_begin(struct import_shard *s, const struct import_file *file, struct leat_error *err)
{
    uint8_t number[4];
    uint64_t count;
    enum leat_status status = import_bytes_read(&s->bytes, 0, number, sizeof number, err);

    if (status != LEAT_OK)
        return status;
    count = bytes_load32(number);
    if (file->documents != LEAT_NONE && count != file->documents)
        return status_set_at(err, LEAT_E_MISMATCH, 0,
                             "%s has %llu samples, and its index says %llu: they come from different runs, or the file "
                             "is damaged",
                             file->path, (ull)count, (ull)file->documents);
    return import_shard_offsets(s, count, 4, 8 + 4 * count, s->bytes.size, err);
}

void import_shard_next(struct import_shard *s, uint64_t *at, uint64_t *count)
{
    uint64_t from = bytes_load32(s->offsets + 4 * s->next), to = bytes_load32(s->offsets + 4 * (s->next + 1));

    s->next++;
    *at = s->base + from;
    *count = to - from;
}

enum leat_status import_shard_wrong(const struct import_bytes *b, uint64_t at, const char *why, struct leat_error *err)
{
    return status_set_at(err, LEAT_E_RECORD, at,
                         "%s: the sample at byte %llu is damaged: %s; restore the file from its source", b->path,
                         (ull)at, why);
}

enum leat_status import_shard_column(struct import_bytes *b, const uint64_t *fixed, uint64_t columns, uint64_t column,
                                     uint64_t *at, uint64_t *count, struct leat_error *err)
{
    uint64_t sizes = 0, before = 0, all = 0, own = 0, sum;
    const uint8_t *head = NULL;
    enum leat_status s;

    for (uint64_t i = 0; i < columns; i++)
        sizes += fixed[i] == 0 ? 4 : 0;
    if (sizes > *count || sizes > IMPORT_WINDOW)
        return import_shard_wrong(b, *at, "it has no room for the sizes of its columns", err);
    s = import_bytes_view(b, *at, (size_t)sizes, &head, err);
    for (uint64_t i = 0; s == LEAT_OK && i < columns; i++) {
        uint64_t size = fixed[i];

        if (size == 0) {
            size = bytes_load32(head);
            head += 4;
        }
        before = i == column ? all : before;
        own = i == column ? size : own;
        if (!bytes_add(all, size, &sum) || sum > *count - sizes)
            return import_shard_wrong(b, *at, "its columns are longer than it is", err);
        all = sum;
    }
    if (s == LEAT_OK && all != *count - sizes) /* a wrong size or offset gives other bytes as ids */
        return import_shard_wrong(b, *at, "its columns are shorter than it is", err);
    *at += sizes + before;
    *count = own;
    return s;
}
