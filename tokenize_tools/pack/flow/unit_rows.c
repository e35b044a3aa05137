/*
 * unit_rows.c: units of rows of a Parquet file. The texts stay in the page that the thread that cuts has
 * decompressed: the unit borrows it, and encoding reads there; from pages that are much smaller than a unit they are
 * copied. A lane takes a few row groups, and another lane after it the next ones. The offset of a document is its
 * row in the file, and its line is the row group: `newlines` counts the groups that end in a unit. A text too large
 * for a unit goes to a file without a name, and is a unit by itself.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/status.h"
#include "base/tiny.h"
#include "lane.h"
#include "row_input.h"
#include "steps.h"
#include "unit_kinds.h"

/* The bytes of a unit per row: it has no more rows than its bytes divided by this. */
#define ROW_COST 16u

/* The size of the smallest page that a unit borrows; the unit ends with such a page. With the last rows of a page it
 * may take a quarter more than other units, so that these rows are no unit by themselves. */
#define LEAST_PAGE(setup) ((size_t)TINY_OR(64, (setup)->unit_bytes / 2))
#define LAST_ROWS(setup)  ((setup)->unit_bytes / 4)

/* The bytes of row groups that a lane takes. On a server they are more, since a lane fetches a group while it reads
 * the one before. */
#define LANE_BYTES   TINY_OR(8192, (uint64_t)1 << 20)
#define OBJECT_BYTES (16 * LANE_BYTES)

/* The memory for pages of a lane whose turn it is; larger pages lie in files. */
#define PAGES_BYTES(setup) TINY_OR((uint64_t)6000, (setup)->window_bytes)

/* ---- Cutting ---- */

/* Notes a row that cannot be read, with the rows after it that cannot be read for the same reason: the input is
 * damaged. Without rows, all of the input is damaged. */
static enum leat_status add_damage(struct unit *u, const struct packer_document *at, const struct row *row,
                                   struct leat_error *err)
{
    char why[sizeof((struct leat_error *)0)->message + 100], lost[80] = "", reason[120];
    struct unit_damage *d = &u->rows.damage;
    enum leat_status s;

    if (row->lost == 1)
        snprintf(lost, sizeof lost, "row %llu is lost", (unsigned long long)at->offset);
    else if (row->lost > 1)
        snprintf(lost, sizeof lost, "rows %llu to %llu are lost", (unsigned long long)at->offset,
                 (unsigned long long)(at->offset + row->lost - 1));
    snprintf(why, sizeof why, "%s%s%s", row->damage, lost[0] ? "; " : "", lost);
    s = documents_reject(&u->docs, at, why, "", "", 0, err);
    if (s == LEAT_OK && row->lost > 1)
        u->docs.rejects[u->docs.reject_count - 1].lost = row->lost - 1;
    d->unread += row->unread;
    if (s != LEAT_OK || d->why.bytes > 0)
        return s;
    d->offset = row->damage_at;
    if (lost[0])
        snprintf(reason, sizeof reason, "row group %llu is broken: %s", (unsigned long long)row->group, lost);
    else
        snprintf(reason, sizeof reason, "it is cut off or its footer is broken: no row was found");
    return unit_keep_damage(u, d, why, reason, err);
}

static const struct record_value *text_of(const struct row *row)
{
    return record_value(row->record, row->record->fields->text);
}

/* Returns true if a row is longer than a record may be that is not taken in chunks. */
static bool is_too_long(const struct pack_setup *setup, const struct record *r)
{
    uint64_t left = setup->whole_bytes;

    for (uint32_t i = 0; i < r->fields->count; i++) {
        enum record_use use = r->fields->wants[i].use;
        uint64_t bytes = record_value(r, i)->bytes;

        if (use >= RECORD_BY)
            continue;
        if (bytes > left)
            return true;
        left -= bytes;
    }
    return false;
}

/* Judges a row that was read. Returns LEAT_E_TEXT if it is rejected. */
static enum leat_status judge(const struct pack_setup *setup, struct unit *u, struct row *row, struct verdict *v,
                              struct packer_document *d, struct leat_error *why)
{
    struct record *r = row->record;
    enum leat_status s;

    if (setup->whole_records && is_too_long(setup, r))
        return status_set(why, LEAT_E_TEXT, STEP_WHOLE_REASON);
    s = step_judge(setup, u, r, v, d, why);
    return s == LEAT_OK && !v->kept_out ? record_check(r, why) : s;
}

/* Adds a row without its text. Sets *d to NULL if it is rejected, or kept out. */
static enum leat_status add_row(const struct pack_setup *setup, struct unit *u, struct row *row, uint64_t first_group,
                                struct packer_document **d, struct leat_error *err)
{
    struct packer_document as_read = {
        .input = u->input, .offset = row->number, .line = row->group - first_group, .text.begin = u->text.size
    };
    const struct record_value *id;
    struct leat_error why;
    struct verdict v;
    enum leat_status s;

