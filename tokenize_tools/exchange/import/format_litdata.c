/*
 * format_litdata.c: folders that litdata's optimize() writes: index.json, and chunks. An item is a document: ids and
 * nothing else (TokensLoader), or a tensor or array among the leaves of a dict. Chunks may be compressed as a whole, in
 * frames of many items, or item by item. Items that are dicts of Python lists lie in an Arrow file at the chunk's end.
 */
#include <stdlib.h>
#include <string.h>

#include "arrow_reader.h"
#include "base/status.h"
#include "import_json.h"
#include "import_shard.h"
#include "litdata_frames.h"
#include "litdata_leaf.h"

struct litdata {
    struct import_shard shard;
    struct import_bytes item; /* memory: of an item that is compressed by itself */
    struct arrow_reader arrow;
    bool tokens;       /* TokensLoader: no sizes before the leaf */
    bool apart;        /* each item is compressed by itself */
    uint64_t *no_size; /* zeros, for as many leaves */
    uint64_t leaves, column;
    enum leaf leaf;
    const struct import_dtype *dtype;
};

static enum leat_status takes(const char *path, bool *takes, struct leat_error *err)
{
    return import_json_takes(path, "chunks", takes, err);
}

/* ---- The index ---- */

/* The keys of a dict of leaves, from data_spec, which is JSON in a string: [1, {"type": "builtins.dict", "context":
 * "[\"input_ids\", ...]", ...}]. An empty text: the item is one leaf, or the leaves have no names. */
static enum leat_status read_keys(const struct import_json *j, struct import_json *spec, struct import_json *keys,
                                  struct leat_error *err)
{
    uint32_t text = import_json_member(j, import_json_member(j, 0, "config"), "data_spec"), context;
    enum leat_status s = LEAT_OK;
    struct jsontree_text t;

    if (import_json_kind(j, text) != JSONTREE_STRING)
        return LEAT_OK;
    t = jsontree_string(&j->tree, text);
    spec->path = keys->path = j->path;
    s = jsontree_parse(&spec->tree, t.bytes, t.length, j->path, err);
    if (s != LEAT_OK)
        return s == LEAT_E_NO_MEMORY ? s : import_json_wrong(j, "data_spec", "JSON", err);
    if (import_json_kind(spec, 0) != JSONTREE_ARRAY || spec->tree.nodes[0].length != 2)
        return LEAT_OK;
    context = import_json_member(spec, jsontree_next(&spec->tree, 1), "context");
    if (!import_json_is(spec, import_json_member(spec, jsontree_next(&spec->tree, 1), "type"), "builtins.dict") ||
        import_json_kind(spec, context) != JSONTREE_STRING)
        return LEAT_OK;
    t = jsontree_string(&spec->tree, context);
    s = jsontree_parse(&keys->tree, t.bytes, t.length, j->path, err);
    return s == LEAT_OK || s == LEAT_E_NO_MEMORY ? s : import_json_wrong(j, "data_spec", "a list of keys", err);
}

static enum leat_status choose_leaf(struct import_source *s, const struct import_json *j,
                                    const struct import_json *keys, uint32_t formats, struct leat_error *err)
{
    struct import_columns c = IMPORT_COLUMNS_INIT;
    struct litdata *l = s->own;
    uint32_t format = formats + 1, key = 1;
    uint64_t lists = 0;
    bool named =
        keys->tree.count > 0 && import_json_kind(keys, 0) == JSONTREE_ARRAY && keys->tree.nodes[0].length == l->leaves;

    for (uint64_t i = 0; i < l->leaves; i++) {
        struct jsontree_text t, name = { (const uint8_t *)"", 0 };
        const struct import_dtype *dtype = NULL;
        enum leaf leaf = LEAF_LIST;
        bool holds;

        if (import_json_kind(j, format) != JSONTREE_STRING)
            return import_json_wrong(j, "data_format", "a list of strings", err);
        t = jsontree_string(&j->tree, format);
        if (named && import_json_kind(keys, key) == JSONTREE_STRING)
            name = jsontree_string(&keys->tree, key);
        holds = litdata_parse_leaf(t.bytes, t.length, &leaf, &dtype);
        if (t.length == 4 && memcmp(t.bytes, "json", 4) == 0 && name.length > 0) {
            holds = true; /* the Arrow file decides */
            lists++;
        }
        import_column(&c, s, i, name.bytes, name.length, holds);
        if (c.chosen == i) {
            l->leaf = leaf;
            l->dtype = dtype;
        }
        format = jsontree_next(&j->tree, format);
        key += named ? jsontree_next(&keys->tree, key) - key : 0;
    }
    l->column = c.chosen;
    if (!s->options->column && c.rank == 1 && lists == c.count) /* which of several, too */
        return LEAT_OK;
    return import_column_chosen(&c, s, err);
}

