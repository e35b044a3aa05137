/*
 * packer.c: leat_packer_*(): collects a program's texts into units and gives them to the flow that also packs files.
 * A unit takes texts, ids or one declared input; it is put when it is full or the next call brings another kind.
 * Failures of the flow appear in a later call, and stay.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/options.h"
#include "base/path.h"
#include "base/status.h"
#include "corpus/record/pair.h"
#include "mask/span_mask.h"
#include "pack.h"
#include "pack/flow/steps.h"
#include "pack/flow/unit_kinds.h"
#include "pack_description.h"
#include "pack_run.h"
#include "packer_judge.h"
#include "packer_values.h"

#define MAX_NOTE ((uint64_t)1 << 20)

struct leat_packer {
    struct pack_run run;
    struct flow *flow;
    struct unit *unit;              /* unit that is being filled; NULL: none */
    struct packer_judge judge;      /* conditions on the rows */
    struct packer_values values;    /* values for columns of the next documents */
    uint64_t inputs;                /* declared */
    struct folder home;             /* folder in which the packer was opened */
    char *whole;                    /* absolute name of the dataset */
    struct packer_part *part;       /* part of a run that this packer makes; NULL: it makes a dataset of its own */
    struct leat_pack_report report; /* set once the dataset is complete */
    bool complete;
    enum leat_status failed;
    struct leat_error why;
    pid_t owner;
};

/* Returns LEAT_E_FORKED in a child, which has none of the threads. */
static enum leat_status check_process(const struct leat_packer *p, struct leat_error *err)
{
    if (p->owner == getpid())
        return LEAT_OK;
    return status_set(err, LEAT_E_FORKED,
                      "this packer belongs to another process: it does not work after fork; open one in each process");
}

/* ---- Units ---- */

/* Keeps the first failure, and returns it. */
static enum leat_status fail(struct leat_packer *p, enum leat_status s, const struct leat_error *why,
                             struct leat_error *err)
{
    if (p->failed == LEAT_OK) {
        p->failed = s;
        p->why = *why;
    }
    if (err)
        *err = p->why;
    return p->failed;
}

static void put_unit(struct leat_packer *p)
{
    if (p->unit)
        flow_put(p->flow, p->unit);
    p->unit = NULL;
}

/* Gets a unit of this kind that has room for `bytes` more, or is empty. */
static enum leat_status take_unit(struct leat_packer *p, const struct unit_kind *kind, uint64_t bytes,
                                  struct leat_error *err)
{
    struct unit *u = p->unit;
    enum leat_status s;

    if (u &&
        (u->kind != kind || u->text.size + u->docs.tokens.size + u->docs.values.size + bytes > p->run.setup.unit_bytes))
        put_unit(p);
    if (p->unit)
        return LEAT_OK;
    s = flow_take(p->flow, &p->unit, err);
    if (s != LEAT_OK)
        return s;
    p->unit->kind = kind;
    p->unit->input = p->unit->input_end = 0;
    return LEAT_OK;
}

static enum leat_status check_origin(const struct leat_packer *p, const struct leat_origin *origin,
                                     struct leat_error *err)
{
    if (origin && origin->input != LEAT_NONE && origin->input >= p->inputs)
        return status_argument(err, "origin", "an origin names input %llu, but only %llu were declared",
                               (unsigned long long)origin->input, (unsigned long long)p->inputs);
    return LEAT_OK;
}

static const struct leat_origin none = { .input = LEAT_NONE, .line = LEAT_NONE };

/* Sets the place of a document in its input. */
static void set_place(struct packer_document *d, const struct leat_origin *origin)
{
    d->input = origin->input;
    d->offset = origin->offset;
    d->line = origin->line > 0 ? origin->line : LEAT_NONE;
}

static struct packer_document *add_document(struct leat_packer *p, const struct leat_origin *origin,
                                            struct leat_error *err)
{
    struct packer_document *d = documents_add(&p->unit->docs, err);

    if (!origin)
        origin = &none;
    if (!d)
        return NULL;
    set_place(d, origin);
    return documents_keep(&p->unit->docs, origin->id, origin->id ? (size_t)origin->id_bytes : 0, &d->id, err) == LEAT_OK
               ? d
               : NULL;
}

