/*
 * encoder.c: the stations call each other: each take_...() gets what the station before has finished,
 * and hands it to the next station with itself as the callback for the results. So a chunk passes through all stations
 * before the next one comes, and no station stores the text. encoder_run() feeds a whole text in chunks, and
 * encoder_chunk() one that arrives in chunks; both end in feed().
 */
#include "encoder.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/tiny.h"
#include "base/utf8.h"
#include "pipeline.h"
#include "text_group.h"
#include "tokenizer/split/cutter.h"

/* Stretches between tokens, and tokens, that are encoded together, at most. */
#define SPANS ((size_t)TINY_OR(3, 512))

struct encoder {
    const struct pipeline *pipeline;
    struct encoder_options options;
    size_t chunk_bytes, cache_bytes;
    struct bound bound;
    struct pattern_steps steps; /* steps that expressions may still take for this text */
    struct id_list ids;
    struct bound ids_bound; /* bound of the ids of a whole text */
    bool counts_ids;        /* true: the ids of whole texts count with all else */
    bool trusted;           /* true: texts are valid UTF-8, unchecked */
    bool begun;             /* encoder_chunk() may come */
    uint64_t offset;        /* place of `input` in the text */
    struct held input;      /* bytes of a character that is not complete */
    struct buffer repaired;
    struct cutter raw, normalized; /* cutters at the tokens of raw text and of normalized text; sentencepiece uses
                                      only the second */
    struct normalizer_scratch normalizer;
    struct sentencepiece_state sentencepiece;
    struct pretokenizer_scratch *pretokenizer;
    struct held pretoken; /* end of a chunk of a pretoken that cannot be cut */
    bool pretoken_cut;    /* true if a part of that pretoken has been encoded */
    bool spaced_begun;    /* true if something of a segment that is not normalized has come (spaced.h) */
    struct buffer spaced;
    const uint8_t *run; /* stretches of text and tokens that follow each other, to be encoded together */
    size_t run_bytes, span_count;
    struct model_span spans[SPANS];
    struct text_group group;
    void *model; /* its scratch */
};

/*
 * Most bytes of a text that are taken at a time; a small bound takes fewer. About ten buffers have this size or a
 * multiple of it. If texts are normalized, NORMALIZED is used instead of CHUNKS: a chunk may become 11 times as
 * long, each byte of that two ids, and a list of ids is there twice while it grows.
 */
#define CHUNK_BYTES ((size_t)TINY_OR(48, 1 << 20))
#define MIN_CHUNK   ((size_t)TINY_OR(48, 4096))
#define CHUNKS      64
#define NORMALIZED  512

/* Room for more ids than this is not kept from one chunk to the next. */
#define MANY_IDS ((size_t)1 << 22)

/* The cache's share of the bound. It counts from the beginning, so that which texts are refused does not depend on
 * earlier ones. */
#define CACHE_SHARE 4

/* ---- Making ---- */

static void set_up(struct encoder *e, const struct pipeline *pipeline)
{
    bool hf = !pipeline->sentencepiece, lstrip = false;
    unsigned chunks;

    for (uint32_t i = 0; hf && i < pipeline->spec->added_count; i++)
        lstrip = lstrip || pipeline->spec->added[i].lstrip;
    e->raw.options = (struct cutter_options) { pipeline->raw, pipeline->spec->added, e->options.special, lstrip };
    e->normalized.options = e->raw.options;
    e->normalized.options.finder = pipeline->normalized;
    if (!hf && !pipeline->model->kind->finds_defined)
        e->normalized.options =
            (struct cutter_options) { .finder = sentencepiece_defined(pipeline->sentencepiece), .special = true };
    e->bound.max = e->options.max_bytes;
    e->steps.stop = e->options.stop;
    e->steps.context = e->options.stop_context;
    e->cache_bytes = e->bound.max / CACHE_SHARE < SIZE_MAX ? (size_t)(e->bound.max / CACHE_SHARE) : SIZE_MAX;
    e->cache_bytes = model_cache_bytes(pipeline->model, e->cache_bytes);
    e->bound.held = e->cache_bytes;
    e->input.text.bound = e->repaired.bound = e->spaced.bound = e->pretoken.text.bound = &e->bound;
    e->raw.held.text.bound = e->normalized.held.text.bound = &e->bound;
    sentencepiece_state_bound(&e->sentencepiece, &e->bound);
    chunks = pipeline->sentencepiece || pipeline->spec->normalizer_count > 0 ? NORMALIZED : CHUNKS;
    e->chunk_bytes = e->bound.max / chunks < CHUNK_BYTES ? (size_t)(e->bound.max / chunks) : CHUNK_BYTES;
    if (e->chunk_bytes < MIN_CHUNK)
        e->chunk_bytes = MIN_CHUNK;
}