/* `whole`: chunks are compressed as a whole. */
static enum leat_status read_config(struct import_source *s, const struct import_json *j, bool *whole,
                                    struct leat_error *err)
{
    uint32_t config = import_json_member(j, 0, "config"), formats = import_json_member(j, config, "data_format");
    uint32_t level = import_json_member(j, config, "compression_level");
    struct import_json spec = { 0 }, keys = { 0 };
    struct litdata *l = s->own;
    enum leat_status status;

    if (import_json_kind(j, formats) != JSONTREE_ARRAY)
        return import_json_wrong(j, "data_format", "a list", err);
    if (import_json_kind(j, import_json_member(j, config, "encryption")) != JSONTREE_NULL)
        return status_set(err, LEAT_E_UNSUPPORTED, "%s: the dataset is encrypted, which leat does not read", j->path);
    l->leaves = j->tree.nodes[formats].length;
    l->tokens = import_json_is(j, import_json_member(j, config, "item_loader"), "TokensLoader");
    l->apart = import_json_is(j, level, "sample");
    *whole = import_json_kind(j, import_json_member(j, config, "compression")) == JSONTREE_STRING &&
             import_json_kind(j, level) != JSONTREE_STRING;
    l->no_size = calloc(l->leaves + 1, sizeof *l->no_size);
    if (!l->no_size)
        return status_no_memory(err, l->leaves * sizeof *l->no_size);
    status = read_keys(j, &spec, &keys, err);
    if (status == LEAT_OK)
        status = choose_leaf(s, j, &keys, formats, err);
    jsontree_free(&keys.tree);
    jsontree_free(&spec.tree);
    if (status == LEAT_OK && l->tokens && (l->leaves != 1 || l->leaf != LEAF_IDS))
        return import_json_wrong(j, "data_format", "one list of ids, as TokensLoader has it", err);
    return status;
}

static uint64_t count_chunks(const struct import_json *j)
{
    uint32_t chunks = import_json_member(j, 0, "chunks");

    return import_json_kind(j, chunks) == JSONTREE_ARRAY ? j->tree.nodes[chunks].length : 0;
}

static enum leat_status add_chunks(struct import_source *s, const struct import_json *j, bool whole,
                                   struct leat_error *err)
{
    uint64_t count = count_chunks(j);
    uint32_t chunk = import_json_member(j, 0, "chunks") + 1;
    enum leat_status status = LEAT_OK;

    for (uint64_t i = 0; status == LEAT_OK && i < count; i++) {
        uint32_t name = import_json_member(j, chunk, "filename");
        uint64_t items, bytes;
        struct import_file *file;

        if (import_json_kind(j, name) != JSONTREE_STRING ||
            !import_json_u64(j, import_json_member(j, chunk, "chunk_size"), &items) ||
            !import_json_u64(j, import_json_member(j, chunk, "chunk_bytes"), &bytes))
            return import_json_wrong(j, "chunks", "a list of filename, chunk_size, chunk_bytes", err);
        status = import_json_add_file(s, j, name, &file, err);
        if (status == LEAT_OK) {
            file->documents = items;
            file->plain = bytes;
            file->compressed = whole;
        }
        chunk = jsontree_next(&j->tree, chunk);
    }
    return status;
}

static enum leat_status litdata_open(struct import_source *s, struct leat_error *err)
{
    struct litdata *l = calloc(1, sizeof *l);
    struct import_json j;
    enum leat_status status;
    bool whole = false;

    s->own = l;
    if (!l)
        return status_no_memory(err, sizeof *l);
    l->shard.bytes.fd = l->item.fd = -1;
    arrow_reader_begin(&l->arrow);
    status = import_json_index(&j, s->path, err);
    if (status != LEAT_OK)
        return status;
    if (count_chunks(&j) > 0) /* else nothing was written, and the index does not say how it would be */
        status = read_config(s, &j, &whole, err);
    if (status == LEAT_OK)
        status = add_chunks(s, &j, whole, err);
    import_json_close(&j);
    return status;
}

static void litdata_close(struct import_source *s)
{
    struct litdata *l = s->own;

    if (!l)
        return;
    import_shard_close(&l->shard);
    import_bytes_close(&l->item);
    arrow_reader_close(&l->arrow);
    free(l->no_size);
    free(l);
}

