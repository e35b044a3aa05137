/*
 * cmd_show.c: `leat show`: shows what the model sees, of a sample or a step of a plan, of a document or tokens of a
 * dataset, or of a text by several tokenizers. The request becomes rows, which are written in one of the forms of
 * show.h.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/status.h"
#include "cli/plan_options.h"
#include "cli/units.h"
#include "corpus/document_input.h"
#include "show.h"

/* ---- Rows of a batch --------------------------------------------------------------------------------------------- */

/* The rows of a batch, as a loader gives them. The library's own loader, opened at that batch, writes inputs,
 * labels, loss and positions; only the origin of the tokens is asked of the plan. */

/* A request for samples: the rows of one batch. */
struct show_batch {
    uint64_t position, batch, rank, world;
    uint64_t first, end; /* rows of the batch that are shown; `end` may be LEAT_NONE */
    enum leat_balance balance;
    struct no_loss no_loss;
    const char *tokenizer; /* tokenizer; NULL: that of each source */
    const char *pattern;   /* pattern of the tokenizer; NULL: it has its own */
};

/* The work in progress. */
struct batch {
    const struct leat_plan *plan;
    struct leat_plan_info info;
    const struct show_batch *wanted;
    struct show_words *words; /* words of each source, which are opened when first needed */
    bool *opened;
    struct leat_loader *loader;
    const struct leat_batch *now;
    int64_t *ids, *labels, *positions;
    uint8_t *loss;
    float *weights; /* weights of the labels, and of the tokens; NULL without --learned */
    uint8_t *learned;
    bool documents; /* true if documents are known of all sources */
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
    o.ranks.rank = b->wanted->rank;
    o.ranks.world = b->wanted->world;
    o.ranks.balance = b->wanted->balance;
    o.position = b->wanted->position;
    o.io.threads = 0;
    o.io.slots = 2;
    no_loss_set(&b->wanted->no_loss, &o.outputs);
    o.outputs.wanted = b->documents ? LEAT_OUTPUT_POSITION_IDS : 0;
    s = leat_loader_open(&b->loader, b->plan, &o, err);
    if (s == LEAT_OK)
        s = leat_loader_next(b->loader, &b->now, err);
    if (s == LEAT_E_END)
        s = status_set(err, LEAT_E_RANGE, "the plan ends before position %" PRIu64,
                       (o.position + o.ranks.rank * (o.batch / o.ranks.world))); /* the rank's first */
    return s;
}

/* Gives each token the weight of the label before it that is this token. In rows of whole documents, nothing before a
 * document predicts its first token. */
static void take_learned(struct batch *b, size_t places)
{
    bool fit = b->info.order == LEAT_ORDER_FIT && b->positions;

    for (size_t i = 1; i < places; i++)
        if (i % b->now->length > 0 && b->labels[i - 1] == b->ids[i] && !(fit && b->positions[i] == 0))
            b->learned[i] = b->weights[i - 1] < 1 ? (uint8_t)(b->weights[i - 1] * UINT8_MAX + 0.5F) : UINT8_MAX;
}

static enum leat_status make_outputs(struct batch *b, bool learned, struct leat_error *err)
{
    struct leat_outputs o = LEAT_OUTPUTS_INIT;
    size_t places = (size_t)b->now->rows * b->now->length + 1;
    enum leat_status s = LEAT_OK;

    b->ids = calloc(places, sizeof *b->ids);
    b->labels = calloc(places, sizeof *b->labels);
    b->loss = calloc(places, sizeof *b->loss);
    b->positions = b->documents ? calloc(places, sizeof *b->positions) : NULL;
    b->weights = learned ? calloc(places, sizeof *b->weights) : NULL;
    b->learned = learned ? calloc(places, sizeof *b->learned) : NULL;
    if (!b->ids || !b->labels || !b->loss || (b->documents && !b->positions) ||
        (learned && (!b->weights || !b->learned)))
        return status_no_memory(err, places * sizeof *b->ids);
    o.inputs = b->ids;
    o.labels = b->labels;
    o.loss_mask = b->loss;
    o.position_ids = b->positions;
    o.loss_weights = b->weights;
    o.mask_first = b->wanted->no_loss.first;
    if (b->now->length > 0)
        s = leat_batch_write(b->now, &o, NULL, err);
    if (s == LEAT_OK && learned && b->now->length > 0)
        take_learned(b, places - 1);
    return s;
}