static pretokenizer_take_pretokens take_pretokens, take_words;

enum leat_status encoder_make(struct encoder **out, const struct pipeline *pipeline,
                              const struct encoder_options *options, struct leat_error *err)
{
    struct encoder *e = calloc(1, sizeof *e);
    enum leat_status s;

    *out = NULL;
    if (!e)
        return status_no_memory(err, sizeof *e);
    e->pipeline = pipeline;
    e->options = *options;
    set_up(e, pipeline);
    s = model_scratch_make(&e->model, pipeline->model, &e->bound, e->cache_bytes, err);
    if (s == LEAT_OK)
        s = pretokenizer_scratch_make(&e->pretokenizer, pipeline->pretokenizer, &e->bound, err);
    if (s == LEAT_OK)
        s = normalizer_scratch_make(&e->normalizer, pipeline->normalizer, &e->bound, &e->steps, err);
    if (s == LEAT_OK)
        s = id_list_reserve(&e->ids, 1, err);
    if (s == LEAT_OK)
        s = text_group_make(&e->group, pipeline, err);
    if (s != LEAT_OK) {
        encoder_free(e);
        return s;
    }
    pretokenizer_scratch_batches(e->pretokenizer, take_pretokens);
    if (pipeline->model->kind->encode_words)
        pretokenizer_scratch_words(e->pretokenizer, take_words);
    pretokenizer_scratch_steps(e->pretokenizer, &e->steps);
    *out = e;
    return LEAT_OK;
}

void encoder_free(struct encoder *e)
{
    if (!e)
        return;
    model_scratch_free(e->pipeline->model, e->model);
    pretokenizer_scratch_free(e->pretokenizer);
    normalizer_scratch_free(&e->normalizer);
    sentencepiece_state_free(&e->sentencepiece);
    held_free(&e->input);
    held_free(&e->raw.held);
    held_free(&e->normalized.held);
    held_free(&e->pretoken);
    buffer_free(&e->repaired);
    buffer_free(&e->spaced);
    id_list_free(&e->ids);
    text_group_free(&e->group);
    free(e);
}

uint64_t encoder_special_strings(const struct encoder *e)
{
    return e->raw.specials + e->normalized.specials;
}

void encoder_trust(struct encoder *e)
{
    e->trusted = true;
}

void encoder_count_ids(struct encoder *e)
{
    e->counts_ids = true;
}

uint64_t encoder_steps(const struct encoder *e)
{
    return e->steps.taken;
}

uint64_t encoder_held(const struct encoder *e)
{
    return e->bound.held - e->cache_bytes;
}

/* ---- The way of a text, last station first ----------------------------------------------------------------------- */

/* Takes a pretoken, or its next chunk. */
static enum leat_status pass_pretoken(struct encoder *e, const uint8_t *text, size_t bytes, bool last,
                                      struct leat_error *err)
{
    struct model_chunk chunk;
    enum leat_status s;
    size_t used;
    bool ready;