/* Keeps the spans of a text that has a mask. */
static enum leat_status keep_spans(struct leat_packer *p, struct packer_document *d, const struct leat_span *spans,
                                   uint64_t count, struct leat_error *err)
{
    if (!spans)
        return LEAT_OK;
    if (count > SIZE_MAX / 2 / sizeof *spans)
        return status_no_memory(err, count);
    d->masked = true;
    d->spans = (struct stretch) { p->unit->docs.spans.size, (size_t)count * sizeof *spans };
    return buffer_append(&p->unit->docs.spans, spans, d->spans.bytes, err);
}

/* Keeps the values of the next document: those of its first `kept` ids of `ids`, unless it is a text. */
static enum leat_status keep_values(struct leat_packer *p, struct packer_document *d, uint64_t ids, uint64_t kept,
                                    struct leat_error *err)
{
    struct buffer *to = &p->unit->docs.values;
    enum leat_status s;

    d->values.begin = to->size;
    s = packer_values_take(&p->values, ids, kept, to, err);
    d->values.bytes = to->size - d->values.begin;
    return s;
}

/* Adds a text, with spans or NULL. */
static enum leat_status add_text(struct leat_packer *p, const char *text, uint64_t bytes, const struct leat_span *spans,
                                 uint64_t span_count, const struct leat_origin *origin, struct leat_error *err)
{
    struct packer_document *d;
    enum leat_status s = bytes < SIZE_MAX / 2 ? take_unit(p, &unit_texts, bytes, err) : status_no_memory(err, bytes);

    if (s != LEAT_OK)
        return s;
    d = add_document(p, origin, err);
    if (!d)
        return LEAT_E_NO_MEMORY;
    d->text = (struct stretch) { p->unit->text.size, (size_t)bytes };
    s = keep_spans(p, d, spans, span_count, err);
    if (s == LEAT_OK)
        s = keep_values(p, d, 0, 0, err);
    return s == LEAT_OK ? buffer_append(&p->unit->text, text, (size_t)bytes, err) : s;
}

/* ---- Opening ---- */

static enum leat_status check_options(const struct leat_packer *p, struct leat_error *err)
{
    const struct leat_pack_options *o = &p->run.options;
    const struct record_judge *judge = judges_asked(o, false);
    bool records = o->chat || pair_prompt(o);

    if (o->shuffle || o->dedup || o->split_count > 0)
        return status_field(
            err,
            status_set_hint(err, LEAT_E_ARGUMENT, LEAT_HINT_MERGE, NULL,
                            "a packer writes documents in the order in which they come: shuffle, deduplicate or "
                            "split its dataset by merging it"),
            o->shuffle ? "shuffle"
            : o->dedup ? "dedup"
                       : "splits");
    if (o->column_count > 0 && (records || p->run.pushed))
        return status_argument(err, "column",
                               "a packer of %s makes no columns: pack files, or attach columns to the finished dataset",
                               p->run.pushed ? "a run's parts" : "conversations or pairs");
    if (judge && judge != &judge_columns && !(records && judge == &judge_weight))
        return status_argument(err, judge->option,
                               "a packer takes texts, which have no fields %s: it packs all that it is given, with the "
                               "masks that it is given",
                               judge->needs);
    return LEAT_OK;
}

/* Reports, with `resume`, that a dataset exists of which no checkpoint is left, since its run has ended. */
static enum leat_status say_finished(const struct leat_packer *p, enum leat_status s, struct leat_error *err)
{
    struct file_identity index = { .exists = p->run.finished };

    if (p->run.replacing)
        return s;
    if (s == LEAT_E_EXISTS && p->run.options.resume && file_identify(p->run.index_path, &index, NULL) != LEAT_OK)
        return s;
    if (!index.exists)
        return s;
    return status_set_hint(err, LEAT_E_EXISTS, LEAT_HINT_REPLACE, p->run.index_path,
                           "%s is finished already, with nothing left to resume; use it, choose another name or "
                           "replace it",
                           p->run.index_path);
}

