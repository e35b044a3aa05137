/* arranged.c: see arranged.h. */
#include "arranged.h"
#include "one_document.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static void must(enum leat_status s, const struct leat_error *err)
{
    if (s != LEAT_OK) {
        fprintf(stderr, "arranged: %s\n", err->message);
        exit(1);
    }
}

static void *room(void *old, size_t bytes)
{
    void *p = realloc(old, bytes ? bytes : 1);

    if (!p) {
        perror("arranged");
        exit(1);
    }
    return p;
}

/* ---- Loading ---- */

static void load_inputs(struct arranged *a, const struct leat_dataset *d, uint64_t count)
{
    struct leat_error err;

    a->inputs = room(a->inputs, (a->input_count + count) * sizeof *a->inputs);
    for (uint64_t i = 0; i < count; i++) {
        struct arranged_input *input = &a->inputs[a->input_count + i];
        uint64_t bytes;

        input->facts = (struct leat_input)LEAT_INPUT_INIT;
        must(leat_dataset_input(d, i, &input->facts, &err), &err);
        input->path = room(NULL, input->facts.path_bytes + 1);
        must(leat_dataset_input_path(d, i, input->path, input->facts.path_bytes + 1, &bytes, &err), &err);
    }
}

static void load_document(struct arranged *a, struct arranged_document *out, const struct leat_dataset *d, uint64_t i)
{
    uint64_t begin = a->options.begin_token != LEAT_NONE, end = a->options.end_token != LEAT_NONE, first, count, bytes;
    struct leat_origin o;
    struct leat_error err;

    memset(out, 0, sizeof *out);
    must(leat_dataset_document(d, i, &first, &count, &err), &err);
    out->count = count - begin - end;
    out->ids = room(NULL, out->count * sizeof *out->ids);
    must(leat_dataset_read_u32(d, first + begin, out->count, out->ids, &err), &err);
    if (a->options.store_mask) {
        out->mask = room(NULL, out->count);
        must(leat_dataset_mask(d, first + begin, out->count, out->mask, &err), &err);
    }
    must(leat_dataset_origins(d, i, 1, &o, &err), &err);
    out->input = o.input == LEAT_NONE ? LEAT_NONE : o.input + a->input_count;
    out->offset = o.offset;
    out->line = o.line;
    out->id_bytes = o.id_bytes;
    out->id = room(NULL, o.id_bytes + 1);
    must(leat_dataset_ids(d, i, 1, out->id, o.id_bytes + 1, &bytes, &err), &err);
    if (leat_dataset_text_hashes(d, i, 1, &out->hash, &err) != LEAT_OK)
        memset(out->hash, 0, sizeof out->hash);
}

void arranged_load(struct arranged *a, const char *name)
{
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_dataset *d;
    struct leat_error err;

    must(leat_dataset_open(&d, name, NULL, &err), &err);
    leat_dataset_info(d, &info);
    if (!a->options.size) {
        a->options = (struct leat_writer_options)LEAT_WRITER_OPTIONS_INIT;
        a->options.vocabulary = info.vocabulary;
        a->options.end_token = info.end_token;
        a->options.begin_token = info.begin_token;
        memcpy(a->fingerprint, info.fingerprint, sizeof a->fingerprint);
        if (leat_dataset_tokenizer(d, &a->tokenizer, &err) != LEAT_OK)
            a->tokenizer = NULL;
    }
    a->options.store_lines |= (int)info.stores_lines;
    a->options.store_ids |= (int)info.stores_ids;
    a->options.store_hashes |= (int)info.stores_hashes;
    a->options.store_mask |= info.stores_mask;
    load_inputs(a, d, info.inputs);
    a->documents = room(a->documents, (a->document_count + info.documents) * sizeof *a->documents);
    for (uint64_t i = 0; i < info.documents; i++)
        load_document(a, &a->documents[a->document_count + i], d, i);
    a->document_count += info.documents;
    a->input_count += info.inputs;
    leat_dataset_close(d);
}

static void free_document(struct arranged_document *d)
{
    free(d->ids);
    free(d->mask);
    free(d->id);
}

void arranged_free(struct arranged *a)
{
    for (uint64_t i = 0; i < a->document_count; i++)
        free_document(&a->documents[i]);
    for (uint64_t i = 0; i < a->input_count; i++)
        free(a->inputs[i].path);
    free(a->documents);
    free(a->inputs);
    leat_stored_tokenizer_free(a->tokenizer);
    memset(a, 0, sizeof *a);
}

/* ---- Arranging ---- */

