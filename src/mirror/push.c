/*
 * push.c: leat_push(): a dataset to a bucket. The tokens go first, the index last, so that no index is there without
 * its tokens; to replace a dataset, its index is removed first.
 */
#include "push.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/options.h"
#include "base/own_file.h"
#include "base/path.h"
#include "base/status.h"

enum leat_status push_advance(struct push *p, uint64_t bytes, struct leat_error *err)
{
    p->done += bytes;
    if (p->options.progress &&
        p->options.progress(p->options.context, p->done, p->header.index_bytes + p->header.token_file_bytes))
        return mirror_stopped(err);
    return LEAT_OK;
}

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

/* There is no NAME.leat; says what is there. */
static enum leat_status say_not_own(const char *name, struct leat_error *err)
{
    struct leat_dataset *d;
    enum leat_status s = leat_dataset_open(&d, name, NULL, err);

    if (s != LEAT_OK)
        return s;
    leat_dataset_close(d);
    return status_set(err, LEAT_E_UNSUPPORTED,
                      "%s: only leat's own datasets can be pushed: `leat adopt -t` and `leat merge` make one of other "
                      "tools' files, `leat merge` one of a list",
                      name);
}

static enum leat_status open_local(struct push *p, const char *name, struct leat_error *err)
{
    uint8_t page[FORMAT_HEADER_BYTES];
    uint64_t index_bytes, token_bytes, count;
    enum leat_status s;

    if (own_file_is_url(name))
        return status_set(err, LEAT_E_UNSUPPORTED,
                          "%s is a URL: only what is on this machine can be pushed; copy it with `leat pull` first",
                          name);
    s = make_path(&p->index_path, name, ".leat", err);
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
        return status_set(err, LEAT_E_UNSUPPORTED,
                          "%s is an index for tokens in another tool's file, which cannot be pushed; copy both files "
                          "by other means",
                          p->index_path);
    if (s == LEAT_OK)
        s = file_open_read(&p->tokens_fd, &token_bytes, p->tokens_path, err);
    return s == LEAT_OK ? format_parse(&p->header, page, count, index_bytes, token_bytes, p->index_path, p->tokens_path,
                                       p->kernels, err)
                        : s;
}

/* Compares the index with its sums: a damaged one is not to be sent. The pages of tokens follow as they are read. */
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
            return status_set_at(err, LEAT_E_CHECKSUM, place->offset,
                                 "%s: its section from byte %llu on is damaged, so the dataset is not sent; restore it "
                                 "from its source",
                                 p->index_path, (unsigned long long)place->offset);
    }
    return s;
}

/* ---- What is there ---------------------------------------------------------------------------------------------- */

/* LEAT_E_EXISTS early, before hours of sending; what is made meanwhile is found when the thing is completed. Tokens
 * without an index are what an interrupted push left, and count if they are these. */
static enum leat_status check_free(struct push *p, struct leat_error *err)
{
    struct remote_object object;
    struct leat_error why;
    enum leat_status s = remote_stat(p->remote, &p->index_url, &object, &why);

    if (s == LEAT_OK)
        return status_set_hint(err, LEAT_E_EXISTS, LEAT_HINT_REPLACE,
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

/* After all is sent: both things have the sizes of their files. */
static enum leat_status check_there(struct push *p, const struct url *url, uint64_t bytes, struct leat_error *err)
{
    struct remote_object object;
    enum leat_status s = remote_stat(p->remote, url, &object, err);

    if (s == LEAT_OK && object.size != bytes)
        return status_set(err, LEAT_E_MISMATCH, "%s has %llu bytes there and %llu here: somebody else wrote it, too",
                          url->name, (unsigned long long)object.size, (unsigned long long)bytes);
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
    enum leat_status s = url_parse(&given, text, err);
    char *stem;

    if (s != LEAT_OK)
        return s;
    if (!url_in_bucket(&given) || !*given.key)
        s = status_set(err, LEAT_E_ARGUMENT, "%s: a dataset is pushed to s3://BUCKET/NAME or gs://BUCKET/NAME",
                       given.name);
    else if (given.key[strlen(given.key) - 1] == '/')
        s = status_set(err, LEAT_E_ARGUMENT, "%s is a folder; choose the name of a dataset in it", given.name);
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
        return status_set(err, LEAT_E_ARGUMENT, "at most %u connections", MIRROR_MAX_CONNECTIONS);
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
        return status_set(err, LEAT_E_ARGUMENT, "leat_push: the name or the URL is NULL");
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
