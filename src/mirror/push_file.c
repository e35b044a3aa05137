/*
 * push_file.c: one file as a thing in a bucket: in parts, several at once, or in one request if it is small. Parts that
 * an earlier, interrupted push has brought are read here, and not sent if their MD5 is that of the server's. What goes
 * out is checked before: tokens by the hashes of their pages.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/status.h"
#include "base/tiny.h"
#include "push.h"
#include "remote/upload.h"

#define LEAST_PART TINY_OR((uint64_t)8192, (uint64_t)16 << 20) /* servers take no less than 5 MiB, but for the last */

struct lane {
    struct transfer transfer;
    uint8_t *bytes;
    char *query;
    uint64_t part;
};

struct sending {
    struct push_file *file;
    struct upload upload;
    struct lane *lanes;
    uint32_t lane_count;
    uint64_t part_bytes, part_count, next;
    uint8_t (*md5)[MD5_BYTES];   /* of each part that was read */
    uint32_t *stored, *computed; /* hashes of the pages of a part */
    struct hash128 sum;          /* of the pages that were read */
};

/* Compares the pages of tokens that go out with their hashes. */
static enum leat_status check_pages(struct sending *s, const uint8_t *bytes, uint64_t first, uint64_t count,
                                    struct leat_error *err)
{
    struct push *p = s->file->push;
    uint64_t pages = bytes_divide_up(count, FORMAT_PAGE_BYTES), at = first / FORMAT_PAGE_BYTES;
    struct hash128 sum = { 0, 0 };
    enum leat_status status =
        file_read_at(p->index_fd, p->header.sections[FORMAT_PAGES].offset + at * sizeof *s->stored, s->stored,
                     pages * sizeof *s->stored, p->index_path, err);

    if (status != LEAT_OK)
        return status;
    p->kernels->pages(&sum, bytes, count, at, s->computed);
    for (uint64_t i = 0; i < pages; i++)
        if (bytes_le32(s->stored[i]) != s->computed[i])
            return status_set_at(err, LEAT_E_CHECKSUM, (at + i) * FORMAT_PAGE_BYTES,
                                 "%s: page %llu is damaged, so the dataset is not sent; restore it from its source",
                                 s->file->path, (unsigned long long)(at + i));
    checksum_add(&s->sum, sum);
    return LEAT_OK;
}

/* Compares the sum of all pages, each of which was read once. */
static enum leat_status check_sum(const struct sending *s, struct leat_error *err)
{
    if (!s->file->tokens || checksum_equal(s->sum, s->file->push->header.token_sum))
        return LEAT_OK;
    return status_set_at(err, LEAT_E_CHECKSUM, 0,
                         "%s is damaged: the sum of its page hashes does not match its index; restore both from their "
                         "source",
                         s->file->path);
}

static enum leat_status read_part(struct sending *s, struct lane *lane, uint64_t part, struct leat_error *err)
{
    uint64_t first = part * s->part_bytes;
    uint64_t count = s->file->bytes - first < s->part_bytes ? s->file->bytes - first : s->part_bytes;
    enum leat_status status = file_read_at(s->file->fd, first, lane->bytes, count, s->file->path, err);

    lane->part = part;
    lane->transfer.body_bytes = (size_t)count;

    if (status == LEAT_OK && s->file->tokens)
        status = check_pages(s, lane->bytes, first, count, err);
    if (status == LEAT_OK)
        md5_of(lane->bytes, (size_t)count, s->md5[part]);
    return status;
}

/* ---- What is there already -------------------------------------------------------------------------------------- */

/* Whether a thing on the server has exactly these bytes, all parts having been read: its etag is the MD5, or that of
 * the parts' MD5s. */
static bool has_our_etag(const struct sending *s, const struct remote_object *object)
{
    bool parts = s->part_count > 1;
    uint8_t of_parts[MD5_BYTES];
    char etag[MD5_ETAG];

    md5_of(s->md5, (size_t)s->part_count * MD5_BYTES, of_parts);
    md5_etag(parts ? of_parts : s->md5[0], parts ? s->part_count : 0, etag);
    return object->size == s->file->bytes && strcmp(object->etag, etag) == 0;
}

