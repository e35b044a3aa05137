/* damage_list.c: makes, writes and reads the list. */
#include "damage_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/grow.h"
#include "base/json.h"
#include "base/jsontree.h"
#include "base/status.h"

static void free_one(struct damage *d)
{
    free(d->input);
    free(d->reason);
}

void damage_list_free(struct damage_list *l)
{
    for (size_t i = 0; i < l->count; i++)
        free_one(&l->items[i]);
    free(l->items);
    *l = (struct damage_list) { 0 };
}

/* Adds an entry with both strings, which belong to the list afterwards. The reason may be NULL if there was no
 * memory for it. */
static enum leat_status take_damage(struct damage_list *l, struct damage d, struct leat_error *err)
{
    enum leat_status s = d.reason ? GROW(l->items, l->count + 1, l->room, err) : status_no_memory(err, sizeof d);

    if (s == LEAT_OK) {
        l->items[l->count++] = d;
        return s;
    }
    free_one(&d);
    return s;
}

enum leat_status damage_list_add(struct damage_list *l, const char *input, uint64_t offset, const char *reason,
                                 size_t reason_bytes, uint64_t unread, struct leat_error *err)
{
    struct buffer clean = { 0 };
    enum leat_status s = buffer_append_repaired(&clean, (const uint8_t *)input, strlen(input), NULL, err);

    if (s == LEAT_OK)
        s = buffer_append(&clean, "", 1, err);
    if (s != LEAT_OK) {
        buffer_free(&clean);
        return s;
    }
    return take_damage(l, (struct damage) { (char *)clean.bytes, strndup(reason, reason_bytes), offset, unread }, err);
}

void damage_list_add_unread(struct damage_list *l, uint64_t unread)
{
    struct damage *last = &l->items[l->count - 1];

    last->unread = last->unread > LEAT_NONE - unread ? LEAT_NONE : last->unread + unread;
}

void damage_list_join(struct damage_list *l, size_t at)
{
    struct damage *d = &l->items[at], *before = d - 1;

    if (at == 0 || at >= l->count || strcmp(d->input, before->input) != 0)
        return;
    before->unread = before->unread > LEAT_NONE - d->unread ? LEAT_NONE : before->unread + d->unread;
    free_one(d);
    memmove(d, d + 1, (--l->count - at) * sizeof *d);
}

/* ---- Writing ---- */

enum leat_status damage_list_write(const struct damage_list *l, struct buffer *out, struct leat_error *err)
{
    struct json j;

    json_begin_in(&j, out, err);
    for (size_t i = 0; i < l->count; i++) {
        const struct damage *d = &l->items[i];

        if (i > 0)
            json_end(&j);
        json_open_object(&j, NULL);
        json_string(&j, "input", d->input);
        json_u64_or_null(&j, "offset", d->offset);
        json_string(&j, "reason", d->reason);
        json_u64_or_null(&j, "unread_bytes", d->unread);
        json_close_object(&j);
    }
    return j.status == LEAT_OK ? buffer_append(out, "", 1, err) : j.status;
}

/* ---- Reading ---- */

/* Reads a number of bytes, or null. Returns false if the member is neither. */
static bool take_number(const struct jsontree *j, const char *key, uint64_t *number)
{
    uint32_t node = jsontree_member(j, 0, key);

    *number = LEAT_NONE;
    return node != JSONTREE_NONE && (j->nodes[node].kind == JSONTREE_NULL || jsontree_u64(j, node, number));
}

/* Reads a line. Returns LEAT_E_VOCABULARY if it is no such object. */
static enum leat_status read_line(const char *line, size_t bytes, struct damage *d, struct leat_error *err)
{
    struct jsontree j;
    enum leat_status s = jsontree_parse(&j, (const uint8_t *)line, bytes, DAMAGE_KEY, err);

    *d = (struct damage) { .input = NULL };
    if (s == LEAT_OK && !(take_number(&j, "offset", &d->offset) && take_number(&j, "unread_bytes", &d->unread)))
        s = LEAT_E_VOCABULARY;
    if (s == LEAT_OK)
        s = jsontree_copy(&d->input, &j, 0, "input", err);
    if (s == LEAT_OK)
        s = jsontree_copy(&d->reason, &j, 0, "reason", err);
    if (s == LEAT_OK && !(d->input && d->reason))
        s = LEAT_E_VOCABULARY;
    jsontree_free(&j);
    return s;
}

enum leat_status damage_list_read(struct damage_list *l, const char *dataset, const char *value, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    while (s == LEAT_OK && *value) {
        size_t bytes = strcspn(value, "\n");
        struct damage d;

        s = read_line(value, bytes, &d, err);
        value += bytes + (value[bytes] == '\n');
        if (s == LEAT_OK)
            s = take_damage(l, d, err);
        else
            free_one(&d);
    }
    if (s != LEAT_E_VOCABULARY)
        return s;
    return status_field(err,
                        status_set_in(err, LEAT_E_RECORD, dataset,
                                      "%s: the metadata " DAMAGE_KEY " have a line that does not say which input was "
                                      "damaged, and where: pack the inputs again",
                                      dataset),
                        DAMAGE_KEY);
}
