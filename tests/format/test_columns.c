/*
 * test_columns.c: columns beside a dataset. What is attached is read again, in any range; each type takes what it
 * holds and refuses, with the place, what it does not. Any changed byte of an index, and any length of it, is refused
 * or changes nothing that is read; a damaged, cut or missing file of values is an error that names it, and
 * verifying finds it. Names, options, lists and lengths that are wrong leave no file. Replacing a dataset removes its
 * columns; merging, exporting and pushing refuse. A column of parts has the bytes of one that was attached whole; a
 * part that is missing, damaged, or of another dataset, type or width is named, and no column appears.
 */
#include <math.h>

#include "base/bytes.h"
#include "leat_pack.h"
#include "one_document.h"
#include "support/files.h"

#define DOCUMENTS 700u
#define TOKENS    2100u

static const char *folder, *name;
static struct leat_dataset *dataset;
static uint64_t part, parts; /* of what attach() attaches */

static void write_dataset(uint32_t force, uint16_t first)
{
    struct leat_writer_options o = LEAT_WRITER_OPTIONS_INIT;
    struct leat_writer *w;

    o.vocabulary = 1000;
    o.force = force;
    T_OK(leat_writer_open(&w, name, &o, &t_err));
    for (uint16_t i = 0; i < DOCUMENTS; i++)
        T_OK(add_one_document(w, (uint16_t[]) { i, first, 7 }, 2, NULL, 3, NULL, &t_err));
    T_OK(leat_writer_finish(w, NULL, &t_err));
}

static enum leat_status attach(const char *column, uint32_t type, uint32_t width, uint32_t at, const void *values,
                               uint64_t entries, uint32_t from, uint32_t force)
{
    struct leat_column_options o = { sizeof o, column, type, width, at, force, part, parts };
    struct leat_column_writer *w;
    enum leat_status s = leat_column_writer_open(&w, dataset, &o, &t_err);

    if (s == LEAT_OK)
        s = leat_column_writer_add(w, values, entries / 2, from, &t_err);
    if (s == LEAT_OK) { /* in two pieces */
        uint32_t bytes[] = {
            [LEAT_COLUMN_U8] = 1,       [LEAT_COLUMN_U16] = 2, [LEAT_COLUMN_U32] = 4,  [LEAT_COLUMN_I32] = 4,
            [LEAT_COLUMN_I64] = 8,      [LEAT_COLUMN_F16] = 2, [LEAT_COLUMN_BF16] = 2, [LEAT_COLUMN_F32] = 4,
            [LEAT_COLUMN_CATEGORY] = 2, [LEAT_COLUMN_I8] = 1,  [LEAT_COLUMN_I16] = 2,  [LEAT_COLUMN_U64] = 8,
            [LEAT_COLUMN_F64] = 8
        };

        s = leat_column_writer_add(w, (const uint8_t *)values + entries / 2 * width * bytes[from],
                                   entries - entries / 2, from, &t_err);
    }
    if (s == LEAT_OK && type == LEAT_COLUMN_CATEGORY)
        s = leat_column_writer_texts(w, "endefr", (uint64_t[]) { 2, 4, 6 }, 3, &t_err);
    if (s == LEAT_OK)
        s = leat_column_writer_finish(w, &t_err);
    if (s != LEAT_OK)
        leat_column_writer_abandon(w);
    return s;
}

/* ---- What is stored ---- */

static uint32_t numbers[TOKENS * 8];