    *d = NULL;
    if (row->damage)
        return add_damage(u, &as_read, row, err);
    id = record_value(row->record, row->record->fields->id);
    s = judge(setup, u, row, &v, &as_read, &why);
    if (s == LEAT_E_TEXT)
        return documents_reject(&u->docs, &as_read, why.message, why.field, id->at ? id->at : "", id->held, err);
    if (s != LEAT_OK) {
        *err = why;
        return s;
    }
    if (v.kept_out) {
        u->docs.counts[v.count]++;
        return LEAT_OK;
    }
    *d = documents_add(&u->docs, err);
    if (!*d)
        return LEAT_E_NO_MEMORY;
    **d = as_read;
    return step_keep_id(setup, u, &v, *d, id->at ? id->at : "", id->held, err);
}

/* Makes a unit of this row alone, and writes its text to a file. */
static enum leat_status spool_row(struct lane *l, struct unit *u, const struct record_value *text,
                                  struct leat_error *err)
{
    enum leat_status s = spool_open(&u->record, l->setup->output, err);

    u->kind = &unit_row;
    for (size_t at = 0, part; s == LEAT_OK && at < text->held; at += part) {
        part = text->held - at < LONG_CHUNK ? text->held - at : LONG_CHUNK;
        s = pack_setup_check_stop(l->setup, l->setup->inputs.items[l->input].path, err);
        if (s == LEAT_OK)
            s = spool_append(&u->record, text->at + at, part, err);
        row_input_rest(l->rows);
    }
    return s;
}

/* Returns how many bytes of the unit's page follow a text; SIZE_MAX if the text does not lie there. */
static size_t after_text(const struct unit *u, const struct record_value *text)
{
    size_t size;
    uintptr_t begin = (uintptr_t)parquet_loan_bytes(u->rows.page, &size), at = (uintptr_t)text->at;

    return at >= begin && bytes_inside(at - begin, text->held, size) ? size - (at - begin) - text->held : SIZE_MAX;
}

/* Leaves a text where it lies if the unit may borrow the page, and has no text elsewhere; otherwise copies it.
 * Conversations are copied, since reading them writes over them. */
static enum leat_status put_text(struct lane *l, struct unit *u, const struct record_value *text,
                                 struct packer_document *d, struct leat_error *err)
{
    const struct pack_setup *setup = l->setup;
    size_t size;

    if (u->docs.count == 1 && !setup->chat)
        u->rows.page = row_input_lend(l->rows, setup->fields.text, LEAST_PAGE(setup));
    if (!u->rows.page)
        return buffer_append(&u->text, text->at, text->held, err);
    d->text.begin = (size_t)((uintptr_t)text->at - (uintptr_t)parquet_loan_bytes(u->rows.page, &size));
    return LEAT_OK;
}

/* Copies both of a pair. */
static enum leat_status add_pair(struct lane *l, struct unit *u, struct record *r, struct packer_document *d,
                                 struct leat_error *err)
{
    d->text.begin = u->text.size;
    return step_join(l->setup, u, d, r, &u->text, err);
}

/* Adds the text of a row, or its conversation. The tools of a conversation lie where other documents have their
 * spans. */
static enum leat_status add_text(struct lane *l, struct unit *u, const struct row *row, struct packer_document *d,
                                 struct leat_error *err)
{
    const struct record_value *text = text_of(row), *tools = record_value(row->record, row->record->fields->tools);
    enum leat_status s;

    d->text.bytes = text->held;
    if (!l->setup->whole_records && text->held > l->setup->long_bytes)
        return spool_row(l, u, text, err);
    s = l->setup->pairs ? add_pair(l, u, row->record, d, err) : put_text(l, u, text, d, err);
    if (s != LEAT_OK || tools->kind != JSON_KIND_STRING)
        return s;
    d->spans = (struct stretch) { u->docs.spans.size, tools->held };
    return buffer_append(&u->docs.spans, tools->at, tools->held, err);
}

/* Returns true if a row is for the next unit: its text is too long for one with others, or lies in another page. */
static bool begins_unit(const struct lane *l, const struct unit *u, const struct row *row)
{
    const struct record_value *text = row->record ? text_of(row) : NULL;

    return text && u->docs.count > 0 &&
           (text->bytes > l->setup->long_bytes || (u->rows.page && text->at && after_text(u, text) == SIZE_MAX));
}

/* Returns true if a unit is full with texts of so many bytes, of which this is the last; it may also be full because
 * this is the last one of its page. */
static bool is_full(const struct lane *l, const struct unit *u, const struct record_value *text, uint64_t taken)
{
    uint64_t max = l->setup->unit_bytes, more = LAST_ROWS(l->setup);

    if (!u->rows.page)
        return taken >= max;
    return row_input_leaves(l->rows, l->setup->fields.text, u->rows.page) ||
           (taken >= max && (taken >= max + more || after_text(u, text) >= more));
}