    if (last && !e->pretoken_cut && e->pretoken.text.size == e->pretoken.begin)
        return bytes > 0 ? e->pipeline->model->kind->encode(e->pipeline->model, e->model, text, bytes, &e->ids, err)
                         : LEAT_OK;
    s = held_join(&e->pretoken, &text, &bytes, last, &ready, err);
    if (s != LEAT_OK || !ready)
        return s;
    chunk = (struct model_chunk) { .text = text, .bytes = bytes, .begins = !e->pretoken_cut, .last = last };
    s = model_encode_chunk(e->pipeline->model, e->model, &chunk, &e->ids, &used, err);
    e->pretoken_cut = !last && (e->pretoken_cut || used > 0);
    return s == LEAT_OK ? held_keep(&e->pretoken, text, bytes, used, err) : s;
}

/* Takes whole pretokens; none comes in chunks where these do. */
static enum leat_status take_pretokens(void *context, const struct model_pretokens *p, struct leat_error *err)
{
    struct encoder *e = context;

    return model_encode_batch(e->pipeline->model, e->model, p, &e->ids, err);
}

/* Takes pretokens that have white space before them. */
static enum leat_status take_words(void *context, const struct model_pretokens *p, struct leat_error *err)
{
    struct encoder *e = context;

    return e->pipeline->model->kind->encode_words(e->pipeline->model, e->model, p, &e->ids, err);
}

static enum leat_status take_pretoken(void *context, const uint8_t *text, size_t bytes, bool last,
                                      struct leat_error *err)
{
    return pass_pretoken(context, text, bytes, last, err);
}

static enum leat_status take_token(void *context, uint32_t id, const uint8_t *text, size_t bytes,
                                   struct leat_error *err)
{
    struct encoder *e = context;

    (void)text;
    (void)bytes;
    return id_list_append(&e->ids, id, err);
}

/* ---- Plain spaces ------------------------------------------------------------------------------------------------ */

/*
 * Passes a text to a model with plain spaces (spaced.h): unchanged, segment by segment. If added tokens are close
 * together, for example if each newline is one, the text between them is gathered, so that the model gets batches of
 * pretokens.
 */

/* Room for the space before a segment and the text after it up to a cut. */
#define PREFIX_ROOM 64

/* Encodes the space before a segment with as much of the text as it needs, *used; or holds the space back until the
 * text has come. */
static enum leat_status take_prefix(struct encoder *e, const uint8_t *text, size_t bytes, size_t *used,
                                    struct leat_error *err)
{
    uint8_t copy[PREFIX_ROOM] = { ' ' };
    struct model_chunk chunk = { .text = copy, .begins = true };
    size_t room = bytes < sizeof copy - 1 ? bytes : sizeof copy - 1, cut = 0;
    enum leat_status s;

    while (room < bytes && (text[room] & 0xc0) == 0x80)
        room--;
    memcpy(copy + 1, text, room);
    chunk.bytes = room + 1;
    s = model_encode_chunk(e->pipeline->model, e->model, &chunk, &e->ids, &cut, err);
    e->pretoken_cut = cut > 0;
    *used = cut > 0 ? cut - 1 : 0;
    return s == LEAT_OK && cut == 0 ? buffer_append(&e->pretoken.text, copy, 1, err) : s;
}

static bool wants_prefix(const struct encoder *e, const uint8_t *text, bool first)
{
    enum spaced_prefix prefix = e->pipeline->prefix;

    return prefix == SPACED_ALWAYS || (prefix == SPACED_UNLESS && *text != ' ') ||
           (prefix == SPACED_FIRST && first && *text != ' ');
}

/* Takes a segment as it stands in the text, or its next chunk. */
static enum leat_status take_spaced(struct encoder *e, const uint8_t *text, size_t bytes, bool first, bool last,
                                    struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    size_t used = 0;

    if (spaced_has_mark(text, bytes)) {
        e->spaced.size = 0;
        s = spaced_replace(&e->spaced, text, bytes, err);
        text = e->spaced.bytes;
        bytes = e->spaced.size;
    }
    if (s == LEAT_OK && bytes > 0 && !e->spaced_begun && wants_prefix(e, text, first))
        s = take_prefix(e, text, bytes, &used, err);
    e->spaced_begun = !last && (e->spaced_begun || bytes > 0);
    return s == LEAT_OK ? pass_pretoken(e, text + used, bytes - used, last, err) : s;
}

