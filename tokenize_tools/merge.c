/*
 * merge.c: leat_merge(): finished datasets, read document by document and written anew as one.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/status.h"
#include "leat_pack.h"

#define TOKENS_AT_ONCE    ((uint64_t)1 << 20)
#define DOCUMENTS_AT_ONCE 4096

/* What the options of the first release had: fields that come later are taken as zero where they are missing. */
#define OPTIONS_FIRST_BYTES (offsetof(struct leat_merge_options, context) + sizeof(void *))

struct merge {
    struct leat_dataset **parts;
    size_t count;
    struct leat_info first; /* of parts[0]; what all must agree on */
    struct leat_writer *writer;
    const struct leat_merge_options *options;
    uint64_t done, total; /* token bytes */

    uint32_t *tokens; /* a window of the part's tokens, widened */
    uint64_t window_first, window_count;
    uint64_t *starts;
    char *text; /* for paths and ids */
    size_t text_room;
};

/* ---- What the parts must agree on ---- */

static enum leat_status open_parts(struct merge *m, const char *const *names, size_t count, uint32_t *lines,
                                   uint32_t *ids, struct leat_error *err)
{
    for (size_t i = 0; i < count; i++) {
        struct leat_info info = LEAT_INFO_INIT;
        enum leat_status s = leat_dataset_open(&m->parts[i], names[i], NULL, err);
        const char *what = NULL;

        if (s != LEAT_OK)
            return s;
        m->count++;
        leat_dataset_info(m->parts[i], &info);
        m->total += info.token_bytes;
        *lines |= info.stores_lines;
        *ids |= info.stores_ids;
        if (i == 0)
            m->first = info;
        if (info.vocabulary != m->first.vocabulary)
            what = "vocabulary size";
        else if (info.end_token != m->first.end_token)
            what = "end-of-document token";
        else if (info.begin_token != m->first.begin_token)
            what = "begin token";
        else if (memcmp(info.fingerprint, m->first.fingerprint, sizeof info.fingerprint) != 0)
            what = "tokenizer";
        if (what)
            return status_set(err, LEAT_E_INCOMPATIBLE, "%.300s and %.300s cannot be merged: they differ in their %s",
                              names[0], names[i], what);
    }
    return LEAT_OK;
}

/* ---- Strings of unknown length ---- */

static enum leat_status make_room(struct merge *m, uint64_t bytes, struct leat_error *err)
{
    char *text;

    if (bytes < m->text_room)
        return LEAT_OK;
    text = bytes < SIZE_MAX ? realloc(m->text, (size_t)bytes + 1) : NULL;
    if (!text)
        return status_no_memory(err, bytes);
    m->text = text;
    m->text_room = (size_t)bytes + 1;
    return LEAT_OK;
}

/* Paths, ids and metadata go through the writer as C strings, but for ids: a zero byte would cut them. */
static enum leat_status refuse_zero(const char *what, struct leat_error *err)
{
    return status_set(err, LEAT_E_UNSUPPORTED, "%s of a part holds a zero byte: such a part cannot be merged", what);
}

static enum leat_status add_inputs(struct merge *m, struct leat_dataset *part, uint64_t count, struct leat_error *err)
{
    for (uint64_t i = 0; i < count; i++) {
        struct leat_input input = LEAT_INPUT_INIT;
        enum leat_status s;
        uint64_t number;

        if ((s = leat_dataset_input(part, i, &input, err)) != LEAT_OK ||
            (s = make_room(m, input.path_bytes, err)) != LEAT_OK ||
            (s = leat_dataset_input_path(part, i, m->text, m->text_room, NULL, err)) != LEAT_OK)
            return s;
        if (strlen(m->text) != input.path_bytes)
            return refuse_zero("the path of an input", err);
        if ((s = leat_writer_add_input(m->writer, m->text, &number, err)) != LEAT_OK ||
            (s = leat_writer_set_input(m->writer, number, &input, err)) != LEAT_OK)
            return s;
    }
    return LEAT_OK;
}

/* ---- Documents ---- */

/* Moves the window so that it holds at least one token at `first`, and as many as fit up to `last`. */
static enum leat_status load_window(struct merge *m, const struct leat_dataset *part, uint64_t first, uint64_t last,
                                    struct leat_error *err)
{
    uint64_t count = last - first < TOKENS_AT_ONCE ? last - first : TOKENS_AT_ONCE;
    enum leat_status s = leat_dataset_read_u32(part, first, count, m->tokens, err);

    m->window_first = first;
    m->window_count = s == LEAT_OK ? count : 0;
    m->done += count * m->first.token_width;
    if (s == LEAT_OK && m->options->progress && m->options->progress(m->options->context, m->done, m->total) != 0)
        return status_set(err, LEAT_E_STATE, "merging was stopped");
    return s;
}

/* The tokens [first, last) of a document, without its begin and end token, which the writer adds again. `part_end` is
 * where the part's tokens end. */
