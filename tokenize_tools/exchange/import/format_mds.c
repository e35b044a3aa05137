/*
 * format_mds.c: folders of MosaicML's streaming (MDS): index.json, and shards, compressed or not. A sample is a
 * document: the column of its ids holds bytes, whose type the user says, or an array of NumPy, which says it itself.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/status.h"
#include "import_json.h"
#include "import_shard.h"

struct mds {
    struct import_shard shard;
    uint64_t *fixed; /* the columns' sizes, 0: each sample says it */
    uint64_t columns, column;
    const struct import_dtype *dtype; /* NULL: each array says it */
    bool array, shaped;               /* it is an array; and its shape is fixed, so that none is stored */
};

static enum leat_status takes(const char *path, bool *takes, struct leat_error *err)
{
    return import_json_takes(path, "shards", takes, err);
}

/* ---- The index ---- */

/* "ndarray", "ndarray:uint16", "ndarray:uint16:2048" */
static bool is_array(struct jsontree_text e)
{
    return e.length >= 7 && memcmp(e.bytes, "ndarray", 7) == 0 && (e.length == 7 || e.bytes[7] == ':');
}

static bool is_bytes(struct jsontree_text e)
{
    return e.length == 5 && memcmp(e.bytes, "bytes", 5) == 0;
}

static enum leat_status take_encoding(struct import_source *s, struct mds *m, struct jsontree_text e,
                                      struct leat_error *err)
{
    const char *text = (const char *)e.bytes, *dtype = s->options->dtype, *colon;
    size_t length;

    m->array = is_array(e);
    if (!m->array) {
        m->dtype = dtype ? import_dtype(dtype, strlen(dtype)) : NULL;
        s->took_dtype = true;
        if (m->dtype)
            return LEAT_OK;
        return status_set(
            err, LEAT_E_ARGUMENT,
            "%s: its column holds bytes, and of which type the ids in them are is not known: say it by dtype", s->path);
    }
    if (e.length == 7)
        return LEAT_OK;
    colon = memchr(text + 8, ':', e.length - 8);
    length = colon ? (size_t)(colon - text) - 8 : e.length - 8;
    m->shaped = colon != NULL;
    m->dtype = import_dtype(text + 8, length);
    if (m->dtype && !(colon && memchr(colon, ',', e.length - 8 - length)))
        return LEAT_OK;
    return status_set(err, LEAT_E_UNSUPPORTED, "%s: its column holds arrays of %.*s, not lists of integers", s->path,
                      (int)(e.length < 48 ? e.length - 8 : 40), text + 8);
}

/* The columns, as the first shard lists them; others must have the same. */
static enum leat_status read_columns(struct import_source *s, const struct import_json *j, uint32_t shard,
                                     struct leat_error *err)
{
    uint32_t names = import_json_member(j, shard, "column_names");
    uint32_t encodings = import_json_member(j, shard, "column_encodings"), encoding = encodings + 1;
    uint32_t sizes = import_json_member(j, shard, "column_sizes"), size = sizes + 1, name = names + 1;
    struct import_columns c = IMPORT_COLUMNS_INIT;
    struct jsontree_text chosen = { 0 };
    struct mds *m = s->own;
    enum leat_status status;

    if (import_json_kind(j, names) != JSONTREE_ARRAY || import_json_kind(j, encodings) != JSONTREE_ARRAY ||
        import_json_kind(j, sizes) != JSONTREE_ARRAY || j->tree.nodes[names].length != j->tree.nodes[sizes].length ||
        j->tree.nodes[names].length != j->tree.nodes[encodings].length)
        return import_json_wrong(j, "column_names", "a list as long as column_encodings and column_sizes", err);
    m->columns = j->tree.nodes[names].length;
    m->fixed = calloc(m->columns + 1, sizeof *m->fixed);
    if (!m->fixed)
        return status_no_memory(err, m->columns * sizeof *m->fixed);
    for (uint64_t i = 0; i < m->columns; i++) {
        struct jsontree_text n, e;

        if (import_json_kind(j, name) != JSONTREE_STRING || import_json_kind(j, encoding) != JSONTREE_STRING)
            return import_json_wrong(j, "column_names", "a list of strings", err);
        n = jsontree_string(&j->tree, name);
        e = jsontree_string(&j->tree, encoding);
        if (import_json_kind(j, size) != JSONTREE_NULL && !import_json_u64(j, size, &m->fixed[i]))
            return import_json_wrong(j, "column_sizes", "a list of numbers and null", err);
        import_column(&c, s, i, n.bytes, n.length, is_bytes(e) || is_array(e));
        if (c.chosen == i)
            chosen = e;
        name = jsontree_next(&j->tree, name);
        encoding = jsontree_next(&j->tree, encoding);
        size = jsontree_next(&j->tree, size);
    }
    status = import_column_chosen(&c, s, err);
    m->column = c.chosen;
    return status == LEAT_OK ? take_encoding(s, m, chosen, err) : status;
}

