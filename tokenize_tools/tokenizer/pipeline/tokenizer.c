/*
 * tokenizer.c: leat_tokenizer_*() and leat_encoder_*(): the public face of the pipeline.
 *
 * A tokenizer owns the spec, the pipeline made from it, and the file's bytes, which a dataset may store; it never
 * changes, so threads share it. An encoder is one thread's scratch memory and cache over that pipeline; its results
 * stay valid until its next call.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/options.h"
#include "base/status.h"
#include "encoder.h"
#include "encoder_valid.h"
#include "leat_pack.h"
#include "pipeline.h"
#include "tokenizer/decode/decoder.h"
#include "tokenizer/load/builtin.h"
#include "tokenizer/load/spec_open.h"

#define USUAL_BOUND ((uint64_t)2 << 30)

struct leat_tokenizer {
    struct pipeline *pipeline;
    struct opened_spec opened; /* the opened vocabulary; the pipeline owns its spec */
    char *name, *pattern;      /* name and pattern that a dataset stores */
    uint8_t *file;
    uint64_t file_bytes;
};

struct leat_encoder {
    const struct leat_tokenizer *tokenizer;
    struct encoder *encoder;
    struct buffer text;
};

/* ---- Tokenizers ---- */

/* Keeps the name and the pattern that a dataset stores. */
static enum leat_status keep_names(struct leat_tokenizer *t, const char *name, const char *pattern,
                                   struct leat_error *err)
{
    t->name = strdup(name);
    t->pattern = strdup(pattern ? pattern : "");
    return t->name && t->pattern ? LEAT_OK : status_no_memory(err, strlen(name));
}

static enum leat_status finish(struct leat_tokenizer **out, struct leat_tokenizer *t, struct leat_error *err)
{
    struct tokenizer_spec *spec = t->opened.spec;
    enum leat_status s;

    t->opened.spec = NULL;
    s = pipeline_make(&t->pipeline, spec, err);
    if (s != LEAT_OK && s != LEAT_E_NO_MEMORY)
        s = status_in_file(err, status_before(err, s, "%s", t->opened.at.path ? t->opened.at.path : t->name),
                           t->opened.at.path);
    if (s != LEAT_OK) {
        leat_tokenizer_close(t);
        return s;
    }
    *out = t;
    return LEAT_OK;
}

enum leat_status leat_tokenizer_open(struct leat_tokenizer **out, const char *spec,
                                     const struct leat_tokenizer_options *options, struct leat_error *err)
{
    struct leat_tokenizer_options all = LEAT_TOKENIZER_OPTIONS_INIT;
    enum leat_status s = options_read(&all, sizeof all, NULL, options, "leat_tokenizer_options", err);
    struct locate_stop stop = { all.waiting, all.waiting_context };
    const char *pattern = all.pattern;
    struct leat_tokenizer *t;

    *out = NULL;
    if (s != LEAT_OK)
        return s;
    if (!spec || !*spec)
        return status_argument(err, "spec", "leat_tokenizer_open: missing name");
    t = calloc(1, sizeof *t);
    if (!t)
        return status_no_memory(err, sizeof *t);
    s = spec_open_stoppable(&t->opened, spec, pattern, &stop, err);
    if (s == LEAT_OK)
        s = keep_names(t, t->opened.at.builtin ? t->opened.at.builtin : t->opened.at.name,
                       t->opened.format == LOAD_TIKTOKEN ? pattern : NULL, err); /* only a *.tiktoken needs the
                                                                                    pattern; other files have one */
    if (s != LEAT_OK) {
        leat_tokenizer_close(t);
        return s;
    }
    return finish(out, t, err);
}

enum leat_status leat_tokenizer_open_stored(struct leat_tokenizer **out, const struct leat_stored_tokenizer *stored,
                                            struct leat_error *err)
{
    const char *pattern = stored->pattern && *stored->pattern ? stored->pattern : NULL;
    struct leat_tokenizer *t = calloc(1, sizeof *t);
    enum leat_status s;