static enum leat_status encode_run(struct encoder *e, struct leat_error *err)
{
    const struct model_spans run = { e->run, e->run_bytes, e->spans, e->span_count };
    size_t count = e->span_count, begin = 0;
    enum leat_status s = LEAT_OK;

    e->span_count = 0;
    if (count > 0 && !spaced_has_mark(e->run, e->run_bytes))
        return e->pipeline->model->kind->encode_spans(e->pipeline->model, e->model, &run, &e->ids, err);
    for (size_t i = 0; s == LEAT_OK && i < count; begin = e->spans[i++].end)
        s = e->spans[i].id == MODEL_PRETOKEN ? take_spaced(e, e->run + begin, e->spans[i].end - begin, false, true, err)
                                             : id_list_append(&e->ids, e->spans[i].id, err);
    return s;
}

static enum leat_status add_span(struct encoder *e, const uint8_t *text, size_t bytes, uint32_t id,
                                 struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    if (e->span_count > 0 &&
        (e->span_count == SPANS || e->run_bytes + bytes > MODEL_SPAN_MAX || e->run + e->run_bytes != text))
        s = encode_run(e, err);
    if (e->span_count == 0) {
        e->run = text;
        e->run_bytes = 0;
    }
    e->run_bytes += bytes;
    e->spans[e->span_count++] = (struct model_span) { (uint32_t)e->run_bytes, id };
    return s;
}

/* Takes a segment. One that has come completely goes into the run; others, at the ends of what has come, are encoded
 * by themselves. */
static enum leat_status take_segment(void *context, const struct text_chunk *chunk, struct leat_error *err)
{
    struct encoder *e = context;
    enum leat_status s;

    if (chunk->last && !e->spaced_begun && chunk->bytes > 0 && chunk->bytes <= MODEL_SPAN_MAX)
        return add_span(e, chunk->text, chunk->bytes, MODEL_PRETOKEN, err);
    s = encode_run(e, err);
    return s == LEAT_OK ? take_spaced(e, chunk->text, chunk->bytes, false, chunk->last, err) : s;
}

static enum leat_status take_fixed(void *context, uint32_t id, const uint8_t *text, size_t bytes,
                                   struct leat_error *err)
{
    struct encoder *e = context;
    enum leat_status s;

    if (bytes > 0 && bytes <= MODEL_SPAN_MAX)
        return add_span(e, text, bytes, id, err);
    s = encode_run(e, err);
    return s == LEAT_OK ? id_list_append(&e->ids, id, err) : s;
}

/* Takes a text, or a chunk of it. If nothing is put before segments, segments and the tokens between them are
 * encoded many at a time. */
static enum leat_status take_runs(struct encoder *e, const struct text_chunk *chunk, struct leat_error *err)
{
    static const struct cutter_take take = { take_segment, take_fixed };
    const struct text_chunk all = { chunk->text, chunk->bytes, 0, chunk->last };
    enum leat_status s = cutter_run(&e->raw, &all, &take, e, err);

    return s == LEAT_OK ? encode_run(e, err) : s;
}

/* ---- The stations before the model ------------------------------------------------------------------------------- */

static enum leat_status take_normalized(void *context, const struct text_chunk *chunk, struct leat_error *err)
{
    struct encoder *e = context;

    return pretokenizer_run(e->pipeline->pretokenizer, e->pretokenizer, chunk, take_pretoken, e, err);
}

static enum leat_status take_raw(void *context, const struct text_chunk *chunk, struct leat_error *err)
{
    static const struct cutter_take take = { take_normalized, take_token };
    struct text_chunk normalized = *chunk;
    struct encoder *e = context;
    enum leat_status s;

