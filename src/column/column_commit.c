/*
 * column_commit.c: makes a column of the parts that many processes have attached. They are opened as the column of a
 * list, and copied to the whole column, which appears in the way of any that is attached: at once, or not at all.
 */
#include <stdlib.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/status.h"
#include "base/tiny.h"
#include "column.h"
#include "private.h"

#define COPY_BYTES TINY_OR((size_t)4096, (size_t)1 << 20)

/* Opens all shares as one column. */
static enum leat_status open_shares(struct leat_column **out, const struct leat_dataset *d, const char *name,
                                    uint64_t parts, struct leat_error *err)
{
    enum leat_status s = column_list_begin(out, name, parts, err);

    for (uint64_t i = 0; s == LEAT_OK && i < parts; i++) {
        struct leat_column *share;

        s = column_open_share(&share, d, name, (struct column_share) { i, parts }, err);
        if (s == LEAT_OK)
            s = column_list_add(*out, share, err);
    }
    return s == LEAT_OK ? column_list_end(*out, err) : s;
}

static enum leat_status copy_texts(struct leat_column_writer *w, const struct leat_column *all, struct leat_error *err)
{
    const struct column_header *h = &all->header;
    uint64_t *ends = malloc((size_t)(h->texts + 1) * sizeof *ends);
    enum leat_status s;

    if (!ends)
        return status_no_memory(err, h->texts * sizeof *ends);
    for (uint64_t i = 0; i < h->texts; i++)
        ends[i] = bytes_load32(all->texts + 4 * i);
    s = leat_column_writer_texts(w, (const char *)all->texts + 4 * h->texts, ends, h->texts, err);
    free(ends);
    return s;
}

static enum leat_status copy_values(struct leat_column_writer *w, const struct leat_column *all, struct leat_error *err)
{
    const struct column_header *h = &all->header;
    uint32_t type = h->type == LEAT_COLUMN_CATEGORY ? (uint32_t)LEAT_COLUMN_U16 : h->type;
    uint64_t at_once = COPY_BYTES / h->entry_bytes;
    uint8_t *block = file_buffer(COPY_BYTES);
    enum leat_status s = block ? LEAT_OK : status_no_memory(err, COPY_BYTES);

    for (uint64_t at = 0, here; s == LEAT_OK && at < h->entries; at += here) {
        here = h->entries - at < at_once ? h->entries - at : at_once;
        s = leat_column_read(all, at, here, block, err);
        if (BYTES_BIG_ENDIAN)
            bytes_swap_each(block, here * h->width, column_type_bytes(type));
        if (s == LEAT_OK)
            s = leat_column_writer_add(w, block, here, type, err);
    }
    free(block);
    return s;
}

static enum leat_status make_whole(const struct leat_dataset *d, const struct leat_column *all, uint32_t force,
                                   struct leat_error *err)
{
    const struct leat_column_options o = {
        sizeof o, all->name, all->header.type, all->header.width, all->header.at, force, 0, 0
    };
    struct leat_column_writer *w;
    enum leat_status s = leat_column_writer_open(&w, d, &o, err);

    if (s == LEAT_OK)
        s = copy_values(w, all, err);
    if (s == LEAT_OK && o.type == LEAT_COLUMN_CATEGORY)
        s = copy_texts(w, all, err);
    if (s == LEAT_OK)
        s = leat_column_writer_finish(w, err);
    if (s != LEAT_OK)
        leat_column_writer_abandon(w);
    return s;
}

/* Removes the files of all shares; a file that stays is in nobody's way. */
static void remove_shares(const struct leat_dataset *d, const char *name, uint64_t parts)
{
    for (uint64_t i = 0; i < 2 * parts; i++) {
        char *path = column_share_path(d, dataset_part(d, 0), name, i % 2 ? COLUMN_VALUES : COLUMN_INDEX,
                                       (struct column_share) { i / 2, parts });

        if (path)
            file_remove(path, NULL);
        free(path);
    }
}

enum leat_status leat_column_commit(const struct leat_dataset *d, const char *name, uint64_t parts, uint32_t force,
                                    struct leat_error *err)
{
    struct leat_column_options o = LEAT_COLUMN_OPTIONS_INIT;
    struct leat_column *all = NULL;
    uint64_t first, count;
    enum leat_status s;

    o.name = name;
    o.type = LEAT_COLUMN_U8; /* any */
    o.force = force;
    s = leat_column_check(&o, NULL, err);
    if (s == LEAT_OK)
        s = column_check_single(d, name, err);
    if (s == LEAT_OK)
        s = leat_column_range(d, 0, parts, &first, &count, err); /* checks `parts` */
    if (s == LEAT_OK)
        s = open_shares(&all, d, name, parts, err);
    if (s == LEAT_OK)
        s = make_whole(d, all, force, err);
    leat_column_close(all);
    if (s == LEAT_OK)
        remove_shares(d, name, parts);
    return s;
}
