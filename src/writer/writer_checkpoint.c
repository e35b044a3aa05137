/*
 * writer_checkpoint.c: makes an unfinished dataset resumable. A checkpoint first makes all spills durable, then
 * replaces NAME.partial.checkpoint, which says how long each spill was, and its page sum: the sinks keep these sums as
 * they write, so that a checkpoint costs the same however long they are. writer_checkpoint.h has what the file holds,
 * writer_resume.c reads it back.
 */
#include "writer_checkpoint.h"

#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/bytes.h"
#include "base/file.h"
#include "base/status.h"

const uint8_t checkpoint_magic[CHECKPOINT_MAGIC_BYTES] = { 'l', 'e', 'a', 't', 'c', 'k', 'p', '5' };

/* ---- What must be the same in a resumed run ---- */

void checkpoint_rules(const struct leat_writer *w, struct checkpoint_rule rules[CHECKPOINT_RULES])
{
    rules[0] = (struct checkpoint_rule) { "vocabulary size", w->vocabulary };
    rules[1] = (struct checkpoint_rule) { "end-of-document token", w->end_token };
    rules[2] = (struct checkpoint_rule) { "begin token", w->begin_token };
    rules[3] = (struct checkpoint_rule) { "storing of line numbers", w->store_lines };
    rules[4] = (struct checkpoint_rule) { "storing of ids", w->store_ids };
    rules[5] = (struct checkpoint_rule) { "storing of text hashes", w->store_hashes };
    rules[6] = (struct checkpoint_rule) { "storing of a mask", w->store_mask };
}

struct hash128 checkpoint_tokenizer(const struct leat_writer *w)
{
    return w->kernels->hash(w->tokenizer ? w->tokenizer : (const uint8_t *)"", (size_t)w->tokenizer_bytes);
}

/* ---- What goes into a checkpoint; the first failure stays ---- */

struct text {
    struct buffer buffer;
    enum leat_status status;
    struct leat_error *err;
};

static void add(struct text *t, const void *bytes, size_t count)
{
    if (t->status == LEAT_OK)
        t->status = buffer_append(&t->buffer, bytes, count, t->err);
}

static void add_u64(struct text *t, uint64_t value)
{
    value = bytes_le64(value);
    add(t, &value, sizeof value);
}

static void add_hash(struct text *t, struct hash128 h)
{
    uint8_t bytes[16];

    checksum_store(bytes, h);
    add(t, bytes, sizeof bytes);
}

/* ---- Writing a checkpoint ---- */

static void describe(struct text *t, const struct leat_writer *w, const void *note, uint64_t note_bytes)
{
    struct checkpoint_rule rules[CHECKPOINT_RULES];
    uint8_t record[FORMAT_INPUT_BYTES];

    add(t, checkpoint_magic, CHECKPOINT_MAGIC_BYTES);
    checkpoint_rules(w, rules);
    for (unsigned i = 0; i < CHECKPOINT_RULES; i++)
        add_u64(t, rules[i].value);
    add(t, w->fingerprint, sizeof w->fingerprint);
    add_hash(t, checkpoint_tokenizer(w));
    add_u64(t, w->end.start);
    add_u64(t, w->end.document);
    add_u64(t, w->ordered);
    add_u64(t, w->last_input);
    add_u64(t, w->last_offset);
    for (unsigned i = 0; i < SPILL_COUNT; i++) {
        bool has = writer_has_spill(w, i);

        add_u64(t, has ? w->end.of[i].at : 0);
        add_hash(t, has ? sink_sum(&w->spills[i]) : (struct hash128) { 0, 0 });
    }
    add_u64(t, w->input_count);
    for (uint64_t i = 0; i < w->input_count; i++) {
        records_store_input(record, &w->inputs[i].record);
        add(t, record, sizeof record);
        add(t, w->inputs[i].path, (size_t)w->inputs[i].record.path_bytes);
    }
    add_u64(t, w->pair_count);
    for (uint64_t i = 0; i < w->pair_count; i++) {
        add_u64(t, strlen(w->pairs[i].key));
        add_u64(t, strlen(w->pairs[i].value));
        add(t, w->pairs[i].key, strlen(w->pairs[i].key));
        add(t, w->pairs[i].value, strlen(w->pairs[i].value));
    }
    add_u64(t, note_bytes);
    add(t, note, (size_t)note_bytes);
    if (t->status == LEAT_OK)
        add_hash(t, w->kernels->hash(t->buffer.bytes, t->buffer.size));
}

/* All spills on disk, also what is not yet a whole frame; that stays in memory too, to be hashed when it is. */
static enum leat_status sync_spills(struct leat_writer *w, struct leat_error *err)
{
    enum leat_status s = writer_flush(w, false, err);

    for (unsigned i = 0; s == LEAT_OK && i < SPILL_COUNT; i++)
        if (writer_has_spill(w, i))
            s = file_sync(w->spills[i].fd, w->spills[i].path, err);
    return s;
}

static enum leat_status replace_checkpoint(const struct leat_writer *w, const struct buffer *text,
                                           struct leat_error *err)
{
    const char *fresh = w->names.partial[FILE_CHECKPOINT_NEW], *path = w->names.partial[FILE_CHECKPOINT];
    enum leat_status s = file_remove(fresh, err);
    int fd = -1;

    if (s == LEAT_OK)
        s = file_create(&fd, fresh, err);
    if (s == LEAT_OK)
        s = file_write_at(fd, 0, text->bytes, text->size, fresh, err);
    if (s == LEAT_OK)
        s = file_sync(fd, fresh, err);
    file_close(&fd);
    /* after a power cut, a first checkpoint must not exist without its spills */
    if (s == LEAT_OK && !w->checkpointed)
        s = file_sync_folder(path, err);
    if (s == LEAT_OK)
        s = file_rename(fresh, path, true, err);
    return s == LEAT_OK ? file_sync_folder(path, err) : s;
}

enum leat_status leat_writer_checkpoint(struct leat_writer *w, const void *note, uint64_t note_bytes,
                                        struct leat_error *err)
{
    struct leat_error why;
    struct text t = { .err = &why };
    enum leat_status s = writer_ready(w, err);

    if (s != LEAT_OK)
        return s;
    if (w->document_open)
        return status_set(err, LEAT_E_STATE, "a document is open: end it before making a checkpoint");
    if (w->index_only)
        return status_set(err, LEAT_E_STATE, "an index alone has no checkpoints");
    writer_follow_names(w);
    s = sync_spills(w, &why);
    if (s == LEAT_OK)
        s = writer_check_own_lock(w, &why);
    if (s == LEAT_OK) {
        describe(&t, w, note, note_bytes);
        s = t.status == LEAT_OK ? replace_checkpoint(w, &t.buffer, &why) : t.status;
    }
    buffer_free(&t.buffer);
    w->checkpointed = w->checkpointed || s == LEAT_OK;
    return writer_fail(w, s, &why, err);
}