/* Takes rows until the unit is full. */
static enum leat_status take_rows(struct lane *l, struct unit *u, uint64_t first_group, struct leat_error *err)
{
    uint64_t max = l->setup->unit_bytes, taken = 0;
    enum leat_status s = LEAT_OK;
    struct packer_document *d;
    struct row row;
    bool found, full = false;

    /* rows may have no bytes at all */
    for (uint64_t rows = 0; s == LEAT_OK && u->kind == &unit_rows && rows < max / ROW_COST && !full &&
                            u->docs.strings.size < max && u->docs.spans.size < max;
         rows++) {
        s = row_input_next(l->rows, &row, &found, err);
        if (s != LEAT_OK)
            return s;
        l->ended = !found;
        if (!found)
            return LEAT_OK;
        if (begins_unit(l, u, &row)) {
            row_input_back(l->rows);
            return LEAT_OK;
        }
        s = add_row(l->setup, u, &row, first_group, &d, err);
        if (s != LEAT_OK || !d)
            continue;
        s = add_text(l, u, &row, d, err);
        taken += d->text.bytes;
        full = is_full(l, u, text_of(&row), taken);
    }
    return s;
}

static enum leat_status end_rows(struct lane *l, struct unit *u, struct leat_error *err)
{
    return unit_add_end(u, l->input, l->setup->inputs.items[l->input].size, err) ? LEAT_OK : LEAT_E_NO_MEMORY;
}

/* Leaves the rest after the first row groups to another lane, so that threads decompress side by side. */
static enum leat_status divide(struct lane *l, struct leat_error *err)
{
    uint64_t bytes = l->setup->inputs.items[l->input].object ? OBJECT_BYTES : LANE_BYTES;
    struct row_input *rest;
    enum leat_status s = row_input_divide(l->rows, bytes, &rest, err);

    l->divided = true;
    return s == LEAT_OK && rest ? lane_split(l, rest, err) : s;
}

/* Notes that a file is so damaged that none of its rows can be found. The share with the file's first byte reports
 * it. */
static enum leat_status lose_all(struct lane *l, struct unit *u, const struct leat_error *why, struct leat_error *err)
{
    const struct packer_document first = { .input = u->input };
    const struct input *in = &l->setup->inputs.items[l->input];
    const struct row all = { .damage = why->message, .unread = in->size };
    enum leat_status s = in->begin == 0 ? add_damage(u, &first, &all, err) : LEAT_OK;

    l->ended = true;
    u->disk_bytes = in->end - in->begin;
    return s == LEAT_OK ? end_rows(l, u, err) : s;
}

static enum leat_status open_rows(struct lane *l, struct leat_error *err)
{
    uint64_t most = l->turn ? l->setup->window_bytes : l->setup->ahead_bytes;
    enum leat_status s = l->rows ? LEAT_OK : row_input_open(&l->rows, l->setup, l->input, l->next, most, err);

    l->outgrew = s == LEAT_E_NO_MEMORY;
    return s;
}

static enum leat_status cut_rows(struct lane *l, struct unit *u, struct leat_error *err)
{
    struct leat_error why;
    enum leat_status s = open_rows(l, &why);
    uint64_t group, begun, bytes;

    if (row_input_is_damage(s))
        return lose_all(l, u, &why, err);
    if (s != LEAT_OK) {
        *err = why;
        return s;
    }
    if (!l->divided)
        s = divide(l, err);
    if (s != LEAT_OK)
        return s;
    row_input_limit(l->rows, l->turn ? PAGES_BYTES(l->setup) : row_input_memory(l->rows) + l->setup->ahead_bytes,
                    l->turn);
    /* the first unit counts the groups before the share as passed */
    begun = row_input_group(l->rows);
    group = l->next > 0 ? begun : 0;
    bytes = l->next > 0 ? row_input_bytes(l->rows) : 0;
    s = take_rows(l, u, group, err);
    if (s != LEAT_OK)
        return s;
    u->newlines = row_input_group(l->rows) - group;
    u->rows.groups = row_input_group(l->rows) - begun;
    u->length = row_input_at(l->rows) - u->offset;
    u->disk_bytes = row_input_bytes(l->rows) - bytes;
    l->next = u->offset + u->length;
    l->held = row_input_memory(l->rows);
    return l->ended && row_input_is_last(l->rows) ? end_rows(l, u, err) : LEAT_OK;
}

/* ---- Encoding ---- */

/* Turns conversations into the unit's documents, or rejects. */
static enum leat_status take_chats(struct pack_worker *w, struct unit *u, const char *text, struct leat_error *err)
{
    const struct record_fields *fields = &w->setup->fields;
    struct packer_document *rows = u->docs.items;
    size_t count = u->docs.count;
    enum leat_status s = LEAT_OK;