/*
 * Makes the names absolute of files that the packer opens and removes later: the process may go to another folder
 * before. (The writer does this for its own files.) The error about rejects has the caller's name as long as that is
 * right.
 */
static enum leat_status keep_folder(struct leat_packer *p, struct leat_error *err)
{
    static const char suffix[] = ".partial.run";
    struct pack_run *r = &p->run;
    char *path, *given = NULL;
    enum leat_status s;

    folder_note(&p->home);
    p->whole = folder_name(&p->home, r->name);
    path = p->whole ? path_append(p->whole, strlen(p->whole), suffix, NULL) : NULL;
    if (!path)
        return status_no_memory(err, strlen(r->name));
    free(r->description_path);
    r->output.description_path = r->description_path = path;
    r->setup.output = p->whole;
    r->output.folder = &p->home;
    r->output.rejects_given = r->output.rejects.path;
    r->output.rejects.path = NULL;
    reject_file_free(&r->output.rejects);
    given = folder_name(&p->home, r->given);
    s = given ? reject_file_init(&r->output.rejects, given, err) : status_no_memory(err, strlen(r->given));
    free(given);
    return s;
}

static enum leat_status open_output(struct leat_packer *p, struct leat_error *err)
{
    const struct leat_pack_options *o = &p->run.options;
    struct leat_pack_options records = *o;
    bool chat = o->chat != NULL;
    enum leat_status s = chat ? pack_run_take_chat(&p->run, err) : LEAT_OK;

    records.id = ""; /* ids are given beside the records, which were judged by conditions */
    records.keep_count = 0;
    if (s == LEAT_OK && (chat || pair_prompt(o)))
        s = judges_prepare(&p->run.setup.judges, &p->run.setup.fields, &records, err);
    if (s == LEAT_OK)
        s = pack_description_make(&p->run.description, &p->run.options, chat ? &p->run.chat : NULL,
                                  &p->run.setup.inputs, err);
    if (s == LEAT_OK)
        s = pack_run_begin(&p->run, err);
    s = say_finished(p, s, err);
    if (s == LEAT_OK)
        s = flow_open(&p->flow, &p->run.setup, NULL, &p->run.output, err);
    p->inputs = p->run.output.at.declared;
    return s;
}

/* ---- The public calls ---- */

enum leat_status leat_packer_open(struct leat_packer **out, const char *output, const struct leat_pack_options *options,
                                  struct leat_error *err)
{
    return packer_open(out, output, options, NULL, err);
}

struct packer_part *packer_part_of(const struct leat_packer *p)
{
    return p->part;
}

enum leat_status packer_open(struct leat_packer **out, const char *output, const struct leat_pack_options *options,
                             struct packer_part *part, struct leat_error *err)
{
    struct leat_pack_options read = LEAT_PACK_OPTIONS_INIT;
    enum leat_status s = pack_options_read(&read, options, err);
    struct leat_packer *p = s == LEAT_OK ? calloc(1, sizeof *p) : NULL;

    *out = NULL;
    if (!p)
        return s == LEAT_OK ? status_no_memory(err, sizeof *p) : s;
    p->owner = getpid();
    s = pack_run_init(&p->run, output, part ? part->given : NULL, &read, err);
    p->run.options.part = p->run.options.parts = 0;
    p->run.output.numbers_lines = true;
    p->run.output.checkpoints = false; /* only the caller knows its position, and stores it in a note */
    p->run.takes_texts = p->run.stores_all = true;
    p->run.pushed = part != NULL;
    p->run.judges = &p->judge.judges;
    p->run.setup.stop = (struct input_stop) { .asked = pack_run_ask, .context = &p->run.options };
    if (s == LEAT_OK)
        s = check_options(p, err);
    if (s == LEAT_OK)
        s = packer_values_open(&p->values, &p->run.setup.columns, &p->run.options, err);
    if (s == LEAT_OK)
        s = packer_judge_open(&p->judge, &p->run.options, err);
    if (s == LEAT_OK)
        s = keep_folder(p, err);
    if (s == LEAT_OK)
        s = open_output(p, err);
    if (s != LEAT_OK) {
        leat_packer_suspend(p);
        return s;
    }
    p->part = part;
    *out = p;
    return LEAT_OK;
}

