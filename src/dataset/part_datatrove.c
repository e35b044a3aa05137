/*
 * part_datatrove.c: reads the datasets of datatrove, which nanotron reads, too. FILE.ds has the tokens, without a
 * header. FILE.ds.index has the end of each document, counted in tokens, as u64. The last document ends with the file,
 * which decides the bytes per token. FILE.ds.loss, if it exists, is the mask.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/status.h"
#include "part_foreign.h"

#define SCHEME "datatrove"

struct datatrove {
    struct file_map tokens, index, loss;
};

static enum leat_status takes(const char *name, bool *takes, struct leat_error *err)
{
    size_t length = strlen(name);
    uint8_t end[8];

    *takes = foreign_has_scheme(name, SCHEME);
    if (*takes || !file_ends_with(name, length, ".ds"))
        return LEAT_OK;
    return foreign_peek(name, length, ".index", end, sizeof end, takes, err);
}

/* Returns the width of a token, 2 or 4, whichever fits (2 for an empty file, where both do), or 0 if neither fits. */
static uint32_t width_of(uint64_t bytes, uint64_t tokens)
{
    for (uint32_t width = 2; width <= 4; width += 2)
        if (bytes % width == 0 && bytes / width == tokens)
            return width;
    return 0;
}

static enum leat_status open_loss(struct part *p, const struct foreign_options *o, enum leat_access access,
                                  struct leat_error *err)
{
    struct datatrove *d = p->own;
    bool there;
    enum leat_status s = foreign_peek(o->path, o->length, ".loss", NULL, 0, &there, err);

    return s == LEAT_OK && there ? foreign_open_mask(&d->loss, p, o->path, o->length, ".loss", access, err) : s;
}

static enum leat_status open_pair(struct part *p, enum leat_access access, struct leat_error *err)
{
    struct datatrove *d = p->own = calloc(1, sizeof *d);
    uint64_t documents, last = 0;
    struct foreign_options o;
    uint32_t width;
    enum leat_status s;

    if (!d)
        return status_no_memory(err, sizeof *d);
    d->tokens.fd = d->index.fd = d->loss.fd = -1;
    s = foreign_parse(&o, p, false, err);
    if (s == LEAT_OK && (o.end != LEAT_NONE || o.begin != LEAT_NONE))
        s = status_in_file(err,
                           status_argument(err, "name",
                                           "%.300s: end= and begin= find documents, which FILE.ds.index records",
                                           p->name),
                           p->name);
    if (s == LEAT_OK && o.mask)
        s = status_in_file(
            err,
            status_argument(err, "name", "%.300s: the mask of such a file is FILE.ds.loss, without mask=", p->name),
            p->name);
    if (s == LEAT_OK)
        s = foreign_open_file(&d->tokens, p->mounts, o.path, o.length, "", access, err);
    if (s == LEAT_OK)
        s = foreign_open_file(&d->index, p->mounts, o.path, o.length, ".index", access, err);
    documents = d->index.size / 8;
    if (s == LEAT_OK && d->index.size % 8 != 0)
        return status_set_at(err, LEAT_E_TRUNCATED, d->index.path, d->index.size,
                             "%s has %" PRIu64 " bytes, not a multiple of 8: it is cut; restore it from its source",
                             d->index.path, d->index.size);
    if (s == LEAT_OK && documents > 0)
        s = file_map_read(&d->index, 8 * (documents - 1), &last, 8, err);
    if (s != LEAT_OK)
        return s;
    last = bytes_le64(last);
    width = width_of(d->tokens.size, last);
    if (width == 0)
        return status_set_at(err, LEAT_E_TRUNCATED, d->tokens.path, d->tokens.size,
                             "%s has %" PRIu64 " bytes, but its documents end at token %" PRIu64
                             " by %s, which fits neither 2 nor 4 bytes per token; restore both from their source",
                             d->tokens.path, d->tokens.size, last, d->index.path);
    s = foreign_take(p, &d->tokens, 0, d->tokens.size, width, err);
    if (s == LEAT_OK)
        s = open_loss(p, &o, access, err);
    if (s != LEAT_OK)
        return s;
    p->documents = documents;
    p->lookup = p->ends = (struct part_extent) { &d->index, 0, d->index.size };
    return foreign_identify(p, err);
}

static void close_pair(struct part *p)
{
    struct datatrove *d = p->own;

    if (!d)
        return;
    file_map_close(&d->tokens);
    file_map_close(&d->index);
    file_map_close(&d->loss);
    free(d);
}

/* Reads the starts: document n starts where the one before it ends, and the first at 0. */
static enum leat_status starts(struct part *p, uint64_t first, uint64_t count, uint64_t *out, struct leat_error *err)
{
    struct datatrove *d = p->own;
    uint64_t skip = first == 0 && count > 0, before = 0;
    enum leat_status s = LEAT_OK;

    if (skip)
        out[0] = 0;
    if (count > skip)
        s = file_map_read(&d->index, 8 * (first + skip - 1), out + skip, 8 * (count - skip), err);
    for (uint64_t i = skip; s == LEAT_OK && i < count; i++) {
        out[i] = bytes_le64(out[i]);
        if (out[i] < before || out[i] > p->tokens)
            return status_set_at(
                err, LEAT_E_DOCUMENTS, d->index.path, 8 * (first + i - 1),
                "%s: document %" PRIu64 " ends at token %" PRIu64 ", %s; restore both files from their source",
                d->index.path, first + i - 1, out[i], out[i] < before ? "before it starts" : "beyond the last token");
        before = out[i];
    }
    return s;
}

const struct part_kind part_datatrove = {
    .name = SCHEME, .takes = takes, .open = open_pair, .close = close_pair, .starts = starts
};
