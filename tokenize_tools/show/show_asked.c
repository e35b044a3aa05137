/* show_asked.c: makes rows of what was asked for: a batch, tokens of a dataset, or a text; see show.h. */
#include "show.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "base/status.h"
#include "corpus/document_input.h"

/* ---- A batch ---- */

/*
 * The rows of a batch, as a loader gives them: inputs, labels, loss and positions are written by the library's own
 * loader, opened at that batch; only where the tokens come from is asked of the plan.
 */

/* The work in progress. */
struct batch {
    const struct leat_plan *plan;
    struct leat_plan_info info;
    const struct show_batch *wanted;
    struct show_words *words; /* of each source; opened when first needed */
    bool *opened;
    struct leat_loader *loader;
    const struct leat_batch *now;
    int64_t *ids, *labels, *positions;
    uint8_t *loss;
    bool documents; /* are known of all sources */
};

static enum leat_status look_for_documents(struct batch *b, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    b->documents = true;
    for (uint64_t i = 0; s == LEAT_OK && i < b->info.sources; i++) {
        struct leat_plan_source_info source = LEAT_PLAN_SOURCE_INFO_INIT;
        struct leat_info info = LEAT_INFO_INIT;

        s = leat_plan_source_info(b->plan, i, &source, err);
        if (s == LEAT_OK)
            leat_dataset_info(source.dataset, &info);
        b->documents = b->documents && info.documents != LEAT_NONE;
    }
    return s;
}

static enum leat_status open_loader(struct batch *b, struct leat_error *err)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    enum leat_status s;

    o.batch = b->wanted->batch;
    o.rank = b->wanted->rank;
    o.world = b->wanted->world;
    o.position = b->wanted->position;
    o.threads = 0;
    o.slots = 2;
    o.outputs = b->documents ? LEAT_OUTPUT_POSITION_IDS : 0;
    s = leat_loader_open(&b->loader, b->plan, &o, err);
    if (s == LEAT_OK)
        s = leat_loader_next(b->loader, &b->now, err);
    if (s == LEAT_E_END)
        s = status_set(err, LEAT_E_RANGE, "the plan ends before position %" PRIu64,
                       (o.position + o.rank * (o.batch / o.world))); /* the rank's first */
    return s;
}

static enum leat_status make_outputs(struct batch *b, struct leat_error *err)
{
    struct leat_outputs o = LEAT_OUTPUTS_INIT;
    size_t places = (size_t)b->now->rows * b->now->length + 1;

    b->ids = calloc(places, sizeof *b->ids);
    b->labels = calloc(places, sizeof *b->labels);
    b->loss = calloc(places, sizeof *b->loss);
    b->positions = b->documents ? calloc(places, sizeof *b->positions) : NULL;
    if (!b->ids || !b->labels || !b->loss || (b->documents && !b->positions))
        return status_no_memory(err, places * sizeof *b->ids);
    o.inputs = b->ids;
    o.labels = b->labels;
    o.loss_mask = b->loss;
    o.position_ids = b->positions;
    o.mask_first = b->wanted->mask_first;
    return b->now->length > 0 ? leat_batch_write(b->now, &o, NULL, err) : LEAT_OK;
}

/* The documents of a piece with so many places in the row; its last one gets its gap (struct leat_piece). */
static enum leat_status add_piece(struct batch *b, struct show_row *row, const struct leat_piece *piece,
                                  uint64_t places, struct leat_error *err)
{
    struct leat_plan_source_info source = LEAT_PLAN_SOURCE_INFO_INIT;
    struct show_stretch x = { .at = piece->at, .places = places, .number = piece->source, .document = LEAT_NONE };
    uint64_t gap = b->info.align > 0 ? places - (piece->count - 1) : 0;
    enum leat_status s = leat_plan_source_info(b->plan, piece->source, &source, err);

    if (s == LEAT_OK && !b->opened[piece->source]) {
        s = show_words_open(&b->words[piece->source], source.dataset, b->wanted->tokenizer, b->wanted->pattern, err);
        b->opened[piece->source] = s == LEAT_OK;
    }
    x.source = source.name;
    x.words = &b->words[piece->source];
    x.places -= gap;
    if (s == LEAT_OK)
        s = show_row_add_documents(row, source.dataset, piece->token, &x, err);
    if (s == LEAT_OK) {
        row->stretches[row->count - 1].places += gap;
        row->stretches[row->count - 1].gap = gap;
    }
    return s;
}

static enum leat_status add_pieces(struct batch *b, struct show_row *row, struct leat_error *err)
{
    const struct leat_sample *sample = row->sample;
    struct leat_piece *pieces = calloc(sample->pieces, sizeof *pieces);
    uint64_t count = 0;
    enum leat_status s = pieces ? leat_plan_pieces(b->plan, sample->number, pieces, sample->pieces, &count, err)
                                : status_no_memory(err, sample->pieces * sizeof *pieces);

    for (uint64_t i = 0; s == LEAT_OK && i < count; i++)
        s = add_piece(b, row, &pieces[i], (i + 1 < count ? pieces[i + 1].at : sample->length) - pieces[i].at, err);
    free(pieces);
    return s;
}