static void check_numbers(void)
{
    struct leat_column_info info = LEAT_COLUMN_INFO_INIT;
    struct leat_column *c;
    struct leat_view view;
    uint64_t random = t_seed();
    size_t size;
    uint8_t *bytes;

    for (unsigned i = 0; i < TOKENS * 8; i++)
        numbers[i] = i * 2654435761u;
    T_OK(attach("ids", LEAT_COLUMN_U32, 8, LEAT_COLUMN_TOKEN, numbers, TOKENS, LEAT_COLUMN_U32, 0));
    bytes = file_bytes(with(name, ".ids.column"), &size);
    T_EQ(size, sizeof numbers);
    for (unsigned i = 0; i < TOKENS * 8; i++)
        T_EQ((uint32_t)bytes[4 * i] | (uint32_t)bytes[4 * i + 1] << 8 | (uint32_t)bytes[4 * i + 2] << 16 |
                 (uint32_t)bytes[4 * i + 3] << 24,
             numbers[i]);
    T_OK(leat_column_open(&c, dataset, "ids", &t_err));
    leat_column_info(c, &info);
    T_CHECK(strcmp(info.name, "ids") == 0 && info.entries == TOKENS && info.bytes == size && info.texts == 0 &&
            info.type == LEAT_COLUMN_U32 && info.width == 8 && info.at == LEAT_COLUMN_TOKEN && info.entry_bytes == 32);
    for (unsigned i = 0; i < 100; i++) {
        static uint8_t out[sizeof numbers];
        uint64_t first = t_below(&random, TOKENS + 1), count = t_below(&random, TOKENS + 1 - first);

        T_OK(leat_column_read(c, first, count, out, &t_err));
        T_EQ(memcmp(out, bytes + 32 * first, 32 * count), 0);
        if (leat_column_view(c, first, count, &view, &t_err) == LEAT_OK) {
            T_EQ(memcmp(view.tokens, bytes + 32 * first, 32 * count), 0);
            leat_view_release(&view);
        } else
            T_EQ(t_err.status, BYTES_BIG_ENDIAN ? LEAT_E_UNSUPPORTED : LEAT_E_NOT_MAPPED);
    }
    T_STATUS(leat_column_read(c, TOKENS, 1, bytes, &t_err), LEAT_E_RANGE);
    T_STATUS(leat_column_view(c, 1, TOKENS, &view, &t_err), LEAT_E_RANGE);
    leat_column_close(c);
    free(bytes);
}

static void check_texts(void)
{
    static uint16_t codes[DOCUMENTS];
    struct leat_column_info info = LEAT_COLUMN_INFO_INIT;
    struct leat_column *c;
    const char *text;
    uint64_t bytes;

    for (unsigned i = 0; i < DOCUMENTS; i++)
        codes[i] = (uint16_t)(i % 3);
    T_OK(attach("lang", LEAT_COLUMN_CATEGORY, 1, LEAT_COLUMN_DOCUMENT, codes, DOCUMENTS, LEAT_COLUMN_U16, 0));
    T_OK(leat_column_open(&c, dataset, "lang", &t_err));
    leat_column_info(c, &info);
    T_EQ(info.texts, 3);
    T_OK(leat_column_text(c, 1, &text, &bytes, &t_err));
    T_CHECK(bytes == 2 && memcmp(text, "de", 2) == 0);
    T_STATUS(leat_column_text(c, 3, &text, &bytes, &t_err), LEAT_E_RANGE);
    leat_column_close(c);
    codes[5] = 3;
    T_REFUSED(attach("other", LEAT_COLUMN_CATEGORY, 1, LEAT_COLUMN_DOCUMENT, codes, DOCUMENTS, LEAT_COLUMN_U16, 0),
              LEAT_E_ARGUMENT, "number 3 of a text, but there are 3");
}

/* ---- Conversions ---- */

static uint64_t stored(uint32_t type, const void *value, uint32_t from, enum leat_status *s)
{
    static uint8_t many[DOCUMENTS * 8];
    static const unsigned sizes[] = { 0, 1, 2, 4, 4, 8, 2, 2, 4, 2, 1, 2, 8, 8 };
    uint8_t out[8] = { 0 };
    uint64_t bits = 0;
    struct leat_column *c;

    memset(many, 0, sizeof many);
    memcpy(many + 9 * sizes[from], value, sizes[from]);
    *s = attach("one", type, 1, LEAT_COLUMN_DOCUMENT, many, DOCUMENTS, from, 1);
    if (*s != LEAT_OK) {
        T_EQ(*s, LEAT_E_ARGUMENT);
        T_CONTAINS(t_err.message, "document 9 has the value ");
        T_STR(t_err.field, "values");
        return 0;
    }
    T_OK(leat_column_open(&c, dataset, "one", &t_err));
    T_OK(leat_column_read(c, 9, 1, out, &t_err));
    leat_column_close(c);
    for (unsigned i = 0; i < 8; i++)
        bits |= (uint64_t)out[i] << 8 * i;
    return bits;
}

