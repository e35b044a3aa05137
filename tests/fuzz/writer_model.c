/* writer_model.c: see writer_model.h. */
#include "writer_model.h"
#include "one_document.h"

#include <stdbool.h>

#include "fuzz.h"

void model_copy(struct model *to, const struct model *from)
{
    memcpy(to->tokens, from->tokens, from->token_count * sizeof from->tokens[0]);
    memcpy(to->documents, from->documents, from->document_count * sizeof from->documents[0]);
    memcpy(to->inputs, from->inputs, from->input_count * sizeof from->inputs[0]);
    memcpy(to->pairs, from->pairs, from->pair_count * sizeof from->pairs[0]);
    to->token_count = from->token_count;
    to->document_count = from->document_count;
    to->input_count = from->input_count;
    to->pair_count = from->pair_count;
    to->document_start = from->document_start;
    to->document_open = from->document_open;
}

void model_put(struct model *m, uint64_t token)
{
    if (token != LEAT_NONE)
        m->tokens[m->token_count++] = (uint32_t)token;
}

void model_end_document(struct model *m, const struct leat_origin *origin, const struct leat_writer_options *options)
{
    struct model_document *d = &m->documents[m->document_count++];

    *d = (struct model_document) { .start = m->document_start, .input = LEAT_NONE, .line = LEAT_NONE };
    if (origin) {
        d->input = origin->input;
        d->offset = origin->offset;
        d->line = options->store_lines && origin->line > 0 ? origin->line : LEAT_NONE;
        d->id_bytes = options->store_ids && origin->id ? origin->id_bytes : 0;
        if (d->id_bytes > 0)
            memcpy(d->id, origin->id, (size_t)d->id_bytes);
        if (origin->text_hash)
            memcpy(d->hash, origin->text_hash, sizeof d->hash);
    }
    m->document_start = m->token_count;
    m->document_open = 0;
}

void model_set_pair(struct model *m, const char *key, const char *value)
{
    uint64_t i = 0;

    while (i < m->pair_count && strcmp(m->pairs[i].key, key) != 0)
        i++;
    if (!value) {
        if (i < m->pair_count)
            m->pairs[i] = m->pairs[--m->pair_count];
        return;
    }
    if (i == m->pair_count)
        m->pair_count++;
    snprintf(m->pairs[i].key, MODEL_TEXT, "%s", key);
    snprintf(m->pairs[i].value, MODEL_TEXT, "%s", value);
}

/* ---- Comparing ---- */

static uint64_t end_of(const struct model *m, uint64_t document)
{
    return document + 1 < m->document_count ? m->documents[document + 1].start : m->token_count;
}

static void compare_facts(const struct model *m, const struct leat_dataset *d,
                          const struct leat_writer_options *options)
{
    struct leat_info info = LEAT_INFO_INIT;

    leat_dataset_info(d, &info);
    FUZZ_CHECK(info.tokens == m->token_count && info.documents == m->document_count && info.inputs == m->input_count);
    FUZZ_CHECK(info.vocabulary == options->vocabulary && info.token_width == (info.vocabulary <= 65536 ? 2 : 4));
    FUZZ_CHECK(info.end_token == options->end_token && info.begin_token == options->begin_token);
    FUZZ_CHECK(info.created == options->created);
    FUZZ_CHECK(info.stores_lines == (uint32_t)options->store_lines && info.stores_ids == (uint32_t)options->store_ids);
    FUZZ_CHECK(info.stores_hashes == (uint32_t)options->store_hashes);
}

static void compare_tokens(const struct model *m, const struct leat_dataset *d)
{
    uint32_t *ids = malloc((size_t)m->token_count * 4 + 1);

    FUZZ_CHECK(ids && leat_dataset_read_u32(d, 0, m->token_count, ids, NULL) == LEAT_OK);
    FUZZ_CHECK(memcmp(ids, m->tokens, (size_t)m->token_count * 4) == 0);
    free(ids);
}

static void compare_documents(const struct model *m, const struct leat_dataset *d,
                              const struct leat_writer_options *options)
{
    uint64_t first, count, bytes, documents;
    struct leat_origin o;
    char id[MODEL_TEXT + 1];
    uint8_t hash[16];

    for (uint64_t i = 0; i < m->document_count; i++) {
        const struct model_document *want = &m->documents[i];

        FUZZ_CHECK(leat_dataset_document(d, i, &first, &count, NULL) == LEAT_OK);
        FUZZ_CHECK(first == want->start && first + count == end_of(m, i));
        FUZZ_CHECK(leat_dataset_origins(d, i, 1, &o, NULL) == LEAT_OK);
        FUZZ_CHECK(o.input == want->input && o.offset == want->offset && o.line == want->line);
        FUZZ_CHECK(leat_dataset_ids(d, i, 1, id, sizeof id, &bytes, NULL) == LEAT_OK);
        FUZZ_CHECK(bytes == want->id_bytes && o.id_bytes == bytes && memcmp(id, want->id, (size_t)bytes) == 0);
        if (options->store_hashes)
            FUZZ_CHECK(leat_dataset_text_hashes(d, i, 1, &hash, NULL) == LEAT_OK && memcmp(hash, want->hash, 16) == 0);
        else
            FUZZ_CHECK(leat_dataset_text_hashes(d, i, 1, &hash, NULL) == LEAT_E_NOT_FOUND);
        if (count == 0)
            continue;
        FUZZ_CHECK(leat_dataset_documents_in(d, first, count, &o.input, &documents, NULL) == LEAT_OK);
        FUZZ_CHECK(o.input == i && documents == 1);
    }
}

