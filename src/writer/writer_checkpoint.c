/*
 * writer_checkpoint.c: makes an unfinished dataset resumable. A checkpoint first makes all spills durable, then
 * replaces NAME.partial.checkpoint, which says how long each spill was, and its page sum: the sinks keep these sums as
 * they write, so that a checkpoint takes equally long however long they are.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/bytes.h"
#include "base/file.h"
#include "base/own_file.h"
#include "base/status.h"
#include "writer.h"

/*
 * Writes NAME.partial.checkpoint.
 *
 * It is little-endian: magic, with the version as its last byte; what must be equal in a resumed run; counts; the
 * lengths and sums of the spills; inputs; metadata; the caller's note; XXH3-128 of everything before. It is private to
 * this version of the library; other versions refuse it.
 */

#define CHECKPOINT_MAGIC_BYTES 8u
static const uint8_t checkpoint_magic[CHECKPOINT_MAGIC_BYTES] = { 'l', 'e', 'a', 't', 'c', 'k', 'p', '7' };

/* The values that must be equal in a resumed run. After them come the fingerprint and the hash of the tokenizer. */
struct checkpoint_rule {
    const char *what;
    uint64_t value;
};
#define CHECKPOINT_RULES 7u

static void list_rules(const struct leat_writer *w, struct checkpoint_rule rules[CHECKPOINT_RULES])
{
    rules[0] = (struct checkpoint_rule) { "vocabulary size", w->vocabulary };
    rules[1] = (struct checkpoint_rule) { "end-of-document token", w->end_token };
    rules[2] = (struct checkpoint_rule) { "begin token", w->begin_token };
    rules[3] = (struct checkpoint_rule) { "storing of line numbers", w->store_lines };
    rules[4] = (struct checkpoint_rule) { "storing of ids", w->store_ids };
    rules[5] = (struct checkpoint_rule) { "storing of text hashes", w->store_hashes };
    rules[6] = (struct checkpoint_rule) { "storing of a mask", w->store_mask };
}

