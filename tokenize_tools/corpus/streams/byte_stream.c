/*
 * byte_stream.c: see byte_stream.h. The first bytes of the file choose the row of decompressors, or none. Text goes
 * from the file or the decompressor straight to the caller's buffer. After each frame or member a mark is kept, from
 * which reading can start again; in plain files any byte is such a place. The first error stays, after all text before
 * it.
 */
#include "byte_stream.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/status.h"
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
    struct byte_mark mark; /* in compressed data: after the frame or member that ended last */
    bool ended;
    struct leat_error error; /* once its status is not LEAT_OK, it is what reading says */
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

/* A name that says a form must be right: an error page that was downloaded, for example, is not text to train on. */
static enum leat_status detect(struct byte_stream *s, const char *path, struct leat_error *err)
{
    const struct raw_input *in = &s->in;

    for (unsigned form = 1; form < BYTE_FORMS; form++) {
        const struct decompressor *d = decompressors[form];
        bool begins = d->begins(in->head, in->head_bytes), called = is_called(path, d);

        if (called && !begins)
            return status_set_at(err, LEAT_E_TEXT, 0,
                                 "%s is named %s, but does not start like a %s file; rename it if it is not "
                                 "compressed, or get a new copy",
                                 path, d->suffix, d->name);
        if (called || (begins && in->head_bytes >= d->head && !s->decompressor)) {
            s->form = (enum byte_form)form;
            s->decompressor = d;
        }
    }
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

static enum leat_status go_on(struct byte_stream *s, const struct byte_mark *mark, struct leat_error *err)
{
    enum leat_status status = raw_input_seek(&s->in, mark->raw_offset, checksum_load(mark->sum), err);

    s->mark = *mark;
    s->text_position = mark->text_offset;
    return status;
}

static enum leat_status open_stream(struct byte_stream **out, const char *path, const struct byte_mark *mark,
                                    struct leat_error *err)
{
    struct byte_stream *s = calloc(1, sizeof *s);
    enum leat_status status;

    *out = NULL;
    if (!s)
        return status_no_memory(err, sizeof *s);
    status = raw_input_open(&s->in, path, err);
    if (status == LEAT_OK)
        status = detect(s, path, err);
    if (status == LEAT_OK)
        status = open_decompressor(s, mark, err);
    if (status == LEAT_OK && mark)
        status = go_on(s, mark, err);
    if (status != LEAT_OK) {
        byte_stream_close(s);
        return status;
    }
    *out = s;
    return LEAT_OK;
}

enum leat_status byte_stream_open(struct byte_stream **out, const char *path, struct leat_error *err)
{
    return open_stream(out, path, NULL, err);
}

enum leat_status byte_stream_open_at(struct byte_stream **out, const char *path, const struct byte_mark *mark,
                                     struct leat_error *err)
{
    return open_stream(out, path, mark, err);
}

void byte_stream_close(struct byte_stream *s)
{
    if (!s)
        return;
    if (s->decompressor)
        s->decompressor->close(s->state);
    raw_input_close(&s->in);
    free(s);
}

/* ---- Reading ---------------------------------------------------------------------------------------------------- */

/* Reading can start again here: after a frame or member whose text has been given. */
static void set_mark(struct byte_stream *s)
{
    s->mark.raw_offset = raw_input_position(&s->in);
    s->mark.text_offset = s->text_position;
    checksum_store(s->mark.sum, s->in.sum.whole);
}

/* Some text, or s->ended. */
static enum leat_status step(struct byte_stream *s, uint8_t *buf, size_t room, size_t *got)
{
    enum decompressor_step what = STEP_MORE;
    enum leat_status status;

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
    if (what == STEP_BORDER)
        set_mark(s);
    return LEAT_OK;
}

/* Until the buffer is full if `all`, else until it holds something. */
static enum leat_status read_text(struct byte_stream *s, void *buf, size_t room, bool all, size_t *got,
                                  struct leat_error *err)
{
    uint8_t *to = buf;
    size_t some;

    *got = 0;
    while (*got < room && (all || *got == 0) && !s->ended && s->error.status == LEAT_OK) {
        s->error.status = step(s, to + *got, room - *got, &some);
        *got += some;
    }
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

/* ---- What is known ---------------------------------------------------------------------------------------------- */

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

uint64_t byte_stream_size(const struct byte_stream *s)
{
    return s->in.size;
}

uint64_t byte_stream_memory(const struct byte_stream *s)
{
    uint64_t window = s->decompressor && s->decompressor->memory ? s->decompressor->memory(s->state) : 0,
             text = s->text_position - s->mark.text_offset;

    return OTHER_MEMORY + (window < text ? window : text);
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
