/* unit_stream.c: reads a stream for the units that a lane cuts off it, and keeps its books. */
#include "unit_stream.h"

#include <stdio.h>

#include "base/status.h"
#include "unit_kinds.h"

const char *unit_stream_layout(const struct lane *l)
{
    return l->layout == JSON_ARRAY ? "JSON array" : "JSON";
}

/* Fills `err` and the reason for an input that ends inside of its array, or of an object. */
static void say_array_open(const struct lane *l, char reason[UNIT_STREAM_REASON], struct leat_error *err)
{
    const struct json_records *r = &l->records;

    if (json_records_in_record(r))
        snprintf(reason, UNIT_STREAM_REASON, "it ends in the middle of its %s, in the record that begins at byte %llu",
                 unit_stream_layout(l), (unsigned long long)r->record);
    else
        snprintf(reason, UNIT_STREAM_REASON, "it ends in the middle of its %s, where %s is expected",
                 unit_stream_layout(l), json_records_expected(r));
    status_set_at(err, LEAT_E_TEXT, byte_stream_name(l->stream), r->position, "%s, at byte %llu: %s",
                  byte_stream_name(l->stream), (unsigned long long)r->position, reason);
}

/* Does this for an input that ends in a record's quotes. Returns false if it does not. */
static bool is_csv_open(const struct lane *l, char reason[UNIT_STREAM_REASON], struct leat_error *err)
{
    const struct csv_records *r = &l->csv;

    if (!csv_records_in_quotes(r))
        return false;
    snprintf(reason, UNIT_STREAM_REASON,
             "it ends in the middle of a quoted field, in the record that begins at byte %llu",
             (unsigned long long)r->record);
    status_set_at(err, LEAT_E_TEXT, byte_stream_name(l->stream), r->position, "%s, at byte %llu: %s",
                  byte_stream_name(l->stream), (unsigned long long)r->position, reason);
    return true;
}

enum leat_status unit_stream_end(struct lane *l, struct unit *u, const struct leat_error *damage, const char *reason,
                                 struct leat_error *err)
{
    uint64_t at = byte_stream_raw_position(l->stream);
    enum leat_status s = inputs_check_read(&l->setup->inputs.items[l->input], at, damage, err);
    struct leat_error open;
    char cut[UNIT_STREAM_REASON];
    bool is_open = false;

    if (!damage && l->kind == &unit_csv)
        is_open = is_csv_open(l, cut, &open);
    else if (!damage && l->layout != JSON_LINES && !json_records_may_end(&l->records)) {
        say_array_open(l, cut, &open);
        is_open = true;
    }
    if (is_open) {
        damage = &open;
        reason = cut;
    }
    l->ended = true;
    return s == LEAT_OK ? unit_end_stream(u, l->input, l->stream, damage, reason, err) : s;
}

enum leat_status unit_stream_read(struct lane *l, struct unit *u, struct buffer *to, size_t room, size_t *got,
                                  struct leat_error *err)
{
    struct leat_error why;
    enum leat_status s = buffer_reserve(to, room, err);

    *got = 0;
    if (s != LEAT_OK)
        return s;
    s = byte_stream_read(l->stream, to->bytes + to->size, room, got, &why);
    to->size += *got;
    if (s == LEAT_E_TRUNCATED || s == LEAT_E_TEXT)
        return unit_stream_end(l, u, &why, NULL, err);
    if (s != LEAT_OK) {
        *err = why;
        return s;
    }
    return *got == 0 ? unit_stream_end(l, u, NULL, NULL, err) : LEAT_OK;
}

enum leat_status unit_stream_carry(struct lane *l, struct buffer *text, size_t end, struct leat_error *err)
{
    enum leat_status s = buffer_append(&l->carry, text->bytes + end, text->size - end, err);

    text->size = end;
    return s;
}

/* Moves the mark on, but not beyond where the next unit begins. */
static void move_mark(struct lane *l)
{
    struct byte_mark now;

    if (l->later.text_offset > 0 && l->later.text_offset <= l->next) {
        l->mark = l->later;
        l->later.text_offset = 0;
    }
    byte_stream_mark(l->stream, &now);
    if (now.text_offset <= l->next)
        l->mark = now;
    else if (l->later.text_offset == 0)
        l->later = now;
}

uint64_t unit_stream_begin(struct lane *l, struct unit *u)
{
    lane_limit(l->setup, l->stream, l->turn);
    move_mark(l);
    u->mark = l->mark;
    return byte_stream_raw_position(l->stream);
}

void unit_stream_count(struct lane *l, struct unit *u, uint64_t before)
{
    u->disk_bytes = byte_stream_raw_position(l->stream) - before;
    l->held = byte_stream_memory(l->stream) + l->carry.room;
    l->next += u->length;
}