static struct hash128 hash_tokenizer(const struct leat_writer *w)
{
    return w->kernels->hash(w->tokenizer ? w->tokenizer : (const uint8_t *)"", (size_t)w->tokenizer_bytes);
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

/* The bytes of a checkpoint, and the first failure to add some. */
struct text {
    struct buffer buffer;
    enum leat_status status;
    struct leat_error *err;
};

static void add_bytes(struct text *t, const void *bytes, size_t count)
{
    if (t->status == LEAT_OK)
        t->status = buffer_append(&t->buffer, bytes, count, t->err);
}

static void add_u64(struct text *t, uint64_t value)
{
    value = bytes_le64(value);
    add_bytes(t, &value, sizeof value);
}

static void add_hash(struct text *t, struct hash128 h)
{
    uint8_t bytes[16];

    checksum_store(bytes, h);
    add_bytes(t, bytes, sizeof bytes);
}

static void describe(struct text *t, const struct leat_writer *w, const void *note, uint64_t note_bytes)
{
    struct checkpoint_rule rules[CHECKPOINT_RULES];
    uint8_t record[FORMAT_INPUT_BYTES];

    add_bytes(t, checkpoint_magic, CHECKPOINT_MAGIC_BYTES);
    list_rules(w, rules);
    for (unsigned i = 0; i < CHECKPOINT_RULES; i++)
        add_u64(t, rules[i].value);
    add_bytes(t, w->fingerprint, sizeof w->fingerprint);
    add_hash(t, hash_tokenizer(w));
    add_u64(t, w->end.start);
    add_u64(t, w->end.document);
    add_u64(t, w->ordered);
    add_u64(t, w->last_input);
    add_u64(t, w->last_offset);
    add_u64(t, w->learned_tokens);
    add_u64(t, w->unlearned_documents);
    add_u64(t, w->store_values);
    for (unsigned i = 0; i < SPILL_COUNT; i++) {
        bool has = writer_has_spill(w, i);

        add_u64(t, has ? w->end.of[i].at : 0);
        add_hash(t, has ? sink_sum(&w->spills[i]) : (struct hash128) { 0, 0 });
    }
    add_u64(t, w->input_count);
    for (uint64_t i = 0; i < w->input_count; i++) {
        records_store_input(record, &w->inputs[i].record);
        add_bytes(t, record, sizeof record);
        add_bytes(t, w->inputs[i].path, (size_t)w->inputs[i].record.path_bytes);
    }
    add_u64(t, w->pair_count);
    for (uint64_t i = 0; i < w->pair_count; i++) {
        add_u64(t, strlen(w->pairs[i].key));
        add_u64(t, strlen(w->pairs[i].value));
        add_bytes(t, w->pairs[i].key, strlen(w->pairs[i].key));
        add_bytes(t, w->pairs[i].value, strlen(w->pairs[i].value));
    }
    add_u64(t, note_bytes);
    add_bytes(t, note, (size_t)note_bytes);
    if (t->status == LEAT_OK)
        add_hash(t, w->kernels->hash(t->buffer.bytes, t->buffer.size));
}

/* Brings all spills to the disk, also a frame that is not whole; that one stays in memory, too, and is hashed when
 * it is whole. */
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

/* ---- Going on ---------------------------------------------------------------------------------------------------- */

/*
 * Goes on with an unfinished dataset from its last checkpoint. Resuming reads all spills back, since
 * damage to one would otherwise get valid checksums in the index, and only then cuts them to the lengths that the
 * checkpoint says.
 *
 * A checkpoint may be damaged or made up: every number in it is checked before it is used, and no spill is changed
 * before all are known to be right.
 */

/* The unread rest of a checkpoint; every call that takes bytes checks that there are enough. */
struct cursor {
    const uint8_t *at;
    size_t left;
    bool failed;
};

static const uint8_t *take_bytes(struct cursor *c, uint64_t count)
{
    const uint8_t *from = c->at;

    if (c->failed || count > c->left) {
        c->failed = true;
        return NULL;
    }
    c->at += count;
    c->left -= (size_t)count;
    return from;
}

static uint64_t take_u64(struct cursor *c)
{
    const uint8_t *from = take_bytes(c, 8);

    return from ? bytes_load64(from) : 0;
}

static struct hash128 take_hash(struct cursor *c)
{
    const uint8_t *from = take_bytes(c, 16);

    return from ? checksum_load(from) : (struct hash128) { 0, 0 };
}

/* Returns a copy that ends with a NUL, or NULL if the text ends before, or without memory. */
static char *take_string(struct cursor *c, uint64_t count)
{
    const uint8_t *from = take_bytes(c, count);
    char *text = from ? malloc((size_t)count + 1) : NULL;

    if (text) {
        memcpy(text, from, (size_t)count);
        text[count] = '\0';
    }
    return text;
}

static const char *shown(uint64_t value, char text[24])
{
    if (value == LEAT_NONE)
        return "none";
    snprintf(text, 24, "%" PRIu64, value);
    return text;
}

static enum leat_status check_rules(const struct leat_writer *w, struct cursor *c, struct leat_error *err)
{
    struct checkpoint_rule rules[CHECKPOINT_RULES];
    const uint8_t *fingerprint, *hash;
    char was[24], is[24];