static void holds(uint32_t type, const void *value, uint32_t from, uint64_t bits)
{
    enum leat_status s;
    uint64_t found = stored(type, value, from, &s);

    if (s != LEAT_OK || found != bits)
        T_FAIL("type %u from %u: 0x%" PRIx64 " instead of 0x%" PRIx64 ": %s", type, from, found, bits, t_err.message);
}

static void refuses(uint32_t type, const void *value, uint32_t from)
{
    enum leat_status s;

    stored(type, value, from, &s);
    if (s == LEAT_OK)
        T_FAIL("type %u took a value of type %u", type, from);
}

#define F64(v) &(double) { v }, LEAT_COLUMN_F64
#define I64(v) &(int64_t) { v }, LEAT_COLUMN_I64

static void check_conversions(void)
{
    holds(LEAT_COLUMN_U8, I64(255), 255);
    refuses(LEAT_COLUMN_U8, I64(256));
    refuses(LEAT_COLUMN_U8, I64(-1));
    holds(LEAT_COLUMN_U16, F64(65535.0), 65535);
    holds(LEAT_COLUMN_U16, F64(-0.0), 0);
    refuses(LEAT_COLUMN_U16, F64(0.5));
    refuses(LEAT_COLUMN_U32, F64(NAN));
    refuses(LEAT_COLUMN_I64, F64(INFINITY));
    refuses(LEAT_COLUMN_I64, F64(9223372036854775808.0));
    holds(LEAT_COLUMN_I64, F64(-9223372036854775808.0), (uint64_t)INT64_MIN);
    holds(LEAT_COLUMN_I32, I64(INT32_MIN), 0x80000000u);
    refuses(LEAT_COLUMN_I32, I64((int64_t)INT32_MIN - 1));
    refuses(LEAT_COLUMN_I32, I64((int64_t)INT32_MAX + 1));
    refuses(LEAT_COLUMN_I64, &(uint64_t) { UINT64_MAX }, LEAT_COLUMN_U64);
    holds(LEAT_COLUMN_I32, &(int8_t) { -3 }, LEAT_COLUMN_I8, 0xfffffffdu);
    holds(LEAT_COLUMN_F32, I64(16777216), 0x4b800000u);
    refuses(LEAT_COLUMN_F32, I64(16777217));
    refuses(LEAT_COLUMN_F32, &(uint64_t) { UINT64_MAX }, LEAT_COLUMN_U64);
    holds(LEAT_COLUMN_F32, F64(0.1), 0x3dcccccdu);
    holds(LEAT_COLUMN_F32, F64(-INFINITY), 0xff800000u);
    refuses(LEAT_COLUMN_F32, F64(1e39));
    holds(LEAT_COLUMN_F32, F64(1e-46), 0);
    holds(LEAT_COLUMN_F16, F64(65504.0), 0x7bff);
    holds(LEAT_COLUMN_F16, F64(65519.0), 0x7bff);
    refuses(LEAT_COLUMN_F16, F64(65520.0));
    holds(LEAT_COLUMN_F16, F64(5.960464477539063e-08), 1); /* the least that is not 0 */
    holds(LEAT_COLUMN_F16, F64(2.980232238769531e-08), 0); /* half of it: to even */
    holds(LEAT_COLUMN_F16, F64(2.9802322387695317e-08), 1);
    holds(LEAT_COLUMN_F16, F64(1.00048828125), 0x3c00); /* ties to even */
    holds(LEAT_COLUMN_F16, F64(1.00146484375), 0x3c02);
    holds(LEAT_COLUMN_BF16, F64(1.0), 0x3f80);
    holds(LEAT_COLUMN_BF16, &(float) { -2.5f }, LEAT_COLUMN_F32, 0xc020);
    holds(LEAT_COLUMN_F32, &(uint16_t) { 0x3c01 }, LEAT_COLUMN_F16, 0x3f802000u);
    holds(LEAT_COLUMN_F32, &(uint16_t) { 0x0001 }, LEAT_COLUMN_F16, 0x33800000u);
    T_CHECK((stored(LEAT_COLUMN_F16, F64(NAN), &(enum leat_status) { 0 }) & 0x7fff) > 0x7c00);
    T_OK(unlink(with(name, ".one.column-index")) == 0 ? LEAT_OK : LEAT_E_IO);
    T_EQ(unlink(with(name, ".one.column")), 0);
}