/* "Exists" may be the answer to a second try, after the first had made the thing and its answer was lost. */
static bool is_ours(const struct sending *s)
{
    struct remote_object object;

    return remote_stat(s->file->push->remote, s->file->url, &object, NULL) == LEAT_OK && has_our_etag(s, &object);
}

/* Looks for what a push has left that ended between the two files. What else is there is only replaced on request. */
static enum leat_status look(struct sending *s, bool *there, struct leat_error *err)
{
    struct push *p = s->file->push;
    struct remote_object object;
    struct leat_error why;
    enum leat_status status = remote_stat(p->remote, s->file->url, &object, &why);

    *there = false;
    if (status == LEAT_E_NO_FILE)
        return LEAT_OK;
    if (status != LEAT_OK && err)
        *err = why;
    if (object.size == s->file->bytes)
        for (uint64_t i = 0; i < s->part_count && status == LEAT_OK; i++) {
            status = push_advance(p, 0, err);
            if (status == LEAT_OK)
                status = read_part(s, &s->lanes[0], i, err);
        }
    if (status != LEAT_OK)
        return status;
    *there = has_our_etag(s, &object);
    if (*there)
        status = check_sum(s, err);
    s->sum = (struct hash128) { 0, 0 };
    if (status != LEAT_OK)
        return status;
    if (*there) {
        p->report.kept += s->file->bytes;
        return push_advance(p, s->file->bytes, err);
    }
    if (p->options.force)
        return LEAT_OK;
    return status_set_hint(err, LEAT_E_EXISTS, LEAT_HINT_REPLACE,
                           "%s already exists; choose another name or replace it", s->file->url->name);
}

/* ---- In one request --------------------------------------------------------------------------------------------- */

static enum leat_status send_whole(struct sending *s, struct leat_error *err)
{
    struct push *p = s->file->push;
    struct lane *lane = &s->lanes[0];
    struct transfer *t = &lane->transfer;
    enum leat_status status = read_part(s, lane, 0, err);

    if (status == LEAT_OK)
        status = check_sum(s, err);
    if (status != LEAT_OK)
        return status;
    t->only_new = !p->options.force;
    status = remote_run(p->remote, t, err);
    if (status == LEAT_E_EXISTS && is_ours(s))
        status = LEAT_OK;
    return status == LEAT_OK ? push_advance(p, s->file->bytes, err) : status;
}

/* ---- In parts --------------------------------------------------------------------------------------------------- */

/* Sends the next part that is not there. */
static enum leat_status begin_next(struct sending *s, struct lane *lane, struct leat_error *err)
{
    struct push *p = s->file->push;

    while (s->next < s->part_count) {
        const struct upload_part *part = &s->upload.parts[s->next];
        enum leat_status status = read_part(s, lane, s->next++, err);

        if (status != LEAT_OK)
            return status;
        if (!part->there || memcmp(part->md5, s->md5[lane->part], MD5_BYTES) != 0) {
            free(lane->query);
            status = upload_query(&s->upload, lane->part, &lane->query, err);
            lane->transfer.query = lane->query;
            return status == LEAT_OK ? remote_begin(p->remote, &lane->transfer, err) : status;
        }
        p->report.kept += lane->transfer.body_bytes;
        status = push_advance(p, lane->transfer.body_bytes, err);
        if (status != LEAT_OK)
            return status;
    }
    return LEAT_OK;
}

static enum leat_status take(struct sending *s, struct lane *lane, struct leat_error *err)
{
    struct transfer *t = &lane->transfer;
    enum leat_status status = t->status;

    if (status != LEAT_OK && err)
        *err = t->error;
    if (status == LEAT_OK)
        status = upload_note(&s->upload, lane->part, t->answer.etag, err);
    if (status == LEAT_OK)
        status = push_advance(s->file->push, t->body_bytes, err);
    return status == LEAT_OK ? begin_next(s, lane, err) : status;
}