    list_rules(w, rules);
    for (unsigned i = 0; i < CHECKPOINT_RULES; i++) {
        uint64_t then = take_u64(c);

        if (!c->failed && then != rules[i].value)
            return status_set_hint(err, LEAT_E_CHECKPOINT, LEAT_HINT_REPLACE, w->names.index,
                                   "%s cannot be resumed: its %s was %s and now is %s; use the same options or start "
                                   "over",
                                   w->names.index, rules[i].what, shown(then, was), shown(rules[i].value, is));
    }
    fingerprint = take_bytes(c, 16);
    hash = take_bytes(c, 16);
    if (!c->failed &&
        (memcmp(fingerprint, w->fingerprint, 16) != 0 || !checksum_equal(checksum_load(hash), hash_tokenizer(w))))
        return status_set_hint(err, LEAT_E_CHECKPOINT, LEAT_HINT_REPLACE, w->names.index,
                               "%s cannot be resumed: its run used another tokenizer; use the same one or start over",
                               w->names.index);
    return LEAT_OK;
}

static enum leat_status read_checkpoint(const struct leat_writer *w, uint8_t **bytes, size_t *count,
                                        struct leat_error *err)
{
    const char *path = w->names.partial[FILE_CHECKPOINT];
    enum leat_status s;
    uint64_t size = 0;
    int fd;

    s = own_file_open(&fd, &size, path, OWN_FILE_READ, err);
    if (s == LEAT_E_NO_FILE)
        return status_set_in(err, LEAT_E_CHECKPOINT, w->names.index, "no stopped run of %s to resume (no %s)",
                             w->names.index, path);
    if (s != LEAT_OK)
        return s;
    *bytes = size < SIZE_MAX ? malloc((size_t)size + 1) : NULL;
    s = *bytes ? file_read_at(fd, 0, *bytes, size, path, err) : status_no_memory(err, size);
    file_close(&fd);
    *count = (size_t)size;
    if (s != LEAT_OK)
        return s;
    if (size < CHECKPOINT_MAGIC_BYTES + 16 || memcmp(*bytes, checkpoint_magic, CHECKPOINT_MAGIC_BYTES - 1) != 0 ||
        !checksum_equal(w->kernels->hash(*bytes, *count - 16), checksum_load(*bytes + *count - 16)))
        return status_set_hint(err, LEAT_E_CHECKPOINT, LEAT_HINT_REPLACE, path,
                               "%s is damaged: the run cannot be resumed; start over", path);
    if ((*bytes)[CHECKPOINT_MAGIC_BYTES - 1] != checkpoint_magic[CHECKPOINT_MAGIC_BYTES - 1])
        return status_set_hint(err, LEAT_E_CHECKPOINT, LEAT_HINT_REPLACE, path,
                               "%s was made by another version of leat: resume with that version, or start over", path);
    return LEAT_OK;
}

static enum leat_status load_inputs(struct leat_writer *w, struct cursor *c, struct leat_error *err)
{
    uint64_t count = take_u64(c);
    enum leat_status s = LEAT_OK;

    for (uint64_t i = 0; s == LEAT_OK && i < count && !c->failed; i++) {
        const uint8_t *fixed = take_bytes(c, FORMAT_INPUT_BYTES);
        struct records_input record;
        char *path;

        if (!fixed)
            break;
        records_load_input(&record, fixed);
        path = take_string(c, record.path_bytes);
        if (path)
            s = writer_push_input(w, path, &record, err);
        else if (!c->failed)
            s = status_no_memory(err, record.path_bytes);
        free(path);
    }
    return s;
}

static enum leat_status load_metadata(struct leat_writer *w, struct cursor *c, struct leat_error *err)
{
    uint64_t count = take_u64(c);
    enum leat_status s = LEAT_OK;

    for (uint64_t i = 0; s == LEAT_OK && i < count && !c->failed; i++) {
        uint64_t key_bytes = take_u64(c), value_bytes = take_u64(c);
        char *key = take_string(c, key_bytes), *value = take_string(c, value_bytes);

        if (key && !*key)
            c->failed = true; /* no writer makes such a key */
        else if (key && value)
            s = leat_writer_set_metadata(w, key, value, err);
        else if (!c->failed)
            s = status_no_memory(err, key_bytes + value_bytes);
        free(key);
        free(value);
    }
    return s;
}

static enum leat_status load_note(struct cursor *c, void **note, uint64_t *note_bytes, struct leat_error *err)
{
    uint64_t bytes = take_u64(c);
    char *text = take_string(c, bytes);

