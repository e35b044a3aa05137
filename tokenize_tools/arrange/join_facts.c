/* join_facts.c: joins the lists of inputs entry by entry, and the metadata key by key. */
#include "join_facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/status.h"
#include "damage/damage_list.h"
#include "mask/learned.h"

/* ---- Inputs ---- */

/* An input with its path. */
struct named_input {
    struct leat_input input;
    char *path;
};

struct joined {
    struct outputs *outputs;
    struct named_input last; /* the last declared input, with all that was joined to it; its path is NULL at first */
    uint64_t count;
};

/* Reads an input of a part. On success the caller owns the path. A path with a zero byte is refused, because the writer
 * would cut it there. */
static enum leat_status load(struct named_input *n, const struct merge_part *s, uint64_t number, struct leat_error *err)
{
    enum leat_status status;
    uint64_t bytes;

    *n = (struct named_input) { .input = LEAT_INPUT_INIT };
    status = leat_dataset_input(s->dataset, s->first_input + number, &n->input, err);
    if (status != LEAT_OK)
        return status;
    n->path = n->input.path_bytes < SIZE_MAX ? malloc((size_t)n->input.path_bytes + 1) : NULL;
    if (!n->path)
        return status_no_memory(err, n->input.path_bytes);
    status = leat_dataset_input_path(s->dataset, s->first_input + number, n->path, (size_t)n->input.path_bytes + 1,
                                     &bytes, err);
    if (status == LEAT_OK && strlen(n->path) != bytes)
        status = status_set_in(err, LEAT_E_UNSUPPORTED, s->name,
                               "%.300s cannot be merged: the path of one of its inputs holds a zero byte", s->name);
    if (status != LEAT_OK) {
        free(n->path);
        n->path = NULL;
    }
    return status;
}

/*
 * Returns true if a share's first input is the rest of the last input before it. The two then have the same name and
 * size. So do two entries of a file that was named twice in a row; therefore the share says whether it begins inside
 * an input. Inputs of unknown size are never cut.
 */
static bool continues(const struct joined *j, const struct merge_part *s, const struct named_input *n)
{
    return shares_begin_inside(s) && j->last.path && n->input.bytes > 0 && n->input.bytes == j->last.input.bytes &&
           strcmp(n->path, j->last.path) == 0;
}

/* Adds one sum to another. The hash of an input is the sum over its pages, and each share has the sum over the pages
 * that begin in it. */
static void add_hash(uint8_t sum[16], const uint8_t more[16])
{
    uint64_t low, carry = !bytes_add(bytes_load64(sum), bytes_load64(more), &low);

    bytes_store64(sum, low);
    bytes_store64(sum + 8, bytes_load64(sum + 8) + bytes_load64(more + 8) + carry);
}

static enum leat_status add_input(struct joined *j, struct merge_part *s, uint64_t number, struct leat_error *err)
{
    struct named_input n;
    enum leat_status status = load(&n, s, number, err);
    bool joins = status == LEAT_OK && number == 0 && continues(j, s, &n);

    if (number == 0)
        s->first_as_output = joins ? j->count - 1 : j->count;
    if (status != LEAT_OK || joins)
        free(n.path);
    if (status == LEAT_OK && joins) {
        j->last.input.rejects += n.input.rejects;
        add_hash(j->last.input.hash, n.input.hash);
    } else if (status == LEAT_OK) {
        status = outputs_add_input(j->outputs, n.path, err);
        j->count++;
        free(j->last.path);
        j->last = n;
    }
    return status == LEAT_OK ? outputs_set_input(j->outputs, j->count - 1, &j->last.input, err) : status;
}

enum leat_status join_inputs(struct merge_parts *parts, struct outputs *outputs, struct leat_error *err)
{
    struct joined j = { .outputs = outputs };
    enum leat_status status = LEAT_OK;

    for (size_t k = 0; status == LEAT_OK && k < parts->count; k++) {
        struct merge_part *s = &parts->items[k];

        for (uint64_t i = 0; status == LEAT_OK && i < s->inputs; i++)
            status = add_input(&j, s, i, err);
    }
    free(j.last.path);
    return status;
}

/* ---- Metadata ---- */

static bool key_is_used(const struct merge_parts *all, const char *key)
{
    bool used = false;

    for (size_t i = 0; !used && i < all->count; i++)
        used = merge_parts_metadata(&all->items[i], key) != NULL;
    return used;
}

