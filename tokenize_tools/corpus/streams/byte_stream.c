/*
 * byte_stream.c: gives text of files. The first bytes of the file choose the row of decompressors, or none. Text
 * goes from the file or the decompressor straight to the caller's buffer. After each frame or member the stream
 * notes a mark, from which reading can start again; in plain files any byte can be such a place. The first error is
 * kept, and reported after all text before it.
 */
#include "byte_stream.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/status.h"
#include "decompressor.h"
#include "raw_input.h"

/* Memory of a stream in addition to its window: buffers, tables. */
#define OTHER_MEMORY    ((uint64_t)512 << 10)

#define ROW(form, name) [BYTE_FORM_##form] = &decompressor_##name,
static const struct decompressor *const decompressors[BYTE_FORMS] = { DECOMPRESSORS(ROW) };

struct byte_stream {
    struct raw_input in;
    enum byte_form form;
    const struct decompressor *decompressor; /* NULL: plain */
    void *state;                             /* the decompressor's */
    uint64_t text_position;
    struct byte_mark mark; /* mark in compressed data: after the frame or member that ended last */
    bool border;           /* true if the decompressor stands at that mark */
    struct spans *spans;   /* NULL: no other thread decompresses for this stream */
    struct span *span;     /* span whose text is given now; NULL if the decompressor's is */
    size_t given;          /* bytes of the span that were given */
    uint64_t spanned;      /* bytes that spans gave */
    uint64_t decompress_ns;
    uint64_t max_memory; /* UINT64_MAX: no limit */
    bool ended, outgrew;
    struct leat_error error; /* error that all reading returns, once its status is not LEAT_OK */
};

/* ---- Opening ---------------------------------------------------------------------------------------------------- */

static bool is_called(const char *path, const struct decompressor *d)
{
    size_t length = strlen(path), bytes = strlen(d->suffix);

    return length >= bytes && strcasecmp(path + length - bytes, d->suffix) == 0;
}

const struct decompressor *byte_stream_decompressor(enum byte_form form)
{
    return decompressors[form];
}

size_t byte_stream_stem(const char *path)
{
    for (unsigned form = 1; form < BYTE_FORMS; form++)
        if (is_called(path, decompressors[form]))
            return strlen(path) - strlen(decompressors[form]->suffix);
    return strlen(path);
}

static bool begins(const struct decompressor *d, const uint8_t *head, size_t bytes)
{
    return bytes >= d->head && d->begins(head, bytes);
}

/* Finds the form by `head`, the first bytes after skippable frames, unless a form has been found. Only zstd and lz4
 * have such frames, so the file's own first bytes must fit the form, too. */
static void detect_bytes(struct byte_stream *s, const uint8_t *head, size_t bytes)
{
    for (unsigned form = 1; form < BYTE_FORMS && !s->decompressor; form++)
        if (begins(decompressors[form], head, bytes) && begins(decompressors[form], s->in.head, s->in.head_bytes)) {
            s->form = (enum byte_form)form;
            s->decompressor = decompressors[form];
        }
}

/* Finds the form. A name that promises a form must be right: a downloaded error page, for example, is not text to
 * train on. */
static enum leat_status detect(struct byte_stream *s, const char *path, struct leat_error *err)
{
    uint8_t behind[RAW_HEAD];
    enum leat_status status;
    size_t bytes;

    for (unsigned form = 1; form < BYTE_FORMS; form++) {
        const struct decompressor *d = decompressors[form];

        if (!is_called(path, d))
            continue;
        if (!d->begins(s->in.head, s->in.head_bytes))
            return first_bytes_misnamed(&s->in, path, d, err);
        s->form = (enum byte_form)form;
        s->decompressor = d;
        return LEAT_OK;
    }
    status = first_bytes_behind(&s->in, behind, &bytes, err);
    if (status != LEAT_OK)
        return status;
    detect_bytes(s, behind, bytes);
    detect_bytes(s, s->in.head, s->in.head_bytes);
    return LEAT_OK;
}

static enum leat_status open_decompressor(struct byte_stream *s, const struct byte_mark *mark, struct leat_error *err)
{
    bool behind = mark && mark->raw_offset > 0;
    enum leat_status status;

    if (!s->decompressor)
        return LEAT_OK;
    status = s->decompressor->open(&s->state, s->in.name, behind, err);
    return status == LEAT_OK ? raw_input_buffer(&s->in, err) : status;
}