/* ---- Damage ---- */

/* Opens and reads all of a column; what opens has the right values. */
static enum leat_status read_all(const char *column, const uint8_t *right, size_t size, struct leat_error *err)
{
    struct leat_column_info info = LEAT_COLUMN_INFO_INIT;
    struct leat_column *c;
    uint8_t *out = malloc(size);
    enum leat_status s = leat_column_open(&c, dataset, column, err);

    if (s == LEAT_OK) {
        leat_column_info(c, &info);
        T_EQ(info.bytes, size);
        s = leat_column_read(c, 0, info.entries, out, err);
        T_CHECK(s != LEAT_OK || memcmp(out, right, size) == 0);
    }
    leat_column_close(c);
    free(out);
    return s;
}

static void check_damage(const char *column)
{
    const char *index = t_text("%s.%s.column-index", name, column), *values = t_text("%s.%s.column", name, column);
    size_t size, right_size;
    uint8_t *bytes = file_bytes(index, &size), *right = file_bytes(values, &right_size);

    for (size_t at = 0; at < size; at++)
        for (unsigned bit = 0; bit < 8; bit++) {
            struct leat_error err = { .message = "" };

            bytes[at] ^= (uint8_t)(1u << bit);
            t_write(index, bytes, size);
            bytes[at] ^= (uint8_t)(1u << bit);
            T_CHECK(read_all(column, right, right_size, &err) != LEAT_OK);
            T_CHECK(strstr(err.message, column) && err.status >= LEAT_E_NOT_LEAT && err.status <= LEAT_E_MISMATCH);
            if (bit == at % 8)
                T_STATUS(leat_dataset_verify(dataset, NULL, NULL, &t_err), err.status);
        }
    for (size_t cut = 0; cut <= size + 1; cut++) {
        if (cut == size)
            continue;
        t_write(index, bytes, cut < size ? cut : size + 1);
        T_REFUSED(read_all(column, right, right_size, &t_err), LEAT_E_HEADER, "is too short");
    }
    t_write(index, bytes, size);
    t_flip(values, right_size - 1);
    T_REFUSED(read_all(column, right, right_size, &t_err), LEAT_E_CHECKSUM, "is damaged");
    T_REFUSED(leat_dataset_verify(dataset, NULL, NULL, &t_err), LEAT_E_CHECKSUM,
              t_text("%s: page %zu is damaged", values, (right_size - 1) / 4096));
    t_write(values, right, right_size - 1);
    T_REFUSED(read_all(column, right, right_size, &t_err), LEAT_E_MISMATCH, "instead of");
    T_EQ(unlink(values), 0);
    T_REFUSED(read_all(column, right, right_size, &t_err), LEAT_E_MISMATCH, "is missing, although its index is there");
    T_REFUSED(leat_dataset_verify(dataset, NULL, NULL, &t_err), LEAT_E_MISMATCH, values);
    t_write(values, right, right_size);
    T_OK(read_all(column, right, right_size, &t_err));
    T_OK(leat_dataset_verify(dataset, NULL, NULL, &t_err));
    free(bytes);
    free(right);
}

/* ---- Refused ---- */

