/*
 * info_json.c: what a dataset holds, as JSON. If reading fails halfway, the object stays open, so that no program takes
 * it for the whole.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "cli/json.h"
#include "cli/units.h"
#include "commands/commands.h"
#include "commands/common/damage_lines.h"
#include "info.h"

/* A hash in hexadecimal digits; null if all bytes are zero, which means none. */
static void json_hash(struct json *j, const char *key, const uint8_t hash[16])
{
    json_string(j, key, bytes_all_zero(hash, 16) ? NULL : units_hex(hash, 16).text);
}

static enum leat_status json_inputs(struct json *j, const struct info_facts *f, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    json_open_array(j, "inputs");
    for (uint64_t i = 0; i < f->info.inputs && s == LEAT_OK; i++) {
        struct leat_input input = LEAT_INPUT_INIT;
        uint64_t bytes;
        char *path;

        s = leat_dataset_input(f->d, i, &input, err);
        if (s != LEAT_OK)
            break;
        path = commands_string(leat_dataset_input_path, f->d, i, &bytes, err);
        if (!path)
            return err->status;
        json_open_object(j, NULL);
        json_bytes(j, "path", path, (size_t)bytes);
        json_u64(j, "bytes", input.bytes);
        json_u64(j, "documents", input.documents);
        json_u64(j, "tokens", input.tokens);
        json_u64(j, "rejects", input.rejects);
        json_hash(j, "hash", input.hash);
        json_close_object(j);
        free(path);
    }
    json_close_array(j);
    return s;
}

static enum leat_status json_metadata(struct json *j, const struct leat_dataset *d, uint64_t part,
                                      struct leat_error *err)
{
    struct leat_metadata *m;
    enum leat_status s = leat_dataset_metadata(d, part, &m, err);

    if (s != LEAT_OK)
        return s;
    json_open_array(j, "metadata");
    for (uint64_t i = 0; i < m->count; i++) {
        json_open_array(j, NULL);
        json_bytes(j, NULL, m->pairs[i].key, (size_t)m->pairs[i].key_bytes);
        json_bytes(j, NULL, m->pairs[i].value, (size_t)m->pairs[i].value_bytes);
        json_close_array(j);
    }
    json_close_array(j);
    leat_metadata_free(m);
    return s;
}

static enum leat_status json_parts(struct json *j, const struct info_facts *f, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    json_open_array(j, "parts");
    for (uint64_t i = 0; i < f->info.parts && s == LEAT_OK; i++) {
        struct leat_part part = LEAT_PART_INIT;

        s = leat_dataset_part(f->d, i, &part, err);
        if (s != LEAT_OK)
            break;
        json_open_object(j, NULL);
        json_string(j, "name", part.name);
        json_string(j, "kind", part.kind);
        json_string(j, "identity", units_hex(part.identity, 16).text);
        json_u64(j, "first_token", part.first_token);
        json_u64(j, "tokens", part.tokens);
        json_u64_or_null(j, "first_document", part.first_document);
        json_u64_or_null(j, "documents", part.documents);
        json_u64(j, "first_input", part.first_input);
        json_u64(j, "inputs", part.inputs);
        json_string(j, "token_path", part.token_path);
        s = json_metadata(j, f->d, i, err);
        json_close_object(j);
    }
    json_close_array(j);
    return s;
}

static void json_lengths(struct json *j, const struct length_histogram *h)
{
    unsigned first, last;

    json_open_object(j, "document_lengths");
    json_bool(j, "sampled", h->sampled);
    json_u64(j, "documents", h->documents);
    json_double(j, "mean", length_histogram_mean(h));
    json_u64(j, "shortest", h->shortest);
    json_u64(j, "longest", h->longest);
    json_open_array(j, "buckets");
    if (length_histogram_range(h, &first, &last))
        for (unsigned k = first; k <= last; k++) {
            json_open_object(j, NULL);
            json_u64(j, "least", length_histogram_min(k));
            json_u64(j, "most", length_histogram_max(k));
            json_u64(j, "documents", h->buckets[k]);
            json_close_object(j);
        }
    json_close_array(j);
    json_close_object(j);
}

/* What is stored about each document in addition to its origin. */
static void json_stores(struct json *j, const struct leat_info *i)
{
    json_open_object(j, "stores");
    json_bool(j, "lines", i->stores_lines);
    json_bool(j, "ids", i->stores_ids);
    json_bool(j, "text_hashes", i->stores_hashes);
    json_bool(j, "mask", i->stores_mask);
    json_close_object(j);
}

enum leat_status info_json_print(const struct info_facts *f, struct leat_error *err)
{
    const struct leat_info *i = &f->info;
    enum leat_status s;
    struct json j;

    json_begin(&j, stdout);
    json_open_object(&j, NULL);
    json_string(&j, "name", f->name);
    damage_json(&f->damaged, &j);
    json_u64_or_null(&j, "version", i->format_version > 0 ? i->format_version : LEAT_NONE); /* null: no index */
    json_string(&j, "identity", units_hex(i->identity, 16).text);
    json_u64(&j, "tokens", i->tokens);
    json_u64_or_null(&j, "documents", i->documents);
    json_u64(&j, "width", i->token_width);
    json_u64(&j, "vocabulary", i->vocabulary);
    json_open_object(&j, "tokenizer");
    json_string(&j, "name", f->tokenizer ? f->tokenizer->name : NULL);
    json_string(&j, "pattern", f->tokenizer && f->tokenizer->pattern[0] ? f->tokenizer->pattern : NULL);
    json_hash(&j, "fingerprint", i->fingerprint);
    json_close_object(&j);
    json_u64_or_null(&j, "end", i->end_token);
    json_u64_or_null(&j, "begin", i->begin_token);
    json_string(&j, "created", i->created ? units_date(i->created).text : NULL);
    json_u64(&j, "token_bytes", i->token_bytes);
    json_u64(&j, "index_bytes", i->index_bytes);
    json_u64(&j, "offline_parts", i->offline_parts);
    json_stores(&j, i);
    if (i->documents != LEAT_NONE)
        json_lengths(&j, &f->lengths);
    else
        json_null(&j, "document_lengths");
    s = json_parts(&j, f, err);
    if (s == LEAT_OK)
        s = json_inputs(&j, f, err);
    if (s != LEAT_OK)
        return s; /* the object stays unfinished, so that it is not taken for the whole */
    json_close_object(&j);
    json_end(&j);
    return LEAT_OK;
}
