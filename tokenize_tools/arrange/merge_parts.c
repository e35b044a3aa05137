/* merge_parts.c: see merge_parts.h. */
#include "merge_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/status.h"

static enum leat_status check_agreement(const struct leat_info *a, const struct leat_info *b, const char *name_a,
                                        const char *name_b, struct leat_error *err)
{
    const char *what = NULL;

    if (a->vocabulary != b->vocabulary)
        what = "vocabulary size";
    else if (a->token_width != b->token_width) /* of adopted tokens it does not follow from the vocabulary */
        what = "size of a token";
    else if (a->end_token != b->end_token)
        what = "end-of-document token";
    else if (a->begin_token != b->begin_token)
        what = "begin token";
    else if (memcmp(a->fingerprint, b->fingerprint, sizeof a->fingerprint) != 0)
        what = STATUS_FINGERPRINT;
    if (!what)
        return LEAT_OK;
    return status_set(err, LEAT_E_INCOMPATIBLE, "%.300s and %.300s cannot be merged: they differ in their %s", name_a,
                      name_b, what);
}

/* Whether the dataset has a hash for each document. One without documents has. */
static enum leat_status look_for_hashes(struct merge_part *s, struct leat_error *err)
{
    uint8_t hash[16];
    enum leat_status status = LEAT_OK;

    if (s->documents > 0)
        status = leat_dataset_text_hash(s->dataset, s->first_document, hash, err);
    s->hashes = status == LEAT_OK;
    return status == LEAT_E_NOT_FOUND ? LEAT_OK : status;
}

static enum leat_status push_part(struct merge_parts *all, const struct leat_dataset *d, uint64_t number,
                                  struct leat_error *err)
{
    struct leat_part part = LEAT_PART_INIT;
    struct merge_part *s;
    enum leat_status status = leat_dataset_part(d, number, &part, err);

    if (status != LEAT_OK)
        return status;
    if (all->count == all->room) {
        size_t room = all->room ? 2 * all->room : 16;
        struct merge_part *items = realloc(all->items, room * sizeof *items);

        if (!items)
            return status_no_memory(err, room * sizeof *items);
        all->items = items;
        all->room = room;
    }
    s = &all->items[all->count++];
    *s = (struct merge_part) {
        .dataset = d,
        .name = part.name,
        .first_token = part.first_token,
        .tokens = part.tokens,
        .first_document = part.first_document,
        .documents = part.documents,
        .first_input = part.first_input,
        .inputs = part.inputs,
    };
    status = look_for_hashes(s, err);
    if (status != LEAT_OK)
        return status;
    return leat_dataset_metadata(d, number, &s->pairs, err);
}

static enum leat_status open_part(struct merge_parts *all, const char *name, const char *first_name,
                                  struct leat_error *err)
{
    /* read, not mapped: everything is read once, and mapped pages would count as this process's memory */
    struct leat_open_options how = { .size = sizeof how, .access = LEAT_ACCESS_READ };
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_dataset **d = &all->opened[all->opened_count];
    uint64_t id_bytes = 0;
    enum leat_status s = leat_dataset_open(d, name, &how, err);

    if (s != LEAT_OK)
        return s;
    all->opened_count++;
    leat_dataset_info(*d, &info);
    if (all->opened_count == 1)
        all->first = info;
    s = check_agreement(&all->first, &info, first_name, name, err);
    if (s == LEAT_OK && info.foreign_parts > 0 && info.documents != LEAT_NONE)
        s = status_set(err, LEAT_E_UNSUPPORTED,
                       "%s has files of another tool, which lack the hashes and records that merging reads: adopt them "
                       "first",
                       name);
    if (s != LEAT_OK)
        return s;
    /* sums of the sizes of real files */
    all->token_bytes += info.token_bytes;
    all->documents += info.documents;
    all->mask |= info.stores_mask != 0;
    all->lines |= info.stores_lines != 0;
    all->ids |= info.stores_ids != 0;
    all->hashes |= info.stores_hashes != 0;
    for (uint64_t i = 0; s == LEAT_OK && i < info.parts; i++)
        s = push_part(all, *d, i, err);
    if (s == LEAT_OK)
        s = leat_dataset_ids(*d, 0, info.documents, NULL, 0, &id_bytes, err);
    all->id_bytes += id_bytes;
    return s;
}

enum leat_status merge_parts_open(struct merge_parts *s, const char *const *names, size_t count, struct leat_error *err)
{
    enum leat_status status = LEAT_OK;

    memset(s, 0, sizeof *s);
    s->opened = calloc(count, sizeof *s->opened);
    if (!s->opened)
        return status_no_memory(err, count * sizeof *s->opened);
    s->first = (struct leat_info)LEAT_INFO_INIT;
    for (size_t i = 0; status == LEAT_OK && i < count; i++)
        status = open_part(s, names[i], names[0], err);
    return status;
}

void merge_parts_close(struct merge_parts *s)
{
    for (size_t i = 0; i < s->count; i++)
        leat_metadata_free(s->items[i].pairs);
    for (size_t i = 0; i < s->opened_count; i++)
        leat_dataset_close(s->opened[i]);
    free(s->items);
    free(s->opened);
    memset(s, 0, sizeof *s);
}

enum leat_status merge_parts_need_hashes(const struct merge_parts *s, const char *what, struct leat_error *err)
{
    for (size_t i = 0; i < s->count; i++)
        if (!s->items[i].hashes)
            return status_set_hint(err, LEAT_E_NOT_FOUND, LEAT_HINT_PACK,
                                   "%.300s has no text hashes, which %s needs; pack its inputs again", s->items[i].name,
                                   what);
    return LEAT_OK;
}

enum leat_status merge_part_check(const struct merge_part *s, uint64_t first, uint64_t count, struct leat_error *err)
{
    struct leat_error why;
    enum leat_status status = leat_dataset_verify_range(s->dataset, first, count, &why);

    if (status == LEAT_OK || status == LEAT_E_NOT_FOUND)
        return LEAT_OK;
    if (err)
        *err = why;
    return status;
}

static uint32_t is_stopped(void *context, uint64_t done, uint64_t total)
{
    (void)done;
    (void)total;
    return pace_call(context, NULL) != LEAT_OK;
}

enum leat_status merge_parts_check_indexes(const struct merge_parts *s, struct pace *pace, struct leat_error *err)
{
    struct leat_verify_options o = LEAT_VERIFY_OPTIONS_INIT;
    enum leat_status status = LEAT_OK;

    o.threads = 1;
    o.index_only = 1;
    o.progress = is_stopped;
    o.context = pace;
    for (size_t i = 0; status == LEAT_OK && i < s->opened_count; i++)
        status = leat_dataset_verify(s->opened[i], &o, NULL, err);
    return status;
}

const char *merge_parts_metadata(const struct merge_part *s, const char *key)
{
    for (uint64_t i = 0; i < s->pairs->count; i++)
        if (strcmp(s->pairs->pairs[i].key, key) == 0)
            return s->pairs->pairs[i].value;
    return NULL;
}