/* Whether two arrays of strings, numbers and null have the same text. */
static bool same_list(const struct import_json *j, uint32_t a, uint32_t b)
{
    uint32_t end;

    if (import_json_kind(j, a) != JSONTREE_ARRAY || import_json_kind(j, b) != JSONTREE_ARRAY)
        return false;
    end = jsontree_next(&j->tree, a);
    if (end - a != jsontree_next(&j->tree, b) - b || j->tree.nodes[a].length != j->tree.nodes[b].length)
        return false;
    for (uint32_t i = 1; i < end - a; i++) {
        struct jsontree_text x, y;

        if (import_json_kind(j, a + i) != import_json_kind(j, b + i) || import_json_kind(j, a + i) >= JSONTREE_ARRAY)
            return false;
        if (import_json_kind(j, a + i) < JSONTREE_NUMBER)
            continue;
        x = jsontree_string(&j->tree, a + i);
        y = jsontree_string(&j->tree, b + i);
        if (x.length != y.length || memcmp(x.bytes, y.bytes, x.length) != 0)
            return false;
    }
    return true;
}

static bool same_columns(const struct import_json *j, uint32_t a, uint32_t b)
{
    static const char *const lists[] = { "column_names", "column_encodings", "column_sizes" };

    for (unsigned i = 0; i < 3; i++)
        if (!same_list(j, import_json_member(j, a, lists[i]), import_json_member(j, b, lists[i])))
            return false;
    return true;
}

/* Shards of JSON and CSV have no columns as MDS has them. */
static enum leat_status check_format(const struct import_json *j, uint32_t shard, struct leat_error *err)
{
    uint32_t format = import_json_member(j, shard, "format");
    bool is_string = import_json_kind(j, format) == JSONTREE_STRING;
    struct jsontree_text name = { 0 };

    if (import_json_is(j, format, "mds"))
        return LEAT_OK;
    if (is_string)
        name = jsontree_string(&j->tree, format);
    return status_set(err, LEAT_E_UNSUPPORTED,
                      "%s: a shard has \"format\": \"%.*s\", and only \"mds\" is imported; texts in JSON lines can be "
                      "packed",
                      j->path, (int)(name.length < 40 ? name.length : 40), is_string ? (const char *)name.bytes : "");
}

/* The shard's file: the decompressed one if it is there, as a reader leaves it, else the compressed one. */
static enum leat_status add_shard(struct import_source *s, const struct import_json *j, uint32_t shard,
                                  struct leat_error *err)
{
    uint32_t raw = import_json_member(j, shard, "raw_data"), zip = import_json_member(j, shard, "zip_data");
    uint32_t name = import_json_member(j, raw, "basename"), other = import_json_member(j, zip, "basename");
    uint64_t bytes, samples;
    struct import_file *file;
    enum leat_status status;

    if (import_json_kind(j, name) != JSONTREE_STRING ||
        !import_json_u64(j, import_json_member(j, raw, "bytes"), &bytes) ||
        !import_json_u64(j, import_json_member(j, shard, "samples"), &samples))
        return import_json_wrong(j, "raw_data", "an object with basename and bytes, beside samples", err);
    status = import_json_add_file(s, j, name, &file, err);
    if (status == LEAT_E_NO_FILE && import_json_kind(j, other) == JSONTREE_STRING) {
        free(s->files[--s->file_count].path);
        status = import_json_add_file(s, j, other, &file, err);
        if (status == LEAT_OK)
            file->compressed = true;
    }
    if (status != LEAT_OK)
        return status;
    file->plain = bytes;
    file->documents = samples;
    return LEAT_OK;
}

static enum leat_status read_index(struct import_source *s, const struct import_json *j, struct leat_error *err)
{
    uint32_t shards = import_json_member(j, 0, "shards"), first = shards + 1, shard = first;
    uint64_t count = j->tree.nodes[shards].length;
    enum leat_status status = LEAT_OK;

