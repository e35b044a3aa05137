/* documents_columns.c: makes the columns of a batch. */
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/utf8.h"
#include "documents.h"

/* The memory that a column's array points to: memory of its own, or tokens in the map. */
struct column_memory {
    const void *buffers[3];
    void *own[3];
    struct buffer text;
    struct leat_view view;
    struct handle *handle; /* keeps the dataset open while the view is used */
    struct ArrowArray items;
    struct ArrowArray *list[1];
};

static void release_column(struct ArrowArray *column)
{
    struct column_memory *m = column->private_data;

    if (m->items.release) /* A consumer may have moved the items out. */
        m->items.release(&m->items);
    for (size_t i = 0; i < sizeof m->own / sizeof *m->own; i++)
        free(m->own[i]);
    buffer_free(&m->text);
    if (m->handle) {
        leat_view_release(&m->view);
        handle_drop(m->handle);
    }
    free(m);
    column->release = NULL;
}

static struct column_memory *begin_column(struct ArrowArray *out, uint64_t rows, int64_t buffers)
{
    struct column_memory *m = calloc(1, sizeof *m);

    if (m)
        *out = (struct ArrowArray) { .length = (int64_t)rows,
                                     .n_buffers = buffers,
                                     .buffers = m->buffers,
                                     .release = release_column,
                                     .private_data = m };
    return m;
}

static enum leat_status no_memory(struct leat_error *err, uint64_t rows)
{
    return errors_set(err, LEAT_E_NO_MEMORY, "no memory for a column of %llu rows", (unsigned long long)rows);
}

/* Allocates memory that the column owns, as its buffer `number`. */
static void *column_take(struct column_memory *m, int number, uint64_t bytes)
{
    m->own[number] = bytes < SIZE_MAX ? calloc((size_t)bytes + 1, 1) : NULL; /* The extra byte makes it non-NULL for 0
                                                                                bytes. */
    m->buffers[number] = m->own[number];
    return m->own[number];
}

/* ---- Numbers and lists ------------------------------------------------------------------------------------------ */

static enum leat_status make_numbers(struct ArrowArray *out, const struct documents_batch *b, struct leat_error *err)
{
    struct column_memory *m = begin_column(out, b->count, 2);
    int64_t *numbers = m ? column_take(m, 1, b->count * sizeof *numbers) : NULL;

    if (!numbers)
        return no_memory(err, b->count);
    for (uint64_t i = 0; i < b->count; i++)
        numbers[i] = (int64_t)(b->first + i);
    return LEAT_OK;
}

/* Points the column at the tokens in place if the file is mapped; otherwise copies them. */
static enum leat_status take_tokens(struct column_memory *m, const struct documents *s, uint64_t first, uint64_t count,
                                    struct leat_error *err)
{
    enum leat_status status = leat_dataset_view(s->d, first, count, &m->view, err);

    if (status == LEAT_OK) {
        m->handle = handle_hold(s->handle);
        m->buffers[1] = m->view.tokens;
        return LEAT_OK;
    }
    if (status != LEAT_E_NOT_MAPPED && status != LEAT_E_UNSUPPORTED)
        return status;
    return column_take(m, 1, count * s->info.token_width) ? leat_dataset_read(s->d, first, count, m->own[1], err)
                                                          : no_memory(err, count);
}

/* Makes a list for each document, of its tokens or of the bytes of its mask. */
static enum leat_status make_lists(struct ArrowArray *out, const struct documents *s, const struct documents_batch *b,
                                   bool of_mask, struct leat_error *err)
{
    uint64_t first = b->starts[0], count = b->starts[b->count] - first;
    struct column_memory *m = begin_column(out, b->count, 2), *items;
    int32_t *offsets = m ? column_take(m, 1, (b->count + 1) * sizeof *offsets) : NULL;

    if (!offsets)
        return no_memory(err, b->count);
    if (count > INT32_MAX) /* Only a batch of one document has so many. */
        return errors_set(err, LEAT_E_UNSUPPORTED, "document %llu has %llu tokens: a list of Arrow holds 2^31 - 1",
                          (unsigned long long)b->first, (unsigned long long)count);
    for (uint64_t i = 0; i <= b->count; i++)
        offsets[i] = (int32_t)(b->starts[i] - first);
    m->list[0] = &m->items;
    out->n_children = 1;
    out->children = m->list;
    items = begin_column(&m->items, count, 2);
    if (!items)
        return no_memory(err, count);
    if (count == 0)
        return column_take(items, 1, 0) ? LEAT_OK : no_memory(err, count);
    if (!of_mask)
        return take_tokens(items, s, first, count, err);
    return column_take(items, 1, count) ? leat_dataset_mask(s->d, first, count, items->own[1], err)
                                        : no_memory(err, count);
}

/* ---- Texts ------------------------------------------------------------------------------------------------------ */

/* Texts of a column while they are made. Arrow wants UTF-8, so malformed bytes are replaced as Python replaces them. */
struct texts {
    struct column_memory *m;
    int64_t *offsets;
    uint8_t *there; /* a bit per text, which is 1 if the text exists; NULL: none is missing */
    uint64_t count, missing;
};