    u->docs.items = NULL;
    u->docs.count = u->docs.room = 0;
    for (size_t i = 0; s == LEAT_OK && i < count; i++) {
        const char *messages = text + rows[i].text.begin;

        record_begin_row(&w->record);
        record_put_json(&w->record, fields->text, messages, rows[i].text.bytes);
        w->record.joined = w->setup->pairs;
        if (fields->tools != RECORD_NONE && rows[i].spans.bytes > 0)
            record_put(&w->record, fields->tools, JSON_KIND_STRING, u->docs.spans.bytes + rows[i].spans.begin,
                       rows[i].spans.bytes);
        s = step_chat_record(w, u, &rows[i], messages, rows[i].text.bytes, err);
    }
    if (s == LEAT_OK)
        s = step_chat_end(w, u, err);
    free(rows);
    return s;
}

/* Turns spans into bytes: they count characters until the text is known to be UTF-8. */
static enum leat_status settle_spans(struct pack_worker *w, struct unit *u, const char *text, struct leat_error *err)
{
    size_t kept = 0;
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < u->docs.count; i++) {
        struct packer_document *d = &u->docs.items[i];
        const char *at = text + d->text.begin;
        const struct step_text t = { at, d->text.bytes, at, d->text.bytes };
        bool rejected;

        s = step_check_text(w, u, d, &t, &rejected, err);
        if (s == LEAT_OK && !rejected)
            s = step_settle_spans(u, d, &t, &rejected, err);
        if (s == LEAT_OK && !rejected)
            u->docs.items[kept++] = *d;
    }
    u->docs.count = kept;
    return s;
}

static enum leat_status encode_rows(struct pack_worker *w, struct unit *u, int fd, struct leat_error *err)
{
    const char *text = u->text.bytes ? (const char *)u->text.bytes : "";
    size_t rejects = u->docs.reject_count, size;
    enum leat_status s;

    if (u->rows.page)
        text = (const char *)parquet_loan_bytes(u->rows.page, &size);
    (void)fd;
    s = w->setup->chat ? take_chats(w, u, text, err) : w->setup->spans ? settle_spans(w, u, text, err) : LEAT_OK;
    if (s == LEAT_OK)
        s = step_encode(w, u, text, err);
    if (u->docs.reject_count == rejects)
        return s;
    for (size_t i = 0; i < u->docs.reject_count; i++) /* Sorts rejects by their rows, since values of a dictionary
                                                         lie in any order. */
        u->docs.rejects[i].place = 0;
    documents_sort_rejects(&u->docs);
    return s;
}

struct spooled_text {
    struct pack_worker *w;
    const struct unit *u;
    uint64_t at;
};

static enum leat_status next_chunk(void *context, const uint8_t **bytes, size_t *count, struct leat_error *err)
{
    struct spooled_text *t = context;
    struct buffer *b = &t->w->text;
    uint64_t left = t->u->record.bytes - t->at;
    enum leat_status s;

    *count = left < LONG_CHUNK ? (size_t)left : LONG_CHUNK;
    s = buffer_reserve(b, LONG_CHUNK, err);
    if (s == LEAT_OK && *count > 0)
        s = spool_read(&t->u->record, t->at, b->bytes, *count, err);
    *bytes = b->bytes;
    t->at += *count;
    return s;
}

/* Encodes the last document of the unit, which has no text in memory. */
static enum leat_status encode_row(struct pack_worker *w, struct unit *u, int fd, struct leat_error *err)
{
    struct spooled_text t = { .w = w, .u = u };
    struct packer_document *d = &u->docs.items[u->docs.count - 1];
    char sample[REJECT_SAMPLE];
    size_t sample_bytes = sizeof sample;
    struct leat_error why;
    bool rejected;
    enum leat_status s = spool_read(&u->record, 0, sample, sizeof sample, err);

    (void)fd;
    w->text.size = 0;
    if (s != LEAT_OK)
        return s;
    s = long_text_encode(w, u, d, next_chunk, &t, &rejected, &why);
    if (s != LEAT_OK && err)
        *err = why;
    if (s != LEAT_OK || !rejected)
        return s;
    long_text_sample(w, sample, &sample_bytes);
    s = documents_reject(&u->docs, d, why.message, why.field, sample, sample_bytes, err);
    u->docs.count--;
    return s;
}

static bool takes_rows(const struct input *in)
{
    return in->format->rows;
}

const struct unit_kind unit_rows = { .takes = takes_rows,
                                     .cut = cut_rows,
                                     .encode = encode_rows,
                                     .numbers = true,
                                     .divides = true,
                                     .divides_objects = true };
const struct unit_kind unit_row = { .encode = encode_row };
