/* row_input.c: see row_input.h. */
#include "row_input.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/status.h"
#include "base/tiny.h"
#include "base/wide.h"
#include "corpus/parquet/parquet.h"
#include "corpus/streams/raw_input.h"
#include "spool.h"

/* ---- Bytes of rows ----------------------------------------------------------------------------------------------- */

#define HEAD_BYTES 4u
#define FOOTER_BYTES                                                                                                   \
    TINY_OR((uint64_t)256, (uint64_t)256 << 10) /* bytes that are read first; most footers are
                                                                    smaller */

/* Makes another reader of an object whose footer was read, for a thread of its own. */
static void row_bytes_begin(struct row_bytes *b, const struct input *in, const struct input_stop *stop)
{
    *b = (struct row_bytes) { .input = in, .stop = stop, .fd = -1 };
}

static void close_stretches(struct row_stretches *s)
{
    while (s->count > 0)
        fetch_close(s->of[--s->count].fetch);
}

static void row_bytes_close(struct row_bytes *b)
{
    file_close(&b->fd);
    close_stretches(&b->ahead[0]);
    close_stretches(&b->ahead[1]);
    fetch_close(b->other);
    b->other = NULL;
}

static enum leat_status add_stretch(struct row_stretches *s, struct fetch_object *object, uint64_t begin,
                                    uint64_t bytes, uint64_t window, struct leat_error *err)
{
    struct row_stretch *one = &s->of[s->count];
    enum leat_status status = fetch_open_stretch(&one->fetch, object, begin, begin + bytes, window, err);

    one->begin = begin;
    one->end = begin + bytes;
    s->count += status == LEAT_OK;
    return status;
}

/* Reads the head, which says that the file is Parquet, and its end, which says where everything is. */
static enum leat_status open_object(struct row_bytes *b, struct leat_error *err)
{
    uint64_t size = b->input->size, footer = FOOTER_BYTES < size ? FOOTER_BYTES : size;
    struct row_stretches *s = &b->ahead[0];
    enum leat_status status = LEAT_OK;

    s->group = LEAT_NONE;
    if (footer < size)
        status = add_stretch(s, b->input->object, 0, HEAD_BYTES, HEAD_BYTES, err);
    return status == LEAT_OK ? add_stretch(s, b->input->object, size - footer, footer, 2 * footer, err) : status;
}

/* Begins to read a file or an object. row_bytes_close() must follow, on failure too. */
static enum leat_status row_bytes_open(struct row_bytes *b, const struct input *in, const struct input_stop *stop,
                                       struct leat_error *err)
{
    uint64_t size;
    enum leat_status s;

    row_bytes_begin(b, in, stop);
    if (in->object)
        return open_object(b, err);
    s = input_open(&b->fd, &size, in->place, stop, err);
    if (s == LEAT_OK && size != in->size)
        s = status_in_file(err, status_argument(err, "inputs", "%s has changed since packing began", in->path),
                           in->path);
    return s;
}

/* Announces the columns of a group. They are read side by side, row by row: the share of memory of each is its share
 * of the group's bytes. */
static enum leat_status announce(struct row_stretches *s, struct fetch_object *object, const struct parquet_file *file,
                                 uint64_t group, struct leat_error *err)
{
    uint64_t window = fetch_object_window(object) / 2, begin, bytes, all = 0;
    enum leat_status status = LEAT_OK;

    close_stretches(s);
    s->group = group;
    for (unsigned i = 0; i < parquet_stretches(file); i++) {
        parquet_stretch(file, group, i, &begin, &bytes);
        all += bytes;
    }
    for (unsigned i = 0; status == LEAT_OK && i < parquet_stretches(file); i++) {
        parquet_stretch(file, group, i, &begin, &bytes);
        if (bytes > 0)
            status = add_stretch(s, object, begin, bytes, (uint64_t)((wide_u128)window * bytes / all), err);
    }
    return status;
}

/* Begins a group, and fetches ahead the next one, if that is below `stop`. */
static enum leat_status row_bytes_announce(struct row_bytes *b, const struct parquet_file *file, uint64_t group,
                                           uint64_t stop, struct leat_error *err)
{
    struct row_stretches *now = &b->ahead[0], *next = &b->ahead[1];
    enum leat_status s = LEAT_OK;

    if (next->count > 0 && next->group == group) {
        close_stretches(now);
        *now = *next;
        next->count = 0;
    }
    if (now->count == 0 || now->group != group)
        s = announce(now, b->input->object, file, group, err);
    if (s == LEAT_OK && group + 1 < stop && (next->count == 0 || next->group != group + 1))
        s = announce(next, b->input->object, file, group + 1, err);
    return s;
}

