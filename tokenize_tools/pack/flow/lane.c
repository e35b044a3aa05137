/* lane.c: see lane.h. */
#include "lane.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/status.h"
#include "corpus/csv/csv_header.h"
#include "corpus/lines.h"
#include "row_input.h"
#include "steps.h"
#include "unit_kinds.h"

struct lane *lane_new_for_puts(struct pack_setup *setup)
{
    struct lane *l = calloc(1, sizeof *l);

    if (!l)
        return NULL;
    l->setup = setup;
    l->fd = -1;
    return l;
}

struct lane *lane_new(struct pack_setup *setup, size_t input, const struct lane_start *start)
{
    struct lane *l = lane_new_for_puts(setup);

    if (!l)
        return NULL;
    l->input = input;
    l->kind = unit_kind_of(&setup->inputs.items[input]);
    l->input_end = l->kind->group ? l->kind->group(setup, input) : input + 1;
    l->alone = strcmp(setup->inputs.items[input].path, "-") == 0; /* standard input could not go back */
    if (start->input == input) {
        l->next = start->offset;
        l->mark = start->mark;
    }
    return l;
}

void lane_append(struct lane *l, struct unit *u)
{
    if (l->last)
        l->last->next = u;
    else
        l->first = u;
    l->last = u;
    l->waiting++;
}

void lane_free(struct lane *l)
{
    while (l->first) {
        struct unit *u = l->first;

        l->first = u->next;
        unit_free(u);
    }
    spans_release(l->spans);
    if (l->rest)
        lane_free(l->rest);
    byte_stream_close(l->stream);
    row_input_close(l->rows);
    csv_header_free(l->header);
    buffer_free(&l->carry);
    file_close(&l->fd);
    free(l);
}

enum leat_status lane_split(struct lane *l, struct row_input *rows, struct leat_error *err)
{
    l->rest = lane_new_for_puts(l->setup);
    if (!l->rest) {
        row_input_close(rows);
        return status_no_memory(err, sizeof *l->rest);
    }
    l->rest->kind = l->kind;
    l->rest->input = l->input;
    l->rest->input_end = l->input_end;
    l->rest->rows = rows;
    l->rest->next = row_input_at(rows);
    l->rest->held = row_input_memory(rows);
    return LEAT_OK;
}

/* Reads up to the place where the units that are written end. */
static enum leat_status skip_to_next(struct lane *l, struct leat_error *err)
{
    enum leat_status s = buffer_reserve(&l->carry, LONG_CHUNK, err);

    while (s == LEAT_OK && byte_stream_text_position(l->stream) < l->next) {
        uint64_t left = l->next - byte_stream_text_position(l->stream);
        size_t got;

        s = byte_stream_read(l->stream, l->carry.bytes, left < LONG_CHUNK ? (size_t)left : LONG_CHUNK, &got, err);
        if (s == LEAT_OK && got == 0)
            s = status_set_in(err, LEAT_E_CHECKPOINT, byte_stream_name(l->stream),
                              "%s is shorter than when the killed run read it", byte_stream_name(l->stream));
    }
    return s;
}

/*
 * Checks that the first input has the fields of the run, if that could not be seen before: for standard input, and
 * for files on a server. With little memory fewer of its records are looked at: then the records that follow may
 * have them.
 */
static enum leat_status check_fields(struct lane *l, const struct input *in, struct leat_error *err)
{
    const struct pack_setup *setup = l->setup;
    size_t most = setup->unit_bytes < FIELD_HEAD ? (size_t)setup->unit_bytes : FIELD_HEAD;
    struct field_search search;
    enum leat_status s;
    bool ended;

    if (!setup->look_first || l->input > 0 || in->looked)
        return LEAT_OK;
    s = inputs_read_records(l->stream, &l->carry, most, most, &ended, err);
    if (s == LEAT_E_TRUNCATED || s == LEAT_E_TEXT) /* cutting reports these again */
        return LEAT_OK;
    if (s != LEAT_OK)
        return s;
    s = field_search_begin(&search, &setup->fields, &setup->judges, err);
    if (s == LEAT_OK)
        s = field_search_add(&search, in->path, (char *)l->carry.bytes, l->carry.size, ended, err);
    if (s == LEAT_OK)
        s = field_search_end(&search, setup->only_input && (ended || most == FIELD_HEAD), err);
    field_search_free(&search);
    return s;
}

/* Finds whether the records of JSON lie in lines or how else. If nothing of the input was written yet, its first
 * bytes are then in `carry`. */
static enum leat_status find_layout(struct lane *l, const struct input *in, struct leat_error *err)
{
    enum leat_status s;
    bool compressed;