static enum leat_status copy_tokens(struct merge *m, const struct leat_dataset *part, uint64_t first, uint64_t last,
                                    uint64_t part_end, struct leat_error *err)
{
    bool begin = m->first.begin_token != LEAT_NONE, end = m->first.end_token != LEAT_NONE;
    uint64_t at = first;

    if (last - first < (uint64_t)begin + end)
        return status_set(err, LEAT_E_TOKEN, "a document at token %llu lacks its begin or end token; verify the parts",
                          (unsigned long long)first);
    while (at < last) {
        uint64_t offset, here, skip, drop;
        const uint32_t *ids;
        enum leat_status s;

        if (at < m->window_first || at - m->window_first >= m->window_count) {
            s = load_window(m, part, at, part_end, err);
            if (s != LEAT_OK)
                return s;
        }
        offset = at - m->window_first;
        here = m->window_count - offset < last - at ? m->window_count - offset : last - at;
        ids = m->tokens + offset;
        skip = begin && at == first;
        drop = end && at + here == last;
        if ((skip && ids[0] != m->first.begin_token) || (drop && ids[here - 1] != m->first.end_token))
            return status_set(err, LEAT_E_TOKEN,
                              "the document at token %llu lacks its begin or end token; verify the parts",
                              (unsigned long long)first);
        s = leat_writer_append_u32(m->writer, ids + skip, here - skip - drop, err);
        if (s != LEAT_OK)
            return s;
        at += here;
    }
    return LEAT_OK;
}

static enum leat_status copy_origin(struct merge *m, const struct leat_dataset *part, uint64_t document,
                                    uint64_t first_input, struct leat_error *err)
{
    struct leat_origin origin;
    enum leat_status s = leat_dataset_origin(part, document, &origin, err);

    if (s == LEAT_OK && origin.id_bytes > 0) {
        s = make_room(m, origin.id_bytes, err);
        if (s == LEAT_OK)
            s = leat_dataset_id(part, document, m->text, m->text_room, NULL, err);
        origin.id = m->text;
    }
    if (s != LEAT_OK)
        return s;
    if (origin.input != LEAT_NONE)
        origin.input += first_input;
    return leat_writer_end_document(m->writer, &origin, err);
}

static enum leat_status copy_part(struct merge *m, struct leat_dataset *part, uint64_t *first_input,
                                  struct leat_error *err)
{
    struct leat_info info = LEAT_INFO_INIT;
    enum leat_status s;

    leat_dataset_info(part, &info);
    m->window_count = 0;
    s = add_inputs(m, part, info.inputs, err);
    for (uint64_t document = 0; s == LEAT_OK && document < info.documents;) {
        uint64_t left = info.documents - document, count = left < DOCUMENTS_AT_ONCE ? left : DOCUMENTS_AT_ONCE;

        s = leat_dataset_starts(part, document, count + 1, m->starts, err);
        for (uint64_t i = 0; s == LEAT_OK && i < count; i++) {
            s = copy_tokens(m, part, m->starts[i], m->starts[i + 1], info.tokens, err);
            if (s == LEAT_OK)
                s = copy_origin(m, part, document + i, *first_input, err);
        }
        document += count;
    }
    *first_input += info.inputs;
    return s;
}

/* ---- Metadata ---- */

/* The metadata of every dataset: a part that is a list has several. */
struct metadata_list {
    struct leat_metadata **items;
    size_t count;
};

static enum leat_status load_metadata(const struct merge *m, struct metadata_list *all, struct leat_error *err)
{
    struct leat_info info = LEAT_INFO_INIT;
    uint64_t datasets = 0;
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; i < m->count; i++) {
        leat_dataset_info(m->parts[i], &info);
        datasets += info.parts;
    }
    all->items = calloc((size_t)datasets, sizeof *all->items);
    if (!all->items)
        return status_no_memory(err, datasets * sizeof *all->items);
    for (size_t i = 0; i < m->count; i++) {
        leat_dataset_info(m->parts[i], &info);
        for (uint64_t part = 0; s == LEAT_OK && part < info.parts; part++)
            s = leat_dataset_metadata(m->parts[i], part, &all->items[all->count++], err);
    }
    return s;
}

/* The value of a key in one dataset's metadata, or NULL. */
static const char *value_of(const struct leat_metadata *metadata, const char *key)
{
    for (uint64_t i = 0; i < metadata->count; i++)
        if (strcmp(metadata->pairs[i].key, key) == 0)
            return metadata->pairs[i].value;
    return NULL;
}

static bool key_is_used(const struct metadata_list *all, const char *key)
{
    bool used = false;

    for (size_t i = 0; !used && i < all->count; i++)
        used = value_of(all->items[i], key) != NULL;
    return used;
}

static bool all_say(const struct metadata_list *all, const struct leat_metadata_pair *pair)
{
    bool same = true;

    for (size_t i = 0; same && i < all->count; i++) {
        const char *value = value_of(all->items[i], pair->key);

        same = value && strcmp(value, pair->value) == 0;
    }
    return same;
}

