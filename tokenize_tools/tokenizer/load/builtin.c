/* builtin.c: see builtin.h. */
#include "builtin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/status.h"
#include "builtin_data.h"
#include "load.h"
#include "whole_file.h"

#define BYTES_END_ID 256u

struct row {
    const char *name;
    const unsigned char *zstd; /* NULL: made, not read */
    const uint64_t *bytes;
    const unsigned char *splits;
    const uint64_t *splits_bytes;
};

static const struct row rows[] = {
    { "bytes", NULL, NULL, NULL, NULL },
    { "gpt2", builtin_r50k, &builtin_r50k_bytes, builtin_r50k_splits, &builtin_r50k_splits_bytes },
    { "cl100k_base", builtin_cl100k, &builtin_cl100k_bytes, builtin_cl100k_splits, &builtin_cl100k_splits_bytes },
    { "o200k_base", builtin_o200k, &builtin_o200k_bytes, builtin_o200k_splits, &builtin_o200k_splits_bytes },
};

#define ROWS (sizeof rows / sizeof rows[0])

static const struct row *find(const char *name)
{
    for (size_t i = 0; i < ROWS; i++)
        if (strcmp(name, rows[i].name) == 0)
            return &rows[i];
    return NULL;
}

const char *builtin_find(const char *name)
{
    const struct row *row = find(name);

    return row ? row->name : NULL;
}

const char *builtin_list(void)
{
    return "bytes, gpt2, cl100k_base, o200k_base";
}

const char *builtin_nearest(const char *name)
{
    size_t best = 0;

    for (size_t i = 1; i < ROWS; i++)
        if (nearest_distance(name, rows[i].name) < nearest_distance(name, rows[best].name))
            best = i;
    return rows[best].name;
}

static enum leat_status make_bytes(struct tokenizer_spec *spec, struct leat_error *err)
{
    static const char end[] = "<|endoftext|>";
    uint8_t *text = malloc(256);

    spec->model = SPEC_BYTES;
    spec->reference = SPEC_TIKTOKEN;
    spec->dialect = SPEC_RUST;
    spec->byte_level = true;
    spec->text = text;
    spec->tokens = malloc(256 * sizeof *spec->tokens);
    spec->added = spec_alloc(spec, sizeof *spec->added);
    if (!text || !spec->tokens || !spec->added || !spec_copy(spec, &spec->added[0].content, end, sizeof end - 1))
        return status_no_memory(err, 256 * (1 + sizeof *spec->tokens));
    for (uint32_t b = 0; b < 256; b++) {
        text[b] = (uint8_t)b;
        spec->tokens[b] = (struct spec_token) { .id = b, .offset = b, .length = 1, .type = SPEC_NORMAL };
    }
    spec->token_count = 256;
    spec->text_bytes = 256;
    spec->added[0].id = BYTES_END_ID;
    spec->added[0].special = true;
    spec->added_count = 1;
    return spec_finish(spec, "bytes", err);
}

/* Which merge makes each token. Lists of another length would be of another vocabulary: `make splits` has not been run
 * yet, and the merges are found out as for any other file. */
static enum leat_status unpack_splits(struct tokenizer_spec *spec, const struct row *row, struct leat_error *err)
{
    uint8_t *bytes, *splits;
    uint64_t size;
    enum leat_status s = whole_file_unzstd(&bytes, &size, row->splits, *row->splits_bytes, row->name, err);

    if (s != LEAT_OK)
        return s;
    if (size == spec->token_count) {
        splits = spec_alloc(spec, (size_t)size);
        if (splits)
            memcpy(splits, bytes, (size_t)size);
        else
            s = status_no_memory(err, size);
        spec->splits = splits;
    }
    free(bytes);
    return s;
}

static enum leat_status unpack(struct tokenizer_spec *spec, const struct row *row, struct leat_error *err)
{
    struct load_source source = { .pattern = row->name };
    char path[64];
    uint8_t *bytes;
    uint64_t size;
    enum leat_status s;

    snprintf(path, sizeof path, "the built-in %s", row->name);
    source.path = path;
    s = whole_file_unzstd(&bytes, &size, row->zstd, *row->bytes, path, err);
    if (s != LEAT_OK)
        return s;
    source.bytes = bytes;
    source.size = size;
    s = load_tiktoken(spec, &source, err);
    free(bytes);
    return s == LEAT_OK ? unpack_splits(spec, row, err) : s;
}

enum leat_status builtin_load(struct tokenizer_spec **out, const char *name, struct leat_error *err)
{
    const struct row *row = find(name);
    struct tokenizer_spec *spec;
    enum leat_status s;

    *out = NULL;
    if (!row)
        return status_set(err, LEAT_E_NOT_FOUND, "unknown built-in tokenizer %s (nearest: %s); this version has %s",
                          name, builtin_nearest(name), builtin_list());
    spec = spec_new();
    if (!spec)
        return status_no_memory(err, sizeof *spec);
    s = row->zstd ? unpack(spec, row, err) : make_bytes(spec, err);
    if (s == LEAT_OK)
        *out = spec;
    else
        spec_free(spec);
    return s;
}