    if (e->pipeline->prefix != SPACED_NOT)
        return take_spaced(e, chunk->text, chunk->bytes, chunk->first > 0, chunk->last, err);
    e->normalizer.first = chunk->first;
    s = normalizer_run(e->pipeline->normalizer, &e->normalizer, &normalized.text, &normalized.bytes, chunk->last, err);
    normalized.first = e->normalizer.first;
    return s == LEAT_OK ? cutter_run(&e->normalized, &normalized, &take, e, err) : s;
}

/* Takes text between user-defined tokens of sentencepiece, which is a pretoken. */
static enum leat_status take_between(void *context, const struct text_chunk *chunk, struct leat_error *err)
{
    return pass_pretoken(context, chunk->text, chunk->bytes, chunk->last, err);
}

static enum leat_status take_sentencepiece(struct encoder *e, const struct text_chunk *chunk, struct leat_error *err)
{
    static const struct cutter_take take = { take_between, take_token };
    struct text_chunk normalized = { chunk->text, chunk->bytes, 0, chunk->last };
    enum leat_status s;

    if (e->pipeline->prefix != SPACED_NOT)
        return take_spaced(e, chunk->text, chunk->bytes, true, chunk->last, err);
    s = sentencepiece_normalizer_run(e->pipeline->sentencepiece, &e->sentencepiece, &normalized.text, &normalized.bytes,
                                     chunk->last, err);
    return s == LEAT_OK ? cutter_run(&e->normalized, &normalized, &take, e, err) : s;
}

static enum leat_status take_valid(struct encoder *e, const uint8_t *text, size_t bytes, bool last,
                                   struct leat_error *err)
{
    static const struct cutter_take take = { take_raw, take_token };
    struct text_chunk chunk = { text, bytes, 0, last };

    if (e->offset == 0 && bytes > 0)
        for (chunk.first = 1; chunk.first < bytes && (text[chunk.first] & 0xc0) == 0x80;)
            chunk.first++;
    if (e->pipeline->prefix == SPACED_NONE && !e->pipeline->sentencepiece && model_takes_spans(e->pipeline->model))
        return take_runs(e, &chunk, err);
    return e->pipeline->sentencepiece ? take_sentencepiece(e, &chunk, err) : cutter_run(&e->raw, &chunk, &take, e, err);
}

/* Repairs malformed UTF-8, or refuses the text, unless the caller has done that. */
static enum leat_status take_checked(struct encoder *e, const uint8_t *text, size_t bytes, bool last,
                                     struct leat_error *err)
{
    size_t valid = e->trusted ? bytes : utf8_valid_prefix(text, bytes);
    enum leat_status s;

    if (valid == bytes)
        return take_valid(e, text, bytes, last, err);
    if (e->options.reject_invalid)
        return status_set_at(err, LEAT_E_TEXT, NULL, e->offset + valid, "the text is not valid UTF-8 at byte %" PRIu64,
                             (e->offset + valid));
    e->repaired.size = 0;
    s = buffer_append_repaired(&e->repaired, text, bytes, NULL, err);
    return s == LEAT_OK ? take_valid(e, e->repaired.bytes, e->repaired.size, last, err) : s;
}

static enum leat_status take_input(struct encoder *e, const uint8_t *text, size_t bytes, bool last,
                                   struct leat_error *err)
{
    bool ready;
    enum leat_status s = held_join(&e->input, &text, &bytes, last, &ready, err);
    size_t used = s == LEAT_OK && !last ? bytes - utf8_open_end(text, bytes) : bytes;

    if (s != LEAT_OK || !ready)
        return s;
    s = take_checked(e, text, used, last, err);
    e->offset += used;
    return s == LEAT_OK ? held_keep(&e->input, text, bytes, used, err) : s;
}

/* ---- Texts and chunks ---- */

/* Frees memory that one pretoken or chunk needed and the next may not need. */
static void trim(struct encoder *e)
{
    held_trim(&e->input);
    held_trim(&e->raw.held);
    held_trim(&e->normalized.held);
    held_trim(&e->pretoken);
    e->repaired.size = e->spaced.size = 0;
    buffer_trim(&e->repaired);
    buffer_trim(&e->spaced);
    normalizer_scratch_trim(&e->normalizer);
    pretokenizer_scratch_trim(e->pretokenizer);
}