/* A pair of dataset `number`: kept under its key if all say the same, else under the key with the dataset's number. */
static enum leat_status merge_pair(struct merge *m, const struct metadata_list *all, size_t number,
                                   const struct leat_metadata_pair *pair, struct leat_error *err)
{
    enum leat_status s;

    if (strlen(pair->key) != pair->key_bytes || strlen(pair->value) != pair->value_bytes)
        return refuse_zero("a pair of the metadata", err);
    if (all_say(all, pair))
        return leat_writer_set_metadata(m->writer, pair->key, pair->value, err);
    s = make_room(m, pair->key_bytes + 24, err);
    if (s != LEAT_OK)
        return s;
    snprintf(m->text, m->text_room, "%s.%zu", pair->key, number + 1);
    if (key_is_used(all, m->text))
        return status_set(
            err, LEAT_E_UNSUPPORTED,
            "the parts differ in their metadata %.100s, and %.100s, under which part %zu's would be kept, "
            "is a key of theirs already",
            pair->key, m->text, number + 1);
    return leat_writer_set_metadata(m->writer, m->text, pair->value, err);
}

static enum leat_status merge_metadata(struct merge *m, struct leat_error *err)
{
    struct metadata_list all = { 0 };
    enum leat_status s = load_metadata(m, &all, err);

    for (size_t i = 0; s == LEAT_OK && i < all.count; i++)
        for (uint64_t j = 0; s == LEAT_OK && j < all.items[i]->count; j++)
            s = merge_pair(m, &all, i, &all.items[i]->pairs[j], err);
    for (size_t i = 0; i < all.count; i++)
        leat_metadata_free(all.items[i]);
    free(all.items);
    return s;
}

/* ---- The whole ---- */

static enum leat_status open_writer(struct merge *m, const char *output, uint32_t lines, uint32_t ids,
                                    struct leat_error *err)
{
    struct leat_writer_options o = LEAT_WRITER_OPTIONS_INIT;
    struct leat_stored_tokenizer *tokenizer = NULL;
    enum leat_status s = leat_dataset_tokenizer(m->parts[0], &tokenizer, err);

    if (s != LEAT_OK && s != LEAT_E_NOT_FOUND)
        return s;
    o.vocabulary = m->first.vocabulary;
    o.end_token = m->first.end_token;
    o.begin_token = m->first.begin_token;
    o.fingerprint = m->first.fingerprint;
    o.tokenizer = tokenizer;
    o.created = m->options->created;
    o.replace = m->options->replace;
    o.store_lines = lines != 0;
    o.store_ids = ids != 0;
    s = leat_writer_open(&m->writer, output, &o, err);
    leat_stored_tokenizer_free(tokenizer);
    return s;
}

static enum leat_status merge(struct merge *m, const char *output, const char *const *names, size_t count,
                              struct leat_info *info, struct leat_error *err)
{
    uint64_t first_input = 0;
    uint32_t lines = 0, ids = 0;
    enum leat_status s;

    if ((s = open_parts(m, names, count, &lines, &ids, err)) != LEAT_OK ||
        (s = open_writer(m, output, lines, ids, err)) != LEAT_OK)
        return s;
    for (size_t i = 0; s == LEAT_OK && i < count; i++)
        s = copy_part(m, m->parts[i], &first_input, err);
    if (s == LEAT_OK)
        s = merge_metadata(m, err);
    if (s == LEAT_OK)
        s = leat_writer_finish(m->writer, info, err);
    if (s != LEAT_OK)
        leat_writer_abandon(m->writer);
    return s;
}

enum leat_status leat_merge(const char *output, const char *const *parts, size_t count,
                            const struct leat_merge_options *options, struct leat_info *info, struct leat_error *err)
{
    struct leat_merge_options all = LEAT_MERGE_OPTIONS_INIT;
    struct merge m = { .options = &all };
    enum leat_status s;

    if (!output || !parts || count == 0 || (options && options->size < OPTIONS_FIRST_BYTES))
        return status_set(err, LEAT_E_ARGUMENT, "leat_merge: an output and at least one part must be given");
    if (options)
        struct_give(&all, sizeof all, options, options->size < sizeof all ? options->size : sizeof all);
    m.parts = calloc(count, sizeof *m.parts);
    m.tokens = malloc(TOKENS_AT_ONCE * sizeof *m.tokens);
    m.starts = malloc((DOCUMENTS_AT_ONCE + 1) * sizeof *m.starts);
    if (m.parts && m.tokens && m.starts)
        s = merge(&m, output, parts, count, info, err);
    else
        s = status_no_memory(err, TOKENS_AT_ONCE * sizeof *m.tokens);
    for (size_t i = 0; m.parts && i < m.count; i++)
        leat_dataset_close(m.parts[i]);
    free(m.parts);
    free(m.tokens);
    free(m.starts);
    free(m.text);
    return s;
}
