/* document_input.c: see document_input.h. */
#include "document_input.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "fetch/fetch.h"
#include "lines.h"
#include "record_format.h"
#include "text_input.h"

struct document_input {
    struct text_input *input;
    struct json_fields fields;
    const struct record_format *format;
    bool done; /* the whole input has been given */
};

/* A file whose name does not give a format is one document. */
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
        return status_set(
            err, LEAT_E_UNSUPPORTED,
            "%s is a URL, which is read only to be packed; download it first, or pipe it to standard input", path);
    in = calloc(1, sizeof *in);
    if (!in)
        return status_no_memory(err, sizeof *in);
    in->format = format_of(path, kind);
    if (in->format->rows) {
        free(in);
        return status_set(err, LEAT_E_UNSUPPORTED, "%s is a Parquet file, which is read only to be packed", path);
    }
    s = json_fields_prepare(&in->fields, field, NULL, err);
    if (s == LEAT_OK)
        s = text_input_open(&in->input, path, err);
    if (s != LEAT_OK) {
        free(in);
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
    free(in);
}

static enum leat_status next_record(struct document_input *in, const char **text, size_t *bytes, bool *found,
                                    struct leat_error *err)
{
    struct json_found record;
    char *line;
    size_t length;
    enum leat_status s;

    do {
        s = text_input_line(in->input, &line, &length, found, err);
        if (s != LEAT_OK || !*found)
            return s;
        if (text_input_line_number(in->input) == 1) {
            size_t mark = lines_mark(line, length);

            line += mark;
            length -= mark;
        }
    } while (lines_blank(line, length));
    s = in->format->find(&in->fields, line, length, &record, err);
    *text = record.text;
    *bytes = record.text_bytes;
    return s == LEAT_OK ? s : document_input_blame(in, err);
}

enum leat_status document_input_next(struct document_input *in, const char **text, size_t *bytes, bool *found,
                                     struct leat_error *err)
{
    char *all;
    enum leat_status s;

    if (in->format->find)
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
    return !in->format->find;
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
    return text_input_blame(in->input, in->format->find, err);
}
