/* join_metadata.c: see join_metadata.h. */
#include "join_metadata.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "damage/damage_list.h"

static bool key_is_used(const struct merge_parts *all, const char *key)
{
    bool used = false;

    for (size_t i = 0; !used && i < all->count; i++)
        used = merge_parts_metadata(&all->items[i], key) != NULL;
    return used;
}

static bool holds_for_all(const struct merge_parts *all, const struct leat_metadata_pair *pair)
{
    /* what is shuffled or deduplicated alone is not when it is joined; a share is deduplicated with its whole run */
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

/* The entries that mark shares are checked elsewhere, and do not belong to the output. */
static bool tells_share(const struct merge_parts *all, const struct leat_metadata_pair *pair)
{
    return all->items[0].shares.of && (strcmp(pair->key, SHARES_KEY) == 0 || strcmp(pair->key, SHARES_CUT_KEY) == 0);
}

static enum leat_status join_pair(const struct merge_parts *all, size_t number, const struct leat_metadata_pair *pair,
                                  struct outputs *outputs, struct leat_error *err)
{
    if (strlen(pair->key) != pair->key_bytes || strlen(pair->value) != pair->value_bytes)
        return status_set(err, LEAT_E_UNSUPPORTED, "%.300s cannot be merged: its metadata hold a zero byte",
                          all->items[number].name);
    if (tells_share(all, pair) || strcmp(pair->key, DAMAGE_KEY) == 0)
        return LEAT_OK;
    return holds_for_all(all, pair) ? outputs_set_metadata(outputs, pair->key, pair->value, err)
                                    : keep_by_part(all, number, pair, outputs, err);
}

/* Of an input that two shares have a part of, both may say that it is damaged. */
static enum leat_status list_damage(const struct merge_parts *parts, struct damage_list *list, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < parts->count; i++) {
        const struct merge_part *part = &parts->items[i];
        const char *value = merge_parts_metadata(part, DAMAGE_KEY);
        size_t before = list->count;

        if (!value)
            continue;
        s = damage_list_read(list, value, err);
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