static enum leat_status begin_texts(struct texts *t, struct ArrowArray *out, const struct documents_batch *b,
                                    bool may_miss, struct leat_error *err)
{
    *t = (struct texts) { .m = begin_column(out, b->count, 3) };
    if (!t->m)
        return no_memory(err, b->count);
    t->offsets = column_take(t->m, 1, (b->count + 1) * sizeof *t->offsets);
    t->there = may_miss ? column_take(t->m, 0, (b->count + 7) / 8) : NULL;
    return t->offsets && (t->there || !may_miss) ? LEAT_OK : no_memory(err, b->count);
}

/* Appends a text; NULL is a missing one. */
static enum leat_status add_text(struct texts *t, const char *text, uint64_t bytes, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    const uint8_t *at = (const uint8_t *)text;

    if (!text)
        t->missing++;
    else if (utf8_valid_prefix(at, (size_t)bytes) == bytes)
        s = buffer_append(&t->m->text, text, (size_t)bytes, err);
    else
        s = buffer_append_repaired(&t->m->text, at, (size_t)bytes, NULL, err);
    if (text && t->there)
        t->there[t->count / 8] |= (uint8_t)(1u << t->count % 8);
    t->offsets[++t->count] = (int64_t)t->m->text.size;
    return s;
}

static void end_texts(const struct texts *t, struct ArrowArray *out)
{
    static const char nothing[1];

    out->null_count = (int64_t)t->missing;
    t->m->buffers[2] = t->m->text.bytes ? (const void *)t->m->text.bytes : nothing;
}

static enum leat_status make_ids(struct ArrowArray *out, const struct documents *s, const struct documents_batch *b,
                                 struct leat_error *err)
{
    struct texts t;
    uint64_t bytes = 0, at = 0;
    char *all = NULL;
    enum leat_status status = begin_texts(&t, out, b, true, err);

    for (uint64_t i = 0; i < b->count; i++)
        bytes += b->origins[i].id_bytes;
    if (status == LEAT_OK && bytes > 0) {
        all = bytes < SIZE_MAX ? malloc((size_t)bytes + 1) : NULL;
        status = all ? leat_dataset_ids(s->d, b->first, b->count, all, bytes + 1, &bytes, err) : no_memory(err, bytes);
    }
    for (uint64_t i = 0; i < b->count && status == LEAT_OK; i++) {
        uint64_t length = b->origins[i].id_bytes;

        status = add_text(&t, length > 0 ? all + at : NULL, length, err);
        at += length;
    }
    free(all);
    if (status == LEAT_OK)
        end_texts(&t, out);
    return status;
}

/* Makes the column of paths. Documents of an input mostly follow each other, so its path is read once for them. */
static enum leat_status make_sources(struct ArrowArray *out, const struct documents *s, const struct documents_batch *b,
                                     struct leat_error *err)
{
    struct texts t;
    struct buffer path = { 0 };
    uint64_t input = LEAT_NONE, bytes = 0;
    enum leat_status status = begin_texts(&t, out, b, true, err);

    for (uint64_t i = 0; i < b->count && status == LEAT_OK; i++) {
        uint64_t of = b->origins[i].input;

        if (of != LEAT_NONE && of != input) {
            input = of;
            status = leat_dataset_input_path(s->d, input, NULL, 0, &bytes, err);
            if (status == LEAT_OK)
                status = buffer_reserve(&path, (size_t)bytes + 1, err);
            if (status == LEAT_OK)
                status = leat_dataset_input_path(s->d, input, (char *)path.bytes, bytes + 1, &bytes, err);
        }
        if (status == LEAT_OK)
            status = add_text(&t, of == LEAT_NONE ? NULL : (const char *)path.bytes, bytes, err);
    }
    buffer_free(&path);
    if (status == LEAT_OK)
        end_texts(&t, out);
    return status;
}

/* Makes the column of texts, without begin and end tokens. */
static enum leat_status make_texts(struct ArrowArray *out, const struct documents *s, const struct documents_batch *b,
                                   struct leat_error *err)
{
    struct texts t;
    uint64_t first = b->starts[0], count = b->starts[b->count] - first;
    uint32_t *ids = count < SIZE_MAX / sizeof *ids ? malloc((size_t)count * sizeof *ids + 1) : NULL;
    enum leat_status status = begin_texts(&t, out, b, false, err);

    if (status == LEAT_OK)
        status = ids ? leat_dataset_read_u32(s->d, first, count, ids, err) : no_memory(err, count);
    for (uint64_t i = 0; i < b->count && status == LEAT_OK; i++) {
        uint64_t begin = b->starts[i] - first, end = b->starts[i + 1] - first, bytes;
        const char *text;

        begin += begin < end && ids[begin] == s->info.begin_token;
        end -= begin < end && ids[end - 1] == s->info.end_token;
        status = leat_encoder_decode(s->decoder->encoder, ids + begin, end - begin, &text, &bytes, err);
        if (status == LEAT_OK)
            status = add_text(&t, text ? text : "", bytes, err);
    }
    free(ids);
    if (status == LEAT_OK)
        end_texts(&t, out);
    return status;
}

enum leat_status documents_make_column(struct ArrowArray *out, struct documents *s, const struct documents_batch *b,
                                       enum documents_column column, struct leat_error *err)
{
    switch (column) {
    case NUMBER:
        return make_numbers(out, b, err);
    case ID:
        return make_ids(out, s, b, err);
    case SOURCE:
        return make_sources(out, s, b, err);
    case TEXT:
        return make_texts(out, s, b, err);
    default:
        return make_lists(out, s, b, column == MASK, err);
    }
}