uint64_t arranged_dedup(struct arranged *a)
{
    static const uint8_t none[16];
    uint64_t kept = 0, before = a->document_count;

    for (uint64_t i = 0; i < before; i++) {
        int seen = 0;

        for (uint64_t k = 0; k < kept && !seen; k++)
            seen = memcmp(a->documents[k].hash, a->documents[i].hash, 16) == 0 &&
                   a->documents[k].count == a->documents[i].count &&
                   memcmp(a->documents[k].ids, a->documents[i].ids, a->documents[i].count * sizeof(uint32_t)) == 0;
        if (seen && memcmp(a->documents[i].hash, none, 16) != 0)
            free_document(&a->documents[i]);
        else
            a->documents[kept++] = a->documents[i];
    }
    a->document_count = kept;
    return before - kept;
}

/* A decimal number in units of 10^-18. */
static unsigned __int128 decimal(const char *text)
{
    unsigned __int128 value = 0, unit = 1000000000000000000u;

    for (; *text && *text != '.'; text++)
        value = 10 * value + (unsigned)(*text - '0') * unit;
    if (*text == '.')
        for (text++; *text; text++)
            value += (unsigned)(*text - '0') * (unit /= 10);
    return value;
}

static size_t split_of(const uint8_t hash[16], const struct leat_split *splits, size_t count)
{
    unsigned __int128 sum = 0;
    uint64_t high = 0;

    for (unsigned i = 0; i < 8; i++)
        high |= (uint64_t)hash[8 + i] << 8 * i;
    for (size_t i = 0; i < count; i++) {
        sum += decimal(splits[i].fraction);
        if ((unsigned __int128)high * 1000000000000000000u < sum << 64)
            return i;
    }
    return count;
}

static int compare(const void *a, const void *b)
{
    const struct arranged_document *x = *(struct arranged_document *const *)a,
                                   *y = *(struct arranged_document *const *)b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static void write_document(struct leat_writer *w, const struct arranged_document *d)
{
    struct leat_origin o = { d->input, d->offset, d->line, d->id, d->id_bytes, d->hash };
    struct leat_error err;

    must(add_one_document(w, d->ids, 4, d->mask, d->count, &o, &err), &err);
}

static void write_all(const struct arranged *a, const char *name, struct arranged_document **documents, uint64_t count,
                      const char *const *pairs)
{
    struct leat_writer_options options = a->options;
    struct leat_writer *w;
    struct leat_error err;

    options.tokenizer = a->tokenizer;
    options.fingerprint = a->fingerprint;
    options.force = 1;
    must(leat_writer_open(&w, name, &options, &err), &err);
    for (uint64_t i = 0; i < a->input_count; i++) {
        must(leat_writer_add_input(w, a->inputs[i].path, NULL, &err), &err);
        must(leat_writer_set_input(w, i, &a->inputs[i].facts, &err), &err);
    }
    for (uint64_t i = 0; i < count; i++)
        write_document(w, documents[i]);
    for (; pairs && pairs[0]; pairs += 2)
        must(leat_writer_set_metadata(w, pairs[0], pairs[1], &err), &err);
    must(leat_writer_finish(w, NULL, &err), &err);
}

void arranged_write(const struct arranged *a, const char *name, const struct leat_split *splits, size_t count,
                    size_t which, const uint64_t *seed, const char *const *pairs)
{
    struct arranged_document **documents = room(NULL, a->document_count * sizeof(void *));
    uint64_t chosen = 0;

    for (uint64_t i = 0; i < a->document_count; i++)
        if (split_of(a->documents[i].hash, splits, count) == which)
            documents[chosen++] = &a->documents[i];
    for (uint64_t i = 0; seed && i < chosen; i++) {
        uint8_t bytes[8];

        for (unsigned k = 0; k < 8; k++)
            bytes[k] = (uint8_t)(i >> 8 * k);
        documents[i]->number = i;
        documents[i]->key = XXH3_64bits_withSeed(bytes, 8, *seed);
    }
    if (seed && chosen > 0)
        qsort(documents, chosen, sizeof *documents, compare);
    write_all(a, name, documents, chosen, pairs);
    free(documents);
}

void arranged_again(const char *name, const char *from)
{
    struct leat_info info = LEAT_INFO_INIT;
    const char *pairs[64] = { NULL };
    struct arranged a = { .documents = NULL };
    struct leat_metadata *metadata;
    struct leat_dataset *d;
    struct leat_error err;

    arranged_load(&a, from);
    must(leat_dataset_open(&d, from, NULL, &err), &err);
    leat_dataset_info(d, &info);
    a.options.created = info.created;
    must(leat_dataset_metadata(d, 0, &metadata, &err), &err);
    for (uint64_t i = 0; i < metadata->count && i < 31; i++) {
        pairs[2 * i] = metadata->pairs[i].key;
        pairs[2 * i + 1] = metadata->pairs[i].value;
    }
    arranged_write(&a, name, NULL, 0, 0, NULL, pairs);
    leat_metadata_free(metadata);
    leat_dataset_close(d);
    arranged_free(&a);
}
