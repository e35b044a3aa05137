/* reject_file.c: see reject_file.h. */
#include "reject_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/json.h"
#include "base/own_file.h"
#include "base/path.h"
#include "base/status.h"

#define WAITING_BYTES ((size_t)256 << 10)

enum leat_status reject_file_init(struct reject_file *f, const char *name, struct leat_error *err)
{
    *f = (struct reject_file) { .fd = -1 };
    f->path = path_append(name, strlen(name), ".rejects.jsonl", NULL);
    f->partial = path_append(name, strlen(name), ".partial.rejects", NULL);
    if (f->path && f->partial)
        return LEAT_OK;
    reject_file_free(f);
    return status_no_memory(err, strlen(name));
}

void reject_file_free(struct reject_file *f)
{
    file_close(&f->fd);
    free(f->path);
    free(f->partial);
    buffer_free(&f->waiting);
    *f = (struct reject_file) { .fd = -1 };
}

enum leat_status reject_file_begin(struct reject_file *f, struct leat_error *err)
{
    enum leat_status s = own_file_check_name(f->path, err);

    if (s == LEAT_OK)
        s = file_remove(f->partial, err);
    f->bytes = 0;
    page_sum_begin(&f->sum, 0, (struct hash128) { 0, 0 });
    return s == LEAT_OK ? file_create(&f->fd, f->partial, err) : s;
}

/* Opens the file of a killed run, and reads it back. */
static enum leat_status reopen(struct reject_file *f, const char *path, uint64_t bytes, struct hash128 sum,
                               struct leat_error *err)
{
    uint64_t size;
    enum leat_status s = own_file_open(&f->fd, &size, path, OWN_FILE_WRITE, err);

    page_sum_begin(&f->sum, 0, (struct hash128) { 0, 0 });
    if (s == LEAT_OK && size < bytes)
        s = status_set_in(err, LEAT_E_CHECKPOINT, path, "%s is shorter than the killed run left it", path);
    if (s == LEAT_OK)
        s = page_sum_add_file(&f->sum, f->fd, 0, bytes, path, err);
    if (s == LEAT_OK && !checksum_equal(page_sum_now(&f->sum), sum))
        s = status_set_hint(err, LEAT_E_CHECKPOINT, LEAT_HINT_REPLACE, path,
                            "%s is damaged: it is not what it was at the checkpoint, so the run cannot be resumed; "
                            "start over",
                            path);
    return s;
}

enum leat_status reject_file_resume(struct reject_file *f, uint64_t bytes, struct hash128 sum, struct leat_error *err)
{
    struct file_identity partial, published;
    enum leat_status s = file_identify(f->partial, &partial, err);

    if (s == LEAT_OK)
        s = file_identify(f->path, &published, err);
    if (s == LEAT_OK && !partial.exists && bytes == 0)
        return reject_file_begin(f, err);
    if (s == LEAT_OK)
        s = own_file_check_name(f->path, err);
    if (s == LEAT_OK && file_same(partial, published)) /* the run was killed while the file had both names */
        s = file_remove(f->path, err);
    if (s == LEAT_OK)
        s = reopen(f, partial.exists ? f->partial : f->path, bytes, sum, err);
    /* If the run was stopped for too many rejects, it left the file under its final name. */
    if (s == LEAT_OK && !partial.exists)
        s = file_rename(f->path, f->partial, false, err);
    if (s == LEAT_OK)
        s = file_cut_back(f->fd, bytes, f->partial, err);
    f->bytes = bytes;
    return s;
}

/* ---- Lines ---- */

static enum leat_status write_waiting(struct reject_file *f, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    if (f->waiting.size > 0)
        s = file_write_at(f->fd, f->bytes, f->waiting.bytes, f->waiting.size, f->partial, err);
    if (s == LEAT_OK) {
        page_sum_add(&f->sum, f->waiting.bytes, f->waiting.size);
        f->bytes += f->waiting.size;
        f->waiting.size = 0;
    }
    return s;
}

enum leat_status reject_file_add(struct reject_file *f, const struct reject_line *line, struct leat_error *err)
{
    struct json j;

    json_begin_in(&j, &f->waiting, err);
    json_open_object(&j, NULL);
    json_string(&j, "input", line->input);
    json_u64(&j, "offset", line->offset);
    json_u64_or_null(&j, "line", line->line);
    json_bytes(&j, "reason", line->reason, line->reason_bytes);
    json_bytes(&j, "record", line->sample, line->sample_bytes);
    json_close_object(&j);
    json_end(&j);
    return j.status == LEAT_OK && f->waiting.size >= WAITING_BYTES ? write_waiting(f, err) : j.status;
}

enum leat_status reject_file_sync(struct reject_file *f, struct leat_error *err)
{
    enum leat_status s = write_waiting(f, err);

    if (s != LEAT_OK || f->bytes == 0)
        return s;
    s = file_sync(f->fd, f->partial, err);
    if (s == LEAT_OK && !f->named) /* its folder is synced here, since the checkpoint may lie in another one */
        s = file_sync_folder(f->partial, err);
    f->named = f->named || s == LEAT_OK;
    return s;
}

enum leat_status reject_file_publish(struct reject_file *f, struct leat_error *err)
{
    enum leat_status s = reject_file_sync(f, err);

    if (s != LEAT_OK || f->bytes == 0)
        return s;
    s = file_rename(f->partial, f->path, true, err);
    return s == LEAT_OK ? file_sync_folder(f->path, err) : s;
}

void reject_file_remove(struct reject_file *f, bool all)
{
    file_close(&f->fd);
    file_remove(f->partial, NULL);
    if (all)
        file_remove(f->path, NULL);
}
