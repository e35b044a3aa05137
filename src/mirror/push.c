/* push.c: leat_push(), which copies a dataset to a bucket. The tokens go first, the index last, so that no index is
 * there without its tokens; to replace a dataset, its index is removed first. */

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/options.h"
#include "base/own_file.h"
#include "base/path.h"
#include "base/status.h"
#include "base/tiny.h"
#include "column/column_files.h"
#include "mirror.h"
#include "remote/upload.h"

/* A dataset on its way to a server, for the files of leat_push(). */

struct push {
    struct leat_push_options options;
    struct leat_push_report report;
    struct remote *remote;
    const struct checksum_kernels *kernels;
    struct format_header header;
    char *index_path, *tokens_path;
    int index_fd, tokens_fd;
    struct url index_url, tokens_url;
    uint64_t done; /* bytes of both files that are on the server */
};

/* One of the two files. */
struct push_file {
    struct push *push;
    int fd;
    const char *path;
    const struct url *url;
    uint64_t bytes;
    bool tokens; /* true: the pages are compared with their hashes before they are sent */
};

/* Counts bytes that are on the server now. Returns LEAT_E_STOPPED if the caller wants to stop. */
static enum leat_status push_advance(struct push *p, uint64_t bytes, struct leat_error *err)
{
    p->done += bytes;
    if (p->options.progress &&
        p->options.progress(p->options.context, p->done, p->header.index_bytes + p->header.token_file_bytes))
        return mirror_stopped(err);
    return LEAT_OK;
}

/* ---- One file ---------------------------------------------------------------------------------------------------- */

/*
 * Sends one file as an object in a bucket: in parts, several at once, or in one request if it is small. Parts that
 * an earlier, interrupted push has sent are read here, and not sent again if their MD5 is that of the server's.
 * Pages of tokens are checked by their hashes before they are sent.
 */

#define LEAST_PART                                                                                                     \
    TINY_OR((uint64_t)8192, (uint64_t)16 << 20) /* servers demand at least 5 MiB, except for the last
                                                                  part */

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
    uint8_t (*md5)[MD5_BYTES];   /* hash of each part that was read */
    uint32_t *stored, *computed; /* hashes of the pages of a part */
    struct hash128 sum;          /* sum of the pages that were read */
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
            return status_set_at(err, LEAT_E_CHECKSUM, s->file->path, (at + i) * FORMAT_PAGE_BYTES,
                                 "%s: page %" PRIu64
                                 " is damaged, so the dataset is not sent; restore it from its source",
                                 s->file->path, at + i);
    checksum_add(&s->sum, sum);
    return LEAT_OK;
}