void leat_packer_note(const struct leat_packer *p, const void **note, uint64_t *bytes)
{
    *note = p->run.own_note;
    *bytes = p->run.own_note_bytes;
}

enum leat_status leat_packer_add_input(struct leat_packer *p, const char *path, uint64_t *number,
                                       struct leat_error *err)
{
    struct leat_error why;
    enum leat_status s = check_process(p, err);

    if (s == LEAT_OK && !path)
        s = status_argument(err, "path", "leat_packer_add_input: missing path");
    if (s != LEAT_OK)
        return s;
    s = p->failed;
    put_unit(p);
    if (s == LEAT_OK)
        s = take_unit(p, &unit_input, 0, &why);
    if (s == LEAT_OK)
        s = buffer_append(&p->unit->docs.strings, path, strlen(path), &why);
    if (s != LEAT_OK)
        return fail(p, s, &why, err);
    put_unit(p);
    if (number)
        *number = p->inputs;
    p->inputs++;
    return LEAT_OK;
}

/* ---- Rows ---- */

void leat_packer_fields(const struct leat_packer *p, const struct leat_field **fields, uint64_t *count)
{
    *fields = p->judge.list;
    *count = p->judge.fields.count;
}

enum leat_status leat_packer_judge(struct leat_packer *p, const struct leat_value *values, uint32_t *keep,
                                   struct leat_error *err)
{
    enum leat_status s = check_process(p, err);

    return s == LEAT_OK ? packer_judge_row(&p->judge, values, keep, err) : s;
}

/* These rows count with a unit of any kind, as those of a file do. */
enum leat_status leat_packer_keep_out(struct leat_packer *p, uint64_t rows, struct leat_error *err)
{
    struct leat_error why;
    enum leat_status s = check_process(p, err);

    if (s != LEAT_OK)
        return s;
    s = p->failed;
    if (s == LEAT_OK && !p->unit)
        s = take_unit(p, &unit_texts, 0, &why);
    if (s != LEAT_OK)
        return fail(p, s, &why, err);
    p->unit->docs.counts[COUNT_KEPT_OUT] += rows;
    return LEAT_OK;
}

/* ---- Texts and ids ---- */

enum leat_status leat_packer_put_values(struct leat_packer *p, const struct leat_column_values *columns, uint64_t count,
                                        struct leat_error *err)
{
    enum leat_status s = check_process(p, err);

    return s == LEAT_OK ? packer_values_put(&p->values, columns, count, err) : s;
}

static enum leat_status check_mask(const struct leat_packer *p, const void *mask, struct leat_error *err)
{
    if (mask && !p->run.setup.masks)
        return status_set(err, LEAT_E_ARGUMENT,
                          "a mask, but this dataset stores none: open the packer with store_mask");
    return LEAT_OK;
}

/* A place in the texts, which are gone through one after another. */
struct text_at {
    const struct leat_texts *texts;
    uint64_t i;
    const char *text;
    uint64_t bytes;
    const struct leat_span *spans; /* spans of the text; NULL: all of it is learned */
    uint64_t span_count;
    const struct leat_origin *origin; /* origin of the text; NULL: it is from no input */
};

/* Goes to the first text, or the next one. Returns false if its bounds are wrong; the caller checks that there is a
 * text. */
static bool go_on(struct text_at *at)
{
    const struct leat_texts *t = at->texts;
    uint64_t i = at->i++;
    int64_t begin, end;

    at->origin = t->origins ? &t->origins[i] : NULL;
    at->spans = t->spans ? (i == 0 ? t->spans : at->spans + at->span_count) : NULL;
    at->span_count = t->spans ? t->span_counts[i] : 0;
    if (t->lengths) {
        at->text = i == 0 ? t->data : at->bytes > 0 ? at->text + at->bytes : at->text;
        at->bytes = t->lengths[i];
        return true;
    }
    begin = t->offsets64 ? t->offsets64[i] : t->offsets32[i];
    end = t->offsets64 ? t->offsets64[i + 1] : t->offsets32[i + 1];
    if (begin < 0 || end < begin)
        return false;
    at->text = t->data + begin;
    at->bytes = (uint64_t)(end - begin);
    return true;
}