/* Returns the fetch that holds a place of the file. Where two stretches overlap, that is the later one's. */
static struct fetch *find_fetch(const struct row_bytes *b, uint64_t offset)
{
    const struct row_stretch *found = NULL;

    for (unsigned i = 0; i < 2; i++)
        for (unsigned c = 0; c < b->ahead[i].count; c++) {
            const struct row_stretch *s = &b->ahead[i].of[c];

            if (offset >= s->begin && offset < s->end && (!found || s->begin > found->begin))
                found = s;
        }
    return found ? found->fetch : NULL;
}

/* For struct parquet_source. */
static bool row_bytes_stopped(void *row_bytes)
{
    const struct row_bytes *b = row_bytes;

    return b->stop && b->stop->asked && b->stop->asked(b->stop->context);
}

static enum leat_status row_bytes_read(void *row_bytes, uint64_t offset, void *out, uint64_t count,
                                       struct leat_error *err)
{
    struct row_bytes *b = row_bytes;
    struct fetch *from;
    enum leat_status s = LEAT_OK;

    if (!b->input->object) {
        const struct input_file file = inputs_file(b->input, b->fd);

        return input_read_at(&file, offset, out, count, b->stop, err);
    }
    from = find_fetch(b, offset);
    if (!from && !b->other)
        s = fetch_open(&b->other, b->input->object, err);
    return s == LEAT_OK ? fetch_read_all(from ? from : b->other, offset, out, (size_t)count, b->stop, err) : s;
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

/* An opened file, which all readers of its groups share. */
struct row_file {
    atomic_uint users;
    const struct input *input;
    const struct input_stop *stop;
    struct row_bytes bytes;
    struct parquet_file *parquet;
    const struct record_fields *fields;
};

struct row_input {
    struct row_file *of;
    const struct parquet_file *file; /* its contents */
    struct row_bytes bytes;          /* the reader's own fetches of an object's bytes; all readers share those of a
                                        file */
    struct parquet_reader *reader;   /* reader of the current group; NULL between groups */
    uint64_t first, end;             /* row groups of the share: the first, and the one after the last */
    uint64_t group, stop;            /* current group, and the first group that another input reads */
    uint64_t row;                    /* number in the file of the next row */
    uint64_t limit;
    bool map;                   /* true if pages beyond the limit lie in files */
    atomic_uint_least64_t left; /* bytes of pages that units still use after their readers */
    struct record record;
    uint64_t last, last_group; /* the row whose values are in the record, and its group */
    bool again;                /* it comes again */
    struct leat_error damage;
};

/* Returns how many row groups begin before byte `at`. A group without pages begins where the one before it does. */
static uint64_t groups_before(const struct parquet_file *file, uint64_t at)
{
    uint64_t begin = 0, count = 0;

    for (; count < parquet_groups(file); count++) {
        const struct parquet_group *g = parquet_group(file, count);

        begin = g->bytes > 0 && g->begin > begin ? g->begin : begin;
        if (begin >= at)
            break;
    }
    return count;
}

/* Returns the number of a group's first row; after the last group, the number of all rows. */
static uint64_t first_row(const struct parquet_file *file, uint64_t group)
{
    return group < parquet_groups(file) ? parquet_group(file, group)->first_row : parquet_rows(file);
}

/* Goes to the share's first row, or to `next`. */
static void go_to(struct row_input *in, uint64_t next)
{
    const struct input *input = in->of->input;

    in->first = in->group = input->begin > 0 ? groups_before(in->file, input->begin) : 0;
    in->end = input->end < input->size ? groups_before(in->file, input->end) : parquet_groups(in->file);
    in->stop = in->end;
    in->row = first_row(in->file, in->first);
    in->row = next > in->row ? next : in->row;
    while (in->group < in->end && in->row >= first_row(in->file, in->group + 1))
        in->group++;
}

static void file_leave(struct row_file *of)
{
    if (atomic_fetch_sub(&of->users, 1) > 1)
        return;
    parquet_close(of->parquet);
    row_bytes_close(&of->bytes);
    free(of);
}

/* The types of columns that may serve each use. */
static const enum parquet_use uses[RECORD_USES] = {
    [RECORD_TEXT] = PARQUET_TEXT,    [RECORD_MESSAGES] = PARQUET_JSON, [RECORD_COMPLETION] = PARQUET_TEXT,
    [RECORD_PROMPT] = PARQUET_TEXT,  [RECORD_CONTEXT] = PARQUET_TEXT,  [RECORD_SPANS] = PARQUET_JSON,
    [RECORD_TOOLS] = PARQUET_TEXT,   [RECORD_BY] = PARQUET_ID,         [RECORD_ID] = PARQUET_ID,
    [RECORD_VALUE] = PARQUET_VALUE,  [RECORD_EXISTS] = PARQUET_EXISTS, [RECORD_NUMBER] = PARQUET_NUMBER,
    [RECORD_NUMBERS] = PARQUET_JSON, [RECORD_CATEGORY] = PARQUET_TEXT,
};

static struct parquet_want column_for(const struct record_want *want, size_t max_bytes)
{
    struct parquet_want column = { .path = want->path, .use = uses[want->use], .hint = record_hints[want->use] };