enum leat_status byte_stream_open_stoppable(struct byte_stream **out, const char *path, const char *name,
                                            struct fetch_object *object, const struct byte_mark *mark,
                                            const struct input_stop *stop, struct leat_error *err)
{
    struct byte_stream *s = calloc(1, sizeof *s);
    enum leat_status status;

    *out = NULL;
    if (!s)
        return status_no_memory(err, sizeof *s);
    s->max_memory = UINT64_MAX;
    status = raw_input_open(&s->in, path, name, object, stop, err);
    if (status == LEAT_OK)
        status = detect(s, name, err);
    if (status == LEAT_OK)
        status = open_decompressor(s, mark, err);
    if (status == LEAT_OK && mark) {
        status = raw_input_seek(&s->in, mark->raw_offset, checksum_load(mark->sum), err);
        s->mark = *mark;
        s->text_position = mark->text_offset;
    }
    if (status != LEAT_OK) {
        byte_stream_close(s);
        return status;
    }
    *out = s;
    return LEAT_OK;
}

enum leat_status byte_stream_open(struct byte_stream **out, const char *path, struct leat_error *err)
{
    return byte_stream_open_stoppable(out, path, path, NULL, NULL, NULL, err);
}

enum leat_status byte_stream_open_at(struct byte_stream **out, const char *path, const struct byte_mark *mark,
                                     struct leat_error *err)
{
    return byte_stream_open_stoppable(out, path, path, NULL, mark, NULL, err);
}

void byte_stream_close(struct byte_stream *s)
{
    if (!s)
        return;
    if (s->span)
        spans_give_back(s->spans, s->span);
    spans_close(s->spans);
    if (s->state)
        s->decompressor->close(s->state);
    raw_input_close(&s->in);
    free(s);
}

/* ---- Reading ---------------------------------------------------------------------------------------------------- */

/* Marks that reading can start again here: after a frame or member whose text has been given. */
static void set_mark(struct byte_stream *s)
{
    s->mark.raw_offset = raw_input_position(&s->in);
    s->mark.text_offset = s->text_position;
    checksum_store(s->mark.sum, s->in.sum.whole);
}

static uint64_t memory_of(const struct byte_stream *s, bool max)
{
    return OTHER_MEMORY + (s->decompressor && s->decompressor->memory ? s->decompressor->memory(s->state, max) : 0);
}

/* Checks memory after the text of a step, which takes at most its own size. */
static enum leat_status check_memory(struct byte_stream *s)
{
    uint64_t bytes = s->max_memory < UINT64_MAX ? memory_of(s, false) : 0;

    s->outgrew = bytes > s->max_memory;
    if (!s->outgrew)
        return LEAT_OK;
    return status_set_at(&s->error, LEAT_E_NO_MEMORY, s->in.name, raw_input_position(&s->in),
                         "%s: the %s data needs more than %llu bytes of memory at compressed byte %llu", s->in.name,
                         s->decompressor->name, (unsigned long long)s->max_memory,
                         (unsigned long long)raw_input_position(&s->in));
}

/* Gives some text of a span that another thread has decompressed. */
static void give_span(struct byte_stream *s, uint8_t *buf, size_t room, size_t *got)
{
    struct span *span = s->span;
    size_t left = span->bytes - s->given;

    *got = left < room ? left : room;
    memcpy(buf, span->text + s->given, *got);
    s->given += *got;
    s->spanned += *got;
    s->text_position += *got;
    if (s->given < span->bytes)
        return;
    raw_input_pass(&s->in, &span->sum);
    set_mark(s);
    spans_give_back(s->spans, span);
    s->span = NULL;
}

/* Gives some text, or sets s->ended. */
static enum leat_status read_step(struct byte_stream *s, uint8_t *buf, size_t room, size_t *got)
{
    enum decompressor_step what = STEP_MORE;
    enum leat_status status;

    if (!s->span && s->spans && s->border) {
        s->span = spans_take(s->spans, raw_input_position(&s->in));
        s->given = 0;
    }
    if (s->span) {
        give_span(s, buf, room, got);
        return LEAT_OK;
    }
    if (s->decompressor) {
        status = s->decompressor->step(s->state, &s->in, buf, room, got, &what, &s->error);
    } else {
        status = raw_input_read(&s->in, buf, room, got, &s->error);
        what = *got == 0 ? STEP_END : STEP_MORE;
    }
    s->text_position += *got;
    if (status != LEAT_OK)
        return status;
    s->ended = what == STEP_END;
    s->border = what == STEP_BORDER;
    if (s->border)
        set_mark(s);
    return check_memory(s);
}