/* ---- Items ---- */

static enum leat_status litdata_begin(struct import_source *s, const struct import_file *file, struct leat_error *err)
{
    struct litdata *l = s->own;
    enum leat_status status = import_shard_open(&l->shard, file, err);
    uint64_t begin;
    bool framed = false;

    arrow_reader_close(&l->arrow);
    if (status == LEAT_OK && l->leaf == LEAF_LIST && (file->compressed || l->apart))
        return status_set(
            err, LEAT_E_UNSUPPORTED,
            "%s: its items are Python lists in compressed chunks, which leat does not read; write the ids "
            "as tensors, or without compression",
            file->path);
    if (status == LEAT_OK && l->leaf == LEAF_LIST) {
        status = litdata_find_arrow(&l->shard.bytes, &begin, err);
        return status == LEAT_OK ? arrow_reader_open(&l->arrow, s, file->path, begin, file->plain - 12, err) : status;
    }
    if (status == LEAT_OK)
        status = litdata_unframe(&l->shard, file, &framed, err);
    if (status == LEAT_OK && !framed)
        status = import_shard_begin(&l->shard, file, err);
    if (status == LEAT_OK && l->apart) { /* its path is in messages */
        import_bytes_close(&l->item);
        status = import_bytes_open(&l->item, file->path, err);
    }
    return status;
}

/* What stands before the values of a tensor or an array: its type, its axes, and their lengths. */
static enum leat_status pass_head(struct litdata *l, struct import_document *d, struct leat_error *err)
{
    bool big = l->leaf == LEAF_TENSOR;
    const uint8_t *bytes;
    uint32_t type, axes, length = 1;
    enum leat_status s;

    if (d->count < 8)
        return import_shard_wrong(d->bytes, d->at, "its tensor has no type or shape", err);
    s = import_bytes_view(d->bytes, d->at, d->count < 12 ? 8 : 12, &bytes, err);
    if (s != LEAT_OK)
        return s;
    type = big ? bytes_swap32(bytes_load32(bytes)) : bytes_load32(bytes);
    axes = big ? bytes_swap32(bytes_load32(bytes + 4)) : bytes_load32(bytes + 4);
    d->dtype = big ? litdata_torch_dtype(type) : litdata_numpy_dtype(type);
    if (!d->dtype)
        return import_shard_wrong(d->bytes, d->at, "its tensor is not of integers", err);
    if (4 * (uint64_t)axes > d->count - 8)
        return import_shard_wrong(d->bytes, d->at, "its tensor is shorter than its shape", err);
    if (axes > 1)
        return status_set_at(err, LEAT_E_UNSUPPORTED, d->at,
                             "%s: the sample at byte %llu is a tensor of %u axes, not a list of ids", d->bytes->path,
                             (ull)d->at, (unsigned)axes);
    if (axes == 1)
        length = big ? bytes_swap32(bytes_load32(bytes + 8)) : bytes_load32(bytes + 8);
    d->at += 8 + 4 * (uint64_t)axes;
    d->count -= 8 + 4 * (uint64_t)axes;
    if (d->count != (uint64_t)length * d->dtype->bytes) /* its type or shape is damaged, and ids would be wrong */
        return import_shard_wrong(d->bytes, d->at, "its tensor is not as long as its shape says", err);
    return LEAT_OK;
}

static enum leat_status litdata_next(struct import_source *s, struct import_document *d, bool *any,
                                     struct leat_error *err)
{
    struct litdata *l = s->own;
    enum leat_status status = LEAT_OK;

    if (l->leaf == LEAF_LIST)
        return arrow_reader_next(&l->arrow, d, any, err);
    *any = l->shard.next < l->shard.count;
    if (!*any)
        return LEAT_OK;
    *d = (struct import_document) { .bytes = &l->shard.bytes, .dtype = l->dtype };
    import_shard_next(&l->shard, &d->at, &d->count);
    d->origin = d->at;
    if (l->apart)
        status = litdata_unpack_item(&l->item, d, err);
    if (status == LEAT_OK && !l->tokens)
        status = import_shard_column(d->bytes, l->no_size, l->leaves, l->column, &d->at, &d->count, err);
    return status == LEAT_OK && l->leaf != LEAF_IDS ? pass_head(l, d, err) : status;
}

const struct import_format import_litdata = {
    "litdata", takes, litdata_open, litdata_close, litdata_begin, litdata_next
};
