/*
 * fuzz_column.c: hostile indexes of columns.
 *
 * The index is that of numbers per token or of texts per document, as the first byte says, which also says how it is
 * repaired after it was cut or pairs of two bytes and one have changed a byte of it: the hash of the texts, and that of
 * the header. Without repairs what is read is right, or an error; with them the index may say anything, and nothing is
 * read outside of it and of its values.
 */
#include "base/bytes.h"
#include "column/column.h"
#include "files.h"
#include "one_document.h"

/* The first byte. */
enum { CUT = 1, REPAIR = 2, TEXTS = 4 };

#define DOCUMENTS 900u
#define TOKENS    (2 * DOCUMENTS)
#define ROOM      4096u

static struct leat_dataset *dataset;
static uint16_t numbers[TOKENS];
static struct original {
    const char *name;
    uint8_t index[ROOM];
    size_t size;
} originals[] = { { .name = "numbers" }, { .name = "texts" } };

static void write_dataset(const char *name)
{
    struct leat_writer_options options = LEAT_WRITER_OPTIONS_INIT;
    struct leat_writer *w;
    struct leat_error err;

    options.vocabulary = 10;
    FUZZ_CHECK(leat_writer_open(&w, name, &options, &err) == LEAT_OK);
    for (unsigned i = 0; i < DOCUMENTS; i++)
        FUZZ_CHECK(add_one_document(w, (uint16_t[]) { 1, 2 }, 2, NULL, 2, NULL, &err) == LEAT_OK);
    FUZZ_CHECK(leat_writer_finish(w, NULL, &err) == LEAT_OK);
}

static void attach(struct original *o, uint32_t type, uint32_t at, uint64_t entries)
{
    struct leat_column_options options = { sizeof options, o->name, type, 1, at, 0, 0, 0 };
    struct leat_column_writer *w;
    struct leat_error err;
    char file[64];
    FILE *f;

    FUZZ_CHECK(leat_column_writer_open(&w, dataset, &options, &err) == LEAT_OK);
    FUZZ_CHECK(leat_column_writer_add(w, numbers, entries, LEAT_COLUMN_U16, &err) == LEAT_OK);
    if (type == LEAT_COLUMN_CATEGORY)
        FUZZ_CHECK(leat_column_writer_texts(w, "abcd\xc3\xa9", (uint64_t[]) { 1, 4, 4, 6 }, 4, &err) == LEAT_OK);
    FUZZ_CHECK(leat_column_writer_finish(w, &err) == LEAT_OK);
    snprintf(file, sizeof file, "data.%s.column-index", o->name);
    f = fopen(files_path(file), "rb");
    o->size = f ? fread(o->index, 1, ROOM, f) : 0;
    FUZZ_CHECK(f && o->size > COLUMN_HEADER && o->size < ROOM);
    fclose(f);
}

static void begin(void)
{
    struct leat_error err;

    for (unsigned i = 0; i < TOKENS; i++)
        numbers[i] = (uint16_t)(i % 4);
    write_dataset(files_path("data"));
    FUZZ_CHECK(leat_dataset_open(&dataset, files_path("data"), NULL, &err) == LEAT_OK);
    attach(&originals[0], LEAT_COLUMN_U16, LEAT_COLUMN_TOKEN, TOKENS);
    attach(&originals[1], LEAT_COLUMN_CATEGORY, LEAT_COLUMN_DOCUMENT, DOCUMENTS);
}

/* Stores the hashes that the bytes have now. */
static void repair(uint8_t *index, size_t size)
{
    uint64_t texts;

    if (size < COLUMN_HEADER)
        return;
    texts = bytes_load64(index + 88);
    if (texts <= size - COLUMN_HEADER)
        checksum_store(index + 96, checksum_kernels()->hash(index + size - texts, (size_t)texts));
    checksum_store(index + 112, checksum_kernels()->hash(index, 112));
}

static void look(const struct leat_column *c, int any)
{
    struct leat_column_info info = LEAT_COLUMN_INFO_INIT;
    static uint8_t out[TOKENS * 2];
    struct leat_error err;
    uint64_t bytes;
    const char *text;

    leat_column_info(c, &info);
    FUZZ_CHECK(info.bytes <= sizeof out);
    if (leat_column_read(c, 0, info.entries, out, &err) == LEAT_OK && !any)
        for (unsigned i = 0; i < info.entries; i++)
            FUZZ_CHECK(bytes_load16(out + 2 * i) == i % 4);
    for (uint64_t i = 0; i < info.texts; i++) {
        volatile char sum = 0;

        FUZZ_CHECK(leat_column_text(c, i, &text, &bytes, &err) == LEAT_OK);
        for (uint64_t k = 0; k < bytes; k++)
            sum = (char)(sum + text[k]);
    }
}

FUZZ_TARGET(column)
{
    struct fuzz_bytes in = { data, size };
    uint8_t changed[ROOM], how = fuzz_u8(&in);
    struct original *o = &originals[how & TEXTS ? 1 : 0];
    struct leat_column *c;
    struct leat_error err;
    size_t count;
    char file[64];

    if (files_begin())
        begin();
    count = how & CUT ? fuzz_u16(&in) % (o->size + 1) : o->size;
    memcpy(changed, o->index, o->size);
    while (in.left >= 3) {
        size_t at = fuzz_u16(&in) % o->size;

        changed[at] ^= fuzz_u8(&in);
    }
    if (how & REPAIR)
        repair(changed, count);
    snprintf(file, sizeof file, "data.%s.column-index", o->name);
    files_write(file, changed, count);
    if (leat_column_open(&c, dataset, o->name, &err) == LEAT_OK)
        look(c, how & REPAIR);
    leat_column_close(c);
    (void)leat_dataset_verify(dataset, NULL, NULL, &err);
    files_write(file, o->index, o->size);
    return 0;
}
