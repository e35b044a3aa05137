/*
 * column_list.c: the public functions that open and read columns, of one dataset or of a list of datasets. The entries
 * of a list are numbered from its first dataset to its last. Each dataset's column is a piece, which reads its own
 * entries. The texts of a category are united: the list numbers a text when it first comes up. A piece whose own
 * numbers differ has a table that translates them into the list's numbers.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/grow.h"
#include "base/search.h"
#include "base/status.h"
#include "column.h"

struct column_entry {
    const struct leat_column *column;
    uint64_t entry;
};

/* ---- Texts ------------------------------------------------------------------------------------------------------- */

#define SLOTS ((size_t)2 * LEAT_COLUMN_MAX_TEXTS)

/* All texts so far, one after another, and a hash table of their numbers. A slot has a text's number plus 1, or 0. */
struct texts {
    uint32_t *slots, *ends;
    char *text;
    size_t count, end_room, text_room;
};

static const char *text_at(const struct texts *t, uint32_t number, uint64_t *bytes)
{
    uint32_t begin = number > 0 ? t->ends[number - 1] : 0;

    *bytes = t->ends[number] - begin;
    return t->text + begin;
}

static enum leat_status add_text(struct texts *t, const char *text, uint64_t bytes, const struct leat_column *c,
                                 struct leat_error *err)
{
    uint64_t used = t->count > 0 ? t->ends[t->count - 1] : 0;
    enum leat_status s;

    if (t->count == LEAT_COLUMN_MAX_TEXTS || bytes > COLUMN_MAX_TEXT - used)
        return status_set_in(err, LEAT_E_INCOMPATIBLE, c->index.path,
                             "column %s: up to %s, the datasets have more than %u texts or 64 MiB of text together, "
                             "which no category can have",
                             c->name, c->index.path, LEAT_COLUMN_MAX_TEXTS);
    s = GROW(t->ends, t->count + 1, t->end_room, err);
    if (s == LEAT_OK)
        s = GROW(t->text, used + bytes + 1, t->text_room, err);
    if (s != LEAT_OK)
        return s;
    memcpy(t->text + used, text, (size_t)bytes);
    t->ends[t->count++] = (uint32_t)(used + bytes);
    return LEAT_OK;
}

/* Finds the number of a text, and adds the text if it is new. */
static enum leat_status number_text(struct texts *t, const char *text, uint64_t bytes, const struct leat_column *c,
                                    uint16_t *number, struct leat_error *err)
{
    size_t slot = (size_t)checksum_kernels()->hash(text, (size_t)bytes).low % SLOTS;
    enum leat_status s = LEAT_OK;

    for (; t->slots[slot]; slot = (slot + 1) % SLOTS) {
        uint64_t length;
        const char *other = text_at(t, t->slots[slot] - 1, &length);

        if (length == bytes && memcmp(text, other, (size_t)bytes) == 0)
            break;
    }
    if (!t->slots[slot]) {
        s = add_text(t, text, bytes, c, err);
        t->slots[slot] = (uint32_t)t->count;
    }
    *number = (uint16_t)(t->slots[slot] - 1);
    return s;
}

/* Makes the table that translates the piece's numbers of texts into the list's, unless all numbers are equal. */
static enum leat_status number_piece(struct texts *t, struct column_piece *p, struct leat_error *err)
{
    uint64_t count = p->column->header.texts;
    enum leat_status s = LEAT_OK;
    bool equal = true;

    p->numbers = malloc((size_t)(count + 1) * sizeof *p->numbers);
    if (!p->numbers)
        return status_no_memory(err, count * sizeof *p->numbers);
    for (uint64_t i = 0; s == LEAT_OK && i < count; i++) {
        const char *text;
        uint64_t bytes;

        s = leat_column_text(p->column, i, &text, &bytes, err);
        if (s == LEAT_OK)
            s = number_text(t, text, bytes, p->column, &p->numbers[i], err);
        equal = equal && p->numbers[i] == i;
    }
    if (equal) {
        free(p->numbers);
        p->numbers = NULL;
    }
    return s;
}