static void check_refused(void)
{
    static const struct {
        const char *name;
        uint32_t type, width, at;
        const char *says;
    } wrong[] = {
        { "", 1, 1, 1, "cannot be the name of a column" },
        { "a.b", 1, 1, 1, "cannot be the name of a column" },
        { "-a", 1, 1, 1, "cannot be the name of a column" },
        { "a/b", 1, 1, 1, "cannot be the name of a column" },
        { "partial", 1, 1, 1, "cannot be the name of a column" },
        { "a", 0, 1, 1, "cannot have type number 0" },
        { "a", LEAT_COLUMN_F64, 1, 1, "cannot have type number 13" },
        { "a", 1, 0, 1, "width must be from 1 to 256, not 0" },
        { "a", 1, 257, 1, "width must be from 1 to 256, not 257" },
        { "a", 1, 1, 2, "at must be 0 or 1, not 2" },
        { "a", LEAT_COLUMN_CATEGORY, 1, 0, "a category has an entry per document" },
    };
    uint64_t files = t_files(folder);
    uint32_t type, width;
    struct leat_column *c;

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        T_REFUSED(
            attach(wrong[i].name, wrong[i].type, wrong[i].width, wrong[i].at, numbers, DOCUMENTS, LEAT_COLUMN_U32, 0),
            LEAT_E_ARGUMENT, wrong[i].says);
    T_REFUSED(attach("a", 3, 1, 1, numbers, DOCUMENTS - 1, LEAT_COLUMN_U32, 0), LEAT_E_RANGE,
              "values for 699 of the 700 documents");
    T_REFUSED(attach("a", 3, 1, 1, numbers, DOCUMENTS + 1, LEAT_COLUMN_U32, 0), LEAT_E_RANGE,
              "more values than the 700 documents");
    T_REFUSED(attach("ids", 3, 8, 0, numbers, TOKENS, LEAT_COLUMN_U32, 0), LEAT_E_EXISTS, "already exists");
    T_EQ(t_err.hint, LEAT_HINT_REPLACE);
    T_REFUSED(leat_column_open(&c, dataset, "idd", &t_err), LEAT_E_NOT_FOUND, "has no column idd; did you mean ids?");
    T_REFUSED(leat_column_open(&c, dataset, "../x", &t_err), LEAT_E_NOT_FOUND,
              "has no column ../x; it has ids and others");
    T_EQ(t_files(folder), files);
    T_OK(leat_column_type_read("bf16x256", &type, &width, &t_err));
    T_CHECK(type == LEAT_COLUMN_BF16 && width == 256);
    for (const char *const *t =
             (const char *const[]) { "", "u9", "u8x", "u8x0", "u8x257", "u8x1y", "u8 ", "f64", NULL };
         *t; t++)
        T_STATUS(leat_column_type_read(*t, &type, &width, &t_err), LEAT_E_ARGUMENT);
}

static void check_lists(void)
{
    const char *names[] = { name, name };
    struct leat_dataset *list, *own = dataset;
    struct leat_columns *columns;
    struct leat_column_info one = LEAT_COLUMN_INFO_INIT, both = LEAT_COLUMN_INFO_INIT;
    struct leat_column *c;

    T_OK(leat_dataset_columns(dataset, &columns, &t_err));
    T_CHECK(columns->count == 2 && strcmp(columns->columns[0].name, "ids") == 0 &&
            strcmp(columns->columns[1].name, "lang") == 0);
    leat_columns_free(columns);
    T_OK(leat_dataset_open_list(&list, names, 2, NULL, &t_err));
    T_OK(leat_dataset_columns(list, &columns, &t_err));
    T_CHECK(columns->count == 4 && columns->columns[1].part == 0 && columns->columns[2].part == 1);
    leat_columns_free(columns);
    T_OK(leat_column_open(&c, dataset, "ids", &t_err));
    leat_column_info(c, &one);
    leat_column_close(c);
    T_OK(leat_column_open(&c, list, "ids", &t_err));
    leat_column_info(c, &both);
    T_CHECK(both.entries == 2 * one.entries && both.type == one.type && both.width == one.width);
    leat_column_close(c);
    T_REFUSED(leat_column_open(&c, list, "idd", &t_err), LEAT_E_NOT_FOUND, "idd");
    dataset = list;
    T_REFUSED(attach("a", 3, 1, 1, numbers, DOCUMENTS, LEAT_COLUMN_U32, 0), LEAT_E_UNSUPPORTED,
              "a list of 2 datasets cannot have columns");
    dataset = own;
    leat_dataset_close(list);
}