    if (want->list)
        column.use = PARQUET_JSON;
    if (column.use == PARQUET_JSON)
        column.max_bytes = max_bytes;
    if (want->use == RECORD_ID)
        column.optional = !want->needed;
    column.may_lack = !want->needed && (want->use == RECORD_TOOLS || want->use == RECORD_CONTEXT);
    if (want->use == RECORD_TOOLS)
        column.advice = "tools are read from strings that hold them as JSON; an empty name leaves them out";
    return column;
}

static enum leat_status check_count(const struct record_fields *fields, const struct input *in, struct leat_error *err)
{
    size_t conditions = 0;

    for (size_t i = 0; i < fields->count; i++)
        conditions += fields->wants[i].use == RECORD_VALUE || fields->wants[i].use == RECORD_EXISTS;
    return fields->count > PARQUET_MAX_COLUMNS
               ? status_in_file(err,
                                status_argument(err, "keep", "%s: too many conditions for a Parquet file; at most %zu",
                                                in->path, PARQUET_MAX_COLUMNS - (fields->count - conditions)),
                                in->path)
               : LEAT_OK;
}

static enum leat_status file_open(struct row_file **out, const struct pack_setup *setup, size_t input, uint64_t most,
                                  struct leat_error *err)
{
    const struct record_fields *fields = &setup->fields;
    struct parquet_want columns[PARQUET_MAX_COLUMNS];
    const struct input *in = &setup->inputs.items[input];
    struct row_file *of = calloc(1, sizeof *of);
    uint64_t needs = 0;
    struct parquet_source source = { .read = row_bytes_read,
                                     .size = in->size,
                                     .name = in->path,
                                     .most = most,
                                     .needs = &needs,
                                     .map = spool_map,
                                     .beside = setup->output,
                                     .stopped = row_bytes_stopped };
    enum leat_status s;

    if (!of)
        return status_no_memory(err, sizeof *of);
    of->input = in;
    of->stop = &setup->stop;
    of->users = 1;
    of->fields = fields;
    source.context = &of->bytes;
    s = row_bytes_open(&of->bytes, in, of->stop, err);
    if (s == LEAT_OK)
        s = check_count(fields, in, err);
    for (size_t i = 0; s == LEAT_OK && i < fields->count; i++)
        columns[i] = column_for(&fields->wants[i], setup->whole_bytes);
    if (s == LEAT_OK)
        s = parquet_open(&of->parquet, &source, columns, (unsigned)fields->count, err);
    if (s == LEAT_E_NO_MEMORY && needs > most)
        pack_setup_refuse(setup, in->path, needs, "the places of its row groups", err);
    if (in->object) /* each reader fetches the rest for itself */
        row_bytes_close(&of->bytes);
    if (s == LEAT_OK)
        *out = of;
    else
        file_leave(of);
    return s;
}

static enum leat_status new_input(struct row_input **out, struct row_file *of, struct leat_error *err)
{
    struct row_input *in = calloc(1, sizeof *in);
    enum leat_status s = in ? record_make(&in->record, of->fields, err) : status_no_memory(err, sizeof *in);

