/* import_ids.c: types of ids, and documents given to the writer, checked and without a second end token. */
#include <string.h>

#include "base/status.h"
#include "import.h"

static const struct import_dtype dtypes[] = {
    { "uint8", 1, false }, { "uint16", 2, false }, { "uint32", 4, false }, { "uint64", 8, false },
    { "int8", 1, true },   { "int16", 2, true },   { "int32", 4, true },   { "int64", 8, true },
};

#define DTYPES (sizeof dtypes / sizeof dtypes[0])

const struct import_dtype *import_dtype(const char *name, size_t length)
{
    for (size_t i = 0; i < DTYPES; i++)
        if (strlen(dtypes[i].name) == length && memcmp(dtypes[i].name, name, length) == 0)
            return &dtypes[i];
    return NULL;
}

const struct import_dtype *import_dtype_of(uint64_t bytes, bool is_signed)
{
    for (size_t i = 0; i < DTYPES; i++)
        if (dtypes[i].bytes == bytes && dtypes[i].is_signed == is_signed)
            return &dtypes[i];
    return NULL;
}

/* An id; below zero it is above every vocabulary. */
static uint64_t load(const uint8_t *from, const struct import_dtype *d)
{
    switch (d->bytes) {
    case 1:
        return d->is_signed ? (uint64_t)(int64_t)(int8_t)*from : *from;
    case 2:
        return d->is_signed ? (uint64_t)(int64_t)(int16_t)bytes_load16(from) : bytes_load16(from);
    case 4:
        return d->is_signed ? (uint64_t)(int64_t)(int32_t)bytes_load32(from) : bytes_load32(from);
    default:
        return bytes_load64(from);
    }
}

/* Converts ids of `type`; returns whether one is not below `vocabulary`. A loop for each type, for compilers to turn
 * into vectors. */
#define CONVERT(load_one, step, is_wrong)                                                                              \
    for (size_t i = 0; i < count; i++) {                                                                               \
        uint64_t id = load_one(from + (step)*i);                                                                       \
                                                                                                                       \
        ids[i] = (uint32_t)id;                                                                                         \
        wrong |= (is_wrong);                                                                                           \
    }

static uint32_t load8(const uint8_t *from)
{
    return *from;
}

static bool convert(const uint8_t *from, size_t count, const struct import_dtype *d, uint64_t vocabulary, uint32_t *ids)
{
    uint32_t most = (uint32_t)(vocabulary - 1), sign = d->is_signed && d->bytes < 4 ? 1u << (8 * d->bytes - 1) : 0;
    uint32_t wrong = 0;

    if (d->is_signed && d->bytes == 4 && most > INT32_MAX)
        most = INT32_MAX;
    if (d->bytes == 1)
        CONVERT(load8, 1, (uint32_t)(ids[i] > most) | (ids[i] & sign))
    else if (d->bytes == 2)
        CONVERT(bytes_load16, 2, (uint32_t)(ids[i] > most) | (ids[i] & sign))
    else if (d->bytes == 4)
        CONVERT(bytes_load32, 4, (uint32_t)(ids[i] > most))
    else
        CONVERT(bytes_load64, 8, (uint32_t)(ids[i] > most) | (uint32_t)(id >> 32))
    return wrong != 0;
}

/* Names the first id that is wrong. */
static enum leat_status wrong_id(const struct import_writing *w, const struct import_document *d, uint64_t first,
                                 const uint8_t *from, size_t count, struct leat_error *err)
{
    size_t i = 0;
    uint64_t id;

    while (i + 1 < count && load(from + i * d->dtype->bytes, d->dtype) < w->vocabulary)
        i++;
    id = load(from + i * d->dtype->bytes, d->dtype);
    if (d->dtype->is_signed && (int64_t)id < 0)
        return status_set_at(err, LEAT_E_TOKEN, d->at,
                             "%s: token %llu of document %llu is %lld, and an id is never negative: the column does "
                             "not hold ids, or pads them",
                             d->bytes->path, (ull)(first + i), (ull)leat_writer_documents(w->writer),
                             (long long)(int64_t)id);
    return status_set_at(err, LEAT_E_TOKEN, d->at,
                         "%s: token %llu of document %llu is %llu, and the vocabulary has %llu entries: it was made "
                         "with another tokenizer, or has a larger vocabulary",
                         d->bytes->path, (ull)(first + i), (ull)leat_writer_documents(w->writer), (ull)id,
                         (ull)w->vocabulary);
}

static enum leat_status put_chunk(struct import_writing *w, const struct import_document *d, uint64_t first,
                                  const uint8_t *from, size_t count, struct leat_error *err)
{
    if (d->dtype->bytes == 2 && !d->dtype->is_signed && w->vocabulary == 65536) {
        uint16_t *narrow = (uint16_t *)w->ids;

        for (size_t i = 0; i < count; i++)
            narrow[i] = bytes_load16(from + 2 * i);
        return leat_writer_append_u16(w->writer, narrow, count, err);
    }
    if (convert(from, count, d->dtype, w->vocabulary, w->ids))
        return wrong_id(w, d, first, from, count, err);
    return leat_writer_append_u32(w->writer, w->ids, count, err);
}

/* Sets *count to how many ids the writer gets, which puts the end token itself. */
static enum leat_status count_ids(struct import_writing *w, const struct import_document *d, uint64_t *count,
                                  struct leat_error *err)
{
    uint64_t bytes = d->dtype->bytes;
    enum leat_status s = LEAT_OK;
    uint8_t last[8];

    if (d->count % bytes != 0)
        return status_set_at(
            err, LEAT_E_DOCUMENTS, d->at,
            "%s: document %llu has %llu bytes, which is not a whole number of %s: its ids have another "
            "type, or the file is damaged",
            d->bytes->path, (ull)leat_writer_documents(w->writer), (ull)d->count, d->dtype->name);
    *count = d->count / bytes;
    if (w->end_token == LEAT_NONE)
        return LEAT_OK;
    if (*count > 0)
        s = import_bytes_read(d->bytes, d->at + d->count - bytes, last, bytes, err);
    if (s == LEAT_OK && *count > 0 && load(last, d->dtype) == w->end_token)
        --*count;
    else
        w->ends_added++;
    return s;
}

enum leat_status import_put(struct import_writing *w, const struct import_document *d, struct leat_error *err)
{
    const struct leat_origin origin = { .input = w->input, .offset = d->origin, .line = LEAT_NONE };
    size_t bytes = d->dtype->bytes, most = IMPORT_WINDOW / 8;
    uint64_t count = 0;
    enum leat_status s = count_ids(w, d, &count, err);

    for (uint64_t done = 0; s == LEAT_OK && done < count;) {
        size_t here = count - done < most ? (size_t)(count - done) : most;
        const uint8_t *from;

        s = import_bytes_view(d->bytes, d->at + done * bytes, here * bytes, &from, err);
        if (s == LEAT_OK)
            s = put_chunk(w, d, done, from, here, err);
        done += here;
    }
    return s == LEAT_OK ? leat_writer_end_document(w->writer, &origin, err) : s;
}