static bool holds_for_all(const struct merge_parts *all, const struct leat_metadata_pair *pair)
{
    /* Several parts that are each shuffled or deduplicated are not shuffled or deduplicated as a whole. A share is:
     * it was deduplicated together with its whole run. */
    bool same = all->count == 1 || all->items[0].shares.of ||
                (strcmp(pair->key, METADATA_SHUFFLE) != 0 && strcmp(pair->key, METADATA_DEDUP) != 0);

    for (size_t i = 0; same && i < all->count; i++) {
        const char *value = merge_parts_metadata(&all->items[i], pair->key);

        same = value && strcmp(value, pair->value) == 0;
    }
    return same;
}

static enum leat_status keep_by_part(const struct merge_parts *all, size_t number,
                                     const struct leat_metadata_pair *pair, struct outputs *outputs,
                                     struct leat_error *err)
{
    size_t room = strlen(pair->key) + 24;
    char *key = malloc(room);
    enum leat_status s;

    if (!key)
        return status_no_memory(err, room);
    snprintf(key, room, "%s.%zu", pair->key, number + 1);
    if (key_is_used(all, key))
        s = status_set(err, LEAT_E_UNSUPPORTED,
                       "the parts differ in the metadata %.100s, and the key %.100s, which is for the value of "
                       "part %zu, is already in use",
                       pair->key, key, number + 1);
    else
        s = outputs_set_metadata(outputs, key, pair->value, err);
    free(key);
    return s;
}

/* Returns true if the entry marks a share. The output does not get these entries from its parts. */
static bool marks_share(const struct merge_parts *all, const struct leat_metadata_pair *pair)
{
    return all->items[0].shares.of && (strcmp(pair->key, SHARES_KEY) == 0 || strcmp(pair->key, SHARES_CUT_KEY) == 0);
}

static enum leat_status join_pair(const struct merge_parts *all, size_t number, const struct leat_metadata_pair *pair,
                                  struct outputs *outputs, struct leat_error *err)
{
    if (strlen(pair->key) != pair->key_bytes || strlen(pair->value) != pair->value_bytes)
        return status_set_in(err, LEAT_E_UNSUPPORTED, all->items[number].name,
                             "%.300s cannot be merged: its metadata hold a zero byte", all->items[number].name);
    if (marks_share(all, pair) || strcmp(pair->key, DAMAGE_KEY) == 0 || strcmp(pair->key, LEARNED_KEY) == 0)
        return LEAT_OK;
    if (all->items[0].shares.of && strcmp(pair->key, SHARES_HUB_KEY) == 0) /* shares_check() has compared the commits */
        return number == 0 ? outputs_set_metadata(outputs, pair->key, pair->value, err) : LEAT_OK;
    return holds_for_all(all, pair) ? outputs_set_metadata(outputs, pair->key, pair->value, err)
                                    : keep_by_part(all, number, pair, outputs, err);
}

/* If two shares each have a part of an input, both may say that it is damaged. */
static enum leat_status list_damage(const struct merge_parts *parts, struct damage_list *list, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < parts->count; i++) {
        const struct merge_part *part = &parts->items[i];
        const char *value = merge_parts_metadata(part, DAMAGE_KEY);
        size_t before = list->count;

        if (!value)
            continue;
        s = damage_list_read(list, part->name, value, err);
        if (s == LEAT_OK && shares_begin_inside(part))
            damage_list_join(list, before);
    }
    return s;
}

static enum leat_status join_damage(const struct merge_parts *parts, struct outputs *outputs, struct leat_error *err)
{
    struct damage_list list = { 0 };
    struct buffer value = { 0 };
    enum leat_status s = list_damage(parts, &list, err);

    if (s == LEAT_OK && list.count > 0) {
        s = damage_list_write(&list, &value, err);
        if (s == LEAT_OK)
            s = outputs_set_metadata(outputs, DAMAGE_KEY, (const char *)value.bytes, err);
    }
    buffer_free(&value);
    damage_list_free(&list);
    return s;
}

enum leat_status join_metadata(const struct merge_parts *parts, struct outputs *outputs, struct leat_error *err)
{
    enum leat_status s = join_damage(parts, outputs, err);
    char text[SHARES_TEXT];

    for (size_t i = 0; s == LEAT_OK && i < parts->count; i++)
        for (uint64_t k = 0; s == LEAT_OK && k < parts->items[i].pairs->count; k++)
            s = join_pair(parts, i, &parts->items[i].pairs->pairs[k], outputs, err);
    if (s == LEAT_OK && parts->shares.of) {
        shares_print(text, &parts->shares);
        s = outputs_set_metadata(outputs, SHARES_KEY, text, err);
        if (s == LEAT_OK)
            s = outputs_set_metadata(outputs, SHARES_CUT_KEY, merge_parts_metadata(&parts->items[0], SHARES_CUT_KEY),
                                     err);
    }
    return s;
}