/* Stores all texts in the form that the index of a column has. */
static enum leat_status store_texts(struct leat_column *c, const struct texts *t, struct leat_error *err)
{
    uint64_t bytes = t->count > 0 ? t->ends[t->count - 1] : 0;

    c->header.texts = t->count;
    c->header.text_bytes = 4 * t->count + bytes;
    c->texts = malloc((size_t)c->header.text_bytes + 1);
    if (!c->texts)
        return status_no_memory(err, c->header.text_bytes);
    for (size_t i = 0; i < t->count; i++)
        bytes_store32(c->texts + 4 * i, t->ends[i]);
    if (bytes > 0)
        memcpy(c->texts + 4 * t->count, t->text, (size_t)bytes);
    return LEAT_OK;
}

static enum leat_status unite_texts(struct leat_column *c, struct leat_error *err)
{
    struct texts t = { .slots = calloc(SLOTS, sizeof *t.slots) };
    enum leat_status s = t.slots ? LEAT_OK : status_no_memory(err, SLOTS * sizeof *t.slots);

    for (uint64_t i = 0; s == LEAT_OK && i < c->piece_count; i++)
        s = number_piece(&t, &c->pieces[i], err);
    if (s == LEAT_OK)
        s = store_texts(c, &t, err);
    free(t.slots);
    free(t.ends);
    free(t.text);
    return s;
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

static enum leat_status say_differ(const struct leat_column *a, const struct leat_column *b, struct leat_error *err)
{
    const struct column_header *x = &a->header, *y = &b->header;

    return status_set_in(err, LEAT_E_INCOMPATIBLE, b->index.path,
                         "column %s is %sx%" PRIu32 " per %s in %s, but %sx%" PRIu32
                         " per %s in %s: attach one of them "
                         "again, or leave the column away",
                         a->name, leat_column_type_name(x->type), x->width, x->at ? "document" : "token", a->index.path,
                         leat_column_type_name(y->type), y->width, y->at ? "document" : "token", b->index.path);
}

enum leat_status column_list_begin(struct leat_column **out, const char *name, uint64_t count, struct leat_error *err)
{
    struct leat_column *c = calloc(1, sizeof *c);

    *out = c;
    if (!c)
        return status_no_memory(err, sizeof *c);
    c->values.fd = c->index.fd = -1;
    c->name = strdup(name);
    c->pieces = calloc((size_t)count, sizeof *c->pieces);
    return c->name && c->pieces ? LEAT_OK : status_no_memory(err, count * sizeof *c->pieces);
}

enum leat_status column_list_add(struct leat_column *c, struct leat_column *piece, struct leat_error *err)
{
    struct column_header *all = &c->header;
    const struct column_header *h = &piece->header;

    c->pieces[c->piece_count++].column = piece;
    if (c->piece_count == 1) {
        all->type = h->type;
        all->width = h->width;
        all->at = h->at;
    }
    if (h->type != all->type || h->width != all->width || h->at != all->at)
        return say_differ(c->pieces[0].column, piece, err);
    all->entries += h->entries;
    c->pieces[c->piece_count - 1].end = all->entries;
    return column_header_size(all) ? LEAT_OK
                                   : status_set(err, LEAT_E_UNSUPPORTED, "column %s has too many entries", c->name);
}

enum leat_status column_list_end(struct leat_column *c, struct leat_error *err)
{
    return c->header.type == LEAT_COLUMN_CATEGORY ? unite_texts(c, err) : LEAT_OK;
}

enum leat_status leat_column_join(struct leat_column **out, const struct leat_column_part *parts, uint64_t count,
                                  const char *name, struct leat_error *err)
{
    enum leat_status s = column_list_begin(out, name, count, err);

    for (uint64_t i = 0; s == LEAT_OK && i < count; i++) {
        struct leat_column *piece;

        s = column_open_part(&piece, parts[i].dataset, parts[i].part, name, err);
        if (s == LEAT_OK)
            s = column_list_add(*out, piece, err);
    }
    if (s == LEAT_OK)
        s = column_list_end(*out, err);
    if (s != LEAT_OK) {
        leat_column_close(*out);
        *out = NULL;
    }
    return s;
}

enum leat_status leat_column_open(struct leat_column **out, const struct leat_dataset *d, const char *name,
                                  struct leat_error *err)
{
    struct leat_column_part *parts;
    enum leat_status s;

