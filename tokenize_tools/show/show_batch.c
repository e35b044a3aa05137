/*
 * show_batch.c: the rows of a batch, as a loader gives them: inputs, labels, loss and positions are written by the
 * library's own loader, opened at that batch; only where the tokens come from is asked of the plan. See show.h.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/status.h"
#include "show.h"

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