static void clear(struct encoder *e)
{
    held_clear(&e->input);
    cutter_clear(&e->raw);
    cutter_clear(&e->normalized);
    normalizer_scratch_clear(&e->normalizer);
    sentencepiece_state_clear(&e->sentencepiece);
    pretokenizer_scratch_clear(e->pretokenizer);
    held_clear(&e->pretoken);
    e->pretoken_cut = e->spaced_begun = false;
    e->span_count = 0;
    trim(e);
}

/* Encodes one chunk. After a failure, or the end of a text, nothing of it is kept. */
static enum leat_status feed(struct encoder *e, const uint8_t *text, size_t bytes, bool last, struct leat_error *err)
{
    enum leat_status s = take_input(e, bytes > 0 ? text : (const uint8_t *)"", bytes, last, err);

    if (s != LEAT_OK || last) {
        clear(e);
        e->begun = false;
    } else {
        trim(e);
    }
    return s;
}

/* Bytes per byte of text that the ids of a whole text may take in addition to max_bytes: with both copies while they
 * grow, enough for the form of Unicode that makes 11 letters of one byte. A file may put any text before each word. */
#define IDS_BYTE 128

/* Begins a text. The ids of a text in chunks are counted with all else; those of a whole one have a bound of their
 * own. */
static void begin_text(struct encoder *e, struct bound *of_ids)
{
    if (e->begun)
        clear(e);
    /* memory that earlier texts have left must not decide what this one may take */
    if (e->ids.bound != of_ids || (of_ids == &e->bound && e->ids.room > e->bound.max / 4 / CHUNKS)) {
        id_list_free(&e->ids);
        e->ids.bound = of_ids;
    }
    e->ids.count = 0;
    pattern_steps_begin(&e->steps);
    e->offset = e->raw.specials = e->normalized.specials = 0;
    e->begun = true;
}

enum leat_status encoder_run(struct encoder *e, const uint8_t *text, size_t bytes, const uint32_t **ids, size_t *count,
                             struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    begin_text(e, e->counts_ids ? &e->bound : &e->ids_bound);
    e->ids_bound.max =
        bytes < (UINT64_MAX - e->options.max_bytes) / IDS_BYTE ? e->options.max_bytes + bytes * IDS_BYTE : UINT64_MAX;
    for (; s == LEAT_OK && bytes > e->chunk_bytes; text += e->chunk_bytes, bytes -= e->chunk_bytes) {
        s = feed(e, text, e->chunk_bytes, false, err);
        if (s == LEAT_OK && e->options.stop && e->options.stop(e->options.stop_context))
            s = status_set(err, LEAT_E_STOPPED, "encoding was stopped");
    }
    if (s == LEAT_OK)
        s = feed(e, text, bytes, true, err);
    if (s == LEAT_OK)
        s = id_list_reserve(&e->ids, 1, err);
    *ids = e->ids.ids;
    *count = e->ids.count;
    return s;
}

/* ---- Texts together ---- */

/* Returns true if the text has a string of an added token, or the search fails. */
static bool has_token(const struct string_finder *f, const uint8_t *text, size_t bytes)
{
    struct string_search search = { .text = text, .bytes = bytes };
    size_t start, end;
    uint32_t number;
    bool found = true;
    enum leat_status s = LEAT_OK;

    if (string_finder_longest(f) == 0)
        return false;
    s = string_finder_next(f, &search, &found, &start, &end, &number, NULL);
    string_search_free(&search);
    return s != LEAT_OK || found;
}

/* Normalizes a text, with as many steps as it has alone. Its error is not reported. */
static enum leat_status normalize(struct encoder *e, const uint8_t **text, size_t *bytes)
{
    size_t first = *bytes > 0;

    while (first < *bytes && ((*text)[first] & 0xc0) == 0x80)
        first++;
    e->normalizer.first = first;
    pattern_steps_begin(&e->steps);
    return normalizer_run(e->pipeline->normalizer, &e->normalizer, text, bytes, true, NULL);
}