static enum leat_status send_parts(struct sending *s, struct leat_error *err)
{
    struct remote *r = s->file->push->remote;
    enum leat_status status = LEAT_OK;
    struct transfer *done;

    for (uint32_t i = 0; i < s->lane_count && status == LEAT_OK; i++)
        status = begin_next(s, &s->lanes[i], err);
    while (status == LEAT_OK) {
        status = remote_wait(r, &done, err);
        if (status != LEAT_OK || !done)
            break;
        status = take(s, done->context, err);
    }
    if (status != LEAT_OK)
        remote_abandon(r);
    return status;
}

static enum leat_status complete(struct sending *s, struct leat_error *err)
{
    struct leat_error why;
    enum leat_status status = upload_complete(&s->upload, !s->file->push->options.force, &why);

    if ((status == LEAT_E_EXISTS || status == LEAT_E_STATE) && is_ours(s))
        return LEAT_OK;
    if (status == LEAT_E_EXISTS)
        (void)upload_discard(&s->upload, NULL); /* nothing comes of these parts */
    if (status != LEAT_OK && err)
        *err = why;
    return status;
}

static enum leat_status send_in_parts(struct sending *s, struct leat_error *err)
{
    enum leat_status status = upload_begin(&s->upload, s->file->push->remote, s->file->url, s->part_count, err);

    if (status == LEAT_OK)
        status = send_parts(s, err);
    if (status == LEAT_OK)
        status = check_sum(s, err);
    if (status == LEAT_OK)
        status = complete(s, err);
    upload_free(&s->upload);
    return status;
}

/* ---- The file --------------------------------------------------------------------------------------------------- */

static enum leat_status make_lanes(struct sending *s, uint32_t count, uint64_t room, struct leat_error *err)
{
    uint64_t pages = bytes_divide_up(room, FORMAT_PAGE_BYTES);

    s->lanes = calloc(count, sizeof *s->lanes);
    s->stored = calloc((size_t)pages + 1, sizeof *s->stored);
    s->computed = calloc((size_t)pages + 1, sizeof *s->computed);
    s->md5 = calloc((size_t)s->part_count, sizeof *s->md5);
    if (!s->lanes || !s->stored || !s->computed || !s->md5)
        return status_no_memory(err, pages * sizeof *s->stored);
    for (; s->lane_count < count; s->lane_count++) {
        struct lane *lane = &s->lanes[s->lane_count];

        lane->bytes = malloc((size_t)room + 1);
        if (!lane->bytes)
            return status_no_memory(err, room);
        lane->transfer =
            (struct transfer) { .method = TRANSFER_PUT, .url = s->file->url, .body = lane->bytes, .context = lane };
    }
    return LEAT_OK;
}

enum leat_status push_file(struct push_file *f, struct leat_error *err)
{
    struct sending s = { .file = f };
    uint64_t most = bytes_divide_up(f->bytes, UPLOAD_MAX_PARTS), room;
    uint32_t lanes = f->push->options.connections;
    enum leat_status status;
    bool there = false;

    s.part_bytes = bytes_divide_up(most, FORMAT_PAGE_BYTES) * FORMAT_PAGE_BYTES;
    if (s.part_bytes < LEAST_PART)
        s.part_bytes = LEAST_PART;
    s.part_count = f->bytes ? bytes_divide_up(f->bytes, s.part_bytes) : 1;
    room = f->bytes < s.part_bytes ? f->bytes : s.part_bytes;
    status = make_lanes(&s, s.part_count > 1 ? lanes : 1, room, err);
    if (status == LEAT_OK)
        status = look(&s, &there, err);
    if (status == LEAT_OK && !there)
        status = s.part_count > 1 ? send_in_parts(&s, err) : send_whole(&s, err);
    for (uint32_t i = 0; i < s.lane_count; i++) {
        transfer_free(&s.lanes[i].transfer);
        free(s.lanes[i].bytes);
        free(s.lanes[i].query);
    }
    free(s.lanes);
    free(s.stored);
    free(s.computed);
    free(s.md5);
    return status;
}