/* Checks all texts first: if one is invalid, none is taken. */
static enum leat_status check_texts(const struct leat_packer *p, const struct leat_texts *t, struct leat_error *err)
{
    struct text_at at = { .texts = t };
    int given = (t->lengths != NULL) + (t->offsets32 != NULL) + (t->offsets64 != NULL);
    enum leat_status s = check_mask(p, t->spans, err);

    if (s == LEAT_OK && t->count > 0 && given != 1)
        s = status_argument(err, "lengths", "texts need exactly one of lengths, offsets32 and offsets64");
    if (s == LEAT_OK && t->count > 0 && !t->spans != !t->span_counts)
        s = status_argument(err, "spans", "spans and span_counts need each other");
    if (s == LEAT_OK && t->spans && (p->run.setup.chat || p->run.setup.pairs))
        s = status_argument(err, "spans", "conversations and pairs say themselves what is learned: no spans");
    while (s == LEAT_OK && at.i < t->count) {
        if (!go_on(&at))
            return status_argument(err, "offsets64", "text %llu ends before it starts", (unsigned long long)at.i - 1);
        s = check_origin(p, at.origin, err);
        if (s == LEAT_OK && at.spans)
            s = span_check(at.spans, at.span_count, at.bytes, err);
    }
    return s;
}

enum leat_status leat_packer_add_texts(struct leat_packer *p, const struct leat_texts *texts, struct leat_error *err)
{
    struct leat_texts t = LEAT_TEXTS_INIT;
    struct text_at at = { .texts = &t };
    struct leat_error why;
    enum leat_status s;

    s = check_process(p, err);
    if (s == LEAT_OK)
        s = options_read(&t, sizeof t, NULL, texts, "leat_texts", err);
    if (s == LEAT_OK)
        s = check_texts(p, &t, err);
    if (s == LEAT_OK)
        s = packer_values_check(&p->values, t.count, LEAT_NONE, err);
    if (s == LEAT_OK)
        s = packer_judge_take(&p->judge, t.count, err);
    if (s != LEAT_OK) {
        packer_values_clear(&p->values);
        return s;
    }
    s = p->failed;
    while (s == LEAT_OK && at.i < t.count && go_on(&at))
        s = add_text(p, at.text, at.bytes, at.spans, at.span_count, at.origin, &why);
    packer_values_clear(&p->values);
    return s == LEAT_OK ? s : fail(p, s, &why, err);
}

static uint32_t id_at(const struct leat_documents *d, uint64_t i)
{
    return d->id_width == 2 ? ((const uint16_t *)d->ids)[i] : ((const uint32_t *)d->ids)[i];
}

/* Checks all documents first: if one is invalid, none is taken. Sets *ids to the number of ids of all. */
static enum leat_status check_ids(const struct leat_packer *p, const struct leat_documents *d, uint64_t *ids,
                                  struct leat_error *err)
{
    enum leat_status s = check_mask(p, d->mask, err);
    uint64_t at = 0;

    if (s == LEAT_OK && d->id_width != 2 && d->id_width != 4)
        s = status_argument(err, "id_width", "ids have 2 or 4 bytes, not %u", d->id_width);
    if (s == LEAT_OK && d->count > 0 && !d->lengths)
        s = status_argument(err, "lengths", "documents need their lengths");
    for (uint64_t i = 0; s == LEAT_OK && i < d->count; i++) {
        s = check_origin(p, d->origins ? &d->origins[i] : NULL, err);
        if (s == LEAT_OK && p->part && p->part->needs_hashes && !(d->origins && d->origins[i].text_hash))
            s = status_argument(err, "origins",
                                "the run has splits, which the hash of a document's text chooses: ids alone have none");
        for (uint64_t end = at + d->lengths[i]; s == LEAT_OK && at < end; at++)
            if (id_at(d, at) >= p->run.tokenizer.vocabulary)
                s = status_argument(err, "ids", "id %u is not below the vocabulary's size of %llu", id_at(d, at),
                                    (unsigned long long)p->run.tokenizer.vocabulary);
    }
    *ids = at;
    return s;
}