    if (!text)
        return c->failed ? LEAT_OK : status_no_memory(err, bytes);
    if (note) {
        *note = text;
        *note_bytes = bytes;
    } else {
        free(text);
    }
    return LEAT_OK;
}

/* The state of a spill at the checkpoint. */
struct spill_place {
    uint64_t bytes;
    struct hash128 sum;
};

/* Returns true if the counts and lengths agree with each other, so that the spills can be cut to them. */
static bool plausible(const struct leat_writer *w, const struct spill_place spills[SPILL_COUNT])
{
    uint64_t tokens = w->end.start, documents = w->end.document, frame = writer_spill_frame(SPILL_TOKENS);

    /* Pages are hashed by whole frames, and another build may have had frames of another size. */
    return w->learned_tokens <= tokens && w->unlearned_documents <= documents && tokens <= FORMAT_MAX_BYTES / 4 &&
           documents <= FORMAT_MAX_BYTES / 16 && spills[SPILL_TOKENS].bytes == tokens * w->width &&
           spills[SPILL_DOCUMENTS].bytes == 8 * documents &&
           spills[SPILL_PAGES].bytes == spills[SPILL_TOKENS].bytes / frame * (frame / FORMAT_PAGE_BYTES * 4) &&
           spills[SPILL_ORIGINS].bytes == FORMAT_ORIGIN_BYTES * documents && spills[SPILL_DIRECTORY].bytes % 8 == 0 &&
           spills[SPILL_DIRECTORY].bytes <= FORMAT_MAX_BYTES && spills[SPILL_IDS].bytes <= FORMAT_MAX_BYTES &&
           spills[SPILL_LINES].bytes == (w->store_lines ? 8 * documents : 0) &&
           spills[SPILL_ID_ENDS].bytes == (w->store_ids ? 8 * documents : 0) &&
           spills[SPILL_HASHES].bytes == (w->store_hashes ? FORMAT_HASH_BYTES * documents : 0) &&
           spills[SPILL_MASK].bytes == (w->store_mask ? tokens : 0) &&
           spills[SPILL_VALUES].bytes <= (w->store_values ? FORMAT_MAX_BYTES : 0) &&
           spills[SPILL_MASK_PAGES].bytes == spills[SPILL_MASK].bytes / frame * (frame / FORMAT_PAGE_BYTES * 4);
}

static enum leat_status reopen_spills(struct leat_writer *w, const struct spill_place spills[SPILL_COUNT],
                                      struct sink_reading *reading, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (unsigned i = 0; i < SPILL_COUNT; i++)
        if (!bytes_add(reading->total, spills[i].bytes, &reading->total))
            reading->total = UINT64_MAX;
    for (unsigned i = 0; s == LEAT_OK && i < SPILL_COUNT; i++)
        if (writer_has_spill(w, i))
            s = sink_reopen(&w->spills[i], w->names.partial[i], writer_spill_frame(i), spills[i].bytes, spills[i].sum,
                            reading, err);
    /* no spill is changed before all are known to be right */
    for (unsigned i = 0; s == LEAT_OK && i < SPILL_COUNT; i++) {
        writer_begin_spill(w, i, spills[i].bytes);
        if (writer_has_spill(w, i))
            s = sink_cut(&w->spills[i], spills[i].bytes, err);
    }
    return s;
}

static enum leat_status load(struct leat_writer *w, struct cursor *c, struct sink_reading *reading, void **note,
                             uint64_t *note_bytes, struct leat_error *err)
{
    struct spill_place spills[SPILL_COUNT];
    enum leat_status s;

    take_bytes(c, CHECKPOINT_MAGIC_BYTES);
    s = check_rules(w, c, err);
    if (s != LEAT_OK)
        return s;
    w->end.start = take_u64(c);
    w->end.document = take_u64(c);
    w->ordered = take_u64(c) != 0;
    w->last_input = take_u64(c);
    w->last_offset = take_u64(c);
    w->learned_tokens = take_u64(c);
    w->unlearned_documents = take_u64(c);
    w->store_values = take_u64(c) != 0;
    for (unsigned i = 0; i < SPILL_COUNT; i++) {
        spills[i].bytes = take_u64(c);
        spills[i].sum = take_hash(c);
    }
    s = load_inputs(w, c, err);
    if (s == LEAT_OK)
        s = load_metadata(w, c, err);
    if (s == LEAT_OK)
        s = load_note(c, note, note_bytes, err);
    if (s != LEAT_OK)
        return s;
    if (c->failed || c->left != 0 || !plausible(w, spills))
        return status_set_hint(err, LEAT_E_CHECKPOINT, LEAT_HINT_REPLACE, w->names.partial[FILE_CHECKPOINT],
                               "%s contradicts itself: the run cannot be resumed; start over",
                               w->names.partial[FILE_CHECKPOINT]);
    return reopen_spills(w, spills, reading, err);
}

/* Undoes what a killed leat_writer_finish() may have left. */
static enum leat_status undo_finish(struct leat_writer *w, struct leat_error *err)
{
    const struct writer_names *n = &w->names;
    struct writer_found found;
    enum leat_status s = writer_look(n, &found, err);

