/*
 * unit_block.c: units of whole lines of an input that is decompressed or comes through a pipe or from a server. The
 * thread that cuts reads the input in blocks. Bytes after a block's last line are carried over to the next one. A
 * record that grows too long for memory goes to a file without a name, and is a unit by itself.
 */
#include <string.h>

#include "base/status.h"
#include "corpus/lines.h"
#include "steps.h"
#include "unit_kinds.h"
#include "unit_stream.h"

/* ---- Cutting ---- */

enum leat_status unit_stream_end(struct lane *l, struct unit *u, const struct leat_error *damage, const char *reason,
                                 struct leat_error *err)
{
    uint64_t at = byte_stream_raw_position(l->stream);
    enum leat_status s = inputs_check_read(&l->setup->inputs.items[l->input], at, damage, err);
    struct leat_error open;
    char cut[UNIT_ARRAY_REASON];
    bool is_open = false;

    if (!damage && l->kind == &unit_csv)
        is_open = unit_csv_open(l, cut, &open);
    else if (!damage && l->layout != JSON_LINES && !json_records_may_end(&l->records)) {
        unit_array_open(l, cut, &open);
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

/* Writes a record that has become too long to a file, without its newline. */
static enum leat_status spool_record(struct lane *l, struct unit *u, struct leat_error *err)
{
    enum leat_status s = spool_open(&u->record, l->setup->output, err);

    u->kind = &unit_record;
    u->length = 0;
    while (s == LEAT_OK) {
        const uint8_t *newline = memchr(u->text.bytes, '\n', u->text.size);
        size_t got;

        if (newline)
            s = unit_stream_carry(l, &u->text, (size_t)(newline - u->text.bytes) + 1, err);
        u->length += u->text.size;
        if (s == LEAT_OK)
            s = spool_append(&u->record, u->text.bytes, u->text.size - (newline != NULL), err);
        if (s != LEAT_OK || newline || l->ended)
            break;
        u->text.size = 0;
        s = unit_stream_read(l, u, &u->text, LONG_CHUNK, &got, err);
    }
    buffer_free(&u->text);
    return s;
}

static enum leat_status cut_block(struct lane *l, struct unit *u, struct leat_error *err)
{
    const struct pack_setup *setup = l->setup;
    size_t lines = 0, seen = 0; /* bytes of whole lines; bytes in which newlines were looked for */
    enum leat_status s = buffer_append(&u->text, l->carry.bytes, l->carry.size, err);

    u->kind = &unit_block;
    l->carry.size = 0;
    while (s == LEAT_OK) {
        const uint8_t *newline = u->text.size > seen ? memrchr(u->text.bytes + seen, '\n', u->text.size - seen) : NULL;
        size_t got;

        if (newline)
            lines = (size_t)(newline - u->text.bytes) + 1;
        seen = u->text.size;
        if (l->ended)
            return LEAT_OK;
        if (lines > 0 && u->text.size >= setup->unit_bytes)
            return unit_stream_carry(l, &u->text, lines, err);
        if (lines == 0 && u->text.size > setup->long_bytes)
            return spool_record(l, u, err);
        s = unit_stream_read(l, u, &u->text, unit_stream_room(l, u), &got, err);
    }
    return s;
}

static enum leat_status cut_and_measure(struct lane *l, struct unit *u, struct leat_error *err)
{
    enum leat_status s = cut_block(l, u, err);

    if (u->kind == &unit_block)
        u->length = u->text.size;
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

enum leat_status unit_stream_cut(struct lane *l, struct unit *u, unit_stream_cutter *cut, struct leat_error *err)
{
    uint64_t before = byte_stream_raw_position(l->stream);
    enum leat_status s;

    lane_limit(l->setup, l->stream, l->turn);
    move_mark(l);
    u->mark = l->mark;
    s = cut(l, u, err);
    u->disk_bytes = byte_stream_raw_position(l->stream) - before;
    l->held = byte_stream_memory(l->stream) + l->carry.room;
    l->next += u->length;
    return s;
}

static enum leat_status cut_stream(struct lane *l, struct unit *u, struct leat_error *err)
{
    return unit_stream_cut(l, u, cut_and_measure, err);
}

/* ---- Encoding ---- */

static enum leat_status encode_block(struct pack_worker *w, struct unit *u, int fd, struct leat_error *err)
{
    char *text = (char *)u->text.bytes;
    enum leat_status s;

    (void)fd;
    u->newlines = lines_count(text, u->text.size); /* counted before scanning, which writes over the text */
    s = step_scan(w, u, text, u->text.size, u->offset, err);
    return s == LEAT_OK ? step_encode(w, u, text, err) : s;
}

static enum leat_status encode_record(struct pack_worker *w, struct unit *u, int fd, struct leat_error *err)
{
    (void)fd;
    u->newlines = 1;
    return long_record_encode(w, u, u->record.fd, 0, u->record.bytes,
                              &(struct packer_document) { .input = u->input, .offset = u->offset, .line = 0 }, err);
}

const struct unit_kind unit_block = { .cut = cut_stream, .encode = encode_block };
const struct unit_kind unit_record = { .encode = encode_record };
