/* document_input.c: lines of a byte stream, and the documents in them. */
#include "document_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/show.h"
#include "base/status.h"
#include "corpus/streams/byte_stream.h"
#include "fetch/fetch.h"
#include "lines.h"
#include "record_format.h"

/* ---- A text ------------------------------------------------------------------------------------------------------ */

/* Reads a stream as text. Its bytes are added at the end of `text`; bytes that were given out are removed from its
 * front. */

#define TEXT_BYTES ((size_t)256 << 10) /* at first */

struct text_input {
    struct byte_stream *stream;
    char *text;
    size_t begin, end, room; /* text[begin..end) is not given out yet */
    bool text_end;
    uint64_t line;
};

enum leat_status text_input_open(struct text_input **out, const char *path, struct leat_error *err)
{
    struct text_input *in = calloc(1, sizeof *in);
    enum leat_status s;

    *out = NULL;
    if (!in)
        return status_no_memory(err, sizeof *in);
    in->text = malloc(TEXT_BYTES);
    in->room = TEXT_BYTES;
    s = in->text ? byte_stream_open(&in->stream, path, err) : status_no_memory(err, TEXT_BYTES);
    if (s != LEAT_OK) {
        text_input_close(in);
        return s;
    }
    *out = in;
    return LEAT_OK;
}

void text_input_close(struct text_input *in)
{
    if (!in)
        return;
    byte_stream_close(in->stream);
    free(in->text);
    free(in);
}

/* Makes room after the text: by moving it to the front if that frees half of the buffer, else by growing. */
static enum leat_status make_room(struct text_input *in, struct leat_error *err)
{
    char *text;

    if (in->end < in->room)
        return LEAT_OK;
    if (in->begin >= in->room / 2) {
        memmove(in->text, in->text + in->begin, in->end - in->begin);
        in->end -= in->begin;
        in->begin = 0;
        return LEAT_OK;
    }
    text = in->room <= SIZE_MAX / 2 ? realloc(in->text, 2 * in->room) : NULL;
    if (!text)
        return status_set_in(err, LEAT_E_NO_MEMORY, byte_stream_name(in->stream),
                             "not enough memory for a text of more than %zu bytes of %s", in->end - in->begin,
                             byte_stream_name(in->stream));
    in->text = text;
    in->room *= 2;
    return LEAT_OK;
}

/* Reads at least one more byte of text, or sets text_end. */
static enum leat_status read_text(struct text_input *in, struct leat_error *err)
{
    enum leat_status s = make_room(in, err);
    size_t got;

    if (s == LEAT_OK)
        s = byte_stream_read_some(in->stream, in->text + in->end, in->room - in->end, &got, err);
    if (s != LEAT_OK)
        return s;
    in->end += got;
    in->text_end = got == 0;
    return LEAT_OK;
}

enum leat_status text_input_line(struct text_input *in, char **line, size_t *bytes, bool *found, struct leat_error *err)
{
    size_t searched = 0; /* bytes from `begin` on that hold no newline */
    const char *newline;
    enum leat_status s;

    for (;;) {
        newline = memchr(in->text + in->begin + searched, '\n', in->end - in->begin - searched);
        if (newline || in->text_end)
            break;
        searched = in->end - in->begin;
        s = read_text(in, err);
        if (s != LEAT_OK)
            return s;
    }
    *found = in->begin < in->end;
    *line = in->text + in->begin;
    *bytes = newline ? (size_t)(newline - *line) : in->end - in->begin;
    in->begin += *bytes + (newline != NULL);
    in->line += *found;
    return LEAT_OK;
}

/* Gives all text that is left. *text is the input's until its next call. */
static enum leat_status text_input_rest(struct text_input *in, char **text, size_t *bytes, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    while (s == LEAT_OK && !in->text_end)
        s = read_text(in, err);
    if (s != LEAT_OK)
        return s;
    *text = in->text + in->begin;
    *bytes = in->end - in->begin;
    in->begin = in->end;
    return LEAT_OK;
}

/* Gives a chunk of what is left, cut anywhere; *bytes is 0 at its end. *text is the input's until its next call. */
static enum leat_status text_input_chunk(struct text_input *in, char **text, size_t *bytes, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    if (in->begin == in->end && !in->text_end) {
        in->begin = in->end = 0;
        s = read_text(in, err);
    }
    *text = in->text + in->begin;
    *bytes = s == LEAT_OK ? in->end - in->begin : 0;
    in->begin = in->end;
    return s;
}