    *out = NULL;
    if (!t)
        return status_no_memory(err, sizeof *t);
    /* a built-in is found by its name only: a dataset must not open files of this machine */
    if (!stored->file && !builtin_find(stored->name)) {
        free(t);
        return status_set(err, LEAT_E_UNSUPPORTED,
                          "unknown built-in tokenizer \"%.100s\" in the dataset: this version of leat lacks it",
                          stored->name);
    }
    s = stored->file ? spec_open_stored(&t->opened, stored->file, stored->file_bytes, stored->name, pattern, err)
                     : spec_open(&t->opened, stored->name, pattern, err);
    if (s == LEAT_OK)
        s = keep_names(t, stored->name, pattern, err);
    if (s == LEAT_OK && stored->file) {
        t->file = malloc((size_t)stored->file_bytes + 1);
        t->file_bytes = stored->file_bytes;
        if (t->file)
            memcpy(t->file, stored->file, (size_t)stored->file_bytes);
        else
            s = status_no_memory(err, stored->file_bytes);
    }
    if (s != LEAT_OK) {
        leat_tokenizer_close(t);
        return s;
    }
    return finish(out, t, err);
}

void leat_tokenizer_close(struct leat_tokenizer *t)
{
    if (!t)
        return;
    pipeline_free(t->pipeline);
    spec_close(&t->opened);
    free(t->name);
    free(t->pattern);
    free(t->file);
    free(t);
}

static uint64_t id_or_none(uint32_t id)
{
    return id == SPEC_NONE ? LEAT_NONE : id;
}

void leat_tokenizer_info(const struct leat_tokenizer *t, struct leat_tokenizer_info *info)
{
    const struct tokenizer_spec *spec = t->pipeline->spec;
    const struct end_token *end = &t->opened.end;
    struct leat_tokenizer_info full = {
        .vocabulary = spec->vocabulary_size,
        .end_token = id_or_none(end->id),
        .candidate_count = end->candidate_count,
        .begin_token = id_or_none(end->begin),
        .text_before = id_or_none(spec->around.before),
        .text_after = id_or_none(spec->around.after),
        .text_other = spec->around.other,
        .path = t->opened.at.path,
    };

    memcpy(full.fingerprint, t->opened.print, sizeof full.fingerprint);
    for (uint32_t i = 0; i < end->candidate_count && i < LEAT_END_CANDIDATES; i++)
        full.candidates[i] = end->candidates[i];
    options_fill(info, &full, sizeof full);
}

void leat_tokenizer_stored(const struct leat_tokenizer *t, struct leat_stored_tokenizer *stored)
{
    *stored = (struct leat_stored_tokenizer) {
        .name = t->name,
        .pattern = t->pattern,
        .file = t->file ? t->file : t->opened.at.stored,
        .file_bytes = t->file ? t->file_bytes : t->opened.at.stored_size,
    };
}

enum leat_status leat_tokenizer_find(const struct leat_tokenizer *t, const char *text, uint64_t bytes, uint32_t *id,
                                     struct leat_error *err)
{
    uint32_t found = spec_find_text(t->pipeline->spec, text, (size_t)bytes);

    if (found == SPEC_NONE)
        return status_set(err, LEAT_E_NOT_FOUND, "%s has no token %.*s", t->name, (int)(bytes < 100 ? bytes : 100),
                          text);
    *id = found;
    return LEAT_OK;
}

enum leat_status leat_tokenizer_token(const struct leat_tokenizer *t, uint32_t id, struct leat_token *token,
                                      struct leat_error *err)
{
    const struct tokenizer_spec *spec = t->pipeline->spec;
    const struct spec_added *added = spec_find_added(spec, id);
    const struct spec_token *plain = spec_find_id(spec, id);
    struct leat_token full = LEAT_TOKEN_INIT;

    if (!added && !plain)
        return status_set(err, LEAT_E_RANGE, "%s has no token with the id %u", t->name, id);
    full.text = (const char *)(added ? added->content.bytes : spec_token_bytes(spec, plain));
    full.bytes = added ? added->content.length : plain->length;
    full.bytewise = !added && spec->byte_level && !plain->foreign;
    full.added = added != NULL;
    full.special = added ? added->special : plain->type == SPEC_CONTROL;
    if (added && added->name.length > 0) {
        full.name = (const char *)added->name.bytes;
        full.name_bytes = added->name.length;
    }
    options_fill(token, &full, sizeof full);
    return LEAT_OK;
}

/* ---- Encoders ---- */