static void compare_inputs(const struct model *m, const struct leat_dataset *d)
{
    for (uint64_t n = 0; n < m->input_count; n++) {
        const struct model_input *want = &m->inputs[n];
        struct leat_input input = LEAT_INPUT_INIT;
        uint64_t bytes, documents = 0, tokens = 0;
        char path[MODEL_TEXT];

        for (uint64_t i = 0; i < m->document_count; i++)
            if (m->documents[i].input == n) {
                documents++;
                tokens += end_of(m, i) - m->documents[i].start;
            }
        FUZZ_CHECK(leat_dataset_input(d, n, &input, NULL) == LEAT_OK);
        FUZZ_CHECK(input.bytes == want->bytes && input.rejects == want->rejects);
        FUZZ_CHECK(memcmp(input.hash, want->hash, sizeof input.hash) == 0);
        FUZZ_CHECK(input.documents == documents && input.tokens == tokens);
        FUZZ_CHECK(leat_dataset_input_path(d, n, path, sizeof path, &bytes, NULL) == LEAT_OK);
        FUZZ_CHECK(strcmp(path, want->path) == 0 && bytes == strlen(want->path));
    }
}

static void compare_stored(const struct model *m, const struct leat_dataset *d,
                           const struct leat_writer_options *options)
{
    const struct leat_stored_tokenizer *want = options->tokenizer;
    struct leat_stored_tokenizer *t;
    struct leat_metadata *metadata;
    enum leat_status s = leat_dataset_tokenizer(d, &t, NULL);

    FUZZ_CHECK(s == (want ? LEAT_OK : LEAT_E_NOT_FOUND));
    if (want) {
        FUZZ_CHECK(strcmp(t->name, want->name) == 0 && t->file_bytes == want->file_bytes && !t->file == !want->file);
        FUZZ_CHECK(strcmp(t->pattern, want->pattern ? want->pattern : "") == 0);
        FUZZ_CHECK(!t->file || memcmp(t->file, want->file, (size_t)want->file_bytes) == 0);
    }
    leat_stored_tokenizer_free(t);
    FUZZ_CHECK(leat_dataset_metadata(d, 0, &metadata, NULL) == LEAT_OK && metadata->count == m->pair_count);
    for (uint64_t i = 0; i < metadata->count; i++) {
        bool found = false;

        for (uint64_t n = 0; n < m->pair_count; n++)
            found = found || (strcmp(m->pairs[n].key, metadata->pairs[i].key) == 0 &&
                              strcmp(m->pairs[n].value, metadata->pairs[i].value) == 0);
        FUZZ_CHECK(found);
    }
    leat_metadata_free(metadata);
}

void model_compare(const struct model *m, const struct leat_dataset *d, const struct leat_writer_options *options)
{
    struct leat_verify_options verify = LEAT_VERIFY_OPTIONS_INIT;

    compare_facts(m, d, options);
    compare_tokens(m, d);
    compare_documents(m, d, options);
    compare_inputs(m, d);
    compare_stored(m, d, options);
    verify.threads = 1;
    FUZZ_CHECK(leat_dataset_verify(d, &verify, NULL, NULL) == LEAT_OK);
}

void model_write(const struct model *m, const char *name, const struct leat_writer_options *options)
{
    uint64_t begin = options->begin_token != LEAT_NONE, end = options->end_token != LEAT_NONE;
    struct leat_writer_options o = *options;
    struct leat_writer *w;

    o.force = 1;
    FUZZ_CHECK(leat_writer_open(&w, name, &o, NULL) == LEAT_OK);
    for (uint64_t i = 0; i < m->pair_count; i++)
        FUZZ_CHECK(leat_writer_set_metadata(w, m->pairs[i].key, m->pairs[i].value, NULL) == LEAT_OK);
    for (uint64_t i = 0; i < m->input_count; i++) {
        struct leat_input input = LEAT_INPUT_INIT;

        input.bytes = m->inputs[i].bytes;
        input.rejects = m->inputs[i].rejects;
        memcpy(input.hash, m->inputs[i].hash, sizeof input.hash);
        FUZZ_CHECK(leat_writer_add_input(w, m->inputs[i].path, NULL, NULL) == LEAT_OK);
        FUZZ_CHECK(leat_writer_set_input(w, i, &input, NULL) == LEAT_OK);
    }
    for (uint64_t i = 0; i < m->document_count; i++) {
        const struct model_document *doc = &m->documents[i];
        struct leat_origin origin = { doc->input, doc->offset, doc->line, doc->id, doc->id_bytes, doc->hash };

        FUZZ_CHECK(add_one_document(w, m->tokens + doc->start + begin, 4, NULL, end_of(m, i) - doc->start - begin - end,
                                    &origin, NULL) == LEAT_OK);
    }
    FUZZ_CHECK(leat_writer_finish(w, NULL, NULL) == LEAT_OK);
}
