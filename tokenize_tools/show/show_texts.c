/* show_texts.c: a text as tokenizers cut it; see show.h. */
#include <stdlib.h>

#include "base/buffer.h"
#include "base/status.h"
#include "corpus/document_input.h"
#include "show.h"

/* A whole input as one text, whatever its format; one that is not text by its name is refused. */
static enum leat_status read_text(const char *path, struct buffer *text, struct leat_error *err)
{
    struct document_input *in;
    enum leat_status s = document_input_open(&in, path, DOCUMENT_BY_NAME, "text", err);
    const char *chunk;
    size_t bytes = 1;

    while (s == LEAT_OK && bytes > 0) {
        s = document_input_chunk(in, &chunk, &bytes, err);
        if (s == LEAT_OK)
            s = buffer_append(text, chunk, bytes, err);
    }
    document_input_close(in);
    return s;
}

static enum leat_status show_text_by(struct show_out *o, struct leat_tokenizer *t, const char *name,
                                     const struct buffer *text, struct leat_error *err)
{
    struct show_words words = { .tokenizer = t, .end = LEAT_NONE, .begin = LEAT_NONE };
    struct show_row row = { .title = name, .text_bytes = text->size };
    struct leat_encoder *e = NULL;
    int64_t *ids = NULL;
    const uint32_t *found;
    uint64_t count;
    enum leat_status s = leat_encoder_open(&e, t, NULL, err);

    if (s == LEAT_OK)
        s = leat_encoder_encode(e, (const char *)text->bytes, text->size, &found, &count, err);
    if (s == LEAT_OK) {
        ids = count < SIZE_MAX / sizeof *ids ? malloc((size_t)count * sizeof *ids + 1) : NULL;
        s = ids ? LEAT_OK : status_no_memory(err, count * sizeof *ids);
    }
    if (s == LEAT_OK) {
        struct show_stretch all = { .places = count, .document = LEAT_NONE, .words = &words };

        for (uint64_t i = 0; i < count; i++)
            ids[i] = found[i];
        row.ids = ids;
        row.length = row.filled = count;
        s = show_row_add(&row, &all, err) ? LEAT_OK : err->status;
    }
    if (s == LEAT_OK)
        o->form->row(o, &row);
    show_row_clear(&row);
    free(ids);
    leat_encoder_close(e);
    return s;
}

/* Whether the tokenizer opens only with a pattern that is given, as a *.tiktoken file does whose name does not say it:
 * the others have their own, and refuse one. */
static bool lacks_pattern(const char *spec)
{
    struct leat_tokenizer *t;
    struct leat_error err;
    bool lacks = leat_tokenizer_open(&t, spec, NULL, &err) != LEAT_OK && err.hint == LEAT_HINT_PATTERN;

    leat_tokenizer_close(t);
    return lacks;
}

int show_texts(struct show_out *o, const struct command *self, const struct option_list *tokenizers,
               const char *pattern, const char *path)
{
    struct buffer text = { 0 };
    struct leat_error err;
    enum leat_status s = read_text(path, &text, &err), closed;
    int code = CLI_DONE;

    if (s == LEAT_OK)
        s = o->form->begin(o, "Tokenizers", &err);
    if (s != LEAT_OK) {
        buffer_free(&text);
        return cli_failed(&err);
    }
    for (size_t i = 0; i < tokenizers->count && code == CLI_DONE; i++) {
        const char *spec = tokenizers->items[i];
        bool its_own = pattern && tokenizers->count > 1 && !lacks_pattern(spec);
        struct leat_tokenizer *t;

        code = commands_tokenizer(self, &t, spec, its_own ? NULL : pattern);
        if (code == CLI_DONE && (s = show_text_by(o, t, spec, &text, &err)) != LEAT_OK) {
            status_before(&err, s, "%s", spec);
            code = cli_failed(&err);
        }
        leat_tokenizer_close(t);
    }
    closed = o->form->end(o, code != CLI_DONE, &err);
    buffer_free(&text);
    return code == CLI_DONE && closed != LEAT_OK ? cli_failed(&err) : code;
}