enum leat_status leat_encoder_open(struct leat_encoder **out, const struct leat_tokenizer *t,
                                   const struct leat_encoder_options *options, struct leat_error *err)
{
    struct leat_encoder_options all = LEAT_ENCODER_OPTIONS_INIT;
    enum leat_status s = options_read(&all, sizeof all, NULL, options, "leat_encoder_options", err);
    struct encoder_options inner;
    struct leat_encoder *e;

    *out = NULL;
    if (s != LEAT_OK)
        return s;
    e = calloc(1, sizeof *e);
    if (!e)
        return status_no_memory(err, sizeof *e);
    inner = (struct encoder_options) { .special = all.special != 0,
                                       .reject_invalid = all.reject_invalid != 0,
                                       .max_bytes = all.max_bytes ? all.max_bytes : USUAL_BOUND,
                                       .stop = all.stop,
                                       .stop_context = all.stop_context };
    e->tokenizer = t;
    s = encoder_make(&e->encoder, t->pipeline, &inner, err);
    if (s != LEAT_OK) {
        leat_encoder_close(e);
        return s;
    }
    *out = e;
    return LEAT_OK;
}

const char *tokenizer_path(const struct leat_tokenizer *t)
{
    return t->opened.at.path;
}

void tokenizer_share(const struct leat_tokenizer *t, uint64_t bytes)
{
    const struct model *m = t->pipeline->model;

    if (m->kind->share)
        m->kind->share(m, bytes < SIZE_MAX ? (size_t)bytes : SIZE_MAX);
}

void encoder_valid(struct leat_encoder *e)
{
    encoder_trust(e->encoder);
}

void encoder_bound_ids(struct leat_encoder *e)
{
    encoder_count_ids(e->encoder);
}

void leat_encoder_close(struct leat_encoder *e)
{
    if (!e)
        return;
    encoder_free(e->encoder);
    buffer_free(&e->text);
    free(e);
}

enum leat_status leat_encoder_encode(struct leat_encoder *e, const char *text, uint64_t bytes, const uint32_t **ids,
                                     uint64_t *count, struct leat_error *err)
{
    enum leat_status s;
    size_t n = 0;

    if (bytes > SIZE_MAX)
        return status_no_memory(err, bytes);
    s = encoder_run(e->encoder, (const uint8_t *)text, (size_t)bytes, ids, &n, err);
    if (s == LEAT_OK)
        *count = n;
    return s;
}

enum leat_status leat_encoder_encode_texts(struct leat_encoder *e, const struct leat_text *texts, uint64_t count,
                                           uint64_t *done, const uint32_t **ids, uint64_t *counts,
                                           struct leat_error *err)
{
    *done = 0;
    return count > 0 ? encoder_run_texts(e->encoder, texts, count, done, ids, counts, err)
                     : status_set(err, LEAT_E_ARGUMENT, "there are no texts to encode");
}

enum leat_status leat_encoder_begin(struct leat_encoder *e, struct leat_error *err)
{
    (void)err;
    encoder_begin(e->encoder);
    return LEAT_OK;
}

enum leat_status leat_encoder_part(struct leat_encoder *e, const char *text, uint64_t bytes, uint64_t *used,
                                   const uint32_t **ids, uint64_t *count, struct leat_error *err)
{
    size_t n = 0, taken = 0;
    enum leat_status s = encoder_chunk(e->encoder, (const uint8_t *)text, bytes < SIZE_MAX ? (size_t)bytes : SIZE_MAX,
                                       &taken, ids, &n, err);

    *used = s == LEAT_OK ? taken : 0;
    *count = s == LEAT_OK ? n : 0;
    return s;
}

enum leat_status leat_encoder_end(struct leat_encoder *e, const uint32_t **ids, uint64_t *count, struct leat_error *err)
{
    size_t n = 0;
    enum leat_status s = encoder_end(e->encoder, ids, &n, err);

    *count = s == LEAT_OK ? n : 0;
    return s;
}

uint64_t leat_encoder_special_strings(const struct leat_encoder *e)
{
    return encoder_special_strings(e->encoder);
}

enum leat_status leat_encoder_decode(struct leat_encoder *e, const uint32_t *ids, uint64_t count, const char **text,
                                     uint64_t *bytes, struct leat_error *err)
{
    enum leat_status s;

    e->text.size = 0;
    s = decoder_run(e->tokenizer->pipeline->decoder, ids, (size_t)count, &e->text, err);
    if (s == LEAT_OK)
        s = buffer_append(&e->text, "", 1, err);
    if (s != LEAT_OK)
        return s;
    *text = (const char *)e->text.bytes;
    *bytes = e->text.size - 1;
    return LEAT_OK;
}