    if (s != LEAT_OK)
        return s;
    if (found.index && !found.partial_tokens && (found.checkpoint || !w->replace)) {
        writer_remove_partial(n, NULL); /* without the tokens the rest is useless */
        if (found.checkpoint)
            return status_set_in(err, LEAT_E_EXISTS, n->index, "%s is finished: there is nothing left to resume",
                                 n->index);
    }
    if (found.index && !w->replace)
        return status_set_hint(err, LEAT_E_EXISTS, LEAT_HINT_REPLACE, n->index,
                               "%s already exists; choose another name or replace it", n->index);
    if (found.checkpoint && found.tokens && !found.half_named && !w->replace)
        return status_set_hint(err, LEAT_E_EXISTS, LEAT_HINT_REPLACE, n->tokens,
                               "%s exists, without an index, and is not of this run: move it away, or replace it",
                               n->tokens);
    if (!found.half_named || !found.checkpoint)
        return LEAT_OK;
    return writer_unname_tokens(n, &found, err);
}

enum leat_status leat_writer_resume(struct leat_writer **out, const char *name,
                                    const struct leat_writer_options *options, void **note, uint64_t *note_bytes,
                                    struct leat_error *err)
{
    struct leat_writer *w;
    enum leat_status s = writer_new(&w, name, options, err);
    struct sink_reading reading = { 0 };
    uint8_t *bytes = NULL;
    size_t count = 0;

    *out = NULL;
    if (note) {
        *note = NULL;
        *note_bytes = 0;
    }
    if (s != LEAT_OK)
        return s;
    reading.progress = w->progress;
    reading.context = w->context;
    s = writer_lock(&w->lock, &w->names, err);
    if (s == LEAT_OK)
        s = writer_check_names(&w->names, err);
    if (s == LEAT_OK)
        s = undo_finish(w, err);
    if (s == LEAT_OK)
        s = read_checkpoint(w, &bytes, &count, err);
    if (s == LEAT_OK)
        s = load(w, &(struct cursor) { bytes, count - 16, false }, &reading, note, note_bytes, err);
    free(bytes);
    w->checkpointed = true;
    if (s != LEAT_OK) {
        if (note) {
            free(*note);
            *note = NULL;
            *note_bytes = 0;
        }
        leat_writer_suspend(w);
        return s;
    }
    *out = w;
    return LEAT_OK;
}

void leat_writer_free_note(void *note)
{
    free(note);
}