    *out = NULL;
    if (!name)
        return status_argument(err, "name", "leat_column_open: name is NULL");
    if (d->part_count == 1)
        return column_open_part(out, d, 0, name, err);
    parts = calloc((size_t)d->part_count, sizeof *parts);
    if (!parts)
        return status_no_memory(err, d->part_count * sizeof *parts);
    for (uint64_t i = 0; i < d->part_count; i++)
        parts[i] = (struct leat_column_part) { d, i };
    s = leat_column_join(out, parts, d->part_count, name, err);
    free(parts);
    return s;
}

void leat_column_close(struct leat_column *c)
{
    for (uint64_t i = 0; c && i < c->piece_count; i++) {
        column_close_part(c->pieces[i].column);
        free(c->pieces[i].numbers);
    }
    if (c)
        free(c->pieces);
    column_close_part(c);
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static bool ends_before(const void *context, uint64_t piece)
{
    const struct column_entry *wanted = context;

    return wanted->column->pieces[piece].end <= wanted->entry;
}

/* Returns the piece that has an entry, which must be below the number of entries. */
static const struct column_piece *piece_of(const struct leat_column *c, uint64_t entry)
{
    const struct column_entry wanted = { c, entry };

    return &c->pieces[search_first(0, c->piece_count, ends_before, &wanted)];
}

/* Translates the numbers of texts that were read from the piece into the list's numbers. */
static enum leat_status renumber(const struct column_piece *p, uint8_t *values, uint64_t count, struct leat_error *err)
{
    for (uint64_t i = 0; p->numbers && i < count; i++) {
        uint16_t number = bytes_load16(values + 2 * i);

        if (number >= p->column->header.texts)
            return status_set_in(err, LEAT_E_RECORD, p->column->values.path,
                                 "%s has text %u, but there are %" PRIu64 "; attach the column again",
                                 p->column->values.path, number, p->column->header.texts);
        values[2 * i] = (uint8_t)p->numbers[number];
        values[2 * i + 1] = (uint8_t)(p->numbers[number] >> 8);
    }
    return LEAT_OK;
}

enum leat_status leat_column_read(const struct leat_column *c, uint64_t first, uint64_t count, void *out,
                                  struct leat_error *err)
{
    uint8_t *write = out;
    uint64_t each = c->header.entry_bytes;
    enum leat_status s = dataset_check_range(first, count, c->header.entries, "value", err);

    if (!c->pieces)
        return column_read_part(c, first, count, out, err);
    for (uint64_t here; s == LEAT_OK && count > 0; first += here, count -= here, write += here * each) {
        const struct column_piece *p = piece_of(c, first);

        here = p->end - first < count ? p->end - first : count;
        s = column_read_part(p->column, first - (p->end - p->column->header.entries), here, write, err);
        if (s == LEAT_OK)
            s = renumber(p, write, here * c->header.width, err);
    }
    return s;
}

enum leat_status leat_column_view(const struct leat_column *c, uint64_t first, uint64_t count, struct leat_view *view,
                                  struct leat_error *err)
{
    enum leat_status s = dataset_check_range(first, count, c->header.entries, "value", err);
    const struct column_piece *p;

    if (s != LEAT_OK)
        return s;
    if (!c->pieces)
        return column_view_part(c, first, count, view, err);
    p = count > 0 ? piece_of(c, first) : NULL;
    if (p && !p->numbers && p->end - first >= count)
        return column_view_part(p->column, first - (p->end - p->column->header.entries), count, view, err);
    return status_set(err, LEAT_E_NOT_MAPPED,
                      "entries of several datasets do not lie one after another; call leat_column_read()");
}