/* ---- Parts ---- */

/* Attaches the part of "whole" that `part` of `parts` has, under the name "parts". */
static enum leat_status attach_part(uint32_t type, uint32_t width, uint32_t at, uint32_t force)
{
    uint64_t first, count, tokens;
    const uint32_t *values = numbers;

    T_OK(leat_column_range(dataset, part, parts, &first, &count, &t_err));
    if (at == LEAT_COLUMN_TOKEN) {
        T_OK(leat_dataset_starts(dataset, first + count, 1, &tokens, &t_err));
        T_OK(leat_dataset_starts(dataset, first, 1, &first, &t_err));
        count = tokens - first;
    }
    return attach("parts", type, width, at, values + first * width, count, LEAT_COLUMN_U32, force);
}

static void attach_all(uint32_t type, uint32_t width, uint32_t at)
{
    for (part = 0; part < parts; part++)
        T_OK(attach_part(type, width, at, 0));
    part = 0;
}

static void check_ranges(void)
{
    uint64_t first, count, start;

    for (uint64_t n = 1; n < 900; n = n < 10 ? n + 1 : n * 3)
        for (uint64_t i = 0, next = 0; i < n; i++, next += count) {
            T_OK(leat_column_range(dataset, i, n, &first, &count, &t_err));
            T_EQ(first, next);
            T_OK(leat_dataset_starts(dataset, first, 1, &start, &t_err));
            T_CHECK(start >= TOKENS * i / n && (first == 0 || start - 3 < TOKENS * i / n));
            T_CHECK(i + 1 < n || first + count == DOCUMENTS);
        }
    T_REFUSED(leat_column_range(dataset, 3, 3, &first, &count, &t_err), LEAT_E_ARGUMENT, "no part 3 of 3");
    T_REFUSED(leat_column_range(dataset, 0, 65537, &first, &count, &t_err), LEAT_E_ARGUMENT, "at most 65536");
}

static void check_whole(uint32_t type, uint32_t width, uint32_t at)
{
    size_t size[4];
    uint8_t *bytes[4];

    T_OK(attach("whole", type, width, at, numbers, at ? DOCUMENTS : TOKENS, LEAT_COLUMN_U32, 0));
    for (parts = 1; parts < 2 * DOCUMENTS; parts = 7 * parts + 1) {
        uint64_t files = t_files(folder);

        attach_all(type, width, at);
        T_EQ(t_files(folder), files + 2 * parts);
        T_OK(leat_column_commit(dataset, "parts", parts, 0, &t_err));
        T_EQ(t_files(folder), files + 2);
        for (unsigned i = 0; i < 4; i++)
            bytes[i] =
                file_bytes(t_text("%s.%s.column%s", name, i % 2 ? "parts" : "whole", i < 2 ? "" : "-index"), &size[i]);
        T_CHECK(size[0] == size[1] && memcmp(bytes[0], bytes[1], size[0]) == 0);
        T_CHECK(size[2] == size[3] && memcmp(bytes[2], bytes[3], size[2]) == 0);
        for (unsigned i = 0; i < 4; i++)
            free(bytes[i]);
        T_EQ(unlink(with(name, ".parts.column")) | unlink(with(name, ".parts.column-index")), 0);
    }
    T_EQ(unlink(with(name, ".whole.column")) | unlink(with(name, ".whole.column-index")), 0);
    parts = 0;
}