    for (uint64_t i = 0; status == LEAT_OK && i < count; i++) {
        status = check_format(j, shard, err);
        if (status == LEAT_OK && i == 0)
            status = read_columns(s, j, first, err);
        if (status != LEAT_OK)
            return status;
        if (!same_columns(j, first, shard))
            return status_set(err, LEAT_E_UNSUPPORTED,
                              "%s: shard %llu has other columns than the first one; import them apart", j->path,
                              (ull)i);
        status = add_shard(s, j, shard, err);
        shard = jsontree_next(&j->tree, shard);
    }
    return status;
}

static enum leat_status mds_open(struct import_source *s, struct leat_error *err)
{
    struct import_json j;
    enum leat_status status;
    struct mds *m = calloc(1, sizeof *m);

    s->own = m;
    if (!m)
        return status_no_memory(err, sizeof *m);
    m->shard.bytes.fd = -1;
    status = import_json_index(&j, s->path, err);
    if (status != LEAT_OK)
        return status;
    status = read_index(s, &j, err);
    import_json_close(&j);
    return status;
}

static void mds_close(struct import_source *s)
{
    struct mds *m = s->own;

    if (!m)
        return;
    import_shard_close(&m->shard);
    free(m->fixed);
    free(m);
}

/* ---- Samples ---- */

static enum leat_status mds_begin(struct import_source *s, const struct import_file *file, struct leat_error *err)
{
    struct mds *m = s->own;
    enum leat_status status = import_shard_open(&m->shard, file, err);

    return status == LEAT_OK ? import_shard_begin(&m->shard, file, err) : status;
}

/* Whether an array has as many bytes as its type and shape say; otherwise its ids are wrong. */
static bool fills_shape(const uint8_t *shape, const struct import_document *d)
{
    uint64_t length = 0;

    for (unsigned i = 0; i < 1u << (shape[0] & 3); i++)
        length |= (uint64_t)shape[1 + i] << 8 * i;
    return d->count % d->dtype->bytes == 0 && d->count / d->dtype->bytes == length;
}

/* What stands before the values: the type, unless the column has one, and the shape, unless it is fixed. */
static enum leat_status pass_head(struct mds *m, struct import_document *d, struct leat_error *err)
{
    uint64_t head = m->dtype ? 0 : 1, axes = 1;
    const uint8_t *bytes;
    enum leat_status s = import_bytes_view(d->bytes, d->at, d->count < 600 ? (size_t)d->count : 600, &bytes, err);

    if (s != LEAT_OK)
        return s;
    if (head + !m->shaped > d->count)
        return import_shard_wrong(d->bytes, d->at, "its array has no type or shape", err);
    if (!m->dtype) {
        d->dtype = import_dtype_of((bytes[0] & ~1u) / 8, bytes[0] & 1);
        if (!d->dtype || (bytes[0] & 7u) > 1)
            return import_shard_wrong(d->bytes, d->at, "its array is not of integers", err);
    }
    if (!m->shaped) {
        axes = bytes[head] >> 2;
        head += 1 + (axes << (bytes[head] & 3));
    }
    if (head > d->count)
        return import_shard_wrong(d->bytes, d->at, "its array is shorter than its shape", err);
    if (axes != 1)
        return status_set_at(err, LEAT_E_UNSUPPORTED, d->at,
                             "%s: the sample at byte %llu is an array of %llu axes, not a list of ids", d->bytes->path,
                             (ull)d->at, (ull)axes);
    d->at += head;
    d->count -= head;
    if (!m->shaped && !fills_shape(bytes + (m->dtype ? 0 : 1), d))
        return import_shard_wrong(d->bytes, d->at, "its array is not as long as its shape says", err);
    return LEAT_OK;
}

static enum leat_status mds_next(struct import_source *s, struct import_document *d, bool *any, struct leat_error *err)
{
    struct mds *m = s->own;
    enum leat_status status;

    *any = m->shard.next < m->shard.count;
    if (!*any)
        return LEAT_OK;
    *d = (struct import_document) { .bytes = &m->shard.bytes, .dtype = m->dtype };
    import_shard_next(&m->shard, &d->at, &d->count);
    d->origin = d->at;
    status = import_shard_column(d->bytes, m->fixed, m->columns, m->column, &d->at, &d->count, err);
    return status == LEAT_OK && m->array ? pass_head(m, d, err) : status;
}

const struct import_format import_mds = { "mds", takes, mds_open, mds_close, mds_begin, mds_next };