/* Adds the documents of a stretch of the row. Behind it, up to `end`, is the gap of its piece (struct leat_piece). */
static enum leat_status add_stretch(struct batch *b, struct show_row *row, const struct leat_stretch *t, uint64_t end,
                                    struct leat_error *err)
{
    struct leat_plan_source_info source = LEAT_PLAN_SOURCE_INFO_INIT;
    struct show_stretch x = { .at = t->at, .places = t->inputs, .number = t->source, .document = LEAT_NONE };
    uint64_t gap = end - t->at - t->inputs;
    enum leat_status s = leat_plan_source_info(b->plan, t->source, &source, err);

    if (s == LEAT_OK && !b->opened[t->source]) {
        s = show_words_open(&b->words[t->source], source.dataset, b->wanted->tokenizer, b->wanted->pattern, err);
        b->opened[t->source] = s == LEAT_OK;
    }
    x.source = source.name;
    x.words = &b->words[t->source];
    if (s == LEAT_OK && t->literal && t->inputs > 0) {
        x.document = t->document;
        x.literal = true;
        s = show_row_add(row, &x, err) ? LEAT_OK : err->status;
    } else if (s == LEAT_OK) {
        s = show_row_add_documents(row, source.dataset, t->token, &x, err);
    }
    if (s == LEAT_OK && gap > 0) {
        row->stretches[row->count - 1].places += gap;
        row->stretches[row->count - 1].gap = gap;
    }
    return s;
}

static enum leat_status add_stretches(struct batch *b, struct show_row *row, struct leat_error *err)
{
    struct leat_stretch *all;
    uint64_t count = 0;
    enum leat_status s = commands_row(b->plan, row->sample, &all, &count, err);

    for (uint64_t i = 0; s == LEAT_OK && i < count; i++)
        s = add_stretch(b, row, &all[i], i + 1 < count ? all[i + 1].at : row->sample->length, err);
    free(all);
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
                            .learned = b->learned ? b->learned + at : NULL,
                            .positions = b->positions ? b->positions + at : NULL };
    enum leat_status s = LEAT_OK;

    row.position = leat_plan_position(b->plan, row.sample->number, NULL);
    if (row.filled > 0)
        s = add_stretches(b, &row, err);
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

static enum leat_status show_batch(struct show_out *o, const struct leat_plan *plan, const struct show_batch *wanted,
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
        s = make_outputs(&b, o->learned, err);
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
    free(b.weights);
    free(b.learned);
    return s;
}

/* ---- Tokens of a dataset ----------------------------------------------------------------------------------------- */

#define AT_ONCE 16384u
#define MOST    ((uint64_t)1 << 24) /* number of tokens that are held in memory */

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

/* Reads whether labels count. A place's label is the next token, so the mask of that token decides. The dataset's
 * last token has no label. */
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

/* Shows tokens [first, end) of a dataset. */
static enum leat_status show_places(struct show_out *o, const struct leat_dataset *d, const struct show_words *words,
                                    const char *title, uint64_t first, uint64_t end, struct leat_error *err)
{
    uint64_t count = end - first;
    struct show_stretch all = { .places = count, .document = LEAT_NONE, .words = words };
    struct show_row row = { .title = title, .text_bytes = LEAT_NONE, .length = count, .filled = count };
    struct leat_info info = LEAT_INFO_INIT;
    uint8_t *loss = NULL, *learned = NULL;
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
    if (s == LEAT_OK && o->learned) {
        row.learned = learned = malloc((size_t)count + 1);
        s = learned ? leat_dataset_mask(d, first, count, learned, err) : status_no_memory(err, count);
    }
    row.ids = ids;
    if (s == LEAT_OK)
        s = show_row_add_documents(&row, d, first, &all, err);
    if (s == LEAT_OK)
        o->form->row(o, &row);
    show_row_clear(&row);
    free(learned);
    free(loss);
    free(ids);
    return s;
}