/* Puts a text into the group, if it needs only the scanner and the model, and sets *added. A text that fails here
 * will fail alone, too, except by `stop`, which may say so only once. */
static enum leat_status add_to_group(struct encoder *e, const struct leat_text *t, bool *added, struct leat_error *err)
{
    const uint8_t *text = (const uint8_t *)(t->bytes > 0 ? t->text : ""), *whole = text;
    size_t bytes = (size_t)t->bytes;
    enum leat_status s;

    *added = false;
    if (!text_group_has_room(&e->group, t->bytes) || bytes > e->chunk_bytes ||
        (!e->trusted && utf8_valid_prefix(text, bytes) != bytes) || has_token(e->pipeline->raw, text, bytes))
        return LEAT_OK;
    s = normalize(e, &text, &bytes);
    *added = s == LEAT_OK && bytes <= TEXT_GROUP_MAX && !has_token(e->pipeline->normalized, text, bytes);
    if (*added)
        text_group_add(&e->group, text, bytes);
    if (!*added || text != whole) { /* the text left something in the normalizer */
        normalizer_scratch_clear(&e->normalizer);
        normalizer_scratch_trim(&e->normalizer);
    }
    return s == LEAT_E_STOPPED ? status_set(err, s, "encoding was stopped") : LEAT_OK;
}

enum leat_status encoder_run_texts(struct encoder *e, const struct leat_text *texts, uint64_t count, uint64_t *done,
                                   const uint32_t **ids, uint64_t *counts, struct leat_error *err)
{
    uint64_t grouped = 0;
    bool added = true;
    enum leat_status s;
    size_t n;

    begin_text(e, e->counts_ids ? &e->bound : &e->ids_bound);
    e->begun = false; /* a group holds nothing back */
    text_group_clear(&e->group);
    *done = 1; /* a text is done, too, if memory does not suffice for a group */
    for (; added && grouped < count; grouped += added) {
        s = add_to_group(e, &texts[grouped], &added, err);
        if (s != LEAT_OK)
            return s;
    }
    if (grouped > 0 && text_group_encode(&e->group, e->model, NULL) == LEAT_OK) {
        for (uint64_t i = 0; i < grouped; i++)
            counts[i] = e->group.counts.ids[i];
        *ids = e->group.ids.ids;
        *done = grouped;
        return LEAT_OK;
    }
    if (texts->bytes > SIZE_MAX)
        return status_no_memory(err, texts->bytes);
    s = encoder_run(e, (const uint8_t *)texts->text, (size_t)texts->bytes, ids, &n, err);
    counts[0] = n;
    return s;
}

void encoder_begin(struct encoder *e)
{
    begin_text(e, &e->bound);
}

static enum leat_status feed_chunk(struct encoder *e, const uint8_t *text, size_t bytes, bool last,
                                   const uint32_t **ids, size_t *count, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    if (!e->begun || e->ids.bound != &e->bound)
        return status_set(err, LEAT_E_STATE,
                          "the encoder has no text in chunks: call leat_encoder_begin(), also after the end of a text "
                          "and after an error");
    if (e->ids.room > MANY_IDS)
        id_list_free(&e->ids);
    e->ids.count = 0;
    s = feed(e, text, bytes, last, err);
    if (s == LEAT_OK)
        s = id_list_reserve(&e->ids, 1, err);
    *ids = e->ids.ids;
    *count = e->ids.count;
    return s;
}

enum leat_status encoder_chunk(struct encoder *e, const uint8_t *text, size_t bytes, size_t *used, const uint32_t **ids,
                               size_t *count, struct leat_error *err)
{
    *used = bytes < e->chunk_bytes ? bytes : e->chunk_bytes;
    return feed_chunk(e, text, *used, false, ids, count, err);
}

enum leat_status encoder_end(struct encoder *e, const uint32_t **ids, size_t *count, struct leat_error *err)
{
    return feed_chunk(e, NULL, 0, true, ids, count, err);
}
