/* counting.c: see counting.h. */
#include "counting.h"

#include <stdlib.h>

#include "base/status.h"

#define BLOCK_TOKENS 65536u
#define LONGEST_MEAN ((uint64_t)1 << 40)

union block {
    uint16_t narrow[BLOCK_TOKENS];
    uint32_t wide[BLOCK_TOKENS];
};

/* Appends tokens [first, first + count) to the open document. */
static enum leat_status append(struct leat_writer *w, union block *b, uint64_t first, uint64_t count, unsigned width,
                               struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    while (count > 0 && s == LEAT_OK) {
        size_t part = (size_t)(count < BLOCK_TOKENS ? count : BLOCK_TOKENS);

        if (width == 2) {
            for (size_t i = 0; i < part; i++)
                b->narrow[i] = (uint16_t)counting_token(first + i, 2);
        } else {
            for (size_t i = 0; i < part; i++)
                b->wide[i] = counting_token(first + i, 4);
        }
        s = leat_writer_append(w, b, width, NULL, part, err);
        first += part;
        count -= part;
    }
    return s;
}

static enum leat_status write_documents(struct leat_writer *w, union block *b, const struct counting_options *o,
                                        uint64_t input, struct leat_error *err)
{
    uint64_t at = 0;
    enum leat_status s = LEAT_OK;

    for (uint64_t n = 0; at < o->tokens && s == LEAT_OK; n++) {
        struct leat_origin origin = { .input = input, .offset = at, .line = LEAT_NONE };
        uint64_t length = counting_length(n, o->document_length);

        if (length > o->tokens - at)
            length = o->tokens - at;
        s = append(w, b, at, length, o->width, err);
        if (s == LEAT_OK)
            s = leat_writer_end_document(w, &origin, err);
        at += length;
        if (s == LEAT_OK && n % 1024 == 0 && o->progress && o->progress(o->context, at, o->tokens) != 0)
            s = status_set(err, LEAT_E_STOPPED, "writing was stopped");
    }
    return s;
}

enum leat_status counting_write(const char *name, const struct counting_options *options, struct leat_info *info,
                                struct leat_error *err)
{
    struct leat_writer_options o = LEAT_WRITER_OPTIONS_INIT;
    struct leat_writer *w = NULL;
    uint64_t input;
    union block *b;
    enum leat_status s;

    if ((options->width != 2 && options->width != 4) || options->document_length == 0 ||
        options->document_length > LONGEST_MEAN)
        return status_set(err, LEAT_E_ARGUMENT, "the width must be 2 or 4, and the mean length of documents 1 to 2^40");
    b = malloc(sizeof *b);
    if (!b)
        return status_no_memory(err, sizeof *b);
    o.vocabulary = counting_vocabulary(options->width);
    o.force = options->replace;
    s = leat_writer_open(&w, name, &o, err);
    if (s == LEAT_OK)
        s = leat_writer_add_input(w, "counting", &input, err);
    if (s == LEAT_OK)
        s = write_documents(w, b, options, input, err);
    if (s == LEAT_OK)
        s = leat_writer_finish(w, info, err);
    if (s != LEAT_OK)
        leat_writer_abandon(w);
    free(b);
    return s;
}