/* ---- A text ------------------------------------------------------------------------------------------------------ */

/* Reads a whole input as one text, whatever its format. One that is not text by its name is refused. */
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

/* Returns true if the tokenizer opens only with a given pattern, as does a *.tiktoken file whose name does not tell
 * it: other tokenizers have their own, and refuse one. */
static bool lacks_pattern(const char *spec)
{
    struct leat_tokenizer *t;
    struct leat_error err;
    bool lacks = leat_tokenizer_open(&t, spec, NULL, &err) != LEAT_OK && err.hint == LEAT_HINT_PATTERN;

    leat_tokenizer_close(t);
    return lacks;
}

/* Shows a text as each of these tokenizers cuts it. The pattern, if any, is for those that do not name one
 * themselves. */
static int show_texts(struct show_out *o, const struct command *self, const struct option_list *tokenizers,
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

/* ---- Options ----------------------------------------------------------------------------------------------------- */

#define TITLE      512 /* of a page */
#define TITLE_NAME 256 /* bytes of the title */

struct show_values {
    struct plan_options plan; /* this comes first, since offsets of its rows count from here */
    uint64_t sample, step;    /* LEAT_NONE: not given */
    uint64_t rank, world;     /* the same */
    uint64_t document;        /* the same */
    const char *batch, *rows, *tokens, *html, *pattern;
    struct option_list tokenizers;
    unsigned balance; /* enum leat_balance */
    struct no_loss no_loss;
    bool colour, no_colour, json, learned;
};

const struct option_row show_options[] = {
    { .name = "sample",
      .type = OPTION_COUNT,
      .field = offsetof(struct show_values, sample),
      .value = "N",
      .help = "sample N of the plan",
      .max = LEAT_MAX_SAMPLES - 1 },
    { .name = "step",
      .type = OPTION_COUNT,
      .field = offsetof(struct show_values, step),
      .value = "N",
      .help = "global batch N of the plan (counted from 0); needs --batch",
      .needs = "batch",
      .excludes = "sample",
      .max = LEAT_MAX_SAMPLES - 1 },
    { .name = "batch",
      .type = OPTION_TEXT,
      .field = offsetof(struct show_values, batch),
      .value = "B[,B@STEP...]",
      .help = "rows of a global batch; if it changed, with the steps: 256,512@10000",
      .needs = "step" },
    COMMANDS_RANKS(struct show_values, "step", "only this rank's rows (needs --world)"),
    COMMANDS_DEALT(struct show_values),
    NO_LOSS_ROWS(show_values),
    { .name = "document",
      .type = OPTION_COUNT,
      .field = offsetof(struct show_values, document),
      .value = "N",
      .help = "document N of the dataset NAME",
      .excludes = "sample|step",
      .max = LEAT_NONE - 1 },
    { .name = "tokens",
      .type = OPTION_TEXT,
      .field = offsetof(struct show_values, tokens),
      .value = "A:B",
      .help = "tokens A to B - 1 of the dataset NAME",
      .excludes = "sample|step|document" },
    { .name = "tokenizer",
      .letter = 't',
      .type = OPTION_LIST,
      .field = offsetof(struct show_values, tokenizers),
      .value = "SPEC",
      .help = "name tokens by this tokenizer, or cut a text with it; repeatable",
      .more = "SPEC is as for leat pack. It is used instead of the tokenizer that the dataset stores. Several "
              "tokenizers on a text are compared.",
      .offered = commands_tokenizers,
      .path = true },
    COMMANDS_PATTERN(struct show_values),
    { .name = "learned",
      .type = OPTION_FLAG,
      .field = offsetof(struct show_values, learned),
      .help = "show the tokens that training learns, by weight, not the places before them",
      .more = "Otherwise a place is marked by its label, which is the next token: what is learned seems to begin one "
              "place early." },
    { .name = "html",
      .type = OPTION_TEXT,
      .field = offsetof(struct show_values, html),
      .value = "FILE",
      .help = "write a page for a browser to FILE (- is standard output)",
      .more = "It is one page, without script.",
      .excludes = "json",
      .path = true },
    { .name = "color",
      .type = OPTION_FLAG,
      .field = offsetof(struct show_values, colour),
      .help = "use colours also where the output is no terminal, as for less -R",
      .rare = true },
    { .name = "no-color",
      .type = OPTION_FLAG,
      .field = offsetof(struct show_values, no_colour),
      .help = "use marks instead of colours on a terminal",
      .more = "The variable NO_COLOR and TERM=dumb do the same.",
      .rare = true },
    OPTIONS_JSON(struct show_values, "print one JSON object per row"),
    PLAN_OPTION_ROWS,
    PLAN_OPTION_SAMPLES,
    CACHE_OPTION_ROWS,
    OPTIONS_END
};

/* ---- Asked for: samples ------------------------------------------------------------------------------------------ */

static const char *given_tokenizer(const struct show_values *v)
{
    return v->tokenizers.count > 0 ? v->tokenizers.items[0] : NULL;
}

/* Finds the batch that was asked for. Returns an exit code, after a message, if there is none. */
static int find_batch(const struct command *self, const struct leat_plan *plan, const struct show_values *v,
                      struct show_batch *b)
{
    struct leat_plan_info info = LEAT_PLAN_INFO_INIT;
    uint64_t end;
    uint32_t skipped;
    const char *why;

    *b = (struct show_batch) { .batch = 1, .world = 1, .end = LEAT_NONE, .no_loss = v->no_loss };
    b->tokenizer = given_tokenizer(v);
    b->pattern = v->pattern;
    if (v->rows && !units_parse_range(v->rows, &b->first, &b->end, NULL, &why))
        return command_wrong(self, "--row: \"%.100s\" %s", v->rows, why);
    if (v->sample != LEAT_NONE) {
        b->position = leat_plan_position(plan, v->sample, &skipped);
        leat_plan_info(plan, &info);
        if (info.max_tokens > 0) { /* number of the first row that is left of its batch */
            b->batch = 0;
            b->end = 1;
        }
        if (skipped)
            cli_error("sample %" PRIu64 " is skipped by the plan", v->sample);
        return skipped ? CLI_FAILED : CLI_DONE;
    }
    if (!plan_has_rows(self, plan, "step") || !plan_steps_find(self, v->batch, v->step, &b->position, &end))
        return CLI_WRONG;
    b->batch = end - b->position;
    if (v->rank != LEAT_NONE) {
        b->rank = v->rank;
        b->world = v->world;
        b->balance = (enum leat_balance)v->balance;
    }
    return CLI_DONE;
}

static enum leat_status end_rows(struct show_out *o, enum leat_status s, struct leat_error *err)
{
    struct leat_error other;
    enum leat_status closed = o->form->end(o, s != LEAT_OK, &other);

    if (s == LEAT_OK && closed != LEAT_OK)
        *err = other;
    return s != LEAT_OK ? s : closed;
}

/* Writes the title of a page of samples. A plan of several sources is named by its first. */
static enum leat_status title_samples(const struct leat_plan *plan, const struct show_values *v, char *title,
                                      size_t room, struct leat_error *err)
{
    struct leat_plan_source_info source = LEAT_PLAN_SOURCE_INFO_INIT;
    struct leat_plan_info info = LEAT_PLAN_INFO_INIT;
    enum leat_status s = leat_plan_source_info(plan, 0, &source, err);
    char more[48] = "", batch[64] = "", length[48] = "";

    if (s != LEAT_OK)
        return s;
    leat_plan_info(plan, &info);
    if (info.sources > 1 && !v->plan.plan)
        snprintf(more, sizeof more, " and %" PRIu64 " more", info.sources - 1);
    if (info.phases == 1)
        snprintf(length, sizeof length, "%" PRIu64 " tokens per row, ", info.seq_len);
    if (v->step != LEAT_NONE)
        snprintf(batch, sizeof batch, ", batch %.50s", v->batch);
    snprintf(title, room, "%s %" PRIu64 " of %.*s%s: %sseed %" PRIu64 "%s", v->sample != LEAT_NONE ? "Sample" : "Step",
             (v->sample != LEAT_NONE ? v->sample : v->step), TITLE_NAME, v->plan.plan ? v->plan.plan : source.name,
             more, length, info.seed, batch);
    return LEAT_OK;
}

static int show_samples(const struct command *self, struct show_out *o, const struct show_values *v)
{
    struct leat_plan *plan = NULL;
    struct show_batch b;
    struct leat_error err;
    enum leat_status s;
    char title[TITLE];
    int code;

    if (!plan_options_open(self, &v->plan, &plan, &code))
        return code;
    code = find_batch(self, plan, v, &b);
    if (code == CLI_DONE) {
        s = title_samples(plan, v, title, sizeof title, &err);
        if (s == LEAT_OK)
            s = o->form->begin(o, title, &err);
        if (s == LEAT_OK)
            s = end_rows(o, show_batch(o, plan, &b, &err), &err);
        code = s == LEAT_OK ? CLI_DONE : cli_failed_or_damaged(&err);
    }
    leat_plan_close(plan);
    return code;
}

/* ---- Asked for: documents or tokens ------------------------------------------------------------------------------ */

/* Finds the tokens that were asked for. */
static enum leat_status find_tokens(const struct leat_dataset *d, const struct show_values *v, uint64_t *first,
                                    uint64_t *end, struct leat_error *err)
{
    struct leat_info info = LEAT_INFO_INIT;
    uint64_t count;
    enum leat_status s;

    leat_dataset_info(d, &info);
    if (v->document != LEAT_NONE) {
        s = leat_dataset_document(d, v->document, first, &count, err);
        *end = s == LEAT_OK ? *first + count : 0;
        return s;
    }
    *end = *end == LEAT_NONE ? info.tokens : *end;
    if (*first <= *end && *end <= info.tokens)
        return LEAT_OK;
    return status_set(err, LEAT_E_RANGE, "the dataset has %" PRIu64 " tokens, numbered from 0: %s reaches past the end",
                      info.tokens, v->tokens);
}

static int show_dataset(const struct command *self, struct show_out *o, const struct show_values *v, const char *name)
{
    struct show_words words = { .tokenizer = NULL };
    struct leat_dataset *d = NULL;
    uint64_t first = 0, end = 0;
    char title[TITLE], shown[COMMANDS_NAME];
    struct leat_error err;
    enum leat_status s;
    const char *why;

    if (v->tokens && !units_parse_range(v->tokens, &first, &end, NULL, &why))
        return command_wrong(self, "--tokens: \"%.100s\" %s", v->tokens, why);
    s = commands_open(&d, name, &err);
    name = commands_shown(name, shown);
    if (s == LEAT_OK)
        s = show_words_open(&words, d, given_tokenizer(v), v->pattern, &err);
    if (s == LEAT_OK)
        s = find_tokens(d, v, &first, &end, &err);
    if (v->document != LEAT_NONE)
        snprintf(title, sizeof title, "Document %" PRIu64 " of %.*s", v->document, TITLE_NAME, name);
    else
        snprintf(title, sizeof title, "Tokens %.50s of %.*s", v->tokens, TITLE_NAME, name);
    if (s == LEAT_OK)
        s = o->form->begin(o, title, &err);
    if (s == LEAT_OK)
        s = end_rows(o, show_places(o, d, &words, name, first, end, &err), &err);
    show_words_close(&words);
    leat_dataset_close(d);
    return s == LEAT_OK ? CLI_DONE : cli_failed_or_damaged(&err);
}

/* ---- The command ------------------------------------------------------------------------------------------------- */

/* Reports options that do not go together. */
static bool check_values(const struct command *self, const struct show_values *v, size_t words)
{
    bool of_plan = v->sample != LEAT_NONE || v->step != LEAT_NONE;
    bool of_dataset = v->document != LEAT_NONE || v->tokens;

    if (!of_plan && !of_dataset && v->tokenizers.count == 0)
        command_wrong(self, "say what to show: --sample or --step (of a plan), --document or --tokens (of NAME), or "
                            "--tokenizer (of a text)");
    else if (of_plan && words > 0)
        command_wrong(self, "--sample and --step take the plan's sources from --source or --plan, not from NAME");
    else if (of_dataset && words == 0)
        command_wrong(self, "--document and --tokens need the NAME of a dataset");
    else if ((of_plan || of_dataset) && v->tokenizers.count > 1)
        command_wrong(self, "several tokenizers are compared on a text only");
    else if (of_plan && !plan_options_complete(self, "", &v->plan))
        return false;
    else if ((no_loss_given(&v->no_loss) || plan_options_given(&v->plan)) && !of_plan)
        command_wrong(self, "--%s needs --sample or --step: it applies to rows of a plan",
                      no_loss_given(&v->no_loss) ? no_loss_given(&v->no_loss) : plan_options_given(&v->plan));
    else if (v->learned && !of_plan && !of_dataset)
        command_wrong(self, "--learned needs --document, --tokens, --sample or --step: a text alone is not learned");
    else
        return true;
    return false;
}

static int show(const struct command *self, const struct show_values *v, const struct options_parsed *parsed)
{
    struct show_out o = { .form = v->json   ? &show_as_json
                                  : v->html ? &show_as_page
                                            : &show_as_text,
                          .path = v->html,
                          .learned = v->learned };
    const char *none = getenv("NO_COLOR"), *kind = getenv("TERM");
    bool plain = v->no_colour || (none && none[0]) || (kind && strcmp(kind, "dumb") == 0);

    o.colour = v->colour || (cli_stdout_is_terminal() && !plain);
    if (v->sample != LEAT_NONE || v->step != LEAT_NONE)
        return show_samples(self, &o, v);
    if (v->document != LEAT_NONE || v->tokens)
        return show_dataset(self, &o, v, parsed->words[0]);
    o.beside = true;
    o.column_room = v->tokenizers.count;
    o.column_places = show_columns_places(o.column_room);
    if (o.form == &show_as_text && o.column_places > 0)
        o.form = &show_as_columns;
    return show_texts(&o, self, &v->tokenizers, v->pattern, parsed->count > 0 ? parsed->words[0] : "-");
}

int cmd_show(const struct command *self, int argc, char **argv)
{
    struct show_values v = { .plan = PLAN_OPTIONS_INIT,
                             .sample = LEAT_NONE,
                             .step = LEAT_NONE,
                             .rank = LEAT_NONE,
                             .world = LEAT_NONE,
                             .document = LEAT_NONE };
    struct options_parsed parsed;
    int code;

    if (!command_parse(self, argc, argv, &v, &parsed, &code)) {
        plan_options_free(&v.plan);
        option_list_free(&v.tokenizers);
        return code;
    }
    code = check_values(self, &v, parsed.count) ? cli_finish_stdout(show(self, &v, &parsed)) : CLI_WRONG;
    plan_options_free(&v.plan);
    option_list_free(&v.tokenizers);
    options_free(&parsed);
    return code;
}
