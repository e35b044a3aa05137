/*
 * pull.c: leat_pull(): a dataset from a server. What arrives lies in NAME.partial.leat and NAME.partial.tokens until
 * all of it is here and checked. Nothing else is kept of a pull that was stopped: hashes say which sections and pages
 * of these files are right, whoever wrote them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/options.h"
#include "base/own_file.h"
#include "base/status.h"
#include "mirror.h"

enum leat_status pull_advance(struct pull *p, uint64_t bytes, struct leat_error *err)
{
    p->done += bytes;
    if (p->options.progress &&
        p->options.progress(p->options.context, p->done, p->header.index_bytes + p->header.token_file_bytes))
        return mirror_stopped(err);
    return LEAT_OK;
}

bool pull_wants_stop(void *context)
{
    return pull_advance(context, 0, NULL) != LEAT_OK;
}

/* ---- What the server has ---------------------------------------------------------------------------------------- */

/* Reads the header again if it is wrong, until it is right or arrives twice alike: then the server's is wrong. */
static enum leat_status read_header(struct pull *p, struct leat_error *err)
{
    uint64_t count = p->index.size < sizeof p->page ? p->index.size : sizeof p->page;
    uint8_t before[sizeof p->page];
    enum leat_status s = LEAT_OK;

    for (unsigned tries = 0; tries < REMOTE_DAMAGED_TRIES; tries++) {
        enum leat_status got = remote_read(p->remote, &p->index_url, &p->index, 0, p->page, count, err);

        if (got != LEAT_OK || (tries > 0 && memcmp(before, p->page, count) == 0))
            return got != LEAT_OK ? got : s;
        s = format_parse(&p->header, p->page, count, p->index.size, p->tokens.size, p->index_url.name,
                         p->tokens_url.name, p->kernels, err);
        if (s == LEAT_OK)
            break;
        memcpy(before, p->page, count);
    }
    return s;
}

static enum leat_status look_at_server(struct pull *p, struct leat_error *err)
{
    enum leat_status s = remote_stat(p->remote, &p->index_url, &p->index, err);

    if (s == LEAT_OK)
        s = remote_stat(p->remote, &p->tokens_url, &p->tokens, err);
    if (s == LEAT_OK)
        s = read_header(p, err);
    if (s == LEAT_OK && (p->header.must_understand & FORMAT_ELSEWHERE))
        return status_set(err, LEAT_E_UNSUPPORTED,
                          "%s is an index for tokens in another tool's file; fetch both files by other means",
                          p->index_url.name);
    return s;
}

/* ---- The files -------------------------------------------------------------------------------------------------- */

/* Opens what an earlier pull left, or nothing, with the final size. */
static enum leat_status open_partial(int *fd, const char *path, uint64_t bytes, struct leat_error *err)
{
    struct leat_error why;
    enum leat_status s = file_create(fd, path, &why);

    if (s == LEAT_E_EXISTS)
        s = own_file_open(fd, NULL, path, OWN_FILE_WRITE, &why);
    if (s != LEAT_OK) {
        if (err)
            *err = why;
        return s;
    }
    return file_truncate(*fd, bytes, path, err);
}

/* Whether the name is free; a pull that was killed while it named its files goes back to before that. */
static enum leat_status check_free(struct pull *p, struct leat_error *err)
{
    struct writer_found found;
    enum leat_status s = writer_check_names(&p->names, err);

    if (s == LEAT_OK)
        s = writer_look(&p->names, &found, err);
    if (s != LEAT_OK)
        return s;
    if (found.checkpoint)
        return status_set(err, LEAT_E_EXISTS, "%s is an unfinished dataset that is written here; finish or remove it",
                          p->names.partial[FILE_CHECKPOINT]);
    if ((found.index || (found.tokens && !found.half_named)) && !p->options.force)
        return status_set_hint(err, LEAT_E_EXISTS, LEAT_HINT_REPLACE,
                               "%s already exists: choose another name or replace it",
                               found.index ? p->names.index : p->names.tokens);
    return found.half_named ? writer_unname_tokens(&p->names, &found, err) : LEAT_OK;
}

static enum leat_status open_files(struct pull *p, struct leat_error *err)
{
    enum leat_status s = check_free(p, err);