    *out = s == LEAT_OK ? in : NULL;
    if (s != LEAT_OK) {
        if (in)
            record_free(&in->record);
        free(in);
        return s;
    }
    in->of = of;
    in->file = of->parquet;
    in->limit = UINT64_MAX;
    row_bytes_begin(&in->bytes, of->input, of->stop);
    return LEAT_OK;
}

enum leat_status row_input_open(struct row_input **out, const struct pack_setup *setup, size_t input, uint64_t next,
                                uint64_t most, struct leat_error *err)
{
    struct row_file *of = NULL;
    enum leat_status s = file_open(&of, setup, input, most, err);

    *out = NULL;
    if (s != LEAT_OK)
        return s;
    s = new_input(out, of, err);
    if (s != LEAT_OK) {
        file_leave(of);
        return s;
    }
    go_to(*out, next);
    return LEAT_OK;
}

void row_input_close(struct row_input *in)
{
    if (!in)
        return;
    parquet_reader_close(in->reader);
    row_bytes_close(&in->bytes);
    file_leave(in->of);
    record_free(&in->record);
    free(in);
}

enum leat_status row_input_divide(struct row_input *in, uint64_t bytes, struct row_input **rest, struct leat_error *err)
{
    uint64_t stop = in->group, taken = 0;
    enum leat_status s;

    *rest = NULL;
    while (stop < in->end && (taken < bytes || first_row(in->file, stop) <= in->row))
        taken += parquet_group(in->file, stop++)->bytes;
    if (first_row(in->file, stop) == first_row(in->file, in->end))
        return LEAT_OK;
    s = new_input(rest, in->of, err);
    if (s != LEAT_OK)
        return s;
    atomic_fetch_add(&in->of->users, 1);
    (*rest)->first = in->first;
    (*rest)->group = in->stop = stop;
    (*rest)->stop = (*rest)->end = in->end;
    (*rest)->row = first_row(in->file, stop);
    return LEAT_OK;
}

bool row_input_is_damage(enum leat_status s)
{
    return s == LEAT_E_TEXT || s == LEAT_E_CHECKSUM || s == LEAT_E_TRUNCATED;
}

static void close_group(struct row_input *in)
{
    parquet_reader_close(in->reader);
    in->reader = NULL;
}

void row_input_go_back(struct row_input *in, uint64_t row)
{
    close_group(in);
    in->again = false;
    in->row = row;
    while (in->group > 0 && first_row(in->file, in->group) > row)
        in->group--;
}

/* Opens the group of the next row, and skips groups without rows. */
static enum leat_status open_group(struct row_input *in, struct leat_error *err)
{
    struct row_bytes *own = in->of->input->object ? &in->bytes : NULL;
    enum leat_status s = LEAT_OK;

    while (in->group < in->stop && in->row >= first_row(in->file, in->group + 1))
        in->group++;
    if (in->group == in->stop)
        return LEAT_OK;
    if (own)
        s = row_bytes_announce(own, in->file, in->group, in->stop, err);
    if (s == LEAT_OK)
        s = parquet_reader_open(&in->reader, in->file, own, in->group, in->row - first_row(in->file, in->group), err);
    if (s != LEAT_OK)
        return s;
    parquet_reader_lends(in->reader, &in->left);
    row_input_limit(in, in->limit, in->map);
    return LEAT_OK;
}

/* Returns the kind of a value that is not null. */
static enum json_kind kind_of(const struct row_input *in, uint32_t want)
{
    const struct record_want *w = &in->of->fields->wants[want];