/* Compares the sum of all pages, each of which was read once. */
static enum leat_status check_sum(const struct sending *s, struct leat_error *err)
{
    if (!s->file->tokens || checksum_equal(s->sum, s->file->push->header.token_sum))
        return LEAT_OK;
    return status_set_at(err, LEAT_E_CHECKSUM, s->file->path, 0,
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

/* Returns true if an object on the server has exactly these bytes, when all parts have been read: its etag is the
 * MD5, or that of the parts' MD5s. */
static bool has_our_etag(const struct sending *s, const struct remote_object *object)
{
    bool parts = s->part_count > 1;
    uint8_t of_parts[MD5_BYTES];
    char etag[MD5_ETAG];

    md5_of(s->md5, (size_t)s->part_count * MD5_BYTES, of_parts);
    md5_etag(parts ? of_parts : s->md5[0], parts ? s->part_count : 0, etag);
    return object->size == s->file->bytes && strcmp(*object->made_of ? object->made_of : object->etag, etag) == 0;
}

/* Returns true if the object that exists is this one. "Exists" may be the answer to a second try, after the first
 * had made the object and its answer was lost. */
static bool is_ours(const struct sending *s)
{
    struct remote_object object;

    return remote_stat(s->file->push->remote, s->file->url, &object, NULL) == LEAT_OK && has_our_etag(s, &object);
}

/* Looks for what a push that ended between the two files has left. Any other object is only replaced on request. */
static enum leat_status look_at_server(struct sending *s, bool *there, struct leat_error *err)
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
    return status_set_hint(err, LEAT_E_EXISTS, LEAT_HINT_REPLACE, s->file->url->name,
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

/* Sends the next part that is not on the server. */
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
            status = upload_query(&s->upload, lane->part, s->md5[lane->part], &lane->query, err);
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

static enum leat_status take_sent(struct sending *s, struct lane *lane, struct leat_error *err)
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
        status = take_sent(s, done->context, err);
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
        (void)upload_discard(&s->upload, NULL); /* these parts are of no use */
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

/* Sends a file; the object exists when all of it is there. */
static enum leat_status push_file(struct push_file *f, struct leat_error *err)
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
        status = look_at_server(&s, &there, err);
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

/* ---- leat_push() ------------------------------------------------------------------------------------------------- */

static bool wants_stop(void *context)
{
    return push_advance(context, 0, NULL) != LEAT_OK;
}

/* ---- What is here ----------------------------------------------------------------------------------------------- */

static enum leat_status make_path(char **path, const char *name, const char *suffix, struct leat_error *err)
{
    *path = path_append(name, file_dataset_length(name, strlen(name)), suffix, NULL);
    return *path ? LEAT_OK : status_no_memory(err, strlen(name));
}

/* Says what there is in place of NAME.leat, which is missing. */
static enum leat_status say_not_own(const char *name, struct leat_error *err)
{
    struct leat_dataset *d;
    enum leat_status s = leat_dataset_open(&d, name, NULL, err);

    if (s != LEAT_OK)
        return s;
    leat_dataset_close(d);
    return status_set_in(
        err, LEAT_E_UNSUPPORTED, name,
        "%s: only leat's own datasets can be pushed: `leat adopt -t` and `leat merge` make one of other "
        "tools' files, `leat merge` one of a list",
        name);
}

static enum leat_status refuse_columns(const char *name, struct leat_error *err)
{
    struct column_names found;
    char *path;
    enum leat_status s = make_path(&path, name, "", err);

    if (s != LEAT_OK)
        return s;
    s = column_names_find(&found, path, err);
    if (s == LEAT_OK)
        s = column_names_refuse(&found, path, "pushing", err);
    column_names_free(&found);
    free(path);
    return s;
}

static enum leat_status open_local(struct push *p, const char *name, struct leat_error *err)
{
    uint8_t page[FORMAT_HEADER_BYTES];
    uint64_t index_bytes, token_bytes, count;
    enum leat_status s;

    if (own_file_is_url(name))
        return status_set_in(err, LEAT_E_UNSUPPORTED, name,
                             "%s is a URL: only what is on this machine can be pushed; copy it with `leat pull` first",
                             name);
    s = make_path(&p->index_path, name, ".leat", err);
    if (s == LEAT_OK)
        s = refuse_columns(name, err);
    if (s == LEAT_OK)
        s = make_path(&p->tokens_path, name, ".tokens", err);
    if (s == LEAT_OK)
        s = file_open_read(&p->index_fd, &index_bytes, p->index_path, err);
    if (s == LEAT_E_NO_FILE)
        return say_not_own(name, err);
    if (s != LEAT_OK)
        return s;
    count = index_bytes < sizeof page ? index_bytes : sizeof page;
    s = file_read_at(p->index_fd, 0, page, count, p->index_path, err);
    if (s == LEAT_OK && count == sizeof page && format_peek_elsewhere(page, &token_bytes))
        return status_set_in(
            err, LEAT_E_UNSUPPORTED, p->index_path,
            "%s is an index for tokens in another tool's file, which cannot be pushed; copy both files "
            "by other means",
            p->index_path);
    if (s == LEAT_OK)
        s = file_open_read(&p->tokens_fd, &token_bytes, p->tokens_path, err);
    if (s != LEAT_OK)
        return s;
    return format_parse(&p->header,
                        &(struct format_found) { page, count, index_bytes, token_bytes, p->index_path, p->tokens_path },
                        p->kernels, err);
}

/* Compares the index with its sums, since a damaged one must not be sent. The pages of tokens follow as they are
 * read. */
static enum leat_status check_index(struct push *p, struct leat_error *err)
{
    const struct format_header *h = &p->header;
    struct mirror_file f = { p->index_fd, p->index_path, wants_stop, p };
    enum leat_status s = LEAT_OK;
    bool right = true;

    for (unsigned i = 0; i < FORMAT_KINDS + h->other_count && s == LEAT_OK; i++) {
        const struct format_place *place = i < FORMAT_KINDS ? &h->sections[i] : &h->others[i - FORMAT_KINDS];

        if (i >= FORMAT_KINDS || place->present)
            s = mirror_section_is_right(&f, place, &right, err);
        if (s == LEAT_OK && !right)
            return status_set_at(err, LEAT_E_CHECKSUM, p->index_path, place->offset,
                                 "%s: its section from byte %" PRIu64
                                 " on is damaged, so the dataset is not sent; restore it from its source",
                                 p->index_path, place->offset);
    }
    return s;
}

/* ---- What is there ---------------------------------------------------------------------------------------------- */

/* Returns LEAT_E_EXISTS if the dataset exists, before hours of sending. An object that another process makes during the
 * upload is found when the upload is completed. Tokens without an index were left by an interrupted push. They are used
 * if they are the tokens of this dataset. */
static enum leat_status check_free(struct push *p, struct leat_error *err)
{
    struct remote_object object;
    struct leat_error why;
    enum leat_status s = remote_stat(p->remote, &p->index_url, &object, &why);

    if (s == LEAT_OK)
        return status_set_hint(err, LEAT_E_EXISTS, LEAT_HINT_REPLACE, p->index_url.name,
                               "%s already exists; choose another name or replace it", p->index_url.name);
    if (s != LEAT_E_NO_FILE && err)
        *err = why;
    return s == LEAT_E_NO_FILE ? LEAT_OK : s;
}

static enum leat_status remove_index(struct push *p, struct leat_error *err)
{
    struct transfer t = { .method = TRANSFER_DELETE, .url = &p->index_url };
    enum leat_status s = remote_run(p->remote, &t, err);

    transfer_free(&t);
    return s == LEAT_E_NO_FILE ? LEAT_OK : s;
}

/* Checks, after all is sent, that both objects have the sizes of their files. */
static enum leat_status check_there(struct push *p, const struct url *url, uint64_t bytes, struct leat_error *err)
{
    struct remote_object object;
    enum leat_status s = remote_stat(p->remote, url, &object, err);

    if (s == LEAT_OK && object.size != bytes)
        return status_set_in(err, LEAT_E_MISMATCH, url->name,
                             "%s has %" PRIu64 " bytes there and %" PRIu64 " here: another program wrote it, too",
                             url->name, object.size, bytes);
    return s;
}

static enum leat_status send_both(struct push *p, struct leat_error *err)
{
    struct push_file tokens = { p, p->tokens_fd, p->tokens_path, &p->tokens_url, p->header.token_file_bytes, true };
    struct push_file index = { p, p->index_fd, p->index_path, &p->index_url, p->header.index_bytes, false };
    enum leat_status s = check_index(p, err);

    if (s == LEAT_OK)
        s = p->options.force ? remove_index(p, err) : check_free(p, err);
    if (s == LEAT_OK)
        s = push_file(&tokens, err);
    if (s == LEAT_OK)
        s = push_file(&index, err);
    if (s == LEAT_OK)
        s = check_there(p, &p->tokens_url, p->header.token_file_bytes, err);
    return s == LEAT_OK ? check_there(p, &p->index_url, p->header.index_bytes, err) : s;
}

/* ---- The call --------------------------------------------------------------------------------------------------- */

static enum leat_status parse_urls(struct push *p, const char *text, struct leat_error *err)
{
    struct url given, base;
    enum leat_status s = status_field(err, url_parse(&given, text, err), "url");
    char *stem;

    if (s != LEAT_OK)
        return s;
    if (!url_in_bucket(&given) || !*given.key)
        s = status_in_file(
            err,
            status_argument(err, "url",
                            "%s: a dataset is pushed to s3://BUCKET/NAME, gs://BUCKET/NAME or az://CONTAINER/NAME",
                            given.name),
            given.name);
    else if (given.key[strlen(given.key) - 1] == '/')
        s = status_in_file(
            err, status_argument(err, "url", "%s is a folder; choose the name of a dataset in it", given.name),
            given.name);
    url_free(&given);
    if (s != LEAT_OK)
        return s;
    s = make_path(&stem, text, "", err);
    if (s != LEAT_OK)
        return s;
    s = url_parse(&base, stem, err);
    free(stem);
    if (s != LEAT_OK)
        return s;
    s = url_beside(&p->index_url, &base, ".leat", err);
    if (s == LEAT_OK)
        s = url_beside(&p->tokens_url, &base, ".tokens", err);
    url_free(&base);
    return s;
}

static enum leat_status read_options(struct push *p, const struct leat_push_options *options, struct leat_error *err)
{
    enum leat_status s = options_read(&p->options, sizeof p->options, NULL, options, "leat_push_options", err);

    if (s != LEAT_OK)
        return s;
    if (!p->options.connections)
        p->options.connections = MIRROR_CONNECTIONS;
    if (p->options.connections > MIRROR_MAX_CONNECTIONS)
        return status_argument(err, "connections", "at most %u connections", MIRROR_MAX_CONNECTIONS);
    return LEAT_OK;
}

static void report_and_close(struct push *p, struct leat_push_report *report)
{
    struct remote_counts counts = { 0 };

    if (p->remote)
        remote_count(p->remote, &counts);
    p->report.requests = counts.requests;
    p->report.retries = counts.retries;
    p->report.bytes = p->header.index_bytes + p->header.token_file_bytes;
    p->report.tokens = p->header.tokens;
    p->report.documents = p->header.documents;
    if (report)
        options_fill(report, &p->report, sizeof p->report);
    remote_close(p->remote);
    file_close(&p->index_fd);
    file_close(&p->tokens_fd);
    url_free(&p->index_url);
    url_free(&p->tokens_url);
    free(p->index_path);
    free(p->tokens_path);
}

enum leat_status leat_push(const char *name, const char *url, const struct leat_push_options *options,
                           struct leat_push_report *report, struct leat_error *err)
{
    struct push p = {
        .options = LEAT_PUSH_OPTIONS_INIT, .kernels = checksum_kernels(), .index_fd = -1, .tokens_fd = -1
    };
    struct remote_options remote = { .stop = wants_stop, .context = &p };
    enum leat_status s;

    if (!name || !url)
        return status_argument(err, !url ? "url" : "name", "leat_push: the name or the URL is NULL");
    s = read_options(&p, options, err);
    if (s != LEAT_OK)
        return s;
    s = parse_urls(&p, url, err);
    if (s == LEAT_OK)
        s = open_local(&p, name, err);
    if (s == LEAT_OK)
        s = remote_open(&p.remote, &remote, err);
    if (s == LEAT_OK)
        s = send_both(&p, err);
    report_and_close(&p, report);
    return s;
}