    if (!in->format->is_json)
        return LEAT_OK;
    if (l->next > 0)
        s = inputs_look_inside(in, &l->setup->stop, &compressed, &l->layout, err);
    else
        s = inputs_read_head(l->stream, &l->carry, &l->layout, err);
    json_records_begin(&l->records, l->layout, l->next);
    if (s != LEAT_OK || l->next > 0)
        return s;
    s = inputs_check_head(in, l->stream, l->carry.bytes, l->carry.size, l->setup->allow_binary, err);
    return s == LEAT_OK ? check_fields(l, in, err) : s;
}

/* Reads the header of a table in text. If nothing of the input was written yet, its first bytes are then in `carry`. */
static enum leat_status find_header(struct lane *l, const struct input *in, struct leat_error *err)
{
    struct buffer head = { 0 };
    struct csv_header *header = NULL;
    enum leat_status s;

    if (l->next > 0 && l->header)
        s = LEAT_OK;
    else
        s = inputs_look_for_header(in, l->next > 0 ? NULL : l->stream, &l->setup->fields, &l->setup->stop, &header,
                                   &head, err);
    if (l->header) /* units have it */
        csv_header_free(header);
    else
        l->header = header;
    csv_records_begin(&l->csv, in->format->delimiter,
                      l->next > 0 ? l->next : lines_mark((const char *)head.bytes, head.size));
    if (s == LEAT_OK && l->next == 0)
        s = inputs_check_head(in, l->stream, head.bytes, head.size, l->setup->allow_binary, err);
    if (s == LEAT_OK && l->next == 0)
        s = buffer_append(&l->carry, head.bytes, head.size, err);
    buffer_free(&head);
    return s;
}

enum leat_status lane_open(struct lane *l, struct leat_error *err)
{
    const struct input *in = &l->setup->inputs.items[l->input];
    bool resumed = l->next > 0;
    enum leat_status s;
    uint64_t size;

    if (l->opened)
        return LEAT_OK;
    l->opened = true;
    s = byte_stream_open_stoppable(&l->stream, in->place, in->path, in->object,
                                   resumed && (in->compressed || l->mark.raw_offset > 0) ? &l->mark : NULL,
                                   &l->setup->stop, err);
    if (s != LEAT_OK)
        return s;
    lane_limit(l->setup, l->stream, l->turn);
    if (l->setup->threads > 1)
        byte_stream_share(l->stream, l->setup->span_bytes);
    s = in->format->delimiter ? find_header(l, in, err) : find_layout(l, in, err);
    if (s != LEAT_OK)
        return s;
    if (l->layout != JSON_LINES || in->format->delimiter || in->object ||
        byte_stream_form(l->stream) != BYTE_FORM_PLAIN || byte_stream_size(l->stream) == UINT64_MAX)
        return skip_to_next(l, err);
    byte_stream_close(l->stream);
    l->stream = NULL;
    buffer_free(&l->carry);
    s = input_open(&l->fd, &size, in->place, &l->setup->stop, err);
    return s == LEAT_OK ? inputs_check_end(in, size, err) : s;
}

void lane_limit(const struct pack_setup *setup, struct byte_stream *stream, bool turn)
{
    byte_stream_limit_memory(stream, turn ? setup->window_bytes : byte_stream_memory(stream) + setup->ahead_bytes);
}

static bool outgrew(const struct lane *l)
{
    return l->outgrew || (l->stream && byte_stream_outgrew(l->stream)) || (l->rows && row_input_outgrew(l->rows));
}

/* Goes back to the beginning of the unit that was to be cut, and closes the stream. */
static void go_back(struct lane *l, uint64_t next)
{
    byte_stream_close(l->stream);
    l->stream = NULL;
    if (l->rows)
        row_input_go_back(l->rows, next);
    buffer_free(&l->carry);
    l->opened = l->ended = false;
    l->next = next;
    l->later.text_offset = 0;
    l->held = l->rows ? row_input_memory(l->rows) : 0;
}

void lane_restart(struct lane *l)
{
    l->first = l->last = NULL;
    l->ended = l->whole = false;
}

bool lane_cut(struct lane *l, struct unit *u)
{
    uint64_t began = clock_cpu_ns(), next = l->next;

    u->kind = l->kind;
    u->input = l->input;
    u->input_end = l->input_end;
    u->offset = l->next;
    u->status = l->kind->cut(l, u, &u->error);
    if (u->status == LEAT_E_NO_MEMORY && outgrew(l)) {
        if (!l->turn) {
            go_back(l, next);
            return false;
        }
        if (l->stream) /* without a stream, opening it has set the error */
            pack_setup_refuse_stream(l->setup, l->stream, &u->error);
    }
    l->ended = l->ended || u->status != LEAT_OK;
    began = clock_cpu_ns() - began;
    u->spent_ns[PACK_STEP_READ] += began;
    l->cut_ns += began;
    l->decompress_ns = l->stream ? byte_stream_decompress_ns(l->stream) : 0;
    return true;
}