/* Puts the index of part 1 of 3 of another dataset in the place of this one's. */
static void put_other(const char *index)
{
    const char *own_name = name;
    struct leat_dataset *own = dataset;

    name = t_path(folder, "other");
    write_dataset(0, 9);
    T_OK(leat_dataset_open(&dataset, name, NULL, &t_err));
    T_OK(attach_part(LEAT_COLUMN_U32, 2, LEAT_COLUMN_DOCUMENT, 0));
    T_EQ(rename(with(name, ".parts.column-index.1-of-3"), index), 0);
    T_EQ(unlink(with(name, ".parts.column.1-of-3")) | unlink(with(name, ".leat")) | unlink(with(name, ".tokens")), 0);
    leat_dataset_close(dataset);
    dataset = own;
    name = own_name;
}

static void check_wrong_parts(void)
{
    const char *index = with(name, ".parts.column-index.1-of-3"), *values = with(name, ".parts.column.1-of-3");
    uint64_t files = t_files(folder);
    struct leat_column *c;

    parts = 3;
    attach_all(LEAT_COLUMN_U32, 2, LEAT_COLUMN_DOCUMENT);
    T_REFUSED(leat_column_commit(dataset, "parts", 4, 0, &t_err), LEAT_E_NOT_FOUND,
              "part 0 of 4 of column parts is missing; attach it first");
    T_REFUSED(leat_column_commit(dataset, "parts", 0, 0, &t_err), LEAT_E_ARGUMENT, "no part 0 of 0");
    T_REFUSED(leat_column_commit(dataset, "a.b", 3, 0, &t_err), LEAT_E_ARGUMENT, "cannot be the name");
    T_REFUSED(leat_column_open(&c, dataset, "parts", &t_err), LEAT_E_NOT_FOUND, "has no column parts");
    part = 3;
    T_REFUSED(attach("parts", 3, 2, 1, numbers, 1, LEAT_COLUMN_U32, 1), LEAT_E_ARGUMENT, "no part 3 of 3");
    part = 1;
    T_REFUSED(attach_part(LEAT_COLUMN_U32, 2, LEAT_COLUMN_DOCUMENT, 0), LEAT_E_EXISTS, "1-of-3 already exists");
    T_REFUSED(attach("parts", 3, 2, 1, numbers, 1, LEAT_COLUMN_U32, 1), LEAT_E_RANGE,
              "has values for 1 of the 233 documents of part 1 of 3 of ");
    T_REFUSED(attach("parts", 3, 2, 1, numbers, 234, LEAT_COLUMN_U32, 1), LEAT_E_RANGE,
              "more values than the 233 documents of part 1 of 3 of ");
    T_REFUSED(attach_part(LEAT_COLUMN_U8, 2, LEAT_COLUMN_DOCUMENT, 1), LEAT_E_ARGUMENT, "document 234, place 0 has");
    T_OK(attach_part(LEAT_COLUMN_I64, 2, LEAT_COLUMN_DOCUMENT, 1));
    T_REFUSED(leat_column_commit(dataset, "parts", 3, 0, &t_err), LEAT_E_INCOMPATIBLE, "is u32x2 per document in ");
    T_OK(attach_part(LEAT_COLUMN_U32, 1, LEAT_COLUMN_DOCUMENT, 1));
    T_REFUSED(leat_column_commit(dataset, "parts", 3, 0, &t_err), LEAT_E_INCOMPATIBLE, "but u32x1 per document in ");
    T_EQ(unlink(index), 0);
    T_REFUSED(leat_column_commit(dataset, "parts", 3, 0, &t_err), LEAT_E_NOT_FOUND, "part 1 of 3 of column parts is");
    put_other(index);
    T_REFUSED(leat_column_commit(dataset, "parts", 3, 0, &t_err), LEAT_E_MISMATCH, "1-of-3 belongs to another dataset");
    T_OK(attach_part(LEAT_COLUMN_U32, 2, LEAT_COLUMN_DOCUMENT, 1));
    t_flip(values, 5);
    T_REFUSED(leat_column_commit(dataset, "parts", 3, 0, &t_err), LEAT_E_CHECKSUM, "1-of-3: page 0 is damaged");
    t_flip(values, 5);
    T_EQ(t_files(folder), files + 6);
    T_OK(leat_column_commit(dataset, "parts", 3, 0, &t_err));
    T_EQ(t_files(folder), files + 2);
    T_REFUSED(attach_part(LEAT_COLUMN_U32, 2, LEAT_COLUMN_DOCUMENT, 0), LEAT_E_EXISTS, "parts.column-index already");
    for (part = 0; part < parts; part++)
        T_OK(attach_part(LEAT_COLUMN_U32, 2, LEAT_COLUMN_DOCUMENT, 1));
    T_REFUSED(leat_column_commit(dataset, "parts", 3, 0, &t_err), LEAT_E_EXISTS, "parts.column-index already exists");
    T_OK(leat_column_commit(dataset, "parts", 3, 1, &t_err));
    T_EQ(t_files(folder), files + 2);
    T_EQ(unlink(with(name, ".parts.column")) | unlink(with(name, ".parts.column-index")), 0);
    part = parts = 0;
}