static enum leat_status show_one(struct show_out *o, struct batch *b, uint32_t number, struct leat_error *err)
{
    size_t at = (size_t)number * b->now->length;
    struct show_row row = { .sample = &b->now->samples[number],
                            .row = number,
                            .text_bytes = LEAT_NONE,
                            .length = b->now->length,
                            .filled = b->now->lengths[number],
                            .ids = b->ids + at,
                            .labels = b->labels + at,
                            .loss = b->loss + at,
                            .positions = b->positions ? b->positions + at : NULL };
    enum leat_status s = LEAT_OK;

    row.position = leat_plan_position(b->plan, row.sample->number, NULL);
    if (row.filled > 0)
        s = add_pieces(b, &row, err);
    if (s == LEAT_OK)
        o->form->row(o, &row);
    show_row_clear(&row);
    return s;
}

static enum leat_status show_rows(struct show_out *o, struct batch *b, struct leat_error *err)
{
    uint64_t end = b->wanted->end == LEAT_NONE ? b->now->rows : b->wanted->end;
    enum leat_status s = LEAT_OK;

    if (b->wanted->first >= end || end > b->now->rows)
        return status_set(err, LEAT_E_RANGE, "the batch has %lu rows, numbered from 0", (unsigned long)b->now->rows);
    for (uint64_t i = b->wanted->first; s == LEAT_OK && i < end && !cli_stdout_failed(); i++)
        s = show_one(o, b, (uint32_t)i, err);
    return s;
}

enum leat_status show_batch(struct show_out *o, const struct leat_plan *plan, const struct show_batch *wanted,
                            struct leat_error *err)
{
    struct batch b = { .plan = plan, .info = LEAT_PLAN_INFO_INIT, .wanted = wanted };
    enum leat_status s;

    leat_plan_info(plan, &b.info);
    b.words = calloc(b.info.sources, sizeof *b.words);
    b.opened = calloc(b.info.sources, sizeof *b.opened);
    s = b.words && b.opened ? look_for_documents(&b, err) : status_no_memory(err, b.info.sources * sizeof *b.words);
    if (s == LEAT_OK)
        s = open_loader(&b, err);
    if (s == LEAT_OK)
        s = make_outputs(&b, err);
    if (s == LEAT_OK)
        s = show_rows(o, &b, err);
    leat_loader_close(b.loader);
    for (uint64_t i = 0; b.words && b.opened && i < b.info.sources; i++)
        if (b.opened[i])
            show_words_close(&b.words[i]);
    free(b.words);
    free(b.opened);
    free(b.ids);
    free(b.labels);
    free(b.positions);
    free(b.loss);
    return s;
}

/* ---- Tokens of a dataset ---- */

#define AT_ONCE 16384u
#define MOST    ((uint64_t)1 << 24) /* tokens that are held in memory */

static enum leat_status read_ids(const struct leat_dataset *d, uint64_t first, uint64_t count, int64_t *ids,
                                 struct leat_error *err)
{
    uint32_t block[AT_ONCE];
    enum leat_status s = LEAT_OK;

    for (uint64_t done = 0, part; s == LEAT_OK && done < count; done += part) {
        part = count - done < AT_ONCE ? count - done : AT_ONCE;
        s = commands_read_checked(d, first + done, part, block, err);
        for (uint64_t i = 0; s == LEAT_OK && i < part; i++)
            ids[done + i] = block[i];
    }
    return s;
}

/* A place's label is the next token: whether that one counts, by the mask. The dataset's last token has no label. */
static enum leat_status read_loss(const struct leat_dataset *d, uint64_t first, uint64_t count, uint8_t *loss,
                                  struct leat_error *err)
{
    struct leat_info info = LEAT_INFO_INIT;
    uint64_t labels;
    enum leat_status s;

    leat_dataset_info(d, &info);
    labels = count > 0 && first + count == info.tokens ? count - 1 : count;
    s = leat_dataset_mask(d, first + 1, labels, loss, err);
    for (uint64_t i = 0; s == LEAT_OK && i < count; i++)
        loss[i] = i < labels && loss[i] != 0;
    return s;
}

enum leat_status show_places(struct show_out *o, const struct leat_dataset *d, const struct show_words *words,
                             const char *title, uint64_t first, uint64_t end, struct leat_error *err)
{
    uint64_t count = end - first;
    struct show_stretch all = { .places = count, .document = LEAT_NONE, .words = words };
    struct show_row row = { .title = title, .text_bytes = LEAT_NONE, .length = count, .filled = count };
    struct leat_info info = LEAT_INFO_INIT;
    uint8_t *loss = NULL;
    enum leat_status s;
    int64_t *ids;

    if (count > MOST)
        return status_set(err, LEAT_E_RANGE,
                          "%s: %" PRIu64 " tokens are too many to show; show %" PRIu64 " at most, or use leat cat",
                          title, count, MOST);
    ids = malloc((size_t)count * sizeof *ids + 1);
    s = ids ? read_ids(d, first, count, ids, err) : status_no_memory(err, count * sizeof *ids);
    leat_dataset_info(d, &info);
    if (s == LEAT_OK && info.stores_mask) {
        row.loss = loss = malloc((size_t)count + 1);
        s = loss ? read_loss(d, first, count, loss, err) : status_no_memory(err, count);
    }
    row.ids = ids;
    if (s == LEAT_OK)
        s = show_row_add_documents(&row, d, first, &all, err);
    if (s == LEAT_OK)
        o->form->row(o, &row);
    show_row_clear(&row);
    free(loss);
    free(ids);
    return s;
}

/* ---- A text ---- */

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