/* Adds `count` ids from number `at` on. */
static enum leat_status put_ids(struct leat_packer *p, const struct leat_documents *d, uint64_t at, uint64_t count,
                                struct leat_error *err)
{
    struct buffer *to = &p->unit->docs.tokens;
    enum leat_status s = LEAT_OK;
    uint32_t wide[256];

    if (count > 0 && d->id_width == 4)
        return step_put_ids(&p->run.setup, to, (const uint32_t *)d->ids + at, count, err);
    for (uint64_t done = 0, here; s == LEAT_OK && done < count; done += here) {
        here = count - done < 256 ? count - done : 256;
        for (uint64_t i = 0; i < here; i++)
            wide[i] = id_at(d, at + done + i);
        s = step_put_ids(&p->run.setup, to, wide, here, err);
    }
    return s;
}

/* Adds document `i`, whose ids begin with number `at`. */
static enum leat_status add_ids(struct leat_packer *p, const struct leat_documents *documents, uint64_t i, uint64_t at,
                                struct leat_error *err)
{
    struct leat_origin origin = documents->origins ? documents->origins[i] : none;
    uint64_t count = documents->lengths[i];
    struct packer_document *d = NULL, rejected = { 0 };
    struct leat_error why;
    enum leat_status s = count < SIZE_MAX / 8 ? take_unit(p, &unit_ids, 4 * count, err) : status_no_memory(err, count);

    if (origin.line > 0 && origin.line != LEAT_NONE)
        origin.line += documents->first_line;
    if (s == LEAT_OK && step_limit(&p->run.setup, p->unit, &count, &why) != LEAT_OK) {
        set_place(&rejected, &origin);
        s = packer_values_take(&p->values, documents->lengths[i], 0, NULL, err);
        return s == LEAT_OK ? documents_reject(&p->unit->docs, &rejected, why.message, "", "", 0, err) : s;
    }
    if (s == LEAT_OK) {
        d = add_document(p, &origin, err);
        s = d ? put_ids(p, documents, at, count, err) : LEAT_E_NO_MEMORY;
    }
    if (s == LEAT_OK)
        s = keep_values(p, d, documents->lengths[i], count, err);
    if (s == LEAT_OK)
        s = step_put_known_mask(&p->run.setup, p->unit, documents->mask ? documents->mask + at : NULL, count, err);
    if (s != LEAT_OK)
        return s;
    d->tokens = count;
    if (origin.text_hash)
        memcpy(d->hash, origin.text_hash, sizeof d->hash);
    return LEAT_OK;
}

enum leat_status leat_packer_add_ids(struct leat_packer *p, const struct leat_documents *documents,
                                     struct leat_error *err)
{
    static const struct options_reserved reserved[] = { OPTIONS_RESERVED(leat_documents, reserved), { 0, 0 } };
    struct leat_documents d = LEAT_DOCUMENTS_INIT;
    struct leat_error why;
    uint64_t ids = 0;
    enum leat_status s = check_process(p, err);

    if (s == LEAT_OK)
        s = options_read(&d, sizeof d, reserved, documents, "leat_documents", err);
    if (s == LEAT_OK)
        s = check_ids(p, &d, &ids, err);
    if (s == LEAT_OK)
        s = packer_values_check(&p->values, d.count, ids, err);
    if (s == LEAT_OK)
        s = packer_judge_take(&p->judge, d.count, err);
    if (s != LEAT_OK) {
        packer_values_clear(&p->values);
        return s;
    }
    s = p->failed;
    for (uint64_t i = 0, at = 0; s == LEAT_OK && i < d.count; at += d.lengths[i++])
        s = add_ids(p, &d, i, at, &why);
    packer_values_clear(&p->values);
    return s == LEAT_OK ? s : fail(p, s, &why, err);
}