/* Reads until the buffer is full if `all`, else until it holds something. */
static enum leat_status read_text(struct byte_stream *s, void *buf, size_t room, bool all, size_t *got,
                                  struct leat_error *err)
{
    uint64_t began = s->decompressor ? clock_cpu_ns() : 0;
    uint64_t spanned = s->spanned;
    uint8_t *to = buf;
    size_t some;

    *got = 0;
    while (*got < room && (all || *got == 0) && !s->ended && s->error.status == LEAT_OK) {
        s->error.status = read_step(s, to + *got, room - *got, &some);
        *got += some;
    }
    if (s->decompressor && s->spanned == spanned)
        s->decompress_ns += clock_cpu_ns() - began;
    if (*got > 0 || s->error.status == LEAT_OK)
        return LEAT_OK;
    if (err)
        *err = s->error;
    return s->error.status;
}

enum leat_status byte_stream_read(struct byte_stream *s, void *buf, size_t room, size_t *got, struct leat_error *err)
{
    return read_text(s, buf, room, true, got, err);
}

enum leat_status byte_stream_read_some(struct byte_stream *s, void *buf, size_t room, size_t *got,
                                       struct leat_error *err)
{
    return read_text(s, buf, room, false, got, err);
}

void byte_stream_share(struct byte_stream *s, uint64_t most)
{
    if (s->decompressor && !s->in.fetch) /* not for a fetch, which has one reader: spans would ask for all bytes
                                            twice */
        s->spans = spans_open(&s->in, s->decompressor, most);
}

/* ---- Facts about a stream --------------------------------------------------------------------------------------- */

enum byte_form byte_stream_form(const struct byte_stream *s)
{
    return s->form;
}

const char *byte_stream_name(const struct byte_stream *s)
{
    return s->in.name;
}

uint64_t byte_stream_raw_position(const struct byte_stream *s)
{
    return raw_input_position(&s->in);
}

uint64_t byte_stream_text_position(const struct byte_stream *s)
{
    return s->text_position;
}

struct spans *byte_stream_spans(const struct byte_stream *s)
{
    return s->spans;
}

uint64_t byte_stream_decompress_ns(const struct byte_stream *s)
{
    return s->decompress_ns;
}

double byte_stream_divisible(const struct byte_stream *s, uint64_t most)
{
    struct member_file file = { .fd = s->in.fd, .size = s->in.size };
    uint64_t members = 0, end = 0;
    struct member m;

    if (!s->in.seekable || s->in.fetch || !s->decompressor || !s->decompressor->find || s->in.size == 0)
        return 0;
    while (s->decompressor->find(&file, end, most, &m) && m.end <= file.size) {
        end = m.end;
        members++;
    }
    return members > 1 ? (double)end / (double)file.size : 0;
}

bool byte_stream_waits(const struct byte_stream *s, uint64_t bytes)
{
    uint64_t left = s->span ? s->span->bytes - s->given : 0;

    return s->spans && (s->span || s->border) &&
           spans_wait(s->spans, s->span ? s->span->end : raw_input_position(&s->in), left, bytes);
}

uint64_t byte_stream_size(const struct byte_stream *s)
{
    return s->in.size;
}

uint64_t byte_stream_memory(const struct byte_stream *s)
{
    return memory_of(s, false);
}

uint64_t byte_stream_max_memory(const struct byte_stream *s)
{
    return memory_of(s, true);
}

void byte_stream_limit_memory(struct byte_stream *s, uint64_t bytes)
{
    s->max_memory = bytes;
    if (s->outgrew && memory_of(s, false) <= bytes) { /* nothing was lost */
        s->outgrew = false;
        s->error.status = LEAT_OK;
    }
}

bool byte_stream_outgrew(const struct byte_stream *s)
{
    return s->outgrew;
}

void byte_stream_hash(const struct byte_stream *s, uint8_t hash[16])
{
    checksum_store(hash, page_sum_now(&s->in.sum));
}

void byte_stream_mark(const struct byte_stream *s, struct byte_mark *mark)
{
    *mark = s->mark;
    if (s->form != BYTE_FORM_PLAIN)
        return;
    mark->raw_offset = s->text_position - s->text_position % CHECKSUM_PAGE;
    mark->text_offset = mark->raw_offset;
    checksum_store(mark->sum, s->in.sum.whole);
}