    if (s == LEAT_OK)
        s = open_partial(&p->index_fd, p->names.partial[FILE_INDEX], p->header.index_bytes, err);
    if (s == LEAT_OK)
        s = open_partial(&p->tokens_fd, p->names.partial[SPILL_TOKENS], p->header.token_file_bytes, err);
    return s;
}

/* Tokens first, index last, as a writer does. */
static enum leat_status name_files(struct pull *p, struct leat_error *err)
{
    const struct writer_names *n = &p->names;
    enum leat_status s = file_sync(p->tokens_fd, n->partial[SPILL_TOKENS], err);

    if (s == LEAT_OK)
        s = file_sync(p->index_fd, n->partial[FILE_INDEX], err);
    if (s == LEAT_OK)
        s = writer_check_lock(p->lock, n, err);
    if (s == LEAT_OK && p->options.force)
        s = file_remove(n->index, err);
    if (s == LEAT_OK)
        s = file_sync_folder(n->index, err);
    if (s == LEAT_OK)
        s = file_rename(n->partial[SPILL_TOKENS], n->tokens, p->options.force, err);
    if (s == LEAT_OK)
        s = file_sync_folder(n->tokens, err);
    if (s == LEAT_OK)
        s = file_rename(n->partial[FILE_INDEX], n->index, p->options.force, err);
    return s == LEAT_OK ? file_sync_folder(n->index, err) : s;
}

/* ---- The call --------------------------------------------------------------------------------------------------- */

static enum leat_status open_all(struct pull *p, const char *url, const char *name, struct leat_error *err)
{
    struct remote_options options = { .stop = pull_wants_stop, .context = p };
    enum leat_status s = url_dataset(url, &p->index_url, &p->tokens_url, err);

    if (s == LEAT_OK)
        s = writer_names_make(&p->names, name, err);
    return s == LEAT_OK ? remote_open(&p->remote, &options, err) : s;
}

static enum leat_status bring(struct pull *p, struct leat_error *err)
{
    enum leat_status s = look_at_server(p, err);

    if (s == LEAT_OK)
        s = writer_lock(&p->lock, &p->names, err);
    if (s != LEAT_OK)
        return s;
    s = open_files(p, err);
    if (s == LEAT_OK)
        s = pull_index(p, err);
    if (s == LEAT_OK)
        s = pull_tokens(p, err);
    if (s == LEAT_OK) /* headers and paddings were not counted */
        s = pull_advance(p, p->header.index_bytes + p->header.token_file_bytes - p->done, err);
    if (s == LEAT_OK)
        s = name_files(p, err);
    writer_unlock(&p->lock, &p->names);
    return s;
}

static void close_all(struct pull *p)
{
    file_close(&p->index_fd);
    file_close(&p->tokens_fd);
    remote_close(p->remote);
    url_free(&p->index_url);
    url_free(&p->tokens_url);
    writer_names_free(&p->names);
}

enum leat_status leat_pull(const char *url, const char *name, const struct leat_pull_options *options,
                           struct leat_pull_report *report, struct leat_error *err)
{
    struct pull p = { .options = LEAT_PULL_OPTIONS_INIT, .lock = -1, .index_fd = -1, .tokens_fd = -1 };
    struct remote_counts counts;
    enum leat_status s;

    if (!url || !name)
        return status_set(err, LEAT_E_ARGUMENT, "leat_pull: the URL or the name is NULL");
    s = options_read(&p.options, sizeof p.options, NULL, options, "leat_pull_options", err);
    if (s != LEAT_OK)
        return s;
    if (!p.options.connections)
        p.options.connections = MIRROR_CONNECTIONS;
    if (p.options.connections > MIRROR_MAX_CONNECTIONS)
        return status_set(err, LEAT_E_ARGUMENT, "at most %u connections", MIRROR_MAX_CONNECTIONS);
    p.kernels = checksum_kernels();
    s = open_all(&p, url, name, err);
    if (s == LEAT_OK)
        s = bring(&p, err);
    if (p.remote) {
        remote_count(p.remote, &counts);
        p.report.requests = counts.requests;
        p.report.retries = counts.retries;
    }
    p.report.bytes = p.header.index_bytes + p.header.token_file_bytes;
    p.report.tokens = p.header.tokens;
    p.report.documents = p.header.documents;
    if (report)
        options_fill(report, &p.report, sizeof p.report);
    close_all(&p);
    return s;
}