enum leat_status leat_packer_checkpoint(struct leat_packer *p, const void *note, uint64_t bytes, struct leat_error *err)
{
    struct pack_output *o = &p->run.output;
    struct leat_error why;
    enum leat_status s = check_process(p, err);

    if (s == LEAT_OK && bytes > MAX_NOTE)
        s = status_argument(err, "note", "a note can have at most 1 MiB");
    if (s == LEAT_OK && p->part)
        s = status_set(err, LEAT_E_ARGUMENT,
                       "a part that is pushed has no checkpoints: another attempt begins with its first document");
    if (s != LEAT_OK)
        return s;
    s = p->failed;
    put_unit(p);
    if (s == LEAT_OK)
        s = flow_drain(p->flow, &why);
    if (s == LEAT_OK) {
        o->note = note;
        o->note_bytes = (size_t)bytes;
        s = pack_output_checkpoint(o, &why);
        o->note = NULL;
        o->note_bytes = 0;
    }
    return s == LEAT_OK ? s : fail(p, s, &why, err);
}

static void end_flow(struct leat_packer *p)
{
    if (p->flow && p->unit)
        flow_drop(p->flow, p->unit);
    p->unit = NULL;
    flow_free(p->flow);
    p->flow = NULL;
}

void packer_free(struct leat_packer *p)
{
    struct packer_part *part = p->part;

    packer_values_free(&p->values);
    pack_run_free(&p->run);
    packer_judge_free(&p->judge);
    folder_free(&p->home);
    free(p->whole);
    free(p);
    if (part)
        part->freed(part);
}

/* Ends adding: later calls that add are refused. */
static void set_complete(struct leat_packer *p)
{
    end_flow(p);
    p->complete = true;
    p->failed = status_set(&p->why, LEAT_E_STATE, "the packer has been finished");
}

enum leat_status packer_complete(struct leat_packer *p, struct leat_pack_report *report, struct leat_error *err)
{
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_error why;
    enum leat_status s = check_process(p, err);

    if (s != LEAT_OK)
        return s;
    if (!p->complete) {
        p->report = (struct leat_pack_report)LEAT_PACK_REPORT_INIT;
        s = p->failed;
        put_unit(p);
        if (s == LEAT_OK)
            s = flow_drain(p->flow, &why);
        if (s == LEAT_OK)
            s = pack_run_finish(&p->run, &info, &why);
        pack_run_report(&p->run, &info, &p->report);
        if (s == LEAT_OK)
            pack_output_notice(&p->run.output, &p->run.options, true);
    }
    if (report)
        options_fill(report, &p->report, sizeof p->report);
    if (s != LEAT_OK)
        return fail(p, s, &why, err);
    if (!p->complete)
        set_complete(p);
    return LEAT_OK;
}

enum leat_status leat_packer_finish(struct leat_packer *p, struct leat_pack_report *report, struct leat_error *err)
{
    enum leat_status s;

    if (p->part)
        return status_set(err, LEAT_E_ARGUMENT,
                          "this packer makes a part of a run, whose piece the commit needs: finish it as such");
    s = packer_complete(p, report, err);
    if (s == LEAT_OK)
        packer_free(p);
    return s;
}

/* Publishes the list of rejects, which the error has promised. */
static void list_rejects(struct leat_packer *p)
{
    if (p->failed == LEAT_E_REJECTS)
        reject_file_publish(&p->run.output.rejects, NULL);
}

/* Frees nothing in a child, since threads of the parent may have been changing the packer during the fork. */
void leat_packer_suspend(struct leat_packer *p)
{
    if (!p || check_process(p, NULL) != LEAT_OK)
        return;
    end_flow(p);
    list_rejects(p);
    if (!p->complete && p->run.output.resumable)
        leat_writer_suspend(p->run.output.writer);
    else if (!p->complete && p->run.output.writer) /* otherwise the files there are another process's */
        pack_run_abandon(&p->run);
    packer_free(p);
}

void leat_packer_abandon(struct leat_packer *p)
{
    if (!p || check_process(p, NULL) != LEAT_OK)
        return;
    end_flow(p);
    list_rejects(p);
    if (!p->complete)
        pack_run_abandon(&p->run);
    packer_free(p);
}