/* ---- Messages --------------------------------------------------------------------------------------------------- */

enum leat_status text_input_blame(const struct text_input *in, bool line, struct leat_error *err)
{
    char sentence[sizeof err->message];
    size_t place;

    memcpy(sentence, err->message, sizeof sentence);
    if (line)
        snprintf(err->message, sizeof err->message, "%.300s, line %llu: ", byte_stream_name(in->stream),
                 (unsigned long long)in->line);
    else
        snprintf(err->message, sizeof err->message, "%.300s: ", byte_stream_name(in->stream));
    place = strlen(err->message);
    snprintf(err->message + place, sizeof err->message - place, "%.600s", sentence);
    show_in_place(err->message, sizeof err->message);
    return err->status;
}

/* ---- Its documents ----------------------------------------------------------------------------------------------- */

struct document_input {
    struct text_input *input;
    const struct record_format *format;
    struct record_fields fields;
    struct record record;
    bool done; /* the whole input has been given */
};

/* Returns the format of a file. A file whose name does not give a format is one document. */
static const struct record_format *format_of(const char *path, enum document_kind kind)
{
    const struct record_format *format = record_format_of_name(path);

    if (kind != DOCUMENT_BY_NAME)
        return kind == DOCUMENT_JSONL ? &format_jsonl : &format_text;
    return format ? format : &format_text;
}

enum leat_status document_input_open(struct document_input **out, const char *path, enum document_kind kind,
                                     const char *field, struct leat_error *err)
{
    struct document_input *in;
    enum leat_status s;

    *out = NULL;
    if (fetch_is_url(path))
        return status_set_in(
            err, LEAT_E_UNSUPPORTED, path,
            "%s is a URL, which is read only to be packed; download it first, or pipe it to standard input", path);
    in = calloc(1, sizeof *in);
    if (!in)
        return status_no_memory(err, sizeof *in);
    in->format = format_of(path, kind);
    if (in->format->rows || in->format->delimiter) {
        bool rows = in->format->rows;

        free(in);
        return status_set_in(err, LEAT_E_UNSUPPORTED, path, "%s is a %s, which is read only to be packed", path,
                             rows ? "Parquet file" : "table");
    }
    s = record_want_texts(&in->fields, field, NULL, err);
    if (s == LEAT_OK)
        s = record_make(&in->record, &in->fields, err);
    if (s == LEAT_OK)
        s = text_input_open(&in->input, path, err);
    if (s != LEAT_OK) {
        document_input_close(in);
        return s;
    }
    *out = in;
    return LEAT_OK;
}

void document_input_close(struct document_input *in)
{
    if (!in)
        return;
    text_input_close(in->input);
    record_free(&in->record);
    record_fields_free(&in->fields);
    free(in);
}

static enum leat_status next_record(struct document_input *in, const char **text, size_t *bytes, bool *found,
                                    struct leat_error *err)
{
    char *line;
    size_t length;
    enum leat_status s;

    do {
        s = text_input_line(in->input, &line, &length, found, err);
        if (s != LEAT_OK || !*found)
            return s;
        if (in->input->line == 1) {
            size_t mark = lines_mark(line, length);

            line += mark;
            length -= mark;
        }
    } while (lines_blank(line, length));
    s = in->format->read(&in->record, line, length, err);
    if (s == LEAT_OK)
        s = record_check(&in->record, err);
    if (s != LEAT_OK)
        return document_input_blame(in, err);
    *text = record_take_text(&in->record, bytes);
    return LEAT_OK;
}

enum leat_status document_input_next(struct document_input *in, const char **text, size_t *bytes, bool *found,
                                     struct leat_error *err)
{
    char *all = NULL;
    enum leat_status s;

    if (in->format->read)
        return next_record(in, text, bytes, found, err);
    *found = !in->done;
    if (in->done)
        return LEAT_OK;
    in->done = true;
    s = text_input_rest(in->input, &all, bytes, err);
    *text = all;
    return s;
}

bool document_input_is_one(const struct document_input *in)
{
    return !in->format->read;
}

enum leat_status document_input_chunk(struct document_input *in, const char **text, size_t *bytes,
                                      struct leat_error *err)
{
    char *chunk;
    enum leat_status s = text_input_chunk(in->input, &chunk, bytes, err);

    *text = chunk;
    return s;
}

enum leat_status document_input_blame(const struct document_input *in, struct leat_error *err)
{
    return text_input_blame(in->input, in->format->read, err);
}
