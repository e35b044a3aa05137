/* values.c: reads the values of a page. Numbers and layouts are those of parquet-format's Encodings.md. */
#include "values.h"

#include "base/bytes.h"

/* ---- Runs and packed bits ---------------------------------------------------------------------------------------- */

/* Takes a number in groups of seven bits. Returns false if it is cut off or too long. */
static bool rle_varint(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 64 && *at < end; shift += 7) {
        uint8_t byte = *(*at)++;

        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

uint64_t rle_bits(const uint8_t *bytes, const uint8_t *end, uint64_t bit, unsigned width)
{
    const uint8_t *from = bytes + bit / 8;
    unsigned shift = (unsigned)(bit % 8), got = 8 - shift;
    uint64_t value;

    if (width == 0)
        return 0;
    if (end - from >= 9) {
        value = bytes_load64(from) >> shift;
        if (shift + width > 64)
            value |= (uint64_t)from[8] << (64 - shift);
    } else {
        value = (uint64_t)*from++ >> shift;
        for (; got < width; got += 8)
            value |= (uint64_t)*from++ << got;
    }
    return width == 64 ? value : value & (((uint64_t)1 << width) - 1);
}

void rle_open(struct rle *r, const uint8_t *bytes, size_t count, unsigned width)
{
    *r = (struct rle) { .at = bytes, .end = bytes + count, .width = width };
}

static bool next_run(struct rle *r)
{
    size_t bytes = (r->width + 7) / 8;
    uint64_t head;

    if (r->packed)
        r->at += r->bit / 8; /* runs have multiples of eight numbers, so whole bytes */
    if (!rle_varint(&r->at, r->end, &head))
        return false;
    r->packed = head & 1;
    r->left = head >> 1;
    r->bit = 0;
    if (r->packed)
        return bytes_multiply(r->left, 8, &r->left);
    if ((size_t)(r->end - r->at) < bytes)
        return false;
    r->value = 0;
    for (size_t i = 0; i < bytes; i++)
        r->value |= (uint32_t)r->at[i] << 8 * i;
    r->at += bytes;
    return true;
}

bool rle_next(struct rle *r, uint32_t *value)
{
    while (r->left == 0)
        if (!next_run(r))
            return false;
    if (r->packed) {
        /* the last run may end with the last number that is needed */
        if ((r->bit + r->width + 7) / 8 > (uint64_t)(r->end - r->at))
            return false;
        *value = (uint32_t)rle_bits(r->at, r->end, r->bit, r->width);
        r->bit += r->width;
    } else {
        *value = r->value;
    }
    r->left--;
    return true;
}

bool rle_ended(const struct rle *r)
{
    uint64_t run = r->packed ? (r->bit + r->left * r->width) / 8 : 0, left = (uint64_t)(r->end - r->at);

    return run >= left;
}

/* ---- Differences ------------------------------------------------------------------------------------------------- */

static uint64_t unzigzag(uint64_t value)
{
    return value >> 1 ^ (0 - (value & 1));
}

/* Begins to read numbers. Returns false if their header is broken. */
static bool delta_open(struct delta *d, const uint8_t *bytes, const uint8_t *end)
{
    uint64_t block, first;

    *d = (struct delta) { .at = bytes, .end = end };
    if (!rle_varint(&d->at, end, &block) || !rle_varint(&d->at, end, &d->minis) || !rle_varint(&d->at, end, &d->left) ||
        !rle_varint(&d->at, end, &first))
        return false;
    d->value = unzigzag(first);
    if (d->minis == 0 || d->minis > block || block > UINT32_MAX || block % d->minis != 0)
        return false;
    d->per_mini = block / d->minis;
    d->mini = d->minis; /* a block begins */
    d->taken = d->per_mini;
    return d->per_mini % 8 == 0; /* so that a miniblock has whole bytes */
}

/* Goes to the next miniblock. */
static bool next_mini(struct delta *d)
{
    uint64_t bytes;

    if (d->mini == d->minis) {
        uint64_t min;

        if (!rle_varint(&d->at, d->end, &min) || (uint64_t)(d->end - d->at) < d->minis)
            return false;
        d->min = unzigzag(min);
        d->widths = d->at;
        d->at += d->minis;
        d->mini = 0;
    }
    bytes = d->per_mini / 8 * d->widths[d->mini];
    if (d->widths[d->mini] > 64 || (uint64_t)(d->end - d->at) < bytes)
        return false;
    d->bits = d->at;
    d->at += bytes;
    d->mini++;
    d->taken = 0;
    return true;
}

static bool delta_next(struct delta *d, uint64_t *value)
{
    unsigned width;

    if (d->left == 0)
        return false;
    *value = d->value;
    if (--d->left == 0)
        return true;
    if (d->taken == d->per_mini && !next_mini(d))
        return false;
    width = d->widths[d->mini - 1];
    d->value += d->min + rle_bits(d->bits, d->at, d->taken++ * width, width);
    return true;
}

/* Skips all numbers: d->at is then after them. */
static bool delta_pass(struct delta *d)
{
    uint64_t differences = d->left > 0 ? d->left - 1 : 0;

    for (; differences > 0; differences -= differences < d->per_mini ? differences : d->per_mini)
        if (!next_mini(d))
            return false;
    return true;
}

/* ---- Values of a page -------------------------------------------------------------------------------------------- */

#define CUT_OFF "its values end too early"

static size_t left(const struct values *v)
{
    return (size_t)(v->end - v->at);
}

/* Takes bytes in place. */
static const char *take_bytes(struct values *v, uint64_t size, struct parquet_value *value)
{
    if (size > left(v))
        return CUT_OFF;
    *value = (struct parquet_value) { v->at, (size_t)size };
    v->at += size;
    return NULL;
}

static const char *open_nothing(struct values *v)
{
    (void)v;
    return NULL;
}

static const char *unread_next(struct values *v, struct parquet_value *value)
{
    *value = (struct parquet_value) { v->at, 0 };
    return NULL;
}

static const char *plain_next(struct values *v, struct parquet_value *value)
{
    uint32_t size = v->type_bytes;

    if (v->type == PARQUET_BYTE_ARRAY) {
        if (left(v) < 4)
            return CUT_OFF;
        size = bytes_load32(v->at);
        v->at += 4;
    }
    return take_bytes(v, size, value);
}

/* ---- Places in a dictionary ---- */

static const char *dictionary_open(struct values *v)
{
    unsigned width;

    if (!v->dictionary)
        return "it needs a dictionary, and the column chunk has no dictionary page";
    if (left(v) == 0) { /* a page of nulls only */
        rle_open(&v->places, v->at, 0, 0);
        return NULL;
    }
    width = *v->at++;
    rle_open(&v->places, v->at, left(v), width);
    return width > 32 ? "its places in the dictionary have too many bits" : NULL;
}

static const char *dictionary_next(struct values *v, struct parquet_value *value)
{
    const struct dictionary *d = v->dictionary;
    uint32_t place;

    if (!rle_next(&v->places, &place))
        return CUT_OFF;
    if (place >= d->count)
        return "it has a value that the dictionary does not have";
    if (d->places)
        *value = (struct parquet_value) { d->bytes + d->places[place] + 4, bytes_load32(d->bytes + d->places[place]) };
    else
        *value = (struct parquet_value) { d->bytes + (size_t)place * v->type_bytes, v->type_bytes };
    return NULL;
}

/* ---- Differences ---- */

static const char *delta_open_integers(struct values *v)
{
    return delta_open(&v->lengths, v->at, v->end) ? NULL : CUT_OFF;
}

static const char *delta_next_integer(struct values *v, struct parquet_value *value)
{
    uint64_t number;

    if (!delta_next(&v->lengths, &number))
        return CUT_OFF;
    bytes_store64(v->integer, number); /* a number of 32 bits has the first four bytes */
    *value = (struct parquet_value) { v->integer, v->type_bytes };
    return NULL;
}

/* Opens numbers that are followed by other bytes. */
static const char *open_numbers(struct values *v, struct delta *numbers)
{
    struct delta all;

    if (!delta_open(numbers, v->at, v->end))
        return CUT_OFF;
    all = *numbers;
    if (!delta_pass(&all))
        return CUT_OFF;
    v->at = all.at;
    return NULL;
}

static const char *lengths_open(struct values *v)
{
    return open_numbers(v, &v->lengths);
}

static const char *lengths_next(struct values *v, struct parquet_value *value)
{
    uint64_t size;

    return delta_next(&v->lengths, &size) ? take_bytes(v, size, value) : CUT_OFF;
}

static const char *prefixes_open(struct values *v)
{
    const char *why = open_numbers(v, &v->prefixes);

    v->held->size = 0;
    return why ? why : open_numbers(v, &v->lengths);
}

/* Takes a value, which begins like the value before it. All of its bytes have been in the page, so no value is longer
 * than the page. */
static const char *prefixes_next(struct values *v, struct parquet_value *value)
{
    uint64_t prefix, suffix;

    if (!delta_next(&v->prefixes, &prefix) || !delta_next(&v->lengths, &suffix) || suffix > left(v))
        return CUT_OFF;
    if (prefix > v->held->size)
        return "a value begins with more of the one before it than that has";
    block_copy(v->held, (size_t)prefix, v->at, (size_t)suffix, v->page);
    v->at += suffix;
    v->held->size = (size_t)(prefix + suffix);
    *value = (struct parquet_value) { v->held->bytes, v->held->size };
    return v->type == PARQUET_FIXED && v->held->size != v->type_bytes ? "a value has the wrong length" : NULL;
}

/* ---- Bytes apart: the first byte of each value, then the second of each, ... ---- */

static const char *split_open(struct values *v)
{
    if (v->type_bytes > 0)
        v->count = (uint32_t)(left(v) / v->type_bytes);
    v->number = 0;
    return NULL;
}

static const char *split_next(struct values *v, struct parquet_value *value)
{
    uint8_t *to = v->type == PARQUET_FIXED ? v->held->bytes : v->integer;

    if (v->number == v->count)
        return CUT_OFF;
    for (size_t i = 0; i < v->type_bytes; i++)
        to[i] = v->at[i * v->count + v->number];
    v->number++;
    *value = (struct parquet_value) { to, v->type_bytes };
    return NULL;
}

/* ---- Truth values: a bit each, or runs ---- */

static const char *bits_open(struct values *v)
{
    v->number = 0;
    return NULL;
}

static const char *give_truth(struct values *v, uint32_t truth, struct parquet_value *value)
{
    v->integer[0] = (uint8_t)truth;
    *value = (struct parquet_value) { v->integer, 1 };
    return NULL;
}

static const char *bits_next(struct values *v, struct parquet_value *value)
{
    size_t byte = (size_t)(v->number / 8);

    if (byte >= left(v))
        return CUT_OFF;
    return give_truth(v, v->at[byte] >> v->number++ % 8 & 1u, value);
}

static const char *runs_open(struct values *v)
{
    rle_open(&v->places, v->at, 0, 1);
    if (left(v) == 0) /* a page of nulls only */
        return NULL;
    if (left(v) < 4 || bytes_load32(v->at) > left(v) - 4)
        return CUT_OFF;
    rle_open(&v->places, v->at + 4, bytes_load32(v->at), 1);
    return NULL;
}

static const char *runs_next(struct values *v, struct parquet_value *value)
{
    uint32_t truth;

    return rle_next(&v->places, &truth) ? give_truth(v, truth, value) : CUT_OFF;
}

/* ---- The table ---- */

#define PLACES                                                                                                         \
    .bytes = true, .fixed = true, .integers = true, .floats = true, .open = dictionary_open, .next = dictionary_next

/* The encodings by their numbers in files. */
static const struct value_encoding encodings[] = {
    [0] = { "PLAIN", .bytes = true, .fixed = true, .integers = true, .floats = true, .open = open_nothing,
            .next = plain_next },
    [2] = { "PLAIN_DICTIONARY", PLACES },
    [5] = { "DELTA_BINARY_PACKED", .integers = true, .open = delta_open_integers, .next = delta_next_integer },
    [6] = { "DELTA_LENGTH_BYTE_ARRAY", .bytes = true, .uses_all = true, .open = lengths_open, .next = lengths_next },
    [7] = { "DELTA_BYTE_ARRAY", .bytes = true, .fixed = true, .holds = true, .uses_all = true, .open = prefixes_open,
            .next = prefixes_next },
    [8] = { "RLE_DICTIONARY", PLACES },
    [9] = { "BYTE_STREAM_SPLIT", .fixed = true, .integers = true, .floats = true, .holds = true, .open = split_open,
            .next = split_next },
};

/* The encoding of truth values. */
static const struct value_encoding bits = { "PLAIN", .open = bits_open, .next = bits_next };
static const struct value_encoding runs = { "RLE", .open = runs_open, .next = runs_next };

static const struct value_encoding not_read = { "none", .open = open_nothing, .next = unread_next };

const char *values_encoding(struct values *v, uint64_t number)
{
    const struct value_encoding *e = number < sizeof encodings / sizeof *encodings ? &encodings[number] : NULL;
    bool fits;

    if (v->unread) {
        v->encoding = &not_read;
        return NULL;
    }
    if (v->type == PARQUET_BOOLEAN) {
        v->encoding = number == 0 ? &bits : number == 3 ? &runs : NULL;
        return v->encoding ? NULL : "its encoding is not for its type";
    }
    if (!e || !e->name)
        return "it has an unknown encoding";
    fits = v->type == PARQUET_BYTE_ARRAY                           ? e->bytes
           : v->type == PARQUET_FIXED                              ? e->fixed
           : v->type == PARQUET_FLOAT || v->type == PARQUET_DOUBLE ? e->floats
                                                                   : e->integers;
    v->encoding = e;
    return fits ? NULL : "its encoding is not for its type";
}