/* ---- The dataset ---- */

static void check_replaced(void)
{
    struct leat_export_options to = LEAT_EXPORT_OPTIONS_INIT;
    const char *sources[] = { name }, *index = with(name, ".ids.column-index");
    struct leat_columns *columns;
    size_t size;
    uint8_t *bytes;

    to.to = "megatron";
    T_REFUSED(leat_export(t_path(folder, "e"), sources, 1, &to, NULL, &t_err), LEAT_E_UNSUPPORTED,
              "which exporting would leave out");
    T_REFUSED(leat_push(name, "s3://bucket/name", NULL, NULL, &t_err), LEAT_E_UNSUPPORTED,
              "which pushing would leave out");
    bytes = file_bytes(index, &size);
    leat_dataset_close(dataset);
    t_write(with(name, ".a.column.partial"), "x", 1);
    t_write(with(name, ".a.column.11-of-20"), "x", 1);
    t_write(with(name, ".a.column-index.1-of-2.partial"), "x", 1);
    t_write(with(name, ".a.column-index.-of-2"), "x", 1); /* no file of a column */
    t_write(with(name, ".x.ids.column-index"), "x", 1);   /* of the dataset NAME.x */
    write_dataset(1, 9);
    T_CHECK(access(index, F_OK) != 0 && access(with(name, ".ids.column"), F_OK) != 0 &&
            access(with(name, ".lang.column-index"), F_OK) != 0 && access(with(name, ".a.column.partial"), F_OK) != 0 &&
            access(with(name, ".a.column.11-of-20"), F_OK) != 0 &&
            access(with(name, ".a.column-index.1-of-2.partial"), F_OK) != 0 &&
            access(with(name, ".a.column-index.-of-2"), F_OK) == 0 &&
            access(with(name, ".x.ids.column-index"), F_OK) == 0);
    T_OK(leat_dataset_open(&dataset, name, NULL, &t_err));
    t_write(index, bytes, size);
    T_REFUSED(leat_dataset_columns(dataset, &columns, &t_err), LEAT_E_MISMATCH,
              t_text("%s belongs to another dataset", index));
    T_OK(attach("ids", LEAT_COLUMN_U32, 8, LEAT_COLUMN_TOKEN, numbers, TOKENS, LEAT_COLUMN_U32, 1));
    T_OK(leat_dataset_columns(dataset, &columns, &t_err));
    T_EQ(columns->count, 1);
    leat_columns_free(columns);
    free(bytes);
}

int main(void)
{
    folder = t_folder();
    name = t_path(folder, "d");
    write_dataset(0, 8);
    T_OK(leat_dataset_open(&dataset, name, NULL, &t_err));
    check_conversions();
    check_numbers();
    check_texts();
    check_damage("ids");
    check_damage("lang");
    check_refused();
    check_lists();
    check_ranges();
    check_whole(LEAT_COLUMN_U32, 3, LEAT_COLUMN_TOKEN);
    check_whole(LEAT_COLUMN_I64, 1, LEAT_COLUMN_DOCUMENT);
    check_wrong_parts();
    check_replaced();
    leat_dataset_close(dataset);
    return t_end();
}