    if (w->list)
        return JSON_KIND_ARRAY;
    return (w->use == RECORD_VALUE || w->use == RECORD_NUMBER) && parquet_is_number(in->file, want) ? JSON_KIND_NUMBER
                                                                                                    : JSON_KIND_STRING;
}

static void fill_record(struct row_input *in, const struct parquet_value *values)
{
    const struct record_fields *fields = in->of->fields;

    record_begin_row(&in->record);
    for (uint32_t i = 0; i < fields->count; i++)
        if ((fields->wants[i].use == RECORD_SPANS || fields->wants[i].use == RECORD_NUMBERS ||
             (fields->wants[i].list && fields->prompt != RECORD_NONE)) &&
            values[i].size < SIZE_MAX)
            record_put_json(&in->record, i, values[i].bytes, values[i].size);
        else
            record_put(&in->record, i, kind_of(in, i), values[i].bytes, values[i].size);
}

/* Finds how many bytes cannot be read. If a page lies elsewhere than its group says, the whole group counts. */
static void find_unread(const struct row_input *in, struct row *row)
{
    const struct parquet_group *g = parquet_group(in->file, in->group);
    bool inside = in->damage.offset >= g->begin && in->damage.offset - g->begin < g->bytes;

    row->damage_at = inside ? in->damage.offset : g->begin;
    row->unread = g->begin + g->bytes - row->damage_at;
}

enum leat_status row_input_next(struct row_input *in, struct row *row, bool *found, struct leat_error *err)
{
    struct parquet_value values[PARQUET_MAX_COLUMNS] = { { NULL, 0 } };
    enum leat_status s = LEAT_OK;

    *found = in->again;
    while (s == LEAT_OK && !*found) {
        if (!in->reader)
            s = open_group(in, err);
        if (s != LEAT_OK || !in->reader)
            return s;
        s = parquet_reader_next(in->reader, values, found, &in->damage);
        if (s == LEAT_OK && !*found)
            close_group(in);
    }
    if (s == LEAT_E_TEXT || s == LEAT_E_CHECKSUM) {
        *found = true;
        *row = (struct row) { .number = in->row, .group = in->group, .damage = in->damage.message };
        find_unread(in, row);
        close_group(in);
        in->row = first_row(in->file, in->group + 1);
        row->lost = in->row - row->number;
        return LEAT_OK;
    }
    if (s != LEAT_OK) {
        if (err)
            *err = in->damage;
        return s;
    }
    if (!in->again) {
        fill_record(in, values);
        in->last = in->row;
        in->last_group = in->group;
    }
    in->again = false;
    in->row = in->last + 1;
    *row = (struct row) { .number = in->last, .group = in->last_group, .record = &in->record };
    return LEAT_OK;
}

struct parquet_loan *row_input_lend(struct row_input *in, uint32_t want, size_t least)
{
    const struct record_value *v = record_value(&in->record, want);
    const struct parquet_value value = { (const uint8_t *)v->at, v->held };

    return in->reader ? parquet_reader_lend(in->reader, want, &value, least) : NULL;
}

bool row_input_leaves(const struct row_input *in, uint32_t want, const struct parquet_loan *loan)
{
    return in->reader && parquet_reader_leaves(in->reader, want, loan);
}

void row_input_rest(struct row_input *in)
{
    if (in->reader)
        parquet_reader_rest(in->reader);
}

void row_input_back(struct row_input *in)
{
    in->again = true;
    in->row--;
}

bool row_input_is_last(const struct row_input *in)
{
    return in->stop == in->end;
}

uint64_t row_input_at(const struct row_input *in)
{
    return in->row;
}

uint64_t row_input_group(const struct row_input *in)
{
    uint64_t group = in->group;

    while (group < in->end && in->row >= first_row(in->file, group + 1))
        group++;
    return group;
}

uint64_t row_input_bytes(const struct row_input *in)
{
    uint64_t first = first_row(in->file, in->first), rows = first_row(in->file, in->end) - first;
    uint64_t bytes = in->of->input->end - in->of->input->begin;

    return rows > 0 ? (uint64_t)((wide_u128)bytes * (in->row - first) / rows) : bytes;
}

/* ---- Memory: that of the file counts for the last of those that read it ---- */

static uint64_t file_memory(const struct row_input *in)
{
    return row_input_is_last(in) ? parquet_memory(in->file) : 0;
}

uint64_t row_input_memory(const struct row_input *in)
{
    return file_memory(in) + atomic_load(&in->left) + (in->reader ? parquet_reader_memory(in->reader) : 0);
}

void row_input_limit(struct row_input *in, uint64_t bytes, bool map)
{
    uint64_t held = file_memory(in);

    in->limit = bytes;
    in->map = map;
    if (in->reader)
        parquet_reader_limit(in->reader, bytes > held ? bytes - held : 0, map);
}

bool row_input_outgrew(const struct row_input *in)
{
    return in->reader && parquet_reader_outgrew(in->reader);
}
